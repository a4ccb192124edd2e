# SPDX-License-Identifier: Apache-2.0
# Ctrl-C while the program is recorded ends the comparison: no combination runs after it.
for command in "compare --vary tlb.l1.entries=8,16" advise; do
    warpage $command --device sim:p100 -- sh -c 'echo run >>runs; kill -INT $$'
    echo "status $?"
done
cat runs

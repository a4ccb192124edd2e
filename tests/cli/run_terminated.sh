# SPDX-License-Identifier: Apache-2.0
# Told to end, it tells the program, waits for it, and leaves nothing.
mkdir temporary
export TMPDIR=$PWD/temporary
cat >slow <<'END'
#!/bin/sh
trap 'echo told; kill $sleeping; exit 3' TERM HUP
sleep 60 &
sleeping=$!
echo ready >ready
wait
END
chmod +x slow
for signal in TERM HUP; do
    warpage run -- ./slow 2>/dev/null &
    run=$!
    until [ -s ready ]; do sleep 0.1; done
    kill -$signal $run
    wait $run
    echo $?
    rm ready
    ls temporary
done

# SPDX-License-Identifier: Apache-2.0
# Programs that cannot be started: one sentence, exit status 1, no output.
mkdir folder && echo 'echo hello' >script && printf '#!/no/such/shell\n' >interpreter && echo >plain
chmod +x script interpreter
for program in ./nowhere ./folder ./plain ./script ./interpreter ''; do
    warpage run --report r.json -- "$program"
    echo $?
    warpage trace record -o t.wpt -- "$program"
    echo $?
    warpage advise -- "$program"
    echo $?
done
ls

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The times that an app prints of copies and kernels on a simulated GPU are simulated: those of the report, and the
# same each time.
set -u
app=$(dirname "$WPCC")/../apps/bfs
[ -x "$app" ] || { echo "the apps are not built"; exit 77; }
cd "$TMP" || exit 1

run() { # report, stderr
    "$WARPAGE" run --device sim:gtx1080ti --report "$1" -- "$app" --size 2K --memory copy >out 2>"$2" || { cat "$2"; exit 1; }
    grep -E '^  (copy to|kernels|copies)' "$2" >"$2.times"
}
run r.json first
run r.json second
cmp first.times second.times || { echo "two runs, two times"; cat first.times second.times; exit 1; }
[ "$(wc -l <first.times)" -eq 4 ] || { cat first; exit 1; }

time_of() { # copies[].kind
    awk -v kind="\"$1\"," '$1 == "\"kind\":" { inside = $2 == kind }
        inside && $1 == "\"time_ns\":" { printf "%.1f us\n", $2 / 1000; exit }' r.json
}
for direction in "device h2d" "host d2h"; do
    set -- $direction
    printed=$(awk -v to="$1" '$1 == "copy" && $3 == to { print $4, $5 }' first)
    [ "$printed" = "$(time_of "$2")" ] || { echo "copy to $1: $printed, the report has $(time_of "$2")"; exit 1; }
done

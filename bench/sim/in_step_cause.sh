#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Why sssp and pvc do other things ahead than in step (in_step.sh): what changes when fewer threads are under way.
#
#     bench/sim/in_step_cause.sh BUILD [profile]     e.g. bench/sim/in_step_cause.sh build/release p100
#
# The apps are compiled with blocks of 1, 32 and 256 threads, and run with one block at a time on the whole GPU, and
# with as many as fit. A line each: launches, loads, stores, atomics ahead and in step, and the difference. With one
# thread at a time there are no races, and both ways must do the same: exit status 1 if they do not. By environment: SIZE
# (1500), THREADS ("1 32 256"), BLOCKS ("one all").
set -u
[ $# -ge 1 ] && [ -x "$1/bin/wpcc" ] || { sed -n '3,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
wpcc=$1/bin/wpcc
profile=${2:-p100}
apps=$root/apps
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
alone="floorplan.gpcs=1;floorplan.tpcs=1;floorplan.sms=1;floorplan.disabled=;sm.ctas=1"

run() { # in step, program...: launches, loads, stores, atomics
    when=$1
    shift
    WARPAGE_DEVICE=sim:$profile WARPAGE_IN_STEP=$when WARPAGE_LOG=device.sim:info "$@" 2>&1 >/dev/null |
        sed -n 's/^.*device\.sim: .* thread.*: \([0-9]*\) loads \([0-9]*\) stores \([0-9]*\) atomics \([0-9]*\) red.*$/\1 \2 \3 \4/p' |
        awk '{ n++; loads += $1; stores += $2; atomics += $3 + $4 } END { print n, loads, stores, atomics }'
}

status=0
printf '%-16s %7s %8s %26s %26s %26s\n' app threads blocks "ahead: launches l/s/a" "in step" difference
compare() { # app, arguments...
    name=$1
    shift
    for threads in ${THREADS:-1 32 256}; do
        rm -f "$tmp"/*.cu
        for file in "$apps/$name"/*.cu; do
            sed "s/^#define THREADS 256/#define THREADS $threads/" "$file" >"$tmp/${file##*/}"
        done
        "$wpcc" -O2 -I "$apps" -I "$apps/$name" "$tmp"/*.cu "$apps"/common/*.c "$apps"/common/*.cu "$apps"/sepo/*.cu -o "$tmp/app" || exit 1
        for blocks in ${BLOCKS:-one all}; do
            export WARPAGE_SET=
            [ $blocks = all ] || export WARPAGE_SET="$alone"
            ahead=$(run never "$tmp/app" "$@")
            in_step=$(run always "$tmp/app" "$@")
            echo "$name $threads $blocks $ahead $in_step" | awk '
                function pct(a, b) { return a == b ? "=" : sprintf("%+.1f%%", a ? 100 * (b - a) / a : 100) }
                { printf "%-16s %7s %8s %5s %7s %6s %6s %5s %7s %6s %6s %6s %6s %6s %6s\n", $1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
                    $11, pct($4, $8), pct($5, $9), pct($6, $10), pct($7, $11) }'
            [ "$threads$blocks" != 1one ] || { [ "$ahead" = "$in_step" ] && [ "${ahead%% *}" -gt 0 ]; } || status=1
        done
    done
}
compare sssp --variant near-far --size "${SIZE:-1500}"
compare pvc --size "${SIZE:-1500}"
exit $status

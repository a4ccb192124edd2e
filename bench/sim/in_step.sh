#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kernels ahead of simulated time beside kernels in step with it, for every app with atomics in global memory:
#
#     bench/sim/in_step.sh BUILD [profile]           e.g. bench/sim/in_step.sh build/release p100
#
# A line for each kernel: launches (an app's iterations), warp accesses to global memory by kind, thread
# instructions and simulated time, both ways, and how far what is done in step lies from what is done ahead.
set -u
[ $# -ge 1 ] && [ -d "$1/apps" ] || { sed -n '3,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
apps=$1/apps
profile=${2:-p100}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT

run() { # when, app, arguments
    when=$1
    shift
    WARPAGE_DEVICE=sim:$profile WARPAGE_IN_STEP=$when WARPAGE_LOG=device.sim:info "$apps/$@" 2>&1 >/dev/null |
        sed -n 's/^.*device\.sim: \([^ :]*\): \([0-9]*\) ns, [a-z ]*, \([0-9]*\) thread.*: \([0-9]*\) loads \([0-9]*\) stores \([0-9]*\) atomics \([0-9]*\) red.*$/\1 \2 \3 \4 \5 \6 \7/p' >"$tmp/$when"
}

printf '%-34s %9s %21s %19s %17s %21s %19s\n' "app, kernel" "launches" "loads" "stores" "atomics" \
    "thread instructions" "us"
compare() {
    run never "$@"
    run always "$@"
    echo "$*"
    awk '
        function pct(a, b) { return a == b ? "=" : sprintf("%+.1f%%", a ? 100 * (b - a) / a : 100) }
        FNR == NR { n[$1]++; for (i = 2; i <= 7; i++) a[$1, i] += $i; next }
        { m[$1]++; for (i = 2; i <= 7; i++) b[$1, i] += $i }
        END {
            for (k in n) {
                x = a[k, 6] + a[k, 7]; y = b[k, 6] + b[k, 7]
                printf "  %-32s %4d %4d %7d %7d %5s %6d %6d %5s %6d %6d %6s %9d %9d %6s %5d %5d %6s\n", k, n[k], m[k],
                    a[k, 4], b[k, 4], pct(a[k, 4], b[k, 4]), a[k, 5], b[k, 5], pct(a[k, 5], b[k, 5]),
                    x, y, pct(x, y), a[k, 3], b[k, 3], pct(a[k, 3], b[k, 3]),
                    a[k, 2] / 1000, b[k, 2] / 1000, pct(a[k, 2], b[k, 2])
            }
        }' "$tmp/never" "$tmp/always" | sort -s -k1,1
}

compare bfs --variant queue --size 20000
compare bfs --variant mask --size 20000
compare sssp --variant near-far --size 5000
compare sssp --variant bellman-ford --size 5000
compare pvc --size 5000
compare kmeans --size 10000

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run --pages: accesses of each page as the program makes them, sums as the report has them, the same tables twice, and
# pictures; a message for a program without managed memory.
set -u
failures=0
"$WPCC" -O2 "$E2E/sim/page_history.cu" -o "$TMP/history" || exit 1
"$WPCC" -O2 "$E2E/sim/paging.cu" -o "$TMP/paging" || exit 1

run() { # folder, report, options and program...
    folder=$1 report=$2
    shift 2
    "$WARPAGE" run --device sim:gtx1080ti --pages "$TMP/$folder" --report "$TMP/$report" "$@" >"$TMP/out" 2>"$TMP/err" ||
        { cat "$TMP/out" "$TMP/err"; exit 1; }
}
expect() { # what, got, wanted
    [ "$2" = "$3" ] || { echo "$1: $2, expected $3"; failures=1; }
}
sum() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } NR > 1 { sum += $at } END { print sum + 0 }' "$2"; }
member() { sed -n "s/^ *\"$1\": \([0-9][0-9]*\).*/\1/p" "$TMP/r.json" | tail -n 1; } # of the run, behind the kernels
lines() { awk -F, "$1" "$TMP/pages/pages.csv" | wc -l | tr -d ' '; }

run pages r.json -- "$TMP/history"
expect "pages that lanes read together" "$(lines '$1 == 0 && $2 < 32 && $3 == 33 && $4 == 0')" 32
expect "pages that were copied" "$(lines '$1 == 0 && $2 >= 32 && $3 == 32')" 32
expect "pages that were written" "$(lines '$1 == 1 && $3 == 0 && $4 == 32')" 62
expect "pages of the warp across a border" "$(lines '$1 == 1 && ($2 == 4 || $2 == 5) && $4 == 33')" 2
expect "pages that no kernel used" "$(lines '$1 == 2 && $3 + $4 > 0')" 0
expect "over time: reads" "$(sum reads "$TMP/pages/time.csv")" "$(sum reads "$TMP/pages/pages.csv")"
expect "far faults" "$(sum faults "$TMP/pages/pages.csv")" "$(member paging_far_faults)"
expect "back to the host" "$(sum returned "$TMP/pages/pages.csv")" "$(member paging_host_fetched)"
expect "launches" "$(grep -c '"kernel": "\(copy_all\|across\|a_page_each\)' "$TMP/pages/summary.json")" 3
expect "names" "$(sed -n 's/^ *"name": "\(.*\)",/\1/p' "$TMP/pages/summary.json" | tr '\n' ' ')" "from to  "
if command -v gnuplot >/dev/null; then
    for plot in frequency accesses movement link; do
        grep -q '</svg>' "$TMP/pages/$plot.svg" || { echo "no $plot.svg"; failures=1; }
    done
fi

# More than memory holds; an earlier folder is replaced; the same each time.
run pages r.json --oversubscribe 150% -- "$TMP/paging"
expect "evicted" "$(sum evicted "$TMP/pages/pages.csv")" "$(member paging_evicted)"
expect "fetched" "$(sum fetched "$TMP/pages/pages.csv")" "$(member paging_fetched)"
[ "$(member paging_evicted)" -gt 0 ] || { echo "nothing was evicted"; failures=1; }
run again r.json --oversubscribe 150% -- "$TMP/paging"
diff -r "$TMP/pages" "$TMP/again" >/dev/null || { echo "two runs, two folders"; failures=1; }
# Blocks by round trips, in all those that came.
"$WARPAGE" run --device sim:gtx1080ti --oversubscribe 150% "$TMP/paging" 2>"$TMP/err" >"$TMP/out"
expect "blocks by round trips" "$(sed -n '/64 KiB blocks by evictions/,/^$/p' "$TMP/err" | awk '/#/ { sum += $2 } END { print sum + 0 }')" \
    "$(member paging_blocks_fetched)"
# Only launches that are reported.
run one r.json --kernels across -- "$TMP/history"
expect "selected: writes" "$(sum writes "$TMP/one/pages.csv")" 2

"$WARPAGE" run --device sim:gtx1080ti --pages "$TMP/none" "$TMP/history" none >"$TMP/out" 2>"$TMP/err" &&
    { echo "no managed memory is taken"; failures=1; }
grep -q 'warpage run: --pages: the program has no managed memory (cudaMallocManaged), so there is nothing to show' "$TMP/err" ||
    { cat "$TMP/err"; failures=1; }
[ ! -e "$TMP/none" ] || { echo "a folder of nothing"; failures=1; }
"$WARPAGE" run --device sim:gtx1080ti --set paging.on=off --pages "$TMP/none" "$TMP/history" >"$TMP/out" 2>"$TMP/err" &&
    { echo "pages that do not move are taken"; failures=1; }
grep -q 'pages do not migrate' "$TMP/err" || { cat "$TMP/err"; failures=1; }
exit $failures

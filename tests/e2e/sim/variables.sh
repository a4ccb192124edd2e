#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# __managed__ variables are managed memory: kernels fault on their pages, the host takes pages back, traces keep it. 64 pages
# that nobody used, 8 whose initial value the host has; the host looks at 10 of the first between two kernels.
set -u
failures=0
"$WPCC" -O2 "$E2E/sim/variables.cu" -o "$TMP/variables" || exit 1

member() { sed -n "s/^ *\"$2\": \([0-9][0-9]*\).*/\1/p" "$TMP/$1.json" | tail -n 1; }
# far_faults fetched made requested remote host_faults
check() { # how, counts
    "$WARPAGE" run --device sim:gtx1080ti --prefetch none --report "$TMP/r.json" -- "$TMP/variables" "$1" >"$TMP/out" 2>&1 ||
        { echo "$1:"; cat "$TMP/out"; failures=1; }
    got=
    for name in far_faults fetched made requested remote host_faults; do
        got="$got $(member r paging_$name)"
    done
    [ "$got" = " $2" ] || { echo "$1:$got, expected $2"; failures=1; }
    "$WARPAGE" trace record -o "$TMP/t.wpt" --set paging.on=off -- "$TMP/variables" "$1" >/dev/null 2>&1 &&
        "$WARPAGE" trace replay --device sim:gtx1080ti --set prefetch=none --report "$TMP/t.json" "$TMP/t.wpt" || failures=1
    for report in r t; do
        grep -v '"wall_time_ns"' "$TMP/$report.json" >"$TMP/$report"
    done
    cmp -s "$TMP/r" "$TMP/t" || { echo "$1: a replay, another report"; diff "$TMP/r" "$TMP/t" | head; failures=1; }
}
check plain "82 18 64 0 0 10"
check end "82 18 64 0 0 74"
check before "82 28 54 0 0 10"
check prefetch "74 18 64 8 0 10"
check stays "74 10 64 0 8 10"
check reset "154 90 64 0 0 82" # the host gives all of them their initial values again
# Elsewhere it is memory of the host's, across the link; nothing of it is in the file.
"$WARPAGE" run --device sim:k80 --report "$TMP/r.json" -- "$TMP/variables" plain >"$TMP/out" 2>&1 || { cat "$TMP/out"; failures=1; }
[ "$(member r link_to_device_remote_bytes)" -gt 0 ] || { echo "k80: nothing was read across the link"; failures=1; }
"$WARPAGE" run --device cpu -- "$TMP/variables" plain >"$TMP/out" 2>&1 || { cat "$TMP/out"; failures=1; }
exit $failures

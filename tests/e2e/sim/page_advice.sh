#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cudaMemPrefetchAsync moves pages without faults, in both directions; pages whose preferred location is the host are used
# across the link; read-mostly ones are on both sides until they are written. 1024 pages, prefetching by faults off.
set -u
failures=0
"$WPCC" -O2 "$E2E/sim/page_advice.cu" -o "$TMP/page_advice" || exit 1

member() { sed -n "s/^ *\"$2\": \([0-9][0-9]*\).*/\1/p" "$TMP/$1.json" | tail -n 1; }
# far_faults fetched requested sent_back remote host_faults
prefetch=none
check() { # what, counts
    "$WARPAGE" run --device sim:gtx1080ti --prefetch $prefetch --report "$TMP/r.json" -- "$TMP/page_advice" "$1" >"$TMP/out" 2>&1 ||
        { echo "$1:"; cat "$TMP/out"; failures=1; }
    got=
    for name in far_faults fetched requested sent_back remote host_faults; do
        got="$got $(member r paging_$name)"
    done
    [ "$got" = " $2" ] || { echo "$1:$got, expected $2"; failures=1; }
    "$WARPAGE" trace record -o "$TMP/t.wpt" --set paging.on=off -- "$TMP/page_advice" "$1" >/dev/null 2>&1 &&
        "$WARPAGE" trace replay --device sim:gtx1080ti --set prefetch=$prefetch --report "$TMP/t.json" "$TMP/t.wpt" || failures=1
    for report in r t; do
        grep -v '"wall_time_ns"' "$TMP/$report.json" >"$TMP/$report"
    done
    cmp -s "$TMP/r" "$TMP/t" || { echo "$1: a replay, another report"; diff "$TMP/r" "$TMP/t" | head; failures=1; }
}
check to_device "512 1024 512 0 0 0"
check to_host "1536 1536 0 512 0 0"
check stays "512 512 0 0 512 0"
check read_mostly "1024 1024 0 0 0 512"
prefetch=sequential-local # of which the host gets nothing
check prefers "1152 1152 0 0 0 128"
prefetch=none
# What is there as a whole is one page of 2 MiB for TLBs, until a part of it leaves.
"$WARPAGE" run --device sim:p100 --set paging.on=on --prefetch none --report "$TMP/r.json" -- "$TMP/page_advice" all >"$TMP/out" 2>&1 ||
    { cat "$TMP/out"; failures=1; }
walks=$(member r walker_walks) # a few, then 512 pages and one again, and a few
[ "$walks" -gt 512 ] && [ "$walks" -lt 600 ] || { echo "all: $walks page walks"; failures=1; }
exit $failures

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Managed memory that the host touches comes back, page by page, whatever touches it (no read(2) fails), in program
# order with kernels, host functions and the end of the program; a trace keeps it.
set -u
failures=0
"$WPCC" -O2 "$E2E/sim/host_touch.cu" -o "$TMP/host_touch" || exit 1

member() { sed -n "s/^ *\"$2\": \([0-9][0-9]*\).*/\1/p" "$TMP/$1.json" | tail -n 1; }
expect() { # what, got, wanted
    [ "$2" = "$3" ] || { echo "$1: $2, expected $3"; failures=1; }
}
run() { # how, options...
    how=$1
    shift
    "$WARPAGE" run --device sim:gtx1080ti "$@" --report "$TMP/r.json" -- "$TMP/host_touch" "$how" >"$TMP/out" 2>&1 ||
        { echo "$how:"; cat "$TMP/out"; failures=1; }
}

for case in read:171 write:171 memcpy:10 system:5 fread:7 function:171 nothing:0 end:512 freed:512; do
    how=${case%:*} pages=${case#*:}
    [ "$how" = read ] && ! "$TMP/host_touch" exact && continue
    run "$how" --prefetch none
    expect "$how: far faults of the host" "$(member r paging_host_faults)" "$pages"
    expect "$how: pages back" "$(member r paging_host_fetched)" "$pages"
    again=$pages
    case $how in end | freed) again=0 ;; esac
    expect "$how: pages that kernels wanted" "$(member r paging_fetched)" $((512 + again))
    "$WARPAGE" trace record -o "$TMP/t.wpt" --set paging.on=off -- "$TMP/host_touch" "$how" >/dev/null 2>&1 &&
        "$WARPAGE" trace replay --device sim:gtx1080ti --set prefetch=none --report "$TMP/t.json" "$TMP/t.wpt" || failures=1
    for report in r t; do
        grep -v '"wall_time_ns"' "$TMP/$report.json" >"$TMP/$report"
    done
    cmp -s "$TMP/r" "$TMP/t" || { echo "$how: a replay, another report"; diff "$TMP/r" "$TMP/t" | head; failures=1; }
done
# The tree brings a chunk by 6 faults, in this direction, too; each waits for a fault's latency, and for the link.
run end --prefetch tree --set paging.host_latency=100us
expect "tree: far faults of the host" "$(member r paging_host_faults)" 6
slow_ns=$(member r simulated_time_ns)
run end --prefetch tree --set paging.host_latency=0
expect "tree: time of 6 faults" $((slow_ns - $(member r simulated_time_ns))) 600000
# A page that goes back and forth 8 times is pinned on the host, as the driver does it: the other 12 kernels read and write it there.
run fight --prefetch none
expect "fight: pages back" "$(member r paging_host_fetched)" 20
run fight --prefetch none --set thrash=driver
expect "fight against thrashing: pages back" "$(member r paging_host_fetched)" 8
expect "fight against thrashing: pinned" "$(member r paging_pinned)" 1
expect "fight against thrashing: throttled" "$(member r paging_throttled)" 10
expect "fight against thrashing: accesses across the link" "$(member r paging_remote)" 24
# Its preferred location overrides that.
run preferred --prefetch none --set thrash=driver
expect "fight, preferring the device: pages back" "$(member r paging_host_fetched)" 20
expect "fight, preferring the device: pinned" "$(member r paging_pinned)" 0
expect "fight, preferring the device: accesses across the link" "$(member r paging_remote)" 0
exit $failures

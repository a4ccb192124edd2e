#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What becomes of pages when the host has waited for the device (paging.synchronize): as a rule nothing; as UVMSmart,
# in cudaDeviceSynchronize alone, written ones go back and come again. A replay does the same.
set -u
failures=0
"$WPCC" -O2 "$E2E/sim/synchronize.cu" -o "$TMP/synchronize" || exit 1

member() { sed -n "s/^ *\"$1\": \([0-9][0-9]*\).*/\1/p" "$TMP/r.json" | tail -n 1; }
expect() { # how, options..., and at last: far faults, pages that came, that returned, that the host faulted on
    how=$1
    shift
    wanted=$1
    shift
    "$WARPAGE" run --device sim:gtx1080ti --prefetch none "$@" --report "$TMP/r.json" -- "$TMP/synchronize" "$how" >"$TMP/out" 2>&1 ||
        { cat "$TMP/out"; failures=1; }
    got="$(member paging_far_faults) $(member paging_fetched) $(member paging_returned) $(member paging_host_fetched)"
    [ "$got" = "$wanted" ] || { echo "$how $*: $got, expected $wanted"; failures=1; }
}

expect device "768 768 0 512"
expect device "768 768 0 512" --as uvmsmart --set synchronize=keep
for how in device stream; do
    "$WARPAGE" trace record -o "$TMP/t.wpt" --set paging.on=off -- "$TMP/synchronize" "$how" >/dev/null 2>&1 || failures=1
    case $how in
    device) expect device "1280 1280 1024 0" --as uvmsmart ;;
    *) expect stream "768 768 0 512" --as uvmsmart ;;
    esac
    "$WARPAGE" trace replay --device sim:gtx1080ti --as uvmsmart --set prefetch=none --report "$TMP/t.json" "$TMP/t.wpt" || failures=1
    for report in r t; do
        grep -v '"wall_time_ns"' "$TMP/$report.json" >"$TMP/$report"
    done
    cmp -s "$TMP/r" "$TMP/t" || { echo "$how: a replay, another report"; diff "$TMP/r" "$TMP/t" | head; failures=1; }
done
exit $failures

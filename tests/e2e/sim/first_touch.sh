#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A page that nobody has used is made on the device: a far fault, and nothing over the link; what the host has used, comes.
set -u
failures=0
"$WPCC" -O2 "$E2E/sim/first_touch.cu" -o "$TMP/first_touch" || exit 1

member() { sed -n "s/^ *\"$2\": \([0-9][0-9]*\).*/\1/p" "$TMP/$1.json" | tail -n 1; }
report() { # options... -- program, how
    "$WARPAGE" run --device sim:gtx1080ti --report "$TMP/r.json" "$@" >"$TMP/out" 2>&1 || { cat "$TMP/out"; failures=1; }
}
# far_faults fetched made remote evicted, copied bytes of managed memory
counts() {
    for name in far_faults fetched made remote evicted; do
        printf '%s ' "$(member r paging_$name)"
    done
    echo $(($(member r link_to_device_copied_bytes) - ${1:-0}))
}
check() { # how, counts, bytes of other copies
    report --prefetch none -- "$TMP/first_touch" "$1"
    got=$(counts "${3:-0}")
    [ "$got" = "$2" ] || { echo "$1: $got, expected $2"; failures=1; }
    "$WARPAGE" trace record -o "$TMP/t.wpt" --set paging.on=off -- "$TMP/first_touch" "$1" >/dev/null 2>&1 &&
        "$WARPAGE" trace replay --device sim:gtx1080ti --set prefetch=none --report "$TMP/t.json" "$TMP/t.wpt" || failures=1
    for name in r t; do
        grep -v '"wall_time_ns"' "$TMP/$name.json" >"$TMP/$name"
    done
    cmp -s "$TMP/r" "$TMP/t" || { echo "$1: a replay, another report"; diff "$TMP/r" "$TMP/t" | head; failures=1; }
}
check none "1024 0 1024 0 0 0"
check some "1024 50 974 0 0 $((50 * 4096))"
check read "1024 5 1019 0 0 $((5 * 4096))"
check copy "1024 50 974 0 0 $((50 * 4096))" $((50 * 4096))
check fill "1024 30 994 0 0 $((30 * 4096))"
check sent "1024 60 964 0 0 $((60 * 4096))"
check brought "0 0 1024 0 0 0"
check mapped "964 0 964 180 0 0" # read and written, and read

# Served in batches, the same. As UVMSmart, and where it is switched off, everything comes.
report --prefetch none --set service=batch -- "$TMP/first_touch" some
[ "$(member r paging_fetched) $(member r paging_made)" = "50 974" ] || { echo "batches: $(counts)"; failures=1; }
report --as uvmsmart --prefetch none -- "$TMP/first_touch" none
[ "$(member r paging_fetched) $(member r paging_made)" = "1024 0" ] || { echo "uvmsmart: $(counts)"; failures=1; }
report --prefetch none --set zero_fill=off -- "$TMP/first_touch" none
[ "$(member r link_to_device_copied_bytes)" = $((1024 * 4096)) ] || { echo "off: $(counts)"; failures=1; }
# What was made has no copy on the host: it is written back, and comes the next time.
report --prefetch none --evict lru-2m --oversubscribe 200% --set drop_clean=on -- "$TMP/first_touch" none
[ "$(member r paging_written_back)" = "$(member r paging_evicted)" ] && [ "$(member r paging_fetched)" -gt 0 ] ||
    { echo "evicted: $(counts)"; failures=1; }
# In order, the driver brings 2 MiB as a whole to the device that they prefer, if they are nowhere yet.
report --prefetch driver -- "$TMP/first_touch" preferred
[ "$(member r paging_far_faults) $(member r paging_made)" = "2 1024" ] || { echo "preferred: $(counts)"; failures=1; }
exit $failures

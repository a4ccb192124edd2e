#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Pages of managed memory move: far faults of one thread that reads page after page, by prefetcher; the program's
# output whatever the policies, with more than memory holds, and the same report twice; what cannot be is refused.
set -u
failures=0
"$WPCC" -O2 "$E2E/sim/paging.cu" -o "$TMP/paging" || exit 1

run() { # report, options..., of the program after --
    report=$1
    shift
    "$WARPAGE" run --device sim:gtx1080ti --report "$TMP/$report" "$@" >"$TMP/out" 2>"$TMP/err" ||
        { cat "$TMP/out" "$TMP/err"; exit 1; }
}
member() { sed -n "s/^ *\"$1\": \([0-9]*\).*/\1/p" "$TMP/r.json" | head -n 1; }
expect() { # what, got, wanted
    [ "$2" = "$3" ] || { echo "$1: $2, expected $3"; failures=1; }
}

# 3 chunks of 512 pages: each page; each block of 16; 6 a chunk (1, 1, 2, 4, 8, 16 blocks of its 32).
for case in none:1536 sequential-local:96 tree:18; do
    run r.json --set paging.prefetch="${case%:*}" -- "$TMP/paging" walk
    expect "${case%:*}: far faults" "$(member paging_far_faults)" "${case#*:}"
    expect "${case%:*}: pages" "$(member paging_fetched)" 1536
    expect "${case%:*}: bytes to the device" "$(member link_to_device_copied_bytes)" $((1536 * 4096))
    expect "${case%:*}: evicted" "$(member paging_evicted)" 0
done
# As UVMSmart: no latency, the same faults of one thread; below --set, and in replays as in runs.
run r.json --as uvmsmart -- "$TMP/paging" walk
expect "as uvmsmart: far faults" "$(member paging_far_faults)" 18
run 1.json --as uvmsmart --set paging.service=serial -- "$TMP/paging" walk
[ "$(member time_ps)" -lt "$(sed -n 's/^ *"time_ps": \([0-9]*\).*/\1/p' "$TMP/1.json" | head -n 1)" ] ||
    { echo "as uvmsmart: latencies take time"; failures=1; }
"$WARPAGE" trace record -o "$TMP/as.wpt" --as uvmsmart -- "$TMP/paging" walk >/dev/null 2>&1 &&
    "$WARPAGE" trace replay --device sim:gtx1080ti --as uvmsmart --report "$TMP/2.json" "$TMP/as.wpt" || failures=1
expect "as uvmsmart: a replay's device" "$(sed -n 's/^ *"spec": "\(.*\)".*/\1/p' "$TMP/2.json" | head -n 1)" sim:gtx1080ti+uvmsmart
# Oracles: a first run is made, and what it prints is not; the walk's first page alone faults. Replays do the same.
# A file is one run's: another one's is refused.
run r.json --prefetch oracle --evict oracle -- "$TMP/paging" walk
expect "oracle: what is said" "$(grep -c 'runs twice' "$TMP/err")" 1
[ "$(member paging_far_faults)" -le 1 ] || { echo "oracle: $(member paging_far_faults) far faults"; failures=1; }
expect "oracle: pages" "$(member paging_fetched)" 1536
"$WARPAGE" trace replay --device sim:gtx1080ti --set prefetch=oracle --report "$TMP/r.json" "$TMP/as.wpt" || failures=1
[ "$(member paging_far_faults)" -le 1 ] || { echo "oracle, replayed: $(member paging_far_faults) far faults"; failures=1; }
"$WARPAGE" run --device sim:gtx1080ti --report "$TMP/r.json" -- env WARPAGE_NOTE_FUTURE="$TMP/future" "$TMP/paging" walk >/dev/null 2>&1
[ -s "$TMP/future" ] || { echo "nothing was noted"; failures=1; }
head -c 20 "$TMP/future" >"$TMP/short"
WARPAGE_FUTURE=$TMP/short "$WARPAGE" run --device sim:gtx1080ti --evict oracle -- "$TMP/paging" walk >"$TMP/out" 2>&1 &&
    { echo "half a file of notes is taken"; failures=1; }
grep -q "short: this record of page accesses is truncated or damaged" "$TMP/out" || { cat "$TMP/out"; failures=1; }
run r.json --set paging.migrate=zero-copy -- "$TMP/paging" walk
expect "zero-copy: far faults" "$(member paging_far_faults)" 0
expect "zero-copy: remote" "$(member paging_remote)" 1536
run r.json --set paging.migrate=always --set paging.migrate_threshold=1000 -- "$TMP/paging" walk
expect "always, 1000: remote" "$(member paging_remote)" 1536

"$WARPAGE" run --device cpu "$TMP/paging" >"$TMP/wanted" 2>/dev/null || exit 1
for pair in lru-2m:first-touch lru-4k:adaptive lfu-2m:adaptive random:oversub tree:first-touch sequential-local:always driver:first-touch; do
    run r.json --oversubscribe 150% --evict "${pair%:*}" --migrate "${pair#*:}" -- "$TMP/paging"
    cmp -s "$TMP/out" "$TMP/wanted" || { echo "$pair: another output"; failures=1; }
    [ "$(member paging_evicted)" -gt 0 ] || { echo "$pair: nothing was evicted"; failures=1; }
done
# As the driver serves faults: as many for one thread that reads page after page, a replay each; the same output however they are replayed.
run r.json --set service=batch --prefetch driver -- "$TMP/paging" walk
for metric in far_faults batch_fetched batch_replays services; do
    expect "batch: $metric" "$(member paging_$metric)" 18
done
for replay in block batch batch-flush once; do
    run r.json --oversubscribe 150% --evict driver --set service=batch --set replay=$replay --set thrash=driver -- "$TMP/paging"
    cmp -s "$TMP/out" "$TMP/wanted" || { echo "batch, $replay: another output"; failures=1; }
    [ "$(member paging_batch_fetched)" -ge "$(member paging_far_faults)" ] || { echo "batch, $replay: faults out of nothing"; failures=1; }
done
run 1.json --oversubscribe 150% -- "$TMP/paging"
run 2.json --oversubscribe 150% -- "$TMP/paging"
for n in 1 2; do
    grep -v '"wall_time_ns"' "$TMP/$n.json" >"$TMP/$n.report"
done
cmp -s "$TMP/1.report" "$TMP/2.report" || { echo "two runs, two reports"; failures=1; }
# A trace may be recorded where pages do not move.
"$WARPAGE" trace record -o "$TMP/paging.wpt" --set paging.on=off -- "$TMP/paging" >/dev/null 2>&1 &&
    "$WARPAGE" trace replay --device sim:gtx1080ti --set oversubscribe=150% --report "$TMP/3.json" "$TMP/paging.wpt" ||
    failures=1
grep -v '"wall_time_ns"' "$TMP/3.json" >"$TMP/3.report"
cmp -s "$TMP/1.report" "$TMP/3.report" || { echo "a replay, another report"; diff "$TMP/1.report" "$TMP/3.report" | head; failures=1; }

# Where entries of TLBs stand for many pages, and a miss brings many, neighbours of a page may still be elsewhere.
# Where pages of 2 MiB are broken and made all the time, nothing gets lost.
for case in p100:none:lru-4k:drained k80:none:lru-4k:drained p100:driver:driver:batch p100:tree:tree:batch; do
    IFS=: read -r gpu prefetch evict service <<END
$case
END
    "$WARPAGE" run --device sim:$gpu --set paging.on=on --set service=$service --oversubscribe 150% --prefetch $prefetch \
        --evict $evict "$TMP/paging" 2>"$TMP/err" | sed '/^$/,$d' | cmp -s - "$TMP/wanted" ||
        { echo "$case: another output"; cat "$TMP/err"; failures=1; }
done

"$WARPAGE" run --device sim:gtx1080ti --oversubscribe=400% "$TMP/paging" >"$TMP/out" 2>&1 &&
    { echo "less than 2 MiB of memory is taken"; failures=1; }
grep -q 'of managed memory, oversubscribed by .* need at least 2 MiB: give the program a larger input, or lower --oversubscribe' "$TMP/out" || { cat "$TMP/out"; failures=1; }
"$WARPAGE" run --device sim:gtx1080ti --set gpu.memory=1MiB "$TMP/paging" walk >"$TMP/out" 2>&1 &&
    { echo "1 MiB of memory is taken"; failures=1; }
grep -q 'of device memory but needs at least 2 MiB: raise gpu.memory' "$TMP/out" || { cat "$TMP/out"; failures=1; }
"$WARPAGE" run --device sim:gtx1080ti --evict lru "$TMP/paging" >"$TMP/out" 2>&1 && failures=1
grep -q "no evict policy 'lru'" "$TMP/out" || { cat "$TMP/out"; failures=1; }
exit $failures

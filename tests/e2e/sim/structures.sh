#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# managed_structures.cu on a GPU whose pages move: which pages its lists and pointers lead to, one fault each without a
# prefetcher; the host takes back what it looks at; page-locked and registered memory stay where they are.
set -u
failures=0
"$WPCC" -O2 "$E2E/managed_structures.cu" -o "$TMP/structures" || exit 1

member() { sed -n "s/^ *\"$2\": \([0-9][0-9]*\).*/\1/p" "$TMP/$1.json" | tail -n 1; }
expect() { # what, got, wanted
    [ "$2" = "$3" ] || { echo "$1: $2, expected $3"; failures=1; }
}
run() { # report, options...
    report=$1
    shift
    "$WARPAGE" run --device sim:gtx1080ti --report "$TMP/$report.json" "$@" -- "$TMP/structures" >"$TMP/out" 2>&1 ||
        { cat "$TMP/out"; failures=1; }
}
nodes=40 words=39 cells=1 variables=1 # pages
run r --prefetch none
expect "far faults" "$(member r paging_far_faults)" $((nodes + words + cells + variables))
expect "pages fetched" "$(member r paging_fetched)" $((nodes + words + cells))
expect "pages made" "$(member r paging_made)" $variables
expect "far faults of the host" "$(member r paging_host_faults)" $((words + variables))
expect "bytes to the device" "$(member r link_to_device_copied_bytes)" $(((nodes + words + cells) * 4096))
[ "$(member r link_to_device_remote_bytes)" -gt 0 ] || { echo "nothing was read in host memory"; failures=1; }
"$WARPAGE" trace record -o "$TMP/t.wpt" --set paging.on=off -- "$TMP/structures" >/dev/null 2>&1 &&
    "$WARPAGE" trace replay --device sim:gtx1080ti --set prefetch=none --report "$TMP/t.json" "$TMP/t.wpt" || failures=1
for report in r t; do # registered memory is no allocation in a replay
    grep '"paging_\|"link_\|"simulated_time' "$TMP/$report.json" >"$TMP/$report"
done
cmp -s "$TMP/r" "$TMP/t" || { echo "a replay, other counts"; diff "$TMP/r" "$TMP/t" | head; failures=1; }
expect "bytes of a page in the report" "$(member r page_bytes)" 4096
# The answers are right (the program checks them) whatever moves.
for options in "--prefetch tree" "--set service=batch --prefetch driver --evict driver --set thrash=driver" "--migrate zero-copy" \
    "--oversubscribe 105%"; do
    # shellcheck disable=SC2086
    run o $options
done
exit $failures

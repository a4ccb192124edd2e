#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Memory of 100% of what a program allocates holds what prefetchers bring, too, where allocations are rounded up to trees.
set -u
failures=0
"$WPCC" -O2 "$E2E/sim/footprint.cu" -o "$TMP/footprint" || exit 1

member() { sed -n "s/^ *\"$1\": \([0-9]*\).*/\1/p" "$TMP/r.json" | head -n 1; }
expect() { # rounded, percent, fetched, evicted
    "$WARPAGE" run --device sim:gtx1080ti --report "$TMP/r.json" --set round_up="$1" --set zero_fill=off --oversubscribe "$2" \
        -- "$TMP/footprint" >"$TMP/out" 2>&1 || { cat "$TMP/out"; exit 1; }
    [ "$(member paging_fetched)" = "$3" ] || { echo "$1, $2: $(member paging_fetched) pages came, not $3"; failures=1; }
    [ "$(member paging_evicted)" "$4" 0 ] || { echo "$1, $2: $(member paging_evicted) pages left"; failures=1; }
}
expect off 100% 769 -eq
expect on 100% 1024 -eq
expect on 133% 1024 -gt
exit $failures

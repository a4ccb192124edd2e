#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# DEVICES: sim:gtx1080ti
# What fetches and surface accesses touch, computed by hand for 256 x 256 floats, a warp on 32 of a row: 4 sectors.
set -u
failures=0
"$WPCC" -O2 "$E2E/sim/textures.cu" -o "$TMP/textures" || exit 1
member() { sed -n "s/^ *\"$1\": \([0-9]*\).*/\1/p" "$TMP/r.json" | head -n 1; }

expect() { # what, loads, their sectors, sectors of stores, KiB from DRAM
    for when in never always; do
        WARPAGE_IN_STEP=$when "$WARPAGE" run --device sim:gtx1080ti --report "$TMP/r.json" -- "$TMP/textures" "$1" \
            >"$TMP/out" 2>&1 || { cat "$TMP/out"; exit 1; }
        got="$(member memory_load_accesses) $(member memory_load_sectors) $(member memory_store_sectors)"
        got="$got $(($(member dram_read_bytes) / 1024))"
        [ "$got" = "$2 $3 $4 $5" ] || { echo "$1, in step $when: $got, expected $2 $3 $4 $5"; failures=1; }
    done
}

warps=$((256 * 256 / 32))
expect nearest $warps $((warps * 4)) 0 256
expect centres $warps $((warps * 4)) 0 256 # filtered with weights of 0: nothing else is read
expect linear $warps $((warps * 4)) 0 256
# Half way between texels: two rows; in each the left texels, 33 - 1 of them from the one before the warp's first, and
# the right ones that begin a sector: 5 + 4 sectors, at the left edge 4 + 3.
expect between $((warps * 4)) $((256 * 2 * (7 + 7 * 9))) 0 256
expect outside 0 0 0 0
expect write 0 0 $((warps * 4)) 0
exit $failures

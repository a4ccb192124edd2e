#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# DEVICES: sim:gtx1080ti
# Kernels reach host memory across the link, of any kind (page-locked, registered, managed that does not move, unregistered), but
# not device memory: the bytes are those of the kernel's words, and a dependent access takes link.remote_latency
# (200 cycles of 675 ps) more than one that L2 has.
set -u
failures=0
"$WPCC" -O2 "$E2E/sim/host_memory.cu" -o "$TMP/host_memory" || exit 1

run() { # kind, what: counts of its second launch in $TMP/json
    "$WARPAGE" run --device sim:gtx1080ti --set paging.on=off --warmup 1 --report "$TMP/r.json" -- "$TMP/host_memory" "$1" "$2" >"$TMP/out" 2>&1 ||
        { cat "$TMP/out"; exit 1; }
}
member() { sed -n "s/^ *\"$1\": \([0-9]*\).*/\1/p" "$TMP/r.json" | head -n 1; }
expect() { # what, got, wanted
    [ "$2" = "$3" ] || { echo "$1: $2, expected $3"; failures=1; }
}

bytes=$((65536 * 4))
run device chase
device_ns=$(member time_ns)
for kind in device pinned registered managed pageable; do
    across=$bytes
    [ $kind = device ] && across=0
    run $kind read
    expect "$kind: bytes read across the link" "$(member link_to_device_remote_bytes)" $across
    [ $kind = device ] || expect "$kind: bytes read from DRAM" "$(member dram_read_bytes)" 0
    run $kind write
    expect "$kind: bytes written across the link" "$(member link_to_host_remote_bytes)" $across
    run $kind chase
    [ $kind = device ] ||
        expect "$kind: ns of 128 dependent reads more than in L2" $(($(member time_ns) - device_ns)) $((128 * 200 * 675 / 1000))
done
exit $failures

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two simulated GPUs: what their link takes (several_links.cu), the message for access that is not allowed, and the rows
# of each device in the report.

fail() {
    echo "$1" >&2
    exit 1
}

"$WPCC" "$E2E/sim/several_links.cu" -o "$TMP/several_links" || fail 'several_links does not compile'
"$WARPAGE" run --device sim:p100,sim:p100 --report "$TMP/record.json" -- "$TMP/several_links" \
    >"$TMP/out" 2>"$TMP/errors" || fail "several_links: $(cat "$TMP/out" "$TMP/errors")"
[ "$(tail -n 1 "$TMP/out")" = PASS ] || fail "$(cat "$TMP/out")"
grep -q 'memory of device 1: cudaDeviceEnablePeerAccess(1) on device 0 allows it' "$TMP/errors" ||
    fail "no message: $(cat "$TMP/errors")"
for row in device0::work device1::work device0::gather; do
    grep -q "$row" "$TMP/record.json" || fail "the record has no row $row"
done

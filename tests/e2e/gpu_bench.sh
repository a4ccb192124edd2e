#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The programs of bench/gpu, small, on $DEVICES: they check what they computed.
export WARPAGE_DEVICE="$DEVICES"
check() { # program arguments…
    "$WPCC" -O2 "$E2E/../../bench/gpu/$1.cu" -o "$TMP/$1" || exit 1
    program=$TMP/$1
    shift
    "$program" "$@" >"$TMP/out" || exit 1
    [ "$(tail -n 1 "$TMP/out")" = PASS ] || { cat "$TMP/out"; exit 1; }
    grep -q '^{"what": ".*", "unit": ".*", "median": [0-9]' "$TMP/out" || { cat "$TMP/out"; exit 1; }
}
check bandwidth 2
check latency 20
[ "$DEVICES" = cpu ] || exit 0 # the reads are too many for what interprets them
check random_access 1 4
# More than there is is refused.
! WARPAGE_DEVICE_MEMORY=8MiB "$TMP/random_access" 16 2>"$TMP/err" || exit 1
grep -q 'MiB are free' "$TMP/err"
# A small device gets small tables.
WARPAGE_DEVICE_MEMORY=8MiB "$TMP/random_access" >"$TMP/out" || exit 1
grep -q 'over 3 MiB' "$TMP/out" && grep -q 'over 7 MiB' "$TMP/out" || { cat "$TMP/out"; exit 1; }

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# __managed__ variables are managed memory: kernels fault on their pages, the host takes pages back, traces keep it. 64
# unused pages, 8 whose initial value the host has; the host looks at 10 of the first between two kernels.
set -u
"$WPCC" -O2 "$E2E/sim/variables.cu" -o "$TMP/variables" || exit 1
. "$E2E/../support/page_counts.sh"

# far_faults fetched made requested remote host_faults
check() { # how, counts
    report --prefetch $prefetch -- "$TMP/variables" "$1"
    expect "$1" "$(counts far_faults fetched made requested remote host_faults)" "$2 "
    expect_replay "$TMP/variables" "$1"
}
check plain "82 18 64 0 0 10"
check end "82 18 64 0 0 74"
check before "82 28 54 0 0 10"
check prefetch "74 18 64 8 0 10"
check stays "74 10 64 0 8 10"
check reset "154 90 64 0 0 82" # the host gives all of them their initial values again
# Elsewhere it is memory of the host's, across the link; nothing of it is in the file.
device=sim:k80
report -- "$TMP/variables" plain
[ "$(member link_to_device_remote_bytes)" -gt 0 ] || { echo "k80: nothing was read across the link"; failures=1; }
"$WARPAGE" run --device cpu -- "$TMP/variables" plain >"$TMP/out" 2>&1 || { cat "$TMP/out"; failures=1; }
exit $failures

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The probe finds what Table 2 of Karnagel et al. says of the K80 and the P100, which the simulated ones have;
# and TLBs that were drawn at random.
set -u
failures=0

check() { # device, what is wanted, options
    # shellcheck disable=SC2086  # options are words
    "$WARPAGE" probe --device "$1" ${3-} --format values >"$TMP/found" 2>"$TMP/err" || { cat "$TMP/err"; failures=1; }
    printf '%s\n' "$2" | tr ' ' '\n' | sed 's/=/ /' | while read -r name value; do
        awk -v name="$name" -v value="$value" '
            $1 == name { found = 1; near = $2 - value < 0.5 && value - $2 < 0.5; if (!near) print name " is " $2 ", not " value }
            END { if (!found) print name " is unknown, not " value }' "$TMP/found"
    done >"$TMP/wrong"
    [ ! -s "$TMP/wrong" ] || { echo "$1:"; cat "$TMP/wrong"; failures=1; }
}

check sim:k80 "levels=3 l1.entries=16 l1.page_bytes=131072 l1.miss_cycles=9 l1.groups=13 \
l2.entries=65 l2.page_bytes=2097152 l2.miss_cycles=55 l2.groups=5 l2.reach_bytes=136314880 \
l3.entries=1032 l3.page_bytes=2097152 l3.miss_cycles=177 l3.groups=1 l3.sets=129 l3.ways=8"
check sim:p100 "levels=2 l1.entries=16 l1.page_bytes=2097152 l1.miss_cycles=9 \
l2.entries=65 l2.page_bytes=33554432 l2.miss_cycles=110 l2.reach_bytes=2181038080" "--pairs none"
"$E2E/../../tools/probe-check.sh" "$(dirname "$WARPAGE")/.." 1 7 || failures=1
exit $failures

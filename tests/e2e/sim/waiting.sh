#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Blocks that wait for each other come to their ends whether kernels run in step or ahead. In step, persistent
# blocks share the work evenly; what a choice is called wrongly is said.
set -u
"$WPCC" -O2 "$E2E/sim/waiting.cu" -o "$TMP/waiting" || exit 1
for when in auto always never; do
    WARPAGE_DEVICE=sim:k80 WARPAGE_IN_STEP=$when "$TMP/waiting" >"$TMP/$when" || { cat "$TMP/$when"; exit 1; }
done
# 1000 pieces for 13 blocks of a warp: 76 or 77 in turn; half as many are allowed to one.
awk '/^work:/ { exit !($2 >= 38 && $4 <= 154) }' "$TMP/auto" || { echo "uneven:"; cat "$TMP/auto"; exit 1; }
cmp "$TMP/auto" "$TMP/always" || exit 1
WARPAGE_DEVICE=sim:k80 WARPAGE_IN_STEP=sometimes "$TMP/waiting" >"$TMP/out" 2>&1 && exit 1
grep -q "in-step: 'sometimes' is not auto, always or never" "$TMP/out" || { cat "$TMP/out"; exit 1; }
"$WARPAGE" run --in-step sometimes "$TMP/waiting" >"$TMP/out" 2>&1
[ $? -eq 2 ] && grep -q -- "--in-step sometimes is not one of auto, always, never" "$TMP/out"

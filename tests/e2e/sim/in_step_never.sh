# SPDX-License-Identifier: Apache-2.0
# A kernel with locks that does not end because it may not run in step: the message names the option.
set -e
"$WPCC" -O2 -I "$E2E" "$E2E/table_random.cu" -o "$TMP/table"
! WARPAGE_PATIENCE=1s "$WARPAGE" run --device sim:gtx780ti --in-step never -- "$TMP/table" >"$TMP/out" 2>&1
grep -q -- "wait for each other without progress.*--in-step never.*leave the option out" "$TMP/out" || { cat "$TMP/out"; exit 1; }

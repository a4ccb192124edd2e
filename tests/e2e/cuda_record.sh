#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The run record knows the GPU, its kernels and its copies: on the stand-in for NVIDIA's driver.
fake=$(dirname "$WPCC")/../tests/libfake_cuda.so
[ -f "$fake" ] || { echo "$fake is missing"; exit 77; }
"$WPCC" "$E2E/../../examples/vecadd.cu" -o "$TMP/vecadd" || exit 1
failed=0
WARPAGE_LIBCUDA=$fake "$WARPAGE" run --device cuda:0 "$TMP/vecadd" >/dev/null 2>"$TMP/report" || failed=1
for part in 'on cuda:0 (Fake GPU 0)' ' add  *1  *1048576'; do
    grep -q -e "$part" "$TMP/report" || { echo "the report lacks '$part':"; cat "$TMP/report"; failed=1; }
done
exit $failed

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `trace record` writes into a pipe or a device and does not replace it: as root, `-o /dev/null` left a plain file in /dev.
set -u
cat >"$TMP/one.cu" <<'EOF'
__global__ void one(int *out) { out[threadIdx.x] = 1; }
int main() {
    int *out;
    return cudaMallocManaged(&out, 256) != cudaSuccess || (one<<<1, 64>>>(out), cudaDeviceSynchronize()) != cudaSuccess;
}
EOF
"$WPCC" "$TMP/one.cu" -o "$TMP/one" && mkfifo "$TMP/pipe" && ln -s pipe "$TMP/link" || exit 1
for target in pipe link; do
    timeout 60 cat "$TMP/$target" >"$TMP/got.wpt" & # nothing writes to a pipe that was replaced
    reader=$!
    "$WARPAGE" trace record -o "$TMP/$target" -- "$TMP/one" || exit 1
    [ -p "$TMP/$target" ] || { echo "$target was replaced"; kill $reader; exit 1; }
    wait $reader
    "$WARPAGE" trace info "$TMP/got.wpt" | grep -q '^launches *1$' || { echo "$target: another trace"; exit 1; }
done
[ -h "$TMP/link" ] || { echo "the link was replaced"; exit 1; }

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Clusters from PTX text; kernels that a GPU without clusters refuses.
for name in cluster cluster_ptx bulk_copy mbarrier tensor_copy wgmma; do
    arch=sm_90
    [ $name = wgmma ] && arch=sm_90a
    "$WPCC" -arch=$arch --through-ptx "$E2E/$name.cu" -o "$TMP/$name" || exit 1
    for device in cpu sim:h200; do
        said=$(WARPAGE_DEVICE=$device timeout "$TIMEOUT_S" "$TMP/$name" 2>/dev/null | tail -n 1)
        [ "$said" = PASS ] && continue
        echo "$name from PTX on $device: $said"
        exit 1
    done
done

WARPAGE_DEVICE=sim:v100 "$TMP/cluster_ptx" >"$TMP/said" 2>&1 && exit 1
grep -q "the device has none; they need compute capability 9.0 (cudaErrorNoKernelImageForDevice)" "$TMP/said" ||
    { cat "$TMP/said"; exit 1; }
WARPAGE_DEVICE=sim:v100 "$TMP/cluster" >"$TMP/said" 2>&1 && exit 1
grep -q "cudaErrorNotSupported" "$TMP/said" || { cat "$TMP/said"; exit 1; }

# The barrier of a cluster, and loads from another SM's shared memory, take simulated time.
cat >"$TMP/time.cu" <<'END'
#include <cooperative_groups.h>
#include <cstdio>
__global__ void __cluster_dims__(2, 1, 1) chase(unsigned steps, unsigned is_far, long long *out) {
    __shared__ volatile unsigned next[32];
    const auto cluster = cooperative_groups::this_cluster();
    next[threadIdx.x] = (threadIdx.x * 7 + 3) % 32;
    cluster.sync();
    const unsigned rank = is_far ? 1 - cluster.block_rank() : cluster.block_rank();
    volatile unsigned *there = (volatile unsigned *)__cluster_map_shared_rank((const void *)next, rank);
    unsigned at = 0;
    const long long start = clock64();
    for (unsigned i = 0; i < steps; i++)
        at = there[at];
    const long long end = clock64();
    if (threadIdx.x == 0) out[blockIdx.x] = (end - start) / steps + (at > 31);
    cluster.sync();
}
int main() {
    long long *out, near;
    cudaMallocManaged(&out, 2 * sizeof *out);
    chase<<<2, 1>>>(64, 0, out);
    cudaDeviceSynchronize();
    near = out[0];
    chase<<<2, 1>>>(64, 1, out);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    std::printf("%lld %lld\n", near, out[0]);
    return 0;
}
END
"$WPCC" -O2 "$TMP/time.cu" -o "$TMP/time" || exit 1
times=$(WARPAGE_DEVICE=sim:h200 timeout "$TIMEOUT_S" "$TMP/time") || exit 1
set -- $times
# The profile: 180 cycles, and two for the sector; the loop's instructions come on top.
if [ "$2" -lt 180 ] || [ "$2" -gt 260 ] || [ "$1" -ge 100 ]; then
    echo "cycles of a load: own $1, of another SM $2"
    exit 1
fi

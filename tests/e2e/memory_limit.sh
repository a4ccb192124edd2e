# SPDX-License-Identifier: Apache-2.0
# Limited device memory: cudaMalloc stops at the limit, managed memory may exceed it, cudaMemGetInfo knows.
set -e
cd "$TMP"
cat >limit.cu <<'END'
#include <stdio.h>
__global__ void touch(char *p, size_t n)
{
    for (size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * 4096; i < n; i += gridDim.x * (size_t)blockDim.x * 4096)
        p[i] = 3;
}
#define EXPECT(condition) if (!(condition)) { printf("FAIL: line %d: %s\n", __LINE__, #condition); return 1; }
int main(void)
{
    const size_t MiB = 1 << 20;
    size_t unused, total;
    char *a, *b, *c = NULL, *managed;
    EXPECT(cudaMemGetInfo(&unused, &total) == cudaSuccess && total == 64 * MiB && unused <= total);
    EXPECT(cudaMalloc((void **)&a, 40 * MiB) == cudaSuccess);
    EXPECT(cudaMalloc((void **)&c, 40 * MiB) == cudaErrorMemoryAllocation && c == NULL);
    EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
    EXPECT(cudaMalloc((void **)&b, 16 * MiB) == cudaSuccess);
    EXPECT(cudaMallocManaged((void **)&managed, 160 * MiB) == cudaSuccess);
    touch<<<4, 64>>>(managed, 160 * MiB);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess && managed[100 * MiB] == 3 && managed[4095] == 0);
    EXPECT(cudaFree(a) == cudaSuccess);
    EXPECT(cudaMalloc((void **)&c, 40 * MiB) == cudaSuccess);
    cudaDeviceProp prop;
    EXPECT(cudaGetDeviceProperties(&prop, 0) == cudaSuccess && prop.totalGlobalMem == 64 * MiB);
    printf("PASS\n");
    return 0;
}
END
"$WPCC" limit.cu -o limit
[ "$(WARPAGE_DEVICE_MEMORY=64MiB ./limit 2>/dev/null)" = PASS ] || { WARPAGE_DEVICE_MEMORY=64MiB ./limit; exit 1; }
[ "$("$WARPAGE" run --device-memory 64MiB -- ./limit 2>/dev/null)" = PASS ] || { "$WARPAGE" run --device-memory 64MiB -- ./limit; exit 1; }

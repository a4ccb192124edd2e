/* SPDX-License-Identifier: Apache-2.0 */
/* clock(), clock64() and the global timer go forward in every thread. */
#include "check.h"

__global__ void measure(long long *cycles, int *ok, int *chain)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, at = t;
    long long first = clock64();
    clock_t small = clock();
    for (int i = 0; i < 2000; i++)
        at = chain[at % 1024];
    long long middle = clock64();
    for (int i = 0; i < 2000; i++)
        at = chain[at % 1024];
    long long last = clock64();
    clock_t small_end = clock();
    cycles[t] = last - first;
    ok[t] = first <= middle && middle <= last && last > first && (unsigned)(small_end - small) < 1u << 31
            && small_end != small;
    chain[1024 + t] = at;
}

int main(void)
{
    long long *cycles = check_managed<long long>(128);
    int *ok = check_managed<int>(128), *chain = check_managed<int>(1024 + 128);
    for (int i = 0; i < 1024; i++)
        chain[i] = (i * 37 + 11) % 1024;
    measure<<<2, 64>>>(cycles, ok, chain);
    KERNEL_OK();
    for (int t = 0; t < 128; t++) {
        CHECK_EQ(ok[t], 1);
        CHECK(cycles[t] > 1000); /* 4000 dependent loads take longer */
    }
    cudaEvent_t a, b;
    CUDA_OK(cudaEventCreate(&a));
    CUDA_OK(cudaEventCreate(&b));
    CUDA_OK(cudaEventRecord(a));
    measure<<<2, 64>>>(cycles, ok, chain);
    CUDA_OK(cudaEventRecord(b));
    CUDA_OK(cudaEventSynchronize(b));
    float ms = -1;
    CUDA_OK(cudaEventElapsedTime(&ms, a, b));
    CHECK(ms > 0);
    int khz = 0;
    CUDA_OK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    CHECK(khz > 0);
    CUDA_OK(cudaEventDestroy(a));
    CUDA_OK(cudaEventDestroy(b));
    return check_done();
}

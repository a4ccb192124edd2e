// FLAGS: --cache
/* SPDX-License-Identifier: Apache-2.0 */
/* A cooperative grid that fits the device only without the cache, whose form of the kernel takes more registers, runs. */
#include <cooperative_groups.h>

#include "check.h"

enum { THREADS = 256, LENGTH = 8 };

__global__ void sums(const char *in, int *out, int *all, int length)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    int own = 0;
    for (int i = 0; i < length; i++)
        own += in[t * length + i];
    out[t] = own;
    cooperative_groups::this_grid().sync();
    all[t] = out[gridDim.x * blockDim.x - 1 - t];
}

static int least(int a, int b) { return a < b ? a : b; }

static void run(int blocks)
{
    const int threads = blocks * THREADS;
    char *in;
    int *out, *all, *got = (int *)malloc(threads * sizeof *got);
    CUDA_OK(cudaMalloc(&in, threads * LENGTH));
    CUDA_OK(cudaMalloc(&out, threads * sizeof *out));
    CUDA_OK(cudaMalloc(&all, threads * sizeof *all));
    CUDA_OK(cudaMemset(in, 3, threads * LENGTH));
    int length = LENGTH;
    void *args[] = {&in, &out, &all, &length};
    CUDA_OK(cudaLaunchCooperativeKernel((const void *)sums, blocks, THREADS, args, 0, 0));
    CUDA_OK(cudaMemcpy(got, all, threads * sizeof *got, cudaMemcpyDeviceToHost));
    for (int t = 0; t < threads; t++)
        CHECK_EQ(got[t], 3 * LENGTH);
    CUDA_OK(cudaFree(in));
    CUDA_OK(cudaFree(out));
    CUDA_OK(cudaFree(all));
    free(got);
}

int main()
{
    cudaDeviceProp device;
    cudaFuncAttributes kernel;
    int offered;
    CUDA_OK(cudaGetDeviceProperties(&device, 0));
    CUDA_OK(cudaFuncGetAttributes(&kernel, sums));
    CUDA_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&offered, sums, THREADS, 0));
    run(offered * device.multiProcessorCount);
    const int registers = (kernel.numRegs + 7) / 8 * 8 * THREADS;
    int plain = device.maxThreadsPerMultiProcessor / THREADS;
    if (registers != 0) plain = least(plain, device.regsPerMultiprocessor / registers);
    CHECK(plain >= offered);
    run(plain * device.multiProcessorCount);
    return check_done();
}

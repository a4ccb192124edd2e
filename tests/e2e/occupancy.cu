/* SPDX-License-Identifier: Apache-2.0 */
/* Occupancy queries and function attributes: consistent with each other and with the device's limits. */
#include "check.h"

__global__ void light(int *p) { p[threadIdx.x] = threadIdx.x; }
__global__ void with_shared(int *p)
{
    __shared__ int tile[3000];
    tile[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
__global__ void __launch_bounds__(192) bounded(int *p) { p[threadIdx.x] = 1; }
__constant__ int table[100];
__global__ void with_local(int *p)
{
    volatile int scratch[400];
    for (int i = 0; i < 400; i++)
        scratch[i] = p[i] + table[i % 100];
    p[threadIdx.x] = scratch[p[threadIdx.x] & 127];
}

__global__ void with_registers(float *p)
{
    float v[100];
#pragma unroll
    for (int i = 0; i < 100; i++)
        v[i] = p[threadIdx.x + i * 1024];
    for (int turn = 0; turn < (int)p[0]; turn++)
#pragma unroll
        for (int i = 0; i < 100; i++)
            v[i] = v[i] * v[(i + 7) % 100] + 1.0f;
#pragma unroll
    for (int i = 0; i < 100; i++)
        p[threadIdx.x + i * 1024] = v[i];
}

static size_t shared_for(int block) { return block * sizeof(int); }

int main(void)
{
    cudaDeviceProp prop;
    CUDA_OK(cudaGetDeviceProperties(&prop, 0));
    cudaFuncAttributes a;
    CUDA_OK(cudaFuncGetAttributes(&a, light));
    CHECK_EQ(a.sharedSizeBytes, (size_t)0);
    CHECK(a.maxThreadsPerBlock >= 32 && a.maxThreadsPerBlock <= prop.maxThreadsPerBlock);
    CHECK(a.numRegs > 0 && a.binaryVersion > 0 && a.ptxVersion > 0);
    CUDA_OK(cudaFuncGetAttributes(&a, with_shared));
    CHECK_EQ(a.sharedSizeBytes, (size_t)12000);
    CUDA_OK(cudaFuncGetAttributes(&a, bounded));
    CHECK_EQ(a.maxThreadsPerBlock, 192);
    CUDA_OK(cudaFuncGetAttributes(&a, with_local));
    CHECK(a.localSizeBytes >= 1600);
    CUDA_OK(cudaFuncGetAttributes(&a, with_registers));
    CHECK(a.numRegs > 0 && a.numRegs * a.maxThreadsPerBlock <= prop.regsPerBlock);

    int blocks = 0, fewer = 0;
    for (int threads = 32; threads <= 1024; threads *= 2) {
        CUDA_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, light, threads, 0));
        CHECK(blocks >= 1 && blocks * threads <= prop.maxThreadsPerMultiProcessor);
        CUDA_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fewer, light, threads, 40000));
        CHECK(fewer >= 1 && fewer <= blocks);
        CHECK((size_t)fewer * 40000 <= prop.sharedMemPerMultiprocessor);
    }
    CUDA_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_shared, 32, 0));
    CHECK((size_t)blocks * 12000 <= prop.sharedMemPerMultiprocessor);
    CUDA_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&fewer, with_shared, 32, 0, cudaOccupancyDefault));
    CHECK_EQ(fewer, blocks);
    int grid = 0, block = 0;
    CUDA_OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, light, 0, 0));
    CHECK(grid >= 1 && block >= 32 && block <= prop.maxThreadsPerBlock && block % 32 == 0);
    CUDA_OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 0));
    CHECK(block <= 192);
    CUDA_OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, light, 0, 128));
    CHECK(block <= 128);
    CUDA_OK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, light, shared_for, 0));
    CHECK(block >= 32);
    int *p = check_managed<int>(1024);
    light<<<1, block>>>(p); /* what was proposed can be launched */
    KERNEL_OK();
    CHECK_EQ(p[block - 1], block - 1);
    CUDA_OK(cudaFuncSetCacheConfig(with_shared, cudaFuncCachePreferShared));
    CUDA_OK(cudaFuncSetAttribute(with_shared, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    CUDA_OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    return check_done();
}

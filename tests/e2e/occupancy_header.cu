// SPDX-License-Identifier: Apache-2.0
/* cuda_occupancy.h, the calculator in a header: from the device's own numbers it gives what the runtime's calls give; from
 * those of other GPUs what their documentation says. */
#include <cuda_occupancy.h>

#include "check.h"

__global__ void light(int *out) { out[threadIdx.x] = 1; }

__global__ void heavy(float *out)
{
    __shared__ float kept[3000];
    kept[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = kept[blockDim.x - 1 - threadIdx.x];
}

__global__ void __launch_bounds__(256) bounded(int *out) { out[threadIdx.x] = 2; }

static void compare(const void *kernel, const cudaDeviceProp &device)
{
    cudaFuncAttributes attributes;
    CUDA_OK(cudaFuncGetAttributes(&attributes, kernel));
    const cudaOccDeviceProp p(device);
    const cudaOccFuncAttributes f(attributes);
    const cudaOccDeviceState s;
    for (int size : {1, 32, 96, 100, 256, 513, 1024})
        for (size_t shared : {0, 1000, 20000}) {
            int wanted;
            cudaOccResult r;
            CUDA_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&wanted, kernel, size, shared));
            CHECK_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &f, &s, size, shared), CUDA_OCC_SUCCESS);
            CHECK_EQ(r.activeBlocksPerMultiprocessor, wanted);
            CHECK(r.limitingFactors != 0);
        }
}

static cudaOccDeviceProp v100()
{
    cudaOccDeviceProp p;
    p.computeMajor = 7, p.maxThreadsPerBlock = 1024, p.maxThreadsPerMultiprocessor = 2048;
    p.regsPerBlock = p.regsPerMultiprocessor = 65536, p.warpSize = 32, p.numSms = 80;
    p.sharedMemPerBlock = 48 << 10, p.sharedMemPerMultiprocessor = p.sharedMemPerBlockOptin = 96 << 10;
    return p;
}

static size_t shared_of(int size) { return size * 32; }

int main()
{
    cudaDeviceProp device;
    CUDA_OK(cudaGetDeviceProperties(&device, 0));
    compare((const void *)light, device);
    compare((const void *)heavy, device);
    compare((const void *)bounded, device);

    cudaOccDeviceProp p = v100();
    cudaOccFuncAttributes f;
    cudaOccDeviceState s;
    cudaOccResult r;
    int grid, block, granule;
    size_t bytes;
    f.maxThreadsPerBlock = 1024, f.numRegs = 40;
    CHECK_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &f, &s, 256, 0), CUDA_OCC_SUCCESS);
    CHECK_EQ(r.activeBlocksPerMultiprocessor, 6); /* 1280 registers a warp: 48 warps of 64 */
    CHECK_EQ(r.limitingFactors, (unsigned)OCC_LIMIT_REGISTERS);
    CHECK_EQ(r.allocatedRegistersPerBlock, 8 * 1280);
    CHECK_EQ(r.blockLimitWarps, 8);
    CHECK_EQ(r.blockLimitBlocks, 32);
    f.numRegs = 32;
    CHECK_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &f, &s, 256, 20000), CUDA_OCC_SUCCESS);
    CHECK_EQ(r.activeBlocksPerMultiprocessor, 4); /* 20224 bytes each of 98304 */
    CHECK_EQ(r.limitingFactors, (unsigned)OCC_LIMIT_SHARED_MEMORY);
    CHECK_EQ(r.allocatedSharedMemPerBlock, (size_t)20224);
    s.carveoutConfig = SHAREDMEM_CARVEOUT_HALF; /* 64 KiB are the next size */
    CHECK_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &f, &s, 256, 20000), CUDA_OCC_SUCCESS);
    CHECK_EQ(r.activeBlocksPerMultiprocessor, 3);
    s.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT;
    CHECK_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &f, &s, 2048, 0), CUDA_OCC_SUCCESS);
    CHECK_EQ(r.activeBlocksPerMultiprocessor, 0);
    CHECK_EQ(cudaOccAvailableDynamicSMemPerBlock(&bytes, &p, &f, &s, 3, 256), CUDA_OCC_SUCCESS);
    CHECK_EQ(bytes, (size_t)32768);
    f.shmemLimitConfig = FUNC_SHMEM_LIMIT_DEFAULT;
    CHECK_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &f, &s, 32, 50000), CUDA_OCC_SUCCESS);
    CHECK_EQ(r.activeBlocksPerMultiprocessor, 0);

    CHECK_EQ(cudaOccMaxPotentialOccupancyBlockSize(&grid, &block, &p, &f, &s), CUDA_OCC_SUCCESS);
    CHECK_EQ(block, 1024);
    CHECK_EQ(grid, 160);
    CHECK_EQ(cudaOccMaxPotentialOccupancyBlockSize(&grid, &block, &p, &f, &s, shared_of, 0), CUDA_OCC_SUCCESS);
    CHECK_EQ(block, 1024); /* 32 KiB a block, three fit: more than the multiprocessor's threads */
    CHECK_EQ(cudaOccMaxPotentialOccupancyBlockSizeVariableSMem(&grid, &block, &p, &f, &s,
                                                              [](int size) { return size > 64 ? (size_t)49152 : (size_t)0; }),
             CUDA_OCC_SUCCESS);
    CHECK_EQ(block, 1024); /* two blocks of 1024 are as many threads as 32 of 64 */
    CHECK_EQ(cudaOccSMemAllocationGranularity(&granule, &p), CUDA_OCC_SUCCESS);
    CHECK_EQ(granule, 256);
    CHECK_EQ(__occDivideRoundUp(7, 3), 3);

    CHECK_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(NULL, &p, &f, &s, 32, 0), CUDA_OCC_ERROR_INVALID_INPUT);
    CHECK_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &f, &s, 0, 0), CUDA_OCC_ERROR_INVALID_INPUT);
    p.computeMajor = 4;
    CHECK_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &f, &s, 32, 0), CUDA_OCC_ERROR_UNKNOWN_DEVICE);
    return check_done();
}

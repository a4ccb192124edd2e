/* SPDX-License-Identifier: Apache-2.0 */
/* Names that old programs use: cudaThreadSynchronize and kin, prefetch by device number, memory types
 * as spelled before, the profiler's start and stop, <cuda.h> beside the runtime's headers. */
#include "check.h"
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <device_launch_parameters.h>
#include <math_constants.h>
#include <vector_types.h>

__global__ void set(int *p, float *f)
{
    p[threadIdx.x] = __mul24(threadIdx.x, 3);
    f[0] = CUDART_PI_F;
    f[1] = CUDART_INF_F;
    f[2] = (float)CUDART_PI;
    int t = __umul24(blockIdx.x, blockDim.x) + threadIdx.x;
    p[t] += t;
}

int main(void)
{
    CUDA_OK(cudaSetDeviceFlags(cudaDeviceScheduleAuto));
    int *p = check_managed<int>(64);
    float *f = check_managed<float>(3);
    CUDA_OK(cudaProfilerStart());
    set<<<1, 64>>>(p, f);
    CUDA_OK(cudaThreadSynchronize());
    CUDA_OK(cudaProfilerStop());
    for (int i = 0; i < 64; i++)
        CHECK_EQ(p[i], 4 * i);
    CHECK_EQ(f[0], 3.141592654f);
    CHECK(isinf(f[1]));
    CHECK_EQ(f[2], 3.141592654f);
    CUDA_OK(cudaMemPrefetchAsync(p, 64 * sizeof(int), 0, 0));
    CUDA_OK(cudaThreadSetLimit(cudaLimitStackSize, 4096));
    size_t limit = 0;
    CUDA_OK(cudaThreadGetLimit(&limit, cudaLimitStackSize));
    CHECK(limit >= 4096);
    CUDA_OK(cudaThreadSetCacheConfig(cudaFuncCachePreferShared));
    CUDA_OK(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeFourByte));
    CUDA_OK(cudaThreadExit());
    cudaDeviceProp prop;
    CUDA_OK(cudaGetDeviceProperties(&prop, 0));
    CHECK(prop.clockRate > 0 && prop.memoryClockRate >= 0 && prop.deviceOverlap >= 0);
    return check_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that cannot be: the error of each, that nothing ran, and that the next one works. */
#include "check.h"

__global__ void mark(int *out) { atomicAdd(out, 1); }
__global__ void __launch_bounds__(64) at_most_64(int *out) { atomicAdd(out, 1); }
__global__ void dynamic(int *out)
{
    extern __shared__ int tile[];
    tile[threadIdx.x] = 1;
    atomicAdd(out, tile[threadIdx.x]);
}

static int not_a_kernel;

#define EXPECT_LAUNCH(launch, expected)                                                            \
    do {                                                                                           \
        launch;                                                                                    \
        CHECK_ERROR(cudaGetLastError(), expected);                                                 \
        CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);                                         \
        CHECK_EQ(*out, 0);                                                                         \
    } while (0)

int main(void)
{
    int *out = check_managed<int>(1);
    EXPECT_LAUNCH((mark<<<1, 2000>>>(out)), cudaErrorInvalidConfiguration);
    EXPECT_LAUNCH((mark<<<1, dim3(32, 32, 2)>>>(out)), cudaErrorInvalidConfiguration);
    EXPECT_LAUNCH((mark<<<1, dim3(1, 1, 65)>>>(out)), cudaErrorInvalidConfiguration);
    EXPECT_LAUNCH((mark<<<1, 0>>>(out)), cudaErrorInvalidConfiguration);
    EXPECT_LAUNCH((mark<<<0, 1>>>(out)), cudaErrorInvalidConfiguration);
    EXPECT_LAUNCH((mark<<<dim3(1, 65536), 1>>>(out)), cudaErrorInvalidConfiguration);
    EXPECT_LAUNCH((mark<<<dim3(1, 1, 65536), 1>>>(out)), cudaErrorInvalidConfiguration);
    EXPECT_LAUNCH((dynamic<<<1, 32, 10 << 20>>>(out)), cudaErrorInvalidValue);
    EXPECT_LAUNCH((dynamic<<<1, 32, (48 << 10) + 4>>>(out)), cudaErrorInvalidValue); /* needs the opt-in */
    at_most_64<<<1, 65>>>(out);
    cudaError_t beyond_bounds = cudaGetLastError(); /* has differed between versions */
    CHECK(beyond_bounds == cudaErrorInvalidValue || beyond_bounds == cudaErrorLaunchOutOfResources);
    CHECK_EQ(*out, 0);
    at_most_64<<<1, 64>>>(out);
    KERNEL_OK();
    CHECK_EQ(*out, 64);
    *out = 0;
    void *args[] = {&out};
    CHECK_ERROR(cudaLaunchKernel((const void *)&not_a_kernel, dim3(1), dim3(1), args, 0, 0),
                cudaErrorInvalidDeviceFunction);
    CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
    CHECK_ERROR(cudaLaunchKernel((const void *)mark, dim3(1), dim3(4096), args, 0, 0), cudaErrorInvalidConfiguration);
    CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidConfiguration);
    CHECK_ERROR(cudaGetLastError(), cudaSuccess);

    int opt_in = 0;
    CUDA_OK(cudaDeviceGetAttribute(&opt_in, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    CHECK(opt_in >= 48 << 10);
    CUDA_OK(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, opt_in));
    dynamic<<<1, 32, opt_in>>>(out);
    KERNEL_OK();
    CHECK_EQ(*out, 32);
    *out = 0;
    CHECK_ERROR(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, opt_in + 1),
                cudaErrorInvalidValue);
    cudaGetLastError();
    mark<<<3, 5>>>(out);
    KERNEL_OK();
    CHECK_EQ(*out, 15);
    return check_done();
}

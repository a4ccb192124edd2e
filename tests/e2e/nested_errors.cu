// DEVICES: cpu sim (a GPU needs NVIDIA's device runtime)
/* SPDX-License-Identifier: Apache-2.0 */
/* Launches by kernels that fail: the launching thread's error, which others do not see; limits. */
#include "check.h"

__global__ void nothing(void) {}
__global__ void __launch_bounds__(64) few_threads(int *out) { out[threadIdx.x] = 1; }
__global__ void add(unsigned *sum) { atomicAdd(sum, 1); }

__global__ void bad_launches(int *out)
{
    if (threadIdx.x != 3) {
        out[32 + threadIdx.x] = cudaGetLastError();
        return;
    }
    nothing<<<1, 2048>>>();
    out[0] = cudaPeekAtLastError();
    out[1] = cudaGetLastError();
    out[2] = cudaGetLastError();
    nothing<<<0, 1>>>();
    out[3] = cudaGetLastError();
    few_threads<<<1, 65>>>(out);
    out[4] = cudaGetLastError();
    nothing<<<1, 1, 1 << 20>>>();
    out[5] = cudaGetLastError();
    nothing<<<1, 1, 0, (cudaStream_t)0x1234567>>>();
    out[6] = cudaGetLastError();
    nothing<<<1, 1>>>();
    out[7] = cudaGetLastError();
    cudaStream_t stream;
    out[8] = cudaStreamCreateWithFlags(&stream, cudaStreamDefault);
    out[9] = cudaGetLastError();
    few_threads<<<1, 32>>>(out + 64);
}

/* The nesting depth that is left. */
__global__ void descend(int *deepest, int *error, int depth)
{
    if (*deepest < depth) *deepest = depth;
    descend<<<1, 1>>>(deepest, error, depth + 1);
    cudaError_t e = cudaGetLastError();
    if (e != cudaSuccess) *error = e;
}

/* Which depths may wait. */
__global__ void wait_at(int *errors, int depth)
{
    if (depth < 3) wait_at<<<1, 1>>>(errors, depth + 1);
    errors[depth] = cudaDeviceSynchronize();
    if (errors[depth] == cudaSuccess && depth < 3) errors[depth] = errors[depth + 1] == -1;
}

__global__ void launch_many(unsigned *sum, int count, unsigned *failed, int *error)
{
    for (int i = 0; i < count; i++) {
        add<<<1, 1>>>(sum);
        cudaError_t e = cudaGetLastError();
        if (e == cudaSuccess) continue;
        atomicAdd(failed, 1);
        *error = e;
    }
}

int main(void)
{
    int *out = check_managed<int>(1024);
    bad_launches<<<1, 32>>>(out);
    KERNEL_OK();
    const int expected[] = {cudaErrorInvalidConfiguration, cudaErrorInvalidConfiguration, cudaSuccess,
                            cudaErrorInvalidConfiguration, cudaErrorLaunchOutOfResources, cudaErrorInvalidValue,
                            cudaErrorInvalidResourceHandle, cudaSuccess, cudaErrorInvalidValue, cudaErrorInvalidValue};
    for (int i = 0; i < 10; i++)
        CHECK_EQ(out[i], expected[i]);
    for (int i = 0; i < 32; i++) {
        CHECK_EQ(out[32 + i], cudaSuccess);
        CHECK_EQ(out[64 + i], 1);
    }

    memset(out, 0, 64);
    descend<<<1, 1>>>(out, out + 1, 0);
    KERNEL_OK();
    CHECK_EQ(out[0], 24);
    CHECK_EQ(out[1], cudaErrorLaunchMaxDepthExceeded);

    memset(out, 0xff, 64);
    wait_at<<<1, 1>>>(out, 0);
    KERNEL_OK();
    CHECK_EQ(out[0], 0);
    CHECK_EQ(out[1], 0);
    CHECK_EQ(out[2], cudaErrorSyncDepthExceeded);
    CHECK_EQ(out[3], cudaErrorSyncDepthExceeded);
    CUDA_OK(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 4));
    memset(out, 0xff, 64);
    wait_at<<<1, 1>>>(out, 0);
    KERNEL_OK();
    for (int i = 0; i < 4; i++)
        CHECK_EQ(out[i], 0);

    /* 4,096 launches by the threads of one block: at most 2,048 wait. */
    unsigned *sum = (unsigned *)out;
    memset(out, 0, 64);
    launch_many<<<1, 1024>>>(sum, 4, sum + 1, out + 2);
    KERNEL_OK();
    CHECK(sum[1] != 0);
    CHECK_EQ(sum[0] + sum[1], 4096u);
    CHECK_EQ(out[2], cudaErrorLaunchPendingCountExceeded);
    size_t limit = 0;
    CUDA_OK(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount));
    CHECK_EQ(limit, 2048u);
    CUDA_OK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 8192));
    memset(out, 0, 64);
    launch_many<<<1, 1024>>>(sum, 4, sum + 1, out + 2);
    KERNEL_OK();
    CHECK_EQ(sum[0], 4096u);
    CHECK_EQ(sum[1], 0u);

    /* Many blocks: their launches run in between. */
    CUDA_OK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 2048));
    memset(out, 0, 64);
    launch_many<<<100, 64>>>(sum, 1, sum + 1, out + 2);
    KERNEL_OK();
    CHECK_EQ(sum[0] + sum[1], 6400u);
    return check_done();
}

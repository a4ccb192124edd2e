/* SPDX-License-Identifier: Apache-2.0 */
/* Two simulated GPUs: kernels on both overlap, copies and accesses between them take the link of the profile, and
 * access that was not enabled is an error. */
#include "../check.h"

#define BYTES (8 << 20)

__global__ void work(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i];
    for (int k = 0; k < n; k++)
        x = x * 1.0001f + 0.5f;
    a[i] = x;
}

__global__ void gather(float4 *to, const float4 *from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];
}

static float *memory[2];
static cudaEvent_t first, last;

static void start() { CUDA_OK(cudaEventRecord(first)); }

static float stop_ms()
{
    float ms = 0;
    CUDA_OK(cudaEventRecord(last));
    CUDA_OK(cudaEventSynchronize(last));
    CUDA_OK(cudaEventElapsedTime(&ms, first, last));
    return ms;
}

static void near(float ms, double expected_ms)
{
    if (ms < 0.97 * expected_ms || ms > 1.03 * expected_ms) {
        printf("FAIL: %g ms instead of %g ms\n", (double)ms, expected_ms);
        check_failures++;
    }
}

int main()
{
    int count;
    CUDA_OK(cudaGetDeviceCount(&count));
    CHECK_EQ(count, 2);
    for (int d = 1; d >= 0; d--) {
        CUDA_OK(cudaSetDevice(d));
        CUDA_OK(cudaMalloc((void **)&memory[d], BYTES));
    }
    CUDA_OK(cudaEventCreate(&first));
    CUDA_OK(cudaEventCreate(&last));

    start();
    work<<<64, 256>>>(memory[0], 2000);
    float alone_ms = stop_ms();
    start();
    CUDA_OK(cudaSetDevice(1));
    work<<<64, 256>>>(memory[1], 2000);
    CUDA_OK(cudaSetDevice(0));
    work<<<64, 256>>>(memory[0], 2000);
    CUDA_OK(cudaSetDevice(1));
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaSetDevice(0));
    near(stop_ms(), alone_ms);

    start();
    CUDA_OK(cudaMemcpyPeerAsync(memory[0], 0, memory[1], 1, BYTES, 0));
    near(stop_ms(), 2 * (BYTES / 12e9 * 1e3 + 2e-3));
    CUDA_OK(cudaDeviceEnablePeerAccess(1, 0));
    start();
    CUDA_OK(cudaMemcpyPeerAsync(memory[0], 0, memory[1], 1, BYTES, 0));
    near(stop_ms(), BYTES / 20e9 * 1e3 + 2e-3);
    start();
    gather<<<BYTES / 16 / 256, 256>>>((float4 *)memory[0], (float4 *)memory[1]);
    near(stop_ms(), BYTES / 20e9 * 1e3);

    CUDA_OK(cudaDeviceDisablePeerAccess(1));
    gather<<<1, 32>>>((float4 *)memory[0], (float4 *)memory[1]);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    CHECK_ERROR(cudaSetDevice(1), cudaErrorIllegalAddress); /* all devices have failed, until each is reset */
    CUDA_OK(cudaDeviceReset());
    CHECK_ERROR(cudaSetDevice(0), cudaErrorIllegalAddress);
    CUDA_OK(cudaDeviceReset());
    CUDA_OK(cudaMalloc((void **)&memory[0], BYTES));
    work<<<64, 256>>>(memory[0], 1);
    CUDA_OK(cudaDeviceSynchronize());
    return check_done();
}

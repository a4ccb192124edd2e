/* SPDX-License-Identifier: Apache-2.0 */
/* Memory fences: the last block to finish sums what the others wrote; a flag after data within a
 * block; volatile variables; a message to the host through mapped memory. */
#include "check.h"

__device__ unsigned finished;

__global__ void sum(const float *in, int n, volatile float *partial, float *out)
{
    __shared__ float tile[128];
    __shared__ bool last;
    float s = 0;
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128)
        s += in[i];
    tile[threadIdx.x] = s;
    __syncthreads();
    for (int h = 64; h > 0; h /= 2) {
        if (threadIdx.x < h)
            tile[threadIdx.x] += tile[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = tile[0];
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float total = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            total += partial[b];
        *out = total;
    }
}

__global__ void message(int *out)
{
    __shared__ volatile int data, ready;
    if (threadIdx.x == 0)
        ready = 0;
    __syncthreads();
    if (threadIdx.x == 32) {
        data = 1234;
        __threadfence_block();
        ready = 1;
    }
    if (threadIdx.x == 0) {
        while (!ready)
            ;
        __threadfence_block();
        *out = data;
    }
}

__global__ void to_host(volatile int *data, volatile int *flag)
{
    *data = 55;
    __threadfence_system();
    *flag = 1;
}

int main(void)
{
    const int n = 12345;
    float *in = check_managed<float>(n), *partial = check_managed<float>(32), *out = check_managed<float>(1), e = 0;
    for (int i = 0; i < n; i++)
        e += in[i] = (float)(i % 8);
    for (int repeat = 0; repeat < 5; repeat++) {
        *out = 0;
        sum<<<20 + repeat, 128>>>(in, n, partial, out);
        KERNEL_OK();
        CHECK_EQ(*out, e);
    }
    int *got = check_managed<int>(1);
    message<<<1, 64>>>(got);
    KERNEL_OK();
    CHECK_EQ(*got, 1234);
    volatile int *mapped, *device;
    CUDA_OK(cudaHostAlloc((void **)&mapped, 8, cudaHostAllocMapped));
    mapped[0] = mapped[1] = 0;
    CUDA_OK(cudaHostGetDevicePointer((void **)&device, (void *)mapped, 0));
    to_host<<<1, 1>>>(device, device + 1);
    CUDA_OK(cudaGetLastError());
    while (mapped[1] == 0) /* the kernel runs while the host waits for it */
        cudaStreamQuery(0);
    CHECK_EQ((int)mapped[0], 55);
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaFreeHost((void *)mapped));
    return check_done();
}

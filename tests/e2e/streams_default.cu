/* SPDX-License-Identifier: Apache-2.0 */
/* The legacy default stream waits for blocking streams and they for it; non-blocking streams stay out. */
#include "check.h"

__global__ void slow_set(volatile int *data, int value, int spins)
{
    for (int i = 0; i < spins; i++)
        data[1] = i;
    data[0] = value;
}

__global__ void copy_first(const int *data, int *out) { *out = data[0]; }

__global__ void wait_for(volatile int *flag, int *seen)
{
    while (*flag == 0)
        ;
    *seen = *flag;
}

int main(void)
{
    int *data = check_managed<int>(2), *out = check_managed<int>(4);
    cudaStream_t a, b, free_one;
    CUDA_OK(cudaStreamCreate(&a));
    CUDA_OK(cudaStreamCreate(&b));
    CUDA_OK(cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking));
    for (int round = 1; round <= 20; round++) {
        slow_set<<<1, 1, 0, a>>>(data, round, 20000);
        copy_first<<<1, 1>>>(data, out);            /* after a's work */
        slow_set<<<1, 1>>>(data, -round, 20000);    /* default stream */
        copy_first<<<1, 1, 0, b>>>(data, out + 1);  /* after the default stream's work */
        CUDA_OK(cudaDeviceSynchronize());
        CHECK_EQ(out[0], round);
        CHECK_EQ(out[1], -round);
    }
    /* a kernel of a non-blocking stream may run beside the default stream, even for ever */
    int *plain;
    CUDA_OK(cudaMalloc(&plain, 8));
    volatile int *flag;
    CUDA_OK(cudaHostAlloc((void **)&flag, sizeof(int), cudaHostAllocDefault));
    *flag = 0;
    wait_for<<<1, 1, 0, free_one>>>(flag, out + 2);
    CUDA_OK(cudaMemsetAsync(plain, 0, 8, 0));
    slow_set<<<1, 1>>>(plain, 3, 10);
    CUDA_OK(cudaStreamSynchronize(0));
    *flag = 9;
    CUDA_OK(cudaStreamSynchronize(free_one));
    CHECK_EQ(out[2], 9);
    /* a blocking copy waits for the default stream's work */
    slow_set<<<1, 1>>>(plain, 77, 100000);
    int host = 0;
    CUDA_OK(cudaMemcpy(&host, plain, 4, cudaMemcpyDeviceToHost));
    CHECK_EQ(host, 77);
    CHECK_ERROR(cudaStreamQuery(cudaStreamLegacy), cudaSuccess);
    slow_set<<<1, 1, 0, cudaStreamPerThread>>>(plain, 78, 100);
    CUDA_OK(cudaStreamSynchronize(cudaStreamPerThread));
    CUDA_OK(cudaMemcpy(&host, plain, 4, cudaMemcpyDeviceToHost));
    CHECK_EQ(host, 78);
    CUDA_OK(cudaStreamDestroy(a));
    CUDA_OK(cudaStreamDestroy(b));
    CUDA_OK(cudaStreamDestroy(free_one));
    return check_done();
}

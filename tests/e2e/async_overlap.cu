/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and copies are really asynchronous: a kernel in one stream waits for what a copy in another
 * brings, a kernel for another kernel, the host runs on meanwhile; double buffering gives the right sums. */
#include "check.h"

__global__ void await_value(volatile int *at, int value, int *out)
{
    while (*at != value)
        ;
    *out = value * 2;
}

__global__ void set_value(volatile int *at, int value) { *at = value; }

__global__ void accumulate(const int *chunk, int n, unsigned long long *sum)
{
    unsigned long long s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        s += chunk[i];
    atomicAdd(sum, s);
}

int main(void)
{
    cudaStream_t a, b;
    CUDA_OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CUDA_OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    int *flag, *out, *pinned;
    CUDA_OK(cudaMalloc((void **)&flag, 8));
    CUDA_OK(cudaMallocHost((void **)&out, 8));
    CUDA_OK(cudaMallocHost((void **)&pinned, 4));
    out[0] = out[1] = 0;
    set_value<<<1, 1>>>(flag, 1); /* its code is loaded now, not while another kernel spins */
    CUDA_OK(cudaMemset(flag, 0, 8));
    CUDA_OK(cudaDeviceSynchronize());
    await_value<<<1, 1, 0, a>>>(flag, 41, out);
    CUDA_OK(cudaGetLastError()); /* the host is back although the kernel cannot have ended */
    *pinned = 41;
    CUDA_OK(cudaMemcpyAsync(flag, pinned, 4, cudaMemcpyHostToDevice, b));
    CUDA_OK(cudaStreamSynchronize(a));
    CHECK_EQ(out[0], 82);
    await_value<<<1, 32, 0, a>>>(flag + 1, 5, out + 1);
    set_value<<<1, 1, 0, b>>>(flag + 1, 5); /* two kernels at once */
    CUDA_OK(cudaStreamSynchronize(a));
    CHECK_EQ(out[1], 10);

    const int chunk = 1 << 16, chunks = 9;
    int *host, *device[2];
    unsigned long long *sum = check_managed<unsigned long long>(1), expected = 0;
    CUDA_OK(cudaMallocHost((void **)&host, (size_t)chunk * chunks * sizeof(int)));
    for (int i = 0; i < chunk * chunks; i++) {
        host[i] = i % 1009;
        expected += host[i];
    }
    for (int k = 0; k < 2; k++)
        CUDA_OK(cudaMalloc((void **)&device[k], chunk * sizeof(int)));
    for (int c = 0; c < chunks; c++) {
        cudaStream_t s = c % 2 ? b : a;
        CUDA_OK(cudaMemcpyAsync(device[c % 2], host + c * chunk, chunk * sizeof(int), cudaMemcpyHostToDevice, s));
        accumulate<<<4, 128, 0, s>>>(device[c % 2], chunk, sum);
    }
    CUDA_OK(cudaDeviceSynchronize());
    CHECK_EQ(*sum, expected);
    CUDA_OK(cudaFreeHost(host));
    CUDA_OK(cudaStreamDestroy(a));
    CUDA_OK(cudaStreamDestroy(b));
    return check_done();
}

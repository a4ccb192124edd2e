// DEVICES: cpu sim (a GPU needs NVIDIA's device runtime)
/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that wait for their kernels while other threads of theirs wait for something else: for
 * another block, at a barrier, each for its own kernel. */
#include "check.h"

enum { BLOCKS = 24, THREADS = 64 };

__global__ void add(int *to, int value)
{
    atomicAdd(to, value);
}

/* Ends when another thread of the block that launched it has said so. */
__global__ void wait_then_add(volatile int *ready, int *to)
{
    while (*ready == 0)
        __nanosleep(100);
    *to += 1;
}

__global__ void chain(volatile int *ready, int *to)
{
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        wait_then_add<<<1, 1>>>(ready + b, to + b);
        cudaDeviceSynchronize();
        to[b] *= 2;
    } else if (threadIdx.x == 32) {
        while (b != 0 && ready[b - 1] == 0)
            __nanosleep(100);
        __threadfence();
        ready[b] = 1;
    }
    __syncthreads();
    if (threadIdx.x == 1) to[b] += 10;
}

__global__ void each_thread(int *to)
{
    int t = threadIdx.x, *own = to + blockIdx.x * blockDim.x + t;
    if (t % 3 == 0) {
        for (int i = 0; i < t % 4; i++)
            add<<<1, 2>>>(own, i + 1);
        cudaDeviceSynchronize();
    }
    *own += 100;
}

int main()
{
    int *ready, *to, *sums;
    CUDA_OK(cudaMallocManaged(&ready, BLOCKS * sizeof *ready));
    CUDA_OK(cudaMallocManaged(&to, BLOCKS * sizeof *to));
    CUDA_OK(cudaMallocManaged(&sums, 4 * THREADS * sizeof *sums));
    for (int b = 0; b < BLOCKS; b++)
        ready[b] = to[b] = 0;
    for (int i = 0; i < 4 * THREADS; i++)
        sums[i] = 0;
    chain<<<BLOCKS, THREADS>>>(ready, to);
    each_thread<<<4, THREADS>>>(sums);
    CUDA_OK(cudaDeviceSynchronize());
    for (int b = 0; b < BLOCKS; b++)
        CHECK_EQ(to[b], 12);
    for (int i = 0; i < 4 * THREADS; i++) {
        int t = i % THREADS, n = t % 3 == 0 ? t % 4 : 0;
        CHECK_EQ(sums[i], 100 + n * (n + 1));
    }
    return check_done();
}

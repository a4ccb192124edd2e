// DEVICES: cpu sim
/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of before Volta whose last warp works through a volatile pointer to global memory, without
 * __syncwarp: unrolled, with branches that the launch decides, and with a lock beside it. */
#include "check.h"

enum { BLOCKS = 8, THREADS = 128 };

__global__ void unrolled(int *data, int *out)
{
    int t = threadIdx.x, *own = data + blockIdx.x * blockDim.x;
    if (t < 64) own[t] += own[t + 64];
    __syncthreads();
    if (t < 32) {
        volatile int *v = own;
        v[t] += v[t + 32];
        v[t] += v[t + 16];
        v[t] += v[t + 8];
        v[t] += v[t + 4];
        v[t] += v[t + 2];
        v[t] += v[t + 1];
    }
    if (t == 0) out[blockIdx.x] = own[0];
}

__global__ void by_size(int *data, int *out, int size)
{
    int t = threadIdx.x, *own = data + blockIdx.x * blockDim.x;
    volatile int *v = own;
    if (size >= 128 && t < 64) v[t] += v[t + 64];
    __syncthreads();
    if (t < 32) {
        if (size >= 64) v[t] += v[t + 32];
        if (size >= 32) v[t] += v[t + 16];
        if (size >= 16) v[t] += v[t + 8];
        if (size >= 8) v[t] += v[t + 4];
        if (size >= 4) v[t] += v[t + 2];
        if (size >= 2) v[t] += v[t + 1];
    }
    if (t == 0) out[blockIdx.x] = v[0];
}

__device__ int lock;

/* Each lane in turn moves the last number to the front: no lane may wait for one that spins. */
__global__ void under_a_lock(volatile int *queue)
{
    for (int done = 0; !done;) {
        if (atomicCAS(&lock, 0, 1) != 0) continue;
        __threadfence();
        queue[0] = queue[0] + queue[1 + threadIdx.x];
        __threadfence();
        atomicExch(&lock, 0);
        done = 1;
    }
}

static int expected(int block)
{
    int sum = 0;
    for (int i = 0; i < THREADS; i++)
        sum += (block * THREADS + i) % 11;
    return sum;
}

int main()
{
    int *data, *out, values[BLOCKS * THREADS], sums[BLOCKS];
    CUDA_OK(cudaMalloc(&data, sizeof values));
    CUDA_OK(cudaMalloc(&out, sizeof sums));
    for (int i = 0; i < BLOCKS * THREADS; i++)
        values[i] = i % 11;
    for (int kernel = 0; kernel < 2; kernel++) {
        CUDA_OK(cudaMemcpy(data, values, sizeof values, cudaMemcpyHostToDevice));
        if (kernel == 0)
            unrolled<<<BLOCKS, THREADS>>>(data, out);
        else
            by_size<<<BLOCKS, THREADS>>>(data, out, THREADS);
        CUDA_OK(cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost));
        for (int b = 0; b < BLOCKS; b++)
            CHECK_EQ(sums[b], expected(b));
    }

    int total = 0, found;
    for (int i = 0; i < 33; i++)
        total += values[i];
    CUDA_OK(cudaMemcpy(data, values, sizeof values, cudaMemcpyHostToDevice));
    under_a_lock<<<1, 32>>>(data);
    CUDA_OK(cudaMemcpy(&found, data, sizeof found, cudaMemcpyDeviceToHost));
    CHECK_EQ(found, total);
    return check_done();
}

// DEVICES: cpu sim
/* SPDX-License-Identifier: Apache-2.0 */
/* A block reads constant memory, at a place for each lane, while it waits for another block. */
#include "check.h"

enum { THREADS = 64 };

__constant__ int table[THREADS];
__device__ int flag;

__global__ void wait(int *out, int rounds)
{
    int sum = 0, t = threadIdx.x;
    if (blockIdx.x == 0) {
        for (int i = 0; i < rounds; i++)
            sum += table[(t + i) % THREADS];
        out[t] = sum;
        __syncthreads();
        __threadfence();
        if (t == 0) atomicExch(&flag, 1);
        return;
    }
    for (int i = 0; atomicAdd(&flag, 0) == 0; i++)
        sum += table[(t + i) % THREADS];
    __threadfence();
    out[THREADS + t] = out[t] + table[t] + (sum == 0);
}

int main()
{
    int values[THREADS], results[2 * THREADS], *out;
    for (int i = 0; i < THREADS; i++)
        values[i] = i + 1;
    CUDA_OK(cudaMemcpyToSymbol(table, values, sizeof values));
    CUDA_OK(cudaMalloc(&out, sizeof results));
    wait<<<2, THREADS>>>(out, THREADS);
    CUDA_OK(cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost));
    for (int t = 0; t < THREADS; t++) {
        CHECK_EQ(results[t], THREADS * (THREADS + 1) / 2);
        CHECK(results[THREADS + t] - results[t] - values[t] <= 1);
    }
    return check_done();
}

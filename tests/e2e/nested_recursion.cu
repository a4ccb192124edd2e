// DEVICES: cpu sim (a GPU needs NVIDIA's device runtime)
/* SPDX-License-Identifier: Apache-2.0 */
/* Many blocks that each wait for kernels which wait for kernels: sums in place by halves. A thread
 * that executes a child and has time must not begin a block that waits for the same child's kind. */
#include "check.h"

enum { BLOCKS = 96, THREADS = 64, ROUNDS = 4 };

__global__ void sum(int *data, int *out, int count)
{
    int *own = data + blockIdx.x * blockDim.x, t = threadIdx.x;
    if (count == 2) {
        if (t == 0) out[blockIdx.x] = own[0] + own[1];
        return;
    }
    if (t < count / 2) own[t] += own[t + count / 2];
    __syncthreads();
    if (t == 0) {
        sum<<<1, count / 2>>>(own, out + blockIdx.x, count / 2);
        cudaDeviceSynchronize();
    }
    __syncthreads();
}

int main()
{
    int *data, *out, values[BLOCKS * THREADS], sums[BLOCKS];
    CUDA_OK(cudaMalloc(&data, sizeof values));
    CUDA_OK(cudaMalloc(&out, sizeof sums));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < BLOCKS * THREADS; i++)
            values[i] = i % 7 + round;
        CUDA_OK(cudaMemcpy(data, values, sizeof values, cudaMemcpyHostToDevice));
        sum<<<BLOCKS, THREADS>>>(data, out, THREADS);
        CUDA_OK(cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost));
        for (int b = 0; b < BLOCKS; b++) {
            int expected = 0;
            for (int i = 0; i < THREADS; i++)
                expected += values[b * THREADS + i];
            CHECK_EQ(sums[b], expected);
        }
    }
    return check_done();
}

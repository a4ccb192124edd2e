// DEVICES: cpu sim (a GPU needs NVIDIA's device runtime)
/* SPDX-License-Identifier: Apache-2.0 */
/* More blocks that wait for kernels than the SMs hold: they leave their SMs, and come back with their shared memory and
 * registers. Each block takes most of an SM's shared memory. */
#include "check.h"

enum { BLOCKS = 80, THREADS = 64, WORDS = 10240, DEPTH = 4 };

__device__ int word_of(int key, int i) { return key * 7919 + i * 31; }

/* What a block leaves in its shared memory and returns: the sum of it and of its children's. */
__global__ void descend(int *sums, int key, int depth)
{
    __shared__ int words[WORDS];
    __shared__ int total;
    int *own = sums + blockIdx.x * DEPTH;
    key += blockIdx.x * 100;
    for (int i = threadIdx.x; i < WORDS; i += blockDim.x)
        words[i] = word_of(key, i);
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    const int kept = key * 3 + threadIdx.x;
    if (threadIdx.x == 0 && depth + 1 < DEPTH) {
        descend<<<1, THREADS>>>(own + 1, key + depth + 1, depth + 1);
        if (cudaDeviceSynchronize() != cudaSuccess) total = -1000000;
    }
    __syncthreads();
    int wrong = kept != key * 3 + threadIdx.x;
    for (int i = threadIdx.x; i < WORDS; i += blockDim.x)
        wrong += words[i] != word_of(key, i);
    atomicAdd(&total, 1000 * wrong + 1);
    __syncthreads();
    if (threadIdx.x == 0) own[0] = total + (depth + 1 < DEPTH ? own[1] : 0);
}

/* Every thread waits, some for two kernels after each other; children of several blocks, too. */
__global__ void add(int *out, int value) { atomicAdd(out, value * (blockIdx.x + 1)); }

__global__ void all_wait(int *out)
{
    extern __shared__ int own[];
    own[threadIdx.x] = threadIdx.x + blockIdx.x;
    if (threadIdx.x % 32 == 5) {
        for (int round = 0; round < 1 + (threadIdx.x > 32); round++) {
            add<<<3, 2, 40000>>>(out + blockIdx.x, 1);
            cudaDeviceSynchronize();
        }
    }
    cudaDeviceSynchronize();
    if (own[threadIdx.x] != (int)(threadIdx.x + blockIdx.x)) atomicAdd(out + blockIdx.x, 1000);
}

int main()
{
    int *sums, host[BLOCKS * DEPTH];
    CUDA_OK(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, DEPTH));
    CUDA_OK(cudaMalloc(&sums, sizeof host));
    CUDA_OK(cudaMemset(sums, 0, sizeof host));
    descend<<<BLOCKS, THREADS>>>(sums, 1, 0);
    CUDA_OK(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < BLOCKS * DEPTH; i++)
        CHECK_EQ(host[i], (DEPTH - i % DEPTH) * THREADS);
    CUDA_OK(cudaMemset(sums, 0, sizeof host));
    all_wait<<<BLOCKS, THREADS, 40000>>>(sums);
    CUDA_OK(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < BLOCKS; i++)
        CHECK_EQ(host[i], 3 * 12);
    return check_done();
}

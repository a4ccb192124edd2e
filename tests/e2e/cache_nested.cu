// FLAGS: --cache -lineinfo
// DEVICES: cpu sim (a GPU needs NVIDIA's device runtime)
/* SPDX-License-Identifier: Apache-2.0 */
/* Cached kernels that launch kernels, themselves among these: what is launched is the program's kernel. */
#include "check.h"

enum { THREADS = 64, LENGTH = 200, LEVELS = 3 };

__global__ void add(int *out, int value) { out[threadIdx.x] += value; }

__global__ void sum(const char *in, int *out, int *after, int length)
{
    int own = 0;
    for (int i = 0; i < length; i++)
        own += in[threadIdx.x * length + i];
    out[threadIdx.x] = own;
    __syncthreads();
    if (threadIdx.x == 0) add<<<1, THREADS>>>(after, 1);
}

/* Launches itself for the other levels. */
__global__ void levels(const char *in, int *out, int length, int level)
{
    for (int i = 0; i < length; i++)
        out[level * THREADS + threadIdx.x] += in[threadIdx.x * length + i];
    for (int i = 0; i < 2 && level == 0; i++)
        if (threadIdx.x == i) levels<<<1, THREADS>>>(in, out, length, i + 1);
}

int main()
{
    char *in, host[THREADS * LENGTH];
    int *out, *after, got[LEVELS * THREADS];
    for (int i = 0; i < THREADS * LENGTH; i++)
        host[i] = (char)(i * 7 % 31);
    CUDA_OK(cudaMalloc(&in, sizeof host));
    CUDA_OK(cudaMalloc(&out, sizeof got));
    CUDA_OK(cudaMalloc(&after, THREADS * sizeof *after));
    CUDA_OK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemset(after, 0, THREADS * sizeof *after));
    sum<<<1, THREADS>>>(in, out, after, LENGTH);
    CUDA_OK(cudaMemcpy(got, out, THREADS * sizeof *got, cudaMemcpyDeviceToHost));
    for (int t = 0; t < THREADS; t++) {
        int expected = 0;
        for (int i = 0; i < LENGTH; i++)
            expected += host[t * LENGTH + i];
        CHECK_EQ(got[t], expected);
    }
    CUDA_OK(cudaMemcpy(got, after, THREADS * sizeof *got, cudaMemcpyDeviceToHost));
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(got[t], 1);
    CUDA_OK(cudaMemset(out, 0, sizeof got));
    levels<<<1, THREADS>>>(in, out, LENGTH, 0);
    CUDA_OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int t = 0; t < THREADS * LEVELS; t++) {
        int expected = 0;
        for (int i = 0; i < LENGTH; i++)
            expected += host[t % THREADS * LENGTH + i];
        CHECK_EQ(got[t], expected);
    }
    return check_done();
}

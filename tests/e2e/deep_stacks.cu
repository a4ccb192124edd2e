/* SPDX-License-Identifier: Apache-2.0 */
/* Deep recursion and large frames in every thread of large blocks, within the stack limit that the program sets. */
#include "check.h"

__device__ int descend(int depth, int seed)
{
    volatile int frame[8];
    for (int i = 0; i < 8; i++)
        frame[i] = seed + i;
    if (depth > 0)
        frame[depth % 8] += descend(depth - 1, seed + 1);
    return frame[depth % 8] % 1000003;
}

static int descend_on_host(int depth, int seed)
{
    int value = seed + depth % 8;
    if (depth > 0)
        value += descend_on_host(depth - 1, seed + 1);
    return value % 1000003;
}

__global__ void deep(int *out, int depth)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int v = descend(depth + t % 7, t);
    __syncthreads();
    out[t] = v;
}

__global__ void wide(int *out)
{
    volatile int frame[3000];
    int t = threadIdx.x;
    for (int i = 0; i < 3000; i++)
        frame[i] = i * t;
    __syncthreads();
    out[t] = frame[(t * 37) % 3000];
}

int main(void)
{
    CUDA_OK(cudaDeviceSetLimit(cudaLimitStackSize, 64 << 10));
    int *out = check_managed<int>(3 * 512);
    deep<<<3, 512>>>(out, 200);
    KERNEL_OK();
    for (int t = 0; t < 3 * 512; t++)
        CHECK_EQ(out[t], descend_on_host(200 + t % 7, t));
    wide<<<1, 1024>>>(out);
    KERNEL_OK();
    for (int t = 0; t < 1024; t++)
        CHECK_EQ(out[t], t * 37 % 3000 * t);
    return check_done();
}

// FLAGS: --cache
/* SPDX-License-Identifier: Apache-2.0 */
/* In the cached form of a kernel a function has the address that it has in variables and in other kernels. */
#include "check.h"

enum { THREADS = 64, LENGTH = 200 };

typedef int (*turn)(int);
__device__ int more(int x) { return x + 1; }
static __device__ int twice(int x) { return 2 * x; }
__device__ turn turns[2] = {more, twice};
__device__ turn stored;

__global__ void store() { stored = twice; }

__global__ void compare(const int *in, int *out, int length)
{
    int sum = 0;
    for (int i = 0; i < length; i++)
        sum += in[threadIdx.x * length + i];
    const turn own = turns[threadIdx.x & 1];
    out[threadIdx.x] = own(sum) * 8 + (own == more) + (own == twice) * 2 + (stored == twice) * 4;
}

int main()
{
    static int host[THREADS * LENGTH];
    int *in, *out, got[THREADS];
    for (int i = 0; i < THREADS * LENGTH; i++)
        host[i] = i * 7 % 31;
    CUDA_OK(cudaMalloc(&in, sizeof host));
    CUDA_OK(cudaMalloc(&out, sizeof got));
    CUDA_OK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    store<<<1, 1>>>();
    compare<<<1, THREADS>>>(in, out, LENGTH);
    CUDA_OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int t = 0; t < THREADS; t++) {
        int sum = 0;
        for (int i = 0; i < LENGTH; i++)
            sum += host[t * LENGTH + i];
        CHECK_EQ(got[t], (t % 2 == 0 ? sum + 1 : 2 * sum) * 8 + (t % 2 == 0 ? 1 : 2) + 4);
    }
    return check_done();
}

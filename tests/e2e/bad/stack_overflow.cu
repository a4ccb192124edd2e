// STAGE: run
// EXIT: 3
// STDERR: kernel k, .*stack overflow
/* SPDX-License-Identifier: Apache-2.0 */
/* Recursion without end is no access to somewhere else. */
#include <stdio.h>
__device__ __noinline__ int deep(int n, volatile int *p)
{
    volatile int kept[64];
    kept[n & 63] = *p;
    return n == 0 ? kept[0] : deep(n - 1, p) + kept[n & 63];
}
__global__ void k(int *out, int n) { *out = deep(n, out + 1); }
int main(void)
{
    int *p;
    cudaMalloc((void **)&p, 8);
    k<<<1, 1>>>(p, 100000000);
    return cudaDeviceSynchronize() != cudaSuccess ? 3 : 0;
}

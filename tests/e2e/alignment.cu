/* SPDX-License-Identifier: Apache-2.0 */
/* Alignment that programs count on: structures by value that ask for more than their members, and vector reads of variables and
 * shared memory made of smaller elements. */
#include "check.h"

struct alignas(64) wide { double s[8]; };
__constant__ int fixed[64];
__device__ float plain[33];

__global__ void add(int odd, wide a, char pad, wide b, double *out)
{
    out[threadIdx.x] = a.s[threadIdx.x] + b.s[threadIdx.x] + odd + pad;
}

__global__ void vectors(int *out)
{
    __shared__ char one;
    __shared__ float tile[64];
    int t = threadIdx.x;
    one = 1;
    tile[t] = (float)t;
    __syncthreads();
    if (t < 16) {
        int4 v = ((const int4 *)fixed)[t];
        float4 s = ((const float4 *)tile)[t];
        out[t] = v.x + v.y + v.z + v.w + (int)(s.x + s.y + s.z + s.w);
    }
    if (t == 0)
        out[16] = (int)((size_t)fixed % 16 + (size_t)plain % 16 + (size_t)&tile[0] % 16) + one;
}

int main(void)
{
    wide a, b;
    int table[64];
    for (int i = 0; i < 8; i++) {
        a.s[i] = i;
        b.s[i] = 10 * i;
    }
    for (int i = 0; i < 64; i++)
        table[i] = i;
    double *sums = check_managed<double>(8);
    int *out = check_managed<int>(17);
    CUDA_OK(cudaMemcpyToSymbol(fixed, table, sizeof table));
    for (int repeat = 0; repeat < 20; repeat++)
        add<<<1, 8>>>(1, a, 2, b, sums);
    vectors<<<1, 64>>>(out);
    KERNEL_OK();
    for (int i = 0; i < 8; i++)
        CHECK_EQ(sums[i], 11.0 * i + 3);
    for (int i = 0; i < 16; i++)
        CHECK_EQ(out[i], 2 * (16 * i + 6));
    CHECK_EQ(out[16], 1);
    return check_done();
}

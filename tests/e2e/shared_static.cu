/* SPDX-License-Identifier: Apache-2.0 */
/* Static shared memory: several arrays, two dimensions, structs, scalars; blocks do not see each other's. */
#include "check.h"

struct particle {
    float x, y;
    short kind;
    char tag;
};

__global__ void transpose(const float *in, float *out, int n)
{
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < n && y < n)
        tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < n && y < n)
        out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void mixed(int *out)
{
    __shared__ particle particles[64];
    __shared__ double total;
    __shared__ unsigned char flags[64];
    __shared__ int any;
    unsigned t = threadIdx.x;
    if (t == 0) {
        total = 0.0;
        any = 0;
    }
    __syncthreads();
    particles[t].x = (float)t;
    particles[t].y = (float)(blockIdx.x * 100);
    particles[t].kind = (short)(t * 2);
    particles[t].tag = (char)(t & 1);
    flags[t] = t % 3 == 0;
    if (t == 17 + blockIdx.x)
        any = 1000;
    __syncthreads();
    if (t == 0) {
        for (int i = 0; i < 64; i++)
            total += particles[i].x + particles[i].y + particles[i].kind + particles[i].tag + flags[i];
        out[blockIdx.x] = (int)total + any;
    }
}

__global__ void helper_has_its_own(int *out);

__device__ int sum_with_own_shared(int value)
{
    __shared__ int parts[32];
    parts[threadIdx.x] = value;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 32; i++)
        sum += parts[i];
    __syncthreads();
    return sum;
}

__global__ void helper_has_its_own(int *out)
{
    __shared__ int parts[32];
    parts[threadIdx.x] = 1000;
    int first = sum_with_own_shared((int)threadIdx.x);
    int second = sum_with_own_shared(1);
    __syncthreads();
    out[threadIdx.x] = first + second + parts[31 - threadIdx.x];
}

int main(void)
{
    const int n = 77;
    float *in = check_managed<float>(n * n), *out = check_managed<float>(n * n);
    for (int i = 0; i < n * n; i++)
        in[i] = (float)i;
    transpose<<<dim3(5, 5), dim3(16, 16)>>>(in, out, n);
    KERNEL_OK();
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            CHECK_EQ(out[y * n + x], in[x * n + y]);
    int *sums = check_managed<int>(40);
    mixed<<<40, 64>>>(sums);
    KERNEL_OK();
    for (int b = 0; b < 40; b++)
        CHECK_EQ(sums[b], 2016 + 6400 * b + 4032 + 32 + 22 + 1000);
    helper_has_its_own<<<1, 32>>>(sums);
    KERNEL_OK();
    for (int t = 0; t < 32; t++)
        CHECK_EQ(sums[t], 496 + 32 + 1000);
    return check_done();
}

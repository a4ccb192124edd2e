/* SPDX-License-Identifier: Apache-2.0 */
/* A value in which each of 32 steps uses the one before several times, stored under a guard in 16 bits, or by one thread
 * in 32: the vectoriser must not follow every way through it (compiling would not end). */
#include <cuda_fp16.h>

#include "check.h"

__host__ __device__ static float deep(float v)
{
#define STEP v = fmaf(v, v, copysignf(0.25f, v)) * (fabsf(v) < 0.5f ? v : 0.5f) + 0.25f;
#define STEPS STEP STEP STEP STEP STEP STEP STEP STEP
    STEPS STEPS STEPS STEPS
    return v;
}

__global__ void store_halves(const float *in, half *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? in[i] : 0;
    if (v > -0.5f)
        v = deep(v);
    if (i < n)
        out[i] = __float2half(v);
}

/* One thread reduces what 48 threads have stored. */
__global__ void store_largest(const float *in, float *out)
{
    __shared__ float tile[48], all;
    float own = in[threadIdx.x];
    for (int d = 16; d > 0; d /= 2)
        own = fmaxf(own, __shfl_down_sync(~0u, own, d));
    if (threadIdx.x < 48)
        tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (in[threadIdx.x] == in[0]) {
        float most = own;
#pragma unroll
        for (int i = 0; i < 48; i++)
            most = most > tile[i] ? most : tile[i];
        all = most;
        out[1] = most / 2;
    }
    __syncthreads();
    out[2 + threadIdx.x] = all;
}

/* the largest of a block's values */
__global__ void largest_of_block(const float *in, float *out, int n)
{
    __shared__ float words[32], largest;
    float v = -1;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        v = v < in[i] ? in[i] : v;
    for (int way = 16; way > 0; way /= 2) {
        float other = __shfl_down_sync(~0u, v, way);
        v = v < other ? other : v;
    }
    if (threadIdx.x % 32 == 0)
        words[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
#pragma unroll
        for (int i = 1; i < 32; i++)
            v = v < words[i] ? words[i] : v;
    }
    if (threadIdx.x == 0)
        largest = v;
    __syncthreads();
    out[threadIdx.x] = largest;
}

int main(void)
{
    const int n = 1000;
    float *in = check_managed<float>(n);
    half *out = check_managed<half>(n);
    for (int i = 0; i < n; i++)
        in[i] = (i - 500) / 700.0f;
    store_halves<<<8, 128>>>(in, out, n);
    KERNEL_OK();
    for (int i = 0; i < n; i++)
        CHECK(fabsf(__half2float(out[i]) - (in[i] > -0.5f ? deep(in[i]) : in[i])) < 2e-3f);
    float *most = check_managed<float>(66);
    store_largest<<<1, 64>>>(in + 900, most);
    KERNEL_OK();
    CHECK(most[1] == in[947] / 2 && most[2] == in[947] && most[65] == in[947]);
    float *each = check_managed<float>(1024), *all = check_managed<float>(1024);
    for (int i = 0; i < 1024; i++)
        all[i] = i * 7 % 1024;
    largest_of_block<<<1, 1024>>>(all, each, 1024);
    KERNEL_OK();
    for (int i = 0; i < 1024; i++)
        CHECK(each[i] == 1023);
    return check_done();
}

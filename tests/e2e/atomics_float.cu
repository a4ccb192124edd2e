/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point atomics: add in float and double, exchange, and min/max by the usual CAS loops. */
#include "check.h"

#define N (25 * 160)

__device__ float atomic_max_float(float *at, float value)
{
    int *bits = (int *)at, old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
    } while (assumed != old);
    return __int_as_float(old);
}

__device__ double atomic_mul_double(double *at, double value)
{
    unsigned long long *bits = (unsigned long long *)at, old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(value * __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}

__global__ void contend(float *f, double *d, float *old)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    old[i] = atomicAdd(&f[0], 0.5f);
    atomicAdd(&d[0], 0.25 + i);
    atomic_max_float(&f[1], (float)(i % 997) - 3.5f);
    atomic_mul_double(&d[1], i % 64 == 0 ? 2.0 : i % 64 == 1 ? 0.5 : 1.0);
    atomicExch(&f[2], (float)i);
}

__global__ void in_shared(float *f, double *d)
{
    __shared__ float s;
    __shared__ double r;
    __shared__ float bins[8];
    if (threadIdx.x < 8)
        bins[threadIdx.x] = 0;
    if (threadIdx.x == 0) {
        s = 0;
        r = 100;
    }
    __syncthreads();
    atomicAdd(&s, (float)threadIdx.x);
    atomicAdd(&r, -0.5);
    atomicAdd(&bins[threadIdx.x % 8], 1.0f);
    __syncthreads();
    if (threadIdx.x < 8)
        f[threadIdx.x] = bins[threadIdx.x] + s;
    if (threadIdx.x == 0)
        d[0] = r;
}

int main(void)
{
    float *f = check_managed<float>(8), *old = check_managed<float>(N);
    double *d = check_managed<double>(2);
    f[1] = -1e30f;
    d[1] = 3.0;
    contend<<<25, 160>>>(f, d, old);
    KERNEL_OK();
    CHECK_EQ(f[0], N * 0.5f); /* every partial sum is exact */
    CHECK_EQ(d[0], N * 0.25 + (double)N * (N - 1) / 2);
    CHECK_EQ(f[1], 996 - 3.5f);
    CHECK_EQ(d[1], 3.0);
    CHECK(f[2] >= 0 && f[2] < N);
    static unsigned char seen[N];
    for (int i = 0; i < N; i++) {
        int ticket = (int)(old[i] * 2);
        CHECK(ticket >= 0 && ticket < N && !seen[ticket]);
        if (ticket >= 0 && ticket < N)
            seen[ticket] = 1;
    }
    in_shared<<<1, 160>>>(f, d);
    KERNEL_OK();
    for (int i = 0; i < 8; i++)
        CHECK_EQ(f[i], 20.0f + 159 * 80);
    CHECK_EQ(d[0], 20.0);
    return check_done();
}

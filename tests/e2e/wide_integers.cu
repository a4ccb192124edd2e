/* SPDX-License-Identifier: Apache-2.0 */
/* Integers of 128 bits, to and from floating point: also in PTX, which has no instruction for it.
 * And local arrays of nearly as much as CUDA allows a thread. */
#include "check.h"

__global__ void to_floating(double *out, float *out_float, __int128 a, unsigned __int128 b)
{
    out[0] = (double)a;
    out[1] = (double)b;
    out_float[0] = (float)a;
    out_float[1] = (float)b;
}

__global__ void to_integer(unsigned long long *out, double a)
{
    __int128 whole = (__int128)a;
    whole /= 3;
    out[0] = (unsigned long long)whole;
    out[1] = (unsigned long long)(whole >> 64);
}

__global__ void large_local(int *out, int n)
{
    volatile int kept[100000];
    int sum = 0;
    for (int i = 0; i < 100000; i += 500)
        kept[i] = i + n;
    for (int i = 0; i < 100000; i += 500)
        sum += kept[i];
    out[threadIdx.x] = sum;
}

int main(void)
{
    double *numbers;
    float *floats;
    unsigned long long *halves;
    int *sums;
    CUDA_OK(cudaMallocManaged(&numbers, 2 * sizeof *numbers));
    CUDA_OK(cudaMallocManaged(&floats, 2 * sizeof *floats));
    CUDA_OK(cudaMallocManaged(&halves, 2 * sizeof *halves));
    CUDA_OK(cudaMallocManaged(&sums, 32 * sizeof *sums));
    const __int128 a = -(((__int128)1 << 100) + 12345);
    const unsigned __int128 b = ~(unsigned __int128)0;
    to_floating<<<1, 1>>>(numbers, floats, a, b);
    to_integer<<<1, 1>>>(halves, -3e30);
    large_local<<<1, 32>>>(sums, 7);
    CUDA_OK(cudaDeviceSynchronize());
    CHECK(numbers[0] == (double)a);
    CHECK(numbers[1] == (double)b);
    CHECK(floats[0] == (float)a);
    CHECK(floats[1] == (float)b);
    const __int128 third = (__int128)-3e30 / 3;
    CHECK(halves[0] == (unsigned long long)third);
    CHECK(halves[1] == (unsigned long long)(third >> 64));
    int sum = 0;
    for (int i = 0; i < 100000; i += 500)
        sum += i + 7;
    CHECK(sums[0] == sum && sums[31] == sum);
    return check_done();
}

// SPDX-License-Identifier: Apache-2.0
// __launch_bounds__ holds for kernels that would like more registers than a block of that size has: the compiler keeps
// the others in memory, and the launch is possible.
#include "check.h"

#define VALUES 96

__device__ void mix(const int *in, int *out, int rounds)
{
    int value[VALUES];
    const int t = threadIdx.x;
#pragma unroll
    for (int i = 0; i < VALUES; i++)
        value[i] = in[i] + t;
    for (int round = 0; round < rounds; round++) {
        const int first = value[0];
        if (first % 7 == 3)
            out[t] = first;
        __syncthreads(); /* all values live across it */
#pragma unroll
        for (int i = 0; i + 1 < VALUES; i++)
            value[i] = value[i] * 3 ^ value[i + 1];
        value[VALUES - 1] ^= first;
    }
    int sum = 0;
#pragma unroll
    for (int i = 0; i < VALUES; i++)
        sum += value[i];
    out[t] = sum;
}

template <int threads>
__global__ void mix_bounded(const int *in, int *out, int rounds);

template <int threads>
__launch_bounds__(threads, 1) __global__ void mix_bounded(const int *in, int *out, int rounds)
{
    mix(in, out, rounds);
}

static int expected(const int *in, int t, int rounds)
{
    unsigned value[VALUES], sum = 0;
    for (int i = 0; i < VALUES; i++)
        value[i] = in[i] + t;
    for (int round = 0; round < rounds; round++) {
        const unsigned first = value[0];
        for (int i = 0; i + 1 < VALUES; i++)
            value[i] = value[i] * 3 ^ value[i + 1];
        value[VALUES - 1] ^= first;
    }
    for (int i = 0; i < VALUES; i++)
        sum += value[i];
    return (int)sum;
}

/* Four blocks of 256 threads on an SM leave a thread 64 registers. */
__launch_bounds__(256, 4) __global__ void mix_four_times(const int *in, int *out, int rounds)
{
    mix(in, out, rounds);
}

static void check_blocks(const int *in, int *out)
{
    cudaFuncAttributes attributes;
    CUDA_OK(cudaFuncGetAttributes(&attributes, mix_four_times));
    CHECK(attributes.numRegs <= 64);
    mix_four_times<<<1, 256>>>(in, out, 3);
    KERNEL_OK();
    for (int t = 0; t < 256; t++)
        CHECK_EQ(out[t], expected(in, t, 3));
}

template <int threads>
static void check_bound(const int *in, int *out)
{
    cudaFuncAttributes attributes;
    cudaDeviceProp device;
    CUDA_OK(cudaFuncGetAttributes(&attributes, mix_bounded<threads>));
    CUDA_OK(cudaGetDeviceProperties(&device, 0));
    CHECK_EQ(attributes.maxThreadsPerBlock, threads);
    CHECK(attributes.numRegs * threads <= device.regsPerBlock);
    mix_bounded<threads><<<1, threads>>>(in, out, 3);
    KERNEL_OK();
    for (int t = 0; t < threads; t++)
        CHECK_EQ(out[t], expected(in, t, 3));
}

int main()
{
    int *in = check_managed<int>(VALUES), *out = check_managed<int>(1024);
    for (int i = 0; i < VALUES; i++)
        in[i] = i * 37 % 101;
    check_bound<1024>(in, out);
    check_bound<640>(in, out);
    check_bound<128>(in, out);
    check_blocks(in, out);
    return check_done();
}

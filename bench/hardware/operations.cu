/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of dependent operations of one warp (latency), and of as many warps as fill an SM
 * (throughput). Each kernel is there with N and with 2 N operations in its loop: the difference of
 * their times has neither the loop nor the launch. bench/hardware/operations.py reads them.
 */
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>

#define ROUNDS 8
#define UNROLLED 16

/* One warp; each operation needs the result of the one before. */
#define LATENCY(name, type, operation)                                                             \
    template <int N> __global__ void latency_##name(type *values, int rounds) {                    \
        type x = values[threadIdx.x], y = values[threadIdx.x + 32];                                \
        for (int r = 0; r < rounds; r++) {                                                         \
            _Pragma("unroll") for (int i = 0; i < N; i++) {                                        \
                operation;                                                                         \
            }                                                                                      \
        }                                                                                          \
        values[threadIdx.x] = x;                                                                   \
        values[threadIdx.x + 32] = y;                                                              \
    }

/* Four independent chains a thread. */
#define THROUGHPUT(name, type, operation)                                                          \
    template <int N> __global__ void throughput_##name(type *values, int rounds) {                 \
        type a[4], y = values[32];                                                                 \
        for (int c = 0; c < 4; c++)                                                                \
            a[c] = values[threadIdx.x % 32 + c];                                                   \
        for (int r = 0; r < rounds; r++) {                                                         \
            _Pragma("unroll") for (int i = 0; i < N / 4; i++) {                                    \
                _Pragma("unroll") for (int c = 0; c < 4; c++) {                                    \
                    type x = a[c];                                                                 \
                    operation;                                                                     \
                    a[c] = x;                                                                      \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        values[threadIdx.x % 32] = a[0] + a[1] + a[2] + a[3];                                      \
    }

LATENCY(add_xor, unsigned, x = (x + y) ^ 0x5bd1e995u) /* two operations */
LATENCY(mul, unsigned, x = x * x)
LATENCY(mad, unsigned, x = x * x + y)
LATENCY(mulhi, unsigned, x = __umulhi(x, y) | 0x80000000u) /* and a logical one */
LATENCY(udiv, unsigned, x = y / x)
LATENCY(sdiv, int, x = y / x)
LATENCY(urem, unsigned, x = x % y; y = y + 1) /* the addition is beside the chain */
LATENCY(srem, int, x = x % y; y = y + 1)
LATENCY(popc, unsigned, x = __popc(x) + y) /* and an addition */
LATENCY(fadd, float, x = x + y)
LATENCY(ffma, float, x = x * x + y)
LATENCY(rsqrt, float, x = rsqrtf(x))
LATENCY(rcp, float, x = 1.0f / x)
LATENCY(sqrt, float, x = sqrtf(x))
LATENCY(fdiv, float, x = y / x)
LATENCY(exp2, float, x = exp2f(x))
LATENCY(dadd, double, x = x + y)
LATENCY(dfma, double, x = x * x + y)
LATENCY(ddiv, double, x = y / x)

THROUGHPUT(ffma, float, x = x * x + y)
THROUGHPUT(add, unsigned, x = (x + y) ^ 0x5bd1e995u) /* two operations */
THROUGHPUT(mul, unsigned, x = x * x)
THROUGHPUT(dfma, double, x = x * x + y)
THROUGHPUT(special, float, x = __sinf(x))            /* its multiplication is beside it */
THROUGHPUT(convert, int, x = (int)((float)x * 1.5f)) /* two conversions */
THROUGHPUT(shuffle, unsigned, x = __shfl_xor_sync(0xffffffffu, x, 1))

/* Before each kernel, so that all of them find their values in the same place. */
template <typename T> __global__ void touch(T *values) {
    values[threadIdx.x] = values[threadIdx.x] + (T)0;
}

/* A chain of loads from shared memory, each with the addition of its address. */
template <int N> __global__ void latency_shared(unsigned *values, int rounds) {
    __shared__ unsigned next[32];
    next[threadIdx.x] = (threadIdx.x + 1) % 32;
    __syncthreads();
    unsigned x = values[threadIdx.x] % 32;
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int i = 0; i < N; i++)
            x = next[x];
    }
    values[threadIdx.x] = x;
}

template <typename T> static T *memory(double first, double second) {
    T values[64], *out;
    for (int i = 0; i < 64; i++)
        values[i] = (T)(i < 32 ? first : second);
    cudaMalloc(&out, sizeof values);
    cudaMemcpy(out, values, sizeof values, cudaMemcpyHostToDevice);
    return out;
}

#define RUN_LATENCY(name, values)                                                                  \
    touch<<<1, 64>>>(values);                                                                      \
    latency_##name<UNROLLED><<<1, 32>>>(values, ROUNDS);                                           \
    touch<<<1, 64>>>(values);                                                                      \
    latency_##name<2 * UNROLLED><<<1, 32>>>(values, ROUNDS);
#define RUN_THROUGHPUT(name, values)                                                               \
    throughput_##name<UNROLLED><<<1, 1024>>>(values, ROUNDS);                                      \
    throughput_##name<2 * UNROLLED><<<1, 1024>>>(values, ROUNDS);

int main(void) {
    unsigned *u = memory<unsigned>(3, 1000003), *small = memory<unsigned>(3, 1000003);
    int *s = memory<int>(3, 1000003);
    float *f = memory<float>(1.5, 0.25);
    double *d = memory<double>(1.5, 0.25);
    RUN_LATENCY(udiv, u)
    RUN_LATENCY(urem, u)
    RUN_LATENCY(sdiv, s)
    RUN_LATENCY(srem, s)
    RUN_LATENCY(add_xor, small)
    RUN_LATENCY(mul, small)
    RUN_LATENCY(mad, small)
    RUN_LATENCY(mulhi, small)
    RUN_LATENCY(popc, small)
    RUN_LATENCY(fadd, f)
    RUN_LATENCY(ffma, f)
    RUN_LATENCY(rsqrt, f)
    RUN_LATENCY(rcp, f)
    RUN_LATENCY(sqrt, f)
    RUN_LATENCY(fdiv, f)
    RUN_LATENCY(exp2, f)
    RUN_LATENCY(dadd, d)
    RUN_LATENCY(dfma, d)
    RUN_LATENCY(ddiv, d)
    RUN_LATENCY(shared, small)
    RUN_THROUGHPUT(ffma, f)
    RUN_THROUGHPUT(add, small)
    RUN_THROUGHPUT(mul, small)
    RUN_THROUGHPUT(dfma, d)
    RUN_THROUGHPUT(special, f)
    RUN_THROUGHPUT(convert, s)
    RUN_THROUGHPUT(shuffle, small)
    if (cudaDeviceSynchronize() != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    return 0;
}

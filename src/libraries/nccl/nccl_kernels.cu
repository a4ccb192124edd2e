/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's reductions: halves are added as floats, and rounded once. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "libraries/nccl/nccl_shared.h"

#define BLOCK 256
#include "libraries/element_loop.h"

#define SAME(x) (x)

/* For all elements: `first` of source 0, then `next` of each other one, then `last`. b: the
 * element of source p as a WIDE. */
#define LOOP(T, WIDE, load, store, first, next, last)                                              \
    FOR_EACH(i, (long long)r.count) {                                                              \
        WIDE b = load(((const T *)r.sources[0])[i]);                                               \
        WIDE a = first(0);                                                                         \
        for (int p = 1; p < r.ranks; p++) {                                                        \
            b = load(((const T *)r.sources[p])[i]);                                                \
            a = next(p);                                                                           \
        }                                                                                          \
        ((T *)r.out)[i] = store(last);                                                             \
    }

#define ITSELF(p) (b)
#define ADD(p) (a + b)
#define MULTIPLY(p) (a * b)
#define LARGER(p) (b > a ? b : a)
#define SMALLER(p) (b < a ? b : a)

/* `RANKS`: the type of the divisor of an average. */
#define KERNEL(name, T, WIDE, RANKS, load, store)                                                  \
    extern "C" __global__ void wpk_nccl_reduce_##name(wpi_nccl_reduction r) {                     \
        switch (r.op) {                                                                            \
        case WPI_NCCL_SUM: LOOP(T, WIDE, load, store, ITSELF, ADD, a); break;                      \
        case WPI_NCCL_PROD: LOOP(T, WIDE, load, store, ITSELF, MULTIPLY, a); break;                \
        case WPI_NCCL_MAX: LOOP(T, WIDE, load, store, ITSELF, LARGER, a); break;                   \
        case WPI_NCCL_MIN: LOOP(T, WIDE, load, store, ITSELF, SMALLER, a); break;                  \
        case WPI_NCCL_AVG: LOOP(T, WIDE, load, store, ITSELF, ADD, a / (RANKS)r.ranks); break;     \
        default: {                                                                                 \
            WIDE factors[WPI_NCCL_RANKS_MAX];                                                      \
            for (int p = 0; p < r.ranks; p++)                                                      \
                factors[p] = load(*(const T *)r.factors[p]);                                       \
            LOOP(T, WIDE, load, store, FACTOR_TIMES, ADD_TIMES, a);                                \
            break;                                                                                 \
        }                                                                                          \
        }                                                                                          \
    }

#define FACTOR_TIMES(p) (factors[p] * b)
#define ADD_TIMES(p) (a + factors[p] * b)

/* Integers wrap around, sums of averages, too. */
KERNEL(i8, signed char, signed char, int, SAME, SAME)
KERNEL(u8, unsigned char, unsigned char, int, SAME, SAME)
KERNEL(i32, int, int, int, SAME, SAME)
KERNEL(u32, unsigned, unsigned, unsigned, SAME, SAME)
KERNEL(i64, long long, long long, long long, SAME, SAME)
KERNEL(u64, unsigned long long, unsigned long long, unsigned long long, SAME, SAME)
KERNEL(f16, __half, float, float, __half2float, __float2half)
KERNEL(f32, float, float, float, SAME, SAME)
KERNEL(f64, double, double, double, SAME, SAME)
KERNEL(bf16, __nv_bfloat16, float, float, __bfloat162float, __float2bfloat16)

#define KEY(name) (const void *)wpk_nccl_reduce_##name

extern "C" cudaError_t wpi_nccl_reduce(const wpi_nccl_reduction *reduction, cudaStream_t stream) {
    static const void *const kernels[ncclNumTypes] = {KEY(i8),  KEY(u8),  KEY(i32), KEY(u32),
                                                      KEY(i64), KEY(u64), KEY(f16), KEY(f32),
                                                      KEY(f64), KEY(bf16)};
    void *arguments[] = {(void *)reduction};
    if (reduction->count == 0) return cudaSuccess;
    return cudaLaunchKernel(kernels[reduction->type], dim3(blocks((long long)reduction->count)),
                            dim3(BLOCK), arguments, 0, stream);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels over vectors and matrices for the four element types, from one text. */
#include <cuda_runtime.h>
#include <math.h>

#include "libraries/cublas/blas_shared.h"

#define BLOCK 256
#include "libraries/cublas/blas_launch.h"
#define SOLVE 32
#define BLOCKS_MAX 4096

#define FOR_EACH(i, count)                                                                         \
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < (count);              \
         i += (long long)gridDim.x * blockDim.x)

static unsigned blocks(long long n) {
    const long long count = (n + BLOCK - 1) / BLOCK;
    return (unsigned)(count < 1 ? 1 : count < BLOCKS_MAX ? count : BLOCKS_MAX);
}

/* ---- partial results ---- */

static __device__ wpi_partial none(void) {
    wpi_partial p;
    p.re = p.im = 0;
    p.index = -1;
    return p;
}

/* The square of a ratio of scales; 1 where both are infinite. */
static __device__ double squared_ratio(double small, double large) {
    if (small == large) return 1;
    return small / large * (small / large);
}

static __device__ wpi_partial join(wpi_reduction op, wpi_partial a, wpi_partial b) {
    if (b.index < 0) return a;
    if (a.index < 0) return b;
    switch (op) {
    case WPI_REDUCE_NRM2:
        if (a.im >= b.im || isnan(a.im)) {
            a.re += b.im == 0 ? 0 : b.re * squared_ratio(b.im, a.im);
            return a;
        }
        b.re += a.im == 0 ? 0 : a.re * squared_ratio(a.im, b.im);
        return b;
    case WPI_REDUCE_AMAX: /* the first of equal ones */
        return b.re > a.re || (b.re == a.re && b.index < a.index) ? b : a;
    case WPI_REDUCE_AMIN: return b.re < a.re || (b.re == a.re && b.index < a.index) ? b : a;
    default:
        a.re += b.re;
        a.im += b.im;
        return a;
    }
}

/* The result of all threads, for thread 0. */
static __device__ wpi_partial join_block(wpi_reduction op, wpi_partial own, wpi_partial *shares) {
    const int t = (int)threadIdx.x;
    __syncthreads();
    shares[t] = own;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) shares[t] = join(op, shares[t], shares[t + half]);
    }
    __syncthreads();
    return shares[0];
}

#define STORED T
#define LOAD(x) (x)

#define T float
#define REAL float
#define IS_COMPLEX 0
#define NAME(x) x##_s
#include "libraries/cublas/blas_element.h"
#include "libraries/cublas/blas_operand.h"
#include "libraries/cublas/blas_vector.h"
#include "libraries/cublas/blas_matrix.h"
#undef NAME
#undef T
#undef REAL

#define T double
#define REAL double
#define NAME(x) x##_d
#include "libraries/cublas/blas_element.h"
#include "libraries/cublas/blas_operand.h"
#include "libraries/cublas/blas_vector.h"
#include "libraries/cublas/blas_matrix.h"
#undef NAME
#undef T
#undef REAL
#undef IS_COMPLEX

#define IS_COMPLEX 1
#define T float2
#define REAL float
#define NAME(x) x##_c
#include "libraries/cublas/blas_element.h"
#include "libraries/cublas/blas_operand.h"
#include "libraries/cublas/blas_vector.h"
#include "libraries/cublas/blas_matrix.h"
#undef NAME
#undef T
#undef REAL

#define T double2
#define REAL double
#define NAME(x) x##_z
#include "libraries/cublas/blas_element.h"
#include "libraries/cublas/blas_operand.h"
#include "libraries/cublas/blas_vector.h"
#include "libraries/cublas/blas_matrix.h"
#undef NAME

#define LAUNCHES(x)                                                                                \
    {                                                                                              \
        axpy_##x, scal_##x, copy_##x, swap_##x, rot_##x, rotm_##x, reduce_##x, gemv_##x, ger_##x,  \
            solve_##x, geam_##x, dgmm_##x, getrf_##x, permute_##x, identity_##x                    \
    }

extern "C" const wpi_blas_launches wpi_blas[WPI_BLAS_TYPES] = {LAUNCHES(s), LAUNCHES(d), LAUNCHES(c),
                                                               LAUNCHES(z)};

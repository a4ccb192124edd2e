/* SPDX-License-Identifier: Apache-2.0 */
/** Reductions of vectors, for which each block leaves a partial result. Before it is included:
 * BLOCK, threads of a block. */
#ifndef WP_LIBRARIES_BLAS_PARTIALS_H
#define WP_LIBRARIES_BLAS_PARTIALS_H

#include "libraries/cublas/blas_shared.h"
#include "libraries/element_loop.h"

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

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Dense factors, eigenvalues and singular values of four types, from one text. */
#include <cuda_runtime.h>
#include <math.h>

#include "libraries/cusolver/solver_shared.h"

#define BLOCK 128
#include "libraries/cublas/blas_launch.h"

#define EACH(i, from, to) for (int i = (from) + (int)threadIdx.x; i < (to); i += BLOCK)

/* Row exchanges, counted from 1. */
static __device__ void put_pivot(const wpi_solver_call &c, long long i, int row) {
    if (c.has_wide_pivots)
        ((long long *)c.pivots)[i] = row;
    else
        ((int *)c.pivots)[i] = row;
}
static __device__ int pivot_of(const wpi_solver_call &c, int i) {
    return c.has_wide_pivots ? (int)((const long long *)c.pivots)[i] : ((const int *)c.pivots)[i];
}

#define REAL float
#include "libraries/cusolver/solver_real.h"
#define T float2
#include "libraries/cusolver/solver_complex.h"
#undef T
#undef REAL

#define REAL double
#include "libraries/cusolver/solver_real.h"
#define T double2
#include "libraries/cusolver/solver_complex.h"
#undef T
#undef REAL

#define REAL float
#define EPSILON 1.1920929e-07f
#define IS_COMPLEX 0
#define T float
#define NAME(x) x##_s
#include "libraries/cusolver/solver_element.h"
#undef T
#undef NAME
#undef IS_COMPLEX

#define IS_COMPLEX 1
#define T float2
#define NAME(x) x##_c
#include "libraries/cusolver/solver_element.h"
#undef T
#undef NAME
#undef IS_COMPLEX
#undef REAL
#undef EPSILON

#define REAL double
#define EPSILON 2.2204460492503131e-16
#define IS_COMPLEX 0
#define T double
#define NAME(x) x##_d
#include "libraries/cusolver/solver_element.h"
#undef T
#undef NAME
#undef IS_COMPLEX

#define IS_COMPLEX 1
#define T double2
#define NAME(x) x##_z
#include "libraries/cusolver/solver_element.h"

#define LAUNCHES(x)                                                                                \
    { potrf_##x, potrs_##x, potri_##x, getrf_##x, getrs_##x, geqrf_##x, ormqr_##x, orgqr_##x, upper_##x, transpose_##x, trtri_##x, syev_##x, sygst_##x, back_##x, band_##x, gesvd_##x }

extern "C" const wpi_solver_launches wpi_solver[WPI_SOLVER_TYPES] = {LAUNCHES(s), LAUNCHES(d), LAUNCHES(c), LAUNCHES(z)};

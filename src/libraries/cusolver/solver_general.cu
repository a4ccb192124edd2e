/* SPDX-License-Identifier: Apache-2.0 */
/* Eigenvalues of general matrices of four types, from one text. */
#include <cuda_runtime.h>
#include <math.h>

#include "libraries/cusolver/solver_shared.h"

#define BLOCK 128
#include "libraries/cublas/blas_launch.h"

#define EACH(i, from, to) for (int i = (from) + (int)threadIdx.x; i < (to); i += BLOCK)
#define ROUNDS_MAX 60 /* QR steps for an eigenvalue */

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
#define CT float2
#define EPSILON 1.1920929e-07f
#define LARGE 1e15f
#define IS_COMPLEX 0
#define T float
#define NAME(x) x##_s
#include "libraries/cusolver/solver_general.h"
#undef T
#undef NAME
#undef IS_COMPLEX

#define IS_COMPLEX 1
#define T float2
#define NAME(x) x##_c
#include "libraries/cusolver/solver_general.h"
#undef T
#undef NAME
#undef IS_COMPLEX
#undef REAL
#undef CT
#undef EPSILON
#undef LARGE

#define REAL double
#define CT double2
#define EPSILON 2.2204460492503131e-16
#define LARGE 1e100
#define IS_COMPLEX 0
#define T double
#define NAME(x) x##_d
#include "libraries/cusolver/solver_general.h"
#undef T
#undef NAME
#undef IS_COMPLEX

#define IS_COMPLEX 1
#define T double2
#define NAME(x) x##_z
#include "libraries/cusolver/solver_general.h"

extern "C" const wpi_solver_general_launch wpi_solver_geev[WPI_SOLVER_TYPES] = {geev_s, geev_d, geev_c, geev_z};

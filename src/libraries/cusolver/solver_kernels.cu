/* SPDX-License-Identifier: Apache-2.0 */
/* Dense factors, eigenvalues and singular values in two precisions, from one text. */
#include <cuda_runtime.h>
#include <math.h>

#include "libraries/cusolver/solver_shared.h"

#define BLOCK 128
#include "libraries/cublas/blas_launch.h"

#define EACH(i, from, to) for (int i = (from) + (int)threadIdx.x; i < (to); i += BLOCK)

#define T float
#define NAME(x) x##_s
#define EPSILON 1.1920929e-07f
#include "libraries/cusolver/solver_element.h"
#undef T
#undef NAME
#undef EPSILON

#define T double
#define NAME(x) x##_d
#define EPSILON 2.2204460492503131e-16
#include "libraries/cusolver/solver_element.h"
#undef NAME

#define LAUNCHES(x)                                                                                \
    { potrf_##x, potrs_##x, getrf_##x, getrs_##x, geqrf_##x, ormqr_##x, orgqr_##x, syev_##x, sygst_##x, back_##x, gesvd_##x }

extern "C" const wpi_solver_launches wpi_solver[WPI_SOLVER_TYPES] = {LAUNCHES(s), LAUNCHES(d)};

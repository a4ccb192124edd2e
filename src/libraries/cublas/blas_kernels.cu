/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels over vectors and matrices for the four element types, from one text. */
#include <cuda_runtime.h>
#include <math.h>

#include "libraries/cublas/blas_shared.h"

#define BLOCK 256
#include "libraries/cublas/blas_launch.h"
#define SOLVE 32
#include "libraries/cublas/blas_partials.h"

#define STORED T
#define LOAD(x) (x)

#define TEXT "libraries/cublas/blas_levels.h"
#include "libraries/cublas/blas_types.h"

#define LAUNCHES(x)                                                                                \
    {                                                                                              \
        axpy_##x, scal_##x, copy_##x, swap_##x, rot_##x, rotm_##x, reduce_##x, gemv_##x, ger_##x,  \
            solve_##x, geam_##x, dgmm_##x, getrf_##x, permute_##x, identity_##x                    \
    }

extern "C" const wpi_blas_launches wpi_blas[WPI_BLAS_TYPES] = {LAUNCHES(s), LAUNCHES(d), LAUNCHES(c),
                                                               LAUNCHES(z)};

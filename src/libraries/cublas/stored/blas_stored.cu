/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels over packed, banded and batched matrices for the four element types, from one text. */
#include <cuda_runtime.h>
#include <math.h>

#include "libraries/cublas/stored/stored_shared.h"

#define BLOCK 128
#include "libraries/cublas/blas_launch.h"
#include "libraries/element_loop.h"

/* The columns of row i of op(a) that may have elements: [*first, *outer). */
static __device__ void stored_range(const wpi_stored &a, int i, int columns, int *first, int *outer) {
    *first = 0, *outer = columns;
    if (a.storage != WPI_STORED_BAND) return;
    const bool is_turned = a.op == WPI_OP_T || a.op == WPI_OP_C;
    const bool is_mirrored = a.shape == WPI_SHAPE_SYMMETRIC || a.shape == WPI_SHAPE_HERMITIAN;
    const int both = a.below > a.above ? a.below : a.above;
    const int left = is_mirrored ? both : is_turned ? a.above : a.below, right = is_mirrored ? both : is_turned ? a.below : a.above;
    if (i > left) *first = i - left < columns ? i - left : columns;
    if (right < columns - 1 - i) *outer = i + right + 1 > 0 ? i + right + 1 : 0;
}

#define TEXT "libraries/cublas/stored/stored_element.h"
#include "libraries/cublas/blas_types.h"

#define LAUNCHES(x)                                                                                \
    { stored_product_##x, stored_solve_##x, stored_update_##x, stored_copy_##x, stored_invert_##x }

extern "C" const wpi_stored_launches wpi_blas_stored[WPI_BLAS_TYPES] = {LAUNCHES(s), LAUNCHES(d), LAUNCHES(c), LAUNCHES(z)};

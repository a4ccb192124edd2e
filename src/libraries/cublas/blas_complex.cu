/* SPDX-License-Identifier: Apache-2.0 */
/* Products of complex matrices, from one text (blas_tiles.h). An image of its own, since devices compile
 * whole images. */
#include <cuda_runtime.h>

#include "libraries/cublas/blas_product.h"

#define STORED T
#define RESULT T
#define LOAD SAME
#define LOAD_RESULT SAME
#define STORE SAME
#define IS_COMPLEX 1
#define T float2
#define REAL float
#define NAME(x) x##_c
#include "libraries/cublas/blas_element.h"
#include "libraries/cublas/blas_operand.h"
#include "libraries/cublas/blas_tiles.h"
#undef NAME
#undef T
#undef REAL

#define T double2
#define REAL double
#define NAME(x) x##_z
#include "libraries/cublas/blas_element.h"
#include "libraries/cublas/blas_operand.h"
#include "libraries/cublas/blas_tiles.h"
#undef NAME
#undef T
#undef REAL
#undef IS_COMPLEX

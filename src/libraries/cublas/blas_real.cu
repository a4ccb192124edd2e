/* SPDX-License-Identifier: Apache-2.0 */
/* Products of float and double matrices, from one text (blas_tiles.h). An image of its own, since devices compile
 * whole images. */
#include <cuda_runtime.h>

#include "libraries/cublas/blas_product.h"

#define T float
#define REAL float
#define IS_COMPLEX 0
#define STORED T
#define RESULT T
#define LOAD SAME
#define LOAD_RESULT SAME
#define STORE SAME
#define NAME(x) x##_s
#include "libraries/cublas/blas_element.h"
#include "libraries/cublas/blas_operand.h"
#include "libraries/cublas/blas_tiles.h"
#undef NAME
#undef T
#undef REAL

#define T double
#define REAL double
#define NAME(x) x##_d
#include "libraries/cublas/blas_element.h"
#include "libraries/cublas/blas_operand.h"
#include "libraries/cublas/blas_tiles.h"
#undef NAME
#undef T
#undef REAL
#undef IS_COMPLEX

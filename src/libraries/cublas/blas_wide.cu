/* SPDX-License-Identifier: Apache-2.0 */
/* Products of float and double matrices on the CPU device: eight by eight elements a thread fill its vector registers,
 * and slices of 32 KiB spread what a barrier costs. GPUs need more threads than that leaves (blas_real.cu). */
#include <cuda_runtime.h>

#define EACH 8
#define SLICE ((int)(256 / sizeof(T)))
#include "libraries/cublas/blas_product.h"

#define T float
#define REAL float
#define IS_COMPLEX 0
#define STORED T
#define RESULT T
#define LOAD SAME
#define LOAD_RESULT SAME
#define STORE SAME
#define NAME(x) x##_s_wide
#include "libraries/cublas/blas_element.h"
#include "libraries/cublas/blas_operand.h"
#include "libraries/cublas/blas_tiles.h"
#undef NAME
#undef T
#undef REAL

#define T double
#define REAL double
#define NAME(x) x##_d_wide
#include "libraries/cublas/blas_element.h"
#include "libraries/cublas/blas_operand.h"
#include "libraries/cublas/blas_tiles.h"
#undef NAME
#undef T
#undef REAL
#undef IS_COMPLEX

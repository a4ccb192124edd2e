/* SPDX-License-Identifier: Apache-2.0 */
/* Products of half, bfloat16 and 8-bit matrices, from one text (blas_tiles.h). An image of its own, since devices compile
 * whole images. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "libraries/cublas/blas_product.h"

#define IS_COMPLEX 0
#define T float
#define REAL float
#define STORED __half
#define LOAD __half2float
#define RESULT __half
#define LOAD_RESULT __half2float
#define STORE __float2half
#define NAME(x) x##_h
#include "libraries/cublas/blas_element.h"
#include "libraries/cublas/blas_operand.h"
#include "libraries/cublas/blas_tiles.h"
#undef NAME
#undef RESULT
#undef LOAD_RESULT
#undef STORE

#define RESULT float
#define LOAD_RESULT SAME
#define STORE SAME
#define NAME(x) x##_hs
#include "libraries/cublas/blas_element.h"
#include "libraries/cublas/blas_operand.h"
#include "libraries/cublas/blas_tiles.h"
#undef NAME
#undef STORED
#undef LOAD

#define STORED __nv_bfloat16
#define LOAD __bfloat162float
#define NAME(x) x##_bs
#include "libraries/cublas/blas_element.h"
#include "libraries/cublas/blas_operand.h"
#include "libraries/cublas/blas_tiles.h"
#undef NAME
#undef RESULT
#undef LOAD_RESULT
#undef STORE

#define RESULT __nv_bfloat16
#define LOAD_RESULT __bfloat162float
#define STORE __float2bfloat16
#define NAME(x) x##_b
#include "libraries/cublas/blas_element.h"
#include "libraries/cublas/blas_operand.h"
#include "libraries/cublas/blas_tiles.h"
#undef NAME
#undef RESULT
#undef LOAD_RESULT
#undef STORE
#undef STORED
#undef LOAD

#define STORED signed char
#define LOAD (float)
#define RESULT float
#define LOAD_RESULT SAME
#define STORE SAME
#define NAME(x) x##_is
#include "libraries/cublas/blas_element.h"
#include "libraries/cublas/blas_operand.h"
#include "libraries/cublas/blas_tiles.h"
#undef NAME
#undef RESULT
#undef LOAD
#undef T
#undef REAL

#define T int
#define REAL int
#define LOAD (int)
#define RESULT int
#define NAME(x) x##_i
#include "libraries/cublas/blas_element.h"
#include "libraries/cublas/blas_operand.h"
#include "libraries/cublas/blas_tiles.h"
#undef NAME
#undef RESULT
#undef LOAD
#undef STORED
#undef T
#undef REAL

#define T _Float16
#define REAL _Float16
#define STORED _Float16
#define LOAD SAME
#define RESULT _Float16
#define NAME(x) x##_hh
#include "libraries/cublas/blas_element.h"
#include "libraries/cublas/blas_operand.h"
#include "libraries/cublas/blas_tiles.h"

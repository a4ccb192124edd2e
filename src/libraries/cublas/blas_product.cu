/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices for every combination of types, from one text (blas_tiles.h). */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "libraries/cublas/blas_shared.h"

#define TILE 64
#define SLICE 16
#define BLOCK 256
#include "libraries/cublas/blas_launch.h"

#define SAME(x) (x)

/* ---- real and complex ---- */

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
#undef STORED
#undef RESULT
#undef LOAD
#undef LOAD_RESULT
#undef STORE

/* ---- narrow operands ---- */

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

extern "C" cudaError_t wpi_blas_product(cudaStream_t stream, wpi_blas_type type,
                                        const wpi_product *product) {
    static cudaError_t (*const launches[WPI_BLAS_PRODUCTS])(cudaStream_t, const wpi_product *) = {
        product_s, product_d, product_c,  product_z, product_h, product_hs,
        product_hh, product_b, product_bs, product_i, product_is};
    return launches[type](stream, product);
}

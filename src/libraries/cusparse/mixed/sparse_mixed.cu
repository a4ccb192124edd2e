/* SPDX-License-Identifier: Apache-2.0 */
/* Products of sparse matrices of mixed types, from one text. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "libraries/cusparse/mixed/mixed_shared.h"
#include "libraries/cusparse/sparse_index.h"

#define BLOCK 256
#include "libraries/cublas/blas_launch.h"
#include "libraries/element_loop.h"

#define SAME(x) (x)

#define A_TYPE __half
#define B_TYPE __half
#define C_TYPE __half
#define SUM float
#define FROM_A __half2float
#define FROM_B __half2float
#define FROM_C __half2float
#define TO_C __float2half
#define NAME(x) x##_half
#include "libraries/cusparse/mixed/mixed_element.h"

#define A_TYPE __half
#define B_TYPE __half
#define C_TYPE float
#define SUM float
#define FROM_A __half2float
#define FROM_B __half2float
#define FROM_C SAME
#define TO_C SAME
#define NAME(x) x##_half_float
#include "libraries/cusparse/mixed/mixed_element.h"

#define A_TYPE __nv_bfloat16
#define B_TYPE __nv_bfloat16
#define C_TYPE __nv_bfloat16
#define SUM float
#define FROM_A __bfloat162float
#define FROM_B __bfloat162float
#define FROM_C __bfloat162float
#define TO_C __float2bfloat16
#define NAME(x) x##_bfloat
#include "libraries/cusparse/mixed/mixed_element.h"

#define A_TYPE __nv_bfloat16
#define B_TYPE __nv_bfloat16
#define C_TYPE float
#define SUM float
#define FROM_A __bfloat162float
#define FROM_B __bfloat162float
#define FROM_C SAME
#define TO_C SAME
#define NAME(x) x##_bfloat_float
#include "libraries/cusparse/mixed/mixed_element.h"

#define A_TYPE signed char
#define B_TYPE signed char
#define C_TYPE int
#define SUM int
#define FROM_A SAME
#define FROM_B SAME
#define FROM_C SAME
#define TO_C SAME
#define NAME(x) x##_byte_int
#include "libraries/cusparse/mixed/mixed_element.h"

#define A_TYPE signed char
#define B_TYPE signed char
#define C_TYPE float
#define SUM float
#define FROM_A SAME
#define FROM_B SAME
#define FROM_C SAME
#define TO_C SAME
#define NAME(x) x##_byte_float
#include "libraries/cusparse/mixed/mixed_element.h"

#define A_TYPE float
#define B_TYPE double
#define C_TYPE double
#define SUM double
#define FROM_A SAME
#define FROM_B SAME
#define FROM_C SAME
#define TO_C SAME
#define NAME(x) x##_float_double
#include "libraries/cusparse/mixed/mixed_element.h"

#define LAUNCHES(x) { product_##x, sampled_##x }

extern "C" const wpi_sparse_mixed_launches wpi_sparse_mixed[WPI_SPARSE_MIXES] = {
    LAUNCHES(half),
    LAUNCHES(half_float),
    LAUNCHES(bfloat),
    LAUNCHES(bfloat_float),
    LAUNCHES(byte_int),
    LAUNCHES(byte_float),
    LAUNCHES(float_double)};

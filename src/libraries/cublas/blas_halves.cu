/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of half and bfloat16, from one text. An image of its own, since devices compile whole
 * images. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

#include "libraries/cublas/blas_shared.h"

#define BLOCK 256
#include "libraries/cublas/blas_launch.h"
#include "libraries/cublas/blas_partials.h"

static __device__ float factor_of(wpi_scalar alpha) {
    return alpha.pointer != NULL ? *(const float *)alpha.pointer : (float)alpha.re;
}

#define STORED __half
#define LOAD __half2float
#define STORE __float2half
#define NAME(x) x##_h
#include "libraries/cublas/blas_halves.h"
#undef STORED
#undef LOAD
#undef STORE
#undef NAME

#define STORED __nv_bfloat16
#define LOAD __bfloat162float
#define STORE __float2bfloat16
#define NAME(x) x##_b
#include "libraries/cublas/blas_halves.h"

extern "C" const wpi_blas_launches wpi_blas_halves[2] = {
    {.axpy = axpy_h, .scal = scal_h, .reduce = reduce_h},
    {.axpy = axpy_b, .scal = scal_b, .reduce = reduce_b}};

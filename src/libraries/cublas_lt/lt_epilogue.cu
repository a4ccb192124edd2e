/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a product: factors, C, bias, activation, the type of D. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "libraries/cublas_lt/lt_shared.h"

#define BLOCK 256
#define BLOCKS_MAX 1024

static __device__ double load(const void *data, cudaDataType type, long long i) {
    switch (type) {
    case CUDA_R_32F: return ((const float *)data)[i];
    case CUDA_R_64F: return ((const double *)data)[i];
    case CUDA_R_16F: return __half2float(((const __half *)data)[i]);
    case CUDA_R_16BF: return __bfloat162float(((const __nv_bfloat16 *)data)[i]);
    case CUDA_R_32I: return ((const int *)data)[i];
    default: return ((const signed char *)data)[i];
    }
}

static __device__ void store(void *data, cudaDataType type, long long i, double value) {
    switch (type) {
    case CUDA_R_32F: ((float *)data)[i] = (float)value; break;
    case CUDA_R_64F: ((double *)data)[i] = value; break;
    case CUDA_R_16F: ((__half *)data)[i] = __float2half((float)value); break;
    case CUDA_R_16BF: ((__nv_bfloat16 *)data)[i] = __float2bfloat16((float)value); break;
    case CUDA_R_32I: ((int *)data)[i] = (int)(long long)value; break;
    default: ((signed char *)data)[i] = (signed char)rint(fmin(fmax(value, -128.0), 127.0)); break;
    }
}

/* By the hyperbolic tangent, as in CUDA. */
static __device__ float gelu(float x) {
    return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

static __device__ double gelu_wide(double x) {
    return 0.5 * x * (1.0 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

/* In the type of the factors: float, double, or integers, which double holds. */
extern "C" __global__ void __launch_bounds__(BLOCK) wpk_lt_epilogue(wpi_lt_epilogue e) {
    const double alpha = e.alpha != NULL ? load(e.alpha, e.scale_type, 0) : e.alpha_value;
    const double beta = e.beta != NULL ? load(e.beta, e.scale_type, 0) : e.beta_value;
    const bool is_wide = e.scale_type == CUDA_R_64F || e.scale_type == CUDA_R_32I;
    const long long each = (long long)e.m * e.n, count = each * e.batch;
    for (long long at = (long long)blockIdx.x * BLOCK + threadIdx.x; at < count;
         at += (long long)gridDim.x * BLOCK) {
        const long long batch = at / each, i = at % each % e.m, j = at % each / e.m;
        double value = load(e.sum.data, e.sum.type,
                            batch * e.sum.stride + i * e.sum.row + j * e.sum.column);
        value = is_wide ? alpha * value : (float)alpha * (float)value;
        if (beta != 0) {
            const double c =
                load(e.c.data, e.c.type, batch * e.c.stride + i * e.c.row + j * e.c.column);
            value = is_wide ? value + beta * c : (float)value + (float)beta * (float)c;
        }
        if (e.bias != NULL) {
            const double bias = load(e.bias, e.bias_type, batch * e.bias_stride + i);
            value = is_wide ? value + bias : (float)value + (float)bias;
        }
        if (e.activation == WPI_LT_RELU) value = value > 0 ? value : 0;
        if (e.activation == WPI_LT_GELU) value = is_wide ? gelu_wide(value) : gelu((float)value);
        store(e.d.data, e.d.type, batch * e.d.stride + i * e.d.row + j * e.d.column, value);
    }
}

extern "C" cudaError_t wpi_lt_finish(cudaStream_t stream, const wpi_lt_epilogue *e) {
    const long long blocks = ((long long)e->m * e->n * e->batch + BLOCK - 1) / BLOCK;
    if (blocks == 0) return cudaSuccess;
    const dim3 grid((unsigned)(blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX));
    void *arguments[] = {(void *)e};
    return cudaLaunchKernel((const void *)wpk_lt_epilogue, grid, dim3(BLOCK), arguments, 0, stream);
}

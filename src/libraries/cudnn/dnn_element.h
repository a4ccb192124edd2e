/* SPDX-License-Identifier: Apache-2.0 */
/** Elements of tensors, for the .cu files. */
#ifndef WP_LIBRARIES_DNN_ELEMENT_H
#define WP_LIBRARIES_DNN_ELEMENT_H

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "libraries/cudnn/dnn_shared.h"

static __device__ float load_float(const wpi_dnn_tensor &t, long long at) {
    switch (t.type) {
    case CUDNN_DATA_HALF: return __half2float(((const __half *)t.data)[at]);
    case CUDNN_DATA_BFLOAT16: return __bfloat162float(((const __nv_bfloat16 *)t.data)[at]);
    default: return ((const float *)t.data)[at];
    }
}

static __device__ void store_float(const wpi_dnn_tensor &t, long long at, float value) {
    switch (t.type) {
    case CUDNN_DATA_HALF: ((__half *)t.data)[at] = __float2half(value); break;
    case CUDNN_DATA_BFLOAT16: ((__nv_bfloat16 *)t.data)[at] = __float2bfloat16(value); break;
    default: ((float *)t.data)[at] = value;
    }
}

/* Where one tensor is of doubles; the others may not be. */
static __device__ double load_double(const wpi_dnn_tensor &t, long long at) {
    return t.type == CUDNN_DATA_DOUBLE ? ((const double *)t.data)[at] : load_float(t, at);
}

static __device__ void store_double(const wpi_dnn_tensor &t, long long at, double value) {
    if (t.type == CUDNN_DATA_DOUBLE)
        ((double *)t.data)[at] = value;
    else
        store_float(t, at, (float)value);
}

#endif

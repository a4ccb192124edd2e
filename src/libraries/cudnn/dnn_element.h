/* SPDX-License-Identifier: Apache-2.0 */
/** Walks over tensors and their elements, for the .cu files. */
#ifndef WP_LIBRARIES_DNN_ELEMENT_H
#define WP_LIBRARIES_DNN_ELEMENT_H

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "libraries/cudnn/dnn_shared.h"

/* ---- walks ---- */

/* The elements of a tensor's dimensions of which the mask has a bit. */
static wpi_dnn_walk walk_dims(const wpi_dnn_tensor *t, unsigned mask) {
    int order[WPI_DNN_DIMS];
    wpi_dnn_walk walk = {.count = 1, .dims = t->dims};
    for (int i = 0; i < t->dims; i++) { /* by strides, the smallest first */
        int to = i;
        for (; to > 0 && t->stride[order[to - 1]] > t->stride[i]; to--)
            order[to] = order[to - 1];
        order[to] = i;
    }
    for (int d = 0; d < WPI_DNN_DIMS; d++)
        walk.every[d] = walk.size[d] = 1;
    for (int i = 0; i < t->dims; i++) {
        const int d = order[i];
        if ((mask >> d & 1) == 0) continue;
        walk.every[d] = walk.count;
        walk.size[d] = (unsigned)t->size[d];
        walk.count *= walk.size[d];
    }
    return walk;
}

static wpi_dnn_walk walk_of(const wpi_dnn_tensor *t) {
    return walk_dims(t, ~0u);
}

static __device__ int at(const wpi_dnn_walk &walk, unsigned item, int d) {
    return (int)(item / walk.every[d] % walk.size[d]);
}

static __device__ long long offset_of(const wpi_dnn_walk &walk, unsigned item,
                                      const wpi_dnn_tensor &t) {
    long long offset = 0;
#pragma unroll
    for (int d = 0; d < WPI_DNN_DIMS; d++)
        if (d < walk.dims && walk.size[d] > 1) offset += at(walk, item, d) * t.stride[d];
    return offset;
}

/* ---- elements ---- */

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

static bool is_double(const wpi_dnn_tensor *t) {
    return t->data != NULL && t->type == CUDNN_DATA_DOUBLE;
}

#endif

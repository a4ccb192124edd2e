/* SPDX-License-Identifier: Apache-2.0 */
/* cuDNN's kernels: convolutions by types of elements, other layers by types of sums, each from one text. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

#include "libraries/cudnn/dnn_shared.h"

#define BLOCK 128
#include "libraries/cublas/blas_launch.h"
#include "libraries/element_loop.h"

#define LANE (threadIdx.x % 32)

/* Each warp takes the next item; all of its lanes do. */
#define FOR_EACH_WARP(i, count) \
    for (unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) / 32; i < (count); i += gridDim.x * blockDim.x / 32)

/* Lane 0 has the sum. */
#define WARP_SUM(value)                                            \
    for (int distance = 16; distance > 0; distance /= 2)           \
        (value) += __shfl_down_sync(0xffffffffu, (value), distance)

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

/* The dimensions of t in which `other` has one element. */
static wpi_dnn_walk walk_where(const wpi_dnn_tensor *t, const wpi_dnn_tensor *other) {
    unsigned mask = 0;
    for (int d = 0; d < t->dims; d++)
        if (other->size[d] == 1) mask |= 1u << d;
    return walk_dims(t, mask);
}

static __device__ int at(const wpi_dnn_walk &walk, unsigned item, int d) {
    return (int)(item / walk.every[d] % walk.size[d]);
}

static __device__ int at_axis(const wpi_dnn_walk &walk, unsigned item, int axis) {
    int found = 0;
#pragma unroll
    for (int d = 0; d < WPI_DNN_DIMS; d++)
        if (d == axis) found = at(walk, item, d);
    return found;
}

static __device__ long long offset_of(const wpi_dnn_walk &walk, unsigned item, const wpi_dnn_tensor &t) {
    long long offset = 0;
#pragma unroll
    for (int d = 0; d < WPI_DNN_DIMS; d++)
        if (d < walk.dims && walk.size[d] > 1) offset += at(walk, item, d) * t.stride[d];
    return offset;
}

/* ---- windows ---- */

static __device__ long long tap_offset(const wpi_dnn_convolution &p, int a, int b, int c) {
    if (p.is_flipped) {
        a = p.w.size[2] - 1 - a;
        b = p.w.size[3] - 1 - b;
        c = p.w.size[4] - 1 - c;
    }
    return a * p.w.stride[2] + b * p.w.stride[3] + c * p.w.stride[4];
}

/* Of which place of y, of `size` that are `step` apart in x, `from` is the first element; -1: none. */
static __device__ int place(int from, int step, int size) {
    return from < 0 || from % step != 0 || from / step >= size ? -1 : from / step;
}

/* The first window that has the coordinate. */
static __device__ int first_window(int coordinate, const wpi_dnn_pooling &p, int d) {
    const int before = coordinate + p.pad[d] - p.window[d];
    return before < 0 ? 0 : before / p.step[d] + 1;
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

/* ---- kernels by types ---- */

#define REAL float
#define NAME(name) name##_any
#define LOAD(t, at) load_float(t, at)
#define STORE(t, at, value) store_float(t, at, value)
#include "libraries/cudnn/dnn_convolve.h"
#include "libraries/cudnn/dnn_layers.h"
#undef NAME
#undef LOAD
#undef STORE

#define NAME(name) name##_float
#define LOAD(t, at) (((const float *)(t).data)[at])
#define STORE(t, at, value) (((float *)(t).data)[at] = (value))
#include "libraries/cudnn/dnn_convolve.h"
#undef NAME
#undef LOAD
#undef STORE

#undef REAL

#define REAL double
#define NAME(name) name##_double
#define LOAD(t, at) load_double(t, at)
#define STORE(t, at, value) store_double(t, at, value)
#include "libraries/cudnn/dnn_convolve.h"
#include "libraries/cudnn/dnn_layers.h"

/* ---- launches ---- */

static bool is_double(const wpi_dnn_tensor *t) {
    return t->data != NULL && t->type == CUDNN_DATA_DOUBLE;
}

cudaError_t wpi_dnn_convolve(cudaStream_t stream, wpi_dnn_way way, const wpi_dnn_convolution *p) {
    if (is_double(&p->x) || is_double(&p->w) || is_double(&p->y)) return convolve_double(stream, way, p);
    if (p->x.type == CUDNN_DATA_FLOAT && p->w.type == CUDNN_DATA_FLOAT && p->y.type == CUDNN_DATA_FLOAT)
        return convolve_float(stream, way, p);
    return convolve_any(stream, way, p);
}

cudaError_t wpi_dnn_pointwise_run(cudaStream_t stream, const wpi_dnn_pointwise *p) {
    const bool is_wide = is_double(&p->a) || is_double(&p->b) || is_double(&p->c) || is_double(&p->y);
    return is_wide ? elements_double(stream, p) : elements_any(stream, p);
}

cudaError_t wpi_dnn_reduce(cudaStream_t stream, const wpi_dnn_reduction *p) {
    return is_double(&p->x) || is_double(&p->y) ? reduction_double(stream, p) : reduction_any(stream, p);
}

cudaError_t wpi_dnn_multiply(cudaStream_t stream, const wpi_dnn_matmul *p) {
    return is_double(&p->a) || is_double(&p->b) || is_double(&p->y) ? matmul_double(stream, p) : matmul_any(stream, p);
}

cudaError_t wpi_dnn_pool(cudaStream_t stream, const wpi_dnn_pooling *p, int is_backward) {
    return is_double(&p->x) || is_double(&p->dy) ? pooling_double(stream, p, is_backward)
                                                 : pooling_any(stream, p, is_backward);
}

cudaError_t wpi_dnn_softmax_run(cudaStream_t stream, const wpi_dnn_softmax *p, int is_by_channel) {
    return is_double(&p->x) || is_double(&p->y) ? softmax_double(stream, p, is_by_channel)
                                                : softmax_any(stream, p, is_by_channel);
}

cudaError_t wpi_dnn_normalise(cudaStream_t stream, const wpi_dnn_norm *p, int is_backward) {
    return is_double(&p->x) ? norm_double(stream, p, is_backward) : norm_any(stream, p, is_backward);
}

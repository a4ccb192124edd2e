/* SPDX-License-Identifier: Apache-2.0 */
/* cuDNN's kernels: convolutions by types of elements, other layers by types of sums, each from one text. */
#include <math.h>

#include "libraries/cudnn/dnn_walk.h"

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

/* The dimensions of t in which `other` has one element. */
static wpi_dnn_walk walk_where(const wpi_dnn_tensor *t, const wpi_dnn_tensor *other) {
    unsigned mask = 0;
    for (int d = 0; d < t->dims; d++)
        if (other->size[d] == 1) mask |= 1u << d;
    return walk_dims(t, mask);
}

static __device__ int at_axis(const wpi_dnn_walk &walk, unsigned item, int axis) {
    int found = 0;
#pragma unroll
    for (int d = 0; d < WPI_DNN_DIMS; d++)
        if (d == axis) found = at(walk, item, d);
    return found;
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

/* ---- kernels by types ---- */

#define DNN_TEXT "libraries/cudnn/dnn_convolve.h"
#include "libraries/cudnn/dnn_two_types.h"
#define DNN_TEXT "libraries/cudnn/dnn_layers.h"
#include "libraries/cudnn/dnn_two_types.h"

#define REAL float
#define NAME(name) name##_float
#define LOAD(t, at) (((const float *)(t).data)[at])
#define STORE(t, at, value) (((float *)(t).data)[at] = (value))
#include "libraries/cudnn/dnn_convolve.h"

/* ---- launches ---- */

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

/* SPDX-License-Identifier: Apache-2.0 */
/** Walks over tensors, for the .cu files. */
#ifndef WP_LIBRARIES_DNN_WALK_H
#define WP_LIBRARIES_DNN_WALK_H

#include "libraries/cudnn/dnn_element.h"

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

static bool is_double(const wpi_dnn_tensor *t) {
    return t->data != NULL && t->type == CUDNN_DATA_DOUBLE;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Which product of matrices a convolution is, and where it is computed. */
#include <limits.h>

#include "libraries/cudnn/cudnn_handle.h"

/* A product of fewer rows would leave most of a tile empty: each element by itself. */
#define ROWS_MIN 4
#define HOST_ROWS_MIN 2
#define GRID_Y_MAX 65535

void wpi_dnn_product_into(wpi_dnn_product *p, const wpi_dnn_tensor *to) {
    p->to = *to;
    p->to_row = to->stride[p->way == WPI_DNN_FILTER ? 0 : 1];
    p->to_group = p->rows * p->to_row;
}

static long long places(const wpi_dnn_tensor *t) {
    return (long long)t->size[2] * t->size[3] * t->size[4];
}

/* Offsets of elements are ints in the kernels. */
static bool is_near(const wpi_dnn_tensor *t) {
    long long last = 0;
    for (int d = 0; d < t->dims; d++) {
        if (t->stride[d] > INT_MAX) return false;
        last += (t->size[d] - 1) * t->stride[d];
    }
    return last < 1 << 30;
}

/* False: it is none that the kernels have. */
static bool product_of(cudnnHandle_t handle, wpi_dnn_product *p, wpi_dnn_way way,
                       const wpi_dnn_convolution *c) {
    const int maps = c->w.size[0] / c->groups, channels = c->w.size[1];
    const bool is_data = way == WPI_DNN_DATA, is_filter = way == WPI_DNN_FILTER;
    *p = (wpi_dnn_product){.a = is_filter ? c->y : c->w,
                           .from = is_data ? c->y : c->x,
                           .way = way,
                           .groups = c->groups,
                           .channels = is_data ? maps : channels,
                           .rows = is_data ? channels : maps,
                           .is_flipped = c->is_flipped,
                           .alpha = c->alpha,
                           .beta = c->beta};
    long long taps = 1, images = c->x.size[0], classes = 1, most = images;
    bool is_inside = true;
    for (int d = 0; d < WPI_DNN_SPACE; d++) {
        p->window[d] = c->w.size[2 + d];
        p->pad[d] = c->pad[d];
        p->step[d] = c->step[d];
        p->dilation[d] = c->dilation[d];
        taps *= p->window[d];
        if (!is_data) {
            is_inside =
                is_inside && c->pad[d] == 0 &&
                (c->y.size[2 + d] - 1ll) * c->step[d] + (c->w.size[2 + d] - 1ll) * c->dilation[d] <
                    c->x.size[2 + d];
            continue;
        }
        is_inside = is_inside && c->pad[d] == 0 && c->step[d] == 1 && p->window[d] == 1;
        classes *= c->step[d];
        most *= (c->x.size[2 + d] - 1) / c->step[d] + 1;
        if (classes > GRID_Y_MAX) return false;
    }
    const long long columns = is_filter ? channels * taps : is_data ? most : images * places(&c->y);
    const long long depth = is_filter ? images * places(&c->y) : p->channels * taps;
    p->classes = (int)classes;
    p->is_inside = is_inside;
    const bool is_last = p->from.stride[1] == 1; /* channels, in memory */
    p->is_channel_fast = is_last;
    p->is_b_by_depth = is_last != is_filter;
    p->a_row = p->a.stride[is_filter || is_data ? 1 : 0];
    p->a_group = (is_filter ? maps : 0) * p->a.stride[1] + (is_filter ? 0 : maps) * p->a.stride[0];
    p->is_a_by_rows = p->a_row == 1;
    p->from_group = (is_data ? maps : channels) * p->from.stride[1];
    wpi_dnn_product_into(p, is_filter ? &c->w : is_data ? &c->x : &c->y);
    p->columns = (int)columns;
    p->depth = (int)depth;
    return p->rows >= (handle->is_on_host ? HOST_ROWS_MIN : ROWS_MIN) &&
           classes * c->groups <= GRID_Y_MAX && columns < INT_MAX / 2 && depth < INT_MAX / 2 &&
           is_near(&c->x) && is_near(&c->w) && is_near(&c->y);
}

cudnnStatus_t wpi_cudnn_convolve(cudnnHandle_t handle, wpi_dnn_way way,
                                 const wpi_dnn_convolution *c) {
    wpi_dnn_product p;
    if (!product_of(handle, &p, way, c))
        return wpi_cudnn_status(wpi_dnn_convolve(handle->stream, way, c));
    const cudaError_t error = handle->is_on_host ? wpi_dnn_product_run_wide(handle->stream, &p)
                                                 : wpi_dnn_product_run(handle->stream, &p);
    if (error == cudaErrorMemoryAllocation) /* the direct kernels need none */
        return wpi_cudnn_status(wpi_dnn_convolve(handle->stream, way, c));
    return wpi_cudnn_status(error);
}

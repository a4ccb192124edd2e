/* SPDX-License-Identifier: Apache-2.0 */
/** Convolutions over elements of one type. Before it is included: NAME, REAL (of the sums),
 * LOAD(tensor, offset), STORE(tensor, offset, value). */

#include "libraries/cudnn/dnn_put.h"

/* A thread an element of y. */
extern "C" __global__ void NAME(wpk_dnn_forward)(wpi_dnn_convolution p, wpi_dnn_walk walk) {
    const int maps = p.w.size[0] / p.groups, channels = p.w.size[1];
    const REAL alpha = (REAL)p.alpha, beta = (REAL)p.beta;
    FOR_EACH(item, walk.count) {
        const int n = at(walk, item, 0), k = at(walk, item, 1);
        const int d0 = at(walk, item, 2) * p.step[0] - p.pad[0],
                  h0 = at(walk, item, 3) * p.step[1] - p.pad[1],
                  w0 = at(walk, item, 4) * p.step[2] - p.pad[2];
        const long long x0 = n * p.x.stride[0] + k / maps * channels * p.x.stride[1];
        REAL sum = 0;
        for (int a = 0; a < p.w.size[2]; a++) {
            const int d = d0 + a * p.dilation[0];
            if ((unsigned)d >= (unsigned)p.x.size[2]) continue;
            for (int b = 0; b < p.w.size[3]; b++) {
                const int h = h0 + b * p.dilation[1];
                if ((unsigned)h >= (unsigned)p.x.size[3]) continue;
                for (int c = 0; c < p.w.size[4]; c++) {
                    const int w = w0 + c * p.dilation[2];
                    if ((unsigned)w >= (unsigned)p.x.size[4]) continue;
                    long long from = x0 + d * p.x.stride[2] + h * p.x.stride[3] + w * p.x.stride[4];
                    long long tap = k * p.w.stride[0] + tap_offset(p, a, b, c);
                    for (int i = 0; i < channels; i++) {
                        sum += LOAD(p.x, from) * LOAD(p.w, tap);
                        from += p.x.stride[1];
                        tap += p.w.stride[1];
                    }
                }
            }
        }
        NAME(put)(p.y, offset_of(walk, item, p.y), sum, alpha, beta);
    }
}

/* A thread an element of x: the sum over what it was part of. */
extern "C" __global__ void NAME(wpk_dnn_data)(wpi_dnn_convolution p, wpi_dnn_walk walk) {
    const int maps = p.w.size[0] / p.groups, channels = p.w.size[1];
    const REAL alpha = (REAL)p.alpha, beta = (REAL)p.beta;
    FOR_EACH(item, walk.count) {
        const int n = at(walk, item, 0), i = at(walk, item, 1);
        const int d0 = at(walk, item, 2) + p.pad[0], h0 = at(walk, item, 3) + p.pad[1],
                  w0 = at(walk, item, 4) + p.pad[2];
        const int first = i / channels * maps;
        REAL sum = 0;
        for (int a = 0; a < p.w.size[2]; a++) {
            const int d = place(d0 - a * p.dilation[0], p.step[0], p.y.size[2]);
            if (d < 0) continue;
            for (int b = 0; b < p.w.size[3]; b++) {
                const int h = place(h0 - b * p.dilation[1], p.step[1], p.y.size[3]);
                if (h < 0) continue;
                for (int c = 0; c < p.w.size[4]; c++) {
                    const int w = place(w0 - c * p.dilation[2], p.step[2], p.y.size[4]);
                    if (w < 0) continue;
                    long long from = n * p.y.stride[0] + first * p.y.stride[1] + d * p.y.stride[2] +
                                     h * p.y.stride[3] + w * p.y.stride[4];
                    long long tap = first * p.w.stride[0] + i % channels * p.w.stride[1] +
                                    tap_offset(p, a, b, c);
                    for (int k = 0; k < maps; k++) {
                        sum += LOAD(p.y, from) * LOAD(p.w, tap);
                        from += p.y.stride[1];
                        tap += p.w.stride[0];
                    }
                }
            }
        }
        NAME(put)(p.x, offset_of(walk, item, p.x), sum, alpha, beta);
    }
}

/* A warp an element of w: its lanes are places of y's planes. */
extern "C" __global__ void NAME(wpk_dnn_filter)(wpi_dnn_convolution p, wpi_dnn_walk walk) {
    const int maps = p.w.size[0] / p.groups, channels = p.w.size[1];
    const unsigned width = p.y.size[4], plane = p.y.size[3] * width;
    FOR_EACH_WARP(item, walk.count) {
        const int k = at(walk, item, 0), i = k / maps * channels + at(walk, item, 1);
        const int d0 = at(walk, item, 2) * p.dilation[0] - p.pad[0],
                  h0 = at(walk, item, 3) * p.dilation[1] - p.pad[1],
                  w0 = at(walk, item, 4) * p.dilation[2] - p.pad[2];
        REAL sum = 0;
        for (int n = 0; n < p.y.size[0]; n++) {
            for (int z = 0; z < p.y.size[2]; z++) {
                const int d = d0 + z * p.step[0];
                if ((unsigned)d >= (unsigned)p.x.size[2]) continue;
                const long long x0 = n * p.x.stride[0] + i * p.x.stride[1] + d * p.x.stride[2];
                const long long y0 = n * p.y.stride[0] + k * p.y.stride[1] + z * p.y.stride[2];
                for (unsigned to = LANE; to < plane; to += 32) {
                    const unsigned row = to / width, column = to % width;
                    const int h = h0 + (int)row * p.step[1], w = w0 + (int)column * p.step[2];
                    if ((unsigned)h >= (unsigned)p.x.size[3] ||
                        (unsigned)w >= (unsigned)p.x.size[4])
                        continue;
                    sum += LOAD(p.x, x0 + h * p.x.stride[3] + w * p.x.stride[4]) *
                           LOAD(p.y, y0 + row * p.y.stride[3] + column * p.y.stride[4]);
                }
            }
        }
        WARP_SUM(sum);
        /* The walk counts taps from the first; a flipped filter has it last. */
        const long long offset =
            k * p.w.stride[0] + at(walk, item, 1) * p.w.stride[1] +
            tap_offset(p, at(walk, item, 2), at(walk, item, 3), at(walk, item, 4));
        if (LANE == 0) NAME(put)(p.w, offset, sum, (REAL)p.alpha, (REAL)p.beta);
    }
}

static cudaError_t NAME(convolve)(cudaStream_t stream, wpi_dnn_way way,
                                  const wpi_dnn_convolution *p) {
    wpi_dnn_walk walk = walk_of(way == WPI_DNN_FORWARD ? &p->y
                                : way == WPI_DNN_DATA  ? &p->x
                                                       : &p->w);
    switch (way) {
    case WPI_DNN_FORWARD:
        return LAUNCH(NAME(wpk_dnn_forward), blocks(walk.count), (void *)p, &walk);
    case WPI_DNN_DATA: return LAUNCH(NAME(wpk_dnn_data), blocks(walk.count), (void *)p, &walk);
    case WPI_DNN_FILTER: break;
    }
    return LAUNCH(NAME(wpk_dnn_filter), blocks(walk.count * 32ll), (void *)p, &walk);
}

/* SPDX-License-Identifier: Apache-2.0 */
/** Dropout and local response normalisation, with sums of one type over elements of any. Before it
 * is included: NAME, REAL, LOAD(tensor, offset), STORE(tensor, offset, value). */

#include "libraries/cudnn/dnn_put.h"

/* ---- dropout ---- */

/* The mask has the elements in the order of dimensions, whatever the strides. */
extern "C" __global__ void NAME(wpk_dnn_dropout)(wpi_dnn_dropout p, wpi_dnn_walk walk) {
    const REAL scale = p.rate < 1 ? (REAL)(1 / (1 - (double)p.rate)) : 0;
    FOR_EACH(item, walk.count) {
        unsigned index = 0;
        for (int d = 0; d < walk.dims; d++)
            index = index * (unsigned)p.x.size[d] + (unsigned)at(walk, (unsigned)item, d);
        if (p.states != NULL) {
            curandStatePhilox4_32_10_t state;
            curand_init(p.states->seed, index, p.states->drawn, &state);
            p.mask[index] = p.rate <= 0 || curand_uniform(&state) > p.rate;
        }
        const REAL x = LOAD(p.x, offset_of(walk, (unsigned)item, p.x));
        STORE(p.y, offset_of(walk, (unsigned)item, p.y), p.mask[index] ? x * scale : (REAL)0);
    }
}

static cudaError_t NAME(dropout)(cudaStream_t stream, const wpi_dnn_dropout *p) {
    wpi_dnn_walk walk = walk_of(&p->y);
    return LAUNCH(NAME(wpk_dnn_dropout), blocks(walk.count), (void *)p, &walk);
}

/* ---- local response normalisation ---- */

/* k + alpha / n times the squares around a channel. */
static __device__ REAL NAME(lrn_scale)(const wpi_dnn_lrn &p, long long x, int channel) {
    REAL sum = 0;
    for (int c = channel - p.before < 0 ? 0 : channel - p.before;
         c <= channel + p.after && c < p.x.size[1]; c++) {
        const REAL value = LOAD(p.x, x + c * p.x.stride[1]);
        sum += value * value;
    }
    return (REAL)p.k + (REAL)p.factor * sum;
}

extern "C" __global__ void NAME(wpk_dnn_lrn)(wpi_dnn_lrn p, wpi_dnn_walk walk) {
    FOR_EACH(item, walk.count) {
        const int channel = at(walk, (unsigned)item, 1);
        const long long x = offset_of(walk, (unsigned)item, p.x),
                        first = x - channel * p.x.stride[1];
        const REAL scale = NAME(lrn_scale)(p, first, channel);
        NAME(put)(p.y, offset_of(walk, (unsigned)item, p.y),
                  LOAD(p.x, x) * pow(scale, (REAL)-p.power), (REAL)p.alpha, (REAL)p.beta);
    }
}

/* y is dx. What a channel adds to the scales of others, of which it is in the windows, too. */
extern "C" __global__ void NAME(wpk_dnn_lrn_back)(wpi_dnn_lrn p, wpi_dnn_walk walk) {
    FOR_EACH(item, walk.count) {
        const int channel = at(walk, (unsigned)item, 1);
        const long long x = offset_of(walk, (unsigned)item, p.x),
                        first = x - channel * p.x.stride[1];
        const long long dy = offset_of(walk, (unsigned)item, p.dy),
                        dy_first = dy - channel * p.dy.stride[1];
        REAL sum = 0;
        for (int c = channel - p.after < 0 ? 0 : channel - p.after;
             c <= channel + p.before && c < p.x.size[1]; c++)
            sum += LOAD(p.dy, dy_first + c * p.dy.stride[1]) *
                   LOAD(p.x, first + c * p.x.stride[1]) *
                   pow(NAME(lrn_scale)(p, first, c), (REAL)(-p.power - 1));
        const REAL own = LOAD(p.dy, dy) * pow(NAME(lrn_scale)(p, first, channel), (REAL)-p.power);
        NAME(put)(p.y, offset_of(walk, (unsigned)item, p.y),
                  own - (REAL)(2 * p.factor * p.power) * LOAD(p.x, x) * sum, (REAL)p.alpha,
                  (REAL)p.beta);
    }
}

static cudaError_t NAME(lrn)(cudaStream_t stream, const wpi_dnn_lrn *p) {
    wpi_dnn_walk walk = walk_of(&p->y);
    return p->dy.data != NULL ? LAUNCH(NAME(wpk_dnn_lrn_back), blocks(walk.count), (void *)p, &walk)
                              : LAUNCH(NAME(wpk_dnn_lrn), blocks(walk.count), (void *)p, &walk);
}

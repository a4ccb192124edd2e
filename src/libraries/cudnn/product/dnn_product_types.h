/* SPDX-License-Identifier: Apache-2.0 */
/** The text of dnn_product.h once a type. Before it is included, the tiles:
 *
 *     ROWS, COLUMNS   of a block
 *     EACH            a thread computes EACH x EACH elements
 *     SLICE           how many depths of the operands are in shared memory
 *     BLOCKS_WANTED   results that are small but deep are computed by parts of the depth
 *     RUN             how many neighbours are gathered at once; 1: threads gather one each
 *     WAY(name)       the name of the function */
#include "libraries/cudnn/dnn_walk.h"

#define BLOCK ((ROWS / EACH) * (COLUMNS / EACH))
#include "libraries/cublas/blas_launch.h"
#include "libraries/cudnn/product/dnn_terms.h"
#include "libraries/element_loop.h"

#define A_ROWS (ROWS + EACH) /* in shared memory */

#define OFFSET_MAX ((1 << 30) - 1)

#define PART_SLICES_MIN 16 /* of the depth that a block has */

#if RUN > 1
/* Whether RUN offsets are neighbours. */
static __device__ bool is_run(const int *offset) {
    bool is_run = true;
    for (int e = 1; e < RUN; e++)
        is_run = is_run && offset[e] == offset[0] + e;
    return is_run;
}
#endif

#define REAL float
#define NAME(name) WAY(name##_any)
#define LOAD(t, at) load_float(t, at)
#define STORE(t, at, value) store_float(t, at, value)
#include "libraries/cudnn/product/dnn_product.h"
#undef NAME
#undef LOAD
#undef STORE

#define NAME(name) WAY(name##_float)
#define LOAD(t, at) (((const float *)(t).data)[at])
#define STORE(t, at, value) (((float *)(t).data)[at] = (value))
#include "libraries/cudnn/product/dnn_product.h"
#undef NAME
#undef LOAD
#undef STORE
#undef REAL

#define REAL double
#define NAME(name) WAY(name##_double)
#define LOAD(t, at) load_double(t, at)
#define STORE(t, at, value) store_double(t, at, value)
#include "libraries/cudnn/product/dnn_product.h"

extern "C" cudaError_t WAY(wpi_dnn_product_run)(cudaStream_t stream, wpi_dnn_product *p) {
    if (is_double(&p->a) || is_double(&p->from) || is_double(&p->to))
        return WAY(run_double)(stream, p);
    if (p->a.type == CUDNN_DATA_FLOAT && p->from.type == CUDNN_DATA_FLOAT &&
        p->to.type == CUDNN_DATA_FLOAT)
        return WAY(run_float)(stream, p);
    return WAY(run_any)(stream, p);
}

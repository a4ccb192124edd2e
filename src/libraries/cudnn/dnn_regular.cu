/* SPDX-License-Identifier: Apache-2.0 */
/* Dropout and local response normalisation. An image of its own, since devices compile whole images. */
#include <curand_kernel.h>
#include <math.h>

#include "libraries/cudnn/dnn_walk.h"

#define BLOCK 128
#include "libraries/cublas/blas_launch.h"
#include "libraries/element_loop.h"

/* After the elements were drawn, or at first. */
extern "C" __global__ void wpk_dnn_dropout_states(wpi_dnn_dropout_states *states, wpi_dnn_dropout_states set, int is_set) {
    if (is_set)
        *states = set;
    else
        states->drawn += set.drawn;
}

#define DNN_TEXT "libraries/cudnn/dnn_regular.h"
#include "libraries/cudnn/dnn_two_types.h"

static cudaError_t change_states(cudaStream_t stream, wpi_dnn_dropout_states *states, wpi_dnn_dropout_states set, int is_set) {
    return LAUNCH(wpk_dnn_dropout_states, 1, &states, &set, &is_set);
}

cudaError_t wpi_dnn_dropout_seed(cudaStream_t stream, wpi_dnn_dropout_states *states, unsigned long long seed) {
    return change_states(stream, states, (wpi_dnn_dropout_states){seed, 0}, 1);
}

cudaError_t wpi_dnn_dropout_run(cudaStream_t stream, const wpi_dnn_dropout *p) {
    const cudaError_t error = is_double(&p->x) || is_double(&p->y) ? dropout_double(stream, p) : dropout_any(stream, p);
    if (error != cudaSuccess || p->states == NULL) return error;
    return change_states(stream, p->states, (wpi_dnn_dropout_states){0, 1}, 0);
}

cudaError_t wpi_dnn_lrn_run(cudaStream_t stream, const wpi_dnn_lrn *p) {
    return is_double(&p->x) || is_double(&p->y) ? lrn_double(stream, p) : lrn_any(stream, p);
}

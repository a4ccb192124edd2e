/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent networks besides their products of matrices. An image of its own, since devices compile whole images. */
#include <math.h>

#include "libraries/cudnn/dnn_element.h"
#include "libraries/cudnn/recurrent/rnn_shared.h"

#define BLOCK 128
#include "libraries/cublas/blas_launch.h"
#include "libraries/element_loop.h"

/* Which vector of the program's sequences; packed ones lie step by step, longest first. */
static __device__ long long row_of(const wpi_rnn_sequence &p, int t, int b) {
    if (p.layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED) return (long long)t * p.batch + b;
    if (p.layout == CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED) return (long long)b * p.steps + t;
    long long before = b;
    for (int i = 0; i < p.batch; i++)
        before += p.lengths[i] < t ? p.lengths[i] : t;
    return before;
}

#define DNN_TEXT "libraries/cudnn/recurrent/dnn_recurrent.h"
#include "libraries/cudnn/dnn_two_types.h"

cudaError_t wpi_rnn_sequence_run(cudaStream_t stream, const wpi_rnn_sequence *p, void *own, int is_written) {
    return p->data.type == CUDNN_DATA_DOUBLE ? sequence_double(stream, p, own, is_written)
                                             : sequence_any(stream, p, own, is_written);
}

cudaError_t wpi_rnn_state_run(cudaStream_t stream, const wpi_dnn_tensor *state, long long first, void *own, int count,
                              int is_written) {
    return state->type == CUDNN_DATA_DOUBLE ? state_double(stream, *state, first, own, count, is_written)
                                            : state_any(stream, *state, first, own, count, is_written);
}

cudaError_t wpi_rnn_bias_run(cudaStream_t stream, void *rows, long long count, int width, const wpi_dnn_tensor *weights,
                             long long one, long long other) {
    return weights->type == CUDNN_DATA_DOUBLE ? bias_double(stream, rows, count, width, *weights, one, other)
                                              : bias_any(stream, rows, count, width, *weights, one, other);
}

cudaError_t wpi_rnn_step_run(cudaStream_t stream, const wpi_rnn_step *p, int is_backward) {
    return p->is_double ? step_double(stream, p, is_backward) : step_any(stream, p, is_backward);
}

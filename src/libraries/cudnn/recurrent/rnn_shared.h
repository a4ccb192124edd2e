/* SPDX-License-Identifier: Apache-2.0 */
/** What the host code of recurrent networks and its kernels share. Own buffers are of the type of
 * the sums: float, or double where the data are. */
#ifndef WP_LIBRARIES_RNN_SHARED_H
#define WP_LIBRARIES_RNN_SHARED_H

#include "libraries/cudnn/dnn_shared.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The program's sequences. */
typedef struct wpi_rnn_sequence {
    wpi_dnn_tensor data; /* its data and type */
    int layout;          /* cudnnRNNDataLayout_t */
    int steps, batch, width;
    const int *lengths; /* device memory */
    double fill;        /* of padding that is written */
} wpi_rnn_sequence;

/** A step of a layer in one direction. Gates are batch x gate_count x hidden: before their
 * functions, which the step stores instead. */
typedef struct wpi_rnn_step {
    int mode, is_double, batch, hidden, gate_count, t;
    const int *lengths;
    void *gates, *recurrent; /* the latter of a GRU: the products with the state, by themselves */
    const void *h_before, *c_before;
    void *h_after, *c_after;
    void *out; /* backward: its gradient */
    long long out_row;
    void *dh, *dc, *gate_changes,
        *recurrent_changes; /* backward; the last two are one, but of a GRU */
} wpi_rnn_step;

cudaError_t wpi_rnn_sequence_run(cudaStream_t stream, const wpi_rnn_sequence *p, void *own,
                                 int is_written);
cudaError_t wpi_rnn_state_run(cudaStream_t stream, const wpi_dnn_tensor *state, long long first,
                              void *own, int count, int is_written);
cudaError_t wpi_rnn_bias_run(cudaStream_t stream, void *rows, long long count, int width,
                             const wpi_dnn_tensor *weights, long long one, long long other);
cudaError_t wpi_rnn_step_run(cudaStream_t stream, const wpi_rnn_step *p, int is_backward);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Descriptors of recurrent networks, and where a call has its numbers: cudnn_rnn.c, rnn_run.c. */
#ifndef WP_LIBRARIES_RNN_NETWORK_H
#define WP_LIBRARIES_RNN_NETWORK_H

#include "libraries/cudnn/cudnn_handle.h"
#include "libraries/cudnn/recurrent/rnn_shared.h"

struct cudnnRNNStruct {
    cudnnRNNMode_t mode;
    cudnnRNNBiasMode_t bias;
    int type; /* cudnnDataType_t */
    int input, hidden, layers, directions, gates;
    const struct cudnnDropoutStruct *dropout;
};

struct cudnnRNNDataStruct {
    int type, layout, steps, batch, width;
    int *lengths; /* owned; of `batch` sequences */
    double fill;
};

/** Elements of the weights before those of a layer's direction: all matrices come first, of the
 * input, then of the state, gate by gate; then all biases. -1: there is no such bias. */
size_t wpi_rnn_matrix_at(const struct cudnnRNNStruct *d, int pseudo_layer, bool is_state);
long long wpi_rnn_bias_at(const struct cudnnRNNStruct *d, int pseudo_layer, bool is_state);
size_t wpi_rnn_element_bytes(int type);

/** Bytes that a call needs: `work` for itself, `kept` from forward to backward. */
void wpi_rnn_sizes(const struct cudnnRNNStruct *d, const struct cudnnRNNDataStruct *x,
                   size_t *work_bytes, size_t *kept_bytes);

/** A call: states are layers x batch x hidden. Data NULL: zeros, or not written. */
typedef struct wpi_rnn_call {
    cudnnHandle_t handle;
    const struct cudnnRNNStruct *d;
    const struct cudnnRNNDataStruct *x_shape, *y_shape;
    const void *x, *hx, *cx, *weights, *dy, *dhy, *dcy;
    void *y, *hy, *cy, *dx, *dhx, *dcx, *dweights;
    void *work, *kept;
    bool is_training, is_added; /* gradients of weights */
} wpi_rnn_call;

cudnnStatus_t wpi_rnn_forward(const wpi_rnn_call *call);
cudnnStatus_t wpi_rnn_backward_data(const wpi_rnn_call *call);
cudnnStatus_t wpi_rnn_backward_weights(const wpi_rnn_call *call);

#endif

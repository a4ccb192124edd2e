/* SPDX-License-Identifier: Apache-2.0 */
/** What the host code of CTC loss shares with its kernel. A sample's states are its labels with a
 * blank (0) before, between and behind them: 2 L + 1. */
#ifndef WP_LIBRARIES_CTC_SHARED_H
#define WP_LIBRARIES_CTC_SHARED_H

#include "warpage/cuda/cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Activations and gradients are float, element (t, n, k) at t * stride[0] + …. */
typedef struct wpi_ctc {
    int steps, samples, letters; /* T, N, A */
    long long stride[3], gradient_stride[3];
    const float *activations;
    float *costs, *gradients;                          /* gradients NULL: costs alone */
    const int *labels, *label_lengths, *input_lengths; /* in device memory */
    int states_max;
    int is_softmax;      /* activations are normalised here; else they are probabilities */
    int keeps_gradients; /* of samples whose labels do not fit into their steps; else zeros */
    double *work;        /* WPI_CTC_WORK elements a sample */
} wpi_ctc;

#define WPI_CTC_WORK(steps, states) ((long long)(steps) * ((states) + 1) + 3LL * (states))

cudaError_t wpi_ctc_run(cudaStream_t stream, const wpi_ctc *c);

#ifdef __cplusplus
}
#endif
#endif

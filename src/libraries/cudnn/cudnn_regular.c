/* SPDX-License-Identifier: Apache-2.0 */
/* Dropout and local response normalisation. A dropout's states are a seed and how often was drawn:
 * the numbers are Philox's, a sequence an element. */
#include "base/alloc.h"
#include "libraries/cudnn/cudnn_handle.h"

/* ---- dropout ---- */

CUDNN_DESCRIPTOR(Dropout)

WP_API cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t handle, size_t *sizeInBytes) {
    if (handle == NULL || sizeInBytes == NULL) return CUDNN_STATUS_BAD_PARAM;
    *sizeInBytes = sizeof(wpi_dnn_dropout_states);
    return CUDNN_STATUS_SUCCESS;
}

/* A byte an element. */
WP_API cudnnStatus_t cudnnDropoutGetReserveSpaceSize(cudnnTensorDescriptor_t xdesc,
                                                     size_t *sizeInBytes) {
    if (xdesc == NULL || sizeInBytes == NULL) return CUDNN_STATUS_BAD_PARAM;
    *sizeInBytes = 1;
    for (int d = 0; d < xdesc->t.dims; d++)
        *sizeInBytes *= (size_t)xdesc->t.size[d];
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnRestoreDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc,
                                                   cudnnHandle_t handle, float dropout,
                                                   void *states, size_t stateSizeInBytes,
                                                   unsigned long long seed) {
    if (dropoutDesc == NULL || handle == NULL || !(dropout >= 0 && dropout <= 1))
        return CUDNN_STATUS_BAD_PARAM;
    if (states != NULL && stateSizeInBytes < sizeof(wpi_dnn_dropout_states))
        return CUDNN_STATUS_INVALID_VALUE;
    dropoutDesc->rate = dropout;
    dropoutDesc->states = states;
    dropoutDesc->seed = seed;
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc,
                                               cudnnHandle_t handle, float dropout, void *states,
                                               size_t stateSizeInBytes, unsigned long long seed) {
    CUDNN_TRY(cudnnRestoreDropoutDescriptor(dropoutDesc, handle, dropout, states, stateSizeInBytes,
                                            seed));
    if (states == NULL) return CUDNN_STATUS_SUCCESS; /* for networks that only infer */
    return wpi_cudnn_status(wpi_dnn_dropout_seed(handle->stream, states, seed));
}

WP_API cudnnStatus_t cudnnGetDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc,
                                               cudnnHandle_t handle, float *dropout, void **states,
                                               unsigned long long *seed) {
    if (dropoutDesc == NULL || handle == NULL) return CUDNN_STATUS_BAD_PARAM;
    if (dropout != NULL) *dropout = dropoutDesc->rate;
    if (states != NULL) *states = dropoutDesc->states;
    if (seed != NULL) *seed = dropoutDesc->seed;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t drop(cudnnHandle_t handle, const cudnnDropoutDescriptor_t d,
                          const cudnnTensorDescriptor_t from, const void *x,
                          const cudnnTensorDescriptor_t to, void *y, void *mask, size_t mask_bytes,
                          bool is_drawn) {
    size_t needed;
    if (handle == NULL || d == NULL || from == NULL || x == NULL || to == NULL || y == NULL ||
        mask == NULL || !wpi_cudnn_same_shape(&from->t, &to->t) || (is_drawn && d->states == NULL))
        return CUDNN_STATUS_BAD_PARAM;
    CUDNN_TRY(cudnnDropoutGetReserveSpaceSize(from, &needed));
    if (mask_bytes < needed) return CUDNN_STATUS_BAD_PARAM;
    wpi_dnn_dropout p = {.x = from->t,
                         .y = to->t,
                         .rate = d->rate,
                         .mask = mask,
                         .states = is_drawn ? d->states : NULL};
    p.x.data = (void *)(uintptr_t)x;
    p.y.data = y;
    return wpi_cudnn_status(wpi_dnn_dropout_run(handle->stream, &p));
}

WP_API cudnnStatus_t cudnnDropoutForward(cudnnHandle_t handle,
                                         const cudnnDropoutDescriptor_t dropoutDesc,
                                         const cudnnTensorDescriptor_t xdesc, const void *x,
                                         const cudnnTensorDescriptor_t ydesc, void *y,
                                         void *reserveSpace, size_t reserveSpaceSizeInBytes) {
    return drop(handle, dropoutDesc, xdesc, x, ydesc, y, reserveSpace, reserveSpaceSizeInBytes,
                true);
}

WP_API cudnnStatus_t cudnnDropoutBackward(cudnnHandle_t handle,
                                          const cudnnDropoutDescriptor_t dropoutDesc,
                                          const cudnnTensorDescriptor_t dydesc, const void *dy,
                                          const cudnnTensorDescriptor_t dxdesc, void *dx,
                                          void *reserveSpace, size_t reserveSpaceSizeInBytes) {
    return drop(handle, dropoutDesc, dydesc, dy, dxdesc, dx, reserveSpace, reserveSpaceSizeInBytes,
                false);
}

/* ---- local response normalisation ---- */

struct cudnnLRNStruct {
    unsigned n;
    double alpha, beta, k;
};

CUDNN_DESCRIPTOR(LRN)

WP_API cudnnStatus_t cudnnSetLRNDescriptor(cudnnLRNDescriptor_t normDesc, unsigned lrnN,
                                           double lrnAlpha, double lrnBeta, double lrnK) {
    if (normDesc == NULL || lrnN < CUDNN_LRN_MIN_N || lrnN > CUDNN_LRN_MAX_N ||
        !(lrnBeta >= CUDNN_LRN_MIN_BETA) || !(lrnK >= CUDNN_LRN_MIN_K))
        return CUDNN_STATUS_BAD_PARAM;
    *normDesc = (struct cudnnLRNStruct){lrnN, lrnAlpha, lrnBeta, lrnK};
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnGetLRNDescriptor(cudnnLRNDescriptor_t normDesc, unsigned *lrnN,
                                           double *lrnAlpha, double *lrnBeta, double *lrnK) {
    if (normDesc == NULL) return CUDNN_STATUS_BAD_PARAM;
    if (lrnN != NULL) *lrnN = normDesc->n;
    if (lrnAlpha != NULL) *lrnAlpha = normDesc->alpha;
    if (lrnBeta != NULL) *lrnBeta = normDesc->beta;
    if (lrnK != NULL) *lrnK = normDesc->k;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t lrn(cudnnHandle_t handle, cudnnLRNDescriptor_t d, cudnnLRNMode_t mode,
                         const void *alpha, const cudnnTensorDescriptor_t from, const void *x,
                         const cudnnTensorDescriptor_t change, const void *dy, const void *beta,
                         const cudnnTensorDescriptor_t to, void *y) {
    if (handle == NULL || d == NULL || d->n == 0 || mode != CUDNN_LRN_CROSS_CHANNEL_DIM1 ||
        alpha == NULL || beta == NULL || from == NULL || x == NULL || to == NULL || y == NULL ||
        (change != NULL && dy == NULL) || !wpi_cudnn_same_shape(&from->t, &to->t))
        return CUDNN_STATUS_BAD_PARAM;
    const int before = ((int)d->n - 1) / 2;
    wpi_dnn_lrn p = {.before = before,
                     .after = (int)d->n - before - 1,
                     .k = d->k,
                     .factor = d->alpha / d->n,
                     .power = d->beta,
                     .alpha = wpi_cudnn_factor(alpha, to->t.type),
                     .beta = wpi_cudnn_factor(beta, to->t.type)};
    CUDNN_TRY(wpi_cudnn_in_space(&from->t, x, &p.x));
    CUDNN_TRY(wpi_cudnn_in_space(&to->t, y, &p.y));
    if (change != NULL) {
        if (!wpi_cudnn_same_shape(&from->t, &change->t)) return CUDNN_STATUS_BAD_PARAM;
        CUDNN_TRY(wpi_cudnn_in_space(&change->t, dy, &p.dy));
    }
    return wpi_cudnn_status(wpi_dnn_lrn_run(handle->stream, &p));
}

WP_API cudnnStatus_t cudnnLRNCrossChannelForward(cudnnHandle_t handle,
                                                 cudnnLRNDescriptor_t normDesc,
                                                 cudnnLRNMode_t lrnMode, const void *alpha,
                                                 const cudnnTensorDescriptor_t xDesc, const void *x,
                                                 const void *beta,
                                                 const cudnnTensorDescriptor_t yDesc, void *y) {
    return lrn(handle, normDesc, lrnMode, alpha, xDesc, x, NULL, NULL, beta, yDesc, y);
}

WP_API cudnnStatus_t cudnnLRNCrossChannelBackward(
    cudnnHandle_t handle, cudnnLRNDescriptor_t normDesc, cudnnLRNMode_t lrnMode, const void *alpha,
    const cudnnTensorDescriptor_t yDesc, const void *y, const cudnnTensorDescriptor_t dyDesc,
    const void *dy, const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
    const cudnnTensorDescriptor_t dxDesc, void *dx) {
    (void)yDesc, (void)y;
    if (dyDesc == NULL) return CUDNN_STATUS_BAD_PARAM;
    return lrn(handle, normDesc, lrnMode, alpha, xDesc, x, dyDesc, dy, beta, dxDesc, dx);
}

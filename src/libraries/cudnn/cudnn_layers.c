/* SPDX-License-Identifier: Apache-2.0 */
/* Activations, pooling, softmax, batch normalisation by descriptors. */
#include <math.h>

#include "base/alloc.h"
#include "libraries/cudnn/cudnn_handle.h"

struct cudnnPoolingStruct {
    cudnnPoolingMode_t mode;
    int space; /* dimensions */
    int window[WPI_DNN_SPACE], pad[WPI_DNN_SPACE], step[WPI_DNN_SPACE];
};

/* ---- activations ---- */

CUDNN_DESCRIPTOR(Activation)

WP_API cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t activationDesc,
                                                  cudnnActivationMode_t mode,
                                                  cudnnNanPropagation_t reluNanOpt, double coef) {
    if (activationDesc == NULL || (unsigned)mode > CUDNN_ACTIVATION_SWISH)
        return CUDNN_STATUS_BAD_PARAM;
    *activationDesc = (struct cudnnActivationStruct){
        .mode = mode, .nan = reluNanOpt, .coefficient = coef, .swish_beta = 1};
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnGetActivationDescriptor(const cudnnActivationDescriptor_t activationDesc,
                                                  cudnnActivationMode_t *mode,
                                                  cudnnNanPropagation_t *reluNanOpt, double *coef) {
    if (activationDesc == NULL) return CUDNN_STATUS_BAD_PARAM;
    if (mode != NULL) *mode = activationDesc->mode;
    if (reluNanOpt != NULL) *reluNanOpt = activationDesc->nan;
    if (coef != NULL) *coef = activationDesc->coefficient;
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnSetActivationDescriptorSwishBeta(
    cudnnActivationDescriptor_t activationDesc, double swish_beta) {
    if (activationDesc == NULL) return CUDNN_STATUS_BAD_PARAM;
    activationDesc->swish_beta = swish_beta;
    return CUDNN_STATUS_SUCCESS;
}

/* Sets mode and parameters, forward. */
static cudnnStatus_t prepare_activation(const struct cudnnActivationStruct *a,
                                        wpi_dnn_pointwise *p) {
    p->upper = HUGE_VAL;
    switch (a->mode) {
    case CUDNN_ACTIVATION_SIGMOID: p->mode = CUDNN_POINTWISE_SIGMOID_FWD; break;
    case CUDNN_ACTIVATION_TANH: p->mode = CUDNN_POINTWISE_TANH_FWD; break;
    case CUDNN_ACTIVATION_IDENTITY: p->mode = CUDNN_POINTWISE_IDENTITY; break;
    case CUDNN_ACTIVATION_CLIPPED_RELU: p->upper = a->coefficient; /* fall through */
    case CUDNN_ACTIVATION_RELU: p->mode = CUDNN_POINTWISE_RELU_FWD; break;
    case CUDNN_ACTIVATION_ELU:
        p->mode = CUDNN_POINTWISE_ELU_FWD;
        p->parameter = a->coefficient;
        break;
    case CUDNN_ACTIVATION_SWISH:
        p->mode = CUDNN_POINTWISE_SWISH_FWD;
        p->parameter = a->swish_beta;
        break;
    default: return CUDNN_STATUS_BAD_PARAM;
    }
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnActivationForward(cudnnHandle_t handle,
                                            cudnnActivationDescriptor_t activationDesc,
                                            const void *alpha, const cudnnTensorDescriptor_t xDesc,
                                            const void *x, const void *beta,
                                            const cudnnTensorDescriptor_t yDesc, void *y) {
    if (handle == NULL || activationDesc == NULL || alpha == NULL || xDesc == NULL || x == NULL ||
        beta == NULL || yDesc == NULL || y == NULL || !wpi_cudnn_same_shape(&xDesc->t, &yDesc->t))
        return CUDNN_STATUS_BAD_PARAM;
    wpi_dnn_pointwise p = {.alpha = 1,
                           .scale = wpi_cudnn_factor(alpha, yDesc->t.type),
                           .old = wpi_cudnn_factor(beta, yDesc->t.type)};
    CUDNN_TRY(prepare_activation(activationDesc, &p));
    CUDNN_TRY(wpi_cudnn_operand(&xDesc->t, x, &yDesc->t, &p.a));
    CUDNN_TRY(wpi_cudnn_operand(&yDesc->t, y, &yDesc->t, &p.y));
    return wpi_cudnn_status(wpi_dnn_pointwise_run(handle->stream, &p));
}

/* From the function's result, as what it was given may have been overwritten by it; swish, which
 * cannot be inverted, from what it was given. */
WP_API cudnnStatus_t cudnnActivationBackward(cudnnHandle_t handle,
                                             cudnnActivationDescriptor_t activationDesc,
                                             const void *alpha, const cudnnTensorDescriptor_t yDesc,
                                             const void *y, const cudnnTensorDescriptor_t dyDesc,
                                             const void *dy, const cudnnTensorDescriptor_t xDesc,
                                             const void *x, const void *beta,
                                             const cudnnTensorDescriptor_t dxDesc, void *dx) {
    if (handle == NULL || activationDesc == NULL || alpha == NULL || yDesc == NULL || y == NULL ||
        dyDesc == NULL || dy == NULL || xDesc == NULL || x == NULL || beta == NULL ||
        dxDesc == NULL || dx == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    wpi_dnn_pointwise p = {.alpha = 1,
                           .beta = 1,
                           .scale = wpi_cudnn_factor(alpha, dxDesc->t.type),
                           .old = wpi_cudnn_factor(beta, dxDesc->t.type)};
    CUDNN_TRY(prepare_activation(activationDesc, &p));
    if (p.mode != CUDNN_POINTWISE_IDENTITY)
        p.mode += CUDNN_POINTWISE_RELU_BWD - CUDNN_POINTWISE_RELU_FWD;
    p.is_of_result = p.mode != CUDNN_POINTWISE_SWISH_BWD;
    p.upper = wpi_cudnn_round(p.upper, yDesc->t.type); /* as a result that was clipped has it */
    CUDNN_TRY(wpi_cudnn_operand(&dxDesc->t, dx, &dxDesc->t, &p.y));
    CUDNN_TRY(wpi_cudnn_operand(&dyDesc->t, dy, &dxDesc->t, &p.a));
    if (p.mode != CUDNN_POINTWISE_IDENTITY) {
        CUDNN_TRY(p.is_of_result ? wpi_cudnn_operand(&yDesc->t, y, &dxDesc->t, &p.b)
                                 : wpi_cudnn_operand(&xDesc->t, x, &dxDesc->t, &p.b));
    }
    return wpi_cudnn_status(wpi_dnn_pointwise_run(handle->stream, &p));
}

/* ---- pooling ---- */

CUDNN_DESCRIPTOR(Pooling)

WP_API cudnnStatus_t cudnnSetPoolingNdDescriptor(cudnnPoolingDescriptor_t poolingDesc,
                                                 const cudnnPoolingMode_t mode,
                                                 const cudnnNanPropagation_t maxpoolingNanOpt,
                                                 int nbDims, const int windowDimA[],
                                                 const int paddingA[], const int strideA[]) {
    (void)maxpoolingNanOpt;
    if (poolingDesc == NULL || (unsigned)mode > CUDNN_POOLING_MAX_DETERMINISTIC || nbDims < 1 ||
        nbDims > WPI_DNN_SPACE || windowDimA == NULL || paddingA == NULL || strideA == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    for (int d = 0; d < nbDims; d++) {
        if (windowDimA[d] < 1 || paddingA[d] < 0 || strideA[d] < 1) return CUDNN_STATUS_BAD_PARAM;
        poolingDesc->window[d] = windowDimA[d];
        poolingDesc->pad[d] = paddingA[d];
        poolingDesc->step[d] = strideA[d];
    }
    poolingDesc->mode = mode;
    poolingDesc->space = nbDims;
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnSetPooling2dDescriptor(cudnnPoolingDescriptor_t poolingDesc,
                                                 cudnnPoolingMode_t mode,
                                                 cudnnNanPropagation_t maxpoolingNanOpt,
                                                 int windowHeight, int windowWidth,
                                                 int verticalPadding, int horizontalPadding,
                                                 int verticalStride, int horizontalStride) {
    return cudnnSetPoolingNdDescriptor(
        poolingDesc, mode, maxpoolingNanOpt, 2, (int[]){windowHeight, windowWidth},
        (int[]){verticalPadding, horizontalPadding}, (int[]){verticalStride, horizontalStride});
}

WP_API cudnnStatus_t cudnnGetPoolingNdForwardOutputDim(
    const cudnnPoolingDescriptor_t poolingDesc, const cudnnTensorDescriptor_t inputTensorDesc,
    int nbDims, int outputTensorDimA[]) {
    if (poolingDesc == NULL || inputTensorDesc == NULL || outputTensorDimA == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    const wpi_dnn_tensor *x = &inputTensorDesc->t;
    if (x->dims != poolingDesc->space + 2 || nbDims < x->dims) return CUDNN_STATUS_BAD_PARAM;
    outputTensorDimA[0] = x->size[0];
    outputTensorDimA[1] = x->size[1];
    for (int d = 0; d < poolingDesc->space; d++) {
        const int pad = poolingDesc->pad[d];
        outputTensorDimA[2 + d] = wpi_cudnn_places(x->size[2 + d], pad, pad, poolingDesc->window[d],
                                                   1, poolingDesc->step[d]);
        if (outputTensorDimA[2 + d] == 0) return CUDNN_STATUS_BAD_PARAM;
    }
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnGetPooling2dForwardOutputDim(
    const cudnnPoolingDescriptor_t poolingDesc, const cudnnTensorDescriptor_t inputTensorDesc,
    int *n, int *c, int *h, int *w) {
    int sizes[4];
    if (poolingDesc == NULL || poolingDesc->space != 2 || n == NULL || c == NULL || h == NULL ||
        w == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    CUDNN_TRY(cudnnGetPoolingNdForwardOutputDim(poolingDesc, inputTensorDesc, 4, sizes));
    *n = sizes[0], *c = sizes[1], *h = sizes[2], *w = sizes[3];
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t prepare_pooling(wpi_dnn_pooling *p, const struct cudnnPoolingStruct *d,
                                     const wpi_dnn_tensor *x, const wpi_dnn_tensor *y) {
    if (x->dims != d->space + 2 || y->dims != x->dims || x->size[0] != y->size[0] ||
        x->size[1] != y->size[1])
        return CUDNN_STATUS_BAD_PARAM;
    p->mode = (int)d->mode;
    for (int i = 0; i < WPI_DNN_SPACE; i++) {
        const int from = i - (WPI_DNN_SPACE - d->space);
        p->window[i] = from >= 0 ? d->window[from] : 1;
        p->pad[i] = from >= 0 ? d->pad[from] : 0;
        p->step[i] = from >= 0 ? d->step[from] : 1;
    }
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnPoolingForward(cudnnHandle_t handle,
                                         const cudnnPoolingDescriptor_t poolingDesc,
                                         const void *alpha, const cudnnTensorDescriptor_t xDesc,
                                         const void *x, const void *beta,
                                         const cudnnTensorDescriptor_t yDesc, void *y) {
    if (handle == NULL || poolingDesc == NULL || alpha == NULL || xDesc == NULL || x == NULL ||
        beta == NULL || yDesc == NULL || y == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    wpi_dnn_pooling p = {.alpha = wpi_cudnn_factor(alpha, yDesc->t.type),
                         .beta = wpi_cudnn_factor(beta, yDesc->t.type)};
    CUDNN_TRY(prepare_pooling(&p, poolingDesc, &xDesc->t, &yDesc->t));
    CUDNN_TRY(wpi_cudnn_in_space(&xDesc->t, x, &p.x));
    CUDNN_TRY(wpi_cudnn_in_space(&yDesc->t, y, &p.y));
    return wpi_cudnn_status(wpi_dnn_pool(handle->stream, &p, false));
}

WP_API cudnnStatus_t cudnnPoolingBackward(cudnnHandle_t handle,
                                          const cudnnPoolingDescriptor_t poolingDesc,
                                          const void *alpha, const cudnnTensorDescriptor_t yDesc,
                                          const void *y, const cudnnTensorDescriptor_t dyDesc,
                                          const void *dy, const cudnnTensorDescriptor_t xDesc,
                                          const void *x, const void *beta,
                                          const cudnnTensorDescriptor_t dxDesc, void *dx) {
    (void)yDesc, (void)y;
    if (handle == NULL || poolingDesc == NULL || alpha == NULL || dyDesc == NULL || dy == NULL ||
        xDesc == NULL || beta == NULL || dxDesc == NULL || dx == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    wpi_dnn_pooling p = {.alpha = wpi_cudnn_factor(alpha, dxDesc->t.type),
                         .beta = wpi_cudnn_factor(beta, dxDesc->t.type)};
    if (!wpi_cudnn_same_shape(&xDesc->t, &dxDesc->t)) return CUDNN_STATUS_BAD_PARAM;
    CUDNN_TRY(prepare_pooling(&p, poolingDesc, &dxDesc->t, &dyDesc->t));
    CUDNN_TRY(wpi_cudnn_in_space(&xDesc->t, x, &p.x)); /* of averages, x may be NULL */
    CUDNN_TRY(wpi_cudnn_in_space(&dyDesc->t, dy, &p.dy));
    CUDNN_TRY(wpi_cudnn_in_space(&dxDesc->t, dx, &p.dx));
    const bool is_max = p.mode == CUDNN_POOLING_MAX || p.mode == CUDNN_POOLING_MAX_DETERMINISTIC;
    if (is_max && x == NULL) return CUDNN_STATUS_BAD_PARAM;
    return wpi_cudnn_status(wpi_dnn_pool(handle->stream, &p, true));
}

/* ---- softmax ---- */

WP_API cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo,
                                         cudnnSoftmaxMode_t mode, const void *alpha,
                                         const cudnnTensorDescriptor_t xDesc, const void *x,
                                         const void *beta, const cudnnTensorDescriptor_t yDesc,
                                         void *y) {
    if (handle == NULL || alpha == NULL || xDesc == NULL || x == NULL || beta == NULL ||
        yDesc == NULL || y == NULL || !wpi_cudnn_same_shape(&xDesc->t, &yDesc->t))
        return CUDNN_STATUS_BAD_PARAM;
    wpi_dnn_softmax p = {.x = xDesc->t,
                         .y = yDesc->t,
                         .is_log = algo == CUDNN_SOFTMAX_LOG,
                         .alpha = wpi_cudnn_factor(alpha, yDesc->t.type),
                         .beta = wpi_cudnn_factor(beta, yDesc->t.type)};
    p.x.data = (void *)(uintptr_t)x;
    p.y.data = y;
    return wpi_cudnn_status(
        wpi_dnn_softmax_run(handle->stream, &p, mode == CUDNN_SOFTMAX_MODE_CHANNEL));
}

WP_API cudnnStatus_t cudnnSoftmaxBackward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo,
                                          cudnnSoftmaxMode_t mode, const void *alpha,
                                          const cudnnTensorDescriptor_t yDesc, const void *y,
                                          const cudnnTensorDescriptor_t dyDesc, const void *dy,
                                          const void *beta, const cudnnTensorDescriptor_t dxDesc,
                                          void *dx) {
    if (handle == NULL || alpha == NULL || yDesc == NULL || y == NULL || dyDesc == NULL ||
        dy == NULL || beta == NULL || dxDesc == NULL || dx == NULL ||
        !wpi_cudnn_same_shape(&yDesc->t, &dxDesc->t) ||
        !wpi_cudnn_same_shape(&yDesc->t, &dyDesc->t))
        return CUDNN_STATUS_BAD_PARAM;
    wpi_dnn_softmax p = {.x = dxDesc->t,
                         .y = yDesc->t,
                         .dy = dyDesc->t,
                         .is_log = algo == CUDNN_SOFTMAX_LOG,
                         .alpha = wpi_cudnn_factor(alpha, dxDesc->t.type),
                         .beta = wpi_cudnn_factor(beta, dxDesc->t.type)};
    p.x.data = dx;
    p.y.data = (void *)(uintptr_t)y;
    p.dy.data = (void *)(uintptr_t)dy;
    return wpi_cudnn_status(
        wpi_dnn_softmax_run(handle->stream, &p, mode == CUDNN_SOFTMAX_MODE_CHANNEL));
}

/* ---- batch normalisation ---- */

WP_API cudnnStatus_t cudnnDeriveBNTensorDescriptor(cudnnTensorDescriptor_t derivedBnDesc,
                                                   const cudnnTensorDescriptor_t xDesc,
                                                   cudnnBatchNormMode_t mode) {
    int sizes[CUDNN_DIM_MAX];
    if (derivedBnDesc == NULL || xDesc == NULL) return CUDNN_STATUS_BAD_PARAM;
    const wpi_dnn_tensor *x = &xDesc->t;
    for (int d = 0; d < x->dims; d++)
        sizes[d] = d == 1 || (d > 1 && mode == CUDNN_BATCHNORM_PER_ACTIVATION) ? x->size[d] : 1;
    const int type = x->type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    return wpi_cudnn_shape(&derivedBnDesc->t, CUDNN_TENSOR_NCHW, type, x->dims, sizes, NULL);
}

/* Tensors and parameters, which must be of the type of the sums. */
static cudnnStatus_t prepare_norm(wpi_dnn_norm *p, const cudnnTensorDescriptor_t xDesc,
                                  const void *x, const cudnnTensorDescriptor_t yDesc, void *y,
                                  const cudnnTensorDescriptor_t parameterDesc, const void *factor) {
    if (xDesc == NULL || x == NULL || yDesc == NULL || y == NULL || parameterDesc == NULL ||
        factor == NULL || !wpi_cudnn_same_shape(&xDesc->t, &yDesc->t))
        return CUDNN_STATUS_BAD_PARAM;
    const int type = xDesc->t.type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    if (parameterDesc->t.type != type) return CUDNN_STATUS_NOT_SUPPORTED;
    CUDNN_TRY(wpi_cudnn_operand(&xDesc->t, x, &xDesc->t, &p->x));
    CUDNN_TRY(wpi_cudnn_operand(&yDesc->t, y, &xDesc->t, &p->y));
    return wpi_cudnn_operand(&parameterDesc->t, factor, &xDesc->t, &p->parameter);
}

WP_API cudnnStatus_t cudnnBatchNormalizationForwardInference(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void *alpha, const void *beta,
    const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t yDesc,
    void *y, const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void *bnScale,
    const void *bnBias, const void *estimatedMean, const void *estimatedVariance, double epsilon) {
    (void)mode; /* the parameters' shape says it */
    if (handle == NULL || alpha == NULL || beta == NULL || bnBias == NULL ||
        estimatedMean == NULL || estimatedVariance == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    wpi_dnn_norm p = {.bias = bnBias,
                      .mean = (void *)(uintptr_t)estimatedMean,
                      .variance = (void *)(uintptr_t)estimatedVariance,
                      .epsilon = epsilon};
    CUDNN_TRY(prepare_norm(&p, xDesc, x, yDesc, y, bnScaleBiasMeanVarDesc, bnScale));
    p.alpha = wpi_cudnn_factor(alpha, xDesc->t.type);
    p.beta = wpi_cudnn_factor(beta, xDesc->t.type);
    return wpi_cudnn_status(wpi_dnn_normalise(handle->stream, &p, false));
}

WP_API cudnnStatus_t cudnnBatchNormalizationForwardTraining(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void *alpha, const void *beta,
    const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t yDesc,
    void *y, const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void *bnScale,
    const void *bnBias, double exponentialAverageFactor, void *resultRunningMean,
    void *resultRunningVariance, double epsilon, void *resultSaveMean,
    void *resultSaveInvVariance) {
    (void)mode;
    if (handle == NULL || alpha == NULL || beta == NULL || bnBias == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    wpi_dnn_norm p = {.bias = bnBias,
                      .mean = resultRunningMean,
                      .variance = resultRunningVariance,
                      .kept_mean = resultSaveMean,
                      .kept_inverse = resultSaveInvVariance,
                      .is_training = true,
                      .momentum = exponentialAverageFactor,
                      .epsilon = epsilon};
    CUDNN_TRY(prepare_norm(&p, xDesc, x, yDesc, y, bnScaleBiasMeanVarDesc, bnScale));
    p.alpha = wpi_cudnn_factor(alpha, xDesc->t.type);
    p.beta = wpi_cudnn_factor(beta, xDesc->t.type);
    return wpi_cudnn_status(wpi_dnn_normalise(handle->stream, &p, false));
}

WP_API cudnnStatus_t cudnnBatchNormalizationBackward(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void *alphaDataDiff,
    const void *betaDataDiff, const void *alphaParamDiff, const void *betaParamDiff,
    const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t dyDesc,
    const void *dy, const cudnnTensorDescriptor_t dxDesc, void *dx,
    const cudnnTensorDescriptor_t dBnScaleBiasDesc, const void *bnScale, void *dBnScaleResult,
    void *dBnBiasResult, double epsilon, const void *savedMean, const void *savedInvVariance) {
    (void)mode;
    if (handle == NULL || alphaDataDiff == NULL || betaDataDiff == NULL || alphaParamDiff == NULL ||
        betaParamDiff == NULL || dyDesc == NULL || dy == NULL || dBnScaleResult == NULL ||
        dBnBiasResult == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    wpi_dnn_norm p = {.kept_mean = (void *)(uintptr_t)savedMean,
                      .kept_inverse = (void *)(uintptr_t)savedInvVariance,
                      .factor_change = dBnScaleResult,
                      .bias_change = dBnBiasResult,
                      .epsilon = epsilon};
    CUDNN_TRY(prepare_norm(&p, xDesc, x, dxDesc, dx, dBnScaleBiasDesc, bnScale));
    CUDNN_TRY(wpi_cudnn_operand(&dyDesc->t, dy, &xDesc->t, &p.dy));
    p.alpha = wpi_cudnn_factor(alphaDataDiff, xDesc->t.type);
    p.beta = wpi_cudnn_factor(betaDataDiff, xDesc->t.type);
    p.parameter_alpha = wpi_cudnn_factor(alphaParamDiff, xDesc->t.type);
    p.parameter_beta = wpi_cudnn_factor(betaParamDiff, xDesc->t.type);
    return wpi_cudnn_status(wpi_dnn_normalise(handle->stream, &p, true));
}

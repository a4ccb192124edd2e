/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent networks by descriptors, as of cuDNN 8. */
#include <string.h>

#include "base/alloc.h"
#include "libraries/cuda_library.h"
#include "libraries/cudnn/recurrent/rnn_network.h"

/* ---- descriptors ---- */

CUDNN_DESCRIPTOR(RNN)

size_t wpi_rnn_element_bytes(int type) {
    const wpi_dnn_tensor one = {.type = type, .dims = 1, .size = {1}, .stride = {1}};
    return wpi_cudnn_bytes(&one);
}

static cudnnStatus_t refuse(const char *what) {
    static atomic_bool is_said;
    wpi_library_missing("cudnn", what, "CUDNN_STATUS_NOT_SUPPORTED", &is_said);
    return CUDNN_STATUS_NOT_SUPPORTED;
}

WP_API cudnnStatus_t cudnnSetRNNDescriptor_v8(
    cudnnRNNDescriptor_t rnnDesc, cudnnRNNAlgo_t algo, cudnnRNNMode_t cellMode,
    cudnnRNNBiasMode_t biasMode, cudnnDirectionMode_t dirMode, cudnnRNNInputMode_t inputMode,
    cudnnDataType_t dataType, cudnnDataType_t mathPrec, cudnnMathType_t mathType, int32_t inputSize,
    int32_t hiddenSize, int32_t projSize, int32_t numLayers, cudnnDropoutDescriptor_t dropoutDesc,
    uint32_t auxFlags) {
    static const int gates[] = {1, 1, 4, 3};
    (void)algo, (void)mathPrec, (void)mathType, (void)auxFlags;
    if (rnnDesc == NULL || (unsigned)cellMode > CUDNN_GRU ||
        (unsigned)biasMode > CUDNN_RNN_SINGLE_REC_BIAS || (unsigned)dirMode > CUDNN_BIDIRECTIONAL ||
        (unsigned)inputMode > CUDNN_SKIP_INPUT || inputSize < 1 || hiddenSize < 1 || numLayers < 1)
        return CUDNN_STATUS_BAD_PARAM;
    if (wpi_rnn_element_bytes((int)dataType) == 0) return refuse("a recurrent network of integers");
    if (inputMode == CUDNN_SKIP_INPUT)
        return refuse("a recurrent network without matrices of its input");
    if (projSize != 0 && projSize != hiddenSize)
        return refuse("a recurrent network with a projection");
    *rnnDesc = (struct cudnnRNNStruct){.mode = cellMode,
                                       .bias = biasMode,
                                       .type = (int)dataType,
                                       .input = inputSize,
                                       .hidden = hiddenSize,
                                       .layers = numLayers,
                                       .directions = dirMode == CUDNN_BIDIRECTIONAL ? 2 : 1,
                                       .gates = gates[cellMode],
                                       .dropout = dropoutDesc};
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnBuildRNNDynamic(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
                                          int miniBatch) {
    if (handle == NULL || rnnDesc == NULL || miniBatch < 1) return CUDNN_STATUS_BAD_PARAM;
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t *rnnDataDesc) {
    return wpi_cudnn_create((void **)rnnDataDesc, sizeof **rnnDataDesc);
}

WP_API cudnnStatus_t cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc) {
    if (rnnDataDesc != NULL) wpi_free(rnnDataDesc->lengths);
    wpi_free(rnnDataDesc);
    return CUDNN_STATUS_SUCCESS;
}

static double fill_of(const void *fill, int type) {
    if (fill == NULL) return 0;
    if (type == CUDNN_DATA_DOUBLE) return *(const double *)fill;
    if (type == CUDNN_DATA_FLOAT) return (double)*(const float *)fill;
    uint16_t bits;
    memcpy(&bits, fill, sizeof bits);
    return (double)bits;
}

WP_API cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc,
                                               cudnnDataType_t dataType,
                                               cudnnRNNDataLayout_t layout, int maxSeqLength,
                                               int batchSize, int vectorSize,
                                               const int seqLengthArray[], void *paddingFill) {
    if (rnnDataDesc == NULL || (unsigned)layout > CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED ||
        maxSeqLength < 1 || batchSize < 1 || vectorSize < 1 || seqLengthArray == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    if (wpi_rnn_element_bytes((int)dataType) == 0) return refuse("a recurrent network of integers");
    for (int i = 0; i < batchSize; i++) {
        if (seqLengthArray[i] < 0 || seqLengthArray[i] > maxSeqLength)
            return CUDNN_STATUS_BAD_PARAM;
        if (layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED && i > 0 &&
            seqLengthArray[i] > seqLengthArray[i - 1])
            return CUDNN_STATUS_BAD_PARAM;
    }
    const double fill = fill_of(paddingFill, (int)dataType);
    if (fill != 0 && wpi_rnn_element_bytes((int)dataType) == 2)
        return refuse("a padding other than zero of 16-bit floats");
    int *lengths = wpi_malloc((size_t)batchSize * sizeof *lengths);
    if (lengths == NULL) return CUDNN_STATUS_ALLOC_FAILED;
    memcpy(lengths, seqLengthArray, (size_t)batchSize * sizeof *lengths);
    wpi_free(rnnDataDesc->lengths);
    *rnnDataDesc = (struct cudnnRNNDataStruct){.type = (int)dataType,
                                               .layout = (int)layout,
                                               .steps = maxSeqLength,
                                               .batch = batchSize,
                                               .width = vectorSize,
                                               .lengths = lengths,
                                               .fill = fill};
    return CUDNN_STATUS_SUCCESS;
}

/* ---- weights ---- */

static size_t matrices_of(const struct cudnnRNNStruct *d, int layer) {
    const int in = layer == 0 ? d->input : d->directions * d->hidden;
    return (size_t)(d->gates * d->hidden) * (size_t)(in + d->hidden);
}

size_t wpi_rnn_matrix_at(const struct cudnnRNNStruct *d, int pseudo_layer, bool is_state) {
    size_t at = 0;
    for (int i = 0; i < pseudo_layer; i++)
        at += matrices_of(d, i / d->directions);
    if (is_state)
        at += matrices_of(d, pseudo_layer / d->directions) -
              (size_t)(d->gates * d->hidden) * (size_t)d->hidden;
    return at;
}

static int biases_of(const struct cudnnRNNStruct *d) {
    return d->bias == CUDNN_RNN_NO_BIAS ? 0 : d->bias == CUDNN_RNN_DOUBLE_BIAS ? 2 : 1;
}

long long wpi_rnn_bias_at(const struct cudnnRNNStruct *d, int pseudo_layer, bool is_state) {
    const bool is_there =
        d->bias == CUDNN_RNN_DOUBLE_BIAS ||
        d->bias == (is_state ? CUDNN_RNN_SINGLE_REC_BIAS : CUDNN_RNN_SINGLE_INP_BIAS);
    const int which = d->bias == CUDNN_RNN_DOUBLE_BIAS && is_state ? 1 : 0;
    if (!is_there) return -1;
    return (long long)wpi_rnn_matrix_at(d, d->layers * d->directions, false) +
           (long long)(pseudo_layer * biases_of(d) + which) * d->gates * d->hidden;
}

WP_API cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
                                                size_t *weightSpaceSize) {
    if (handle == NULL || rnnDesc == NULL || weightSpaceSize == NULL || rnnDesc->layers == 0)
        return CUDNN_STATUS_BAD_PARAM;
    const int pseudo_layers = rnnDesc->layers * rnnDesc->directions;
    const size_t count =
        wpi_rnn_matrix_at(rnnDesc, pseudo_layers, false) +
        (size_t)(pseudo_layers * biases_of(rnnDesc)) * (size_t)(rnnDesc->gates * rnnDesc->hidden);
    *weightSpaceSize = count * wpi_rnn_element_bytes(rnnDesc->type);
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
                                             int32_t pseudoLayer, size_t weightSpaceSize,
                                             const void *weightSpace, int32_t linLayerID,
                                             cudnnTensorDescriptor_t mDesc, void **mAddr,
                                             cudnnTensorDescriptor_t bDesc, void **bAddr) {
    size_t needed;
    CUDNN_TRY(cudnnGetRNNWeightSpaceSize(handle, rnnDesc, &needed));
    if (weightSpaceSize < needed || pseudoLayer < 0 ||
        pseudoLayer >= rnnDesc->layers * rnnDesc->directions || linLayerID < 0 ||
        linLayerID >= 2 * rnnDesc->gates || mDesc == NULL || mAddr == NULL || bDesc == NULL ||
        bAddr == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    const bool is_state = linLayerID >= rnnDesc->gates;
    const int gate = linLayerID % rnnDesc->gates, hidden = rnnDesc->hidden,
              in = is_state                            ? hidden
                   : pseudoLayer < rnnDesc->directions ? rnnDesc->input
                                                       : rnnDesc->directions * hidden;
    const size_t bytes = wpi_rnn_element_bytes(rnnDesc->type);
    const size_t matrix =
        wpi_rnn_matrix_at(rnnDesc, pseudoLayer, is_state) + (size_t)(gate * hidden) * (size_t)in;
    const long long bias = wpi_rnn_bias_at(rnnDesc, pseudoLayer, is_state);
    char *const base = (char *)(uintptr_t)weightSpace;
    *mAddr = base != NULL ? base + matrix * bytes : NULL;
    *bAddr = base != NULL && bias >= 0 ? base + (size_t)(bias + gate * hidden) * bytes : NULL;
    CUDNN_TRY(wpi_cudnn_shape(&mDesc->t, CUDNN_TENSOR_NCHW, rnnDesc->type, 3,
                              (int[]){1, hidden, in}, NULL));
    if (bias < 0) {
        bDesc->t = (wpi_dnn_tensor){.type = rnnDesc->type};
        return CUDNN_STATUS_SUCCESS;
    }
    return wpi_cudnn_shape(&bDesc->t, CUDNN_TENSOR_NCHW, rnnDesc->type, 3, (int[]){1, hidden, 1},
                           NULL);
}

/* ---- calls ---- */

static bool fits(const struct cudnnRNNStruct *d, const struct cudnnRNNDataStruct *x, int width) {
    return x != NULL && x->lengths != NULL && x->type == d->type && x->width == width;
}

/* Training keeps in the reserve what inference has in the workspace. */
static cudnnStatus_t sizes(const struct cudnnRNNStruct *d, const struct cudnnRNNDataStruct *x,
                           bool is_training, size_t *work_bytes, size_t *kept_bytes) {
    wpi_rnn_sizes(d, x, work_bytes, kept_bytes);
    if (is_training) return CUDNN_STATUS_SUCCESS;
    *work_bytes += *kept_bytes;
    *kept_bytes = 0;
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
                                               cudnnForwardMode_t fwdMode,
                                               cudnnRNNDataDescriptor_t xDesc,
                                               size_t *workSpaceSize, size_t *reserveSpaceSize) {
    size_t work_bytes, kept_bytes;
    if (handle == NULL || rnnDesc == NULL || rnnDesc->layers == 0 ||
        !fits(rnnDesc, xDesc, rnnDesc->input))
        return CUDNN_STATUS_BAD_PARAM;
    CUDNN_TRY(sizes(rnnDesc, xDesc, fwdMode == CUDNN_FWD_MODE_TRAINING, &work_bytes, &kept_bytes));
    if (workSpaceSize != NULL) *workSpaceSize = work_bytes;
    if (reserveSpaceSize != NULL) *reserveSpaceSize = kept_bytes;
    return CUDNN_STATUS_SUCCESS;
}

/* Checks what all calls have. `weights` are those of `weight_bytes`. */
static cudnnStatus_t prepare(wpi_rnn_call *call, size_t weight_bytes, const void *weights,
                             size_t work_bytes, void *work, size_t kept_bytes, void *kept) {
    size_t needed, work_needed, kept_needed;
    const struct cudnnRNNStruct *d = call->d;
    if (call->handle == NULL || d == NULL || d->layers == 0 || weights == NULL || work == NULL ||
        !fits(d, call->x_shape, d->input) || !fits(d, call->y_shape, d->directions * d->hidden) ||
        call->x_shape->steps != call->y_shape->steps ||
        call->x_shape->batch != call->y_shape->batch)
        return CUDNN_STATUS_BAD_PARAM;
    CUDNN_TRY(
        cudnnGetRNNWeightSpaceSize(call->handle, (cudnnRNNDescriptor_t)(uintptr_t)d, &needed));
    CUDNN_TRY(sizes(d, call->x_shape, call->is_training, &work_needed, &kept_needed));
    if (weight_bytes < needed || work_bytes < work_needed ||
        (call->is_training && (kept == NULL || kept_bytes < kept_needed)))
        return CUDNN_STATUS_BAD_PARAM;
    if (call->is_training && d->dropout != NULL && d->dropout->rate > 0 && d->layers > 1 &&
        d->dropout->states == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    if (!call->is_training) wpi_rnn_sizes(d, call->x_shape, &work_needed, &kept_needed);
    call->work = work;
    call->kept = call->is_training ? kept : (char *)work + work_needed;
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
                                     cudnnForwardMode_t fwdMode, const int32_t devSeqLengths[],
                                     cudnnRNNDataDescriptor_t xDesc, const void *x,
                                     cudnnRNNDataDescriptor_t yDesc, void *y,
                                     cudnnTensorDescriptor_t hDesc, const void *hx, void *hy,
                                     cudnnTensorDescriptor_t cDesc, const void *cx, void *cy,
                                     size_t weightSpaceSize, const void *weightSpace,
                                     size_t workSpaceSize, void *workSpace, size_t reserveSpaceSize,
                                     void *reserveSpace) {
    (void)devSeqLengths, (void)hDesc, (void)cDesc; /* the same as of xDesc; states are packed */
    wpi_rnn_call call = {.handle = handle,
                         .d = rnnDesc,
                         .x_shape = xDesc,
                         .y_shape = yDesc,
                         .x = x,
                         .hx = hx,
                         .cx = cx,
                         .weights = weightSpace,
                         .y = y,
                         .hy = hy,
                         .cy = cy,
                         .is_training = fwdMode == CUDNN_FWD_MODE_TRAINING};
    if (x == NULL || y == NULL) return CUDNN_STATUS_BAD_PARAM;
    CUDNN_TRY(prepare(&call, weightSpaceSize, weightSpace, workSpaceSize, workSpace,
                      reserveSpaceSize, reserveSpace));
    return wpi_rnn_forward(&call);
}

WP_API cudnnStatus_t cudnnRNNBackwardData_v8(
    cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, const int32_t devSeqLengths[],
    cudnnRNNDataDescriptor_t yDesc, const void *y, const void *dy, cudnnRNNDataDescriptor_t xDesc,
    void *dx, cudnnTensorDescriptor_t hDesc, const void *hx, const void *dhy, void *dhx,
    cudnnTensorDescriptor_t cDesc, const void *cx, const void *dcy, void *dcx,
    size_t weightSpaceSize, const void *weightSpace, size_t workSpaceSize, void *workSpace,
    size_t reserveSpaceSize, void *reserveSpace) {
    (void)devSeqLengths, (void)y, (void)hDesc, (void)hx, (void)cDesc, (void)cx;
    wpi_rnn_call call = {.handle = handle,
                         .d = rnnDesc,
                         .x_shape = xDesc,
                         .y_shape = yDesc,
                         .weights = weightSpace,
                         .dy = dy,
                         .dhy = dhy,
                         .dcy = dcy,
                         .dx = dx,
                         .dhx = dhx,
                         .dcx = dcx,
                         .is_training = true};
    if (dy == NULL) return CUDNN_STATUS_BAD_PARAM;
    CUDNN_TRY(prepare(&call, weightSpaceSize, weightSpace, workSpaceSize, workSpace,
                      reserveSpaceSize, reserveSpace));
    return wpi_rnn_backward_data(&call);
}

/* After the gradients of the data, which left those of the gates in the reserve. */
WP_API cudnnStatus_t cudnnRNNBackwardWeights_v8(
    cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, cudnnWgradMode_t addGrad,
    const int32_t devSeqLengths[], cudnnRNNDataDescriptor_t xDesc, const void *x,
    cudnnTensorDescriptor_t hDesc, const void *hx, cudnnRNNDataDescriptor_t yDesc, const void *y,
    size_t weightSpaceSize, void *dweightSpace, size_t workSpaceSize, void *workSpace,
    size_t reserveSpaceSize, void *reserveSpace) {
    (void)devSeqLengths, (void)x, (void)hDesc, (void)hx, (void)y;
    wpi_rnn_call call = {.handle = handle,
                         .d = rnnDesc,
                         .x_shape = xDesc,
                         .y_shape = yDesc,
                         .dweights = dweightSpace,
                         .is_training = true,
                         .is_added = addGrad == CUDNN_WGRAD_MODE_ADD};
    CUDNN_TRY(prepare(&call, weightSpaceSize, dweightSpace, workSpaceSize, workSpace,
                      reserveSpaceSize, reserveSpace));
    return wpi_rnn_backward_weights(&call);
}

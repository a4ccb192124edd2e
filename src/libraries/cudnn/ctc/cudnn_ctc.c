/* SPDX-License-Identifier: Apache-2.0 */
/* CTC loss of float tensors: steps, samples, letters. */
#include "base/alloc.h"
#include "libraries/cudnn/ctc/ctc_shared.h"
#include "libraries/cudnn/cudnn_handle.h"

#define LABELS_MAX 256 /* of a sample, as in cuDNN */

struct cudnnCTCLossStruct {
    cudnnDataType_t type;
    cudnnLossNormalizationMode_t normalization;
    cudnnCTCGradMode_t gradients;
    int labels_max;
};

/* ---- descriptors ---- */

CUDNN_DESCRIPTOR(CTCLoss)

WP_API cudnnStatus_t cudnnSetCTCLossDescriptor_v9(cudnnCTCLossDescriptor_t ctcLossDesc,
                                                  cudnnDataType_t compType,
                                                  cudnnLossNormalizationMode_t normMode,
                                                  cudnnCTCGradMode_t ctcGradMode,
                                                  int maxLabelLength) {
    if (ctcLossDesc == NULL || compType != CUDNN_DATA_FLOAT ||
        (unsigned)normMode > CUDNN_LOSS_NORMALIZATION_SOFTMAX ||
        (unsigned)ctcGradMode > CUDNN_CTC_SKIP_OOB_GRADIENTS || maxLabelLength < 0 ||
        maxLabelLength > LABELS_MAX)
        return CUDNN_STATUS_BAD_PARAM;
    *ctcLossDesc = (struct cudnnCTCLossStruct){.type = compType,
                                               .normalization = normMode,
                                               .gradients = ctcGradMode,
                                               .labels_max = maxLabelLength};
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnSetCTCLossDescriptor_v8(cudnnCTCLossDescriptor_t ctcLossDesc,
                                                  cudnnDataType_t compType,
                                                  cudnnLossNormalizationMode_t normMode,
                                                  cudnnNanPropagation_t gradMode,
                                                  int maxLabelLength) {
    return cudnnSetCTCLossDescriptor_v9(ctcLossDesc, compType, normMode,
                                        gradMode == CUDNN_PROPAGATE_NAN
                                            ? CUDNN_CTC_SKIP_OOB_GRADIENTS
                                            : CUDNN_CTC_ZERO_OOB_GRADIENTS,
                                        maxLabelLength);
}

WP_API cudnnStatus_t cudnnSetCTCLossDescriptorEx(cudnnCTCLossDescriptor_t ctcLossDesc,
                                                 cudnnDataType_t compType,
                                                 cudnnLossNormalizationMode_t normMode,
                                                 cudnnNanPropagation_t gradMode) {
    return cudnnSetCTCLossDescriptor_v8(ctcLossDesc, compType, normMode, gradMode, LABELS_MAX);
}

WP_API cudnnStatus_t cudnnSetCTCLossDescriptor(cudnnCTCLossDescriptor_t ctcLossDesc,
                                               cudnnDataType_t compType) {
    return cudnnSetCTCLossDescriptorEx(ctcLossDesc, compType, CUDNN_LOSS_NORMALIZATION_NONE,
                                       CUDNN_NOT_PROPAGATE_NAN);
}

WP_API cudnnStatus_t cudnnGetCTCLossDescriptor_v9(cudnnCTCLossDescriptor_t ctcLossDesc,
                                                  cudnnDataType_t *compType,
                                                  cudnnLossNormalizationMode_t *normMode,
                                                  cudnnCTCGradMode_t *ctcGradMode,
                                                  int *maxLabelLength) {
    if (ctcLossDesc == NULL) return CUDNN_STATUS_BAD_PARAM;
    if (compType != NULL) *compType = ctcLossDesc->type;
    if (normMode != NULL) *normMode = ctcLossDesc->normalization;
    if (ctcGradMode != NULL) *ctcGradMode = ctcLossDesc->gradients;
    if (maxLabelLength != NULL) *maxLabelLength = ctcLossDesc->labels_max;
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnGetCTCLossDescriptor_v8(cudnnCTCLossDescriptor_t ctcLossDesc,
                                                  cudnnDataType_t *compType,
                                                  cudnnLossNormalizationMode_t *normMode,
                                                  cudnnNanPropagation_t *gradMode,
                                                  int *maxLabelLength) {
    CUDNN_TRY(cudnnGetCTCLossDescriptor_v9(ctcLossDesc, compType, normMode, NULL, maxLabelLength));
    if (gradMode != NULL)
        *gradMode = ctcLossDesc->gradients == CUDNN_CTC_SKIP_OOB_GRADIENTS
                        ? CUDNN_PROPAGATE_NAN
                        : CUDNN_NOT_PROPAGATE_NAN;
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnGetCTCLossDescriptorEx(cudnnCTCLossDescriptor_t ctcLossDesc,
                                                 cudnnDataType_t *compType,
                                                 cudnnLossNormalizationMode_t *normMode,
                                                 cudnnNanPropagation_t *gradMode) {
    return cudnnGetCTCLossDescriptor_v8(ctcLossDesc, compType, normMode, gradMode, NULL);
}

WP_API cudnnStatus_t cudnnGetCTCLossDescriptor(cudnnCTCLossDescriptor_t ctcLossDesc,
                                               cudnnDataType_t *compType) {
    return cudnnGetCTCLossDescriptorEx(ctcLossDesc, compType, NULL, NULL);
}

/* ---- sizes ---- */

static cudnnStatus_t check(cudnnHandle_t handle, cudnnCTCLossAlgo_t algo,
                           cudnnCTCLossDescriptor_t loss, cudnnTensorDescriptor_t probs,
                           cudnnTensorDescriptor_t gradients) {
    if (handle == NULL || loss == NULL || probs == NULL || probs->t.dims != 3 ||
        (unsigned)algo > CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC)
        return CUDNN_STATUS_BAD_PARAM;
    if (gradients != NULL && !wpi_cudnn_same_shape(&probs->t, &gradients->t))
        return CUDNN_STATUS_BAD_PARAM;
    if (probs->t.type != CUDNN_DATA_FLOAT ||
        (gradients != NULL && gradients->t.type != CUDNN_DATA_FLOAT))
        return CUDNN_STATUS_NOT_SUPPORTED;
    return CUDNN_STATUS_SUCCESS;
}

static size_t work_bytes(const wpi_dnn_tensor *probs, int labels_max) {
    return (size_t)probs->size[1] * (size_t)WPI_CTC_WORK(probs->size[0], 2 * labels_max + 1) *
           sizeof(double);
}

/* Of labels in host memory: their number and the largest length. */
static cudnnStatus_t count_labels(const wpi_dnn_tensor *probs, const int *labels,
                                  const int *label_lengths, const int *input_lengths, int *count,
                                  int *labels_max) {
    *count = *labels_max = 0;
    if (labels == NULL || label_lengths == NULL || input_lengths == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    for (int n = 0; n < probs->size[1]; n++) {
        const int length = label_lengths[n];
        if (length < 0 || length > LABELS_MAX || input_lengths[n] < 0 ||
            input_lengths[n] > probs->size[0])
            return CUDNN_STATUS_BAD_PARAM;
        for (int i = 0; i < length; i++)
            if (labels[*count + i] < 1 || labels[*count + i] >= probs->size[2])
                return CUDNN_STATUS_BAD_PARAM;
        *count += length;
        if (length > *labels_max) *labels_max = length;
    }
    return CUDNN_STATUS_SUCCESS;
}

static size_t label_bytes(int count, int samples) {
    return (size_t)(count + 2 * samples) * sizeof(int);
}

WP_API cudnnStatus_t cudnnGetCTCLossWorkspaceSize(cudnnHandle_t handle,
                                                  const cudnnTensorDescriptor_t probsDesc,
                                                  const cudnnTensorDescriptor_t gradientsDesc,
                                                  const int *labels, const int *labelLengths,
                                                  const int *inputLengths, cudnnCTCLossAlgo_t algo,
                                                  cudnnCTCLossDescriptor_t ctcLossDesc,
                                                  size_t *sizeInBytes) {
    int count, labels_max;
    CUDNN_TRY(check(handle, algo, ctcLossDesc, probsDesc, gradientsDesc));
    if (sizeInBytes == NULL) return CUDNN_STATUS_BAD_PARAM;
    CUDNN_TRY(count_labels(&probsDesc->t, labels, labelLengths, inputLengths, &count, &labels_max));
    *sizeInBytes = work_bytes(&probsDesc->t, labels_max) + label_bytes(count, probsDesc->t.size[1]);
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnGetCTCLossWorkspaceSize_v8(cudnnHandle_t handle, cudnnCTCLossAlgo_t algo,
                                                     cudnnCTCLossDescriptor_t ctcLossDesc,
                                                     const cudnnTensorDescriptor_t probsDesc,
                                                     const cudnnTensorDescriptor_t gradientsDesc,
                                                     size_t *sizeInBytes) {
    CUDNN_TRY(check(handle, algo, ctcLossDesc, probsDesc, gradientsDesc));
    if (sizeInBytes == NULL) return CUDNN_STATUS_BAD_PARAM;
    *sizeInBytes = work_bytes(&probsDesc->t, ctcLossDesc->labels_max);
    return CUDNN_STATUS_SUCCESS;
}

/* ---- the loss ---- */

static wpi_ctc describe(cudnnCTCLossDescriptor_t loss, cudnnTensorDescriptor_t probs,
                        const void *probs_data, void *costs, cudnnTensorDescriptor_t gradients,
                        void *gradients_data, void *work, int labels_max) {
    wpi_ctc c = {.steps = probs->t.size[0],
                 .samples = probs->t.size[1],
                 .letters = probs->t.size[2],
                 .activations = probs_data,
                 .costs = costs,
                 .gradients = gradients != NULL ? gradients_data : NULL,
                 .states_max = 2 * labels_max + 1,
                 .is_softmax = loss->normalization == CUDNN_LOSS_NORMALIZATION_SOFTMAX,
                 .keeps_gradients = loss->gradients == CUDNN_CTC_SKIP_OOB_GRADIENTS,
                 .work = work};
    for (int d = 0; d < 3; d++) {
        c.stride[d] = probs->t.stride[d];
        c.gradient_stride[d] = gradients != NULL ? gradients->t.stride[d] : 0;
    }
    return c;
}

WP_API cudnnStatus_t cudnnCTCLoss_v8(cudnnHandle_t handle, cudnnCTCLossAlgo_t algo,
                                     cudnnCTCLossDescriptor_t ctcLossDesc,
                                     const cudnnTensorDescriptor_t probsDesc, const void *probs,
                                     const int labels[], const int labelLengths[],
                                     const int inputLengths[], void *costs,
                                     const cudnnTensorDescriptor_t gradientsDesc, void *gradients,
                                     size_t workSpaceSizeInBytes, void *workspace) {
    CUDNN_TRY(check(handle, algo, ctcLossDesc, probsDesc, gradientsDesc));
    if (probs == NULL || labels == NULL || labelLengths == NULL || inputLengths == NULL ||
        costs == NULL || workspace == NULL ||
        workSpaceSizeInBytes < work_bytes(&probsDesc->t, ctcLossDesc->labels_max))
        return CUDNN_STATUS_BAD_PARAM;
    wpi_ctc c = describe(ctcLossDesc, probsDesc, probs, costs, gradientsDesc, gradients, workspace,
                         ctcLossDesc->labels_max);
    c.labels = labels;
    c.label_lengths = labelLengths;
    c.input_lengths = inputLengths;
    return wpi_cudnn_status(wpi_ctc_run(handle->stream, &c));
}

static cudnnStatus_t copy_in(cudnnHandle_t handle, int *to, const int *from, int count) {
    return wpi_cudnn_status(cudaMemcpyAsync(to, from, (size_t)count * sizeof *to,
                                            cudaMemcpyHostToDevice, handle->stream));
}

/* The labels go behind the rest of the work memory. */
WP_API cudnnStatus_t cudnnCTCLoss(cudnnHandle_t handle, const cudnnTensorDescriptor_t probsDesc,
                                  const void *probs, const int hostLabels[],
                                  const int hostLabelLengths[], const int hostInputLengths[],
                                  void *costs, const cudnnTensorDescriptor_t gradientsDesc,
                                  void *gradients, cudnnCTCLossAlgo_t algo,
                                  cudnnCTCLossDescriptor_t ctcLossDesc, void *workspace,
                                  size_t workSpaceSizeInBytes) {
    int count, labels_max;
    CUDNN_TRY(check(handle, algo, ctcLossDesc, probsDesc, gradientsDesc));
    CUDNN_TRY(count_labels(&probsDesc->t, hostLabels, hostLabelLengths, hostInputLengths, &count,
                           &labels_max));
    const int samples = probsDesc->t.size[1];
    const size_t bytes = work_bytes(&probsDesc->t, labels_max);
    if (probs == NULL || costs == NULL || workspace == NULL ||
        workSpaceSizeInBytes < bytes + label_bytes(count, samples))
        return CUDNN_STATUS_BAD_PARAM;
    int *lengths = (int *)(void *)((char *)workspace + bytes);
    int *steps = lengths + samples, *labels = steps + samples;
    CUDNN_TRY(copy_in(handle, lengths, hostLabelLengths, samples));
    CUDNN_TRY(copy_in(handle, steps, hostInputLengths, samples));
    if (count != 0) CUDNN_TRY(copy_in(handle, labels, hostLabels, count));
    wpi_ctc c = describe(ctcLossDesc, probsDesc, probs, costs, gradientsDesc, gradients, workspace,
                         labels_max);
    c.labels = labels;
    c.label_lengths = lengths;
    c.input_lengths = steps;
    return wpi_cudnn_status(wpi_ctc_run(handle->stream, &c));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of tensors and filters, and operations on tensors. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "libraries/cuda_library.h"
#include "libraries/cudnn/cudnn_handle.h"

struct cudnnOpTensorStruct {
    cudnnOpTensorOp_t op;
};

struct cudnnReduceTensorStruct {
    cudnnReduceTensorOp_t op;
};

/* ---- shapes ---- */

/* Of an element; 0: a type that no operation takes. */
static size_t type_bytes(int type) {
    switch (type) {
    case CUDNN_DATA_FLOAT: return 4;
    case CUDNN_DATA_DOUBLE: return 8;
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16: return 2;
    default: return 0;
    }
}

static void pack(wpi_dnn_tensor *t, cudnnTensorFormat_t format) {
    const bool is_channels_last = format == CUDNN_TENSOR_NHWC && t->dims > 1;
    long long stride = is_channels_last ? t->size[1] : 1;
    for (int d = t->dims - 1; d >= 0; d--) {
        t->stride[d] = is_channels_last && d == 1 ? 1 : stride;
        if (!is_channels_last || d != 1) stride *= t->size[d];
    }
}

cudnnStatus_t wpi_cudnn_shape(wpi_dnn_tensor *t, cudnnTensorFormat_t format, int type, int dims,
                              const int *sizes, const int *strides) {
    static atomic_bool is_said;
    if (t == NULL || sizes == NULL || dims < 1 || dims > CUDNN_DIM_MAX)
        return CUDNN_STATUS_BAD_PARAM;
    if (type_bytes(type) == 0 || format == CUDNN_TENSOR_NCHW_VECT_C) {
        wpi_library_missing("cudnn", "a tensor of integers, or of channels in vectors",
                            "CUDNN_STATUS_NOT_SUPPORTED", &is_said);
        return CUDNN_STATUS_NOT_SUPPORTED;
    }
    wpi_dnn_tensor set = {.type = type, .dims = dims};
    long long count = 1;
    for (int d = 0; d < dims; d++) {
        if (sizes[d] < 1 || (strides != NULL && strides[d] < 0)) return CUDNN_STATUS_BAD_PARAM;
        set.size[d] = sizes[d];
        set.stride[d] = strides != NULL ? strides[d] : 0;
        if (count > INT_MAX / sizes[d]) return CUDNN_STATUS_NOT_SUPPORTED;
        count *= sizes[d];
    }
    if (strides == NULL) pack(&set, format);
    *t = set;
    return CUDNN_STATUS_SUCCESS;
}

size_t wpi_cudnn_bytes(const wpi_dnn_tensor *t) {
    long long last = 0;
    for (int d = 0; d < t->dims; d++)
        last += (t->size[d] - 1) * t->stride[d];
    return t->dims == 0 ? 0 : (size_t)(last + 1) * type_bytes(t->type);
}

double wpi_cudnn_factor(const void *factor, int type) {
    return type == CUDNN_DATA_DOUBLE ? *(const double *)factor : *(const float *)factor;
}

bool wpi_cudnn_same_shape(const wpi_dnn_tensor *a, const wpi_dnn_tensor *b) {
    return a->dims == b->dims && memcmp(a->size, b->size, (size_t)a->dims * sizeof a->size[0]) == 0;
}

cudnnStatus_t wpi_cudnn_in_space(const wpi_dnn_tensor *t, const void *data, wpi_dnn_tensor *out) {
    if (t->dims < 3 || t->dims > 2 + WPI_DNN_SPACE) return CUDNN_STATUS_BAD_PARAM;
    const int missing = 2 + WPI_DNN_SPACE - t->dims;
    *out = (wpi_dnn_tensor){
        .data = (void *)(uintptr_t)data, .type = t->type, .dims = 2 + WPI_DNN_SPACE};
    for (int d = 0; d < out->dims; d++) {
        const int from = d < 2 ? d : d - missing;
        const bool is_there = d < 2 || from >= 2;
        out->size[d] = is_there ? t->size[from] : 1;
        out->stride[d] = is_there ? t->stride[from] : 0;
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t wpi_cudnn_operand(const wpi_dnn_tensor *t, const void *data,
                                const wpi_dnn_tensor *like, wpi_dnn_tensor *out) {
    if (t->dims != like->dims) return CUDNN_STATUS_BAD_PARAM;
    *out = *t;
    out->data = (void *)(uintptr_t)data;
    for (int d = 0; d < t->dims; d++) {
        if (t->size[d] != like->size[d] && t->size[d] != 1) return CUDNN_STATUS_BAD_PARAM;
        if (t->size[d] == 1) out->stride[d] = 0;
    }
    return CUDNN_STATUS_SUCCESS;
}

/* ---- tensors ---- */

CUDNN_DESCRIPTOR(Tensor)

WP_API cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensorDesc,
                                                cudnnTensorFormat_t format,
                                                cudnnDataType_t dataType, int n, int c, int h,
                                                int w) {
    if (tensorDesc == NULL) return CUDNN_STATUS_BAD_PARAM;
    return wpi_cudnn_shape(&tensorDesc->t, format, dataType, 4, (int[]){n, c, h, w}, NULL);
}

WP_API cudnnStatus_t cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t tensorDesc,
                                                  cudnnDataType_t dataType, int n, int c, int h,
                                                  int w, int nStride, int cStride, int hStride,
                                                  int wStride) {
    if (tensorDesc == NULL) return CUDNN_STATUS_BAD_PARAM;
    return wpi_cudnn_shape(&tensorDesc->t, CUDNN_TENSOR_NCHW, dataType, 4, (int[]){n, c, h, w},
                           (int[]){nStride, cStride, hStride, wStride});
}

WP_API cudnnStatus_t cudnnGetTensor4dDescriptor(const cudnnTensorDescriptor_t tensorDesc,
                                                cudnnDataType_t *dataType, int *n, int *c, int *h,
                                                int *w, int *nStride, int *cStride, int *hStride,
                                                int *wStride) {
    if (tensorDesc == NULL || tensorDesc->t.dims != 4) return CUDNN_STATUS_BAD_PARAM;
    const wpi_dnn_tensor *t = &tensorDesc->t;
    int *const sizes[] = {n, c, h, w}, *const strides[] = {nStride, cStride, hStride, wStride};
    if (dataType != NULL) *dataType = (cudnnDataType_t)t->type;
    for (int d = 0; d < 4; d++) {
        if (sizes[d] != NULL) *sizes[d] = t->size[d];
        if (strides[d] != NULL) *strides[d] = (int)t->stride[d];
    }
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensorDesc,
                                                cudnnDataType_t dataType, int nbDims,
                                                const int dimA[], const int strideA[]) {
    if (tensorDesc == NULL || strideA == NULL) return CUDNN_STATUS_BAD_PARAM;
    return wpi_cudnn_shape(&tensorDesc->t, CUDNN_TENSOR_NCHW, dataType, nbDims, dimA, strideA);
}

WP_API cudnnStatus_t cudnnSetTensorNdDescriptorEx(cudnnTensorDescriptor_t tensorDesc,
                                                  cudnnTensorFormat_t format,
                                                  cudnnDataType_t dataType, int nbDims,
                                                  const int dimA[]) {
    if (tensorDesc == NULL) return CUDNN_STATUS_BAD_PARAM;
    return wpi_cudnn_shape(&tensorDesc->t, format, dataType, nbDims, dimA, NULL);
}

WP_API cudnnStatus_t cudnnGetTensorNdDescriptor(const cudnnTensorDescriptor_t tensorDesc,
                                                int nbDimsRequested, cudnnDataType_t *dataType,
                                                int *nbDims, int dimA[], int strideA[]) {
    if (tensorDesc == NULL || nbDimsRequested < 0) return CUDNN_STATUS_BAD_PARAM;
    const wpi_dnn_tensor *t = &tensorDesc->t;
    if (dataType != NULL) *dataType = (cudnnDataType_t)t->type;
    if (nbDims != NULL) *nbDims = t->dims;
    for (int d = 0; d < t->dims && d < nbDimsRequested; d++) {
        if (dimA != NULL) dimA[d] = t->size[d];
        if (strideA != NULL) strideA[d] = (int)t->stride[d];
    }
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnGetTensorSizeInBytes(const cudnnTensorDescriptor_t tensorDesc,
                                               size_t *size) {
    if (tensorDesc == NULL || size == NULL) return CUDNN_STATUS_BAD_PARAM;
    *size = wpi_cudnn_bytes(&tensorDesc->t);
    return CUDNN_STATUS_SUCCESS;
}

/* ---- filters ---- */

CUDNN_DESCRIPTOR(Filter)

WP_API cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filterDesc,
                                                cudnnDataType_t dataType,
                                                cudnnTensorFormat_t format, int nbDims,
                                                const int filterDimA[]) {
    if (filterDesc == NULL) return CUDNN_STATUS_BAD_PARAM;
    filterDesc->format = format;
    return wpi_cudnn_shape(&filterDesc->t, format, dataType, nbDims, filterDimA, NULL);
}

WP_API cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filterDesc,
                                                cudnnDataType_t dataType,
                                                cudnnTensorFormat_t format, int k, int c, int h,
                                                int w) {
    return cudnnSetFilterNdDescriptor(filterDesc, dataType, format, 4, (int[]){k, c, h, w});
}

WP_API cudnnStatus_t cudnnGetFilterNdDescriptor(const cudnnFilterDescriptor_t filterDesc,
                                                int nbDimsRequested, cudnnDataType_t *dataType,
                                                cudnnTensorFormat_t *format, int *nbDims,
                                                int filterDimA[]) {
    if (filterDesc == NULL || nbDimsRequested < 0) return CUDNN_STATUS_BAD_PARAM;
    if (dataType != NULL) *dataType = (cudnnDataType_t)filterDesc->t.type;
    if (format != NULL) *format = filterDesc->format;
    if (nbDims != NULL) *nbDims = filterDesc->t.dims;
    for (int d = 0; filterDimA != NULL && d < filterDesc->t.dims && d < nbDimsRequested; d++)
        filterDimA[d] = filterDesc->t.size[d];
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnGetFilter4dDescriptor(const cudnnFilterDescriptor_t filterDesc,
                                                cudnnDataType_t *dataType,
                                                cudnnTensorFormat_t *format, int *k, int *c, int *h,
                                                int *w) {
    int dims = 0, sizes[4];
    int *const to[] = {k, c, h, w};
    CUDNN_TRY(cudnnGetFilterNdDescriptor(filterDesc, 4, dataType, format, &dims, sizes));
    if (dims != 4) return CUDNN_STATUS_BAD_PARAM;
    for (int d = 0; d < 4; d++) {
        if (to[d] != NULL) *to[d] = sizes[d];
    }
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnGetFilterSizeInBytes(const cudnnFilterDescriptor_t filterDesc,
                                               size_t *size) {
    if (filterDesc == NULL || size == NULL) return CUDNN_STATUS_BAD_PARAM;
    *size = wpi_cudnn_bytes(&filterDesc->t);
    return CUDNN_STATUS_SUCCESS;
}

/* ---- operations ---- */

static cudnnStatus_t run(cudnnHandle_t handle, const wpi_dnn_pointwise *p) {
    return wpi_cudnn_status(wpi_dnn_pointwise_run(handle->stream, p));
}

WP_API cudnnStatus_t cudnnAddTensor(cudnnHandle_t handle, const void *alpha,
                                    const cudnnTensorDescriptor_t aDesc, const void *A,
                                    const void *beta, const cudnnTensorDescriptor_t cDesc,
                                    void *C) {
    if (handle == NULL || alpha == NULL || beta == NULL || aDesc == NULL || A == NULL ||
        cDesc == NULL || C == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    wpi_dnn_pointwise p = {.mode = CUDNN_POINTWISE_IDENTITY,
                           .alpha = wpi_cudnn_factor(alpha, cDesc->t.type),
                           .scale = 1,
                           .old = wpi_cudnn_factor(beta, cDesc->t.type)};
    CUDNN_TRY(wpi_cudnn_operand(&cDesc->t, C, &cDesc->t, &p.y));
    CUDNN_TRY(wpi_cudnn_operand(&aDesc->t, A, &cDesc->t, &p.a));
    return run(handle, &p);
}

WP_API cudnnStatus_t cudnnTransformTensor(cudnnHandle_t handle, const void *alpha,
                                          const cudnnTensorDescriptor_t xDesc, const void *x,
                                          const void *beta, const cudnnTensorDescriptor_t yDesc,
                                          void *y) {
    if (xDesc == NULL || yDesc == NULL || !wpi_cudnn_same_shape(&xDesc->t, &yDesc->t))
        return CUDNN_STATUS_BAD_PARAM;
    return cudnnAddTensor(handle, alpha, xDesc, x, beta, yDesc, y);
}

WP_API cudnnStatus_t cudnnScaleTensor(cudnnHandle_t handle, const cudnnTensorDescriptor_t yDesc,
                                      void *y, const void *alpha) {
    static const float none;
    static const double none_wide;
    if (yDesc == NULL) return CUDNN_STATUS_BAD_PARAM;
    const bool is_wide = yDesc->t.type == CUDNN_DATA_DOUBLE;
    return cudnnAddTensor(handle, alpha, yDesc, y,
                          is_wide ? (const void *)&none_wide : (const void *)&none, yDesc, y);
}

__extension__ typedef _Float16 half;

static double value_at(const void *value, int type) {
    half narrow;
    uint16_t bits;
    uint32_t wide;
    float number;
    switch (type) {
    case CUDNN_DATA_HALF: memcpy(&narrow, value, sizeof narrow); return (double)narrow;
    case CUDNN_DATA_BFLOAT16:
        memcpy(&bits, value, sizeof bits);
        wide = (uint32_t)bits << 16;
        memcpy(&number, &wide, sizeof number);
        return number;
    default: return wpi_cudnn_factor(value, type);
    }
}

double wpi_cudnn_round(double value, int type) {
    float number = (float)value;
    uint32_t bits;
    switch (type) {
    case CUDNN_DATA_DOUBLE: return value;
    case CUDNN_DATA_HALF: return (double)(half)value;
    case CUDNN_DATA_BFLOAT16: /* to even */
        if (!isfinite(number)) return number;
        memcpy(&bits, &number, sizeof bits);
        bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
        memcpy(&number, &bits, sizeof number);
        return number;
    default: return number;
    }
}

/* A ReLU whose bounds are both the value. */
cudnnStatus_t wpi_cudnn_fill(cudnnHandle_t handle, const wpi_dnn_tensor *t, const void *value) {
    const double bound = value_at(value, t->type);
    const wpi_dnn_pointwise p = {
        .y = *t, .mode = CUDNN_POINTWISE_RELU_FWD, .lower = bound, .upper = bound, .scale = 1};
    return run(handle, &p);
}

WP_API cudnnStatus_t cudnnSetTensor(cudnnHandle_t handle, const cudnnTensorDescriptor_t yDesc,
                                    void *y, const void *valuePtr) {
    if (handle == NULL || yDesc == NULL || y == NULL || valuePtr == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    wpi_dnn_tensor t = yDesc->t;
    t.data = y;
    return wpi_cudnn_fill(handle, &t, valuePtr);
}

CUDNN_DESCRIPTOR(OpTensor)

WP_API cudnnStatus_t cudnnSetOpTensorDescriptor(cudnnOpTensorDescriptor_t opTensorDesc,
                                                cudnnOpTensorOp_t opTensorOp,
                                                cudnnDataType_t opTensorCompType,
                                                cudnnNanPropagation_t opTensorNanOpt) {
    (void)opTensorCompType, (void)opTensorNanOpt;
    if (opTensorDesc == NULL || (unsigned)opTensorOp > CUDNN_OP_TENSOR_NOT)
        return CUDNN_STATUS_BAD_PARAM;
    opTensorDesc->op = opTensorOp;
    return CUDNN_STATUS_SUCCESS;
}

/* NOT is 1 - a. */
WP_API cudnnStatus_t cudnnOpTensor(cudnnHandle_t handle,
                                   const cudnnOpTensorDescriptor_t opTensorDesc, const void *alpha1,
                                   const cudnnTensorDescriptor_t aDesc, const void *A,
                                   const void *alpha2, const cudnnTensorDescriptor_t bDesc,
                                   const void *B, const void *beta,
                                   const cudnnTensorDescriptor_t cDesc, void *C) {
    static const cudnnPointwiseMode_t modes[] = {CUDNN_POINTWISE_ADD,  CUDNN_POINTWISE_MUL,
                                                 CUDNN_POINTWISE_MIN,  CUDNN_POINTWISE_MAX,
                                                 CUDNN_POINTWISE_SQRT, CUDNN_POINTWISE_IDENTITY};
    if (handle == NULL || opTensorDesc == NULL || alpha1 == NULL || aDesc == NULL || A == NULL ||
        beta == NULL || cDesc == NULL || C == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    const bool is_binary = opTensorDesc->op <= CUDNN_OP_TENSOR_MAX;
    const int type = cDesc->t.type;
    wpi_dnn_pointwise p = {.mode = modes[opTensorDesc->op],
                           .alpha = wpi_cudnn_factor(alpha1, type),
                           .scale = 1,
                           .old = wpi_cudnn_factor(beta, type)};
    CUDNN_TRY(wpi_cudnn_operand(&cDesc->t, C, &cDesc->t, &p.y));
    CUDNN_TRY(wpi_cudnn_operand(&aDesc->t, A, &cDesc->t, &p.a));
    if (is_binary) {
        if (alpha2 == NULL || bDesc == NULL || B == NULL) return CUDNN_STATUS_BAD_PARAM;
        p.beta = wpi_cudnn_factor(alpha2, type);
        CUDNN_TRY(wpi_cudnn_operand(&bDesc->t, B, &cDesc->t, &p.b));
    }
    if (opTensorDesc->op == CUDNN_OP_TENSOR_NOT) p.mode = WPI_DNN_ONE_LESS;
    return run(handle, &p);
}

CUDNN_DESCRIPTOR(ReduceTensor)

WP_API cudnnStatus_t cudnnSetReduceTensorDescriptor(cudnnReduceTensorDescriptor_t reduceTensorDesc,
                                                    cudnnReduceTensorOp_t reduceTensorOp,
                                                    cudnnDataType_t reduceTensorCompType,
                                                    cudnnNanPropagation_t reduceTensorNanOpt,
                                                    cudnnReduceTensorIndices_t reduceTensorIndices,
                                                    cudnnIndicesType_t reduceTensorIndicesType) {
    (void)reduceTensorCompType, (void)reduceTensorNanOpt, (void)reduceTensorIndicesType;
    if (reduceTensorDesc == NULL || (unsigned)reduceTensorOp > CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS)
        return CUDNN_STATUS_BAD_PARAM;
    if (reduceTensorIndices != CUDNN_REDUCE_TENSOR_NO_INDICES) return CUDNN_STATUS_NOT_SUPPORTED;
    reduceTensorDesc->op = reduceTensorOp;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t no_bytes(const void *a, const void *b, const void *c, size_t *sizeInBytes) {
    if (a == NULL || b == NULL || c == NULL || sizeInBytes == NULL) return CUDNN_STATUS_BAD_PARAM;
    *sizeInBytes = 0;
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnGetReductionIndicesSize(
    cudnnHandle_t handle, const cudnnReduceTensorDescriptor_t reduceTensorDesc,
    const cudnnTensorDescriptor_t aDesc, const cudnnTensorDescriptor_t cDesc, size_t *sizeInBytes) {
    (void)handle;
    return no_bytes(reduceTensorDesc, aDesc, cDesc, sizeInBytes);
}

WP_API cudnnStatus_t cudnnGetReductionWorkspaceSize(
    cudnnHandle_t handle, const cudnnReduceTensorDescriptor_t reduceTensorDesc,
    const cudnnTensorDescriptor_t aDesc, const cudnnTensorDescriptor_t cDesc, size_t *sizeInBytes) {
    (void)handle;
    return no_bytes(reduceTensorDesc, aDesc, cDesc, sizeInBytes);
}

WP_API cudnnStatus_t cudnnReduceTensor(cudnnHandle_t handle,
                                       const cudnnReduceTensorDescriptor_t reduceTensorDesc,
                                       void *indices, size_t indicesSizeInBytes, void *workspace,
                                       size_t workspaceSizeInBytes, const void *alpha,
                                       const cudnnTensorDescriptor_t aDesc, const void *A,
                                       const void *beta, const cudnnTensorDescriptor_t cDesc,
                                       void *C) {
    (void)indices, (void)indicesSizeInBytes, (void)workspace, (void)workspaceSizeInBytes;
    if (handle == NULL || reduceTensorDesc == NULL || alpha == NULL || aDesc == NULL || A == NULL ||
        beta == NULL || cDesc == NULL || C == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    wpi_dnn_reduction p = {.op = (int)reduceTensorDesc->op,
                           .alpha = wpi_cudnn_factor(alpha, aDesc->t.type),
                           .beta = wpi_cudnn_factor(beta, aDesc->t.type)};
    CUDNN_TRY(wpi_cudnn_operand(&aDesc->t, A, &aDesc->t, &p.x));
    CUDNN_TRY(wpi_cudnn_operand(&cDesc->t, C, &aDesc->t, &p.y));
    return wpi_cudnn_status(wpi_dnn_reduce(handle->stream, &p));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions by descriptors. */
#include "base/alloc.h"
#include "libraries/cudnn/cudnn_handle.h"

struct cudnnConvolutionStruct {
    int space; /* dimensions */
    int pad[WPI_DNN_SPACE], step[WPI_DNN_SPACE], dilation[WPI_DNN_SPACE];
    cudnnConvolutionMode_t mode;
    cudnnDataType_t type;
    cudnnMathType_t math;
    int groups; /* 0: not set, which is 1 */
};

/* ---- descriptor ---- */

CUDNN_DESCRIPTOR(Convolution)

WP_API cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t convDesc,
                                                     int arrayLength, const int padA[],
                                                     const int filterStrideA[],
                                                     const int dilationA[],
                                                     cudnnConvolutionMode_t mode,
                                                     cudnnDataType_t computeType) {
    if (convDesc == NULL || arrayLength < 1 || arrayLength > WPI_DNN_SPACE || padA == NULL ||
        filterStrideA == NULL || dilationA == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    for (int d = 0; d < arrayLength; d++) {
        if (padA[d] < 0 || filterStrideA[d] < 1 || dilationA[d] < 1) return CUDNN_STATUS_BAD_PARAM;
        convDesc->pad[d] = padA[d];
        convDesc->step[d] = filterStrideA[d];
        convDesc->dilation[d] = dilationA[d];
    }
    convDesc->space = arrayLength;
    convDesc->mode = mode;
    convDesc->type = computeType;
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t convDesc,
                                                     int pad_h, int pad_w, int u, int v,
                                                     int dilation_h, int dilation_w,
                                                     cudnnConvolutionMode_t mode,
                                                     cudnnDataType_t computeType) {
    return cudnnSetConvolutionNdDescriptor(convDesc, 2, (int[]){pad_h, pad_w}, (int[]){u, v},
                                           (int[]){dilation_h, dilation_w}, mode, computeType);
}

WP_API cudnnStatus_t cudnnGetConvolution2dDescriptor(const cudnnConvolutionDescriptor_t convDesc,
                                                     int *pad_h, int *pad_w, int *u, int *v,
                                                     int *dilation_h, int *dilation_w,
                                                     cudnnConvolutionMode_t *mode,
                                                     cudnnDataType_t *computeType) {
    if (convDesc == NULL || convDesc->space != 2) return CUDNN_STATUS_BAD_PARAM;
    int *const to[] = {pad_h, pad_w, u, v, dilation_h, dilation_w};
    const int values[] = {convDesc->pad[0],  convDesc->pad[1],      convDesc->step[0],
                          convDesc->step[1], convDesc->dilation[0], convDesc->dilation[1]};
    for (int i = 0; i < 6; i++) {
        if (to[i] != NULL) *to[i] = values[i];
    }
    if (mode != NULL) *mode = convDesc->mode;
    if (computeType != NULL) *computeType = convDesc->type;
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convDesc,
                                                 cudnnMathType_t mathType) {
    if (convDesc == NULL) return CUDNN_STATUS_BAD_PARAM;
    convDesc->math = mathType;
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnGetConvolutionMathType(const cudnnConvolutionDescriptor_t convDesc,
                                                 cudnnMathType_t *mathType) {
    if (convDesc == NULL || mathType == NULL) return CUDNN_STATUS_BAD_PARAM;
    *mathType = convDesc->math;
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t convDesc,
                                                   int groupCount) {
    if (convDesc == NULL || groupCount < 1) return CUDNN_STATUS_BAD_PARAM;
    convDesc->groups = groupCount;
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnGetConvolutionGroupCount(const cudnnConvolutionDescriptor_t convDesc,
                                                   int *groupCount) {
    if (convDesc == NULL || groupCount == NULL) return CUDNN_STATUS_BAD_PARAM;
    *groupCount = convDesc->groups > 0 ? convDesc->groups : 1;
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnSetConvolutionReorderType(cudnnConvolutionDescriptor_t convDesc,
                                                    cudnnReorderType_t reorderType) {
    (void)reorderType;
    return convDesc != NULL ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

/* ---- shapes ---- */

int wpi_cudnn_places(int size, int pad_before, int pad_after, int window, int dilation, int step) {
    const long long last = (long long)size + pad_before + pad_after - (window - 1ll) * dilation - 1;
    return last < 0 ? 0 : (int)(last / step) + 1;
}

WP_API cudnnStatus_t cudnnGetConvolutionNdForwardOutputDim(
    const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t inputTensorDesc,
    const cudnnFilterDescriptor_t filterDesc, int nbDims, int tensorOuputDimA[]) {
    if (convDesc == NULL || inputTensorDesc == NULL || filterDesc == NULL ||
        tensorOuputDimA == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    const wpi_dnn_tensor *x = &inputTensorDesc->t, *w = &filterDesc->t;
    const int groups = convDesc->groups > 0 ? convDesc->groups : 1;
    if (x->dims != convDesc->space + 2 || w->dims != x->dims || nbDims < x->dims ||
        x->size[1] != w->size[1] * groups)
        return CUDNN_STATUS_BAD_PARAM;
    tensorOuputDimA[0] = x->size[0];
    tensorOuputDimA[1] = w->size[0];
    for (int d = 0; d < convDesc->space; d++) {
        const int pad = convDesc->pad[d];
        tensorOuputDimA[2 + d] = wpi_cudnn_places(x->size[2 + d], pad, pad, w->size[2 + d],
                                                  convDesc->dilation[d], convDesc->step[d]);
        if (tensorOuputDimA[2 + d] == 0) return CUDNN_STATUS_BAD_PARAM;
    }
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnGetConvolution2dForwardOutputDim(
    const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t inputTensorDesc,
    const cudnnFilterDescriptor_t filterDesc, int *n, int *c, int *h, int *w) {
    int sizes[4];
    if (convDesc == NULL || convDesc->space != 2 || n == NULL || c == NULL || h == NULL ||
        w == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    CUDNN_TRY(
        cudnnGetConvolutionNdForwardOutputDim(convDesc, inputTensorDesc, filterDesc, 4, sizes));
    *n = sizes[0], *c = sizes[1], *h = sizes[2], *w = sizes[3];
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t wpi_cudnn_convolution(wpi_dnn_convolution *p, const wpi_dnn_tensor *x,
                                    const void *x_data, const wpi_dnn_tensor *w, const void *w_data,
                                    const wpi_dnn_tensor *y, const void *y_data, const int *pad,
                                    const int *step, const int *dilation, int space) {
    if (x->dims != space + 2 || w->dims != x->dims || y->dims != x->dims)
        return CUDNN_STATUS_BAD_PARAM;
    CUDNN_TRY(wpi_cudnn_in_space(x, x_data, &p->x));
    CUDNN_TRY(wpi_cudnn_in_space(w, w_data, &p->w));
    CUDNN_TRY(wpi_cudnn_in_space(y, y_data, &p->y));
    for (int d = 0; d < WPI_DNN_SPACE; d++) {
        const int from = d - (WPI_DNN_SPACE - space);
        p->pad[d] = from >= 0 ? pad[from] : 0;
        p->step[d] = from >= 0 ? step[from] : 1;
        p->dilation[d] = from >= 0 ? dilation[from] : 1;
    }
    p->groups = p->x.size[1] / p->w.size[1];
    const bool fits = p->x.size[0] == p->y.size[0] && p->w.size[0] == p->y.size[1] &&
                      p->groups > 0 && p->x.size[1] == p->groups * p->w.size[1] &&
                      p->w.size[0] % p->groups == 0;
    return fits ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

/* ---- convolutions ---- */

static cudnnStatus_t convolve(cudnnHandle_t handle, wpi_dnn_way way,
                              const cudnnConvolutionDescriptor_t c, const void *alpha,
                              const void *beta, const wpi_dnn_tensor *x, const void *x_data,
                              const wpi_dnn_tensor *w, const void *w_data, const wpi_dnn_tensor *y,
                              const void *y_data) {
    wpi_dnn_convolution p = {0};
    if (handle == NULL || c == NULL || alpha == NULL || beta == NULL || x_data == NULL ||
        w_data == NULL || y_data == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    CUDNN_TRY(wpi_cudnn_convolution(&p, x, x_data, w, w_data, y, y_data, c->pad, c->step,
                                    c->dilation, c->space));
    for (int d = 0; d < WPI_DNN_SPACE; d++) {
        if (p.y.size[2 + d] != wpi_cudnn_places(p.x.size[2 + d], p.pad[d], p.pad[d],
                                                p.w.size[2 + d], p.dilation[d], p.step[d]))
            return CUDNN_STATUS_BAD_PARAM;
    }
    if (c->groups > 0 && c->groups != p.groups) return CUDNN_STATUS_BAD_PARAM;
    p.is_flipped = c->mode == CUDNN_CONVOLUTION;
    p.alpha = wpi_cudnn_factor(alpha, x->type);
    p.beta = wpi_cudnn_factor(beta, x->type);
    return wpi_cudnn_convolve(handle, way, &p);
}

WP_API cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void *alpha,
                                             const cudnnTensorDescriptor_t xDesc, const void *x,
                                             const cudnnFilterDescriptor_t wDesc, const void *w,
                                             const cudnnConvolutionDescriptor_t convDesc,
                                             cudnnConvolutionFwdAlgo_t algo, void *workSpace,
                                             size_t workSpaceSizeInBytes, const void *beta,
                                             const cudnnTensorDescriptor_t yDesc, void *y) {
    (void)algo, (void)workSpace, (void)workSpaceSizeInBytes;
    if (xDesc == NULL || wDesc == NULL || yDesc == NULL) return CUDNN_STATUS_BAD_PARAM;
    return convolve(handle, WPI_DNN_FORWARD, convDesc, alpha, beta, &xDesc->t, x, &wDesc->t, w,
                    &yDesc->t, y);
}

WP_API cudnnStatus_t cudnnConvolutionBackwardData(
    cudnnHandle_t handle, const void *alpha, const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnTensorDescriptor_t dyDesc, const void *dy,
    const cudnnConvolutionDescriptor_t convDesc, cudnnConvolutionBwdDataAlgo_t algo,
    void *workSpace, size_t workSpaceSizeInBytes, const void *beta,
    const cudnnTensorDescriptor_t dxDesc, void *dx) {
    (void)algo, (void)workSpace, (void)workSpaceSizeInBytes;
    if (wDesc == NULL || dyDesc == NULL || dxDesc == NULL) return CUDNN_STATUS_BAD_PARAM;
    return convolve(handle, WPI_DNN_DATA, convDesc, alpha, beta, &dxDesc->t, dx, &wDesc->t, w,
                    &dyDesc->t, dy);
}

WP_API cudnnStatus_t cudnnConvolutionBackwardFilter(
    cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t xDesc, const void *x,
    const cudnnTensorDescriptor_t dyDesc, const void *dy,
    const cudnnConvolutionDescriptor_t convDesc, cudnnConvolutionBwdFilterAlgo_t algo,
    void *workSpace, size_t workSpaceSizeInBytes, const void *beta,
    const cudnnFilterDescriptor_t dwDesc, void *dw) {
    (void)algo, (void)workSpace, (void)workSpaceSizeInBytes;
    if (xDesc == NULL || dyDesc == NULL || dwDesc == NULL) return CUDNN_STATUS_BAD_PARAM;
    return convolve(handle, WPI_DNN_FILTER, convDesc, alpha, beta, &xDesc->t, x, &dwDesc->t, dw,
                    &dyDesc->t, dy);
}

WP_API cudnnStatus_t cudnnConvolutionBackwardBias(cudnnHandle_t handle, const void *alpha,
                                                  const cudnnTensorDescriptor_t dyDesc,
                                                  const void *dy, const void *beta,
                                                  const cudnnTensorDescriptor_t dbDesc, void *db) {
    if (handle == NULL || alpha == NULL || dyDesc == NULL || dy == NULL || beta == NULL ||
        dbDesc == NULL || db == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    wpi_dnn_reduction p = {.op = CUDNN_REDUCE_TENSOR_ADD,
                           .alpha = wpi_cudnn_factor(alpha, dyDesc->t.type),
                           .beta = wpi_cudnn_factor(beta, dyDesc->t.type)};
    CUDNN_TRY(wpi_cudnn_operand(&dyDesc->t, dy, &dyDesc->t, &p.x));
    CUDNN_TRY(wpi_cudnn_operand(&dbDesc->t, db, &dyDesc->t, &p.y));
    return wpi_cudnn_status(wpi_dnn_reduce(handle->stream, &p));
}

WP_API cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t handle, const void *alpha1, const cudnnTensorDescriptor_t xDesc, const void *x,
    const cudnnFilterDescriptor_t wDesc, const void *w, const cudnnConvolutionDescriptor_t convDesc,
    cudnnConvolutionFwdAlgo_t algo, void *workSpace, size_t workSpaceSizeInBytes,
    const void *alpha2, const cudnnTensorDescriptor_t zDesc, const void *z,
    const cudnnTensorDescriptor_t biasDesc, const void *bias,
    const cudnnActivationDescriptor_t activationDesc, const cudnnTensorDescriptor_t yDesc,
    void *y) {
    static const double none; /* a float of 0, too */
    if (zDesc == NULL || z == NULL || biasDesc == NULL || bias == NULL || activationDesc == NULL ||
        yDesc == NULL || alpha2 == NULL)
        return CUDNN_STATUS_BAD_PARAM;
    /* z may be y: it is added before the convolution's sum overwrites it. */
    const bool is_added = wpi_cudnn_factor(alpha2, yDesc->t.type) != 0;
    if (is_added && z != y)
        CUDNN_TRY(cudnnTransformTensor(handle, alpha2, zDesc, z, &none, yDesc, y));
    const float one = 1;
    const double wide_one = 1;
    const void *unit = yDesc->t.type == CUDNN_DATA_DOUBLE ? (const void *)&wide_one : &one;
    const void *old = !is_added ? (const void *)&none : z == y ? alpha2 : unit;
    CUDNN_TRY(cudnnConvolutionForward(handle, alpha1, xDesc, x, wDesc, w, convDesc, algo, workSpace,
                                      workSpaceSizeInBytes, old, yDesc, y));
    wpi_dnn_pointwise p = {.mode = CUDNN_POINTWISE_ADD, .alpha = 1, .beta = 1, .scale = 1};
    CUDNN_TRY(wpi_cudnn_operand(&yDesc->t, y, &yDesc->t, &p.y));
    p.a = p.y;
    CUDNN_TRY(wpi_cudnn_operand(&biasDesc->t, bias, &yDesc->t, &p.b));
    CUDNN_TRY(wpi_cudnn_status(wpi_dnn_pointwise_run(handle->stream, &p)));
    if (activationDesc->mode == CUDNN_ACTIVATION_IDENTITY) return CUDNN_STATUS_SUCCESS;
    return cudnnActivationForward(handle, activationDesc, unit, yDesc, y, &none, yDesc, y);
}

/* ---- algorithms ---- */

/* One algorithm a kind, which needs no workspace and is deterministic. a, b are what is given, c is
 * the result, with their descriptors' types. */
#define ALGORITHMS(way, kind, only, A, B, C)                                                       \
    static cudnnStatus_t tell_##kind(const void *a, const void *b, const void *c,                  \
                                     const void *conv, int wanted, int *count,                     \
                                     cudnnConvolution##kind##AlgoPerf_t *to) {                     \
        if (a == NULL || b == NULL || c == NULL || conv == NULL || wanted < 1 || count == NULL ||  \
            to == NULL)                                                                            \
            return CUDNN_STATUS_BAD_PARAM;                                                         \
        to[0] = (cudnnConvolution##kind##AlgoPerf_t){.algo = only,                                 \
                                                     .status = CUDNN_STATUS_SUCCESS,               \
                                                     .determinism = CUDNN_DETERMINISTIC,           \
                                                     .mathType = CUDNN_DEFAULT_MATH};              \
        *count = 1;                                                                                \
        return CUDNN_STATUS_SUCCESS;                                                               \
    }                                                                                              \
    WP_API cudnnStatus_t cudnnGetConvolution##way##AlgorithmMaxCount(cudnnHandle_t handle,         \
                                                                     int *count) {                 \
        if (handle == NULL || count == NULL) return CUDNN_STATUS_BAD_PARAM;                        \
        *count = 1;                                                                                \
        return CUDNN_STATUS_SUCCESS;                                                               \
    }                                                                                              \
    WP_API cudnnStatus_t cudnnGetConvolution##way##Algorithm_v7(                                   \
        cudnnHandle_t handle, const A a, const B b, const cudnnConvolutionDescriptor_t convDesc,   \
        const C c, int requestedAlgoCount, int *returnedAlgoCount,                                 \
        cudnnConvolution##kind##AlgoPerf_t *perfResults) {                                         \
        (void)handle;                                                                              \
        return tell_##kind(a, b, c, convDesc, requestedAlgoCount, returnedAlgoCount, perfResults); \
    }                                                                                              \
    WP_API cudnnStatus_t cudnnGetConvolution##way##Algorithm(                                      \
        cudnnHandle_t handle, const A a, const B b, const cudnnConvolutionDescriptor_t convDesc,   \
        const C c, cudnnConvolution##kind##Preference_t preference, size_t memoryLimitInBytes,     \
        cudnnConvolution##kind##Algo_t *algo) {                                                    \
        int count;                                                                                 \
        cudnnConvolution##kind##AlgoPerf_t told;                                                   \
        (void)handle, (void)preference, (void)memoryLimitInBytes;                                  \
        if (algo == NULL) return CUDNN_STATUS_BAD_PARAM;                                           \
        CUDNN_TRY(tell_##kind(a, b, c, convDesc, 1, &count, &told));                               \
        *algo = told.algo;                                                                         \
        return CUDNN_STATUS_SUCCESS;                                                               \
    }                                                                                              \
    WP_API cudnnStatus_t cudnnFindConvolution##way##Algorithm(                                     \
        cudnnHandle_t handle, const A a, const B b, const cudnnConvolutionDescriptor_t convDesc,   \
        const C c, int requestedAlgoCount, int *returnedAlgoCount,                                 \
        cudnnConvolution##kind##AlgoPerf_t *perfResults) {                                         \
        (void)handle;                                                                              \
        return tell_##kind(a, b, c, convDesc, requestedAlgoCount, returnedAlgoCount, perfResults); \
    }                                                                                              \
    WP_API cudnnStatus_t cudnnFindConvolution##way##AlgorithmEx(                                   \
        cudnnHandle_t handle, const A a, const void *a_data, const B b, const void *b_data,        \
        const cudnnConvolutionDescriptor_t convDesc, const C c, void *c_data,                      \
        int requestedAlgoCount, int *returnedAlgoCount,                                            \
        cudnnConvolution##kind##AlgoPerf_t *perfResults, void *workSpace,                          \
        size_t workSpaceSizeInBytes) {                                                             \
        (void)handle, (void)a_data, (void)b_data, (void)c_data;                                    \
        (void)workSpace, (void)workSpaceSizeInBytes;                                               \
        return tell_##kind(a, b, c, convDesc, requestedAlgoCount, returnedAlgoCount, perfResults); \
    }                                                                                              \
    WP_API cudnnStatus_t cudnnGetConvolution##way##WorkspaceSize(                                  \
        cudnnHandle_t handle, const A a, const B b, const cudnnConvolutionDescriptor_t convDesc,   \
        const C c, cudnnConvolution##kind##Algo_t algo, size_t *sizeInBytes) {                     \
        (void)algo;                                                                                \
        if (handle == NULL || a == NULL || b == NULL || convDesc == NULL || c == NULL ||           \
            sizeInBytes == NULL)                                                                   \
            return CUDNN_STATUS_BAD_PARAM;                                                         \
        *sizeInBytes = 0;                                                                          \
        return CUDNN_STATUS_SUCCESS;                                                               \
    }

ALGORITHMS(Forward, Fwd, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, cudnnTensorDescriptor_t,
           cudnnFilterDescriptor_t, cudnnTensorDescriptor_t)
ALGORITHMS(BackwardData, BwdData, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, cudnnFilterDescriptor_t,
           cudnnTensorDescriptor_t, cudnnTensorDescriptor_t)
ALGORITHMS(BackwardFilter, BwdFilter, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, cudnnTensorDescriptor_t,
           cudnnTensorDescriptor_t, cudnnFilterDescriptor_t)

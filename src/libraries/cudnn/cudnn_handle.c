/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcudnn.so.9 for programs that open it at start, as XLA does, whatever they compute: versions
 * and handles. No operation has an implementation: each logs its name once.
 */
#include <stdlib.h>

#include "libraries/cuda_library.h"
#include "warpage/cuda/cuda_runtime_api.h"
#include "warpage/error.h"

/* Of cuDNN 9's interface, which is not among our headers. */
typedef enum cudnnStatus_t {
    CUDNN_STATUS_SUCCESS = 0,
    CUDNN_STATUS_NOT_INITIALIZED = 1001,
    CUDNN_STATUS_BAD_PARAM = 2000,
    CUDNN_STATUS_NOT_SUPPORTED = 3000,
    CUDNN_STATUS_ALLOC_FAILED = 4003,
} cudnnStatus_t;

typedef struct cudnnContext {
    cudaStream_t stream;
} *cudnnHandle_t;

/* Programs refuse a minor version below that of the headers which they were compiled with. */
#define MAJOR 9
#define MINOR 99
#define VERSION (MAJOR * 10000 + MINOR * 100)

WP_API size_t cudnnGetVersion(void);
WP_API size_t cudnnGetVersion(void) {
    return VERSION;
}

WP_API size_t cudnnGetCudartVersion(void);
WP_API size_t cudnnGetCudartVersion(void) {
    int version = 0;
    (void)cudaRuntimeGetVersion(&version);
    return (size_t)version;
}

/* `property`: 0 major, 1 minor, 2 patch level. */
WP_API cudnnStatus_t cudnnGetProperty(int property, int *value);
WP_API cudnnStatus_t cudnnGetProperty(int property, int *value) {
    static const int values[] = {MAJOR, MINOR, 0};
    if (value == NULL || property < 0 || property > 2) return CUDNN_STATUS_BAD_PARAM;
    *value = values[property];
    return CUDNN_STATUS_SUCCESS;
}

WP_API const char *cudnnGetErrorString(cudnnStatus_t status);
WP_API const char *cudnnGetErrorString(cudnnStatus_t status) {
    switch (status) {
    case CUDNN_STATUS_SUCCESS: return "CUDNN_STATUS_SUCCESS";
    case CUDNN_STATUS_NOT_INITIALIZED: return "CUDNN_STATUS_NOT_INITIALIZED";
    case CUDNN_STATUS_BAD_PARAM: return "CUDNN_STATUS_BAD_PARAM";
    case CUDNN_STATUS_NOT_SUPPORTED: return "CUDNN_STATUS_NOT_SUPPORTED";
    case CUDNN_STATUS_ALLOC_FAILED: return "CUDNN_STATUS_ALLOC_FAILED";
    }
    return "CUDNN_UNKNOWN_STATUS";
}

WP_API void cudnnGetLastErrorString(char *text, size_t bytes);
WP_API void cudnnGetLastErrorString(char *text, size_t bytes) {
    if (text != NULL && bytes != 0) text[0] = '\0';
}

WP_API cudnnStatus_t cudnnCreate(cudnnHandle_t *handle);
WP_API cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
    if (handle == NULL) return CUDNN_STATUS_BAD_PARAM;
    *handle = calloc(1, sizeof **handle);
    return *handle != NULL ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_ALLOC_FAILED;
}

WP_API cudnnStatus_t cudnnDestroy(cudnnHandle_t handle);
WP_API cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
    free(handle);
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream);
WP_API cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
    if (handle == NULL) return CUDNN_STATUS_BAD_PARAM;
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t *stream);
WP_API cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t *stream) {
    if (handle == NULL || stream == NULL) return CUDNN_STATUS_BAD_PARAM;
    *stream = handle->stream;
    return CUDNN_STATUS_SUCCESS;
}

/* What operations begin with: descriptors. */
#define MISSING(name) WPI_LIBRARY_MISSING("cudnn", cudnnStatus_t, CUDNN_STATUS_NOT_SUPPORTED, name)
MISSING(cudnnBackendCreateDescriptor)
MISSING(cudnnCreateTensorDescriptor)
MISSING(cudnnCreateFilterDescriptor)
MISSING(cudnnCreateConvolutionDescriptor)
MISSING(cudnnCreatePoolingDescriptor)
MISSING(cudnnCreateActivationDescriptor)
MISSING(cudnnCreateDropoutDescriptor)
MISSING(cudnnCreateLRNDescriptor)
MISSING(cudnnCreateOpTensorDescriptor)
MISSING(cudnnCreateReduceTensorDescriptor)
MISSING(cudnnCreateRNNDescriptor)
MISSING(cudnnCreateRNNDataDescriptor)
MISSING(cudnnCreateAttnDescriptor)
MISSING(cudnnCreateSeqDataDescriptor)
MISSING(cudnnCreateSpatialTransformerDescriptor)
MISSING(cudnnCreateTensorTransformDescriptor)
MISSING(cudnnCreateCTCLossDescriptor)

/* SPDX-License-Identifier: Apache-2.0 */
#include "libraries/cudnn/cudnn_handle.h"

#include <string.h>

#include "base/alloc.h"
#include "warpage/cudart.h"

WP_API size_t cudnnGetVersion(void) {
    return CUDNN_VERSION;
}

WP_API size_t cudnnGetCudartVersion(void) {
    int version = 0;
    (void)cudaRuntimeGetVersion(&version);
    return (size_t)version;
}

WP_API cudnnStatus_t cudnnGetProperty(libraryPropertyType type, int *value) {
    static const int values[] = {CUDNN_MAJOR, CUDNN_MINOR, CUDNN_PATCHLEVEL};
    if (value == NULL || (unsigned)type > PATCH_LEVEL) return CUDNN_STATUS_BAD_PARAM;
    *value = values[type];
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnGraphVersionCheck(void) {
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnOpsVersionCheck(void) {
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnCnnVersionCheck(void) {
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnAdvVersionCheck(void) {
    return CUDNN_STATUS_SUCCESS;
}

#define NAMED(status)                                                                              \
    case status: return #status

WP_API const char *cudnnGetErrorString(cudnnStatus_t status) {
    switch (status) {
        NAMED(CUDNN_STATUS_SUCCESS);
        NAMED(CUDNN_STATUS_NOT_INITIALIZED);
        NAMED(CUDNN_STATUS_BAD_PARAM);
        NAMED(CUDNN_STATUS_INVALID_VALUE);
        NAMED(CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
        NAMED(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
        NAMED(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
        NAMED(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
        NAMED(CUDNN_STATUS_NOT_SUPPORTED);
        NAMED(CUDNN_STATUS_ARCH_MISMATCH);
        NAMED(CUDNN_STATUS_RUNTIME_PREREQUISITE_MISSING);
        NAMED(CUDNN_STATUS_INTERNAL_ERROR);
        NAMED(CUDNN_STATUS_ALLOC_FAILED);
        NAMED(CUDNN_STATUS_MAPPING_ERROR);
        NAMED(CUDNN_STATUS_EXECUTION_FAILED);
    }
    return "CUDNN_UNKNOWN_STATUS";
}

WP_API void cudnnGetLastErrorString(char *message, size_t max_size) {
    if (message != NULL && max_size != 0) message[0] = '\0';
}

cudnnStatus_t wpi_cudnn_status(cudaError_t error) {
    switch (error) {
    case cudaSuccess: return CUDNN_STATUS_SUCCESS;
    case cudaErrorMemoryAllocation: return CUDNN_STATUS_ALLOC_FAILED;
    default: return CUDNN_STATUS_EXECUTION_FAILED;
    }
}

cudnnStatus_t wpi_cudnn_create(void **made, size_t bytes) {
    if (made == NULL) return CUDNN_STATUS_BAD_PARAM;
    *made = wpi_calloc(1, bytes);
    return *made != NULL ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_ALLOC_FAILED;
}

WP_API cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
    if (handle == NULL) return CUDNN_STATUS_BAD_PARAM;
    *handle = NULL;
    wp_device *device = wp_cudart_device();
    if (device == NULL) return CUDNN_STATUS_NOT_INITIALIZED;
    CUDNN_TRY(wpi_cudnn_create((void **)handle, sizeof **handle));
    (*handle)->is_on_host = strcmp(wp_device_get_info(device)->spec, "cpu") == 0;
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
    wpi_free(handle);
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t streamId) {
    if (handle == NULL) return CUDNN_STATUS_BAD_PARAM;
    handle->stream = streamId;
    return CUDNN_STATUS_SUCCESS;
}

WP_API cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t *streamId) {
    if (handle == NULL || streamId == NULL) return CUDNN_STATUS_BAD_PARAM;
    *streamId = handle->stream;
    return CUDNN_STATUS_SUCCESS;
}

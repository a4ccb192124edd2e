/* SPDX-License-Identifier: Apache-2.0 */
#include "libraries/cusparse/cusparse_handle.h"

#include <stddef.h>

#include "base/alloc.h"
#include "base/log.h"
#include "warpage/cudart.h"

#define MAGIC 0x776172702d737061u
#define RESULT_BYTES 16

/* ---- create, destroy ---- */

WP_API cusparseStatus_t cusparseCreate(cusparseHandle_t *handle) {
    if (handle == NULL) return CUSPARSE_STATUS_INVALID_VALUE;
    *handle = NULL;
    if (wp_cudart_device() == NULL) return CUSPARSE_STATUS_NOT_INITIALIZED;
    struct cusparseContext *made = wpi_calloc(1, sizeof *made);
    if (made == NULL) return CUSPARSE_STATUS_ALLOC_FAILED;
    made->magic = MAGIC;
    if (cudaMalloc(&made->result, RESULT_BYTES) != cudaSuccess) {
        wpi_free(made);
        return CUSPARSE_STATUS_ALLOC_FAILED;
    }
    *handle = made;
    return CUSPARSE_STATUS_SUCCESS;
}

WP_API cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    const cudaError_t error = cudaFree(handle->result); /* waits for queued work */
    handle->magic = 0;
    wpi_free(handle);
    return wpi_cusparse_status(error);
}

cusparseStatus_t wpi_cusparse_enter(cusparseHandle_t handle) {
    return handle != NULL && handle->magic == MAGIC ? CUSPARSE_STATUS_SUCCESS
                                                    : CUSPARSE_STATUS_NOT_INITIALIZED;
}

cusparseStatus_t wpi_cusparse_status(cudaError_t error) {
    switch (error) {
    case cudaSuccess: return CUSPARSE_STATUS_SUCCESS;
    case cudaErrorMemoryAllocation: return CUSPARSE_STATUS_ALLOC_FAILED;
    default: return CUSPARSE_STATUS_EXECUTION_FAILED;
    }
}

/* ---- settings ---- */

WP_API cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int *version) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (version == NULL) return CUSPARSE_STATUS_INVALID_VALUE;
    *version = CUSPARSE_VERSION;
    return CUSPARSE_STATUS_SUCCESS;
}

WP_API cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int *value) {
    static const int values[] = {CUSPARSE_VER_MAJOR, CUSPARSE_VER_MINOR, CUSPARSE_VER_PATCH};
    if (value == NULL || (unsigned)type > PATCH_LEVEL) return CUSPARSE_STATUS_INVALID_VALUE;
    *value = values[type];
    return CUSPARSE_STATUS_SUCCESS;
}

WP_API cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t streamId) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    handle->stream = streamId;
    return CUSPARSE_STATUS_SUCCESS;
}

WP_API cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t *streamId) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (streamId == NULL) return CUSPARSE_STATUS_INVALID_VALUE;
    *streamId = handle->stream;
    return CUSPARSE_STATUS_SUCCESS;
}

WP_API cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle,
                                               cusparsePointerMode_t mode) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if ((unsigned)mode > CUSPARSE_POINTER_MODE_DEVICE) return CUSPARSE_STATUS_INVALID_VALUE;
    handle->pointer_mode = mode;
    return CUSPARSE_STATUS_SUCCESS;
}

WP_API cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle,
                                               cusparsePointerMode_t *mode) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (mode == NULL) return CUSPARSE_STATUS_INVALID_VALUE;
    *mode = handle->pointer_mode;
    return CUSPARSE_STATUS_SUCCESS;
}

/* Nothing is logged. */
WP_API cusparseStatus_t cusparseLoggerSetCallback(cusparseLoggerCallback_t callback) {
    (void)callback;
    return CUSPARSE_STATUS_SUCCESS;
}

WP_API cusparseStatus_t cusparseLoggerSetFile(FILE *file) {
    (void)file;
    return CUSPARSE_STATUS_SUCCESS;
}

WP_API cusparseStatus_t cusparseLoggerOpenFile(const char *logFile) {
    (void)logFile;
    return CUSPARSE_STATUS_SUCCESS;
}

WP_API cusparseStatus_t cusparseLoggerSetLevel(int level) {
    (void)level;
    return CUSPARSE_STATUS_SUCCESS;
}

WP_API cusparseStatus_t cusparseLoggerSetMask(int mask) {
    (void)mask;
    return CUSPARSE_STATUS_SUCCESS;
}

WP_API cusparseStatus_t cusparseLoggerForceDisable(void) {
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- names ---- */

typedef struct status_row {
    const char *name, *text;
} status_row;

#define ROW(name, text) [CUSPARSE_STATUS_##name] = {"CUSPARSE_STATUS_" #name, text}

static const status_row *status_of(cusparseStatus_t status) {
    static const status_row rows[] = {
        ROW(SUCCESS, "success"),
        ROW(NOT_INITIALIZED, "initialization error"),
        ROW(ALLOC_FAILED, "insufficient resources"),
        ROW(INVALID_VALUE, "invalid value"),
        ROW(ARCH_MISMATCH, "architecture mismatch"),
        ROW(MAPPING_ERROR, "texture mapping failure"),
        ROW(EXECUTION_FAILED, "kernel launch failure"),
        ROW(INTERNAL_ERROR, "internal error"),
        ROW(MATRIX_TYPE_NOT_SUPPORTED, "matrix type not supported"),
        ROW(ZERO_PIVOT, "zero pivot"),
        ROW(NOT_SUPPORTED, "operation not supported"),
        ROW(INSUFFICIENT_RESOURCES, "insufficient resources during kernel execution")};
    return (unsigned)status < sizeof rows / sizeof *rows ? &rows[status] : NULL;
}

WP_API const char *cusparseGetErrorName(cusparseStatus_t status) {
    const status_row *row = status_of(status);
    return row != NULL ? row->name : "unrecognized error code";
}

WP_API const char *cusparseGetErrorString(cusparseStatus_t status) {
    const status_row *row = status_of(status);
    return row != NULL ? row->text : "unrecognized error code";
}

/* ---- types and factors ---- */

cusparseStatus_t wpi_cusparse_type(const char *call, cudaDataType type, wpi_blas_type *out) {
    static const cudaDataType types[WPI_SPARSE_TYPES] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F,
                                                         CUDA_C_64F};
    for (int i = 0; i < WPI_SPARSE_TYPES; i++) {
        *out = (wpi_blas_type)i;
        if (types[i] == type) return CUSPARSE_STATUS_SUCCESS;
    }
    wpi_log(WP_LOG_WARN, "cusparse",
            "%s supports float, double and their complex numbers, not data type %d; it returns "
            "CUSPARSE_STATUS_NOT_SUPPORTED",
            call, (int)type);
    return CUSPARSE_STATUS_NOT_SUPPORTED;
}

size_t wpi_cusparse_bytes(wpi_blas_type type) {
    static const size_t bytes[] = {4, 8, 8, 16};
    return bytes[type];
}

wpi_scalar wpi_cusparse_scalar(cusparseHandle_t handle, wpi_blas_type type, const void *value) {
    if (handle->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE) return (wpi_scalar){.pointer = value};
    switch (type) {
    case WPI_BLAS_S: return (wpi_scalar){.re = (double)*(const float *)value};
    case WPI_BLAS_D: return (wpi_scalar){.re = *(const double *)value};
    case WPI_BLAS_C: {
        const cuComplex *c = value;
        return (wpi_scalar){.re = (double)c->x, .im = (double)c->y};
    }
    default: {
        const cuDoubleComplex *z = value;
        return (wpi_scalar){.re = z->x, .im = z->y};
    }
    }
}

cusparseStatus_t wpi_cusparse_pivot_init(wpi_cusparse_pivot *pivot) {
    const long long none = -1;
    CUSPARSE_CUDA(cudaMalloc((void **)&pivot->first, sizeof none));
    return wpi_cusparse_status(
        cudaMemcpy(pivot->first, &none, sizeof none, cudaMemcpyHostToDevice));
}

cusparseStatus_t wpi_cusparse_pivot_find(cusparseHandle_t handle, const wpi_cusparse_pivot *pivot,
                                         int *position) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (pivot == NULL || position == NULL) return CUSPARSE_STATUS_INVALID_VALUE;
    long long line = -1;
    CUSPARSE_CUDA(
        cudaMemcpyAsync(&line, pivot->first, sizeof line, cudaMemcpyDeviceToHost, handle->stream));
    CUSPARSE_CUDA(cudaStreamSynchronize(handle->stream));
    const int found = line < 0 ? -1 : (int)line + (int)pivot->base;
    if (handle->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE)
        CUSPARSE_CUDA(cudaMemcpy(position, &found, sizeof found, cudaMemcpyHostToDevice));
    else
        *position = found;
    return found < 0 ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ZERO_PIVOT;
}

cusparseStatus_t wpi_cusparse_total(cusparseHandle_t handle, cudaError_t error, long long *sizes,
                                    long long count, int *total) {
    long long sum = 0;
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(&sum, sizes + count, sizeof sum, cudaMemcpyDeviceToHost,
                                handle->stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(handle->stream);
    const cudaError_t freed = cudaFree(sizes);
    CUSPARSE_CUDA(error);
    CUSPARSE_CUDA(freed);
    const int result = (int)sum;
    if (handle->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE)
        return wpi_cusparse_status(
            cudaMemcpy(total, &result, sizeof result, cudaMemcpyHostToDevice));
    *total = result;
    return CUSPARSE_STATUS_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "libraries/cusolver/cusolver_handle.h"

#include <stddef.h>

#include "base/alloc.h"
#include "base/log.h"
#include "warpage/cudart.h"

#define MAGIC 0x776172702d736f6cu
#define OK CUSOLVER_STATUS_SUCCESS
#define INVALID CUSOLVER_STATUS_INVALID_VALUE

WP_API cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle) {
    if (handle == NULL) return INVALID;
    *handle = NULL;
    if (wp_cudart_device() == NULL) return CUSOLVER_STATUS_NOT_INITIALIZED;
    struct cusolverDnContext *made = wpi_calloc(1, sizeof *made);
    if (made == NULL) return CUSOLVER_STATUS_ALLOC_FAILED;
    made->magic = MAGIC;
    *handle = made;
    return OK;
}

WP_API cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
    CUSOLVER_TRY(wpi_cusolver_enter(handle));
    handle->magic = 0;
    wpi_free(handle);
    return OK;
}

cusolverStatus_t wpi_cusolver_enter(cusolverDnHandle_t handle) {
    return handle != NULL && handle->magic == MAGIC ? OK : CUSOLVER_STATUS_NOT_INITIALIZED;
}

cusolverStatus_t wpi_cusolver_status(cudaError_t error) {
    switch (error) {
    case cudaSuccess: return OK;
    case cudaErrorMemoryAllocation: return CUSOLVER_STATUS_ALLOC_FAILED;
    default: return CUSOLVER_STATUS_EXECUTION_FAILED;
    }
}

cusolverStatus_t wpi_cusolver_refuse(const char *what) {
    wpi_log(WP_LOG_WARN, "cusolver",
            "%s is not supported; it returns CUSOLVER_STATUS_NOT_SUPPORTED", what);
    return CUSOLVER_STATUS_NOT_SUPPORTED;
}

WP_API cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t streamId) {
    CUSOLVER_TRY(wpi_cusolver_enter(handle));
    handle->stream = streamId;
    return OK;
}

WP_API cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t *streamId) {
    CUSOLVER_TRY(wpi_cusolver_enter(handle));
    if (streamId == NULL) return INVALID;
    *streamId = handle->stream;
    return OK;
}

WP_API cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int *value) {
    static const int values[] = {CUSOLVER_VER_MAJOR, CUSOLVER_VER_MINOR, CUSOLVER_VER_PATCH};
    if (value == NULL || (unsigned)type > PATCH_LEVEL) return INVALID;
    *value = values[type];
    return OK;
}

WP_API cusolverStatus_t cusolverGetVersion(int *version) {
    if (version == NULL) return INVALID;
    *version = CUSOLVER_VERSION;
    return OK;
}

/* ---- parameters of Jacobi's methods, which change nothing ---- */

struct syevjInfo {
    int unused;
};
struct gesvdjInfo {
    int unused;
};

#define PARAMETERS(Name, name)                                                                     \
    WP_API cusolverStatus_t cusolverDnCreate##Name##Info(name##Info_t *info) {                     \
        if (info == NULL) return INVALID;                                                          \
        *info = wpi_calloc(1, sizeof **info);                                                      \
        return *info == NULL ? CUSOLVER_STATUS_ALLOC_FAILED : OK;                                  \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDnDestroy##Name##Info(name##Info_t info) {                     \
        wpi_free(info);                                                                            \
        return OK;                                                                                 \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDnX##name##SetTolerance(name##Info_t info, double tolerance) { \
        return info == NULL || !(tolerance >= 0) ? INVALID : OK;                                   \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDnX##name##SetMaxSweeps(name##Info_t info, int max_sweeps) {   \
        return info == NULL || max_sweeps < 0 ? INVALID : OK;                                      \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDnX##name##SetSortEig(name##Info_t info, int sort) {           \
        (void)sort;                                                                                \
        return info == NULL ? INVALID : OK;                                                        \
    }

PARAMETERS(Syevj, syevj)
PARAMETERS(Gesvdj, gesvdj)

/* The method leaves no elements beside the diagonal, and has no sweeps: it is one. */
WP_API cusolverStatus_t cusolverDnXsyevjGetResidual(cusolverDnHandle_t handle, syevjInfo_t info,
                                                    double *residual) {
    CUSOLVER_TRY(wpi_cusolver_enter(handle));
    if (info == NULL || residual == NULL) return INVALID;
    *residual = 0;
    return OK;
}

WP_API cusolverStatus_t cusolverDnXsyevjGetSweeps(cusolverDnHandle_t handle, syevjInfo_t info,
                                                  int *executed_sweeps) {
    CUSOLVER_TRY(wpi_cusolver_enter(handle));
    if (info == NULL || executed_sweeps == NULL) return INVALID;
    *executed_sweeps = 1;
    return OK;
}

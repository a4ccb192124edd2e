/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The state behind cuSPARSE's handles and descriptions, and what every call does with them:
 *
 *     CUSPARSE_TRY(wpi_cusparse_enter(handle));
 *     if (bad) return CUSPARSE_STATUS_INVALID_VALUE;
 *     return wpi_cusparse_status(wpi_sparse_of[type].product(handle->stream, …));
 *
 * Thread rule: a handle is used by one thread at a time, as with CUDA's library.
 */
#ifndef WP_LIBRARIES_CUSPARSE_HANDLE_H
#define WP_LIBRARIES_CUSPARSE_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "libraries/cusparse/sparse_shared.h"
#include "warpage/cuda/cusparse.h"
#include "warpage/error.h"

struct cusparseContext {
    uint64_t magic;
    cudaStream_t stream;
    cusparsePointerMode_t pointer_mode;
    void *result; /* device memory for one element */
};

struct cusparseMatDescr {
    cusparseMatrixType_t type;
    cusparseFillMode_t fill_mode;
    cusparseDiagType_t diag_type;
    cusparseIndexBase_t index_base;
};

struct cusparseSpVecDescr {
    int64_t size, count;
    void *indices, *values;
    cusparseIndexType_t index_type;
    cusparseIndexBase_t base;
    cudaDataType type;
};

struct cusparseDnVecDescr {
    int64_t size;
    void *values;
    cudaDataType type;
};

struct cusparseSpMatDescr {
    cusparseFormat_t format;
    int64_t rows, columns, count;
    void *offsets, *indices, *values; /* offsets: the rows of a COO matrix */
    cusparseIndexType_t offset_type, index_type;
    cusparseIndexBase_t base;
    cudaDataType type;
    cusparseFillMode_t fill_mode;
    cusparseDiagType_t diag_type;
    int batch;
    int64_t offsets_stride, stride;
};

struct cusparseDnMatDescr {
    int64_t rows, columns, ld;
    void *values;
    cudaDataType type;
    cusparseOrder_t order;
    int batch;
    int64_t stride;
};

#define CUSPARSE_TRY(expression)                                                                   \
    do {                                                                                           \
        const cusparseStatus_t cusparse_try = (expression);                                        \
        if (cusparse_try != CUSPARSE_STATUS_SUCCESS) return cusparse_try;                          \
    } while (0)

#define CUSPARSE_CUDA(expression) CUSPARSE_TRY(wpi_cusparse_status(expression))

/** NOT_INITIALIZED if `handle` is not one. */
cusparseStatus_t wpi_cusparse_enter(cusparseHandle_t handle);
cusparseStatus_t wpi_cusparse_status(cudaError_t error);
/** The element type; NOT_SUPPORTED, with a message that names `call`, if there are no kernels. */
cusparseStatus_t wpi_cusparse_type(const char *call, cudaDataType type, wpi_blas_type *out);
size_t wpi_cusparse_bytes(wpi_blas_type type);
/** A factor of the type; by value in pointer mode HOST. */
wpi_scalar wpi_cusparse_scalar(cusparseHandle_t handle, wpi_blas_type type, const void *value);

/** Behind a scan of `sizes`, whose launches returned `error`: sizes[count] as the program's number
 * of entries, on the host or the device. Frees the sizes. */
cusparseStatus_t wpi_cusparse_total(cusparseHandle_t handle, cudaError_t error, long long *sizes,
                                    long long count, int *total);

/** A matrix as the kernels take it, after an operation. */
wpi_sparse wpi_cusparse_matrix(const struct cusparseSpMatDescr *m, cusparseOperation_t op);
/** … by rows of `m` x `n`, of the older calls. */
wpi_sparse wpi_cusparse_rows(const void *values, const int *offsets, const int *indices,
                             long long m, long long n, long long count, int base);
wpi_sparse_dense wpi_cusparse_dense(const struct cusparseDnMatDescr *m, cusparseOperation_t op);
wpi_sparse wpi_cusparse_vector(const struct cusparseSpVecDescr *v);

/** Where a factor or a triangle lacks a pivot: what older calls' structures of information hold. */
typedef struct wpi_cusparse_pivot {
    long long *first; /* in device memory: a line, or -1 */
    cusparseIndexBase_t base;
} wpi_cusparse_pivot;

cusparseStatus_t wpi_cusparse_pivot_init(wpi_cusparse_pivot *pivot);
/** ZERO_PIVOT, and where, if there is such a line. */
cusparseStatus_t wpi_cusparse_pivot_find(cusparseHandle_t handle, const wpi_cusparse_pivot *pivot,
                                         int *position);

/** The structure of one kind of call, and the calls that make, destroy and ask it; alloc.h comes
 * before. */
#define WPI_CUSPARSE_INFO(Name, name)                                                              \
    struct name##Info {                                                                            \
        wpi_cusparse_pivot pivot;                                                                  \
    };                                                                                             \
    WP_API cusparseStatus_t cusparseCreate##Name##Info(name##Info_t *info) {                       \
        if (info == NULL) return CUSPARSE_STATUS_INVALID_VALUE;                                    \
        *info = wpi_calloc(1, sizeof **info);                                                      \
        if (*info == NULL) return CUSPARSE_STATUS_ALLOC_FAILED;                                    \
        return wpi_cusparse_pivot_init(&(*info)->pivot);                                           \
    }                                                                                              \
    WP_API cusparseStatus_t cusparseDestroy##Name##Info(name##Info_t info) {                       \
        if (info == NULL) return CUSPARSE_STATUS_SUCCESS;                                          \
        const cudaError_t error = cudaFree(info->pivot.first);                                     \
        wpi_free(info);                                                                            \
        return wpi_cusparse_status(error);                                                         \
    }                                                                                              \
    WP_API cusparseStatus_t cusparseX##name##_zeroPivot(cusparseHandle_t handle,                   \
                                                        name##Info_t info, int *position) {        \
        return wpi_cusparse_pivot_find(handle, info == NULL ? NULL : &info->pivot, position);      \
    }

static inline bool wpi_cusparse_is_op(cusparseOperation_t op) {
    return (unsigned)op <= CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
}

#endif

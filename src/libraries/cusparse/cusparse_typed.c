/* SPDX-License-Identifier: Apache-2.0 */
/* Calls whose name has the type, from one text: incomplete factors, tridiagonal systems, products
 * of before CUDA 11. */
#include <string.h>

#include "base/alloc.h"
#include "libraries/cusparse/cusparse_handle.h"

#define OK CUSPARSE_STATUS_SUCCESS
#define INVALID CUSPARSE_STATUS_INVALID_VALUE
#define BUFFER_BYTES 8

/* ---- counts ---- */

static cusparseStatus_t count(cusparseHandle_t handle, wpi_blas_type type,
                              cusparseDirection_t direction, int m, int n, const void *a, int lda,
                              int *lines, int *total) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (m < 0 || n < 0 || lda < m || lines == NULL || total == NULL) return INVALID;
    const bool is_rows = direction == CUSPARSE_DIRECTION_ROW;
    const long long count = is_rows ? m : n;
    const wpi_sparse_dense dense = {
        .data = (void *)(uintptr_t)a, .row = is_rows ? 1 : lda, .column = is_rows ? lda : 1};
    long long *sizes;
    CUSPARSE_CUDA(cudaMalloc((void **)&sizes, sizeof *sizes * (size_t)(count + 1)));
    const wpi_indices to = {lines, 0, 0};
    cudaError_t error =
        wpi_sparse_of[type].count(handle->stream, &dense, count, is_rows ? n : m, sizes);
    /* The caller's list has no room for the sum, which the scan puts behind. */
    if (error == cudaSuccess && count > 0)
        error = wpi_sparse_store(handle->stream, sizes, &to, count - 1);
    if (error == cudaSuccess) error = wpi_sparse_scan(handle->stream, sizes, sizes, count);
    return wpi_cusparse_total(handle, error, sizes, count, total);
}

/* ---- dense and CSR ---- */

/* The entries of each row are counted again: their starts are needed as 64-bit numbers. */
static cusparseStatus_t to_rows(cusparseHandle_t handle, wpi_blas_type type,
                                const cusparseMatDescr_t descr, const wpi_sparse_dense *from,
                                const wpi_sparse *to) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (to->lines < 0 || to->width < 0 || from->column < to->lines || descr == NULL ||
        to->offsets.data == NULL)
        return INVALID;
    long long *starts;
    CUSPARSE_CUDA(cudaMalloc((void **)&starts, sizeof *starts * (size_t)(to->lines + 1)));
    const wpi_sparse_launches *calls = &wpi_sparse_of[type];
    cudaError_t error = calls->count(handle->stream, from, to->lines, to->width, starts);
    if (error == cudaSuccess) error = wpi_sparse_scan(handle->stream, starts, starts, to->lines);
    if (error == cudaSuccess)
        error = wpi_sparse_store(handle->stream, starts, &to->offsets, to->lines);
    if (error == cudaSuccess) error = calls->gather_lines(handle->stream, from, to, starts);
    const cudaError_t freed = cudaFree(starts); /* waits for them */
    CUSPARSE_CUDA(error);
    return wpi_cusparse_status(freed);
}

static cusparseStatus_t to_dense(cusparseHandle_t handle, wpi_blas_type type,
                                 const cusparseMatDescr_t descr, const wpi_sparse *from,
                                 const wpi_sparse_dense *to) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (from->lines < 0 || from->width < 0 || to->column < from->lines || descr == NULL)
        return INVALID;
    return wpi_cusparse_status(wpi_sparse_of[type].spread_lines(handle->stream, from, to));
}

#define DENSE(X, T)                                                                                \
    WP_API cusparseStatus_t cusparse##X##dense2csr(                                                \
        cusparseHandle_t handle, int m, int n, const cusparseMatDescr_t descrA, const T *A,        \
        int lda, const int *nnzPerRow, T *csrVal, int *csrRowPtr, int *csrColInd) {                \
        (void)nnzPerRow;                                                                           \
        const wpi_sparse_dense from = {.data = (void *)(uintptr_t)A, .row = 1, .column = lda};     \
        const wpi_sparse to = wpi_cusparse_rows(csrVal, csrRowPtr, csrColInd, m, n, 0,             \
                                                descrA == NULL ? 0 : (int)descrA->index_base);     \
        return to_rows(handle, WPI_BLAS_##X, descrA, &from, &to);                                  \
    }                                                                                              \
    WP_API cusparseStatus_t cusparse##X##csr2dense(                                                \
        cusparseHandle_t handle, int m, int n, const cusparseMatDescr_t descrA, const T *csrVal,   \
        const int *csrRowPtr, const int *csrColInd, T *A, int lda) {                               \
        const wpi_sparse from = wpi_cusparse_rows(csrVal, csrRowPtr, csrColInd, m, n, 0,           \
                                                  descrA == NULL ? 0 : (int)descrA->index_base);   \
        const wpi_sparse_dense to = {.data = A, .row = 1, .column = lda};                          \
        return to_dense(handle, WPI_BLAS_##X, descrA, &from, &to);                                 \
    }

/* ---- incomplete factors ---- */

WPI_CUSPARSE_INFO(Csrilu02, csrilu02)
WPI_CUSPARSE_INFO(Csric02, csric02)

static cusparseStatus_t factor(cusparseHandle_t handle, wpi_blas_type type, bool is_symmetric,
                               int m, int nnz, const cusparseMatDescr_t descr, void *values,
                               const int *offsets, const int *at, wpi_cusparse_pivot *pivot) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (m < 0 || nnz < 0 || descr == NULL || pivot == NULL) return INVALID;
    pivot->base = descr->index_base;
    const wpi_sparse s = wpi_cusparse_rows(values, offsets, at, m, m, nnz, (int)descr->index_base);
    return wpi_cusparse_status(
        wpi_sparse_of[type].factor(handle->stream, &s, is_symmetric, pivot->first));
}

static cusparseStatus_t int_buffer(cusparseHandle_t handle, int *bytes) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (bytes == NULL) return INVALID;
    *bytes = BUFFER_BYTES;
    return OK;
}

static cusparseStatus_t buffer(cusparseHandle_t handle, size_t needed, size_t *bytes) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (bytes == NULL) return INVALID;
    *bytes = needed > BUFFER_BYTES ? needed : BUFFER_BYTES;
    return OK;
}

#define FACTOR(X, T, name, is_symmetric)                                                           \
    WP_API cusparseStatus_t cusparse##X##name##_bufferSize(                                        \
        cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descrA, T *csrVal,       \
        const int *csrRowPtr, const int *csrColInd, name##Info_t info, int *pBufferSizeInBytes) {  \
        (void)m, (void)nnz, (void)descrA, (void)csrVal, (void)csrRowPtr, (void)csrColInd;          \
        (void)info;                                                                                \
        return int_buffer(handle, pBufferSizeInBytes);                                             \
    }                                                                                              \
    WP_API cusparseStatus_t cusparse##X##name##_bufferSizeExt(                                     \
        cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descrA, T *csrVal,       \
        const int *csrRowPtr, const int *csrColInd, name##Info_t info, size_t *pBufferSize) {      \
        (void)m, (void)nnz, (void)descrA, (void)csrVal, (void)csrRowPtr, (void)csrColInd;          \
        (void)info;                                                                                \
        return buffer(handle, 0, pBufferSize);                                                     \
    }                                                                                              \
    WP_API cusparseStatus_t cusparse##X##name##_analysis(                                          \
        cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descrA, const T *csrVal, \
        const int *csrRowPtr, const int *csrColInd, name##Info_t info,                             \
        cusparseSolvePolicy_t policy, void *pBuffer) {                                             \
        (void)m, (void)nnz, (void)descrA, (void)csrVal, (void)csrRowPtr, (void)csrColInd;          \
        (void)info, (void)policy, (void)pBuffer;                                                   \
        return wpi_cusparse_enter(handle);                                                         \
    }                                                                                              \
    WP_API cusparseStatus_t cusparse##X##name(                                                     \
        cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descrA, T *csrVal,       \
        const int *csrRowPtr, const int *csrColInd, name##Info_t info,                             \
        cusparseSolvePolicy_t policy, void *pBuffer) {                                             \
        (void)policy, (void)pBuffer;                                                               \
        return factor(handle, WPI_BLAS_##X, is_symmetric, m, nnz, descrA, csrVal, csrRowPtr,       \
                      csrColInd, info == NULL ? NULL : &info->pivot);                              \
    }

/* ---- tridiagonal systems ---- */

static cusparseStatus_t band(cusparseHandle_t handle, wpi_blas_type type, bool has_pivots,
                             const wpi_sparse_band *s) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (s->rows < 1 || s->count < 0 || s->x_step < s->rows || s->work == NULL) return INVALID;
    return wpi_cusparse_status(wpi_sparse_of[type].band(handle->stream, s, has_pivots));
}

#define BAND_BYTES(m, n, T) ((size_t)(m) * (size_t)(n) * 3 * sizeof(T))

#define BAND(X, T, name, has_pivots)                                                               \
    WP_API cusparseStatus_t cusparse##X##name##_bufferSizeExt(                                     \
        cusparseHandle_t handle, int m, int n, const T *dl, const T *d, const T *du, const T *B,   \
        int ldb, size_t *bufferSizeInBytes) {                                                      \
        (void)dl, (void)d, (void)du, (void)B, (void)ldb;                                           \
        return m < 1 || n < 0 ? INVALID : buffer(handle, BAND_BYTES(m, n, T), bufferSizeInBytes);  \
    }                                                                                              \
    WP_API cusparseStatus_t cusparse##X##name(cusparseHandle_t handle, int m, int n, const T *dl,  \
                                              const T *d, const T *du, T *B, int ldb,              \
                                              void *pBuffer) {                                     \
        return band(handle, WPI_BLAS_##X, has_pivots,                                              \
                    &(wpi_sparse_band){dl, d, du, B, pBuffer, m, n, 0, ldb});                      \
    }

#define BAND_BATCH(X, T)                                                                           \
    WP_API cusparseStatus_t cusparse##X##gtsv2StridedBatch_bufferSizeExt(                          \
        cusparseHandle_t handle, int m, const T *dl, const T *d, const T *du, const T *x,          \
        int batchCount, int batchStride, size_t *bufferSizeInBytes) {                              \
        (void)dl, (void)d, (void)du, (void)x, (void)batchStride;                                   \
        return m < 1 || batchCount < 0                                                             \
                   ? INVALID                                                                       \
                   : buffer(handle, BAND_BYTES(m, batchCount, T), bufferSizeInBytes);              \
    }                                                                                              \
    WP_API cusparseStatus_t cusparse##X##gtsv2StridedBatch(                                        \
        cusparseHandle_t handle, int m, const T *dl, const T *d, const T *du, T *x,                \
        int batchCount, int batchStride, void *pBuffer) {                                          \
        return band(                                                                               \
            handle, WPI_BLAS_##X, false,                                                           \
            &(wpi_sparse_band){dl, d, du, x, pBuffer, m, batchCount, batchStride, batchStride});   \
    }

/* ---- products of before CUDA 11 ---- */

/* The matrix op(A) of k columns by n columns of B; A is m x k as stored. */
static cusparseStatus_t product(cusparseHandle_t handle, wpi_blas_type type,
                                cusparseOperation_t opA, cusparseOperation_t opB, int m, int n,
                                int k, int nnz, const void *alpha, const cusparseMatDescr_t descr,
                                const void *values, const int *offsets, const int *at,
                                const void *b, int ldb, const void *beta, void *c, int ldc) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (m < 0 || n < 0 || k < 0 || nnz < 0 || alpha == NULL || beta == NULL || descr == NULL ||
        !wpi_cusparse_is_op(opA) || !wpi_cusparse_is_op(opB))
        return INVALID;
    if (descr->type != CUSPARSE_MATRIX_TYPE_GENERAL)
        return CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED;
    const bool is_plain = opB == CUSPARSE_OPERATION_NON_TRANSPOSE;
    wpi_sparse_product p = {
        .a = wpi_cusparse_rows(values, offsets, at, m, k, nnz, (int)descr->index_base),
        .b = {.data = (void *)(uintptr_t)b,
              .row = is_plain ? 1 : ldb,
              .column = is_plain ? ldb : 1,
              .is_conjugated = opB == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE},
        .c = {.data = c, .row = 1, .column = ldc},
        .alpha = wpi_cusparse_scalar(handle, type, alpha),
        .beta = wpi_cusparse_scalar(handle, type, beta),
        .rows = opA == CUSPARSE_OPERATION_NON_TRANSPOSE ? m : k,
        .columns = n,
        .batch = 1};
    p.a.is_transposed = opA != CUSPARSE_OPERATION_NON_TRANSPOSE;
    p.a.is_conjugated = opA == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
    return wpi_cusparse_status(wpi_sparse_of[type].product(handle->stream, &p));
}

#define PRODUCTS(X, T)                                                                             \
    WP_API cusparseStatus_t cusparse##X##csrmv(                                                    \
        cusparseHandle_t handle, cusparseOperation_t transA, int m, int n, int nnz,                \
        const T *alpha, const cusparseMatDescr_t descrA, const T *csrVal, const int *csrRowPtr,    \
        const int *csrColInd, const T *x, const T *beta, T *y) {                                   \
        return product(handle, WPI_BLAS_##X, transA, CUSPARSE_OPERATION_NON_TRANSPOSE, m, 1, n,    \
                       nnz, alpha, descrA, csrVal, csrRowPtr, csrColInd, x, n > m ? n : m, beta,   \
                       y, n > m ? n : m);                                                          \
    }                                                                                              \
    WP_API cusparseStatus_t cusparse##X##csrmm(                                                    \
        cusparseHandle_t handle, cusparseOperation_t transA, int m, int n, int k, int nnz,         \
        const T *alpha, const cusparseMatDescr_t descrA, const T *csrVal, const int *csrRowPtr,    \
        const int *csrColInd, const T *B, int ldb, const T *beta, T *C, int ldc) {                 \
        return product(handle, WPI_BLAS_##X, transA, CUSPARSE_OPERATION_NON_TRANSPOSE, m, n, k,    \
                       nnz, alpha, descrA, csrVal, csrRowPtr, csrColInd, B, ldb, beta, C, ldc);    \
    }                                                                                              \
    WP_API cusparseStatus_t cusparse##X##csrmm2(                                                   \
        cusparseHandle_t handle, cusparseOperation_t transA, cusparseOperation_t transB, int m,    \
        int n, int k, int nnz, const T *alpha, const cusparseMatDescr_t descrA, const T *csrVal,   \
        const int *csrRowPtr, const int *csrColInd, const T *B, int ldb, const T *beta, T *C,      \
        int ldc) {                                                                                 \
        return product(handle, WPI_BLAS_##X, transA, transB, m, n, k, nnz, alpha, descrA, csrVal,  \
                       csrRowPtr, csrColInd, B, ldb, beta, C, ldc);                                \
    }                                                                                              \
    WP_API cusparseStatus_t cusparse##X##nnz(cusparseHandle_t handle, cusparseDirection_t dirA,    \
                                             int m, int n, const cusparseMatDescr_t descrA,        \
                                             const T *A, int lda, int *nnzPerRowCol,               \
                                             int *nnzTotalDevHostPtr) {                            \
        (void)descrA;                                                                              \
        return count(handle, WPI_BLAS_##X, dirA, m, n, A, lda, nnzPerRowCol, nnzTotalDevHostPtr);  \
    }

#define CALLS(X, T)                                                                                \
    FACTOR(X, T, csrilu02, false)                                                                  \
    FACTOR(X, T, csric02, true)                                                                    \
    BAND(X, T, gtsv2, true)                                                                        \
    BAND(X, T, gtsv2_nopivot, false)                                                               \
    BAND_BATCH(X, T)                                                                               \
    PRODUCTS(X, T)                                                                                 \
    DENSE(X, T)

CALLS(S, float)
CALLS(D, double)
CALLS(C, cuComplex)
CALLS(Z, cuDoubleComplex)

/* SPDX-License-Identifier: Apache-2.0 */
/* Calls whose name has the type, from one text: sums of two matrices, and triangular systems of
 * before CUDA 12. */
#include "base/alloc.h"
#include "libraries/cusparse/cusparse_handle.h"

#define OK CUSPARSE_STATUS_SUCCESS
#define INVALID CUSPARSE_STATUS_INVALID_VALUE
#define BUFFER_BYTES 8

static bool is_general(const struct cusparseMatDescr *d) {
    return d != NULL && d->type == CUSPARSE_MATRIX_TYPE_GENERAL;
}

/* ---- C = alpha A + beta B: C has the entries of both; columns of a row ascend ---- */

static cusparseStatus_t sum_size(cusparseHandle_t handle, int m, int n, size_t *bytes) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (m < 0 || n < 0 || bytes == NULL) return INVALID;
    *bytes = BUFFER_BYTES;
    return OK;
}

static cusparseStatus_t sum_count(cusparseHandle_t handle, int m, int n,
                                  const cusparseMatDescr_t descr_a, int count_a,
                                  const int *offsets_a, const int *at_a,
                                  const cusparseMatDescr_t descr_b, int count_b,
                                  const int *offsets_b, const int *at_b,
                                  const cusparseMatDescr_t descr_c, int *offsets_c, int *total) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (m < 0 || n < 0 || count_a < 0 || count_b < 0 || offsets_c == NULL || total == NULL)
        return INVALID;
    if (!is_general(descr_a) || !is_general(descr_b) || !is_general(descr_c))
        return CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED;
    const wpi_sparse a =
        wpi_cusparse_rows(NULL, offsets_a, at_a, m, n, count_a, (int)descr_a->index_base);
    const wpi_sparse b =
        wpi_cusparse_rows(NULL, offsets_b, at_b, m, n, count_b, (int)descr_b->index_base);
    const wpi_indices to = {.data = offsets_c, .base = (int)descr_c->index_base};
    long long *sizes;
    CUSPARSE_CUDA(cudaMalloc((void **)&sizes, sizeof *sizes * (size_t)(m + 1)));
    cudaError_t error = wpi_sparse_sum_sizes(handle->stream, &a, &b, sizes);
    if (error == cudaSuccess) error = wpi_sparse_scan(handle->stream, sizes, sizes, m);
    if (error == cudaSuccess) error = wpi_sparse_store(handle->stream, sizes, &to, m);
    return wpi_cusparse_total(handle, error, sizes, m, total);
}

WP_API cusparseStatus_t cusparseXcsrgeam2Nnz(cusparseHandle_t handle, int m, int n,
                                             const cusparseMatDescr_t descrA, int nnzA,
                                             const int *csrRowPtrA, const int *csrColIndA,
                                             const cusparseMatDescr_t descrB, int nnzB,
                                             const int *csrRowPtrB, const int *csrColIndB,
                                             const cusparseMatDescr_t descrC, int *csrRowPtrC,
                                             int *nnzTotalDevHostPtr, void *workspace) {
    (void)workspace;
    return sum_count(handle, m, n, descrA, nnzA, csrRowPtrA, csrColIndA, descrB, nnzB, csrRowPtrB,
                     csrColIndB, descrC, csrRowPtrC, nnzTotalDevHostPtr);
}

WP_API cusparseStatus_t cusparseXcsrgeamNnz(cusparseHandle_t handle, int m, int n,
                                            const cusparseMatDescr_t descrA, int nnzA,
                                            const int *csrRowPtrA, const int *csrColIndA,
                                            const cusparseMatDescr_t descrB, int nnzB,
                                            const int *csrRowPtrB, const int *csrColIndB,
                                            const cusparseMatDescr_t descrC, int *csrRowPtrC,
                                            int *nnzTotalDevHostPtr) {
    return sum_count(handle, m, n, descrA, nnzA, csrRowPtrA, csrColIndA, descrB, nnzB, csrRowPtrB,
                     csrColIndB, descrC, csrRowPtrC, nnzTotalDevHostPtr);
}

static cusparseStatus_t add(cusparseHandle_t handle, wpi_blas_type type, const void *alpha,
                            const cusparseMatDescr_t descr_a, wpi_sparse a, const void *beta,
                            const cusparseMatDescr_t descr_b, wpi_sparse b,
                            const cusparseMatDescr_t descr_c, wpi_sparse c) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (a.lines < 0 || a.width < 0 || alpha == NULL || beta == NULL) return INVALID;
    if (!is_general(descr_a) || !is_general(descr_b) || !is_general(descr_c))
        return CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED;
    a.offsets.base = a.at.base = (int)descr_a->index_base;
    b.offsets.base = b.at.base = (int)descr_b->index_base;
    c.offsets.base = c.at.base = (int)descr_c->index_base;
    const wpi_sparse_addition s = {.a = a,
                                   .b = b,
                                   .c = c,
                                   .alpha = wpi_cusparse_scalar(handle, type, alpha),
                                   .beta = wpi_cusparse_scalar(handle, type, beta)};
    return wpi_cusparse_status(wpi_sparse_of[type].add(handle->stream, &s));
}

/* ---- triangular systems ---- */

WPI_CUSPARSE_INFO(Csrsv2, csrsv2)
WPI_CUSPARSE_INFO(Csrsm2, csrsm2)

static cusparseStatus_t system_size(cusparseHandle_t handle, int m, int nnz,
                                    const cusparseMatDescr_t descr) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (m < 0 || nnz < 0 || descr == NULL) return INVALID;
    return is_general(descr) ? OK : CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED;
}

static cusparseStatus_t analyse(cusparseHandle_t handle, wpi_blas_type type, int m, int nnz,
                                const cusparseMatDescr_t descr, const void *values,
                                const int *offsets, const int *at, wpi_cusparse_pivot *pivot) {
    CUSPARSE_TRY(system_size(handle, m, nnz, descr));
    if (pivot == NULL) return INVALID;
    pivot->base = descr->index_base;
    const long long none = -1;
    const wpi_sparse a = wpi_cusparse_rows(values, offsets, at, m, m, nnz, (int)descr->index_base);
    if (descr->diag_type == CUSPARSE_DIAG_TYPE_UNIT)
        return wpi_cusparse_status(cudaMemcpyAsync(pivot->first, &none, sizeof none,
                                                   cudaMemcpyHostToDevice, handle->stream));
    return wpi_cusparse_status(wpi_sparse_of[type].pivot(handle->stream, &a, pivot->first));
}

static cusparseStatus_t solve(cusparseHandle_t handle, wpi_blas_type type, cusparseOperation_t op,
                              int m, int columns, int nnz, const void *alpha,
                              const cusparseMatDescr_t descr, const void *values,
                              const int *offsets, const int *at, wpi_sparse_dense b,
                              wpi_sparse_dense x) {
    CUSPARSE_TRY(system_size(handle, m, nnz, descr));
    if (alpha == NULL || columns < 0 || !wpi_cusparse_is_op(op)) return INVALID;
    wpi_sparse_system s = {
        .a = wpi_cusparse_rows(values, offsets, at, m, m, nnz, (int)descr->index_base),
        .b = b,
        .x = x,
        .alpha = wpi_cusparse_scalar(handle, type, alpha),
        .columns = columns,
        .is_lower = descr->fill_mode == CUSPARSE_FILL_MODE_LOWER,
        .is_unit = descr->diag_type == CUSPARSE_DIAG_TYPE_UNIT};
    s.a.is_transposed = op != CUSPARSE_OPERATION_NON_TRANSPOSE;
    s.a.is_conjugated = op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
    return wpi_cusparse_status(wpi_sparse_of[type].solve(handle->stream, &s));
}

/* Right-hand sides are columns of B, or its rows. */
static wpi_sparse_dense sides(void *data, cusparseOperation_t op, int ldb) {
    const bool is_plain = op == CUSPARSE_OPERATION_NON_TRANSPOSE;
    return (wpi_sparse_dense){
        .data = data, .row = is_plain ? 1 : ldb, .column = is_plain ? ldb : 1};
}

#define SUMS(X, T)                                                                                 \
    WP_API cusparseStatus_t cusparse##X##csrgeam2_bufferSizeExt(                                   \
        cusparseHandle_t handle, int m, int n, const T *alpha, const cusparseMatDescr_t descrA,    \
        int nnzA, const T *csrValA, const int *csrRowPtrA, const int *csrColIndA, const T *beta,   \
        const cusparseMatDescr_t descrB, int nnzB, const T *csrValB, const int *csrRowPtrB,        \
        const int *csrColIndB, const cusparseMatDescr_t descrC, const T *csrValC,                  \
        const int *csrRowPtrC, const int *csrColIndC, size_t *pBufferSizeInBytes) {                \
        (void)alpha, (void)descrA, (void)nnzA, (void)csrValA, (void)csrRowPtrA, (void)csrColIndA;  \
        (void)beta, (void)descrB, (void)nnzB, (void)csrValB, (void)csrRowPtrB, (void)csrColIndB;   \
        (void)descrC, (void)csrValC, (void)csrRowPtrC, (void)csrColIndC;                           \
        return sum_size(handle, m, n, pBufferSizeInBytes);                                         \
    }                                                                                              \
    WP_API cusparseStatus_t cusparse##X##csrgeam(                                                  \
        cusparseHandle_t handle, int m, int n, const T *alpha, const cusparseMatDescr_t descrA,    \
        int nnzA, const T *csrValA, const int *csrRowPtrA, const int *csrColIndA, const T *beta,   \
        const cusparseMatDescr_t descrB, int nnzB, const T *csrValB, const int *csrRowPtrB,        \
        const int *csrColIndB, const cusparseMatDescr_t descrC, T *csrValC, int *csrRowPtrC,       \
        int *csrColIndC) {                                                                         \
        return add(handle, WPI_BLAS_##X, alpha, descrA,                                            \
                   wpi_cusparse_rows(csrValA, csrRowPtrA, csrColIndA, m, n, nnzA, 0), beta,        \
                   descrB, wpi_cusparse_rows(csrValB, csrRowPtrB, csrColIndB, m, n, nnzB, 0),      \
                   descrC, wpi_cusparse_rows(csrValC, csrRowPtrC, csrColIndC, m, n, 0, 0));        \
    }                                                                                              \
    WP_API cusparseStatus_t cusparse##X##csrgeam2(                                                 \
        cusparseHandle_t handle, int m, int n, const T *alpha, const cusparseMatDescr_t descrA,    \
        int nnzA, const T *csrValA, const int *csrRowPtrA, const int *csrColIndA, const T *beta,   \
        const cusparseMatDescr_t descrB, int nnzB, const T *csrValB, const int *csrRowPtrB,        \
        const int *csrColIndB, const cusparseMatDescr_t descrC, T *csrValC, int *csrRowPtrC,       \
        int *csrColIndC, void *pBuffer) {                                                          \
        (void)pBuffer;                                                                             \
        return cusparse##X##csrgeam(handle, m, n, alpha, descrA, nnzA, csrValA, csrRowPtrA,        \
                                    csrColIndA, beta, descrB, nnzB, csrValB, csrRowPtrB,           \
                                    csrColIndB, descrC, csrValC, csrRowPtrC, csrColIndC);          \
    }

#define SYSTEMS(X, T)                                                                              \
    WP_API cusparseStatus_t cusparse##X##csrsv2_bufferSize(                                        \
        cusparseHandle_t handle, cusparseOperation_t transA, int m, int nnz,                       \
        const cusparseMatDescr_t descrA, T *csrVal, const int *csrRowPtr, const int *csrColInd,    \
        csrsv2Info_t info, int *pBufferSizeInBytes) {                                              \
        (void)transA, (void)csrVal, (void)csrRowPtr, (void)csrColInd, (void)info;                  \
        CUSPARSE_TRY(system_size(handle, m, nnz, descrA));                                         \
        if (pBufferSizeInBytes == NULL) return INVALID;                                            \
        *pBufferSizeInBytes = BUFFER_BYTES;                                                        \
        return OK;                                                                                 \
    }                                                                                              \
    WP_API cusparseStatus_t cusparse##X##csrsv2_analysis(                                          \
        cusparseHandle_t handle, cusparseOperation_t transA, int m, int nnz,                       \
        const cusparseMatDescr_t descrA, const T *csrVal, const int *csrRowPtr,                    \
        const int *csrColInd, csrsv2Info_t info, cusparseSolvePolicy_t policy, void *pBuffer) {    \
        (void)transA, (void)policy, (void)pBuffer;                                                 \
        return analyse(handle, WPI_BLAS_##X, m, nnz, descrA, csrVal, csrRowPtr, csrColInd,         \
                       info == NULL ? NULL : &info->pivot);                                        \
    }                                                                                              \
    WP_API cusparseStatus_t cusparse##X##csrsv2_solve(                                             \
        cusparseHandle_t handle, cusparseOperation_t transA, int m, int nnz, const T *alpha,       \
        const cusparseMatDescr_t descrA, const T *csrVal, const int *csrRowPtr,                    \
        const int *csrColInd, csrsv2Info_t info, const T *f, T *x, cusparseSolvePolicy_t policy,   \
        void *pBuffer) {                                                                           \
        (void)info, (void)policy, (void)pBuffer;                                                   \
        return solve(handle, WPI_BLAS_##X, transA, m, 1, nnz, alpha, descrA, csrVal, csrRowPtr,    \
                     csrColInd, sides((void *)(uintptr_t)f, CUSPARSE_OPERATION_NON_TRANSPOSE, m),  \
                     sides(x, CUSPARSE_OPERATION_NON_TRANSPOSE, m));                               \
    }                                                                                              \
    WP_API cusparseStatus_t cusparse##X##csrsm2_bufferSizeExt(                                     \
        cusparseHandle_t handle, int algo, cusparseOperation_t transA, cusparseOperation_t transB, \
        int m, int nrhs, int nnz, const T *alpha, const cusparseMatDescr_t descrA,                 \
        const T *csrVal, const int *csrRowPtr, const int *csrColInd, const T *B, int ldb,          \
        csrsm2Info_t info, cusparseSolvePolicy_t policy, size_t *pBufferSize) {                    \
        (void)algo, (void)transA, (void)transB, (void)nrhs, (void)alpha, (void)csrVal, (void)B;    \
        (void)csrRowPtr, (void)csrColInd, (void)ldb, (void)info, (void)policy;                     \
        CUSPARSE_TRY(system_size(handle, m, nnz, descrA));                                         \
        if (pBufferSize == NULL) return INVALID;                                                   \
        *pBufferSize = BUFFER_BYTES;                                                               \
        return OK;                                                                                 \
    }                                                                                              \
    WP_API cusparseStatus_t cusparse##X##csrsm2_analysis(                                          \
        cusparseHandle_t handle, int algo, cusparseOperation_t transA, cusparseOperation_t transB, \
        int m, int nrhs, int nnz, const T *alpha, const cusparseMatDescr_t descrA,                 \
        const T *csrVal, const int *csrRowPtr, const int *csrColInd, const T *B, int ldb,          \
        csrsm2Info_t info, cusparseSolvePolicy_t policy, void *pBuffer) {                          \
        (void)algo, (void)transA, (void)transB, (void)nrhs, (void)alpha, (void)B, (void)ldb;       \
        (void)policy, (void)pBuffer;                                                               \
        return analyse(handle, WPI_BLAS_##X, m, nnz, descrA, csrVal, csrRowPtr, csrColInd,         \
                       info == NULL ? NULL : &info->pivot);                                        \
    }                                                                                              \
    WP_API cusparseStatus_t cusparse##X##csrsm2_solve(                                             \
        cusparseHandle_t handle, int algo, cusparseOperation_t transA, cusparseOperation_t transB, \
        int m, int nrhs, int nnz, const T *alpha, const cusparseMatDescr_t descrA,                 \
        const T *csrVal, const int *csrRowPtr, const int *csrColInd, T *B, int ldb,                \
        csrsm2Info_t info, cusparseSolvePolicy_t policy, void *pBuffer) {                          \
        (void)algo, (void)info, (void)policy, (void)pBuffer;                                       \
        const int rows = transB == CUSPARSE_OPERATION_NON_TRANSPOSE ? m : nrhs;                    \
        if (ldb < rows || transB == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) return INVALID;        \
        return solve(handle, WPI_BLAS_##X, transA, m, nrhs, nnz, alpha, descrA, csrVal, csrRowPtr, \
                     csrColInd, sides(B, transB, ldb), sides(B, transB, ldb));                     \
    }

#define CALLS(X, T) SUMS(X, T) SYSTEMS(X, T)
CALLS(S, float)
CALLS(D, double)
CALLS(C, cuComplex)
CALLS(Z, cuDoubleComplex)

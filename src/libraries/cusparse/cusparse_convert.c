/* SPDX-License-Identifier: Apache-2.0 */
/* Products of two sparse matrices, and conversions: calls that find out how many entries there are.
 */
#include "base/alloc.h"
#include "libraries/cuda_library.h"
#include "libraries/cusparse/cusparse_handle.h"

#define OK CUSPARSE_STATUS_SUCCESS
#define INVALID CUSPARSE_STATUS_INVALID_VALUE
#define BUFFER_BYTES 8

static cusparseStatus_t read_count(cusparseHandle_t handle, const long long *from, int64_t *out) {
    long long count = 0;
    CUSPARSE_CUDA(
        cudaMemcpyAsync(&count, from, sizeof count, cudaMemcpyDeviceToHost, handle->stream));
    CUSPARSE_CUDA(cudaStreamSynchronize(handle->stream));
    *out = count;
    return OK;
}

/* ---- products ---- */

struct cusparseSpGEMMDescr {
    long long *starts, *sizes, *at; /* device memory */
    void *values;
    int64_t products;
};

WP_API cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t *descr) {
    if (descr == NULL) return INVALID;
    *descr = wpi_calloc(1, sizeof **descr);
    return *descr == NULL ? CUSPARSE_STATUS_ALLOC_FAILED : OK;
}

static cudaError_t clear(cusparseSpGEMMDescr_t descr) {
    cudaError_t error = cudaSuccess;
    void *all[] = {descr->starts, descr->sizes, descr->at, descr->values};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const cudaError_t freed = cudaFree(all[i]);
        if (freed != cudaSuccess) error = freed;
    }
    *descr = (struct cusparseSpGEMMDescr){0};
    return error;
}

WP_API cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descr) {
    if (descr == NULL) return OK;
    const cudaError_t error = clear(descr);
    wpi_free(descr);
    return wpi_cusparse_status(error);
}

/* Both matrices by rows, not transposed, and no C to add. */
static cusparseStatus_t check_product(cusparseHandle_t handle, cusparseOperation_t opA,
                                      cusparseOperation_t opB, const void *alpha,
                                      cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                      const void *beta, cusparseConstSpMatDescr_t c,
                                      cudaDataType compute, cusparseSpGEMMDescr_t descr,
                                      wpi_blas_type *type) {
    static atomic_bool is_said;
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (alpha == NULL || beta == NULL || a == NULL || b == NULL || c == NULL || descr == NULL ||
        a->columns != b->rows || c->rows != a->rows || c->columns != b->columns)
        return INVALID;
    CUSPARSE_TRY(wpi_cusparse_type("cusparseSpGEMM", compute, type));
    const wpi_scalar old = wpi_cusparse_scalar(handle, *type, beta);
    if (opA == CUSPARSE_OPERATION_NON_TRANSPOSE && opB == CUSPARSE_OPERATION_NON_TRANSPOSE &&
        a->format == CUSPARSE_FORMAT_CSR && b->format == CUSPARSE_FORMAT_CSR &&
        c->format == CUSPARSE_FORMAT_CSR && a->type == compute && b->type == compute &&
        c->type == compute && old.pointer == NULL && old.re == 0 && old.im == 0)
        return OK;
    wpi_library_missing("cusparse",
                        "cusparseSpGEMM other than of CSR matrices of one type, as they are, with "
                        "beta = 0",
                        "CUSPARSE_STATUS_NOT_SUPPORTED", &is_said);
    return CUSPARSE_STATUS_NOT_SUPPORTED;
}

WP_API cusparseStatus_t cusparseSpGEMM_workEstimation(
    cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
    cusparseConstSpMatDescr_t matA, cusparseConstSpMatDescr_t matB, const void *beta,
    cusparseSpMatDescr_t matC, cudaDataType computeType, cusparseSpGEMMAlg_t alg,
    cusparseSpGEMMDescr_t descr, size_t *bufferSize1, void *externalBuffer1) {
    (void)alg;
    wpi_blas_type type;
    CUSPARSE_TRY(
        check_product(handle, opA, opB, alpha, matA, matB, beta, matC, computeType, descr, &type));
    if (bufferSize1 == NULL) return INVALID;
    *bufferSize1 = BUFFER_BYTES;
    if (externalBuffer1 == NULL) return OK; /* asks for the size */
    CUSPARSE_CUDA(clear(descr));
    const wpi_sparse a = wpi_cusparse_matrix(matA, opA), b = wpi_cusparse_matrix(matB, opB);
    const size_t bytes = sizeof(long long) * (size_t)(matA->rows + 1);
    CUSPARSE_CUDA(cudaMalloc((void **)&descr->starts, bytes));
    CUSPARSE_CUDA(cudaMalloc((void **)&descr->sizes, bytes));
    CUSPARSE_CUDA(wpi_sparse_bounds(handle->stream, &a, &b, descr->starts));
    CUSPARSE_CUDA(wpi_sparse_scan(handle->stream, descr->starts, descr->starts, matA->rows));
    return read_count(handle, descr->starts + matA->rows, &descr->products);
}

WP_API cusparseStatus_t cusparseSpGEMM_getNumProducts(cusparseSpGEMMDescr_t descr,
                                                      int64_t *num_prods) {
    if (descr == NULL || num_prods == NULL) return INVALID;
    *num_prods = descr->products;
    return OK;
}

static wpi_sparse_square square_of(cusparseHandle_t handle, wpi_blas_type type,
                                   cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                   const void *alpha, cusparseSpGEMMDescr_t descr) {
    return (wpi_sparse_square){.a = wpi_cusparse_matrix(a, CUSPARSE_OPERATION_NON_TRANSPOSE),
                               .b = wpi_cusparse_matrix(b, CUSPARSE_OPERATION_NON_TRANSPOSE),
                               .starts = descr->starts,
                               .sizes = descr->sizes,
                               .at = descr->at,
                               .values = descr->values,
                               .alpha = wpi_cusparse_scalar(handle, type, alpha)};
}

WP_API cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t opA,
                                               cusparseOperation_t opB, const void *alpha,
                                               cusparseConstSpMatDescr_t matA,
                                               cusparseConstSpMatDescr_t matB, const void *beta,
                                               cusparseSpMatDescr_t matC, cudaDataType computeType,
                                               cusparseSpGEMMAlg_t alg, cusparseSpGEMMDescr_t descr,
                                               size_t *bufferSize2, void *externalBuffer2) {
    (void)alg;
    wpi_blas_type type;
    CUSPARSE_TRY(
        check_product(handle, opA, opB, alpha, matA, matB, beta, matC, computeType, descr, &type));
    if (bufferSize2 == NULL || descr->starts == NULL) return INVALID;
    *bufferSize2 = BUFFER_BYTES;
    if (externalBuffer2 == NULL) return OK;
    const size_t products = (size_t)descr->products + 1;
    CUSPARSE_CUDA(cudaMalloc((void **)&descr->at, products * sizeof *descr->at));
    CUSPARSE_CUDA(cudaMalloc(&descr->values, products * wpi_cusparse_bytes(type)));
    const wpi_sparse_square s = square_of(handle, type, matA, matB, alpha, descr);
    CUSPARSE_CUDA(wpi_sparse_of[type].expand(handle->stream, &s));
    CUSPARSE_CUDA(wpi_sparse_scan(handle->stream, descr->sizes, descr->sizes, matA->rows));
    return read_count(handle, descr->sizes + matA->rows, &matC->count);
}

WP_API cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t opA,
                                            cusparseOperation_t opB, const void *alpha,
                                            cusparseConstSpMatDescr_t matA,
                                            cusparseConstSpMatDescr_t matB, const void *beta,
                                            cusparseSpMatDescr_t matC, cudaDataType computeType,
                                            cusparseSpGEMMAlg_t alg, cusparseSpGEMMDescr_t descr) {
    (void)alg;
    wpi_blas_type type;
    CUSPARSE_TRY(
        check_product(handle, opA, opB, alpha, matA, matB, beta, matC, computeType, descr, &type));
    if (descr->at == NULL || matC->offsets == NULL) return INVALID;
    const wpi_sparse c = wpi_cusparse_matrix(matC, CUSPARSE_OPERATION_NON_TRANSPOSE);
    const wpi_sparse_square s = square_of(handle, type, matA, matB, alpha, descr);
    CUSPARSE_CUDA(wpi_sparse_store(handle->stream, descr->sizes, &c.offsets, matA->rows));
    return wpi_cusparse_status(wpi_sparse_of[type].collect(handle->stream, &s, &c));
}

/* ---- dense and sparse ---- */

/* The dense matrix by the sparse one's lines. */
static wpi_sparse_dense by_lines(const struct cusparseDnMatDescr *dense,
                                 const struct cusparseSpMatDescr *sparse) {
    return wpi_cusparse_dense(dense, sparse->format == CUSPARSE_FORMAT_CSC
                                         ? CUSPARSE_OPERATION_TRANSPOSE
                                         : CUSPARSE_OPERATION_NON_TRANSPOSE);
}

static bool is_same_size(const struct cusparseDnMatDescr *dense,
                         const struct cusparseSpMatDescr *sparse) {
    return dense != NULL && sparse != NULL && dense->rows == sparse->rows &&
           dense->columns == sparse->columns && dense->type == sparse->type;
}

WP_API cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle,
                                                         cusparseConstSpMatDescr_t matA,
                                                         cusparseDnMatDescr_t matB,
                                                         cusparseSparseToDenseAlg_t alg,
                                                         size_t *bufferSize) {
    (void)alg;
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (bufferSize == NULL || !is_same_size(matB, matA)) return INVALID;
    *bufferSize = BUFFER_BYTES;
    return OK;
}

WP_API cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle,
                                              cusparseConstSpMatDescr_t matA,
                                              cusparseDnMatDescr_t matB,
                                              cusparseSparseToDenseAlg_t alg,
                                              void *externalBuffer) {
    (void)alg, (void)externalBuffer;
    wpi_blas_type type;
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (!is_same_size(matB, matA)) return INVALID;
    CUSPARSE_TRY(wpi_cusparse_type("cusparseSparseToDense", matA->type, &type));
    const wpi_sparse a = wpi_cusparse_matrix(matA, CUSPARSE_OPERATION_NON_TRANSPOSE);
    const wpi_sparse_dense b = by_lines(matB, matA);
    return wpi_cusparse_status(wpi_sparse_of[type].spread_lines(handle->stream, &a, &b));
}

WP_API cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t handle,
                                                         cusparseConstDnMatDescr_t matA,
                                                         cusparseSpMatDescr_t matB,
                                                         cusparseDenseToSparseAlg_t alg,
                                                         size_t *bufferSize) {
    (void)alg;
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (bufferSize == NULL || !is_same_size(matA, matB)) return INVALID;
    const wpi_sparse b = wpi_cusparse_matrix(matB, CUSPARSE_OPERATION_NON_TRANSPOSE);
    *bufferSize = sizeof(long long) * (size_t)(b.lines + 1);
    return OK;
}

/* Leaves the lines' starts in the buffer. */
WP_API cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle,
                                                       cusparseConstDnMatDescr_t matA,
                                                       cusparseSpMatDescr_t matB,
                                                       cusparseDenseToSparseAlg_t alg,
                                                       void *externalBuffer) {
    (void)alg;
    wpi_blas_type type;
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (externalBuffer == NULL || !is_same_size(matA, matB)) return INVALID;
    CUSPARSE_TRY(wpi_cusparse_type("cusparseDenseToSparse", matA->type, &type));
    const wpi_sparse b = wpi_cusparse_matrix(matB, CUSPARSE_OPERATION_NON_TRANSPOSE);
    const wpi_sparse_dense a = by_lines(matA, matB);
    long long *starts = externalBuffer;
    CUSPARSE_CUDA(wpi_sparse_of[type].count(handle->stream, &a, b.lines, b.width, starts));
    CUSPARSE_CUDA(wpi_sparse_scan(handle->stream, starts, starts, b.lines));
    if (b.offsets.data != NULL)
        CUSPARSE_CUDA(wpi_sparse_store(handle->stream, starts, &b.offsets, b.lines));
    return read_count(handle, starts + b.lines, &matB->count);
}

WP_API cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle,
                                                      cusparseConstDnMatDescr_t matA,
                                                      cusparseSpMatDescr_t matB,
                                                      cusparseDenseToSparseAlg_t alg,
                                                      void *externalBuffer) {
    (void)alg;
    wpi_blas_type type;
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (externalBuffer == NULL || !is_same_size(matA, matB) || matB->offsets == NULL)
        return INVALID;
    CUSPARSE_TRY(wpi_cusparse_type("cusparseDenseToSparse", matA->type, &type));
    const wpi_sparse b = wpi_cusparse_matrix(matB, CUSPARSE_OPERATION_NON_TRANSPOSE);
    const wpi_sparse_dense a = by_lines(matA, matB);
    if (b.offsets.data != NULL)
        CUSPARSE_CUDA(wpi_sparse_store(handle->stream, externalBuffer, &b.offsets, b.lines));
    return wpi_cusparse_status(
        wpi_sparse_of[type].gather_lines(handle->stream, &a, &b, externalBuffer));
}

/* ---- rows to columns ---- */

WP_API cusparseStatus_t cusparseCsr2cscEx2_bufferSize(
    cusparseHandle_t handle, int m, int n, int nnz, const void *csrVal, const int *csrRowPtr,
    const int *csrColInd, void *cscVal, int *cscColPtr, int *cscRowInd, cudaDataType valType,
    cusparseAction_t copyValues, cusparseIndexBase_t idxBase, cusparseCsr2CscAlg_t alg,
    size_t *bufferSize) {
    (void)m, (void)n, (void)nnz, (void)csrVal, (void)csrRowPtr, (void)csrColInd, (void)cscVal;
    (void)cscColPtr, (void)cscRowInd, (void)valType, (void)copyValues, (void)idxBase, (void)alg;
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (bufferSize == NULL) return INVALID;
    *bufferSize = BUFFER_BYTES;
    return OK;
}

WP_API cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int m, int n, int nnz,
                                           const void *csrVal, const int *csrRowPtr,
                                           const int *csrColInd, void *cscVal, int *cscColPtr,
                                           int *cscRowInd, cudaDataType valType,
                                           cusparseAction_t copyValues, cusparseIndexBase_t idxBase,
                                           cusparseCsr2CscAlg_t alg, void *buffer) {
    (void)alg, (void)buffer;
    wpi_blas_type type;
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (m < 0 || n < 0 || nnz < 0 || csrRowPtr == NULL || cscColPtr == NULL) return INVALID;
    CUSPARSE_TRY(wpi_cusparse_type("cusparseCsr2cscEx2", valType, &type));
    const wpi_sparse from =
        wpi_cusparse_rows(csrVal, csrRowPtr, csrColInd, m, n, nnz, (int)idxBase);
    const wpi_sparse to = wpi_cusparse_rows(cscVal, cscColPtr, cscRowInd, n, m, nnz, (int)idxBase);
    return wpi_cusparse_status(wpi_sparse_of[type].transpose(
        handle->stream, &from, &to, copyValues == CUSPARSE_ACTION_NUMERIC));
}

/* ---- indices ---- */

WP_API cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int *cooRowInd, int nnz,
                                         int m, int *csrSortedRowPtr, cusparseIndexBase_t idxBase) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (nnz < 0 || m < 0 || csrSortedRowPtr == NULL) return INVALID;
    return wpi_cusparse_status(
        wpi_sparse_compress(handle->stream, cooRowInd, nnz, csrSortedRowPtr, m, (int)idxBase));
}

WP_API cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int *csrSortedRowPtr,
                                         int nnz, int m, int *cooRowInd,
                                         cusparseIndexBase_t idxBase) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (nnz < 0 || m < 0 || csrSortedRowPtr == NULL) return INVALID;
    return wpi_cusparse_status(
        wpi_sparse_uncompress(handle->stream, csrSortedRowPtr, m, cooRowInd, (int)idxBase));
}

WP_API cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t handle, int n, int *p) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (n < 0 || (p == NULL && n > 0)) return INVALID;
    return wpi_cusparse_status(wpi_sparse_identity(handle->stream, p, n));
}

static cusparseStatus_t sort_buffer(cusparseHandle_t handle, int m, int n, int nnz, size_t *bytes) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (m < 0 || n < 0 || nnz < 0 || bytes == NULL) return INVALID;
    *bytes = BUFFER_BYTES;
    return OK;
}

WP_API cusparseStatus_t cusparseXcoosort_bufferSizeExt(cusparseHandle_t handle, int m, int n,
                                                       int nnz, const int *cooRowsA,
                                                       const int *cooColsA,
                                                       size_t *pBufferSizeInBytes) {
    (void)cooRowsA, (void)cooColsA;
    return sort_buffer(handle, m, n, nnz, pBufferSizeInBytes);
}

WP_API cusparseStatus_t cusparseXcoosortByRow(cusparseHandle_t handle, int m, int n, int nnz,
                                              int *cooRowsA, int *cooColsA, int *P, void *pBuffer) {
    size_t bytes;
    (void)pBuffer;
    CUSPARSE_TRY(sort_buffer(handle, m, n, nnz, &bytes));
    return wpi_cusparse_status(wpi_sparse_sort(handle->stream, cooRowsA, cooColsA, P, nnz));
}

WP_API cusparseStatus_t cusparseXcoosortByColumn(cusparseHandle_t handle, int m, int n, int nnz,
                                                 int *cooRowsA, int *cooColsA, int *P,
                                                 void *pBuffer) {
    size_t bytes;
    (void)pBuffer;
    CUSPARSE_TRY(sort_buffer(handle, m, n, nnz, &bytes));
    return wpi_cusparse_status(wpi_sparse_sort(handle->stream, cooColsA, cooRowsA, P, nnz));
}

#define SORT(name)                                                                                 \
    WP_API cusparseStatus_t cusparseX##name##sort_bufferSizeExt(                                   \
        cusparseHandle_t handle, int m, int n, int nnz, const int *offsets, const int *indices,    \
        size_t *pBufferSizeInBytes) {                                                              \
        (void)offsets, (void)indices;                                                              \
        return sort_buffer(handle, m, n, nnz, pBufferSizeInBytes);                                 \
    }
SORT(csr)
SORT(csc)

WP_API cusparseStatus_t cusparseXcsrsort(cusparseHandle_t handle, int m, int n, int nnz,
                                         const cusparseMatDescr_t descrA, const int *offsets,
                                         int *indices, int *P, void *pBuffer) {
    size_t bytes;
    (void)pBuffer;
    CUSPARSE_TRY(sort_buffer(handle, m, n, nnz, &bytes));
    if (descrA == NULL) return INVALID;
    return wpi_cusparse_status(
        wpi_sparse_sort_lines(handle->stream, offsets, m, indices, P, (int)descrA->index_base));
}

WP_API cusparseStatus_t cusparseXcscsort(cusparseHandle_t handle, int m, int n, int nnz,
                                         const cusparseMatDescr_t descrA, const int *offsets,
                                         int *indices, int *P, void *pBuffer) {
    return cusparseXcsrsort(handle, n, m, nnz, descrA, offsets, indices, P, pBuffer);
}

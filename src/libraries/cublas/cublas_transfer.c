/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors and matrices between host and device. A vector is a matrix of one row. */
#include "libraries/cublas/cublas_handle.h"

static cublasStatus_t transfer(size_t row_bytes, int rows, const void *from, size_t from_pitch,
                               void *to, size_t to_pitch, cudaStream_t stream, bool is_async) {
    if (rows == 0 || row_bytes == 0) return CUBLAS_STATUS_SUCCESS;
    if (from == NULL || to == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    const cudaError_t error = is_async
                                  ? cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, row_bytes,
                                                      (size_t)rows, cudaMemcpyDefault, stream)
                                  : cudaMemcpy2D(to, to_pitch, from, from_pitch, row_bytes,
                                                 (size_t)rows, cudaMemcpyDefault);
    if (error == cudaSuccess) return CUBLAS_STATUS_SUCCESS;
    (void)cudaGetLastError();
    return CUBLAS_STATUS_MAPPING_ERROR;
}

static cublasStatus_t vector(int n, int elem, const void *x, int incx, void *y, int incy,
                             cudaStream_t stream, bool is_async) {
    if (n < 0 || elem <= 0 || incx <= 0 || incy <= 0) return CUBLAS_STATUS_INVALID_VALUE;
    const size_t bytes = (size_t)elem;
    if (incx == 1 && incy == 1) /* in one row */
        return transfer(bytes * (size_t)n, n > 0, x, bytes * (size_t)n, y, bytes * (size_t)n,
                        stream, is_async);
    return transfer(bytes, n, x, (size_t)incx * bytes, y, (size_t)incy * bytes, stream, is_async);
}

static cublasStatus_t matrix(int rows, int cols, int elem, const void *A, int lda, void *B, int ldb,
                             cudaStream_t stream, bool is_async) {
    if (rows < 0 || cols < 0 || elem <= 0 || lda < wpi_at_least_1(rows) ||
        ldb < wpi_at_least_1(rows))
        return CUBLAS_STATUS_INVALID_VALUE;
    const size_t bytes = (size_t)elem;
    return transfer((size_t)rows * bytes, cols, A, (size_t)lda * bytes, B, (size_t)ldb * bytes,
                    stream, is_async);
}

WP_API cublasStatus_t cublasSetVector(int n, int elemSize, const void *x, int incx, void *devicePtr,
                                      int incy) {
    return vector(n, elemSize, x, incx, devicePtr, incy, 0, false);
}

WP_API cublasStatus_t cublasGetVector(int n, int elemSize, const void *x, int incx, void *y,
                                      int incy) {
    return vector(n, elemSize, x, incx, y, incy, 0, false);
}

WP_API cublasStatus_t cublasSetMatrix(int rows, int cols, int elemSize, const void *A, int lda,
                                      void *B, int ldb) {
    return matrix(rows, cols, elemSize, A, lda, B, ldb, 0, false);
}

WP_API cublasStatus_t cublasGetMatrix(int rows, int cols, int elemSize, const void *A, int lda,
                                      void *B, int ldb) {
    return matrix(rows, cols, elemSize, A, lda, B, ldb, 0, false);
}

WP_API cublasStatus_t cublasSetVectorAsync(int n, int elemSize, const void *hostPtr, int incx,
                                           void *devicePtr, int incy, cudaStream_t stream) {
    return vector(n, elemSize, hostPtr, incx, devicePtr, incy, stream, true);
}

WP_API cublasStatus_t cublasGetVectorAsync(int n, int elemSize, const void *devicePtr, int incx,
                                           void *hostPtr, int incy, cudaStream_t stream) {
    return vector(n, elemSize, devicePtr, incx, hostPtr, incy, stream, true);
}

WP_API cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int elemSize, const void *A, int lda,
                                           void *B, int ldb, cudaStream_t stream) {
    return matrix(rows, cols, elemSize, A, lda, B, ldb, stream, true);
}

WP_API cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int elemSize, const void *A, int lda,
                                           void *B, int ldb, cudaStream_t stream) {
    return matrix(rows, cols, elemSize, A, lda, B, ldb, stream, true);
}

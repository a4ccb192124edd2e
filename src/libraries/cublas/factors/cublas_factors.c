/* SPDX-License-Identifier: Apache-2.0 */
/* QR factors and least squares of batches. */
#include "libraries/cublas/cublas_handle.h"
#include "libraries/cublas/factors/factors_shared.h"

/* `info` is of the host: 0, or minus the number of a wrong argument. */
static cublasStatus_t geqrf(cublasHandle_t handle, wpi_blas_type type, int m, int n, void *const *a,
                            int lda, void *const *tau, int *info, int batch) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (info == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    *info = m < 0 ? -1 : n < 0 ? -2 : lda < wpi_at_least_1(m) ? -4 : batch < 0 ? -7 : 0;
    if (*info != 0) return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0 || batch == 0) return CUBLAS_STATUS_SUCCESS;
    if (a == NULL || tau == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    const wpi_qr q = {.m = m, .n = n, .batch = batch, .a = a, .lda = lda, .tau = tau};
    return wpi_cublas_status(wpi_blas_qr[type](handle->stream, &q));
}

/* Only A itself, with at least as many rows as columns, as in cuBLAS. */
static cublasStatus_t gels(cublasHandle_t handle, wpi_blas_type type, cublasOperation_t trans,
                           int m, int n, int nrhs, void *const *a, int lda, void *const *c, int ldc,
                           int *info, int *device_info, int batch) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (info == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    *info = !wpi_cublas_is_op(trans)  ? -1
            : m < 0                   ? -2
            : n < 0                   ? -3
            : nrhs < 0                ? -4
            : lda < wpi_at_least_1(m) ? -6
            : ldc < wpi_at_least_1(m) ? -8
            : batch < 0               ? -11
                                      : 0;
    if (*info != 0) return CUBLAS_STATUS_INVALID_VALUE;
    if (trans != CUBLAS_OP_N || m < n) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (n == 0 || batch == 0) return CUBLAS_STATUS_SUCCESS;
    if (a == NULL || (c == NULL && nrhs != 0)) return CUBLAS_STATUS_INVALID_VALUE;
    const wpi_qr q = {.m = m,
                      .n = n,
                      .nrhs = nrhs,
                      .batch = batch,
                      .a = a,
                      .c = c,
                      .lda = lda,
                      .ldc = ldc,
                      .info = device_info};
    return wpi_cublas_status(wpi_blas_qr[type](handle->stream, &q));
}

/* The casts only drop the element's type. */
#define FACTOR_CALLS(X, T)                                                                         \
    WP_API cublasStatus_t cublas##X##geqrfBatched(cublasHandle_t handle, int m, int n,             \
                                                  T *const Aarray[], int lda, T *const TauArray[], \
                                                  int *info, int batchSize) {                      \
        return geqrf(handle, WPI_BLAS_##X, m, n, (void *const *)Aarray, lda,                       \
                     (void *const *)TauArray, info, batchSize);                                    \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##gelsBatched(                                                  \
        cublasHandle_t handle, cublasOperation_t trans, int m, int n, int nrhs, T *const Aarray[], \
        int lda, T *const Carray[], int ldc, int *info, int *devInfoArray, int batchSize) {        \
        return gels(handle, WPI_BLAS_##X, trans, m, n, nrhs, (void *const *)Aarray, lda,           \
                    (void *const *)Carray, ldc, info, devInfoArray, batchSize);                    \
    }

FACTOR_CALLS(S, float)
FACTOR_CALLS(D, double)
FACTOR_CALLS(C, cuComplex)
FACTOR_CALLS(Z, cuDoubleComplex)

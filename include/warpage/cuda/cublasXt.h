/* SPDX-License-Identifier: Apache-2.0 */
/**
 * cuBLASXt: products and solutions of matrices in host memory, which may be larger than the
 * device's. Matrices may be in device memory, too; factors are in host memory. A call returns when
 * its result is stored.
 */
#ifndef WARPAGE_CUDA_CUBLASXT_H
#define WARPAGE_CUDA_CUBLASXT_H

#define CUBLAS_XT_H_

#include "cublas_v2.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct cublasXtContext *cublasXtHandle_t;

typedef enum {
    CUBLASXT_PINNING_DISABLED = 0,
    CUBLASXT_PINNING_ENABLED = 1
} cublasXtPinnedMemMode_t;

/* ---- handles ---- */

cublasStatus_t cublasXtCreate(cublasXtHandle_t *handle);
cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle);
cublasStatus_t cublasXtGetNumBoards(int nbDevices, int deviceId[], int *nbBoards);
cublasStatus_t cublasXtMaxBoards(int *nbGpuBoards);
/** The work is done by the first of the devices. */
cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int nbDevices, int deviceId[]);
/** Products are made of square parts of this order (default: 2048). */
cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int blockDim);
cublasStatus_t cublasXtGetBlockDim(cublasXtHandle_t handle, int *blockDim);
cublasStatus_t cublasXtSetPinningMemMode(cublasXtHandle_t handle, cublasXtPinnedMemMode_t mode);
cublasStatus_t cublasXtGetPinningMemMode(cublasXtHandle_t handle, cublasXtPinnedMemMode_t *mode);

/* ---- matrices ---- */

cublasStatus_t cublasXtSgemm(cublasXtHandle_t handle, cublasOperation_t transa,
                             cublasOperation_t transb, size_t m, size_t n, size_t k,
                             const float *alpha, const float *A, size_t lda, const float *B,
                             size_t ldb, const float *beta, float *C, size_t ldc);
cublasStatus_t cublasXtDgemm(cublasXtHandle_t handle, cublasOperation_t transa,
                             cublasOperation_t transb, size_t m, size_t n, size_t k,
                             const double *alpha, const double *A, size_t lda, const double *B,
                             size_t ldb, const double *beta, double *C, size_t ldc);
cublasStatus_t cublasXtCgemm(cublasXtHandle_t handle, cublasOperation_t transa,
                             cublasOperation_t transb, size_t m, size_t n, size_t k,
                             const cuComplex *alpha, const cuComplex *A, size_t lda,
                             const cuComplex *B, size_t ldb, const cuComplex *beta, cuComplex *C,
                             size_t ldc);
cublasStatus_t cublasXtZgemm(cublasXtHandle_t handle, cublasOperation_t transa,
                             cublasOperation_t transb, size_t m, size_t n, size_t k,
                             const cuDoubleComplex *alpha, const cuDoubleComplex *A, size_t lda,
                             const cuDoubleComplex *B, size_t ldb, const cuDoubleComplex *beta,
                             cuDoubleComplex *C, size_t ldc);
cublasStatus_t cublasXtSsyrk(cublasXtHandle_t handle, cublasFillMode_t uplo,
                             cublasOperation_t trans, size_t n, size_t k, const float *alpha,
                             const float *A, size_t lda, const float *beta, float *C, size_t ldc);
cublasStatus_t cublasXtDsyrk(cublasXtHandle_t handle, cublasFillMode_t uplo,
                             cublasOperation_t trans, size_t n, size_t k, const double *alpha,
                             const double *A, size_t lda, const double *beta, double *C,
                             size_t ldc);
cublasStatus_t cublasXtStrsm(cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                             cublasOperation_t trans, cublasDiagType_t diag, size_t m, size_t n,
                             const float *alpha, const float *A, size_t lda, float *B, size_t ldb);
cublasStatus_t cublasXtDtrsm(cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                             cublasOperation_t trans, cublasDiagType_t diag, size_t m, size_t n,
                             const double *alpha, const double *A, size_t lda, double *B,
                             size_t ldb);

#if defined(__cplusplus)
}
#endif
#endif

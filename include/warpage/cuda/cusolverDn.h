/* SPDX-License-Identifier: Apache-2.0 */
/**
 * cuSOLVER's dense part: factors, systems, eigenvalues and singular values of matrices of
 * float, double and their complex numbers. libcusolver.so has the implementation; calls that it
 * lacks log their name once and return CUSOLVER_STATUS_NOT_SUPPORTED.
 */
#ifndef WARPAGE_CUDA_CUSOLVER_DN_H
#define WARPAGE_CUDA_CUSOLVER_DN_H

#define CUSOLVERDN_H_

#include <stdint.h>

#include "cublas_v2.h"
#include "cuda_runtime_api.h"
#include "cusolver_common.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct cusolverDnContext *cusolverDnHandle_t;
typedef struct cusolverDnParams *cusolverDnParams_t;
typedef struct syevjInfo *syevjInfo_t;
typedef struct gesvdjInfo *gesvdjInfo_t;

typedef enum {
    CUSOLVERDN_GETRF = 0,
    CUSOLVERDN_POTRF = 1,
    CUSOLVERDN_SYEVBATCHED = 2
} cusolverDnFunction_t;

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t streamId);
cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t *streamId);
cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int *value);
cusolverStatus_t cusolverGetVersion(int *version);

/* Parameters of Jacobi's methods. Eigenvalues come from a method that has none. */
cusolverStatus_t cusolverDnCreateSyevjInfo(syevjInfo_t *info);
cusolverStatus_t cusolverDnDestroySyevjInfo(syevjInfo_t info);
cusolverStatus_t cusolverDnXsyevjSetTolerance(syevjInfo_t info, double tolerance);
cusolverStatus_t cusolverDnXsyevjSetMaxSweeps(syevjInfo_t info, int max_sweeps);
cusolverStatus_t cusolverDnXsyevjSetSortEig(syevjInfo_t info, int sort_eig);
cusolverStatus_t cusolverDnXsyevjGetResidual(cusolverDnHandle_t handle, syevjInfo_t info,
                                             double *residual);
cusolverStatus_t cusolverDnXsyevjGetSweeps(cusolverDnHandle_t handle, syevjInfo_t info,
                                           int *executed_sweeps);
cusolverStatus_t cusolverDnCreateGesvdjInfo(gesvdjInfo_t *info);
cusolverStatus_t cusolverDnDestroyGesvdjInfo(gesvdjInfo_t info);
cusolverStatus_t cusolverDnXgesvdjSetTolerance(gesvdjInfo_t info, double tolerance);
cusolverStatus_t cusolverDnXgesvdjSetMaxSweeps(gesvdjInfo_t info, int max_sweeps);
cusolverStatus_t cusolverDnXgesvdjSetSortEig(gesvdjInfo_t info, int sort_svd);

cusolverStatus_t cusolverDnSpotrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                             int n, float *A, int lda, int *Lwork);
cusolverStatus_t cusolverDnSpotrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, float *A,
                                  int lda, float *Workspace, int Lwork, int *devInfo);
cusolverStatus_t cusolverDnSpotrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,
                                  const float *A, int lda, float *B, int ldb, int *devInfo);
cusolverStatus_t cusolverDnSpotrfBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                         float *Aarray[], int lda, int *infoArray, int batchSize);
cusolverStatus_t cusolverDnSpotrsBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                         int nrhs, float *A[], int lda, float *B[], int ldb,
                                         int *d_info, int batchSize);
cusolverStatus_t cusolverDnSgetrf_bufferSize(cusolverDnHandle_t handle, int m, int n, float *A,
                                             int lda, int *Lwork);
cusolverStatus_t cusolverDnSgetrf(cusolverDnHandle_t handle, int m, int n, float *A, int lda,
                                  float *Workspace, int *devIpiv, int *devInfo);
cusolverStatus_t cusolverDnSgetrs(cusolverDnHandle_t handle, cublasOperation_t trans, int n,
                                  int nrhs, const float *A, int lda, const int *devIpiv, float *B,
                                  int ldb, int *devInfo);
cusolverStatus_t cusolverDnSgeqrf_bufferSize(cusolverDnHandle_t handle, int m, int n, float *A,
                                             int lda, int *lwork);
cusolverStatus_t cusolverDnSgeqrf(cusolverDnHandle_t handle, int m, int n, float *A, int lda,
                                  float *TAU, float *Workspace, int Lwork, int *devInfo);
cusolverStatus_t cusolverDnSorgqr_bufferSize(cusolverDnHandle_t handle, int m, int n, int k,
                                             const float *A, int lda, const float *tau, int *lwork);
cusolverStatus_t cusolverDnSorgqr(cusolverDnHandle_t handle, int m, int n, int k, float *A, int lda,
                                  const float *tau, float *work, int lwork, int *info);
cusolverStatus_t cusolverDnSormqr_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t side,
                                             cublasOperation_t trans, int m, int n, int k,
                                             const float *A, int lda, const float *tau,
                                             const float *C, int ldc, int *lwork);
cusolverStatus_t cusolverDnSormqr(cusolverDnHandle_t handle, cublasSideMode_t side,
                                  cublasOperation_t trans, int m, int n, int k, const float *A,
                                  int lda, const float *tau, float *C, int ldc, float *work,
                                  int lwork, int *devInfo);
cusolverStatus_t cusolverDnSsyevd_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                             cublasFillMode_t uplo, int n, const float *A, int lda,
                                             const float *W, int *lwork);
cusolverStatus_t cusolverDnSsyevd(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, int n, float *A, int lda, float *W,
                                  float *work, int lwork, int *info);
cusolverStatus_t cusolverDnSsyevj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                             cublasFillMode_t uplo, int n, const float *A, int lda,
                                             const float *W, int *lwork, syevjInfo_t params);
cusolverStatus_t cusolverDnSsyevj(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, int n, float *A, int lda, float *W,
                                  float *work, int lwork, int *info, syevjInfo_t params);
cusolverStatus_t cusolverDnSsyevjBatched_bufferSize(cusolverDnHandle_t handle,
                                                    cusolverEigMode_t jobz, cublasFillMode_t uplo,
                                                    int n, const float *A, int lda, const float *W,
                                                    int *lwork, syevjInfo_t params, int batchSize);
cusolverStatus_t cusolverDnSsyevjBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                         cublasFillMode_t uplo, int n, float *A, int lda, float *W,
                                         float *work, int lwork, int *info, syevjInfo_t params,
                                         int batchSize);
cusolverStatus_t cusolverDnSsygvd_bufferSize(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                             cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,
                                             const float *A, int lda, const float *B, int ldb,
                                             const float *W, int *lwork);
cusolverStatus_t cusolverDnSsygvd(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                  cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, float *A,
                                  int lda, float *B, int ldb, float *W, float *work, int lwork,
                                  int *info);
cusolverStatus_t cusolverDnSgesvd_bufferSize(cusolverDnHandle_t handle, int m, int n, int *lwork);
cusolverStatus_t cusolverDnSgesvd(cusolverDnHandle_t handle, signed char jobu, signed char jobvt,
                                  int m, int n, float *A, int lda, float *S, float *U, int ldu,
                                  float *VT, int ldvt, float *work, int lwork, float *rwork,
                                  int *info);
cusolverStatus_t cusolverDnSgesvdj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                              int econ, int m, int n, const float *A, int lda,
                                              const float *S, const float *U, int ldu,
                                              const float *V, int ldv, int *lwork,
                                              gesvdjInfo_t params);
cusolverStatus_t cusolverDnSgesvdj(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int econ,
                                   int m, int n, float *A, int lda, float *S, float *U, int ldu,
                                   float *V, int ldv, float *work, int lwork, int *info,
                                   gesvdjInfo_t params);
cusolverStatus_t cusolverDnSgesvdjBatched_bufferSize(cusolverDnHandle_t handle,
                                                     cusolverEigMode_t jobz, int m, int n,
                                                     const float *A, int lda, const float *S,
                                                     const float *U, int ldu, const float *V,
                                                     int ldv, int *lwork, gesvdjInfo_t params,
                                                     int batchSize);
cusolverStatus_t cusolverDnSgesvdjBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int m,
                                          int n, float *A, int lda, float *S, float *U, int ldu,
                                          float *V, int ldv, float *work, int lwork, int *info,
                                          gesvdjInfo_t params, int batchSize);

cusolverStatus_t cusolverDnDpotrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                             int n, double *A, int lda, int *Lwork);
cusolverStatus_t cusolverDnDpotrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                  double *A, int lda, double *Workspace, int Lwork, int *devInfo);
cusolverStatus_t cusolverDnDpotrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,
                                  const double *A, int lda, double *B, int ldb, int *devInfo);
cusolverStatus_t cusolverDnDpotrfBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                         double *Aarray[], int lda, int *infoArray, int batchSize);
cusolverStatus_t cusolverDnDpotrsBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                         int nrhs, double *A[], int lda, double *B[], int ldb,
                                         int *d_info, int batchSize);
cusolverStatus_t cusolverDnDgetrf_bufferSize(cusolverDnHandle_t handle, int m, int n, double *A,
                                             int lda, int *Lwork);
cusolverStatus_t cusolverDnDgetrf(cusolverDnHandle_t handle, int m, int n, double *A, int lda,
                                  double *Workspace, int *devIpiv, int *devInfo);
cusolverStatus_t cusolverDnDgetrs(cusolverDnHandle_t handle, cublasOperation_t trans, int n,
                                  int nrhs, const double *A, int lda, const int *devIpiv, double *B,
                                  int ldb, int *devInfo);
cusolverStatus_t cusolverDnDgeqrf_bufferSize(cusolverDnHandle_t handle, int m, int n, double *A,
                                             int lda, int *lwork);
cusolverStatus_t cusolverDnDgeqrf(cusolverDnHandle_t handle, int m, int n, double *A, int lda,
                                  double *TAU, double *Workspace, int Lwork, int *devInfo);
cusolverStatus_t cusolverDnDorgqr_bufferSize(cusolverDnHandle_t handle, int m, int n, int k,
                                             const double *A, int lda, const double *tau,
                                             int *lwork);
cusolverStatus_t cusolverDnDorgqr(cusolverDnHandle_t handle, int m, int n, int k, double *A,
                                  int lda, const double *tau, double *work, int lwork, int *info);
cusolverStatus_t cusolverDnDormqr_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t side,
                                             cublasOperation_t trans, int m, int n, int k,
                                             const double *A, int lda, const double *tau,
                                             const double *C, int ldc, int *lwork);
cusolverStatus_t cusolverDnDormqr(cusolverDnHandle_t handle, cublasSideMode_t side,
                                  cublasOperation_t trans, int m, int n, int k, const double *A,
                                  int lda, const double *tau, double *C, int ldc, double *work,
                                  int lwork, int *devInfo);
cusolverStatus_t cusolverDnDsyevd_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                             cublasFillMode_t uplo, int n, const double *A, int lda,
                                             const double *W, int *lwork);
cusolverStatus_t cusolverDnDsyevd(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, int n, double *A, int lda, double *W,
                                  double *work, int lwork, int *info);
cusolverStatus_t cusolverDnDsyevj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                             cublasFillMode_t uplo, int n, const double *A, int lda,
                                             const double *W, int *lwork, syevjInfo_t params);
cusolverStatus_t cusolverDnDsyevj(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, int n, double *A, int lda, double *W,
                                  double *work, int lwork, int *info, syevjInfo_t params);
cusolverStatus_t cusolverDnDsyevjBatched_bufferSize(cusolverDnHandle_t handle,
                                                    cusolverEigMode_t jobz, cublasFillMode_t uplo,
                                                    int n, const double *A, int lda,
                                                    const double *W, int *lwork, syevjInfo_t params,
                                                    int batchSize);
cusolverStatus_t cusolverDnDsyevjBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                         cublasFillMode_t uplo, int n, double *A, int lda,
                                         double *W, double *work, int lwork, int *info,
                                         syevjInfo_t params, int batchSize);
cusolverStatus_t cusolverDnDsygvd_bufferSize(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                             cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,
                                             const double *A, int lda, const double *B, int ldb,
                                             const double *W, int *lwork);
cusolverStatus_t cusolverDnDsygvd(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                  cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, double *A,
                                  int lda, double *B, int ldb, double *W, double *work, int lwork,
                                  int *info);
cusolverStatus_t cusolverDnDgesvd_bufferSize(cusolverDnHandle_t handle, int m, int n, int *lwork);
cusolverStatus_t cusolverDnDgesvd(cusolverDnHandle_t handle, signed char jobu, signed char jobvt,
                                  int m, int n, double *A, int lda, double *S, double *U, int ldu,
                                  double *VT, int ldvt, double *work, int lwork, double *rwork,
                                  int *info);
cusolverStatus_t cusolverDnDgesvdj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                              int econ, int m, int n, const double *A, int lda,
                                              const double *S, const double *U, int ldu,
                                              const double *V, int ldv, int *lwork,
                                              gesvdjInfo_t params);
cusolverStatus_t cusolverDnDgesvdj(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int econ,
                                   int m, int n, double *A, int lda, double *S, double *U, int ldu,
                                   double *V, int ldv, double *work, int lwork, int *info,
                                   gesvdjInfo_t params);
cusolverStatus_t cusolverDnDgesvdjBatched_bufferSize(cusolverDnHandle_t handle,
                                                     cusolverEigMode_t jobz, int m, int n,
                                                     const double *A, int lda, const double *S,
                                                     const double *U, int ldu, const double *V,
                                                     int ldv, int *lwork, gesvdjInfo_t params,
                                                     int batchSize);
cusolverStatus_t cusolverDnDgesvdjBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int m,
                                          int n, double *A, int lda, double *S, double *U, int ldu,
                                          double *V, int ldv, double *work, int lwork, int *info,
                                          gesvdjInfo_t params, int batchSize);

cusolverStatus_t cusolverDnCpotrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                             int n, cuComplex *A, int lda, int *Lwork);
cusolverStatus_t cusolverDnCpotrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                  cuComplex *A, int lda, cuComplex *Workspace, int Lwork,
                                  int *devInfo);
cusolverStatus_t cusolverDnCpotrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,
                                  const cuComplex *A, int lda, cuComplex *B, int ldb, int *devInfo);
cusolverStatus_t cusolverDnCpotrfBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                         cuComplex *Aarray[], int lda, int *infoArray,
                                         int batchSize);
cusolverStatus_t cusolverDnCpotrsBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                         int nrhs, cuComplex *A[], int lda, cuComplex *B[], int ldb,
                                         int *d_info, int batchSize);
cusolverStatus_t cusolverDnCgetrf_bufferSize(cusolverDnHandle_t handle, int m, int n, cuComplex *A,
                                             int lda, int *Lwork);
cusolverStatus_t cusolverDnCgetrf(cusolverDnHandle_t handle, int m, int n, cuComplex *A, int lda,
                                  cuComplex *Workspace, int *devIpiv, int *devInfo);
cusolverStatus_t cusolverDnCgetrs(cusolverDnHandle_t handle, cublasOperation_t trans, int n,
                                  int nrhs, const cuComplex *A, int lda, const int *devIpiv,
                                  cuComplex *B, int ldb, int *devInfo);
cusolverStatus_t cusolverDnCgeqrf_bufferSize(cusolverDnHandle_t handle, int m, int n, cuComplex *A,
                                             int lda, int *lwork);
cusolverStatus_t cusolverDnCgeqrf(cusolverDnHandle_t handle, int m, int n, cuComplex *A, int lda,
                                  cuComplex *TAU, cuComplex *Workspace, int Lwork, int *devInfo);
cusolverStatus_t cusolverDnCungqr_bufferSize(cusolverDnHandle_t handle, int m, int n, int k,
                                             const cuComplex *A, int lda, const cuComplex *tau,
                                             int *lwork);
cusolverStatus_t cusolverDnCungqr(cusolverDnHandle_t handle, int m, int n, int k, cuComplex *A,
                                  int lda, const cuComplex *tau, cuComplex *work, int lwork,
                                  int *info);
cusolverStatus_t cusolverDnCunmqr_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t side,
                                             cublasOperation_t trans, int m, int n, int k,
                                             const cuComplex *A, int lda, const cuComplex *tau,
                                             const cuComplex *C, int ldc, int *lwork);
cusolverStatus_t cusolverDnCunmqr(cusolverDnHandle_t handle, cublasSideMode_t side,
                                  cublasOperation_t trans, int m, int n, int k, const cuComplex *A,
                                  int lda, const cuComplex *tau, cuComplex *C, int ldc,
                                  cuComplex *work, int lwork, int *devInfo);
cusolverStatus_t cusolverDnCheevd_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                             cublasFillMode_t uplo, int n, const cuComplex *A,
                                             int lda, const float *W, int *lwork);
cusolverStatus_t cusolverDnCheevd(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, int n, cuComplex *A, int lda, float *W,
                                  cuComplex *work, int lwork, int *info);
cusolverStatus_t cusolverDnCheevj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                             cublasFillMode_t uplo, int n, const cuComplex *A,
                                             int lda, const float *W, int *lwork,
                                             syevjInfo_t params);
cusolverStatus_t cusolverDnCheevj(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, int n, cuComplex *A, int lda, float *W,
                                  cuComplex *work, int lwork, int *info, syevjInfo_t params);
cusolverStatus_t cusolverDnCheevjBatched_bufferSize(cusolverDnHandle_t handle,
                                                    cusolverEigMode_t jobz, cublasFillMode_t uplo,
                                                    int n, const cuComplex *A, int lda,
                                                    const float *W, int *lwork, syevjInfo_t params,
                                                    int batchSize);
cusolverStatus_t cusolverDnCheevjBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                         cublasFillMode_t uplo, int n, cuComplex *A, int lda,
                                         float *W, cuComplex *work, int lwork, int *info,
                                         syevjInfo_t params, int batchSize);
cusolverStatus_t cusolverDnChegvd_bufferSize(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                             cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,
                                             const cuComplex *A, int lda, const cuComplex *B,
                                             int ldb, const float *W, int *lwork);
cusolverStatus_t cusolverDnChegvd(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                  cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,
                                  cuComplex *A, int lda, cuComplex *B, int ldb, float *W,
                                  cuComplex *work, int lwork, int *info);
cusolverStatus_t cusolverDnCgesvd_bufferSize(cusolverDnHandle_t handle, int m, int n, int *lwork);
cusolverStatus_t cusolverDnCgesvd(cusolverDnHandle_t handle, signed char jobu, signed char jobvt,
                                  int m, int n, cuComplex *A, int lda, float *S, cuComplex *U,
                                  int ldu, cuComplex *VT, int ldvt, cuComplex *work, int lwork,
                                  float *rwork, int *info);
cusolverStatus_t cusolverDnCgesvdj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                              int econ, int m, int n, const cuComplex *A, int lda,
                                              const float *S, const cuComplex *U, int ldu,
                                              const cuComplex *V, int ldv, int *lwork,
                                              gesvdjInfo_t params);
cusolverStatus_t cusolverDnCgesvdj(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int econ,
                                   int m, int n, cuComplex *A, int lda, float *S, cuComplex *U,
                                   int ldu, cuComplex *V, int ldv, cuComplex *work, int lwork,
                                   int *info, gesvdjInfo_t params);
cusolverStatus_t cusolverDnCgesvdjBatched_bufferSize(cusolverDnHandle_t handle,
                                                     cusolverEigMode_t jobz, int m, int n,
                                                     const cuComplex *A, int lda, const float *S,
                                                     const cuComplex *U, int ldu,
                                                     const cuComplex *V, int ldv, int *lwork,
                                                     gesvdjInfo_t params, int batchSize);
cusolverStatus_t cusolverDnCgesvdjBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int m,
                                          int n, cuComplex *A, int lda, float *S, cuComplex *U,
                                          int ldu, cuComplex *V, int ldv, cuComplex *work,
                                          int lwork, int *info, gesvdjInfo_t params, int batchSize);

cusolverStatus_t cusolverDnCheevdx_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                              cusolverEigRange_t range, cublasFillMode_t uplo,
                                              int n, const cuComplex *A, int lda, float vl,
                                              float vu, int il, int iu, int *meig, const float *W,
                                              int *lwork);
cusolverStatus_t cusolverDnCheevdx(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                   cusolverEigRange_t range, cublasFillMode_t uplo, int n,
                                   cuComplex *A, int lda, float vl, float vu, int il, int iu,
                                   int *meig, float *W, cuComplex *work, int lwork, int *info);
cusolverStatus_t cusolverDnChegvdx_bufferSize(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                              cusolverEigMode_t jobz, cusolverEigRange_t range,
                                              cublasFillMode_t uplo, int n, const cuComplex *A,
                                              int lda, const cuComplex *B, int ldb, float vl,
                                              float vu, int il, int iu, int *meig, const float *W,
                                              int *lwork);
cusolverStatus_t cusolverDnChegvdx(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                   cusolverEigMode_t jobz, cusolverEigRange_t range,
                                   cublasFillMode_t uplo, int n, cuComplex *A, int lda,
                                   cuComplex *B, int ldb, float vl, float vu, int il, int iu,
                                   int *meig, float *W, cuComplex *work, int lwork, int *info);
cusolverStatus_t cusolverDnChegvj_bufferSize(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                             cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,
                                             const cuComplex *A, int lda, const cuComplex *B,
                                             int ldb, const float *W, int *lwork,
                                             syevjInfo_t params);
cusolverStatus_t cusolverDnChegvj(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                  cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,
                                  cuComplex *A, int lda, cuComplex *B, int ldb, float *W,
                                  cuComplex *work, int lwork, int *info, syevjInfo_t params);

cusolverStatus_t cusolverDnZpotrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                             int n, cuDoubleComplex *A, int lda, int *Lwork);
cusolverStatus_t cusolverDnZpotrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                  cuDoubleComplex *A, int lda, cuDoubleComplex *Workspace,
                                  int Lwork, int *devInfo);
cusolverStatus_t cusolverDnZpotrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,
                                  const cuDoubleComplex *A, int lda, cuDoubleComplex *B, int ldb,
                                  int *devInfo);
cusolverStatus_t cusolverDnZpotrfBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                         cuDoubleComplex *Aarray[], int lda, int *infoArray,
                                         int batchSize);
cusolverStatus_t cusolverDnZpotrsBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                         int nrhs, cuDoubleComplex *A[], int lda,
                                         cuDoubleComplex *B[], int ldb, int *d_info, int batchSize);
cusolverStatus_t cusolverDnZgetrf_bufferSize(cusolverDnHandle_t handle, int m, int n,
                                             cuDoubleComplex *A, int lda, int *Lwork);
cusolverStatus_t cusolverDnZgetrf(cusolverDnHandle_t handle, int m, int n, cuDoubleComplex *A,
                                  int lda, cuDoubleComplex *Workspace, int *devIpiv, int *devInfo);
cusolverStatus_t cusolverDnZgetrs(cusolverDnHandle_t handle, cublasOperation_t trans, int n,
                                  int nrhs, const cuDoubleComplex *A, int lda, const int *devIpiv,
                                  cuDoubleComplex *B, int ldb, int *devInfo);
cusolverStatus_t cusolverDnZgeqrf_bufferSize(cusolverDnHandle_t handle, int m, int n,
                                             cuDoubleComplex *A, int lda, int *lwork);
cusolverStatus_t cusolverDnZgeqrf(cusolverDnHandle_t handle, int m, int n, cuDoubleComplex *A,
                                  int lda, cuDoubleComplex *TAU, cuDoubleComplex *Workspace,
                                  int Lwork, int *devInfo);
cusolverStatus_t cusolverDnZungqr_bufferSize(cusolverDnHandle_t handle, int m, int n, int k,
                                             const cuDoubleComplex *A, int lda,
                                             const cuDoubleComplex *tau, int *lwork);
cusolverStatus_t cusolverDnZungqr(cusolverDnHandle_t handle, int m, int n, int k,
                                  cuDoubleComplex *A, int lda, const cuDoubleComplex *tau,
                                  cuDoubleComplex *work, int lwork, int *info);
cusolverStatus_t cusolverDnZunmqr_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t side,
                                             cublasOperation_t trans, int m, int n, int k,
                                             const cuDoubleComplex *A, int lda,
                                             const cuDoubleComplex *tau, const cuDoubleComplex *C,
                                             int ldc, int *lwork);
cusolverStatus_t cusolverDnZunmqr(cusolverDnHandle_t handle, cublasSideMode_t side,
                                  cublasOperation_t trans, int m, int n, int k,
                                  const cuDoubleComplex *A, int lda, const cuDoubleComplex *tau,
                                  cuDoubleComplex *C, int ldc, cuDoubleComplex *work, int lwork,
                                  int *devInfo);
cusolverStatus_t cusolverDnZheevd_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                             cublasFillMode_t uplo, int n, const cuDoubleComplex *A,
                                             int lda, const double *W, int *lwork);
cusolverStatus_t cusolverDnZheevd(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, int n, cuDoubleComplex *A, int lda,
                                  double *W, cuDoubleComplex *work, int lwork, int *info);
cusolverStatus_t cusolverDnZheevj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                             cublasFillMode_t uplo, int n, const cuDoubleComplex *A,
                                             int lda, const double *W, int *lwork,
                                             syevjInfo_t params);
cusolverStatus_t cusolverDnZheevj(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, int n, cuDoubleComplex *A, int lda,
                                  double *W, cuDoubleComplex *work, int lwork, int *info,
                                  syevjInfo_t params);
cusolverStatus_t cusolverDnZheevjBatched_bufferSize(cusolverDnHandle_t handle,
                                                    cusolverEigMode_t jobz, cublasFillMode_t uplo,
                                                    int n, const cuDoubleComplex *A, int lda,
                                                    const double *W, int *lwork, syevjInfo_t params,
                                                    int batchSize);
cusolverStatus_t cusolverDnZheevjBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                         cublasFillMode_t uplo, int n, cuDoubleComplex *A, int lda,
                                         double *W, cuDoubleComplex *work, int lwork, int *info,
                                         syevjInfo_t params, int batchSize);
cusolverStatus_t cusolverDnZhegvd_bufferSize(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                             cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,
                                             const cuDoubleComplex *A, int lda,
                                             const cuDoubleComplex *B, int ldb, const double *W,
                                             int *lwork);
cusolverStatus_t cusolverDnZhegvd(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                  cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,
                                  cuDoubleComplex *A, int lda, cuDoubleComplex *B, int ldb,
                                  double *W, cuDoubleComplex *work, int lwork, int *info);
cusolverStatus_t cusolverDnZgesvd_bufferSize(cusolverDnHandle_t handle, int m, int n, int *lwork);
cusolverStatus_t cusolverDnZgesvd(cusolverDnHandle_t handle, signed char jobu, signed char jobvt,
                                  int m, int n, cuDoubleComplex *A, int lda, double *S,
                                  cuDoubleComplex *U, int ldu, cuDoubleComplex *VT, int ldvt,
                                  cuDoubleComplex *work, int lwork, double *rwork, int *info);
cusolverStatus_t cusolverDnZgesvdj_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                              int econ, int m, int n, const cuDoubleComplex *A,
                                              int lda, const double *S, const cuDoubleComplex *U,
                                              int ldu, const cuDoubleComplex *V, int ldv,
                                              int *lwork, gesvdjInfo_t params);
cusolverStatus_t cusolverDnZgesvdj(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int econ,
                                   int m, int n, cuDoubleComplex *A, int lda, double *S,
                                   cuDoubleComplex *U, int ldu, cuDoubleComplex *V, int ldv,
                                   cuDoubleComplex *work, int lwork, int *info,
                                   gesvdjInfo_t params);
cusolverStatus_t
cusolverDnZgesvdjBatched_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int m, int n,
                                    const cuDoubleComplex *A, int lda, const double *S,
                                    const cuDoubleComplex *U, int ldu, const cuDoubleComplex *V,
                                    int ldv, int *lwork, gesvdjInfo_t params, int batchSize);
cusolverStatus_t cusolverDnZgesvdjBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int m,
                                          int n, cuDoubleComplex *A, int lda, double *S,
                                          cuDoubleComplex *U, int ldu, cuDoubleComplex *V, int ldv,
                                          cuDoubleComplex *work, int lwork, int *info,
                                          gesvdjInfo_t params, int batchSize);

cusolverStatus_t cusolverDnZheevdx_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                              cusolverEigRange_t range, cublasFillMode_t uplo,
                                              int n, const cuDoubleComplex *A, int lda, double vl,
                                              double vu, int il, int iu, int *meig, const double *W,
                                              int *lwork);
cusolverStatus_t cusolverDnZheevdx(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                   cusolverEigRange_t range, cublasFillMode_t uplo, int n,
                                   cuDoubleComplex *A, int lda, double vl, double vu, int il,
                                   int iu, int *meig, double *W, cuDoubleComplex *work, int lwork,
                                   int *info);
cusolverStatus_t cusolverDnZhegvdx_bufferSize(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                              cusolverEigMode_t jobz, cusolverEigRange_t range,
                                              cublasFillMode_t uplo, int n,
                                              const cuDoubleComplex *A, int lda,
                                              const cuDoubleComplex *B, int ldb, double vl,
                                              double vu, int il, int iu, int *meig, const double *W,
                                              int *lwork);
cusolverStatus_t cusolverDnZhegvdx(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                   cusolverEigMode_t jobz, cusolverEigRange_t range,
                                   cublasFillMode_t uplo, int n, cuDoubleComplex *A, int lda,
                                   cuDoubleComplex *B, int ldb, double vl, double vu, int il,
                                   int iu, int *meig, double *W, cuDoubleComplex *work, int lwork,
                                   int *info);
cusolverStatus_t cusolverDnZhegvj_bufferSize(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                             cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,
                                             const cuDoubleComplex *A, int lda,
                                             const cuDoubleComplex *B, int ldb, const double *W,
                                             int *lwork, syevjInfo_t params);
cusolverStatus_t cusolverDnZhegvj(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                  cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,
                                  cuDoubleComplex *A, int lda, cuDoubleComplex *B, int ldb,
                                  double *W, cuDoubleComplex *work, int lwork, int *info,
                                  syevjInfo_t params);

/* ---- systems by one call, inverses, a few singular values of many matrices ---- */

cusolverStatus_t cusolverDnSpotri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                             int n, float *A, int lda, int *lwork);
cusolverStatus_t cusolverDnSpotri(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, float *A,
                                  int lda, float *work, int lwork, int *devInfo);
cusolverStatus_t cusolverDnSgesvdaStridedBatched_bufferSize(
    cusolverDnHandle_t handle, cusolverEigMode_t jobz, int rank, int m, int n, const float *d_A,
    int lda, long long int strideA, const float *d_S, long long int strideS, const float *d_U,
    int ldu, long long int strideU, const float *d_V, int ldv, long long int strideV, int *lwork,
    int batchSize);
cusolverStatus_t cusolverDnSgesvdaStridedBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                                 int rank, int m, int n, const float *d_A, int lda,
                                                 long long int strideA, float *d_S,
                                                 long long int strideS, float *d_U, int ldu,
                                                 long long int strideU, float *d_V, int ldv,
                                                 long long int strideV, float *d_work, int lwork,
                                                 int *d_info, double *h_R_nrmF, int batchSize);
cusolverStatus_t cusolverDnDpotri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                             int n, double *A, int lda, int *lwork);
cusolverStatus_t cusolverDnDpotri(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                  double *A, int lda, double *work, int lwork, int *devInfo);
cusolverStatus_t cusolverDnDgesvdaStridedBatched_bufferSize(
    cusolverDnHandle_t handle, cusolverEigMode_t jobz, int rank, int m, int n, const double *d_A,
    int lda, long long int strideA, const double *d_S, long long int strideS, const double *d_U,
    int ldu, long long int strideU, const double *d_V, int ldv, long long int strideV, int *lwork,
    int batchSize);
cusolverStatus_t cusolverDnDgesvdaStridedBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                                 int rank, int m, int n, const double *d_A, int lda,
                                                 long long int strideA, double *d_S,
                                                 long long int strideS, double *d_U, int ldu,
                                                 long long int strideU, double *d_V, int ldv,
                                                 long long int strideV, double *d_work, int lwork,
                                                 int *d_info, double *h_R_nrmF, int batchSize);
cusolverStatus_t cusolverDnCpotri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                             int n, cuComplex *A, int lda, int *lwork);
cusolverStatus_t cusolverDnCpotri(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                  cuComplex *A, int lda, cuComplex *work, int lwork, int *devInfo);
cusolverStatus_t cusolverDnCgesvdaStridedBatched_bufferSize(
    cusolverDnHandle_t handle, cusolverEigMode_t jobz, int rank, int m, int n, const cuComplex *d_A,
    int lda, long long int strideA, const float *d_S, long long int strideS, const cuComplex *d_U,
    int ldu, long long int strideU, const cuComplex *d_V, int ldv, long long int strideV,
    int *lwork, int batchSize);
cusolverStatus_t cusolverDnCgesvdaStridedBatched(
    cusolverDnHandle_t handle, cusolverEigMode_t jobz, int rank, int m, int n, const cuComplex *d_A,
    int lda, long long int strideA, float *d_S, long long int strideS, cuComplex *d_U, int ldu,
    long long int strideU, cuComplex *d_V, int ldv, long long int strideV, cuComplex *d_work,
    int lwork, int *d_info, double *h_R_nrmF, int batchSize);
cusolverStatus_t cusolverDnZpotri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                             int n, cuDoubleComplex *A, int lda, int *lwork);
cusolverStatus_t cusolverDnZpotri(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
                                  cuDoubleComplex *A, int lda, cuDoubleComplex *work, int lwork,
                                  int *devInfo);
cusolverStatus_t cusolverDnZgesvdaStridedBatched_bufferSize(
    cusolverDnHandle_t handle, cusolverEigMode_t jobz, int rank, int m, int n,
    const cuDoubleComplex *d_A, int lda, long long int strideA, const double *d_S,
    long long int strideS, const cuDoubleComplex *d_U, int ldu, long long int strideU,
    const cuDoubleComplex *d_V, int ldv, long long int strideV, int *lwork, int batchSize);
cusolverStatus_t
cusolverDnZgesvdaStridedBatched(cusolverDnHandle_t handle, cusolverEigMode_t jobz, int rank, int m,
                                int n, const cuDoubleComplex *d_A, int lda, long long int strideA,
                                double *d_S, long long int strideS, cuDoubleComplex *d_U, int ldu,
                                long long int strideU, cuDoubleComplex *d_V, int ldv,
                                long long int strideV, cuDoubleComplex *d_work, int lwork,
                                int *d_info, double *h_R_nrmF, int batchSize);
cusolverStatus_t cusolverDnSSgesv_bufferSize(cusolverDnHandle_t handle, int n, int nrhs, float *dA,
                                             int ldda, int *dipiv, float *dB, int lddb, float *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnSSgesv(cusolverDnHandle_t handle, int n, int nrhs, float *dA, int ldda,
                                  int *dipiv, float *dB, int lddb, float *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnSSgels_bufferSize(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                             float *dA, int ldda, float *dB, int lddb, float *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnSSgels(cusolverDnHandle_t handle, int m, int n, int nrhs, float *dA,
                                  int ldda, float *dB, int lddb, float *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnSHgesv_bufferSize(cusolverDnHandle_t handle, int n, int nrhs, float *dA,
                                             int ldda, int *dipiv, float *dB, int lddb, float *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnSHgesv(cusolverDnHandle_t handle, int n, int nrhs, float *dA, int ldda,
                                  int *dipiv, float *dB, int lddb, float *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnSHgels_bufferSize(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                             float *dA, int ldda, float *dB, int lddb, float *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnSHgels(cusolverDnHandle_t handle, int m, int n, int nrhs, float *dA,
                                  int ldda, float *dB, int lddb, float *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnSBgesv_bufferSize(cusolverDnHandle_t handle, int n, int nrhs, float *dA,
                                             int ldda, int *dipiv, float *dB, int lddb, float *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnSBgesv(cusolverDnHandle_t handle, int n, int nrhs, float *dA, int ldda,
                                  int *dipiv, float *dB, int lddb, float *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnSBgels_bufferSize(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                             float *dA, int ldda, float *dB, int lddb, float *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnSBgels(cusolverDnHandle_t handle, int m, int n, int nrhs, float *dA,
                                  int ldda, float *dB, int lddb, float *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnSXgesv_bufferSize(cusolverDnHandle_t handle, int n, int nrhs, float *dA,
                                             int ldda, int *dipiv, float *dB, int lddb, float *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnSXgesv(cusolverDnHandle_t handle, int n, int nrhs, float *dA, int ldda,
                                  int *dipiv, float *dB, int lddb, float *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnSXgels_bufferSize(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                             float *dA, int ldda, float *dB, int lddb, float *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnSXgels(cusolverDnHandle_t handle, int m, int n, int nrhs, float *dA,
                                  int ldda, float *dB, int lddb, float *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnDDgesv_bufferSize(cusolverDnHandle_t handle, int n, int nrhs, double *dA,
                                             int ldda, int *dipiv, double *dB, int lddb, double *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnDDgesv(cusolverDnHandle_t handle, int n, int nrhs, double *dA, int ldda,
                                  int *dipiv, double *dB, int lddb, double *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnDDgels_bufferSize(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                             double *dA, int ldda, double *dB, int lddb, double *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnDDgels(cusolverDnHandle_t handle, int m, int n, int nrhs, double *dA,
                                  int ldda, double *dB, int lddb, double *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnDSgesv_bufferSize(cusolverDnHandle_t handle, int n, int nrhs, double *dA,
                                             int ldda, int *dipiv, double *dB, int lddb, double *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnDSgesv(cusolverDnHandle_t handle, int n, int nrhs, double *dA, int ldda,
                                  int *dipiv, double *dB, int lddb, double *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnDSgels_bufferSize(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                             double *dA, int ldda, double *dB, int lddb, double *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnDSgels(cusolverDnHandle_t handle, int m, int n, int nrhs, double *dA,
                                  int ldda, double *dB, int lddb, double *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnDHgesv_bufferSize(cusolverDnHandle_t handle, int n, int nrhs, double *dA,
                                             int ldda, int *dipiv, double *dB, int lddb, double *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnDHgesv(cusolverDnHandle_t handle, int n, int nrhs, double *dA, int ldda,
                                  int *dipiv, double *dB, int lddb, double *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnDHgels_bufferSize(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                             double *dA, int ldda, double *dB, int lddb, double *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnDHgels(cusolverDnHandle_t handle, int m, int n, int nrhs, double *dA,
                                  int ldda, double *dB, int lddb, double *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnDBgesv_bufferSize(cusolverDnHandle_t handle, int n, int nrhs, double *dA,
                                             int ldda, int *dipiv, double *dB, int lddb, double *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnDBgesv(cusolverDnHandle_t handle, int n, int nrhs, double *dA, int ldda,
                                  int *dipiv, double *dB, int lddb, double *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnDBgels_bufferSize(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                             double *dA, int ldda, double *dB, int lddb, double *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnDBgels(cusolverDnHandle_t handle, int m, int n, int nrhs, double *dA,
                                  int ldda, double *dB, int lddb, double *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnDXgesv_bufferSize(cusolverDnHandle_t handle, int n, int nrhs, double *dA,
                                             int ldda, int *dipiv, double *dB, int lddb, double *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnDXgesv(cusolverDnHandle_t handle, int n, int nrhs, double *dA, int ldda,
                                  int *dipiv, double *dB, int lddb, double *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnDXgels_bufferSize(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                             double *dA, int ldda, double *dB, int lddb, double *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnDXgels(cusolverDnHandle_t handle, int m, int n, int nrhs, double *dA,
                                  int ldda, double *dB, int lddb, double *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnCCgesv_bufferSize(cusolverDnHandle_t handle, int n, int nrhs,
                                             cuComplex *dA, int ldda, int *dipiv, cuComplex *dB,
                                             int lddb, cuComplex *dX, int lddx, void *dWorkspace,
                                             size_t *lwork_bytes);
cusolverStatus_t cusolverDnCCgesv(cusolverDnHandle_t handle, int n, int nrhs, cuComplex *dA,
                                  int ldda, int *dipiv, cuComplex *dB, int lddb, cuComplex *dX,
                                  int lddx, void *dWorkspace, size_t lwork_bytes, int *iter,
                                  int *d_info);
cusolverStatus_t cusolverDnCCgels_bufferSize(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                             cuComplex *dA, int ldda, cuComplex *dB, int lddb,
                                             cuComplex *dX, int lddx, void *dWorkspace,
                                             size_t *lwork_bytes);
cusolverStatus_t cusolverDnCCgels(cusolverDnHandle_t handle, int m, int n, int nrhs, cuComplex *dA,
                                  int ldda, cuComplex *dB, int lddb, cuComplex *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnCKgesv_bufferSize(cusolverDnHandle_t handle, int n, int nrhs,
                                             cuComplex *dA, int ldda, int *dipiv, cuComplex *dB,
                                             int lddb, cuComplex *dX, int lddx, void *dWorkspace,
                                             size_t *lwork_bytes);
cusolverStatus_t cusolverDnCKgesv(cusolverDnHandle_t handle, int n, int nrhs, cuComplex *dA,
                                  int ldda, int *dipiv, cuComplex *dB, int lddb, cuComplex *dX,
                                  int lddx, void *dWorkspace, size_t lwork_bytes, int *iter,
                                  int *d_info);
cusolverStatus_t cusolverDnCKgels_bufferSize(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                             cuComplex *dA, int ldda, cuComplex *dB, int lddb,
                                             cuComplex *dX, int lddx, void *dWorkspace,
                                             size_t *lwork_bytes);
cusolverStatus_t cusolverDnCKgels(cusolverDnHandle_t handle, int m, int n, int nrhs, cuComplex *dA,
                                  int ldda, cuComplex *dB, int lddb, cuComplex *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnCEgesv_bufferSize(cusolverDnHandle_t handle, int n, int nrhs,
                                             cuComplex *dA, int ldda, int *dipiv, cuComplex *dB,
                                             int lddb, cuComplex *dX, int lddx, void *dWorkspace,
                                             size_t *lwork_bytes);
cusolverStatus_t cusolverDnCEgesv(cusolverDnHandle_t handle, int n, int nrhs, cuComplex *dA,
                                  int ldda, int *dipiv, cuComplex *dB, int lddb, cuComplex *dX,
                                  int lddx, void *dWorkspace, size_t lwork_bytes, int *iter,
                                  int *d_info);
cusolverStatus_t cusolverDnCEgels_bufferSize(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                             cuComplex *dA, int ldda, cuComplex *dB, int lddb,
                                             cuComplex *dX, int lddx, void *dWorkspace,
                                             size_t *lwork_bytes);
cusolverStatus_t cusolverDnCEgels(cusolverDnHandle_t handle, int m, int n, int nrhs, cuComplex *dA,
                                  int ldda, cuComplex *dB, int lddb, cuComplex *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnCYgesv_bufferSize(cusolverDnHandle_t handle, int n, int nrhs,
                                             cuComplex *dA, int ldda, int *dipiv, cuComplex *dB,
                                             int lddb, cuComplex *dX, int lddx, void *dWorkspace,
                                             size_t *lwork_bytes);
cusolverStatus_t cusolverDnCYgesv(cusolverDnHandle_t handle, int n, int nrhs, cuComplex *dA,
                                  int ldda, int *dipiv, cuComplex *dB, int lddb, cuComplex *dX,
                                  int lddx, void *dWorkspace, size_t lwork_bytes, int *iter,
                                  int *d_info);
cusolverStatus_t cusolverDnCYgels_bufferSize(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                             cuComplex *dA, int ldda, cuComplex *dB, int lddb,
                                             cuComplex *dX, int lddx, void *dWorkspace,
                                             size_t *lwork_bytes);
cusolverStatus_t cusolverDnCYgels(cusolverDnHandle_t handle, int m, int n, int nrhs, cuComplex *dA,
                                  int ldda, cuComplex *dB, int lddb, cuComplex *dX, int lddx,
                                  void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnZZgesv_bufferSize(cusolverDnHandle_t handle, int n, int nrhs,
                                             cuDoubleComplex *dA, int ldda, int *dipiv,
                                             cuDoubleComplex *dB, int lddb, cuDoubleComplex *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnZZgesv(cusolverDnHandle_t handle, int n, int nrhs, cuDoubleComplex *dA,
                                  int ldda, int *dipiv, cuDoubleComplex *dB, int lddb,
                                  cuDoubleComplex *dX, int lddx, void *dWorkspace,
                                  size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnZZgels_bufferSize(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                             cuDoubleComplex *dA, int ldda, cuDoubleComplex *dB,
                                             int lddb, cuDoubleComplex *dX, int lddx,
                                             void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnZZgels(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                  cuDoubleComplex *dA, int ldda, cuDoubleComplex *dB, int lddb,
                                  cuDoubleComplex *dX, int lddx, void *dWorkspace,
                                  size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnZCgesv_bufferSize(cusolverDnHandle_t handle, int n, int nrhs,
                                             cuDoubleComplex *dA, int ldda, int *dipiv,
                                             cuDoubleComplex *dB, int lddb, cuDoubleComplex *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnZCgesv(cusolverDnHandle_t handle, int n, int nrhs, cuDoubleComplex *dA,
                                  int ldda, int *dipiv, cuDoubleComplex *dB, int lddb,
                                  cuDoubleComplex *dX, int lddx, void *dWorkspace,
                                  size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnZCgels_bufferSize(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                             cuDoubleComplex *dA, int ldda, cuDoubleComplex *dB,
                                             int lddb, cuDoubleComplex *dX, int lddx,
                                             void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnZCgels(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                  cuDoubleComplex *dA, int ldda, cuDoubleComplex *dB, int lddb,
                                  cuDoubleComplex *dX, int lddx, void *dWorkspace,
                                  size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnZKgesv_bufferSize(cusolverDnHandle_t handle, int n, int nrhs,
                                             cuDoubleComplex *dA, int ldda, int *dipiv,
                                             cuDoubleComplex *dB, int lddb, cuDoubleComplex *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnZKgesv(cusolverDnHandle_t handle, int n, int nrhs, cuDoubleComplex *dA,
                                  int ldda, int *dipiv, cuDoubleComplex *dB, int lddb,
                                  cuDoubleComplex *dX, int lddx, void *dWorkspace,
                                  size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnZKgels_bufferSize(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                             cuDoubleComplex *dA, int ldda, cuDoubleComplex *dB,
                                             int lddb, cuDoubleComplex *dX, int lddx,
                                             void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnZKgels(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                  cuDoubleComplex *dA, int ldda, cuDoubleComplex *dB, int lddb,
                                  cuDoubleComplex *dX, int lddx, void *dWorkspace,
                                  size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnZEgesv_bufferSize(cusolverDnHandle_t handle, int n, int nrhs,
                                             cuDoubleComplex *dA, int ldda, int *dipiv,
                                             cuDoubleComplex *dB, int lddb, cuDoubleComplex *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnZEgesv(cusolverDnHandle_t handle, int n, int nrhs, cuDoubleComplex *dA,
                                  int ldda, int *dipiv, cuDoubleComplex *dB, int lddb,
                                  cuDoubleComplex *dX, int lddx, void *dWorkspace,
                                  size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnZEgels_bufferSize(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                             cuDoubleComplex *dA, int ldda, cuDoubleComplex *dB,
                                             int lddb, cuDoubleComplex *dX, int lddx,
                                             void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnZEgels(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                  cuDoubleComplex *dA, int ldda, cuDoubleComplex *dB, int lddb,
                                  cuDoubleComplex *dX, int lddx, void *dWorkspace,
                                  size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnZYgesv_bufferSize(cusolverDnHandle_t handle, int n, int nrhs,
                                             cuDoubleComplex *dA, int ldda, int *dipiv,
                                             cuDoubleComplex *dB, int lddb, cuDoubleComplex *dX,
                                             int lddx, void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnZYgesv(cusolverDnHandle_t handle, int n, int nrhs, cuDoubleComplex *dA,
                                  int ldda, int *dipiv, cuDoubleComplex *dB, int lddb,
                                  cuDoubleComplex *dX, int lddx, void *dWorkspace,
                                  size_t lwork_bytes, int *iter, int *d_info);
cusolverStatus_t cusolverDnZYgels_bufferSize(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                             cuDoubleComplex *dA, int ldda, cuDoubleComplex *dB,
                                             int lddb, cuDoubleComplex *dX, int lddx,
                                             void *dWorkspace, size_t *lwork_bytes);
cusolverStatus_t cusolverDnZYgels(cusolverDnHandle_t handle, int m, int n, int nrhs,
                                  cuDoubleComplex *dA, int ldda, cuDoubleComplex *dB, int lddb,
                                  cuDoubleComplex *dX, int lddx, void *dWorkspace,
                                  size_t lwork_bytes, int *iter, int *d_info);

/* ---- parts of the eigenvalues; types named by arguments ---- */

cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t *params);
cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params);
cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t params, cusolverDnFunction_t function,
                                         cusolverAlgMode_t algo);
cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                             cublasFillMode_t uplo, int64_t n,
                                             cudaDataType dataTypeA, const void *A, int64_t lda,
                                             cudaDataType computeType,
                                             size_t *workspaceInBytesOnDevice,
                                             size_t *workspaceInBytesOnHost);
cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                  cublasFillMode_t uplo, int64_t n, cudaDataType dataTypeA, void *A,
                                  int64_t lda, cudaDataType computeType, void *bufferOnDevice,
                                  size_t workspaceInBytesOnDevice, void *bufferOnHost,
                                  size_t workspaceInBytesOnHost, int *info);
cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                  cublasFillMode_t uplo, int64_t n, int64_t nrhs,
                                  cudaDataType dataTypeA, const void *A, int64_t lda,
                                  cudaDataType dataTypeB, void *B, int64_t ldb, int *info);
cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                             int64_t m, int64_t n, cudaDataType dataTypeA,
                                             const void *A, int64_t lda, cudaDataType computeType,
                                             size_t *workspaceInBytesOnDevice,
                                             size_t *workspaceInBytesOnHost);
cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
                                  int64_t n, cudaDataType dataTypeA, void *A, int64_t lda,
                                  int64_t *ipiv, cudaDataType computeType, void *bufferOnDevice,
                                  size_t workspaceInBytesOnDevice, void *bufferOnHost,
                                  size_t workspaceInBytesOnHost, int *info);
cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                  cublasOperation_t trans, int64_t n, int64_t nrhs,
                                  cudaDataType dataTypeA, const void *A, int64_t lda,
                                  const int64_t *ipiv, cudaDataType dataTypeB, void *B, int64_t ldb,
                                  int *info);
cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                             int64_t m, int64_t n, cudaDataType dataTypeA,
                                             const void *A, int64_t lda, cudaDataType dataTypeTau,
                                             const void *tau, cudaDataType computeType,
                                             size_t *workspaceInBytesOnDevice,
                                             size_t *workspaceInBytesOnHost);
cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
                                  int64_t n, cudaDataType dataTypeA, void *A, int64_t lda,
                                  cudaDataType dataTypeTau, void *tau, cudaDataType computeType,
                                  void *bufferOnDevice, size_t workspaceInBytesOnDevice,
                                  void *bufferOnHost, size_t workspaceInBytesOnHost, int *info);
cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                             cusolverEigMode_t jobz, cublasFillMode_t uplo,
                                             int64_t n, cudaDataType dataTypeA, const void *A,
                                             int64_t lda, cudaDataType dataTypeW, const void *W,
                                             cudaDataType computeType,
                                             size_t *workspaceInBytesOnDevice,
                                             size_t *workspaceInBytesOnHost);
cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                  cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                                  cudaDataType dataTypeA, void *A, int64_t lda,
                                  cudaDataType dataTypeW, void *W, cudaDataType computeType,
                                  void *bufferOnDevice, size_t workspaceInBytesOnDevice,
                                  void *bufferOnHost, size_t workspaceInBytesOnHost, int *info);
cusolverStatus_t cusolverDnXsyevBatched_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz,
    cublasFillMode_t uplo, int64_t n, cudaDataType dataTypeA, const void *A, int64_t lda,
    cudaDataType dataTypeW, const void *W, cudaDataType computeType,
    size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost, int64_t batchSize);
cusolverStatus_t cusolverDnXsyevBatched(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                        cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                                        cudaDataType dataTypeA, void *A, int64_t lda,
                                        cudaDataType dataTypeW, void *W, cudaDataType computeType,
                                        void *bufferOnDevice, size_t workspaceInBytesOnDevice,
                                        void *bufferOnHost, size_t workspaceInBytesOnHost,
                                        int *info, int64_t batchSize);
cusolverStatus_t cusolverDnXsyevdx_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz,
    cusolverEigRange_t range, cublasFillMode_t uplo, int64_t n, cudaDataType dataTypeA,
    const void *A, int64_t lda, void *vl, void *vu, int64_t il, int64_t iu, int64_t *h_meig,
    cudaDataType dataTypeW, const void *W, cudaDataType computeType,
    size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost);
cusolverStatus_t cusolverDnXsyevdx(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                   cusolverEigMode_t jobz, cusolverEigRange_t range,
                                   cublasFillMode_t uplo, int64_t n, cudaDataType dataTypeA,
                                   void *A, int64_t lda, void *vl, void *vu, int64_t il, int64_t iu,
                                   int64_t *h_meig, cudaDataType dataTypeW, void *W,
                                   cudaDataType computeType, void *bufferOnDevice,
                                   size_t workspaceInBytesOnDevice, void *bufferOnHost,
                                   size_t workspaceInBytesOnHost, int *info);
cusolverStatus_t cusolverDnXgeev_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobvl,
    cusolverEigMode_t jobvr, int64_t n, cudaDataType dataTypeA, const void *A, int64_t lda,
    cudaDataType dataTypeW, const void *W, cudaDataType dataTypeVL, const void *VL, int64_t ldvl,
    cudaDataType dataTypeVR, const void *VR, int64_t ldvr, cudaDataType computeType,
    size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost);
cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                 cusolverEigMode_t jobvl, cusolverEigMode_t jobvr, int64_t n,
                                 cudaDataType dataTypeA, void *A, int64_t lda,
                                 cudaDataType dataTypeW, void *W, cudaDataType dataTypeVL, void *VL,
                                 int64_t ldvl, cudaDataType dataTypeVR, void *VR, int64_t ldvr,
                                 cudaDataType computeType, void *bufferOnDevice,
                                 size_t workspaceInBytesOnDevice, void *bufferOnHost,
                                 size_t workspaceInBytesOnHost, int *info);
cusolverStatus_t cusolverDnXgesvd_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu, signed char jobvt,
    int64_t m, int64_t n, cudaDataType dataTypeA, const void *A, int64_t lda,
    cudaDataType dataTypeS, const void *S, cudaDataType dataTypeU, const void *U, int64_t ldu,
    cudaDataType dataTypeVT, const void *VT, int64_t ldvt, cudaDataType computeType,
    size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost);
cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                  signed char jobu, signed char jobvt, int64_t m, int64_t n,
                                  cudaDataType dataTypeA, void *A, int64_t lda,
                                  cudaDataType dataTypeS, void *S, cudaDataType dataTypeU, void *U,
                                  int64_t ldu, cudaDataType dataTypeVT, void *VT, int64_t ldvt,
                                  cudaDataType computeType, void *bufferOnDevice,
                                  size_t workspaceInBytesOnDevice, void *bufferOnHost,
                                  size_t workspaceInBytesOnHost, int *info);
cusolverStatus_t cusolverDnXgesvdp_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz, int econ,
    int64_t m, int64_t n, cudaDataType dataTypeA, const void *A, int64_t lda,
    cudaDataType dataTypeS, const void *S, cudaDataType dataTypeU, const void *U, int64_t ldu,
    cudaDataType dataTypeV, const void *V, int64_t ldv, cudaDataType computeType,
    size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost);
cusolverStatus_t cusolverDnXgesvdp(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                   cusolverEigMode_t jobz, int econ, int64_t m, int64_t n,
                                   cudaDataType dataTypeA, void *A, int64_t lda,
                                   cudaDataType dataTypeS, void *S, cudaDataType dataTypeU, void *U,
                                   int64_t ldu, cudaDataType dataTypeV, void *V, int64_t ldv,
                                   cudaDataType computeType, void *bufferOnDevice,
                                   size_t workspaceInBytesOnDevice, void *bufferOnHost,
                                   size_t workspaceInBytesOnHost, int *d_info, double *h_err_sigma);
cusolverStatus_t cusolverDnXtrtri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                             cublasDiagType_t diag, int64_t n,
                                             cudaDataType dataTypeA, void *A, int64_t lda,
                                             size_t *workspaceInBytesOnDevice,
                                             size_t *workspaceInBytesOnHost);
cusolverStatus_t cusolverDnXtrtri(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                  cublasDiagType_t diag, int64_t n, cudaDataType dataTypeA, void *A,
                                  int64_t lda, void *bufferOnDevice,
                                  size_t workspaceInBytesOnDevice, void *bufferOnHost,
                                  size_t workspaceInBytesOnHost, int *devInfo);
cusolverStatus_t cusolverDnSsyevdx_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                              cusolverEigRange_t range, cublasFillMode_t uplo,
                                              int n, const float *A, int lda, float vl, float vu,
                                              int il, int iu, int *meig, const float *W,
                                              int *lwork);
cusolverStatus_t cusolverDnSsyevdx(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                   cusolverEigRange_t range, cublasFillMode_t uplo, int n, float *A,
                                   int lda, float vl, float vu, int il, int iu, int *meig, float *W,
                                   float *work, int lwork, int *info);
cusolverStatus_t cusolverDnSsygvdx_bufferSize(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                              cusolverEigMode_t jobz, cusolverEigRange_t range,
                                              cublasFillMode_t uplo, int n, const float *A, int lda,
                                              const float *B, int ldb, float vl, float vu, int il,
                                              int iu, int *meig, const float *W, int *lwork);
cusolverStatus_t cusolverDnSsygvdx(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                   cusolverEigMode_t jobz, cusolverEigRange_t range,
                                   cublasFillMode_t uplo, int n, float *A, int lda, float *B,
                                   int ldb, float vl, float vu, int il, int iu, int *meig, float *W,
                                   float *work, int lwork, int *info);
cusolverStatus_t cusolverDnSsygvj_bufferSize(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                             cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,
                                             const float *A, int lda, const float *B, int ldb,
                                             const float *W, int *lwork, syevjInfo_t params);
cusolverStatus_t cusolverDnSsygvj(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                  cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, float *A,
                                  int lda, float *B, int ldb, float *W, float *work, int lwork,
                                  int *info, syevjInfo_t params);
cusolverStatus_t cusolverDnDsyevdx_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                              cusolverEigRange_t range, cublasFillMode_t uplo,
                                              int n, const double *A, int lda, double vl, double vu,
                                              int il, int iu, int *meig, const double *W,
                                              int *lwork);
cusolverStatus_t cusolverDnDsyevdx(cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                   cusolverEigRange_t range, cublasFillMode_t uplo, int n,
                                   double *A, int lda, double vl, double vu, int il, int iu,
                                   int *meig, double *W, double *work, int lwork, int *info);
cusolverStatus_t cusolverDnDsygvdx_bufferSize(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                              cusolverEigMode_t jobz, cusolverEigRange_t range,
                                              cublasFillMode_t uplo, int n, const double *A,
                                              int lda, const double *B, int ldb, double vl,
                                              double vu, int il, int iu, int *meig, const double *W,
                                              int *lwork);
cusolverStatus_t cusolverDnDsygvdx(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                   cusolverEigMode_t jobz, cusolverEigRange_t range,
                                   cublasFillMode_t uplo, int n, double *A, int lda, double *B,
                                   int ldb, double vl, double vu, int il, int iu, int *meig,
                                   double *W, double *work, int lwork, int *info);
cusolverStatus_t cusolverDnDsygvj_bufferSize(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                             cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,
                                             const double *A, int lda, const double *B, int ldb,
                                             const double *W, int *lwork, syevjInfo_t params);
cusolverStatus_t cusolverDnDsygvj(cusolverDnHandle_t handle, cusolverEigType_t itype,
                                  cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, double *A,
                                  int lda, double *B, int ldb, double *W, double *work, int lwork,
                                  int *info, syevjInfo_t params);

/* ---- calls without an implementation ---- */

#if defined(__cplusplus)
#define WP_CUSOLVER_MISSING(name) cusolverStatus_t name(...);
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#define WP_CUSOLVER_MISSING(name) cusolverStatus_t name();
#endif
#include "wp/cusolver_missing.h"
#undef WP_CUSOLVER_MISSING
#if !defined(__cplusplus)
#pragma GCC diagnostic pop
#endif

#if defined(__cplusplus)
}
#endif
#endif

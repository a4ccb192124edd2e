/* SPDX-License-Identifier: Apache-2.0 */
/**
 * cuSOLVER's sparse part: systems of CSR matrices of float, double and their complex numbers.
 * libcusolver.so has the implementation; calls that it lacks log their name once and return
 * CUSOLVER_STATUS_NOT_SUPPORTED.
 */
#ifndef WARPAGE_CUDA_CUSOLVER_SP_H
#define WARPAGE_CUDA_CUSOLVER_SP_H

#define CUSOLVERSP_H_

#include "cuda_runtime_api.h"
#include "cusolver_common.h"
#include "cusparse.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct cusolverSpContext *cusolverSpHandle_t;

cusolverStatus_t cusolverSpCreate(cusolverSpHandle_t *handle);
cusolverStatus_t cusolverSpDestroy(cusolverSpHandle_t handle);
cusolverStatus_t cusolverSpSetStream(cusolverSpHandle_t handle, cudaStream_t streamId);
cusolverStatus_t cusolverSpGetStream(cusolverSpHandle_t handle, cudaStream_t *streamId);

/* A x = b. `reorder` 0 keeps the order of rows; all others are reverse Cuthill and McKee's. The
 * first place with a pivot of at most `tol`, or -1, is in *singularity, on the host. */
cusolverStatus_t cusolverSpScsrlsvqr(cusolverSpHandle_t handle, int m, int nnz,
                                     const cusparseMatDescr_t descrA, const float *csrVal,
                                     const int *csrRowPtr, const int *csrColInd, const float *b,
                                     float tol, int reorder, float *x, int *singularity);
cusolverStatus_t cusolverSpScsrlsvqrHost(cusolverSpHandle_t handle, int m, int nnz,
                                         const cusparseMatDescr_t descrA, const float *csrVal,
                                         const int *csrRowPtr, const int *csrColInd, const float *b,
                                         float tol, int reorder, float *x, int *singularity);
cusolverStatus_t cusolverSpScsrlsvluHost(cusolverSpHandle_t handle, int m, int nnz,
                                         const cusparseMatDescr_t descrA, const float *csrVal,
                                         const int *csrRowPtr, const int *csrColInd, const float *b,
                                         float tol, int reorder, float *x, int *singularity);
cusolverStatus_t cusolverSpScsrlsvchol(cusolverSpHandle_t handle, int m, int nnz,
                                       const cusparseMatDescr_t descrA, const float *csrVal,
                                       const int *csrRowPtr, const int *csrColInd, const float *b,
                                       float tol, int reorder, float *x, int *singularity);
cusolverStatus_t cusolverSpScsrlsvcholHost(cusolverSpHandle_t handle, int m, int nnz,
                                           const cusparseMatDescr_t descrA, const float *csrVal,
                                           const int *csrRowPtr, const int *csrColInd,
                                           const float *b, float tol, int reorder, float *x,
                                           int *singularity);

cusolverStatus_t cusolverSpDcsrlsvqr(cusolverSpHandle_t handle, int m, int nnz,
                                     const cusparseMatDescr_t descrA, const double *csrVal,
                                     const int *csrRowPtr, const int *csrColInd, const double *b,
                                     double tol, int reorder, double *x, int *singularity);
cusolverStatus_t cusolverSpDcsrlsvqrHost(cusolverSpHandle_t handle, int m, int nnz,
                                         const cusparseMatDescr_t descrA, const double *csrVal,
                                         const int *csrRowPtr, const int *csrColInd,
                                         const double *b, double tol, int reorder, double *x,
                                         int *singularity);
cusolverStatus_t cusolverSpDcsrlsvluHost(cusolverSpHandle_t handle, int m, int nnz,
                                         const cusparseMatDescr_t descrA, const double *csrVal,
                                         const int *csrRowPtr, const int *csrColInd,
                                         const double *b, double tol, int reorder, double *x,
                                         int *singularity);
cusolverStatus_t cusolverSpDcsrlsvchol(cusolverSpHandle_t handle, int m, int nnz,
                                       const cusparseMatDescr_t descrA, const double *csrVal,
                                       const int *csrRowPtr, const int *csrColInd, const double *b,
                                       double tol, int reorder, double *x, int *singularity);
cusolverStatus_t cusolverSpDcsrlsvcholHost(cusolverSpHandle_t handle, int m, int nnz,
                                           const cusparseMatDescr_t descrA, const double *csrVal,
                                           const int *csrRowPtr, const int *csrColInd,
                                           const double *b, double tol, int reorder, double *x,
                                           int *singularity);

cusolverStatus_t cusolverSpCcsrlsvqr(cusolverSpHandle_t handle, int m, int nnz,
                                     const cusparseMatDescr_t descrA, const cuComplex *csrVal,
                                     const int *csrRowPtr, const int *csrColInd, const cuComplex *b,
                                     float tol, int reorder, cuComplex *x, int *singularity);
cusolverStatus_t cusolverSpCcsrlsvqrHost(cusolverSpHandle_t handle, int m, int nnz,
                                         const cusparseMatDescr_t descrA, const cuComplex *csrVal,
                                         const int *csrRowPtr, const int *csrColInd,
                                         const cuComplex *b, float tol, int reorder, cuComplex *x,
                                         int *singularity);
cusolverStatus_t cusolverSpCcsrlsvluHost(cusolverSpHandle_t handle, int m, int nnz,
                                         const cusparseMatDescr_t descrA, const cuComplex *csrVal,
                                         const int *csrRowPtr, const int *csrColInd,
                                         const cuComplex *b, float tol, int reorder, cuComplex *x,
                                         int *singularity);
cusolverStatus_t cusolverSpCcsrlsvchol(cusolverSpHandle_t handle, int m, int nnz,
                                       const cusparseMatDescr_t descrA, const cuComplex *csrVal,
                                       const int *csrRowPtr, const int *csrColInd,
                                       const cuComplex *b, float tol, int reorder, cuComplex *x,
                                       int *singularity);
cusolverStatus_t cusolverSpCcsrlsvcholHost(cusolverSpHandle_t handle, int m, int nnz,
                                           const cusparseMatDescr_t descrA, const cuComplex *csrVal,
                                           const int *csrRowPtr, const int *csrColInd,
                                           const cuComplex *b, float tol, int reorder, cuComplex *x,
                                           int *singularity);

cusolverStatus_t cusolverSpZcsrlsvqr(cusolverSpHandle_t handle, int m, int nnz,
                                     const cusparseMatDescr_t descrA, const cuDoubleComplex *csrVal,
                                     const int *csrRowPtr, const int *csrColInd,
                                     const cuDoubleComplex *b, double tol, int reorder,
                                     cuDoubleComplex *x, int *singularity);
cusolverStatus_t cusolverSpZcsrlsvqrHost(cusolverSpHandle_t handle, int m, int nnz,
                                         const cusparseMatDescr_t descrA,
                                         const cuDoubleComplex *csrVal, const int *csrRowPtr,
                                         const int *csrColInd, const cuDoubleComplex *b, double tol,
                                         int reorder, cuDoubleComplex *x, int *singularity);
cusolverStatus_t cusolverSpZcsrlsvluHost(cusolverSpHandle_t handle, int m, int nnz,
                                         const cusparseMatDescr_t descrA,
                                         const cuDoubleComplex *csrVal, const int *csrRowPtr,
                                         const int *csrColInd, const cuDoubleComplex *b, double tol,
                                         int reorder, cuDoubleComplex *x, int *singularity);
cusolverStatus_t cusolverSpZcsrlsvchol(cusolverSpHandle_t handle, int m, int nnz,
                                       const cusparseMatDescr_t descrA,
                                       const cuDoubleComplex *csrVal, const int *csrRowPtr,
                                       const int *csrColInd, const cuDoubleComplex *b, double tol,
                                       int reorder, cuDoubleComplex *x, int *singularity);
cusolverStatus_t cusolverSpZcsrlsvcholHost(cusolverSpHandle_t handle, int m, int nnz,
                                           const cusparseMatDescr_t descrA,
                                           const cuDoubleComplex *csrVal, const int *csrRowPtr,
                                           const int *csrColInd, const cuDoubleComplex *b,
                                           double tol, int reorder, cuDoubleComplex *x,
                                           int *singularity);

/* ---- patterns, all in memory of the host ---- */

/* Orders of rows and columns that keep entries near the diagonal: p[i] is the row that becomes row
 * i. There is one method, reverse Cuthill and McKee's. */
cusolverStatus_t cusolverSpXcsrsymrcmHost(cusolverSpHandle_t handle, int n, int nnzA,
                                          const cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                          const int *csrColIndA, int *p);
cusolverStatus_t cusolverSpXcsrsymmdqHost(cusolverSpHandle_t handle, int n, int nnzA,
                                          const cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                          const int *csrColIndA, int *p);
cusolverStatus_t cusolverSpXcsrsymamdHost(cusolverSpHandle_t handle, int n, int nnzA,
                                          const cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                          const int *csrColIndA, int *p);
cusolverStatus_t cusolverSpXcsrmetisndHost(cusolverSpHandle_t handle, int n, int nnzA,
                                           const cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                           const int *csrColIndA, const int64_t *options, int *p);
/* Whether for each entry there is one on the other side of the diagonal. */
cusolverStatus_t cusolverSpXcsrissymHost(cusolverSpHandle_t handle, int m, int nnzA,
                                         const cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                         const int *csrEndPtrA, const int *csrColIndA, int *issym);
/* In place: row i of the result is row p[i], column j is column q[j]; map moves with the entries.
 */
cusolverStatus_t cusolverSpXcsrperm_bufferSizeHost(cusolverSpHandle_t handle, int m, int n,
                                                   int nnzA, const cusparseMatDescr_t descrA,
                                                   const int *csrRowPtrA, const int *csrColIndA,
                                                   const int *p, const int *q,
                                                   size_t *bufferSizeInBytes);
cusolverStatus_t cusolverSpXcsrpermHost(cusolverSpHandle_t handle, int m, int n, int nnzA,
                                        const cusparseMatDescr_t descrA, int *csrRowPtrA,
                                        int *csrColIndA, const int *p, const int *q, int *map,
                                        void *pBuffer);

#if defined(__cplusplus)
}
#endif

#endif

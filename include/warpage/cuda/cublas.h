/* SPDX-License-Identifier: Apache-2.0 */
/**
 * cuBLAS by its first interface: one state for the whole program instead of handles, letters
 * instead of enumerations, results as values. cublas_api.h declares all other calls.
 */
#ifndef WARPAGE_CUDA_CUBLAS_H
#define WARPAGE_CUDA_CUBLAS_H

#if defined(CUBLAS_V2_H_)
#error "cublas.h and cublas_v2.h declare the same names differently: include one of them"
#endif
#define CUBLAS_H_

#include "cublas_api.h"

#define cublasStatus cublasStatus_t

#if defined(__cplusplus)
extern "C" {
#endif

/* ---- the first interface: state, memory ---- */

cublasStatus_t cublasInit(void);
cublasStatus_t cublasShutdown(void);
/** The status of the first call that failed since the last cublasGetError. */
cublasStatus_t cublasGetError(void);
cublasStatus_t cublasGetVersion(int *version);
cublasStatus_t cublasSetKernelStream(cudaStream_t stream);
cublasStatus_t cublasAlloc(int n, int elemSize, void **devicePtr);
cublasStatus_t cublasFree(void *devicePtr);

#include "wp/cublas_first.h"

#if defined(__cplusplus)
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** cuFFT's extended calls: plans whose types are arguments, in single and double precision. Those
 * for several GPUs and callbacks log their name once and return CUFFT_NOT_SUPPORTED. */
#ifndef WARPAGE_CUDA_CUFFTXT_H
#define WARPAGE_CUDA_CUFFTXT_H

#define _CUFFTXT_H_

#include "cufft.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* The types of input, output and execution are those of a cufftType: CUDA_C_32F or CUDA_R_32F with
 * execution in CUDA_C_32F, or the same in 64 bits. */
cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long int *n,
                                long long int *inembed, long long int istride, long long int idist,
                                cudaDataType inputtype, long long int *onembed,
                                long long int ostride, long long int odist, cudaDataType outputtype,
                                long long int batch, size_t *workSize, cudaDataType executiontype);
cufftResult cufftXtGetSizeMany(cufftHandle plan, int rank, long long int *n, long long int *inembed,
                               long long int istride, long long int idist, cudaDataType inputtype,
                               long long int *onembed, long long int ostride, long long int odist,
                               cudaDataType outputtype, long long int batch, size_t *workSize,
                               cudaDataType executiontype);
/** `direction` has a meaning for complex transforms only. */
cufftResult cufftXtExec(cufftHandle plan, void *input, void *output, int direction);

/* Declared for any arguments. */
#if defined(__cplusplus)
#define WP_CUFFT_MISSING(name) cufftResult name(...);
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#define WP_CUFFT_MISSING(name) cufftResult name();
#endif
#include "wp/cufft_missing.h"
#undef WP_CUFFT_MISSING
#if !defined(__cplusplus)
#pragma GCC diagnostic pop
#endif

#if defined(__cplusplus)
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** cuFFT's extended calls: plans whose types are arguments, in single and double precision. Those
 * for several GPUs log their name once and return CUFFT_NOT_SUPPORTED. */
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

/* ---- callbacks: device functions of the program that load or store an element ---------------- */

typedef enum cufftXtCallbackType_t {
    CUFFT_CB_LD_COMPLEX = 0,
    CUFFT_CB_LD_COMPLEX_DOUBLE = 1,
    CUFFT_CB_LD_REAL = 2,
    CUFFT_CB_LD_REAL_DOUBLE = 3,
    CUFFT_CB_ST_COMPLEX = 4,
    CUFFT_CB_ST_COMPLEX_DOUBLE = 5,
    CUFFT_CB_ST_REAL = 6,
    CUFFT_CB_ST_REAL_DOUBLE = 7,
    CUFFT_CB_UNDEFINED = 8
} cufftXtCallbackType;

typedef cufftComplex (*cufftCallbackLoadC)(void *dataIn, size_t offset, void *callerInfo,
                                           void *sharedPointer);
typedef cufftDoubleComplex (*cufftCallbackLoadZ)(void *dataIn, size_t offset, void *callerInfo,
                                                 void *sharedPointer);
typedef cufftReal (*cufftCallbackLoadR)(void *dataIn, size_t offset, void *callerInfo,
                                        void *sharedPointer);
typedef cufftDoubleReal (*cufftCallbackLoadD)(void *dataIn, size_t offset, void *callerInfo,
                                              void *sharedPointer);
typedef void (*cufftCallbackStoreC)(void *dataOut, size_t offset, cufftComplex element,
                                    void *callerInfo, void *sharedPointer);
typedef void (*cufftCallbackStoreZ)(void *dataOut, size_t offset, cufftDoubleComplex element,
                                    void *callerInfo, void *sharedPointer);
typedef void (*cufftCallbackStoreR)(void *dataOut, size_t offset, cufftReal element,
                                    void *callerInfo, void *sharedPointer);
typedef void (*cufftCallbackStoreD)(void *dataOut, size_t offset, cufftDoubleReal element,
                                    void *callerInfo, void *sharedPointer);

/** Needs -rdc=true and -lcufft_static, so that kernels are linked with the function; otherwise
 * CUFFT_NOT_SUPPORTED. `callback_routine`: its device address. */
cufftResult cufftXtSetCallback(cufftHandle plan, void **callback_routine,
                               cufftXtCallbackType cbType, void **caller_info);
cufftResult cufftXtClearCallback(cufftHandle plan, cufftXtCallbackType cbType);
cufftResult cufftXtSetCallbackSharedSize(cufftHandle plan, cufftXtCallbackType cbType,
                                         size_t sharedSize);

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

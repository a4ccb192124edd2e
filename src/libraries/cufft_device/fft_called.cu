/* SPDX-License-Identifier: Apache-2.0 */
/* What cuFFT links into a program that has callbacks: kernels beside the functions that they call,
 * so that both are one module. */
#include <cufftXt.h>

#include "libraries/cufft/fft_shared.h"

#define BLOCK 256
#include "libraries/element_loop.h"

static cudaError_t launch(const void *kernel, const wpi_fft_shape *s, const wpi_fft_callback *c, cudaStream_t stream,
                          void **arguments) {
    return cudaLaunchKernel(kernel, dim3(blocks(s->n[0] * s->n[1] * s->n[2] * s->batch)), dim3(BLOCK), arguments,
                            c->shared_bytes, stream);
}

#define NAME(x) x##_single
#define REAL float
#define COMPLEX float2
#define LOAD_REAL cufftCallbackLoadR
#define LOAD_COMPLEX cufftCallbackLoadC
#define STORE_REAL cufftCallbackStoreR
#define STORE_COMPLEX cufftCallbackStoreC
#include "libraries/cufft_device/fft_called.h"
#undef NAME
#undef REAL
#undef COMPLEX
#undef LOAD_REAL
#undef LOAD_COMPLEX
#undef STORE_REAL
#undef STORE_COMPLEX

#define NAME(x) x##_double
#define REAL double
#define COMPLEX double2
#define LOAD_REAL cufftCallbackLoadD
#define LOAD_COMPLEX cufftCallbackLoadZ
#define STORE_REAL cufftCallbackStoreD
#define STORE_COMPLEX cufftCallbackStoreZ
#include "libraries/cufft_device/fft_called.h"

static const wpi_fft_called called = {{load_single, load_double}, {store_single, store_double}};

extern "C" cufftResult cufftXtSetCallback(cufftHandle plan, void **callback_routine, cufftXtCallbackType type,
                                          void **caller_info) {
    if (callback_routine == NULL) return CUFFT_INVALID_VALUE;
    return (cufftResult)wpi_cufft_set_callback(plan, *callback_routine, (int)type, caller_info != NULL ? *caller_info : NULL,
                                              &called);
}

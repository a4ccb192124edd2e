/* SPDX-License-Identifier: Apache-2.0 */
/** cuFFT's extended calls, for several GPUs and callbacks: none has an implementation yet. Each
 * logs its name once and returns CUFFT_NOT_SUPPORTED. */
#ifndef WARPAGE_CUDA_CUFFTXT_H
#define WARPAGE_CUDA_CUFFTXT_H

#define _CUFFTXT_H_

#include "cufft.h"

#if defined(__cplusplus)
extern "C" {
#endif

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

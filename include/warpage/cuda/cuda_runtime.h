/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The CUDA dialect and runtime API. wpcc includes it before the first line of every CUDA file;
 * C and C++ files get the host API, C++ files also its typed overloads.
 */
#ifndef WARPAGE_CUDA_RUNTIME_H
#define WARPAGE_CUDA_RUNTIME_H

#define __CUDA_RUNTIME_H__

#if defined(__CUDA__) && defined(__clang__)
#include "wp/prelude.h"
#else
#include <stddef.h>
#include <string.h>
#endif

#include "builtin_types.h"
#include "channel_descriptor.h"
#include "cuda_runtime_api.h"
#include "library_types.h"
#include "vector_functions.h"

#if defined(__CUDA__) && defined(__clang__)
/* Called by the code that clang generates for <<<grid, block, shared, stream>>>. */
extern "C" unsigned int __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim,
                                                    size_t sharedMem = 0, void *stream = 0);
#include "wp/device.h"
#include "wp/math_host.h"

#include "wp/device_runtime.h"

#include "cuda_texture_types.h"
#include "wp/texture.h"
#if defined(__CUDACC_EXTENDED_LAMBDA__) && __cplusplus >= 201103L
#include "wp/lambda.h"
#endif
#if __cplusplus >= 201103L && !defined(__CUDACC_RTC__)
#include "wp/variable_arrays.h"
#endif
#endif

#if defined(__cplusplus)
#if __cplusplus >= 201103L && !defined(__CUDACC_RTC__)
#include <utility> /* programs use std::pair and std::exchange without it, as nvcc's header has it */
#endif
#include "wp/api_cxx.h"
#endif

#endif

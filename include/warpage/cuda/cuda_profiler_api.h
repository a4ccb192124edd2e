/* SPDX-License-Identifier: Apache-2.0 */
/** cudaProfilerStart and cudaProfilerStop: declared with the rest of the runtime API. */
#ifndef WARPAGE_CUDA_PROFILER_API_H
#define WARPAGE_CUDA_PROFILER_API_H
#include "cuda_runtime_api.h"
#endif

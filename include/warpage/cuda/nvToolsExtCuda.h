/* SPDX-License-Identifier: Apache-2.0 */
/** Names for streams and events in profilers: accepted and ignored. */
#ifndef WARPAGE_CUDA_NVTOOLSEXT_CUDA_H
#define WARPAGE_CUDA_NVTOOLSEXT_CUDA_H

#include "cuda_runtime_api.h"
#include "nvToolsExt.h"

static __inline__ void nvtxNameCudaStreamA(cudaStream_t stream, const char *name) {
    (void)stream;
    (void)name;
}
static __inline__ void nvtxNameCudaEventA(cudaEvent_t event, const char *name) {
    (void)event;
    (void)name;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Names for the runtime's objects in profilers: accepted and ignored. */
#ifndef WARPAGE_CUDA_NVTOOLSEXT_CUDART_H
#define WARPAGE_CUDA_NVTOOLSEXT_CUDART_H

#include <stddef.h>

#include "cuda_runtime_api.h"
#include "nvToolsExt.h"

static __inline__ void nvtxNameCudaDeviceA(int device, const char *name) {
    (void)device;
    (void)name;
}
static __inline__ void nvtxNameCudaDeviceW(int device, const wchar_t *name) {
    (void)device;
    (void)name;
}
static __inline__ void nvtxNameCudaStreamA(cudaStream_t stream, const char *name) {
    (void)stream;
    (void)name;
}
static __inline__ void nvtxNameCudaStreamW(cudaStream_t stream, const wchar_t *name) {
    (void)stream;
    (void)name;
}
static __inline__ void nvtxNameCudaEventA(cudaEvent_t event, const char *name) {
    (void)event;
    (void)name;
}
static __inline__ void nvtxNameCudaEventW(cudaEvent_t event, const wchar_t *name) {
    (void)event;
    (void)name;
}

#ifdef UNICODE
#define nvtxNameCudaDevice nvtxNameCudaDeviceW
#define nvtxNameCudaStream nvtxNameCudaStreamW
#define nvtxNameCudaEvent nvtxNameCudaEventW
#else
#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent nvtxNameCudaEventA
#endif

#endif

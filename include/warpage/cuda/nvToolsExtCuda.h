/* SPDX-License-Identifier: Apache-2.0 */
/** Names for the driver API's objects in profilers: accepted and ignored. */
#ifndef WARPAGE_CUDA_NVTOOLSEXT_CUDA_H
#define WARPAGE_CUDA_NVTOOLSEXT_CUDA_H

#include <stddef.h>

#include "cuda.h"
#include "nvToolsExt.h"

static __inline__ void nvtxNameCuDeviceA(CUdevice device, const char *name) {
    (void)device;
    (void)name;
}
static __inline__ void nvtxNameCuDeviceW(CUdevice device, const wchar_t *name) {
    (void)device;
    (void)name;
}
static __inline__ void nvtxNameCuContextA(CUcontext context, const char *name) {
    (void)context;
    (void)name;
}
static __inline__ void nvtxNameCuContextW(CUcontext context, const wchar_t *name) {
    (void)context;
    (void)name;
}
static __inline__ void nvtxNameCuStreamA(CUstream stream, const char *name) {
    (void)stream;
    (void)name;
}
static __inline__ void nvtxNameCuStreamW(CUstream stream, const wchar_t *name) {
    (void)stream;
    (void)name;
}
static __inline__ void nvtxNameCuEventA(CUevent event, const char *name) {
    (void)event;
    (void)name;
}
static __inline__ void nvtxNameCuEventW(CUevent event, const wchar_t *name) {
    (void)event;
    (void)name;
}

#ifdef UNICODE
#define nvtxNameCuDevice nvtxNameCuDeviceW
#define nvtxNameCuContext nvtxNameCuContextW
#define nvtxNameCuStream nvtxNameCuStreamW
#define nvtxNameCuEvent nvtxNameCuEventW
#else
#define nvtxNameCuDevice nvtxNameCuDeviceA
#define nvtxNameCuContext nvtxNameCuContextA
#define nvtxNameCuStream nvtxNameCuStreamA
#define nvtxNameCuEvent nvtxNameCuEventA
#endif

#endif

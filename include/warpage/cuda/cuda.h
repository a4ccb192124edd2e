/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The types of the CUDA driver API that programs of the runtime API name, and the few of its
 * functions that such programs call, in terms of the runtime API. The rest of the driver API
 * (contexts, modules) is not part of libwarpage and therefore not declared.
 */
#ifndef WARPAGE_CUDA_CUDA_H
#define WARPAGE_CUDA_CUDA_H

#define __cuda_cuda_h__

#define CUDA_VERSION 12030

#include <stddef.h>
#include <stdint.h>

#include "host_defines.h"

typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;

typedef unsigned long long CUdeviceptr;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUarray_st *CUarray;
typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;

typedef enum cudaError_enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_DEINITIALIZED = 4,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_IMAGE = 200,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_UNKNOWN = 999
} CUresult;

typedef enum CUdevice_attribute_enum {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
} CUdevice_attribute;

#include "cuda_runtime_api.h"

#define WP_DRIVER static __inline__ __host__

/* Errors have the same numbers in both APIs. */
WP_DRIVER CUresult cuInit(unsigned int flags) {
    int count = 0;
    (void)flags;
    return (CUresult)cudaGetDeviceCount(&count);
}
WP_DRIVER CUresult cuDriverGetVersion(int *version) {
    return (CUresult)cudaDriverGetVersion(version);
}
WP_DRIVER CUresult cuDeviceGetCount(int *count) {
    return (CUresult)cudaGetDeviceCount(count);
}
WP_DRIVER CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess) {
        return (CUresult)status;
    }
    if (ordinal < 0 || ordinal >= count) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *device = ordinal;
    return CUDA_SUCCESS;
}
WP_DRIVER CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
    struct cudaDeviceProp prop;
    const cudaError_t status = cudaGetDeviceProperties(&prop, device);
    int i;
    for (i = 0; status == cudaSuccess && i < length; i++) {
        name[i] = i < length - 1 && i < (int)sizeof(prop.name) ? prop.name[i] : '\0';
        if (name[i] == '\0') {
            break;
        }
    }
    return (CUresult)status;
}
WP_DRIVER CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    return (CUresult)cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device);
}
WP_DRIVER CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) {
    struct cudaDeviceProp prop;
    const cudaError_t status = cudaGetDeviceProperties(&prop, device);
    *bytes = status == cudaSuccess ? prop.totalGlobalMem : 0;
    return (CUresult)status;
}
WP_DRIVER CUresult cuMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    return (CUresult)cudaMemGetInfo(free_bytes, total_bytes);
}
WP_DRIVER CUresult cuCtxSynchronize(void) {
    return (CUresult)cudaDeviceSynchronize();
}
WP_DRIVER CUresult cuGetErrorString(CUresult error, const char **text) {
    *text = cudaGetErrorString((cudaError_t)error);
    return CUDA_SUCCESS;
}
WP_DRIVER CUresult cuGetErrorName(CUresult error, const char **text) {
    *text = cudaGetErrorName((cudaError_t)error);
    return CUDA_SUCCESS;
}

#undef WP_DRIVER

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions: attributes, occupancy, launches. A CUfunction is a key of the table in register.c:
 * that of a module's function, or the host function of a kernel (cudaGetFuncBySymbol).
 */
#include <string.h>

#include "cudart/driver/driver.h"
#include "device/device.h"

/* ---- attributes ---- */

static cudaError_t find(CUfunction f, wp_device **device, wpi_function **out) {
    WPI_TRY(wpi_enter(device));
    const cudaError_t error = wpi_function_find(*device, f, out);
    return error == cudaErrorInvalidDeviceFunction ? cudaErrorInvalidResourceHandle : error;
}

static cudaError_t get_attribute(int *value, CUfunction_attribute attribute, CUfunction f) {
    struct cudaFuncAttributes a;
    wp_device *device;
    wpi_function *found;
    if (value == NULL) return cudaErrorInvalidValue;
    WPI_TRY(find(f, &device, &found));
    WPI_TRY(cudaFuncGetAttributes(&a, f));
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = a.maxThreadsPerBlock; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)a.sharedSizeBytes; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)a.constSizeBytes; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)a.localSizeBytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = a.numRegs; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = a.ptxVersion; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = a.binaryVersion; break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = a.cacheModeCA; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = a.maxDynamicSharedSizeBytes;
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = a.preferredShmemCarveout;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *value = a.clusterDimMustBeSet; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: *value = a.requiredClusterWidth; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: *value = a.requiredClusterHeight; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: *value = a.requiredClusterDepth; break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = a.nonPortableClusterSizeAllowed;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: *value = 0; break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

static cudaError_t set_attribute(CUfunction f, CUfunction_attribute attribute, int value) {
    wp_device *device;
    wpi_function *found;
    WPI_TRY(find(f, &device, &found));
    return cudaFuncSetAttribute(f, (enum cudaFuncAttribute)attribute, value);
}

WP_API CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc) {
    WPI_DRIVER(get_attribute(pi, attrib, hfunc));
}

WP_API CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
    WPI_DRIVER(set_attribute(hfunc, attrib, value));
}

WP_API CUresult cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel,
                                     CUdevice dev) {
    if (dev != 0) return CUDA_ERROR_INVALID_DEVICE;
    WPI_DRIVER_IN(false, get_attribute(pi, attrib, (CUfunction)(void *)kernel));
}

WP_API CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel,
                                     CUdevice dev) {
    if (dev != 0) return CUDA_ERROR_INVALID_DEVICE;
    WPI_DRIVER_IN(false, set_attribute((CUfunction)(void *)kernel, attrib, val));
}

WP_API CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config) {
    WPI_DRIVER(cudaFuncSetCacheConfig(hfunc, (enum cudaFuncCache)config));
}

WP_API CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev) {
    if (dev != 0) return CUDA_ERROR_INVALID_DEVICE;
    WPI_DRIVER_IN(false, cudaFuncSetCacheConfig(kernel, (enum cudaFuncCache)config));
}

WP_API CUresult cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config) {
    WPI_DRIVER(cudaFuncSetSharedMemConfig(hfunc, (enum cudaSharedMemConfig)config));
}

WP_API CUresult cuFuncGetName(const char **name, CUfunction hfunc) {
    WPI_DRIVER_IN(false, cudaFuncGetName(name, hfunc));
}

WP_API CUresult cuKernelGetName(const char **name, CUkernel hfunc) {
    WPI_DRIVER_IN(false, cudaFuncGetName(name, hfunc));
}

WP_API CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset,
                                   size_t *paramSize) {
    WPI_DRIVER(cudaFuncGetParamInfo(func, paramIndex, paramOffset, paramSize));
}

WP_API CUresult cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset,
                                     size_t *paramSize) {
    WPI_DRIVER(cudaFuncGetParamInfo(kernel, paramIndex, paramOffset, paramSize));
}

/* ---- launches ---- */

_Static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute), "layout");

/* The arguments in one buffer: {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer,
 * CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END}. `pointers` has room for
 * WPI_DRIVER_ARGUMENTS_MAX.
 */
static cudaError_t unpack(const wpi_function *f, void **extra, void **pointers) {
    char *buffer = NULL;
    size_t size_bytes = 0, offset, size;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            size_bytes = *(size_t *)extra[1];
        else
            return cudaErrorInvalidValue;
    }
    if (f->info->param_count > WPI_DRIVER_ARGUMENTS_MAX) return cudaErrorInvalidValue;
    for (size_t i = 0; wpi_function_param(f, i, &offset, &size); i++) {
        if (buffer == NULL || size > size_bytes || offset > size_bytes - size)
            return cudaErrorInvalidValue;
        pointers[i] = buffer + offset;
    }
    return cudaSuccess;
}

cudaError_t wpi_driver_function_check(CUfunction f) {
    wp_device *device;
    wpi_function *found;
    return find(f, &device, &found);
}

cudaError_t wpi_function_unpack(CUfunction f, void **extra, void **pointers) {
    wp_device *device;
    wpi_function *found;
    WPI_TRY(find(f, &device, &found));
    return unpack(found, extra, pointers);
}

cudaError_t wpi_driver_launch(CUfunction f, const cudaLaunchConfig_t *config, void **args,
                              void **extra) {
    wp_device *device;
    wpi_function *found;
    void *pointers[WPI_DRIVER_ARGUMENTS_MAX];
    WPI_TRY(find(f, &device, &found));
    if (args != NULL && extra != NULL) return cudaErrorInvalidValue;
    if (extra != NULL) {
        WPI_TRY(unpack(found, extra, pointers));
        args = pointers;
    }
    WPI_TRY(wpi_references_bind(device));
    return cudaLaunchKernelExC(config, f, args);
}

WP_API CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                               unsigned int gridDimZ, unsigned int blockDimX,
                               unsigned int blockDimY, unsigned int blockDimZ,
                               unsigned int sharedMemBytes, CUstream hStream, void **kernelParams,
                               void **extra) {
    const cudaLaunchConfig_t config = {.gridDim = {gridDimX, gridDimY, gridDimZ},
                                       .blockDim = {blockDimX, blockDimY, blockDimZ},
                                       .dynamicSmemBytes = sharedMemBytes,
                                       .stream = hStream};
    WPI_DRIVER_IN(hStream == NULL, wpi_driver_launch(f, &config, kernelParams, extra));
}

static cudaLaunchConfig_t runtime_config(const CUlaunchConfig *config) {
    return (cudaLaunchConfig_t){
        .gridDim = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .blockDim = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .dynamicSmemBytes = config->sharedMemBytes,
        .stream = config->hStream,
        .attrs = (void *)config->attrs, /* of the same layout */
        .numAttrs = config->numAttrs};
}

WP_API CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams,
                                 void **extra) {
    if (config == NULL) return CUDA_ERROR_INVALID_VALUE;
    const cudaLaunchConfig_t c = runtime_config(config);
    WPI_DRIVER_IN(c.stream == NULL, wpi_driver_launch(f, &c, kernelParams, extra));
}

WP_API CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX,
                                          unsigned int gridDimY, unsigned int gridDimZ,
                                          unsigned int blockDimX, unsigned int blockDimY,
                                          unsigned int blockDimZ, unsigned int sharedMemBytes,
                                          CUstream hStream, void **kernelParams) {
    cudaLaunchAttribute cooperative = {.id = cudaLaunchAttributeCooperative,
                                       .val = {.cooperative = 1}};
    const cudaLaunchConfig_t config = {.gridDim = {gridDimX, gridDimY, gridDimZ},
                                       .blockDim = {blockDimX, blockDimY, blockDimZ},
                                       .dynamicSmemBytes = sharedMemBytes,
                                       .stream = hStream,
                                       .attrs = &cooperative,
                                       .numAttrs = 1};
    WPI_DRIVER_IN(hStream == NULL, wpi_driver_launch(f, &config, kernelParams, NULL));
}

/* ---- occupancy ---- */

WP_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks,
                                                                     CUfunction func, int blockSize,
                                                                     size_t dynamicSMemSize,
                                                                     unsigned int flags) {
    WPI_DRIVER(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize,
                                                                      dynamicSMemSize, flags));
}

WP_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func,
                                                            int blockSize, size_t dynamicSMemSize) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize,
                                                                dynamicSMemSize, 0);
}

WP_API CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func,
                                                        int numBlocks, int blockSize) {
    WPI_DRIVER(
        cudaOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, func, numBlocks, blockSize));
}

WP_API CUresult cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func,
                                             const CUlaunchConfig *config) {
    if (config == NULL) return CUDA_ERROR_INVALID_VALUE;
    const cudaLaunchConfig_t c = runtime_config(config);
    WPI_DRIVER(cudaOccupancyMaxActiveClusters(numClusters, func, &c));
}

WP_API CUresult cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func,
                                                   const CUlaunchConfig *config) {
    if (config == NULL) return CUDA_ERROR_INVALID_VALUE;
    const cudaLaunchConfig_t c = runtime_config(config);
    WPI_DRIVER(cudaOccupancyMaxPotentialClusterSize(clusterSize, func, &c));
}

/* The block size, in whole warps, that keeps most threads of an SM busy; of equal ones the largest,
 * as cudaOccupancyMaxPotentialBlockSize in cuda_runtime.h. */
static cudaError_t best_block(int *grid, int *block, CUfunction f, CUoccupancyB2DSize shared_of,
                              size_t shared_bytes, int limit) {
    struct cudaFuncAttributes a;
    wp_device *device;
    wpi_function *found;
    if (grid == NULL || block == NULL) return cudaErrorInvalidValue;
    WPI_TRY(find(f, &device, &found));
    WPI_TRY(cudaFuncGetAttributes(&a, f));
    const wp_device_info *info = wp_device_get_info(device);
    int most = limit > 0 && limit < a.maxThreadsPerBlock ? limit : a.maxThreadsPerBlock;
    int best_threads = 0;
    *grid = *block = 0;
    for (int size = (most + 31) / 32 * 32; size > 0; size -= 32) {
        const int tried = size < most ? size : most;
        int blocks;
        WPI_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, f, tried, shared_of != NULL ? shared_of(tried) : shared_bytes));
        if (blocks * tried > best_threads) {
            best_threads = blocks * tried;
            *block = tried;
            *grid = blocks * (int)info->sm_count;
        }
        if (best_threads == (int)info->threads_per_sm_max) break;
    }
    return cudaSuccess;
}

WP_API CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(
    int *minGridSize, int *blockSize, CUfunction func,
    CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize, int blockSizeLimit,
    unsigned int flags) {
    if ((flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    WPI_DRIVER(best_block(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize,
                          blockSizeLimit));
}

WP_API CUresult cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                                 CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                 size_t dynamicSMemSize, int blockSizeLimit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func,
                                                     blockSizeToDynamicSMemSize, dynamicSMemSize,
                                                     blockSizeLimit, 0);
}

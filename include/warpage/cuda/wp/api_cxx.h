/* SPDX-License-Identifier: Apache-2.0 */
/** The runtime API with types: pointers, symbols, kernels and textures instead of void pointers. */
#ifndef WARPAGE_CUDA_WP_API_CXX_H
#define WARPAGE_CUDA_WP_API_CXX_H

#include "../cuda_runtime_api.h"

#define WP_API_CXX static __inline__ __host__

/* ---- memory ---------------------------------------------------------------------------------- */

template <class T> WP_API_CXX cudaError_t cudaMalloc(T **devPtr, size_t size) {
    return ::cudaMalloc((void **)(void *)devPtr, size);
}
template <class T>
WP_API_CXX cudaError_t cudaMallocHost(T **ptr, size_t size, unsigned int flags = 0) {
    return ::cudaHostAlloc((void **)(void *)ptr, size, flags);
}
WP_API_CXX cudaError_t cudaMallocHost(void **ptr, size_t size, unsigned int flags) {
    return ::cudaHostAlloc(ptr, size, flags);
}
template <class T> WP_API_CXX cudaError_t cudaHostAlloc(T **ptr, size_t size, unsigned int flags) {
    return ::cudaHostAlloc((void **)(void *)ptr, size, flags);
}
template <class T>
WP_API_CXX cudaError_t cudaHostGetDevicePointer(T **pDevice, void *pHost, unsigned int flags) {
    return ::cudaHostGetDevicePointer((void **)(void *)pDevice, pHost, flags);
}
template <class T>
WP_API_CXX cudaError_t cudaMallocManaged(T **devPtr, size_t size,
                                         unsigned int flags = cudaMemAttachGlobal) {
    return ::cudaMallocManaged((void **)(void *)devPtr, size, flags);
}
WP_API_CXX cudaError_t cudaMallocManaged(void **devPtr, size_t size) {
    return ::cudaMallocManaged(devPtr, size, cudaMemAttachGlobal);
}
template <class T>
WP_API_CXX cudaError_t cudaMallocPitch(T **devPtr, size_t *pitch, size_t width, size_t height) {
    return ::cudaMallocPitch((void **)(void *)devPtr, pitch, width, height);
}
template <class T>
WP_API_CXX cudaError_t cudaMallocAsync(T **ptr, size_t size, cudaStream_t stream) {
    return ::cudaMallocAsync((void **)(void *)ptr, size, stream);
}
WP_API_CXX cudaError_t cudaMallocAsync(void **ptr, size_t size, cudaMemPool_t memPool,
                                       cudaStream_t stream) {
    return ::cudaMallocFromPoolAsync(ptr, size, memPool, stream);
}
template <class T>
WP_API_CXX cudaError_t cudaMallocAsync(T **ptr, size_t size, cudaMemPool_t memPool,
                                       cudaStream_t stream) {
    return ::cudaMallocFromPoolAsync((void **)(void *)ptr, size, memPool, stream);
}
template <class T>
WP_API_CXX cudaError_t cudaMallocFromPoolAsync(T **ptr, size_t size, cudaMemPool_t memPool,
                                               cudaStream_t stream) {
    return ::cudaMallocFromPoolAsync((void **)(void *)ptr, size, memPool, stream);
}
template <class T>
WP_API_CXX cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T *devPtr, size_t length = 0,
                                                unsigned int flags = cudaMemAttachSingle) {
    return ::cudaStreamAttachMemAsync(stream, (void *)devPtr, length, flags);
}
/* Forms of CUDA 13: a location instead of a device number. */
WP_API_CXX cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count,
                                            struct cudaMemLocation location, unsigned int flags,
                                            cudaStream_t stream = 0) {
    return ::cudaMemPrefetchAsync_v2(devPtr, count, location, flags, stream);
}
WP_API_CXX cudaError_t cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                                     struct cudaMemLocation location) {
    return ::cudaMemAdvise_v2(devPtr, count, advice, location);
}

/* ---- symbols --------------------------------------------------------------------------------- */

/* A symbol is a variable or, as before CUDA 5, the name of one. A string that is itself a device
 * variable denotes that variable: libwarpage looks up the address first. */
extern "C" const void *wp_symbol_find(const void *address, const char *name);
template <class T> struct wp_symbol {
    static const void *of(const T &symbol) {
        return (const void *)&symbol;
    }
};
template <size_t n> struct wp_symbol<char[n]> {
    static const void *of(const char (&symbol)[n]) {
        return wp_symbol_find(symbol, symbol);
    }
};
template <> struct wp_symbol<const char *> {
    static const void *of(const char *const &symbol) {
        return wp_symbol_find(&symbol, symbol);
    }
};
template <> struct wp_symbol<char *> {
    static const void *of(char *const &symbol) {
        return wp_symbol_find(&symbol, symbol);
    }
};

template <class T>
WP_API_CXX cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                      const cudaGraphNode_t *dependencies,
                                                      size_t dependency_count, const T &symbol,
                                                      const void *src, size_t count, size_t offset,
                                                      enum cudaMemcpyKind kind) {
    return ::cudaGraphAddMemcpyNodeToSymbol(node, graph, dependencies, dependency_count,
                                            wp_symbol<T>::of(symbol), src, count, offset, kind);
}
template <class T>
WP_API_CXX cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                        const cudaGraphNode_t *dependencies,
                                                        size_t dependency_count, void *dst,
                                                        const T &symbol, size_t count,
                                                        size_t offset, enum cudaMemcpyKind kind) {
    return ::cudaGraphAddMemcpyNodeFromSymbol(node, graph, dependencies, dependency_count, dst,
                                              wp_symbol<T>::of(symbol), count, offset, kind);
}
template <class T>
WP_API_CXX cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *src, size_t count,
                                          size_t offset = 0,
                                          enum cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return ::cudaMemcpyToSymbol(wp_symbol<T>::of(symbol), src, count, offset, kind);
}
template <class T>
WP_API_CXX cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t count,
                                               size_t offset = 0,
                                               enum cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                               cudaStream_t stream = 0) {
    return ::cudaMemcpyToSymbolAsync(wp_symbol<T>::of(symbol), src, count, offset, kind, stream);
}
template <class T>
WP_API_CXX cudaError_t cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t count,
                                            size_t offset = 0,
                                            enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return ::cudaMemcpyFromSymbol(dst, wp_symbol<T>::of(symbol), count, offset, kind);
}
template <class T>
WP_API_CXX cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t count,
                                                 size_t offset = 0,
                                                 enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                                 cudaStream_t stream = 0) {
    return ::cudaMemcpyFromSymbolAsync(dst, wp_symbol<T>::of(symbol), count, offset, kind, stream);
}
template <class T> WP_API_CXX cudaError_t cudaGetSymbolAddress(void **devPtr, const T &symbol) {
    return ::cudaGetSymbolAddress(devPtr, wp_symbol<T>::of(symbol));
}
template <class T> WP_API_CXX cudaError_t cudaGetSymbolSize(size_t *size, const T &symbol) {
    return ::cudaGetSymbolSize(size, wp_symbol<T>::of(symbol));
}

/* ---- kernels --------------------------------------------------------------------------------- */

template <class T>
WP_API_CXX cudaError_t cudaLaunchKernel(T *func, dim3 gridDim, dim3 blockDim, void **args,
                                        size_t sharedMem = 0, cudaStream_t stream = 0) {
    return ::cudaLaunchKernel((const void *)func, gridDim, blockDim, args, sharedMem, stream);
}
template <class T>
WP_API_CXX cudaError_t cudaLaunchCooperativeKernel(T *func, dim3 gridDim, dim3 blockDim,
                                                   void **args, size_t sharedMem = 0,
                                                   cudaStream_t stream = 0) {
    return ::cudaLaunchCooperativeKernel((const void *)func, gridDim, blockDim, args, sharedMem,
                                         stream);
}
template <class T> WP_API_CXX cudaError_t cudaLaunch(T *func) {
    return ::cudaLaunch((const void *)func);
}
template <class T> WP_API_CXX cudaError_t cudaSetupArgument(T arg, size_t offset) {
    return ::cudaSetupArgument((const void *)&arg, sizeof(T), offset);
}
template <class T>
WP_API_CXX cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, T *func) {
    return ::cudaFuncGetAttributes(attr, (const void *)func);
}
template <class T>
WP_API_CXX cudaError_t cudaFuncSetAttribute(T *func, enum cudaFuncAttribute attr, int value) {
    return ::cudaFuncSetAttribute((const void *)func, attr, value);
}
template <class T>
WP_API_CXX cudaError_t cudaFuncSetCacheConfig(T *func, enum cudaFuncCache cacheConfig) {
    return ::cudaFuncSetCacheConfig((const void *)func, cacheConfig);
}
template <class T>
WP_API_CXX cudaError_t cudaFuncSetSharedMemConfig(T *func, enum cudaSharedMemConfig config) {
    return ::cudaFuncSetSharedMemConfig((const void *)func, config);
}
template <class T>
WP_API_CXX cudaError_t cudaGetFuncBySymbol(cudaFunction_t *functionPtr, T *symbol) {
    return ::cudaGetFuncBySymbol(functionPtr, (const void *)symbol);
}

WP_API_CXX cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags) {
    return ::cudaEventCreateWithFlags(event, flags);
}

/* Forms of CUDA 13: edges between nodes have data. */
WP_API_CXX cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                        const cudaGraphNode_t *pDependencies,
                                        const cudaGraphEdgeData *dependencyData,
                                        size_t numDependencies,
                                        struct cudaGraphNodeParams *nodeParams) {
    return ::cudaGraphAddNode_v2(pGraphNode, graph, pDependencies, dependencyData, numDependencies,
                                 nodeParams);
}
WP_API_CXX cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                const cudaGraphNode_t *to,
                                                const cudaGraphEdgeData *edgeData,
                                                size_t numDependencies) {
    return ::cudaGraphAddDependencies_v2(graph, from, to, edgeData, numDependencies);
}
WP_API_CXX cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                   const cudaGraphNode_t *to,
                                                   const cudaGraphEdgeData *edgeData,
                                                   size_t numDependencies) {
    return ::cudaGraphRemoveDependencies_v2(graph, from, to, edgeData, numDependencies);
}
WP_API_CXX cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                           cudaGraphNode_t *dependencies,
                                                           const cudaGraphEdgeData *dependencyData,
                                                           size_t numDependencies,
                                                           unsigned int flags) {
    return ::cudaStreamUpdateCaptureDependencies_v2(stream, dependencies, dependencyData,
                                                    numDependencies, flags);
}
WP_API_CXX cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from,
                                         cudaGraphNode_t *to, cudaGraphEdgeData *edgeData,
                                         size_t *numEdges) {
    return ::cudaGraphGetEdges_v2(graph, from, to, edgeData, numEdges);
}
WP_API_CXX cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                                    cudaGraphNode_t *pDependencies,
                                                    cudaGraphEdgeData *edgeData,
                                                    size_t *pNumDependencies) {
    return ::cudaGraphNodeGetDependencies_v2(node, pDependencies, edgeData, pNumDependencies);
}
WP_API_CXX cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                                enum cudaStreamCaptureStatus *captureStatus_out,
                                                unsigned long long *id_out, cudaGraph_t *graph_out,
                                                const cudaGraphNode_t **dependencies_out,
                                                const cudaGraphEdgeData **edgeData_out,
                                                size_t *numDependencies_out) {
    return ::cudaStreamGetCaptureInfo_v3(stream, captureStatus_out, id_out, graph_out,
                                         dependencies_out, edgeData_out, numDependencies_out);
}

/* The form before CUDA 12. */
WP_API_CXX cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                           cudaGraphNode_t *hErrorNode_out,
                                           enum cudaGraphExecUpdateResult *updateResult_out) {
    cudaGraphExecUpdateResultInfo info;
    info.result = cudaGraphExecUpdateError;
    info.errorNode = NULL;
    const cudaError_t error = cudaGraphExecUpdate(hGraphExec, hGraph, &info);
    if (hErrorNode_out != NULL) *hErrorNode_out = info.errorNode;
    if (updateResult_out != NULL) *updateResult_out = info.result;
    return error;
}
WP_API_CXX cudaError_t cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                            cudaGraphNode_t *pErrorNode, char *pLogBuffer,
                                            size_t bufferSize) {
    (void)pErrorNode;
    (void)pLogBuffer;
    (void)bufferSize;
    return ::cudaGraphInstantiate(pGraphExec, graph, 0);
}

#if __cplusplus >= 201103L
template <typename... Params, typename... Args>
WP_API_CXX cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                                          void (*kernel)(Params...), Args &&...args) {
    /* Converted to the kernel's own parameter types, each with an address of its own. */
    return [&](Params... values) {
        void *addresses[sizeof...(Params) + 1] = {(void *)&values...};
        return ::cudaLaunchKernelExC(config, (const void *)kernel, addresses);
    }(static_cast<Args &&>(args)...);
}
#endif

/* ---- occupancy ------------------------------------------------------------------------------- */

template <class T>
WP_API_CXX cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, T func,
                                                                     int blockSize,
                                                                     size_t dynamicSMemSize) {
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, (const void *)func, blockSize, dynamicSMemSize, cudaOccupancyDefault);
}
template <class T>
WP_API_CXX cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, T func, int blockSize, size_t dynamicSMemSize, unsigned int flags) {
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, (const void *)func, blockSize, dynamicSMemSize, flags);
}
template <class T>
WP_API_CXX cudaError_t cudaOccupancyMaxActiveClusters(int *numClusters, T *func,
                                                      const cudaLaunchConfig_t *launchConfig) {
    return ::cudaOccupancyMaxActiveClusters(numClusters, (const void *)func, launchConfig);
}
template <class T>
WP_API_CXX cudaError_t cudaOccupancyMaxPotentialClusterSize(
    int *clusterSize, T *func, const cudaLaunchConfig_t *launchConfig) {
    return ::cudaOccupancyMaxPotentialClusterSize(clusterSize, (const void *)func, launchConfig);
}
template <class T>
WP_API_CXX cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, T *func,
                                                                 int numBlocks, int blockSize) {
    return ::cudaOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, (const void *)func,
                                                       numBlocks, blockSize);
}

/** Returns the block size, a multiple of the warp size, with the most resident threads on an SM
 * (the larger of equals), and the smallest grid that fills the device with such blocks. */
template <typename BlockSizeToSMem, class T>
WP_API_CXX cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int *minGridSize, int *blockSize, T func, BlockSizeToSMem blockSizeToDynamicSMemSize,
    int blockSizeLimit = 0, unsigned int flags = 0) {
    if (minGridSize == 0 || blockSize == 0 || (const void *)func == 0) {
        return cudaErrorInvalidValue;
    }
    int device = 0, threads_per_sm = 0, block_max = 0, sm_count = 0, warp = 0;
    struct cudaFuncAttributes attr;
    cudaError_t status = ::cudaGetDevice(&device);
    if (status == cudaSuccess) {
        status = ::cudaDeviceGetAttribute(&threads_per_sm, cudaDevAttrMaxThreadsPerMultiProcessor,
                                          device);
    }
    if (status == cudaSuccess) {
        status = ::cudaDeviceGetAttribute(&block_max, cudaDevAttrMaxThreadsPerBlock, device);
    }
    if (status == cudaSuccess) {
        status = ::cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device);
    }
    if (status == cudaSuccess) {
        status = ::cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device);
    }
    if (status == cudaSuccess) {
        status = ::cudaFuncGetAttributes(&attr, (const void *)func);
    }
    if (status != cudaSuccess) {
        return status;
    }
    int limit = attr.maxThreadsPerBlock < block_max ? attr.maxThreadsPerBlock : block_max;
    if (blockSizeLimit > 0 && blockSizeLimit < limit) {
        limit = blockSizeLimit;
    }
    int best_threads = 0;
    *blockSize = 0;
    *minGridSize = 0;
    for (int rounded = (limit + warp - 1) / warp * warp; rounded > 0; rounded -= warp) {
        const int size = rounded < limit ? rounded : limit;
        int blocks = 0;
        status = ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            &blocks, (const void *)func, size, blockSizeToDynamicSMemSize(size), flags);
        if (status != cudaSuccess) {
            return status;
        }
        if (blocks * size > best_threads) {
            best_threads = blocks * size;
            *blockSize = size;
            *minGridSize = blocks * sm_count;
        }
        if (best_threads == threads_per_sm) {
            break;
        }
    }
    return cudaSuccess;
}
template <typename BlockSizeToSMem, class T>
WP_API_CXX cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(
    int *minGridSize, int *blockSize, T func, BlockSizeToSMem blockSizeToDynamicSMemSize,
    int blockSizeLimit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
        minGridSize, blockSize, func, blockSizeToDynamicSMemSize, blockSizeLimit,
        cudaOccupancyDefault);
}

/** A dynamic shared memory size that is the same for every block size. */
struct wp_constant_smem {
    size_t bytes;
    __host__ size_t operator()(int) const {
        return bytes;
    }
};
template <class T>
WP_API_CXX cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize,
                                                                   T func,
                                                                   size_t dynamicSMemSize = 0,
                                                                   int blockSizeLimit = 0,
                                                                   unsigned int flags = 0) {
    wp_constant_smem smem;
    smem.bytes = dynamicSMemSize;
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(minGridSize, blockSize, func,
                                                                   smem, blockSizeLimit, flags);
}
template <class T>
WP_API_CXX cudaError_t cudaOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, T func,
                                                          size_t dynamicSMemSize = 0,
                                                          int blockSizeLimit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func,
                                                       dynamicSMemSize, blockSizeLimit, 0);
}

/* ---- texture and surface references ---------------------------------------------------------- */

#if defined(__CUDA__)
template <class T, int dim, enum cudaTextureReadMode mode>
WP_API_CXX cudaError_t cudaBindTexture(size_t *offset, const struct texture<T, dim, mode> &tex,
                                       const void *devPtr, const struct cudaChannelFormatDesc &desc,
                                       size_t size = UINT_MAX) {
    return ::cudaBindTexture(offset, &tex, devPtr, &desc, size);
}
template <class T, int dim, enum cudaTextureReadMode mode>
WP_API_CXX cudaError_t cudaBindTexture(size_t *offset, const struct texture<T, dim, mode> &tex,
                                       const void *devPtr, size_t size = UINT_MAX) {
    return ::cudaBindTexture(offset, &tex, devPtr, &tex.channelDesc, size);
}
template <class T, int dim, enum cudaTextureReadMode mode>
WP_API_CXX cudaError_t cudaBindTexture2D(size_t *offset, const struct texture<T, dim, mode> &tex,
                                         const void *devPtr,
                                         const struct cudaChannelFormatDesc &desc, size_t width,
                                         size_t height, size_t pitch) {
    return ::cudaBindTexture2D(offset, &tex, devPtr, &desc, width, height, pitch);
}
template <class T, int dim, enum cudaTextureReadMode mode>
WP_API_CXX cudaError_t cudaBindTexture2D(size_t *offset, const struct texture<T, dim, mode> &tex,
                                         const void *devPtr, size_t width, size_t height,
                                         size_t pitch) {
    return ::cudaBindTexture2D(offset, &tex, devPtr, &tex.channelDesc, width, height, pitch);
}
template <class T, int dim, enum cudaTextureReadMode mode>
WP_API_CXX cudaError_t cudaBindTextureToArray(const struct texture<T, dim, mode> &tex,
                                              cudaArray_const_t array,
                                              const struct cudaChannelFormatDesc &desc) {
    return ::cudaBindTextureToArray(&tex, array, &desc);
}
template <class T, int dim, enum cudaTextureReadMode mode>
WP_API_CXX cudaError_t cudaBindTextureToArray(const struct texture<T, dim, mode> &tex,
                                              cudaArray_const_t array) {
    struct cudaChannelFormatDesc desc;
    const cudaError_t status = ::cudaGetChannelDesc(&desc, array);
    return status == cudaSuccess ? ::cudaBindTextureToArray(&tex, array, &desc) : status;
}
template <class T, int dim, enum cudaTextureReadMode mode>
WP_API_CXX cudaError_t cudaUnbindTexture(const struct texture<T, dim, mode> &tex) {
    return ::cudaUnbindTexture(&tex);
}
template <class T, int dim, enum cudaTextureReadMode mode>
WP_API_CXX cudaError_t cudaGetTextureAlignmentOffset(size_t *offset,
                                                     const struct texture<T, dim, mode> &tex) {
    return ::cudaGetTextureAlignmentOffset(offset, &tex);
}
template <class T, int dim>
WP_API_CXX cudaError_t cudaBindSurfaceToArray(const struct surface<T, dim> &surf,
                                              cudaArray_const_t array,
                                              const struct cudaChannelFormatDesc &desc) {
    return ::cudaBindSurfaceToArray(&surf, array, &desc);
}
template <class T, int dim>
WP_API_CXX cudaError_t cudaBindSurfaceToArray(const struct surface<T, dim> &surf,
                                              cudaArray_const_t array) {
    struct cudaChannelFormatDesc desc;
    const cudaError_t status = ::cudaGetChannelDesc(&desc, array);
    return status == cudaSuccess ? ::cudaBindSurfaceToArray(&surf, array, &desc) : status;
}
#endif

#undef WP_API_CXX

#endif

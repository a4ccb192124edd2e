/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcudart.so.13: programs linked with CUDA 13's runtime look for its symbols by this version, and
 * find them in libwarpage, which this library needs. Here are the functions that CUDA 13 gave other
 * parameters or another structure: those that CUDA 12 had under a name with a suffix. Their symbols
 * are the plain names, which libwarpage's header declares as CUDA 12 does; so they have another
 * name in this file.
 */
#include <string.h>

#include "warpage/cuda/cuda.h"
#include "warpage/cuda/cuda_runtime_api.h"
#include "warpage/error.h"

#define VERSION_13 13000

/* NAME_13(f, parameters): declares f_13, whose symbol is f. */
#define NAME_13(name, parameters) WP_API cudaError_t name##_13 parameters __asm__(#name)

/* ---- versions ---- */

NAME_13(cudaRuntimeGetVersion, (int *version));
NAME_13(cudaDriverGetVersion, (int *version));

cudaError_t cudaRuntimeGetVersion_13(int *version) {
    if (version == NULL) return cudaErrorInvalidValue;
    *version = VERSION_13;
    return cudaSuccess;
}

/* A driver is never older than the runtime of a program that works. */
cudaError_t cudaDriverGetVersion_13(int *version) {
    if (version == NULL) return cudaErrorInvalidValue;
    (void)cuDriverGetVersion(version);
    if (*version < VERSION_13) *version = VERSION_13;
    return cudaSuccess;
}

/* ---- properties ---- */

/* What is left of CUDA 12's, in the same order. */
#define PROPERTIES(X)                                                                              \
    X(name)                                                                                        \
    X(uuid)                                                                                        \
    X(luid)                                                                                        \
    X(luidDeviceNodeMask)                                                                          \
    X(totalGlobalMem)                                                                              \
    X(sharedMemPerBlock)                                                                           \
    X(regsPerBlock)                                                                                \
    X(warpSize)                                                                                    \
    X(memPitch)                                                                                    \
    X(maxThreadsPerBlock)                                                                          \
    X(maxThreadsDim)                                                                               \
    X(maxGridSize)                                                                                 \
    X(totalConstMem)                                                                               \
    X(major)                                                                                       \
    X(minor)                                                                                       \
    X(textureAlignment)                                                                            \
    X(texturePitchAlignment)                                                                       \
    X(multiProcessorCount)                                                                         \
    X(integrated)                                                                                  \
    X(canMapHostMemory)                                                                            \
    X(maxTexture1D)                                                                                \
    X(maxTexture1DMipmap)                                                                          \
    X(maxTexture2D)                                                                                \
    X(maxTexture2DMipmap)                                                                          \
    X(maxTexture2DLinear)                                                                          \
    X(maxTexture2DGather)                                                                          \
    X(maxTexture3D)                                                                                \
    X(maxTexture3DAlt)                                                                             \
    X(maxTextureCubemap)                                                                           \
    X(maxTexture1DLayered)                                                                         \
    X(maxTexture2DLayered)                                                                         \
    X(maxTextureCubemapLayered)                                                                    \
    X(maxSurface1D)                                                                                \
    X(maxSurface2D)                                                                                \
    X(maxSurface3D)                                                                                \
    X(maxSurface1DLayered)                                                                         \
    X(maxSurface2DLayered)                                                                         \
    X(maxSurfaceCubemap)                                                                           \
    X(maxSurfaceCubemapLayered)                                                                    \
    X(surfaceAlignment)                                                                            \
    X(concurrentKernels)                                                                           \
    X(ECCEnabled)                                                                                  \
    X(pciBusID)                                                                                    \
    X(pciDeviceID)                                                                                 \
    X(pciDomainID)                                                                                 \
    X(tccDriver)                                                                                   \
    X(asyncEngineCount)                                                                            \
    X(unifiedAddressing)                                                                           \
    X(memoryBusWidth)                                                                              \
    X(l2CacheSize)                                                                                 \
    X(persistingL2CacheMaxSize)                                                                    \
    X(maxThreadsPerMultiProcessor)                                                                 \
    X(streamPrioritiesSupported)                                                                   \
    X(globalL1CacheSupported)                                                                      \
    X(localL1CacheSupported)                                                                       \
    X(sharedMemPerMultiprocessor)                                                                  \
    X(regsPerMultiprocessor)                                                                       \
    X(managedMemory)                                                                               \
    X(isMultiGpuBoard)                                                                             \
    X(multiGpuBoardGroupID)                                                                        \
    X(hostNativeAtomicSupported)                                                                   \
    X(pageableMemoryAccess)                                                                        \
    X(concurrentManagedAccess)                                                                     \
    X(computePreemptionSupported)                                                                  \
    X(canUseHostPointerForRegisteredMem)                                                           \
    X(cooperativeLaunch)                                                                           \
    X(sharedMemPerBlockOptin)                                                                      \
    X(pageableMemoryAccessUsesHostPageTables)                                                      \
    X(directManagedMemAccessFromHost)                                                              \
    X(maxBlocksPerMultiProcessor)                                                                  \
    X(accessPolicyMaxWindowSize)                                                                   \
    X(reservedSharedMemPerBlock)                                                                   \
    X(hostRegisterSupported)                                                                       \
    X(sparseCudaArraySupported)                                                                    \
    X(hostRegisterReadOnlySupported)                                                               \
    X(timelineSemaphoreInteropSupported)                                                           \
    X(memoryPoolsSupported)                                                                        \
    X(gpuDirectRDMASupported)                                                                      \
    X(gpuDirectRDMAFlushWritesOptions)                                                             \
    X(gpuDirectRDMAWritesOrdering)                                                                 \
    X(memoryPoolSupportedHandleTypes)                                                              \
    X(deferredMappingCudaArraySupported)                                                           \
    X(ipcEventSupported)                                                                           \
    X(clusterLaunch)                                                                               \
    X(unifiedFunctionPointers)

typedef struct properties_13 {
#define MEMBER(name) __typeof__(((struct cudaDeviceProp *)NULL)->name) name;
    PROPERTIES(MEMBER)
#undef MEMBER
    int deviceNumaConfig;
    int deviceNumaId;
    int mpsEnabled;
    int hostNumaId;
    unsigned gpuPciDeviceID;
    unsigned gpuPciSubsystemID;
    int hostNumaMultinodeIpcSupported;
    int reserved[56];
} properties_13;

WP_API cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *prop, int device);
NAME_13(cudaGetDeviceProperties, (properties_13 * p, int device));

cudaError_t cudaGetDeviceProperties_13(properties_13 *p, int device) {
    struct cudaDeviceProp old;
    const cudaError_t error = cudaGetDeviceProperties_v2(p != NULL ? &old : NULL, device);
    if (error != cudaSuccess) return error;
    *p = (properties_13){.deviceNumaId = -1}; /* the GPU's memory is no node of the host */
#define COPY(name) memcpy(&p->name, &old.name, sizeof p->name);
    PROPERTIES(COPY)
#undef COPY
    return cudaSuccess;
}

/* ---- managed memory ---- */

NAME_13(cudaMemAdvise, (const void *at, size_t bytes, enum cudaMemoryAdvise advice,
                        struct cudaMemLocation location));
NAME_13(cudaMemPrefetchAsync, (const void *at, size_t bytes, struct cudaMemLocation location,
                               unsigned flags, cudaStream_t stream));
NAME_13(cudaMemPrefetchAsync_ptsz, (const void *at, size_t bytes, struct cudaMemLocation location,
                                    unsigned flags, cudaStream_t stream));

cudaError_t cudaMemAdvise_13(const void *at, size_t bytes, enum cudaMemoryAdvise advice,
                             struct cudaMemLocation location) {
    return cudaMemAdvise_v2(at, bytes, advice, location);
}

cudaError_t cudaMemPrefetchAsync_13(const void *at, size_t bytes, struct cudaMemLocation location,
                                    unsigned flags, cudaStream_t stream) {
    return cudaMemPrefetchAsync_v2(at, bytes, location, flags, stream);
}

WP_API cudaError_t cudaMemPrefetchAsync_v2_ptsz(const void *at, size_t bytes,
                                                struct cudaMemLocation location, unsigned flags,
                                                cudaStream_t stream);
cudaError_t cudaMemPrefetchAsync_ptsz_13(const void *at, size_t bytes,
                                         struct cudaMemLocation location, unsigned flags,
                                         cudaStream_t stream) {
    return cudaMemPrefetchAsync_v2_ptsz(at, bytes, location, flags, stream);
}

/* ---- graphs: with data of edges ---- */

NAME_13(cudaGraphAddDependencies,
        (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
         const cudaGraphEdgeData *edges, size_t count));
NAME_13(cudaGraphGetEdges, (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                            cudaGraphEdgeData *edges, size_t *count));
NAME_13(cudaGraphNodeGetDependencies, (cudaGraphNode_t node, cudaGraphNode_t *dependencies,
                                       cudaGraphEdgeData *edges, size_t *count));

cudaError_t cudaGraphAddDependencies_13(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
                                        size_t count) {
    return cudaGraphAddDependencies_v2(graph, from, to, edges, count);
}

cudaError_t cudaGraphGetEdges_13(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                 cudaGraphEdgeData *edges, size_t *count) {
    return cudaGraphGetEdges_v2(graph, from, to, edges, count);
}

cudaError_t cudaGraphNodeGetDependencies_13(cudaGraphNode_t node, cudaGraphNode_t *dependencies,
                                            cudaGraphEdgeData *edges, size_t *count) {
    return cudaGraphNodeGetDependencies_v2(node, dependencies, edges, count);
}

/* ---- capture ---- */

#define CAPTURE_PARAMETERS                                                                         \
    (cudaStream_t stream, enum cudaStreamCaptureStatus * status, unsigned long long *id,           \
     cudaGraph_t *graph, const cudaGraphNode_t **dependencies, const cudaGraphEdgeData **edges,    \
     size_t *count)
#define CAPTURE_ARGUMENTS (stream, status, id, graph, dependencies, edges, count)

WP_API cudaError_t cudaStreamGetCaptureInfo_v3_ptsz CAPTURE_PARAMETERS;
NAME_13(cudaStreamGetCaptureInfo, CAPTURE_PARAMETERS);
NAME_13(cudaStreamGetCaptureInfo_ptsz, CAPTURE_PARAMETERS);

cudaError_t cudaStreamGetCaptureInfo_13 CAPTURE_PARAMETERS {
    return cudaStreamGetCaptureInfo_v3 CAPTURE_ARGUMENTS;
}

cudaError_t cudaStreamGetCaptureInfo_ptsz_13 CAPTURE_PARAMETERS {
    return cudaStreamGetCaptureInfo_v3_ptsz CAPTURE_ARGUMENTS;
}

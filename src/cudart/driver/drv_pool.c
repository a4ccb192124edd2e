/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools: the runtime's, whose types have the same layout. Kernel nodes of graphs. */
#include "cudart/driver/driver.h"
#include "cudart/unsupported.h"

_Static_assert(sizeof(CUmemPoolProps) == sizeof(struct cudaMemPoolProps), "layout");
_Static_assert(sizeof(CUmemAccessDesc) == sizeof(struct cudaMemAccessDesc), "layout");
_Static_assert(sizeof(CUmemLocation) == sizeof(struct cudaMemLocation), "layout");

WP_API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev) {
    WPI_DRIVER_IN(false, cudaDeviceGetDefaultMemPool(pool_out, dev));
}

WP_API CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev) {
    WPI_DRIVER_IN(false, cudaDeviceGetMemPool(pool, dev));
}

WP_API CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool) {
    WPI_DRIVER_IN(false, cudaDeviceSetMemPool(dev, pool));
}

WP_API CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps) {
    WPI_DRIVER_IN(false, cudaMemPoolCreate(pool, (const void *)poolProps));
}

WP_API CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    WPI_DRIVER_IN(false, cudaMemPoolDestroy(pool));
}

WP_API CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep) {
    WPI_DRIVER_IN(false, cudaMemPoolTrimTo(pool, minBytesToKeep));
}

WP_API CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value) {
    WPI_DRIVER_IN(false, cudaMemPoolSetAttribute(pool, (enum cudaMemPoolAttr)attr, value));
}

WP_API CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value) {
    WPI_DRIVER_IN(false, cudaMemPoolGetAttribute(pool, (enum cudaMemPoolAttr)attr, value));
}

WP_API CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count) {
    WPI_DRIVER_IN(false, cudaMemPoolSetAccess(pool, (const void *)map, count));
}

WP_API CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool,
                                   CUmemLocation *location) {
    WPI_DRIVER_IN(false, cudaMemPoolGetAccess((void *)flags, memPool, (void *)location));
}

WP_API CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                                        CUstream hStream) {
    WPI_DRIVER_IN(hStream == NULL,
                  cudaMallocFromPoolAsync((void **)(void *)dptr, bytesize, pool, hStream));
}

/* ---- graphs, tensors ---- */

WP_API CUresult cuGraphAddKernelNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                     const CUgraphNode *dependencies, size_t numDependencies,
                                     const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
    if (nodeParams == NULL) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_KERNEL_NODE_PARAMS *p = nodeParams;
    const struct cudaKernelNodeParams params = {
        .func = p->func != NULL ? (void *)p->func : (void *)p->kern,
        .gridDim = {p->gridDimX, p->gridDimY, p->gridDimZ},
        .blockDim = {p->blockDimX, p->blockDimY, p->blockDimZ},
        .sharedMemBytes = p->sharedMemBytes,
        .kernelParams = p->kernelParams,
        .extra = p->extra};
    WPI_DRIVER(cudaGraphAddKernelNode(phGraphNode, hGraph, dependencies, numDependencies, &params));
}

WP_API CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                              const CUkernelNodeAttrValue *value) {
    static atomic_bool is_said;
    (void)hNode, (void)attr, (void)value;
    WPI_DRIVER((cudaError_t)wpi_unsupported("cuGraphKernelNodeSetAttribute", &is_said));
}

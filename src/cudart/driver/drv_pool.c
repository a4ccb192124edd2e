/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools: the runtime's, whose types have the same layout. */
#include "cudart/driver/driver.h"

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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory pools of stream-ordered allocation. A pool counts what was allocated from it; memory goes
 * back to the device when it is freed, so a pool never holds memory in reserve, and its release
 * threshold and rules of reuse are only kept.
 */
#include <pthread.h>

#include "base/alloc.h"
#include "cudart/cudart.h"
#include "cudart/graph/graph.h"
#include "cudart/hash_map.h"

struct CUmemPoolHandle_st {
    uint32_t device; /* number */
    uint64_t threshold_bytes, used_bytes, used_high_bytes, max_bytes;
    int reuse[3]; /* from cudaMemPoolReuseFollowEventDependencies on */
    bool is_destroyed;
};

typedef struct pooled {
    const void *base;
    uint64_t size_bytes;
    struct CUmemPoolHandle_st *pool;
    UT_hash_handle hh;
} pooled;

static struct {
    pthread_mutex_t lock;
    struct CUmemPoolHandle_st initial[WP_DEVICES_MAX];  /* by the device's number */
    struct CUmemPoolHandle_st *current[WP_DEVICES_MAX]; /* NULL: the initial one */
    pooled *allocations;
} pools = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t initial_once = PTHREAD_ONCE_INIT;

static void make_initial(void) {
    for (uint32_t d = 0; d < WP_DEVICES_MAX; d++)
        pools.initial[d] = (struct CUmemPoolHandle_st){.device = d, .reuse = {1, 1, 1}};
}

static struct CUmemPoolHandle_st *initial_of(uint32_t device) {
    (void)pthread_once(&initial_once, make_initial);
    return &pools.initial[device];
}

static bool is_pool(cudaMemPool_t pool) {
    return (pool >= pools.initial && pool < pools.initial + WP_DEVICES_MAX) ||
           (pool != NULL && wpi_handle_is_live(WPI_HANDLE_POOL, pool));
}

/* Under the lock. */
static struct CUmemPoolHandle_st *current_of(uint32_t device) {
    return pools.current[device] != NULL ? pools.current[device] : initial_of(device);
}

/* ---- allocation ---- */

/* Notes an allocation of the pool; NULL pool: the device's current one. */
static bool remember(struct CUmemPoolHandle_st *pool, uint32_t device, const void *base,
                     uint64_t size_bytes) {
    pooled *p = wpi_malloc(sizeof *p);
    if (p == NULL) return false;
    pthread_mutex_lock(&pools.lock);
    if (pool == NULL) pool = current_of(device);
    *p = (pooled){.base = base, .size_bytes = size_bytes, .pool = pool};
    const bool fits = pool->max_bytes == 0 || size_bytes <= pool->max_bytes - pool->used_bytes;
    if (fits) HASH_ADD_PTR(pools.allocations, base, p);
    const bool is_added = fits && p->hh.tbl != NULL;
    if (is_added) {
        pool->used_bytes += size_bytes;
        if (pool->used_bytes > pool->used_high_bytes) pool->used_high_bytes = pool->used_bytes;
    }
    pthread_mutex_unlock(&pools.lock);
    if (!is_added) wpi_free(p);
    return is_added;
}

void wpi_pool_forget(const void *base) {
    pooled *p = NULL;
    pthread_mutex_lock(&pools.lock);
    HASH_FIND_PTR(pools.allocations, &base, p);
    if (p != NULL) {
        HASH_DEL(pools.allocations, p);
        p->pool->used_bytes -= p->size_bytes;
        if (p->pool->is_destroyed && p->pool->used_bytes == 0) wpi_free(p->pool);
        wpi_free(p);
    }
    pthread_mutex_unlock(&pools.lock);
}

void wpi_pool_forget_all(const wp_device *device) {
    pooled *p, *next;
    pthread_mutex_lock(&pools.lock);
    HASH_ITER(hh, pools.allocations, p, next) {
        wp_allocation allocation;
        wp_device *owner;
        if (wpi_allocation_find(p->base, &allocation, &owner) && owner != device) continue;
        HASH_DEL(pools.allocations, p);
        p->pool->used_bytes -= p->size_bytes;
        if (p->pool->is_destroyed && p->pool->used_bytes == 0) wpi_free(p->pool);
        wpi_free(p);
    }
    pools.current[device->number] = NULL;
    pthread_mutex_unlock(&pools.lock);
}

cudaMemPool_t wpi_pool_of(const void *base) {
    pooled *p = NULL;
    pthread_mutex_lock(&pools.lock);
    HASH_FIND_PTR(pools.allocations, &base, p);
    const cudaMemPool_t pool = p != NULL ? p->pool : NULL;
    pthread_mutex_unlock(&pools.lock);
    return pool;
}

static cudaError_t allocate(void **out, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
    wp_device *device;
    wp_queue *queue;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(wpi_stream_queue(device, stream, &queue));
    cudaError_t captured;
    if (wpi_capture_is_on(stream, &captured) || captured != cudaSuccess) {
        WPI_TRY(captured);
        if (out == NULL) return wpi_note(cudaErrorInvalidValue);
        return wpi_capture_allocate(stream, size, out);
    }
    const uint32_t before = wpi_device_current();
    const uint32_t number = pool != NULL ? pool->device : queue->device->number;
    wpi_device_set_current(number);
    const cudaError_t error = cudaMalloc(out, size);
    wpi_device_set_current(before);
    WPI_TRY(error);
    if (*out == NULL || remember(pool, number, *out, size)) return cudaSuccess;
    (void)cudaFree(*out);
    *out = NULL;
    return wpi_note(cudaErrorMemoryAllocation);
}

WP_API cudaError_t cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream) {
    return allocate(devPtr, size, NULL, hStream);
}

WP_API cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool,
                                           cudaStream_t stream) {
    if (!is_pool(memPool)) return wpi_note(cudaErrorInvalidValue);
    return allocate(ptr, size, memPool, stream);
}

/* ---- pools ---- */

static cudaError_t check_device(int device) {
    int count = 0;
    WPI_TRY(cudaGetDeviceCount(&count));
    return device >= 0 && device < count ? cudaSuccess : wpi_note(cudaErrorInvalidDevice);
}

WP_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device) {
    if (memPool == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(check_device(device));
    *memPool = initial_of((uint32_t)device);
    return cudaSuccess;
}

WP_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device) {
    if (memPool == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(check_device(device));
    pthread_mutex_lock(&pools.lock);
    *memPool = current_of((uint32_t)device);
    pthread_mutex_unlock(&pools.lock);
    return cudaSuccess;
}

WP_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t memPool) {
    WPI_TRY(check_device(device));
    if (!is_pool(memPool)) return wpi_note(cudaErrorInvalidValue);
    pthread_mutex_lock(&pools.lock);
    pools.current[device] = memPool;
    pthread_mutex_unlock(&pools.lock);
    return cudaSuccess;
}

/* Sharing with other processes is not supported. */
WP_API cudaError_t cudaMemPoolCreate(cudaMemPool_t *memPool,
                                     const struct cudaMemPoolProps *poolProps) {
    if (memPool == NULL || poolProps == NULL || poolProps->allocType != cudaMemAllocationTypePinned)
        return wpi_note(cudaErrorInvalidValue);
    if (poolProps->handleTypes != cudaMemHandleTypeNone ||
        poolProps->location.type != cudaMemLocationTypeDevice)
        return wpi_note(cudaErrorNotSupported);
    WPI_TRY(check_device(poolProps->location.id));
    struct CUmemPoolHandle_st *pool = wpi_malloc(sizeof *pool);
    if (pool == NULL) return wpi_note(cudaErrorMemoryAllocation);
    *pool = (struct CUmemPoolHandle_st){.device = (uint32_t)poolProps->location.id,
                                        .max_bytes = poolProps->maxSize,
                                        .reuse = {1, 1, 1}};
    if (!wpi_handle_add(WPI_HANDLE_POOL, pool)) {
        wpi_free(pool);
        return wpi_note(cudaErrorMemoryAllocation);
    }
    *memPool = pool;
    return cudaSuccess;
}

/* Allocations stay; the last one that is freed ends the pool. */
WP_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t memPool) {
    if (memPool == NULL || !wpi_handle_remove(WPI_HANDLE_POOL, memPool))
        return wpi_note(cudaErrorInvalidValue);
    pthread_mutex_lock(&pools.lock);
    for (uint32_t d = 0; d < WP_DEVICES_MAX; d++)
        if (pools.current[d] == memPool) pools.current[d] = NULL;
    memPool->is_destroyed = true;
    if (memPool->used_bytes == 0) wpi_free(memPool);
    pthread_mutex_unlock(&pools.lock);
    return cudaSuccess;
}

WP_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep) {
    (void)minBytesToKeep; /* nothing is kept */
    return is_pool(memPool) ? cudaSuccess : wpi_note(cudaErrorInvalidValue);
}

WP_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr,
                                           void *value) {
    if (!is_pool(memPool) || value == NULL) return wpi_note(cudaErrorInvalidValue);
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&pools.lock);
    switch (attr) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        memPool->reuse[attr - cudaMemPoolReuseFollowEventDependencies] = *(int *)value;
        break;
    case cudaMemPoolAttrReleaseThreshold: memPool->threshold_bytes = *(uint64_t *)value; break;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
        if (*(uint64_t *)value != 0)
            error = cudaErrorInvalidValue;
        else
            memPool->used_high_bytes = memPool->used_bytes;
        break;
    default: error = cudaErrorInvalidValue;
    }
    pthread_mutex_unlock(&pools.lock);
    return error == cudaSuccess ? cudaSuccess : wpi_note(error);
}

WP_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr,
                                           void *value) {
    if (!is_pool(memPool) || value == NULL) return wpi_note(cudaErrorInvalidValue);
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&pools.lock);
    switch (attr) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        *(int *)value = memPool->reuse[attr - cudaMemPoolReuseFollowEventDependencies];
        break;
    case cudaMemPoolAttrReleaseThreshold: *(uint64_t *)value = memPool->threshold_bytes; break;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent: *(uint64_t *)value = memPool->used_bytes; break;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh: *(uint64_t *)value = memPool->used_high_bytes; break;
    default: error = cudaErrorInvalidValue;
    }
    pthread_mutex_unlock(&pools.lock);
    return error == cudaSuccess ? cudaSuccess : wpi_note(error);
}

/* Every device has access to memory of every pool. */
WP_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t memPool,
                                        const struct cudaMemAccessDesc *descList, size_t count) {
    if (!is_pool(memPool) || (descList == NULL && count != 0))
        return wpi_note(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; i++) {
        if (descList[i].location.type != cudaMemLocationTypeDevice ||
            descList[i].flags != cudaMemAccessFlagsProtReadWrite)
            return wpi_note(cudaErrorInvalidValue);
        WPI_TRY(check_device(descList[i].location.id));
    }
    return cudaSuccess;
}

WP_API cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t memPool,
                                        struct cudaMemLocation *location) {
    if (flags == NULL || !is_pool(memPool) || location == NULL ||
        location->type != cudaMemLocationTypeDevice)
        return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(check_device(location->id));
    *flags = cudaMemAccessFlagsProtReadWrite;
    return cudaSuccess;
}

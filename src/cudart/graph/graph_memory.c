/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that graphs allocate and free. The address is known when the node is made, so the memory
 * is taken then, and given back when no graph has the node and the program has freed it. Launches
 * only note whether it is allocated; ranges are not shared by allocations that do not overlap in
 * time.
 */
#include <pthread.h>

#include "base/alloc.h"
#include "cudart/graph/graph.h"
#include "cudart/hash_map.h"
#include "device/device.h"

struct wpi_graph_memory {
    void *base;
    size_t size_bytes;
    uint32_t device;
    uint32_t owners;
    bool is_allocated;
    bool is_counted; /* in the device's attributes */
    UT_hash_handle hh;
};

typedef struct usage {
    uint64_t used_bytes, used_high_bytes, reserved_bytes, reserved_high_bytes;
} usage;

static struct {
    pthread_mutex_t lock;
    wpi_graph_memory *all;
    usage usages[WP_DEVICES_MAX];
} graphs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void raise(uint64_t *high_bytes, uint64_t bytes) {
    if (bytes > *high_bytes) *high_bytes = bytes;
}

/* Under the lock. */
static void set_allocated(wpi_graph_memory *m, bool is_allocated) {
    usage *u = &graphs.usages[m->device];
    if (m->is_allocated == is_allocated) return;
    m->is_allocated = is_allocated;
    u->used_bytes += is_allocated ? m->size_bytes : -m->size_bytes;
    raise(&u->used_high_bytes, u->used_bytes);
}

cudaError_t wpi_graph_memory_new(size_t bytes, bool is_counted, wpi_graph_memory **out) {
    if (bytes == 0) return wpi_note(cudaErrorInvalidValue);
    wpi_graph_memory *m = wpi_calloc(1, sizeof *m);
    if (m == NULL) return wpi_note(cudaErrorMemoryAllocation);
    const cudaError_t error = cudaMalloc(&m->base, bytes);
    if (error != cudaSuccess) {
        wpi_free(m);
        return error;
    }
    m->size_bytes = bytes;
    m->device = wpi_device_current();
    m->owners = 1;
    m->is_counted = is_counted;
    pthread_mutex_lock(&graphs.lock);
    HASH_ADD_PTR(graphs.all, base, m);
    const bool is_added = m->hh.tbl != NULL;
    if (is_added && is_counted) {
        usage *u = &graphs.usages[m->device];
        u->reserved_bytes += bytes;
        raise(&u->reserved_high_bytes, u->reserved_bytes);
    }
    pthread_mutex_unlock(&graphs.lock);
    if (!is_added) {
        (void)cudaFree(m->base);
        wpi_free(m);
        return wpi_note(cudaErrorMemoryAllocation);
    }
    *out = m;
    return cudaSuccess;
}

wpi_graph_memory *wpi_graph_memory_share(wpi_graph_memory *memory) {
    pthread_mutex_lock(&graphs.lock);
    memory->owners++;
    pthread_mutex_unlock(&graphs.lock);
    return memory;
}

/* Under the lock: takes memory out that nothing holds; false: something does. */
static bool take_out(wpi_graph_memory *m) {
    if (m->owners != 0 || m->is_allocated) return false;
    if (m->base == NULL) return true; /* the device was reset */
    HASH_DEL(graphs.all, m);
    if (m->is_counted) graphs.usages[m->device].reserved_bytes -= m->size_bytes;
    return true;
}

static cudaError_t give_back(wpi_graph_memory *m) {
    const cudaError_t error = m->base != NULL ? cudaFree(m->base) : cudaSuccess;
    wpi_free(m);
    return error;
}

void wpi_graph_memory_drop(wpi_graph_memory *memory) {
    if (memory == NULL) return;
    pthread_mutex_lock(&graphs.lock);
    memory->owners--;
    const bool is_out = take_out(memory);
    pthread_mutex_unlock(&graphs.lock);
    if (is_out) (void)give_back(memory);
}

wpi_graph_memory *wpi_graph_memory_find(const void *base) {
    wpi_graph_memory *m = NULL;
    pthread_mutex_lock(&graphs.lock);
    HASH_FIND_PTR(graphs.all, &base, m);
    pthread_mutex_unlock(&graphs.lock);
    return m;
}

void *wpi_graph_memory_base(const wpi_graph_memory *memory) {
    return memory->base;
}

cudaError_t wpi_graph_memory_allocate(wpi_graph_memory *memory, bool frees_first) {
    pthread_mutex_lock(&graphs.lock);
    const bool is_free = memory->base != NULL && (!memory->is_allocated || frees_first);
    if (memory->base != NULL) set_allocated(memory, true);
    pthread_mutex_unlock(&graphs.lock);
    return is_free ? cudaSuccess : wpi_note(cudaErrorInvalidValue);
}

cudaError_t wpi_graph_memory_free(wpi_graph_memory *memory) {
    pthread_mutex_lock(&graphs.lock);
    const bool was_allocated = memory->is_allocated;
    set_allocated(memory, false);
    const bool is_out = take_out(memory);
    pthread_mutex_unlock(&graphs.lock);
    if (is_out) return give_back(memory);
    return was_allocated ? cudaSuccess : wpi_note(cudaErrorInvalidValue);
}

void wpi_graph_memory_forget_all(uint32_t device) {
    wpi_graph_memory *m, *next;
    pthread_mutex_lock(&graphs.lock);
    HASH_ITER(hh, graphs.all, m, next) {
        if (m->device != device) continue;
        HASH_DEL(graphs.all, m);
        m->base = NULL;
        m->is_allocated = false;
        if (m->owners == 0) wpi_free(m);
    }
    graphs.usages[device] = (usage){0};
    pthread_mutex_unlock(&graphs.lock);
}

/* ---- calls ---- */

WP_API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                            const cudaGraphNode_t *pDependencies,
                                            size_t numDependencies,
                                            struct cudaMemAllocNodeParams *nodeParams) {
    int count = 0;
    if (nodeParams == NULL) return wpi_note(cudaErrorInvalidValue);
    const struct cudaMemPoolProps *pool = &nodeParams->poolProps;
    if (pool->allocType != cudaMemAllocationTypePinned ||
        pool->location.type != cudaMemLocationTypeDevice)
        return wpi_note(cudaErrorInvalidValue);
    if (pool->handleTypes != cudaMemHandleTypeNone) return wpi_note(cudaErrorNotSupported);
    WPI_TRY(cudaGetDeviceCount(&count));
    if (pool->location.id < 0 || pool->location.id >= count)
        return wpi_note(cudaErrorInvalidDevice);
    cudaGraphNode_t node = NULL;
    WPI_TRY(wpi_graph_add_checked(&node, graph, cudaGraphNodeTypeMemAlloc, pDependencies,
                                  numDependencies));
    const uint32_t before = wpi_device_current();
    wpi_device_set_current((uint32_t)pool->location.id);
    const cudaError_t error = wpi_graph_memory_new(nodeParams->bytesize, true, &node->u.memory);
    wpi_device_set_current(before);
    if (error != cudaSuccess) {
        wpi_graph_take_back(graph, node);
        return error;
    }
    nodeParams->dptr = node->u.memory->base;
    if (pGraphNode != NULL) *pGraphNode = node;
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                                  struct cudaMemAllocNodeParams *params_out) {
    if (node == NULL || node->type != cudaGraphNodeTypeMemAlloc || params_out == NULL)
        return wpi_note(cudaErrorInvalidValue);
    const wpi_graph_memory *m = node->u.memory;
    *params_out = (struct cudaMemAllocNodeParams){
        .poolProps = {.allocType = cudaMemAllocationTypePinned,
                      .location = {.type = cudaMemLocationTypeDevice, .id = (int)m->device}},
        .bytesize = m->size_bytes,
        .dptr = m->base};
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                           const cudaGraphNode_t *pDependencies,
                                           size_t numDependencies, void *dptr) {
    wpi_graph_memory *memory = wpi_graph_memory_find(dptr);
    cudaGraphNode_t node = NULL;
    if (memory == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(wpi_graph_add_checked(&node, graph, cudaGraphNodeTypeMemFree, pDependencies,
                                  numDependencies));
    node->u.memory = wpi_graph_memory_share(memory);
    if (pGraphNode != NULL) *pGraphNode = node;
    return cudaSuccess;
}

WP_API cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *dptr_out) {
    if (node == NULL || node->type != cudaGraphNodeTypeMemFree || dptr_out == NULL)
        return wpi_note(cudaErrorInvalidValue);
    *(void **)dptr_out = node->u.memory->base;
    return cudaSuccess;
}

static cudaError_t check_device(int device) {
    int count = 0;
    WPI_TRY(cudaGetDeviceCount(&count));
    return device >= 0 && device < count ? cudaSuccess : wpi_note(cudaErrorInvalidDevice);
}

/* Nothing is kept in reserve for graphs that do not exist. */
WP_API cudaError_t cudaDeviceGraphMemTrim(int device) {
    return check_device(device);
}

WP_API cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr,
                                                  void *value) {
    WPI_TRY(check_device(device));
    if (value == NULL || (unsigned)attr > cudaGraphMemAttrReservedMemHigh)
        return wpi_note(cudaErrorInvalidValue);
    pthread_mutex_lock(&graphs.lock);
    const usage u = graphs.usages[device];
    pthread_mutex_unlock(&graphs.lock);
    const uint64_t values[] = {u.used_bytes, u.used_high_bytes, u.reserved_bytes,
                               u.reserved_high_bytes};
    *(uint64_t *)value = values[attr];
    return cudaSuccess;
}

WP_API cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr,
                                                  void *value) {
    WPI_TRY(check_device(device));
    if (value == NULL || *(uint64_t *)value != 0 ||
        (attr != cudaGraphMemAttrUsedMemHigh && attr != cudaGraphMemAttrReservedMemHigh))
        return wpi_note(cudaErrorInvalidValue);
    pthread_mutex_lock(&graphs.lock);
    usage *u = &graphs.usages[device];
    if (attr == cudaGraphMemAttrUsedMemHigh)
        u->used_high_bytes = u->used_bytes;
    else
        u->reserved_high_bytes = u->reserved_bytes;
    pthread_mutex_unlock(&graphs.lock);
    return cudaSuccess;
}

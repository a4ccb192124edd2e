/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation of device, managed, pitched and page-locked host memory, and registration of the
 * program's own memory.
 */
#include "base/alloc.h"
#include "cudart/cudart.h"
#include "cudart/graph/graph.h"
#include "cudart/process/process.h"
#include "device/device.h"

/* Rows of pitched memory begin at multiples of this. */
#define PITCH_BYTES 512u

#define HOST_ALLOC_FLAGS (cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined)
#define HOST_REGISTER_FLAGS                                                                        \
    (cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory |                \
     cudaHostRegisterReadOnly)

static cudaError_t allocate(wp_memory_kind kind, size_t size_bytes, unsigned flags, void **out) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (out == NULL) return wpi_note(cudaErrorInvalidValue);
    void *memory = NULL;
    wp_error err = {0};
    WPI_TRY(wpi_result(wp_memory_alloc(device, kind, size_bytes, flags, &memory, &err), &err));
    *out = memory;
    return cudaSuccess;
}

/* Frees `base` if it is the start of an allocation of one of two kinds. Waits for all work. */
static cudaError_t release(void *base, wp_memory_kind kind, wp_memory_kind other_kind) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (base == NULL) return cudaSuccess;
    wp_allocation allocation;
    if (!wpi_allocation_find(base, &allocation, &device) || allocation.base != base ||
        (allocation.kind != kind && allocation.kind != other_kind) ||
        allocation.flags == WPI_ALLOCATION_MAPPED)
        return wpi_note(cudaErrorInvalidValue);
    wp_error err = {0};
    if (wpi_device_count() > 1) WPI_TRY(wpi_wait_all()); /* others may be using it */
    WPI_TRY(wpi_result(wp_memory_free(device, base, &err), &err));
    wpi_advice_forget(base, allocation.size_bytes);
    if (allocation.kind == WP_MEMORY_DEVICE) {
        wpi_pool_forget(base);
        wpi_shared_memory_forget(base);
    }
    return cudaSuccess;
}

WP_API cudaError_t cudaMalloc(void **devPtr, size_t size) {
    return allocate(WP_MEMORY_DEVICE, size, 0, devPtr);
}

WP_API cudaError_t cudaFree(void *devPtr) {
    wpi_graph_memory *of_graph = wpi_graph_memory_find(devPtr);
    if (of_graph != NULL) return wpi_graph_memory_free(of_graph);
    WPI_TRY(wpi_refuse_reserved(devPtr));
    return release(devPtr, WP_MEMORY_DEVICE, WP_MEMORY_MANAGED);
}

WP_API cudaError_t cudaMallocManaged(void **devPtr, size_t size, unsigned int flags) {
    if ((flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) || size == 0)
        return wpi_note(cudaErrorInvalidValue);
    return allocate(WP_MEMORY_MANAGED, size, flags, devPtr);
}

WP_API cudaError_t cudaHostAlloc(void **pHost, size_t size, unsigned int flags) {
    if ((flags & ~(unsigned)HOST_ALLOC_FLAGS) != 0) return wpi_note(cudaErrorInvalidValue);
    return allocate(WP_MEMORY_PINNED, size, flags, pHost);
}

WP_API cudaError_t cudaMallocHost(void **ptr, size_t size) {
    return allocate(WP_MEMORY_PINNED, size, cudaHostAllocDefault, ptr);
}

WP_API cudaError_t cudaFreeHost(void *ptr) {
    return release(ptr, WP_MEMORY_PINNED, WP_MEMORY_PINNED);
}

/* ---- pitched memory ---- */

static cudaError_t allocate_rows(size_t width_bytes, size_t rows, size_t *pitch_bytes, void **out) {
    const size_t pitch = (width_bytes + PITCH_BYTES - 1) & ~((size_t)PITCH_BYTES - 1);
    size_t size_bytes;
    if (pitch < width_bytes || !wpi_mul_size(pitch, rows, &size_bytes))
        return wpi_note(cudaErrorMemoryAllocation);
    WPI_TRY(allocate(WP_MEMORY_DEVICE, size_bytes, 0, out));
    *pitch_bytes = pitch;
    return cudaSuccess;
}

WP_API cudaError_t cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height) {
    if (devPtr == NULL || pitch == NULL) return wpi_note(cudaErrorInvalidValue);
    return allocate_rows(width, height, pitch, devPtr);
}

WP_API cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent) {
    size_t rows;
    if (pitchedDevPtr == NULL) return wpi_note(cudaErrorInvalidValue);
    if (!wpi_mul_size(extent.height, extent.depth, &rows))
        return wpi_note(cudaErrorMemoryAllocation);
    struct cudaPitchedPtr made = {.xsize = extent.width, .ysize = extent.height};
    WPI_TRY(allocate_rows(extent.width, rows, &made.pitch, &made.ptr));
    *pitchedDevPtr = made;
    return cudaSuccess;
}

/* ---- stream-ordered; allocation is in rt_pool.c ---- */

/* Waits, as cudaFree does: correct, but later than CUDA's, which frees in stream order. */
WP_API cudaError_t cudaFreeAsync(void *devPtr, cudaStream_t hStream) {
    wp_device *device;
    wp_queue *queue;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(wpi_stream_queue(device, hStream, &queue));
    if (devPtr == NULL) return wpi_note(cudaErrorInvalidValue);
    cudaError_t captured;
    if (wpi_capture_is_on(hStream, &captured) || captured != cudaSuccess) {
        WPI_TRY(captured);
        return wpi_capture_free(hStream, devPtr);
    }
    wpi_graph_memory *of_graph = wpi_graph_memory_find(devPtr);
    if (of_graph != NULL) return wpi_graph_memory_free(of_graph);
    return release(devPtr, WP_MEMORY_DEVICE, WP_MEMORY_DEVICE);
}

/* ---- the program's own memory ---- */

WP_API cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned int flags) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (ptr == NULL || size == 0 || (flags & ~(unsigned)HOST_REGISTER_FLAGS) != 0)
        return wpi_note(cudaErrorInvalidValue);
    wp_error err = {0};
    const wp_status status = wp_memory_register(device, ptr, size, flags, &err);
    /* The arguments are valid, so part of the range must be registered already. */
    if (status == WP_STATUS_INVALID) return wpi_note(cudaErrorHostMemoryAlreadyRegistered);
    return wpi_result(status, &err);
}

WP_API cudaError_t cudaHostUnregister(void *ptr) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (ptr == NULL) return wpi_note(cudaErrorInvalidValue);
    wp_allocation allocation;
    if (!wpi_allocation_find(ptr, &allocation, &device) || allocation.base != ptr ||
        allocation.kind != WP_MEMORY_REGISTERED)
        return wpi_note(cudaErrorHostMemoryNotRegistered);
    wp_error err = {0};
    if (wpi_device_count() > 1) WPI_TRY(wpi_wait_all());
    return wpi_result(wp_memory_unregister(device, ptr, &err), &err);
}

static bool is_host_memory(const wp_allocation *allocation) {
    return allocation->kind == WP_MEMORY_PINNED || allocation->kind == WP_MEMORY_REGISTERED;
}

WP_API cudaError_t cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    wp_allocation allocation;
    if (pDevice == NULL || pHost == NULL || flags != 0) return wpi_note(cudaErrorInvalidValue);
    if (!wpi_allocation_find(pHost, &allocation, NULL) || !is_host_memory(&allocation))
        return wpi_note(cudaErrorInvalidValue);
    *pDevice = pHost; /* unified addresses: kernels use the host's */
    return cudaSuccess;
}

WP_API cudaError_t cudaHostGetFlags(unsigned int *pFlags, void *pHost) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    wp_allocation allocation;
    if (pFlags == NULL || pHost == NULL || !wpi_allocation_find(pHost, &allocation, NULL) ||
        allocation.kind != WP_MEMORY_PINNED)
        return wpi_note(cudaErrorInvalidValue);
    *pFlags = allocation.flags;
    return cudaSuccess;
}

WP_API cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (free == NULL || total == NULL) return wpi_note(cudaErrorInvalidValue);
    uint64_t free_bytes, total_bytes;
    wp_memory_info(device, &free_bytes, &total_bytes);
    wpi_device_note_query(device, "cudaMemGetInfo", WPI_INFO_SET(MEMORY));
    *free = free_bytes;
    *total = total_bytes;
    return cudaSuccess;
}

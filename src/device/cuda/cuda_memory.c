/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory of the CUDA device. With unified addressing every address, of host or device, is unique;
 * the map of allocations has its kind.
 *
 * Page-locked and registered memory is always mapped and portable: CUDA's flags for that predate
 * unified addressing. Write-combined memory would have another address on the GPU; as its flag is
 * only a hint, it is ignored.
 */
#include "base/units.h"
#include "device/cuda/cuda.h"
#include "report/recorder.h"

static wpi_cu_ptr address_of(const void *pointer) {
    return (wpi_cu_ptr)(uintptr_t)pointer;
}

static void count(wpi_cuda_device *device, wp_memory_kind kind, size_t size_bytes, bool is_given) {
    uint64_t *counter = kind == WP_MEMORY_DEVICE    ? &device->used_bytes
                        : kind == WP_MEMORY_MANAGED ? &device->managed_bytes
                                                    : NULL;
    if (counter == NULL) return;
    pthread_mutex_lock(&device->lock);
    *counter = is_given ? *counter + size_bytes : *counter - size_bytes;
    const uint64_t in_use_bytes = device->used_bytes + device->managed_bytes;
    pthread_mutex_unlock(&device->lock);
    wpi_report_memory(in_use_bytes);
}

static wp_status fail_nomem(wpi_cuda_device *device, size_t size_bytes, wp_error *err) {
    uint64_t free_bytes, total_bytes;
    char asked[32], left[32], total[32];
    wpi_cuda_memory_info(&device->base, &free_bytes, &total_bytes);
    return WP_FAIL(err, DEVICE_NOMEM,
                   "out of device memory: %s requested, %s of %s free on %s; free some, or use "
                   "cudaMallocManaged for data larger than device memory",
                   wpi_format_bytes(size_bytes, asked), wpi_format_bytes(free_bytes, left),
                   wpi_format_bytes(total_bytes, total), device->base.info.spec);
}

static wp_status fail_pinned(size_t size_bytes, wp_error *err) {
    char asked[32];
    return WP_FAIL(err, NOMEM, "the system has no %s of memory to lock for the GPU",
                   wpi_format_bytes(size_bytes, asked));
}

static bool is_over_limit(wpi_cuda_device *device, size_t size_bytes) {
    pthread_mutex_lock(&device->lock);
    const bool is_over = device->used_bytes > device->limit_bytes ||
                         size_bytes > device->limit_bytes - device->used_bytes;
    pthread_mutex_unlock(&device->lock);
    return is_over;
}

static wpi_cu_result allocate(const wpi_driver *cu, wp_memory_kind kind, size_t size_bytes,
                              uint32_t flags, void **out) {
    wpi_cu_ptr address = 0;
    wpi_cu_result result;
    switch (kind) {
    case WP_MEMORY_DEVICE: result = cu->memory_alloc(&address, size_bytes); break;
    case WP_MEMORY_MANAGED: result = cu->managed_alloc(&address, size_bytes, flags); break;
    default: return cu->host_alloc(out, size_bytes, WPI_CU_HOST_PORTABLE | WPI_CU_HOST_DEVICE_MAP);
    }
    *out = (void *)(uintptr_t)address;
    return result;
}

static wpi_cu_result give_back(const wpi_driver *cu, const wp_allocation *allocation) {
    switch (allocation->kind) {
    case WP_MEMORY_DEVICE:
    case WP_MEMORY_MANAGED: return cu->memory_free(address_of(allocation->base));
    case WP_MEMORY_PINNED: return cu->host_free(allocation->base);
    case WP_MEMORY_REGISTERED: return cu->host_unregister(allocation->base);
    default: return WPI_CU_SUCCESS;
    }
}

wp_status wpi_cuda_memory_alloc(wp_device *base, wp_memory_kind kind, size_t size_bytes,
                                uint32_t flags, void **out, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(base);
    WP_TRY(wpi_cuda_enter(device, err));
    if (kind == WP_MEMORY_MANAGED) {
        int is_there = 0;
        if (device->cu->managed_alloc == NULL ||
            device->cu->device_attribute(&is_there, WPI_CU_ATTRIBUTE_MANAGED_MEMORY,
                                         device->number) != WPI_CU_SUCCESS ||
            is_there == 0) {
            return WP_FAIL(err, UNSUPPORTED,
                           "%s: this GPU, driver or system does not support managed memory",
                           base->info.spec);
        }
    }
    if (kind == WP_MEMORY_DEVICE && is_over_limit(device, size_bytes))
        return fail_nomem(device, size_bytes, err);
    void *made = NULL;
    const wpi_cu_result result = allocate(device->cu, kind, size_bytes, flags, &made);
    if (result == WPI_CU_OUT_OF_MEMORY)
        return kind == WP_MEMORY_PINNED ? fail_pinned(size_bytes, err)
                                        : fail_nomem(device, size_bytes, err);
    WP_TRY(wpi_cuda_check(
        device, result,
        kind == WP_MEMORY_PINNED ? "allocating page-locked memory" : "allocating memory", err));
    const wpi_memory_entry entry = {
        .allocation = {.base = made, .size_bytes = size_bytes, .kind = kind, .flags = flags},
        .device = base};
    const wp_status status = wpi_memory_map_add(wpi_memory_map_global(), &entry, err);
    if (status != WP_STATUS_OK) {
        (void)give_back(device->cu, &entry.allocation);
        return status;
    }
    count(device, kind, size_bytes, true);
    *out = made;
    return WP_STATUS_OK;
}

wp_status wpi_cuda_memory_free(wp_device *base, const wp_allocation *allocation, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(base);
    if (allocation->kind == WP_MEMORY_ARRAY)
        return wpi_cuda_array_free(device, allocation->base, err);
    /* Remove it from the map first: the driver may reuse the address at once, for another
     * thread. */
    wpi_memory_entry entry;
    if (!wpi_memory_map_remove(wpi_memory_map_global(), allocation->base, &entry)) {
        return WP_FAIL(err, INVALID, "%p was freed by another thread", allocation->base);
    }
    count(device, entry.allocation.kind, entry.allocation.size_bytes, false);
    WP_TRY(wpi_cuda_enter(device, err));
    return wpi_cuda_check_end(device, give_back(device->cu, &entry.allocation), "freeing memory",
                              err);
}

wp_status wpi_cuda_memory_register(wp_device *base, const wp_allocation *allocation,
                                   wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(base);
    WP_TRY(wpi_cuda_enter(device, err));
    int is_same_address = 0;
    WP_TRY(wpi_cuda_check(device,
                          device->cu->device_attribute(&is_same_address,
                                                       WPI_CU_ATTRIBUTE_HOST_POINTERS_OF_REGISTERED,
                                                       device->number),
                          "asking for an attribute", err));
    if (is_same_address == 0) {
        return WP_FAIL(err, UNSUPPORTED,
                       "%s: kernels on this GPU cannot use the host's addresses of registered "
                       "memory; use cudaMallocHost",
                       base->info.spec);
    }
    const wpi_memory_entry entry = {.allocation = *allocation, .device = base};
    WP_TRY(wpi_memory_map_add(wpi_memory_map_global(), &entry, err));
    const wpi_cu_result result = device->cu->host_register(
        allocation->base, allocation->size_bytes,
        allocation->flags | WPI_CU_HOST_PORTABLE | WPI_CU_HOST_DEVICE_MAP);
    if (result != WPI_CU_SUCCESS)
        (void)wpi_memory_map_remove(wpi_memory_map_global(), allocation->base, NULL);
    return wpi_cuda_check(device, result, "registering host memory", err);
}

wp_status wpi_cuda_memory_unregister(wp_device *base, const wp_allocation *allocation,
                                     wp_error *err) {
    return wpi_cuda_memory_free(base, allocation, err);
}

void wpi_cuda_memory_info(wp_device *base, uint64_t *free_bytes, uint64_t *total_bytes) {
    wpi_cuda_device *device = wpi_cuda_of(base);
    size_t left_bytes = 0, all_bytes = 0;
    if (wpi_cuda_enter(device, NULL) == WP_STATUS_OK) {
        const wp_status ignored = wpi_cuda_check(
            device, device->cu->memory_info(&left_bytes, &all_bytes), "asking for memory", NULL);
        (void)ignored;
    }
    pthread_mutex_lock(&device->lock);
    const uint64_t allowed_bytes =
        device->limit_bytes > device->used_bytes ? device->limit_bytes - device->used_bytes : 0;
    pthread_mutex_unlock(&device->lock);
    *free_bytes = left_bytes < allowed_bytes ? left_bytes : allowed_bytes;
    *total_bytes = device->limit_bytes;
}

void wpi_cuda_memory_free_all(wpi_cuda_device *device) {
    wpi_memory_map *map = wpi_memory_map_global();
    wpi_memory_entry entry;
    const char *from = NULL;
    while (wpi_memory_map_next(map, from, &entry)) {
        from = (const char *)entry.allocation.base + 1;
        if (entry.device != &device->base || entry.allocation.kind == WP_MEMORY_VARIABLE) continue;
        const wp_status ignored = wpi_cuda_memory_free(&device->base, &entry.allocation, NULL);
        (void)ignored;
    }
}

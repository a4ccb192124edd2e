/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Passes prefetches, advice, attachments and queries for managed memory to the driver. In the
 * runtime the GPU is device 0; the driver has a number for it.
 *
 * A __managed__ variable is host memory here, which the GPU accesses over the link (cuda_module.c):
 * it does not migrate, and the driver has it as page-locked.
 */
#include "device/cuda/cuda.h"
#include "device/cuda/cuda_managed_table.h"

#define HOST (-1) /* as a location, in CUDA and in the driver */

static wpi_cu_ptr address_of(const void *pointer) {
    return (wpi_cu_ptr)(uintptr_t)pointer;
}

static bool can_move(const void *address) {
    wpi_memory_entry entry;
    return wpi_memory_map_find(wpi_memory_map_global(), address, &entry) &&
           entry.allocation.kind == WP_MEMORY_MANAGED;
}

static wpi_cu_device number_of(wpi_cuda_device *device, int location) {
    const wpi_cuda_device *named = location == HOST ? NULL : wpi_cuda_member(device, location);
    return named != NULL ? named->number : HOST;
}

static int location_of(wpi_cuda_device *device, int number) {
    for (int i = 0; i < (int)WP_DEVICES_MAX; i++) {
        const wpi_cuda_device *member = wpi_cuda_member(device, i);
        if (member != NULL && member->number == number) return i;
    }
    return number;
}

wp_status wpi_cuda_prefetch(wp_queue *base, const void *address, size_t size_bytes, bool to_device,
                            wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(base->device);
    if (!can_move(address)) return WP_STATUS_OK;
    WP_TRY(wpi_cuda_enter(device, err));
    return wpi_cuda_check(device,
                          device->cu->prefetch(address_of(address), size_bytes,
                                               to_device ? device->number : HOST,
                                               ((wpi_cuda_queue *)base)->stream),
                          "prefetching managed memory", err);
}

wp_status wpi_cuda_attach(wp_queue *base, void *address, size_t size_bytes, uint32_t flags,
                          wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(base->device);
    if (!can_move(address)) return WP_STATUS_OK;
    WP_TRY(wpi_cuda_enter(device, err));
    return wpi_cuda_check(device,
                          device->cu->attach(((wpi_cuda_queue *)base)->stream, address_of(address),
                                             size_bytes, flags),
                          "attaching managed memory to a stream", err);
}

wp_status wpi_cuda_managed_advise(wp_device *base, const void *address, size_t size_bytes,
                                  int advice, int location, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(base);
    if (!can_move(address)) return WP_STATUS_OK;
    WP_TRY(wpi_cuda_enter(device, err));
    return wpi_cuda_check(
        device,
        device->cu->advise(address_of(address), size_bytes, advice, number_of(device, location)),
        "giving advice about managed memory", err);
}

static wp_status ask(wpi_cuda_device *device, const void *address, size_t size_bytes, int attribute,
                     void *data, size_t data_bytes, wp_error *err) {
    return wpi_cuda_check(
        device,
        device->cu->range_attribute(data, data_bytes, attribute, address_of(address), size_bytes),
        "asking about managed memory", err);
}

/* Whether the location is a device, by its type, the attribute before the ID. */
static wp_status is_device(wpi_cuda_device *device, const void *address, size_t size_bytes,
                           int attribute, bool *out, wp_error *err) {
    int type = WPI_CU_LOCATION_DEVICE;
    switch (attribute) {
    case WPI_CU_RANGE_PREFERRED_LOCATION:
    case WPI_CU_RANGE_ACCESSED_BY:
    case WPI_CU_RANGE_LAST_PREFETCH_LOCATION: break;
    case WPI_CU_RANGE_PREFERRED_LOCATION_ID:
    case WPI_CU_RANGE_LAST_PREFETCH_LOCATION_ID:
        WP_TRY(ask(device, address, size_bytes, attribute - 1, &type, sizeof type, err));
        break;
    default: type = 0; break;
    }
    *out = type == WPI_CU_LOCATION_DEVICE;
    return WP_STATUS_OK;
}

wp_status wpi_cuda_managed_attribute(wp_device *base, const void *address, size_t size_bytes,
                                     int attribute, void *data, size_t data_bytes, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(base);
    int *values = data;
    bool are_devices = false;
    if (!can_move(address))
        return WP_FAIL(err, UNSUPPORTED, "the driver does not know the memory at %p", address);
    WP_TRY(wpi_cuda_enter(device, err));
    WP_TRY(ask(device, address, size_bytes, attribute, data, data_bytes, err));
    WP_TRY(is_device(device, address, size_bytes, attribute, &are_devices, err));
    for (size_t i = 0; are_devices && i < data_bytes / sizeof *values; i++)
        values[i] = location_of(device, values[i]);
    return WP_STATUS_OK;
}

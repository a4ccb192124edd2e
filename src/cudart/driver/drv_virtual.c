/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual memory: ranges of addresses, memory without an address, and mappings of the one in the
 * other. On devices whose kernels use host addresses:
 *
 *     cuMemAddressReserve   a range of the device's addresses that faults
 *     cuMemCreate           a file in memory, and an allocation that counts against device memory
 *     cuMemMap              pages of the file at an address: shared, so several mappings see the
 * same cuMemSetAccess        their protection; with access, kernels and copies find the memory
 *
 * Neighbours with access are one entry in the map of allocations, so that copies may cross them.
 */
#define _GNU_SOURCE /* memfd_create */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cudart/driver/driver.h"
#include "device/device.h"

#define UNIT_BYTES ((size_t)2 * 1024 * 1024)

typedef struct physical {
    size_t size_bytes;
    int fd;
    void *counted; /* never touched: it counts the memory; NULL: another handle does */
    CUmemAllocationProp properties;
    unsigned uses; /* the handle, and mappings */
} physical;

typedef struct mapping {
    struct mapping *next; /* by address */
    char *base;
    size_t size_bytes;
    physical *memory;
    CUmemAccess_flags access;
} mapping;

typedef struct reservation {
    struct reservation *next;
    char *base;
    size_t size_bytes;
    void *whole; /* the device's range, which a larger alignment leaves parts of */
    size_t whole_bytes;
    mapping *mappings;
} reservation;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static reservation *reservations;

static bool is_whole(size_t bytes) {
    return bytes != 0 && bytes % UNIT_BYTES == 0;
}

static bool is_device(const CUmemLocation *location) {
    return location->type == CU_MEM_LOCATION_TYPE_DEVICE && location->id == 0;
}

/* ---- ranges ---- */

static reservation *find_range(const char *at, size_t size_bytes) {
    for (reservation *r = reservations; r != NULL; r = r->next)
        if (at >= r->base && (size_t)(at - r->base) < r->size_bytes &&
            size_bytes <= r->size_bytes - (size_t)(at - r->base))
            return r;
    return NULL;
}

static cudaError_t reserve(CUdeviceptr *out, size_t size_bytes, size_t alignment) {
    wp_device *device;
    void *base;
    wp_error err = {0};
    WPI_TRY(wpi_enter(&device));
    if (out == NULL || !is_whole(size_bytes) || alignment > SIZE_MAX / 4 ||
        size_bytes > SIZE_MAX / 4)
        return cudaErrorInvalidValue;
    const size_t whole_bytes = size_bytes + (alignment > UNIT_BYTES ? alignment : 0);
    reservation *r = wpi_calloc(1, sizeof *r);
    if (r == NULL) return cudaErrorMemoryAllocation;
    const cudaError_t error =
        wpi_result(wpi_device_range_reserve(device, whole_bytes, &base, &err), &err);
    if (error != cudaSuccess) {
        wpi_free(r);
        return error;
    }
    const uintptr_t unaligned = (uintptr_t)base, step = alignment > UNIT_BYTES ? alignment : 1;
    *r = (reservation){.base = (char *)((unaligned + step - 1) / step * step),
                       .size_bytes = size_bytes,
                       .whole = base,
                       .whole_bytes = whole_bytes};
    pthread_mutex_lock(&lock);
    r->next = reservations;
    reservations = r;
    pthread_mutex_unlock(&lock);
    *out = (CUdeviceptr)(uintptr_t)r->base;
    return cudaSuccess;
}

/* The address is a wish, as in CUDA. */
WP_API CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment,
                                    CUdeviceptr addr, unsigned long long flags) {
    (void)addr;
    if (flags != 0 || (alignment & (alignment - 1)) != 0) return CUDA_ERROR_INVALID_VALUE;
    WPI_DRIVER_IN(false, reserve(ptr, size, alignment));
}

static cudaError_t release_range(CUdeviceptr at, size_t size_bytes) {
    wp_device *device;
    WPI_TRY(wpi_enter_any(&device));
    cudaError_t error = cudaErrorInvalidValue;
    pthread_mutex_lock(&lock);
    for (reservation **link = &reservations; *link != NULL; link = &(*link)->next) {
        reservation *r = *link;
        if (r->base != wpi_at(at) || r->size_bytes != size_bytes || r->mappings != NULL) continue;
        *link = r->next;
        wpi_device_range_release(device, r->whole, r->whole_bytes);
        wpi_free(r);
        error = cudaSuccess;
        break;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

WP_API CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size) {
    WPI_DRIVER_IN(false, release_range(ptr, size));
}

/* ---- memory ---- */

static bool is_supported(const CUmemAllocationProp *p) {
    return p != NULL && p->type == CU_MEM_ALLOCATION_TYPE_PINNED && is_device(&p->location);
}

WP_API CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                              CUmemAllocationGranularity_flags option) {
    WPI_DRIVER_TRY(wpi_driver_check(false));
    if (granularity == NULL || !is_supported(prop) ||
        (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
         option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
        return CUDA_ERROR_INVALID_VALUE;
    *granularity = UNIT_BYTES;
    return CUDA_SUCCESS;
}

static void destroy(wp_device *device, physical *m) {
    if (m->counted != NULL) {
        const wp_status ignored = wp_memory_free(device, m->counted, NULL);
        (void)ignored;
    }
    if (m->fd >= 0) (void)close(m->fd);
    wpi_free(m);
}

static cudaError_t create(CUmemGenericAllocationHandle *out, size_t size_bytes,
                          const CUmemAllocationProp *prop) {
    wp_device *device;
    wp_error err = {0};
    WPI_TRY(wpi_enter(&device));
    if (out == NULL || !is_whole(size_bytes) || !is_supported(prop)) return cudaErrorInvalidValue;
    if (device->ops->range_reserve == NULL) return cudaErrorNotSupported;
    if (prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE &&
        prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return cudaErrorNotSupported;
    physical *m = wpi_calloc(1, sizeof *m);
    if (m == NULL) return cudaErrorMemoryAllocation;
    *m = (physical){.size_bytes = size_bytes, .properties = *prop, .uses = 1};
    cudaError_t error = wpi_result(
        wp_memory_alloc(device, WP_MEMORY_DEVICE, size_bytes, 0, &m->counted, &err), &err);
    if (error != cudaSuccess) {
        wpi_free(m);
        return error;
    }
    m->fd = memfd_create("warpage-memory", MFD_CLOEXEC);
    if (m->fd < 0 || ftruncate(m->fd, (off_t)size_bytes) != 0 ||
        !wpi_handle_add(WPI_HANDLE_PHYSICAL, m)) {
        destroy(device, m);
        return cudaErrorMemoryAllocation;
    }
    *out = (CUmemGenericAllocationHandle)(uintptr_t)m;
    return cudaSuccess;
}

WP_API CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                            const CUmemAllocationProp *prop, unsigned long long flags) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    WPI_DRIVER_IN(false, create(handle, size, prop));
}

static physical *memory_of(CUmemGenericAllocationHandle handle) {
    physical *m = wpi_at(handle);
    return m != NULL && wpi_handle_is_live(WPI_HANDLE_PHYSICAL, m) ? m : NULL;
}

/* Under the lock. */
static void let_go(wp_device *device, physical *m) {
    if (--m->uses == 0) destroy(device, m);
}

/* Mapped memory lives until it is unmapped. */
static cudaError_t release(CUmemGenericAllocationHandle handle) {
    wp_device *device;
    WPI_TRY(wpi_enter_any(&device));
    physical *m = wpi_at(handle);
    if (m == NULL || !wpi_handle_remove(WPI_HANDLE_PHYSICAL, m)) return cudaErrorInvalidValue;
    pthread_mutex_lock(&lock);
    let_go(device, m);
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

WP_API CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    WPI_DRIVER_IN(false, release(handle));
}

WP_API CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                       CUmemGenericAllocationHandle handle) {
    WPI_DRIVER_TRY(wpi_driver_check(false));
    const physical *m = memory_of(handle);
    if (prop == NULL || m == NULL) return CUDA_ERROR_INVALID_VALUE;
    *prop = m->properties;
    return CUDA_SUCCESS;
}

/* ---- memory of other processes, by the descriptor of the file ---- */

static cudaError_t export(int *out, CUmemGenericAllocationHandle handle) {
    wp_device *device;
    WPI_TRY(wpi_enter_any(&device));
    const physical *m = memory_of(handle);
    if (out == NULL || m == NULL ||
        (m->properties.requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == 0)
        return cudaErrorInvalidValue;
    const int file = fcntl(m->fd, F_DUPFD_CLOEXEC, 0);
    if (file < 0) return cudaErrorUnknown;
    *out = file;
    return cudaSuccess;
}

/* The descriptor is the caller's, as in CUDA. */
WP_API CUresult cuMemExportToShareableHandle(void *shareableHandle,
                                             CUmemGenericAllocationHandle handle,
                                             CUmemAllocationHandleType handleType,
                                             unsigned long long flags) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
    WPI_DRIVER_IN(false, export(shareableHandle, handle));
}

static cudaError_t import(CUmemGenericAllocationHandle *out, int file) {
    wp_device *device;
    struct stat facts;
    WPI_TRY(wpi_enter(&device));
    if (device->ops->range_reserve == NULL) return cudaErrorNotSupported;
    if (out == NULL || fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode) ||
        !is_whole((size_t)facts.st_size))
        return cudaErrorInvalidValue;
    physical *m = wpi_calloc(1, sizeof *m);
    if (m == NULL) return cudaErrorMemoryAllocation;
    *m = (physical){.size_bytes = (size_t)facts.st_size,
                    .fd = fcntl(file, F_DUPFD_CLOEXEC, 0),
                    .properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                   .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                   .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
                    .uses = 1};
    if (m->fd < 0 || !wpi_handle_add(WPI_HANDLE_PHYSICAL, m)) {
        destroy(device, m);
        return cudaErrorMemoryAllocation;
    }
    *out = (CUmemGenericAllocationHandle)(uintptr_t)m;
    return cudaSuccess;
}

WP_API CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                               CUmemAllocationHandleType shHandleType) {
    if (shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
    WPI_DRIVER_IN(false, import(handle, (int)(intptr_t)osHandle));
}

/* ---- mappings ---- */

/* Enters the runs of mappings with access into the map of allocations anew. */
static void enter_runs(wp_device *device, const reservation *r) {
    wpi_memory_map *map = wpi_memory_map_global();
    wpi_memory_entry entry;
    for (const char *from = r->base; wpi_memory_map_next(map, from, &entry) &&
                                     (char *)entry.allocation.base < r->base + r->size_bytes;
         from = (const char *)entry.allocation.base + 1)
        (void)wpi_memory_map_remove(map, entry.allocation.base, NULL);
    for (const mapping *m = r->mappings; m != NULL;) {
        char *base = m->base;
        size_t size_bytes = 0;
        const CUmemAccess_flags access = m->access;
        for (; m != NULL && m->access == access && m->base == base + size_bytes; m = m->next)
            size_bytes += m->size_bytes;
        entry = (wpi_memory_entry){.allocation = {.base = base,
                                                  .size_bytes = size_bytes,
                                                  .kind = WP_MEMORY_DEVICE,
                                                  .flags = WPI_ALLOCATION_MAPPED},
                                   .device = device};
        if (access == CU_MEM_ACCESS_FLAGS_PROT_NONE) continue;
        const wp_status ignored = wpi_memory_map_add(map, &entry, NULL);
        (void)ignored;
    }
}

static cudaError_t map_locked(char *at, size_t size_bytes, physical *memory) {
    reservation *r = find_range(at, size_bytes);
    if (r == NULL) return cudaErrorInvalidValue;
    mapping **link = &r->mappings;
    while (*link != NULL && (*link)->base + (*link)->size_bytes <= at)
        link = &(*link)->next;
    if (*link != NULL && (*link)->base < at + size_bytes) return cudaErrorInvalidValue;
    mapping *made = wpi_calloc(1, sizeof *made);
    if (made == NULL) return cudaErrorMemoryAllocation;
    if (mmap(at, size_bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, memory->fd, 0) == MAP_FAILED) {
        wpi_free(made);
        return cudaErrorMemoryAllocation;
    }
    *made = (mapping){.next = *link, .base = at, .size_bytes = size_bytes, .memory = memory};
    *link = made;
    memory->uses++;
    return cudaSuccess;
}

static cudaError_t map(CUdeviceptr at, size_t size_bytes, CUmemGenericAllocationHandle handle) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    physical *memory = memory_of(handle);
    if (memory == NULL || size_bytes != memory->size_bytes || at % UNIT_BYTES != 0)
        return cudaErrorInvalidValue;
    pthread_mutex_lock(&lock);
    const cudaError_t error = map_locked(wpi_at(at), size_bytes, memory);
    pthread_mutex_unlock(&lock);
    return error;
}

/* As in CUDA, a handle is mapped as a whole. */
WP_API CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
                         CUmemGenericAllocationHandle handle, unsigned long long flags) {
    if (offset != 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    WPI_DRIVER_IN(false, map(ptr, size, handle));
}

/* Whether the mappings in a range cover it, as wholes. */
static bool covers(const reservation *r, const char *at, size_t size_bytes) {
    const char *reached = at;
    for (const mapping *m = r->mappings; m != NULL && reached < at + size_bytes; m = m->next)
        if (m->base == reached) reached += m->size_bytes;
    return reached == at + size_bytes;
}

static cudaError_t unmap_locked(wp_device *device, char *at, size_t size_bytes) {
    reservation *r = find_range(at, size_bytes);
    if (r == NULL || !covers(r, at, size_bytes)) return cudaErrorInvalidValue;
    for (mapping **link = &r->mappings; *link != NULL;) {
        mapping *m = *link;
        if (m->base < at || m->base >= at + size_bytes) {
            link = &m->next;
            continue;
        }
        *link = m->next;
        if (mmap(m->base, m->size_bytes, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
            (void)mprotect(m->base, m->size_bytes, PROT_NONE);
        let_go(device, m->memory);
        wpi_free(m);
    }
    enter_runs(device, r);
    return cudaSuccess;
}

/* Work that uses the memory ends first. */
static cudaError_t unmap(CUdeviceptr at, size_t size_bytes) {
    wp_device *device;
    WPI_TRY(wpi_enter_any(&device));
    if (!is_whole(size_bytes)) return cudaErrorInvalidValue;
    const wp_status ignored = wp_device_wait(device, NULL);
    (void)ignored;
    pthread_mutex_lock(&lock);
    const cudaError_t error = unmap_locked(device, wpi_at(at), size_bytes);
    pthread_mutex_unlock(&lock);
    return error;
}

WP_API CUresult cuMemUnmap(CUdeviceptr ptr, size_t size) {
    WPI_DRIVER_IN(false, unmap(ptr, size));
}

static int protection_of(CUmemAccess_flags access) {
    return access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? PROT_READ | PROT_WRITE
           : access == CU_MEM_ACCESS_FLAGS_PROT_READ    ? PROT_READ
                                                        : PROT_NONE;
}

static cudaError_t set_access_locked(wp_device *device, char *at, size_t size_bytes,
                                     CUmemAccess_flags access) {
    reservation *r = find_range(at, size_bytes);
    if (r == NULL || !covers(r, at, size_bytes)) return cudaErrorInvalidValue;
    if (mprotect(at, size_bytes, protection_of(access)) != 0) return cudaErrorMemoryAllocation;
    for (mapping *m = r->mappings; m != NULL; m = m->next)
        if (m->base >= at && m->base < at + size_bytes) m->access = access;
    enter_runs(device, r);
    return cudaSuccess;
}

static cudaError_t set_access(CUdeviceptr at, size_t size_bytes, const CUmemAccessDesc *desc,
                              size_t count) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (desc == NULL || count == 0 || !is_whole(size_bytes)) return cudaErrorInvalidValue;
    CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    for (size_t i = 0; i < count; i++) {
        if (!is_device(&desc[i].location)) return cudaErrorInvalidDevice;
        access = desc[i].flags;
    }
    if (access != CU_MEM_ACCESS_FLAGS_PROT_NONE && access != CU_MEM_ACCESS_FLAGS_PROT_READ &&
        access != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return cudaErrorInvalidValue;
    pthread_mutex_lock(&lock);
    const cudaError_t error = set_access_locked(device, wpi_at(at), size_bytes, access);
    pthread_mutex_unlock(&lock);
    return error;
}

WP_API CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc,
                               size_t count) {
    WPI_DRIVER_IN(false, set_access(ptr, size, desc, count));
}

/* Under the lock. */
static const mapping *find_mapping(const char *at) {
    const reservation *r = find_range(at, 1);
    for (const mapping *m = r != NULL ? r->mappings : NULL; m != NULL; m = m->next)
        if (at >= m->base && at < m->base + m->size_bytes) return m;
    return NULL;
}

WP_API CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location,
                               CUdeviceptr ptr) {
    WPI_DRIVER_TRY(wpi_driver_check(false));
    if (flags == NULL || location == NULL || !is_device(location)) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    const mapping *m = find_mapping(wpi_at(ptr));
    if (m != NULL) *flags = (unsigned long long)m->access;
    pthread_mutex_unlock(&lock);
    return m != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Device memory is host memory: anonymous mappings, committed when touched, aligned to pages (CUDA
 * guarantees 256 bytes). Allocations do not share pages, so an access to a freed one faults. Large
 * ones are aligned and advised for huge pages, because gathers over them otherwise miss this
 * processor's TLB.
 *
 *     margin | allocation, in pages | margin        one mapping
 *
 * On GPUs a small overrun goes unnoticed, as allocations are in larger pages, and programs rely on
 * that: they read a row too many and do not use it. The margins make it harmless; `--check`, which
 * must find it, has none.
 *
 * Memory of simulated devices has the same addresses in every run (arena.h), without huge pages:
 * programs that measure TLB reach touch a few bytes in each of thousands of pages.
 *
 * Only cudaMalloc's memory counts against the device's limit. Managed memory may exceed it.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE, MADV_… */
#include "device/cpu/arena.h"
#include "device/cpu/check/access_check.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/units.h"
#include "report/recorder.h"

#define HUGE_PAGE_BYTES ((size_t)2 * 1024 * 1024)
#define MARGIN_BYTES ((size_t)1024 * 1024) /* untouched, so it costs only addresses */
#define ALLOC_UNIT_BYTES 512u              /* allocations are counted in multiples of this */

static uint64_t counted_bytes(const wp_allocation *allocation) {
    return ((uint64_t)allocation->size_bytes + ALLOC_UNIT_BYTES - 1) / ALLOC_UNIT_BYTES *
           ALLOC_UNIT_BYTES;
}

static size_t margin_bytes(void) {
    return wpi_check_is_on() ? 0 : MARGIN_BYTES;
}

static size_t whole_pages(size_t size_bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (size_bytes + page - 1) / page * page + wpi_check_gap_bytes();
}

/* NULL: no room at fixed addresses. */
static void *map_fixed(const wpi_cpu_device *device, wpi_arena_area area, size_t size_bytes,
                       size_t *mapped_bytes) {
    const size_t margin = margin_bytes(), bytes = whole_pages(size_bytes);
    const size_t offset = (HUGE_PAGE_BYTES - margin) % HUGE_PAGE_BYTES;
    const size_t whole = margin + bytes + margin;
    char *raw = area == WPI_ARENA_DEVICE ? wpi_arena_map_on(device->base.number, whole, offset)
                                         : wpi_arena_map(area, whole, offset);
    if (raw == NULL) return NULL;
    *mapped_bytes = bytes;
    return raw + margin;
}

/* NULL: the system has no such range. */
static void *map_anywhere(size_t size_bytes, size_t *mapped_bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const bool is_big = size_bytes >= HUGE_PAGE_BYTES;
    const size_t align = is_big ? HUGE_PAGE_BYTES : page, margin = margin_bytes();
    const size_t bytes = whole_pages(size_bytes);
    const size_t slack = align - page;
    char *raw = mmap(NULL, margin + bytes + margin + slack, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) return NULL;
    const size_t before = (align - ((uintptr_t)raw + margin) % align) % align;
    if (before != 0) munmap(raw, before);
    if (slack > before) munmap(raw + before + margin + bytes + margin, slack - before);
    char *base = raw + before + margin;
    if (is_big) {
        (void)madvise(base, bytes, MADV_HUGEPAGE);
    } else if (margin != 0) { /* otherwise a small allocation could cost 2 MiB with its margins */
        (void)madvise(base - margin, margin + bytes + margin, MADV_NOHUGEPAGE);
    }
    *mapped_bytes = bytes;
    return base;
}

static wpi_arena_area area_of(wp_memory_kind kind) {
    switch (kind) {
    case WP_MEMORY_DEVICE: return WPI_ARENA_DEVICE;
    case WP_MEMORY_MANAGED: return WPI_ARENA_MANAGED;
    default: return WPI_ARENA_HOST;
    }
}

static void *map_pages(const wpi_cpu_device *device, wp_memory_kind kind, size_t size_bytes,
                       size_t *mapped_bytes) {
    if (size_bytes > SIZE_MAX / 2) return NULL;
    void *base = device->has_fixed_addresses
                     ? map_fixed(device, area_of(kind), size_bytes, mapped_bytes)
                     : NULL;
    return base != NULL ? base : map_anywhere(size_bytes, mapped_bytes);
}

static void unmap_pages(void *base, size_t mapped_bytes) {
    const size_t margin = margin_bytes();
    char *raw = (char *)base - margin;
    const size_t bytes = margin + mapped_bytes + margin;
    if (!wpi_arena_unmap(raw, bytes)) munmap(raw, bytes);
}

static wp_status fail_nomem(wpi_cpu_device *device, size_t size_bytes, wp_error *err) {
    uint64_t free_bytes, total_bytes;
    char asked[32], left[32], total[32];
    wpi_cpu_memory_info(&device->base, &free_bytes, &total_bytes);
    return WP_FAIL(err, DEVICE_NOMEM,
                   "out of device memory: %s requested, %s of %s free; --device-memory (or "
                   "WARPAGE_DEVICE_MEMORY) sets the size of device memory",
                   wpi_format_bytes(size_bytes, asked), wpi_format_bytes(free_bytes, left),
                   wpi_format_bytes(total_bytes, total));
}

/* Counts an allocation; false: it exceeds device memory. */
static bool reserve(wpi_cpu_memory *memory, const wp_allocation *allocation) {
    const uint64_t bytes = counted_bytes(allocation);
    bool fits = true;
    pthread_mutex_lock(&memory->lock);
    if (allocation->kind == WP_MEMORY_DEVICE) {
        fits = bytes <= memory->limit_bytes - memory->used_bytes;
        if (fits) memory->used_bytes += bytes;
    } else if (allocation->kind == WP_MEMORY_MANAGED) {
        memory->managed_bytes += bytes;
    }
    wpi_report_memory(memory->used_bytes + memory->managed_bytes);
    pthread_mutex_unlock(&memory->lock);
    return fits;
}

static void unreserve(wpi_cpu_memory *memory, const wp_allocation *allocation) {
    const uint64_t bytes = counted_bytes(allocation);
    pthread_mutex_lock(&memory->lock);
    if (allocation->kind == WP_MEMORY_DEVICE) memory->used_bytes -= bytes;
    if (allocation->kind == WP_MEMORY_MANAGED) memory->managed_bytes -= bytes;
    pthread_mutex_unlock(&memory->lock);
}

wp_status wpi_cpu_memory_alloc(wp_device *base, wp_memory_kind kind, size_t size_bytes,
                               uint32_t flags, void **out, wp_error *err) {
    wpi_cpu_device *device = (wpi_cpu_device *)base;
    wpi_memory_entry entry = {
        .allocation = {.size_bytes = size_bytes, .kind = kind, .flags = flags}, .device = base};
    if (size_bytes > SIZE_MAX / 2 || !reserve(&device->memory, &entry.allocation)) {
        return fail_nomem(device, size_bytes, err);
    }
    entry.allocation.base = map_pages(device, kind, size_bytes, &entry.mapped_bytes);
    wp_status status = WP_STATUS_OK;
    if (entry.allocation.base == NULL) {
        char asked[32];
        status = kind == WP_MEMORY_DEVICE
                     ? fail_nomem(device, size_bytes, err)
                     : WP_FAIL(err, NOMEM, "the system has no address range of %s",
                               wpi_format_bytes(size_bytes, asked));
    } else {
        /* Reports and traces of simulated GPUs name allocations too. */
        if (wpi_check_is_on() || device->executor != NULL) wpi_check_allocated(&entry);
        status = wpi_memory_map_add(wpi_memory_map_global(), &entry, err);
    }
    if (status != WP_STATUS_OK) {
        if (entry.allocation.base != NULL) unmap_pages(entry.allocation.base, entry.mapped_bytes);
        unreserve(&device->memory, &entry.allocation);
        return status;
    }
    *out = entry.allocation.base;
    return WP_STATUS_OK;
}

/* ---- ranges of addresses ---- */

wp_status wpi_cpu_range_reserve(wp_device *base, size_t size_bytes, void **out, wp_error *err) {
    const wpi_cpu_device *device = (const wpi_cpu_device *)base;
    char *raw = NULL;
    if (size_bytes <= SIZE_MAX / 2 && device->has_fixed_addresses)
        raw = wpi_arena_map_on(device->base.number, size_bytes, 0);
    if (size_bytes <= SIZE_MAX / 2 && raw == NULL) {
        const size_t slack = HUGE_PAGE_BYTES;
        raw = mmap(NULL, size_bytes + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
        if (raw != MAP_FAILED) {
            const size_t before = (slack - (uintptr_t)raw % slack) % slack;
            if (before != 0) munmap(raw, before);
            if (slack > before) munmap(raw + before + size_bytes, slack - before);
            raw += before;
        } else {
            raw = NULL;
        }
    }
    char asked[32];
    if (raw == NULL)
        return WP_FAIL(err, NOMEM, "the system has no address range of %s",
                       wpi_format_bytes(size_bytes, asked));
    (void)mprotect(raw, size_bytes, PROT_NONE);
    *out = raw;
    return WP_STATUS_OK;
}

void wpi_cpu_range_release(wp_device *base, void *memory, size_t size_bytes) {
    (void)base;
    if (!wpi_arena_unmap(memory, size_bytes)) munmap(memory, size_bytes);
}

/* ---- freeing ---- */

static void give_back(wpi_cpu_device *device, const wpi_memory_entry *entry) {
    if (entry->mapped_bytes != 0) {
        if (wpi_check_is_on()) {
            wpi_check_freed(entry);
        } else {
            unmap_pages(entry->allocation.base, entry->mapped_bytes);
        }
    }
    const bool is_mapped = entry->mapped_bytes == 0 && entry->allocation.kind == WP_MEMORY_DEVICE;
    if (!is_mapped) unreserve(&device->memory, &entry->allocation); /* else its memory is counted */
}

wp_status wpi_cpu_memory_free(wp_device *base, const wp_allocation *allocation, wp_error *err) {
    wpi_memory_entry entry;
    if (!wpi_memory_map_remove(wpi_memory_map_global(), allocation->base, &entry)) {
        return WP_FAIL(err, INVALID, "%p was freed by another thread", allocation->base);
    }
    give_back((wpi_cpu_device *)base, &entry);
    return WP_STATUS_OK;
}

void wpi_cpu_memory_info(wp_device *base, uint64_t *free_bytes, uint64_t *total_bytes) {
    wpi_cpu_memory *memory = &((wpi_cpu_device *)base)->memory;
    pthread_mutex_lock(&memory->lock);
    *free_bytes = memory->limit_bytes - memory->used_bytes;
    *total_bytes = memory->limit_bytes;
    pthread_mutex_unlock(&memory->lock);
}

void wpi_cpu_memory_free_all(wpi_cpu_device *device, bool with_variables) {
    wpi_memory_map *map = wpi_memory_map_global();
    wpi_memory_entry entry;
    const char *from = NULL;
    while (wpi_memory_map_next(map, from, &entry)) {
        from = (const char *)entry.allocation.base + 1;
        if (entry.device != &device->base) continue;
        if (entry.allocation.kind == WP_MEMORY_VARIABLE && !with_variables) continue;
        if (wpi_memory_map_remove(map, entry.allocation.base, &entry)) give_back(device, &entry);
    }
}

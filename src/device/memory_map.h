/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Every allocation of every device, ordered by address. Ranges never overlap. CUDA programs pass
 * plain pointers; the map finds the allocation that a pointer belongs to.
 *
 * Thread rule: all functions from any thread. Entries are copied in and out.
 */
#ifndef WP_DEVICE_MEMORY_MAP_H
#define WP_DEVICE_MEMORY_MAP_H

#include "warpage/device.h"

typedef struct wpi_memory_map wpi_memory_map;

typedef struct wpi_memory_entry {
    wp_allocation allocation;
    const wp_device *device;
    size_t mapped_bytes; /* private to the device: bytes from `base` that it unmaps */
    uint64_t number;     /* if kernels are checked: in order of allocation, from 1 … */
    const void *caller;  /* … and its caller, or NULL */
} wpi_memory_entry;

WP_NODISCARD wp_status wpi_memory_map_create(wpi_memory_map **out, wp_error *err);
void wpi_memory_map_destroy(wpi_memory_map *map); /* drops its entries */

/** INVALID: the range is empty or overlaps another. */
WP_NODISCARD wp_status wpi_memory_map_add(wpi_memory_map *map, const wpi_memory_entry *entry,
                                          wp_error *err);
/** Removes the entry that starts at `base`; false: none. `out` may be NULL. */
bool wpi_memory_map_remove(wpi_memory_map *map, const void *base, wpi_memory_entry *out);
/** The number of removals so far. Entries found earlier are still valid while it is unchanged. */
uint64_t wpi_memory_map_removals(const wpi_memory_map *map);
/** The number of entries of a kind. */
uint64_t wpi_memory_map_count(const wpi_memory_map *map, wp_memory_kind kind);
/** The entry that contains `address`. `out` may be NULL. */
bool wpi_memory_map_find(wpi_memory_map *map, const void *address, wpi_memory_entry *out);
/** Finds the entry of `device` (NULL: any) nearest to `address`, and the distance: 0 inside,
 * negative before its start, otherwise from its end (1: the byte after the last one).
 */
bool wpi_memory_map_nearest(wpi_memory_map *map, const void *address, const wp_device *device,
                            wpi_memory_entry *out, int64_t *distance_bytes);
/** The lowest entry whose base is at or above `from`: walk the map with `from = base + 1`. */
bool wpi_memory_map_next(wpi_memory_map *map, const void *from, wpi_memory_entry *out);

/** Addresses without memory that the user of a device has reserved: the range that `address` is in.
 */
typedef bool (*wpi_reserved_find)(const void *address, void **base, size_t *size_bytes);
/** For messages of faults. Another call replaces it. */
void wpi_memory_map_set_reserved(wpi_reserved_find find);
/** False: `address` is in none, or nothing knows of such ranges. */
bool wpi_memory_map_find_reserved(const void *address, void **base, size_t *size_bytes);

#endif

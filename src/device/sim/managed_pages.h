/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Managed memory of a simulated GPU, between the host threads that allocate it and the model that
 * migrates its pages: the ranges, for models created later, and the device's number of page frames.
 * Thread rule: the executor's thread.
 */
#ifndef WP_DEVICE_SIM_MANAGED_H
#define WP_DEVICE_SIM_MANAGED_H

#include "device/cpu/arena.h"
#include "device/sim/touched_pages.h"
#include "sim/memory/memory_system.h"
#include "sim/paging/foresight.h"
#include "sim/paging/paging.h"

typedef struct wpi_managed_range {
    uint64_t address, bytes;
    uint64_t host; /* the program's address, if different (variables.h); or 0 */
} wpi_managed_range;

/** Sizes summed over all allocations. */
typedef struct wpi_footprint_bytes {
    uint64_t bytes, most; /* now, and ever */
} wpi_footprint_bytes;

typedef struct wpi_managed {
    wpi_managed_range *ranges;
    size_t count, capacity;
    wpi_footprint_bytes asked, trees; /* as allocated; rounded up to trees (paging.round_up) */
    wpi_touch touch;
    wpi_foresight foresight;
} wpi_managed;

void wpi_managed_init(wpi_managed *managed);
void wpi_managed_deinit(wpi_managed *managed);

/** Whether the range is in the address area of managed memory. Otherwise its pages do not
 * migrate. */
bool wpi_managed_has_place(wpi_managed_range range);

/** Whether a range contains the address. */
bool wpi_managed_has(const wpi_managed *managed, uint64_t address);

/** Places the range's unused pages on the host. */
void wpi_managed_use_on_host(wpi_memory *memory, wpi_managed_range range);

/** A new model: creates paging in its memory and adds all ranges, with their pages on the host.
 * NOMEM. */
WP_NODISCARD wp_status wpi_managed_begin(wpi_managed *managed, wpi_memory *memory, wp_error *err);
WP_NODISCARD wp_status wpi_managed_add(wpi_managed *managed, wpi_memory *memory,
                                       wpi_managed_range range, wp_error *err);
/** Removes the range at `address`, if there is one. Nothing may be in flight. */
void wpi_managed_remove(wpi_managed *managed, wpi_memory *memory, uint64_t address);
void wpi_managed_remove_all(wpi_managed *managed, wpi_memory *memory); /* the same for all ranges */
/** Starts recording the pages that the host touches. */
void wpi_managed_forget_touched(const wpi_managed *managed);
/** Visits the pages touched since then, chunk by chunk. */
typedef void (*wpi_managed_visit)(void *object, uint64_t chunk, const wpi_pages *touched);
void wpi_managed_visit_touched(const wpi_managed *managed, wpi_managed_visit visit, void *object);
/** A launch begins: sets the number of page frames; `taken_bytes` of device memory are allocated
 * otherwise. INVALID: less than 2 MiB is left. */
WP_NODISCARD wp_status wpi_managed_make_room(const wpi_managed *managed, wpi_memory *memory,
                                             const wpi_profile *profile, uint64_t taken_bytes,
                                             wp_error *err);

#endif

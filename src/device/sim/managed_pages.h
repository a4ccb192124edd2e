/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Managed memory of a simulated GPU, between the host threads that allocate it and the model that
 * moves its pages: what there is, for a model that is made anew, and how many pages the device has
 * room for. Thread rule: the executor's thread.
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
    uint64_t host; /* where the program has it, if that is elsewhere (variables.h); or 0 */
} wpi_managed_range;

/** Of all allocations. */
typedef struct wpi_footprint_bytes {
    uint64_t bytes, most; /* now, and ever */
} wpi_footprint_bytes;

typedef struct wpi_managed {
    wpi_managed_range *ranges;
    size_t count, capacity;
    wpi_footprint_bytes asked, trees; /* the latter: as paging.round_up has it */
    wpi_touch touch;
    wpi_foresight foresight;
} wpi_managed;

void wpi_managed_init(wpi_managed *managed);
void wpi_managed_deinit(wpi_managed *managed);

/** Whether memory lies where managed memory of simulated GPUs does. Otherwise its pages do not
 * move. */
bool wpi_managed_has_place(wpi_managed_range range);

/** It is some range's. */
bool wpi_managed_has(const wpi_managed *managed, uint64_t address);

/** The range's pages are on the host, if nobody used them before. */
void wpi_managed_use_on_host(wpi_memory *memory, wpi_managed_range range);

/** The model is new: its memory gets paging, and all ranges, as the host used them. NOMEM. */
WP_NODISCARD wp_status wpi_managed_begin(wpi_managed *managed, wpi_memory *memory, wp_error *err);
WP_NODISCARD wp_status wpi_managed_add(wpi_managed *managed, wpi_memory *memory,
                                       wpi_managed_range range, wp_error *err);
/** Nothing is under way. Does nothing for an address that is unknown. */
void wpi_managed_remove(wpi_managed *managed, wpi_memory *memory, uint64_t address);
void wpi_managed_remove_all(wpi_managed *managed,
                            wpi_memory *memory); /* the same, of all there is */
/** What the host touches from now on is asked for later. */
void wpi_managed_forget_touched(const wpi_managed *managed);
/** … which is: chunk by chunk, where there is any. */
typedef void (*wpi_managed_visit)(void *object, uint64_t chunk, const wpi_pages *touched);
void wpi_managed_visit_touched(const wpi_managed *managed, wpi_managed_visit visit, void *object);
/** A launch begins: `taken_bytes` of device memory are allocated as such. INVALID: there is room
 * for less than 2 MiB. */
WP_NODISCARD wp_status wpi_managed_make_room(const wpi_managed *managed, wpi_memory *memory,
                                             const wpi_profile *profile, uint64_t taken_bytes,
                                             wp_error *err);

#endif

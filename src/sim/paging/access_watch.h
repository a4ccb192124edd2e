/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counts of accesses by allocation, by page, and by page and time. Its memory does not grow with
 * the run.
 *
 *     address ─► allocation (asked once for each 4 KiB, then remembered)
 *                    ├─► its counts
 *                    └─► its place, a range of pages without gaps between allocations
 *                             ├─► counts of the page       two pages become one when there are too
 *                             └─► map[time][page]          many; and so do two slices of time
 *
 * One thread.
 */
#ifndef WP_SIM_WATCH_H
#define WP_SIM_WATCH_H

#include <stdbool.h>

#include "base/fail.h"
#include "base/time.h"
#include "warpage/report.h"

typedef struct wpi_touches {
    uint64_t reads, writes; /* a warp instruction counts once for a page; atomics are writes */
    uint64_t tlb_misses;    /* of the first TLB level */
    uint64_t walks;
} wpi_touches;

#define WPI_WATCH_ALLOCATIONS 1024u
#define WPI_WATCH_PAGES 16384u
#define WPI_WATCH_SLICES 128u
#define WPI_WATCH_ROWS 128u

#define WPI_WATCH_NONE UINT32_MAX

/** An allocation, as wpi_watch_locate returns it. */
typedef struct wpi_watch_range {
    uint32_t allocation; /* its number, below WPI_WATCH_ALLOCATIONS */
    bool has_place;
    uint64_t first;       /* address of its first page */
    uint64_t place;       /* of that page; a multiple of the page size */
    uint64_t base, bytes; /* its addresses */
} wpi_watch_range;

/** The name under which variables are counted together. */
#define WPI_WATCH_VARIABLES "variables"

/** Finds the allocation of `address`; never fails. `name`: the variable or parameter through which
 *  it was accessed, or NULL. The result must hold for the 4 KiB around the address until
 *  wpi_watch_forget. A result without a place must depend on the name only. */
typedef void (*wpi_watch_locate)(void *object, uint64_t address, const char *name,
                                 wpi_watch_range *out);

typedef struct wpi_watch wpi_watch;

WP_NODISCARD wp_status wpi_watch_create(uint64_t page_bytes, wpi_watch_locate locate, void *object,
                                        wpi_watch **out, wp_error *err);
void wpi_watch_destroy(wpi_watch *watch); /* NULL allowed */

/** Adds `base_ps` to later times. */
void wpi_watch_set_base(wpi_watch *watch, wpi_time_ps base_ps);
/** Memory was freed: located allocations are looked up again. */
void wpi_watch_forget(wpi_watch *watch);

void wpi_watch_access(wpi_watch *watch, uint64_t address, const char *name, bool is_write,
                      bool is_miss, wpi_time_ps now);
void wpi_watch_walk(wpi_watch *watch, uint64_t address);
/** Counts `move` for `pages` pages of the allocation at `address`. */
void wpi_watch_move(wpi_watch *watch, uint64_t address, wp_run_move move, uint64_t pages);

/** The counts. Pages [0, page_count) have `page_bytes` each, slices [0, slice_count) `slice_ps`,
 *  rows [0, row_count) `row_bytes`. */
typedef struct wpi_watch_counts {
    const wpi_touches *allocations;        /* [WPI_WATCH_ALLOCATIONS] */
    const uint64_t (*moves)[WP_RUN_MOVES]; /* [WPI_WATCH_ALLOCATIONS] */
    const wpi_touches *pages;
    uint32_t page_count;
    uint64_t page_bytes;
    const uint32_t (*map)[WPI_WATCH_ROWS]; /* [slice][row] */
    uint32_t slice_count, row_count;
    wpi_time_ps slice_ps;
    uint64_t row_bytes;
} wpi_watch_counts;

/** Valid until the next call. */
void wpi_watch_get(wpi_watch *watch, wpi_watch_counts *out);

#endif

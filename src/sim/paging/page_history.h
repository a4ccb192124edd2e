/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Events of pages of managed memory over time: reads, writes, faults, migrations and evictions, by
 * page and by slice of time.
 *
 *     allocation ─┬─► counts of each page: exact
 *                 └─► map[slice][row]: a row has 1, 2, 4, … pages of one allocation, a slice a part
 *                     of the time; where there are too many, two become one
 *
 * An access is a warp instruction on a page: it counts once for each page, whatever the number of
 * lanes and lines. Memory: 7 MiB, and 56 bytes for a page; it does not grow with the run. One
 * thread.
 */
#ifndef WP_SIM_PAGE_HISTORY_H
#define WP_SIM_PAGE_HISTORY_H

#include <stdbool.h>

#include "base/fail.h"
#include "base/time.h"
#include "policy/pages.h"
#include "warpage/report.h"

#define WPI_HISTORY_SLICES 256u
#define WPI_HISTORY_ROWS 1024u
#define WPI_HISTORY_ALLOCATIONS 256u
#define WPI_HISTORY_LAUNCHES 1024u

/** An allocation. One that is freed and allocated again with the same address and size continues
 * here. */
typedef struct wpi_history_allocation {
    uint64_t address, bytes;
    uint64_t page_count;                    /* beyond its bytes if trees are full */
    uint64_t (*counts)[WP_RUN_PAGE_EVENTS]; /* [page_count] */
    uint32_t first_row, row_count;
} wpi_history_allocation;

typedef struct wpi_history_launch {
    char *kernel;
    wpi_time_ps start_ps, end_ps; /* 0: it has not ended */
} wpi_history_launch;

/** Callers only read it; the functions below write. */
typedef struct wpi_page_history {
    uint64_t first; /* address of managed memory */
    wpi_time_ps base_ps;
    bool is_counting;
    uint32_t *allocation_of; /* [chunk_count] */
    uint64_t chunk_count;
    wpi_history_allocation allocations[WPI_HISTORY_ALLOCATIONS];
    uint32_t allocation_count;
    uint64_t allocations_left_out; /* for which there was no room */
    wpi_history_launch launches[WPI_HISTORY_LAUNCHES];
    uint32_t launch_count;
    uint64_t launches_left_out;
    uint32_t row_bits, slice_bits; /* a row has 2^ pages, a slice 2^ ps; grow */
    uint32_t row_count, slice_count;
    uint32_t map[WPI_HISTORY_SLICES][WPI_HISTORY_ROWS][WP_RUN_PAGE_EVENTS];
} wpi_page_history;

/** Managed memory lies from `first` on, a multiple of 2 MiB. NOMEM. */
WP_NODISCARD wp_status wpi_page_history_create(uint64_t first, wpi_page_history **out,
                                               wp_error *err);
void wpi_page_history_destroy(wpi_page_history *history); /* NULL allowed */

/** An allocation, whose first `page_count` pages can have events. */
WP_NODISCARD wp_status wpi_page_history_add(wpi_page_history *history, uint64_t address,
                                            uint64_t bytes, uint64_t page_count, wp_error *err);
/** Adds `base_ps` to later times. */
void wpi_page_history_set_base(wpi_page_history *history, wpi_time_ps base_ps);
/** Whether events are counted from now on; initially they are not. */
void wpi_page_history_count(wpi_page_history *history, bool is_counting);

void wpi_page_history_note(wpi_page_history *history, uint64_t address, wp_run_page_event event,
                           wpi_time_ps now);
/** The same for pages of the chunk at `address`. */
void wpi_page_history_note_pages(wpi_page_history *history, uint64_t address,
                                 const wpi_pages *pages, wp_run_page_event event, wpi_time_ps now);

/** A counted launch starts. Returns its number, for _ended. */
uint32_t wpi_page_history_began(wpi_page_history *history, const char *kernel, wpi_time_ps now);
void wpi_page_history_ended(wpi_page_history *history, uint32_t launch, wpi_time_ps now);

#endif

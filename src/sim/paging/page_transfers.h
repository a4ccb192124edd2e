/* SPDX-License-Identifier: Apache-2.0 */
/** Transfers of pages to the device, from the plan to the arrival. */
#ifndef WP_SIM_PAGE_TRANSFERS_H
#define WP_SIM_PAGE_TRANSFERS_H

#include "sim/engine/fifo.h"
#include "sim/engine/slab.h"
#include "sim/paging/paging.h"

/** Pages of a chunk that arrive in one piece. */
typedef struct wpi_transfer {
    wpi_page_run run;
    bool is_made; /* zero-filled on the device: nothing goes over the link */
    uint32_t next;
    uint32_t request; /* of the program, that it is part of (page_advice.h); NONE */
} wpi_transfer;

typedef struct wpi_transfers {
    wpi_pool pool;
    wpi_fifo planned;                      /* those that wait for frames, and … */
    uint64_t planned_pages;                /* … their pages */
    uint64_t planned_count, arrived_count; /* transfers so far */
    wpi_time_ps last_arrival;              /* of those in flight */
} wpi_transfers;

void wpi_transfers_init(wpi_transfers *transfers);
void wpi_transfers_deinit(wpi_transfers *transfers); /* `{0}` is fine */

/** A transfer waits for frames. */
static inline bool wpi_transfers_are_waiting(const wpi_transfers *transfers) {
    return !wpi_fifo_is_empty(&transfers->planned);
}

/** The pages of transfers that wait for frames. */
static inline uint64_t wpi_transfers_waiting_pages(const wpi_transfers *transfers) {
    return transfers->planned_pages;
}

/** Transfers planned, and arrived, since the start; they arrive in order.
 */
static inline uint64_t wpi_transfers_planned(const wpi_transfers *transfers) {
    return transfers->planned_count;
}
static inline uint64_t wpi_transfers_arrived(const wpi_transfers *transfers) {
    return transfers->arrived_count;
}

/** Plans transfers of the pages; each ends after a page of `faulting`. `request`: or NONE. */
void wpi_transfers_plan(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages,
                        const wpi_pages *faulting, uint32_t request);
/** Starts transfers that wait, in order, while there are frames for them. */
void wpi_transfers_pump(wpi_paging *paging, wpi_time_ps now);

#endif

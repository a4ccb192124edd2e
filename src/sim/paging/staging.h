/* SPDX-License-Identifier: Apache-2.0 */
/** Victims that are chosen when pages are requested (paging.stage_victims), before there are
 * transfers for their frames. */
#ifndef WP_SIM_STAGING_H
#define WP_SIM_STAGING_H

#include "sim/engine/fifo.h"
#include "sim/engine/slab.h"
#include "sim/paging/paging.h"

typedef struct wpi_staging {
    wpi_pool pool;
    wpi_fifo runs; /* queued for the link */
    uint64_t page_count;
    uint32_t leaving_pages; /* of the run on the link */
} wpi_staging;

void wpi_staging_init(wpi_staging *staging);
void wpi_staging_deinit(wpi_staging *staging); /* `{0}` is fine */

static inline bool wpi_staging_is_empty(const wpi_staging *staging) {
    return staging->page_count == 0;
}

/** Chooses victims for the transfers that wait, and evicts them one after the other. */
void wpi_staging_pump(wpi_paging *paging, wpi_time_ps now);
/** These pages stay: they are used, or leave in another way. */
void wpi_staging_keep(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages);

#endif

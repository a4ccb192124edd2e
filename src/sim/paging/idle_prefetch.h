/* SPDX-License-Identifier: Apache-2.0 */
/** Prefetches while nothing is copied to the device. */
#ifndef WP_SIM_IDLE_PREFETCH_H
#define WP_SIM_IDLE_PREFETCH_H

#include "sim/paging/paging.h"

typedef struct wpi_idle_prefetch {
    uint64_t position; /* the prefetcher's note */
    bool was_touched;  /* a page was, since the prefetcher was last asked */
} wpi_idle_prefetch;

static inline void wpi_idle_prefetch_touch(wpi_idle_prefetch *idle) {
    idle->was_touched = true;
}
/** A prefetcher that knows the future looks again from the time `position` on. */
static inline void wpi_idle_prefetch_go_back(wpi_idle_prefetch *idle, uint64_t position) {
    if (position < idle->position) idle->position = position;
}

/** If nothing is copied to the device, asks the prefetcher for pages to fetch meanwhile. */
void wpi_idle_prefetch_ask(wpi_paging *paging, wpi_time_ps now);

#endif

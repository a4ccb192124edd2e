/* SPDX-License-Identifier: Apache-2.0 */
/** Pages that leave the device, for any reason: shoot-down, write-back, release of frames. */
#ifndef WP_SIM_PAGE_DEPARTURES_H
#define WP_SIM_PAGE_DEPARTURES_H

#include "sim/paging/paging.h"

typedef struct wpi_departures {
    wp_time_ps last; /* arrival of the last one on the link */
} wpi_departures;

/** The time until which pages are on the link to the host. */
static inline wp_time_ps wpi_departures_until(const wpi_departures *departures) {
    return departures->last;
}

/** Copies pages over the link. Returns when they have arrived; `*begun`: when they set off. */
wp_time_ps wpi_page_copy(wpi_paging *paging, uint64_t pages, wpi_direction direction,
                         wp_time_ps now, wp_time_ps *begun);
/** Starts the departure of pages that are no longer resident; their frames become free. `copied` of
 * them go over the link. Returns when the last one is on the host. */
wp_time_ps wpi_departures_start(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages,
                                const wpi_pages *copied, wp_time_ps now);

#endif

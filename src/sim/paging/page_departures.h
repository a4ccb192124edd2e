/* SPDX-License-Identifier: Apache-2.0 */
/** Pages that leave the device, for any reason: shoot-down, write-back, release of frames. */
#ifndef WP_SIM_PAGE_DEPARTURES_H
#define WP_SIM_PAGE_DEPARTURES_H

#include "sim/paging/paging.h"

typedef struct wpi_departures {
    wpi_time_ps last; /* arrival of the last one on the link */
} wpi_departures;

/** The time until which pages are on the link to the host. */
static inline wpi_time_ps wpi_departures_until(const wpi_departures *departures) {
    return departures->last;
}

/** Copies pages over the link. Returns when they have arrived; `*begun`: when they set off. */
wpi_time_ps wpi_page_copy(wpi_paging *paging, uint64_t pages, wpi_direction direction,
                          wpi_time_ps now, wpi_time_ps *begun);
/** Starts the departure of pages that are no longer resident; their frames become free. `copied` of
 * them go over the link. Returns when the last one is on the host. */
wpi_time_ps wpi_departures_start(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages,
                                 const wpi_pages *copied, wpi_time_ps now);

#endif

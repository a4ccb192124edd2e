/* SPDX-License-Identifier: Apache-2.0 */
/** The future, for policies that know it from an earlier run (foresight.h). */
#ifndef WP_SIM_LOOK_AHEAD_H
#define WP_SIM_LOOK_AHEAD_H

#include "sim/paging/paging.h"

typedef struct wpi_look_ahead {
    wpi_foresight *foresight; /* NULL: uses are neither recorded nor known */
    bool is_due;              /* an event asks the prefetcher */
} wpi_look_ahead;

/** NULL: it is not known. */
const wpi_future *wpi_look_ahead_future(const wpi_look_ahead *ahead);
/** Pages are evicted: the prefetcher considers them again. */
void wpi_look_ahead_left(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages);
/** Makes room for prefetched pages, by evicting pages that are used after them. False: there is no
 * room yet. */
bool wpi_look_ahead_make_room(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages,
                              wpi_time_ps now);

#endif

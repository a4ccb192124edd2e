/* SPDX-License-Identifier: Apache-2.0 */
/** When no page is in flight: wpi_paging_is_quiet (paging.h). */
#ifndef WP_SIM_PAGE_QUIET_H
#define WP_SIM_PAGE_QUIET_H

#include "sim/paging/paging.h"

typedef struct wpi_page_quiet {
    wpi_event_fn quiet; /* to be called when nothing is in flight; NULL: not asked for */
    void *object;
    bool is_due; /* an event checks whether it is so */
} wpi_page_quiet;

/** Something has arrived: if that was the last, `quiet` is called, from an event. */
void wpi_page_quiet_check(wpi_paging *paging, wpi_time_ps now);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Requests of the program for pages (cudaMemPrefetchAsync) that are in progress. */
#ifndef WP_SIM_PAGE_ADVICE_H
#define WP_SIM_PAGE_ADVICE_H

#include "sim/engine/slab.h"
#include "sim/paging/paging.h"

typedef struct wpi_page_request {
    wpi_event_fn done;
    void *object;
    uint32_t left; /* transfers; and one until all are planned */
} wpi_page_request;

typedef struct wpi_page_requests {
    wpi_pool pool;
} wpi_page_requests;

void wpi_page_requests_deinit(wpi_page_requests *requests); /* `{0}` is fine */

/** A transfer is part of the request … */
void wpi_page_requests_add_part(wpi_page_requests *requests, uint32_t request);
/** … and has arrived. The last part ends the request. */
void wpi_page_requests_end_part(wpi_page_requests *requests, uint32_t request, wpi_time_ps now);

#endif

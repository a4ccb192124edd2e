/* SPDX-License-Identifier: Apache-2.0 */
/** Which pages are fetched: those that faulted, and those that the prefetcher adds. */
#ifndef WP_SIM_PAGE_FETCH_H
#define WP_SIM_PAGE_FETCH_H

#include "sim/paging/paging.h"

/** Fetches the pages of the chunk that faulted, and what the prefetcher adds. Returns those that
 * faulted and were still missing. */
wpi_pages wpi_page_fetch_faulting(wpi_paging *paging, wpi_chunk_number chunk,
                                  const wpi_pages *faulting, wpi_time_ps now);
/** Those of a prefetcher's pages that exist, are missing, do not thrash and are not kept on the
 * host. */
wpi_pages wpi_page_fetch_allowed(const wpi_paging *paging, wpi_chunk_number chunk,
                                 const wpi_pages *pages);
/** Fetches pages, of which `faulting` have faulted and the others are prefetched. */
void wpi_page_fetch_start(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages,
                          const wpi_pages *faulting, wpi_time_ps now);

#endif

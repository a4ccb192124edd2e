/* SPDX-License-Identifier: Apache-2.0 */
/* Pages leave the device: TLBs drop them at once, those of which the host has no copy are
 * transferred, and frames are free when a transfer arrives (paging.free_at_start: when it starts).
 */
#include "sim/paging/page_departures.h"

#include "sim/paging/paging_parts.h"

wpi_time_ps wpi_page_copy(wpi_paging *paging, uint64_t pages, wpi_direction direction,
                          wpi_time_ps now, wpi_time_ps *begun) {
    const uint64_t bytes = pages * WPI_PAGE_BYTES;
    wpi_page_events_add(&paging->events,
                        direction == WPI_DIRECTION_TO_DEVICE ? WPI_PAGE_LINK_TO_DEVICE
                                                             : WPI_PAGE_LINK_TO_HOST,
                        wpi_link_transfer_ps(paging->profile, bytes));
    return wpi_link_copy(paging->link, bytes, direction, now, begun);
}

static void written_back(void *object, uint64_t frames, wpi_time_ps now) {
    wpi_paging *p = object;
    wpi_residency_release(&p->residency, frames);
    wpi_transfers_pump(p, now);
}

static wpi_time_ps write_back(wpi_paging *p, uint32_t pages, wpi_time_ps now) {
    wpi_time_ps begun = 0;
    const wpi_time_ps done = wpi_page_copy(p, pages, WPI_DIRECTION_TO_HOST, now, &begun);
    if (done > p->departures.last) p->departures.last = done;
    const wpi_time_ps free = p->profile->paging.frees_at_start ? begun : done;
    if (free > now)
        wpi_engine_at(p->engine, free, written_back, p, pages);
    else
        wpi_residency_release(&p->residency, pages);
    return done;
}

wpi_time_ps wpi_departures_start(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages,
                                 const wpi_pages *copied, wpi_time_ps now) {
    wpi_time_ps done = now;
    wpi_staging_keep(paging, chunk, pages);
    wpi_tlb_copies_drop(paging, chunk, pages);
    wpi_residency_release(&paging->residency, wpi_pages_count(pages) - wpi_pages_count(copied));
    for (uint32_t first = wpi_pages_next(copied, 0); first < WPI_CHUNK_PAGES;) {
        const uint32_t outer = wpi_pages_run_end(copied, first);
        done = write_back(paging, outer - first, now);
        first = wpi_pages_next(copied, outer);
    }
    return done;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A host thread touches a page that is on the device. As in the driver, the prefetcher works in
 * this direction too, and the thread waits for the page and for those that are prefetched with
 * it. */
#include "sim/paging/paging_parts.h"

/* The page that faulted, and those that the prefetcher adds. */
static wpi_pages choose(wpi_paging *p, wpi_page_number page, const wpi_pages *idle) {
    const wpi_chunk *chunk = wpi_residency_chunk_of(&p->residency, page);
    const wpi_pages thrashing = wpi_thrashing_pages(&p->thrashing, wpi_page_chunk(page));
    wpi_pages exist = {{0}}, more = {{0}};
    wpi_pages_add_range(&exist, 0, chunk->page_count);
    wpi_prefetch_question question = {.here = wpi_pages_without(&exist, &chunk->resident),
                                      .page_count = chunk->page_count,
                                      .tree_pages = chunk->tree_pages,
                                      .threshold_percent = p->profile->paging.threshold_percent,
                                      .random = &p->random};
    wpi_pages_add(&question.faulting, wpi_page_index(page));
    ((const wpi_prefetch_ops *)p->profile->paging.prefetch->ops)->choose(&question, &more);
    more = wpi_pages_without(&more, &thrashing);
    more = wpi_pages_without(&more, &chunk->prefers_device);
    wpi_pages_add(&more, wpi_page_index(page));
    return wpi_pages_and(&more, idle);
}

bool wpi_paging_host_fault(wpi_paging *paging, uint64_t address, wpi_pages *touched,
                           wpi_time_ps now, wpi_time_ps *done) {
    const wpi_chunk_number number = wpi_chunk_at(paging->residency.first, address);
    wpi_chunk *chunk = wpi_residency_chunk_at(&paging->residency, number);
    wpi_residency_set_touched(chunk, touched);
    const wpi_pages twice = wpi_residency_on_host_too(chunk);
    const wpi_pages all_idle = wpi_residency_idle(chunk);
    const wpi_pages idle = wpi_pages_without(&all_idle, &twice);
    const wpi_pages wanted = wpi_pages_and(touched, &idle);
    const uint32_t index = wpi_pages_next(&wanted, 0);
    if (index == WPI_CHUNK_PAGES) return false;
    const wpi_page_number page = wpi_page_in(number, index);
    const wpi_thrash_hint hint = wpi_thrashing_ask(paging, page, WPI_PROCESSOR_HOST, now);
    *done = hint.until;
    if (hint.answer == WPI_THRASH_THROTTLE) return true;
    const wpi_pages pages = choose(paging, page, &idle);
    wpi_residency_leave(&paging->residency, chunk, &pages);
    wpi_page_events_add(&paging->events, WPI_PAGE_HOST_FAULT, 1);
    wpi_page_events_report(&paging->events, WPI_PAGE_HOST_FETCHED, number, &pages, now);
    *touched = wpi_pages_without(touched, &pages);
    *done = wpi_departures_start(paging, number, &pages, &pages,
                                 now + paging->profile->paging.host_latency_ps);
    wpi_thrashing_moved(paging, number, &pages, WPI_PROCESSOR_HOST, now);
    return true;
}

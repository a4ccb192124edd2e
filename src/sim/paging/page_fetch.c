/* SPDX-License-Identifier: Apache-2.0 */
/* Far faults of one chunk become transfers: the policy against thrashing may refuse some of the
 * pages, and the prefetcher adds others.
 *
 *     faulting ─► missing ─► not thrashing ─► with the prefetcher's ─► not kept on the host ─► plan
 */
#include "sim/paging/page_fetch.h"

#include "sim/paging/paging_parts.h"

wpi_pages wpi_page_fetch_allowed(const wpi_paging *paging, wpi_chunk_number number,
                                 const wpi_pages *pages) {
    const wpi_chunk *chunk = wpi_residency_chunk_at(&paging->residency, number);
    const wpi_pages missing = wpi_prefetch_missing(chunk);
    const wpi_pages thrashing = wpi_thrashing_pages(&paging->thrashing, number);
    const wpi_pages allowed = wpi_pages_without(&missing, &thrashing);
    return wpi_pages_and(pages, &allowed);
}

/* If no page of the chunk was ever used: the pages whose preferred location is the device. */
static wpi_pages wanted_first(const wpi_chunk *chunk) {
    const bool is_untouched = wpi_pages_count(&chunk->untouched) == chunk->page_count;
    return is_untouched ? chunk->prefers_device : (wpi_pages){{0}};
}

static wpi_pages with_prefetched(wpi_paging *p, wpi_chunk_number number, const wpi_pages *faulting,
                                 const wpi_pages *here) {
    const wpi_chunk *chunk = wpi_residency_chunk_at(&p->residency, number);
    const wpi_policy *full = p->profile->paging.prefetch_full;
    const wpi_policy *policy = wpi_evictions_is_oversubscribed(&p->evictions) && full != NULL
                                   ? full
                                   : p->profile->paging.prefetch;
    const wpi_prefetch_question question = {.faulting = *faulting,
                                            .here = *here,
                                            .first = wanted_first(chunk),
                                            .page_count = chunk->page_count,
                                            .tree_pages = chunk->tree_pages,
                                            .threshold_percent =
                                                p->profile->paging.threshold_percent,
                                            .random = &p->random,
                                            .chunk = number.v,
                                            .frames = p->residency.frames,
                                            .future = wpi_look_ahead_future(&p->ahead)};
    wpi_pages more = {{0}};
    ((const wpi_prefetch_ops *)policy->ops)->choose(&question, &more);
    more = wpi_page_fetch_allowed(p, number, &more);
    return wpi_pages_or(&more, faulting);
}

void wpi_page_fetch_start(wpi_paging *paging, wpi_chunk_number number, const wpi_pages *pages,
                          const wpi_pages *faulting, wpi_time_ps now) {
    wpi_chunk *chunk = wpi_residency_chunk_at(&paging->residency, number);
    const wpi_pages moved = wpi_pages_without(pages, &chunk->untouched); /* made: zero-filled */
    const wpi_pages more = wpi_pages_without(pages, faulting);
    const uint32_t more_count = wpi_pages_count(&more);
    wpi_page_events_add(&paging->events, WPI_PAGE_PREFETCHED, more_count);
    wpi_page_events_add(&paging->events, WPI_PAGE_DEMANDED, wpi_pages_count(pages) - more_count);
    wpi_residency_set_unused(chunk, &more);
    const wpi_pages waited = wpi_pages_and(faulting, wpi_gmmu_waited(&paging->gmmu, number));
    wpi_transfers_plan(paging, number, pages, &waited, WPI_PAGING_NONE);
    if (!wpi_pages_is_empty(&moved))
        wpi_thrashing_moved(paging, number, &moved, WPI_PROCESSOR_DEVICE, now);
    wpi_transfers_pump(paging, now);
}

wpi_pages wpi_page_fetch_faulting(wpi_paging *paging, wpi_chunk_number number,
                                  const wpi_pages *faulting, wpi_time_ps now) {
    const wpi_chunk *chunk = wpi_residency_chunk_at(&paging->residency, number);
    const wpi_pages here = wpi_residency_here(chunk);
    const wpi_pages wanted = wpi_pages_without(faulting, &here); /* some may have arrived */
    const wpi_pages still = wpi_thrashing_let(paging, number, &wanted, now);
    if (wpi_pages_count(&still) == 0) return still;
    /* Other services note each fault when it is raised. */
    if (paging->service->is_replaying)
        wpi_page_events_note(&paging->events, WPI_PAGE_FAR_FAULT, number, &still, now);
    wpi_pages pages = with_prefetched(paging, number, &still, &here);
    pages = wpi_pages_without(&pages, &chunk->stays_on_host);
    wpi_page_fetch_start(paging, number, &pages, &still, now);
    return still;
}

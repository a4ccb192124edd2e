/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers to the device. Pages are cut into transfers after each page that faulted, so that it
 * arrives before pages that were prefetched with it, and where a page is missing. Transfers start
 * in order, when there are frames.
 *
 *     plan ─► planned ── frames? ─► start ─► coming ── event ─► arrived ─► waiters walk again
 *                          └ no: evict, and wait for write-backs (pump)
 */
#include "sim/paging/page_transfers.h"

#include "sim/paging/paging_parts.h"

#define NONE WPI_PAGING_NONE

void wpi_transfers_init(wpi_transfers *transfers) {
    *transfers = (wpi_transfers){.planned = WPI_FIFO_EMPTY};
}

void wpi_transfers_deinit(wpi_transfers *transfers) {
    wpi_pool_deinit(&transfers->pool);
}

static wpi_transfer *transfer_at(const wpi_transfers *t, uint32_t number) {
    return &((wpi_transfer *)t->pool.items)[number];
}

static wpi_fifo_links links_of(const wpi_transfers *t) {
    return WPI_FIFO_LINKS(t->pool.items, wpi_transfer, next);
}

/* ---- arrival --------------------------------------------------------------------------------- */

/* The event's token has the number of the transfer and of the chunk. When the event is announced,
 * prefetches their data into the host's caches. */
static void expect_arrival(void *object, uint64_t token, bool is_near) {
    const wpi_paging *p = object;
    const wpi_transfer *t = transfer_at(&p->transfers, (uint32_t)token);
    const wpi_chunk_number number = {(uint32_t)(token >> 32)};
    if (is_near) {
        wpi_gmmu_expect_arrival(&p->gmmu, t->run);
        return;
    }
    const wpi_chunk *chunk = wpi_residency_chunk_at(&p->residency, number);
    __builtin_prefetch(t);
    __builtin_prefetch(wpi_gmmu_waited(&p->gmmu, number));
    __builtin_prefetch(&chunk->resident);
    __builtin_prefetch(&chunk->coming);
}

static void arrived(void *object, uint64_t token, wpi_time_ps now) {
    wpi_paging *p = object;
    const uint32_t number = (uint32_t)token;
    const wpi_transfer t = *transfer_at(&p->transfers, number);
    wpi_pool_give(&p->transfers.pool, number);
    wpi_gmmu_expect_release(&p->gmmu, t.run);
    const wpi_pages pages = wpi_run_pages(t.run);
    wpi_chunk *chunk = wpi_residency_chunk_at(&p->residency, t.run.chunk);
    const uint32_t thrashed = wpi_residency_arrive(&p->residency, chunk, &pages);
    wpi_page_events_count(&p->events, WPI_PAGE_THRASHED, t.run.chunk, thrashed);
    wpi_page_events_add(&p->events, WPI_PAGE_BLOCK_FETCHED,
                        wpi_residency_count_new_blocks(chunk, &pages));
    if (t.is_made)
        wpi_residency_make(chunk, &pages);
    else
        wpi_page_events_note(&p->events, WPI_PAGE_FETCHED, t.run.chunk, &pages, now);
    p->transfers.arrived_count++;
    wpi_gmmu_arrived(p, t.run, now);
    if (t.request != NONE) wpi_page_requests_end_part(&p->requests, t.request, now);
    if (p->service->arrived != NULL) p->service->arrived(p, now);
    wpi_transfers_pump(p, now);
    wpi_idle_prefetch_ask(p, now);
    wpi_page_quiet_check(p, now);
}

/* ---- start ----------------------------------------------------------------------------------- */

/* When pages are zero-filled, at the bandwidth of memory. A replay waits for a number of transfers,
 * so they end in the order in which they started. */
static wpi_time_ps made_at(const wpi_paging *p, uint64_t bytes, wpi_time_ps now) {
    const double seconds = (double)bytes / (double)p->profile->dram.bytes_per_s;
    const wpi_time_ps done =
        now + p->profile->dram.latency_ps + (wpi_time_ps)(seconds * (double)WP_PS_PER_S);
    const wpi_time_ps last = p->transfers.last_arrival;
    return p->service->is_replaying && done < last ? last : done;
}

static void start(wpi_paging *p, uint32_t number, wpi_time_ps now) {
    const wpi_transfer *t = transfer_at(&p->transfers, number);
    const wpi_pages pages = wpi_run_pages(t->run);
    const uint32_t count = wpi_run_page_count(t->run);
    wpi_time_ps begun = 0;
    wpi_residency_fetch(&p->residency, wpi_residency_chunk_at(&p->residency, t->run.chunk), &pages);
    const wpi_time_ps done = t->is_made
                                 ? made_at(p, (uint64_t)count * WPI_PAGE_BYTES, now)
                                 : wpi_page_copy(p, count, WPI_DIRECTION_TO_DEVICE, now, &begun);
    if (done > p->transfers.last_arrival) p->transfers.last_arrival = done;
    wpi_engine_at_announced(p->engine, done, arrived, expect_arrival, p,
                            (uint64_t)t->run.chunk.v << 32 | number);
}

/* The transfer has frames. */
static bool has_room(wpi_paging *p, const wpi_transfer *transfer, wpi_time_ps now) {
    const uint32_t pages = wpi_run_page_count(transfer->run);
    if (p->profile->paging.stages_victims) return wpi_residency_free(&p->residency) >= pages;
    return wpi_evictions_make_room(p, pages, NULL, NULL, now);
}

void wpi_transfers_pump(wpi_paging *paging, wpi_time_ps now) {
    wpi_transfers *all = &paging->transfers;
    const bool is_staging = paging->profile->paging.stages_victims;
    if (is_staging) wpi_staging_pump(paging, now);
    while (!wpi_fifo_is_empty(&all->planned)) {
        const uint32_t number = all->planned.first;
        const wpi_transfer *t = transfer_at(all, number);
        if (!has_room(paging, t, now)) return;
        (void)wpi_fifo_take_first(&all->planned, links_of(all));
        all->planned_pages -= wpi_run_page_count(t->run);
        start(paging, number, now);
    }
    if (!is_staging) wpi_evictions_keep_free(paging, now);
}

/* ---- plan ------------------------------------------------------------------------------------ */

static void plan(wpi_transfers *all, const wpi_transfer *transfer) {
    const uint32_t number = wpi_pool_take(&all->pool, sizeof(wpi_transfer));
    *transfer_at(all, number) = *transfer;
    all->planned_count++;
    all->planned_pages += wpi_run_page_count(transfer->run);
    wpi_fifo_append(&all->planned, links_of(all), number);
}

static uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* A transfer ends after each page that faulted (with orders: after its block), where waiters
 * continue with the page, and between zero-filled pages and others. */
static uint32_t piece_end(const wpi_paging *p, const wpi_pages *pages, const wpi_pages *made,
                          const wpi_pages *faulting, uint32_t first) {
    const uint32_t run = wpi_pages_run_end(pages, first);
    const uint32_t change =
        wpi_pages_has(made, first) ? wpi_pages_run_end(made, first) : wpi_pages_next(made, first);
    const uint32_t outer = smaller(run, change);
    if (p->service->is_replaying) return outer;
    const uint32_t fault = wpi_pages_next(faulting, first);
    if (fault >= outer) return outer;
    const wpi_migrate_ops *ops = p->profile->paging.migrate->ops;
    const uint32_t block_end = (fault / WPI_BLOCK_PAGES + 1) * WPI_BLOCK_PAGES;
    return ops->orders ? smaller(block_end, outer) : fault + 1;
}

void wpi_transfers_plan(wpi_paging *paging, wpi_chunk_number number, const wpi_pages *pages,
                        const wpi_pages *faulting, uint32_t request) {
    wpi_chunk *chunk = wpi_residency_chunk_at(&paging->residency, number);
    const wpi_pages made = wpi_pages_and(pages, &chunk->untouched);
    wpi_residency_plan(&paging->residency, chunk, pages);
    const uint32_t made_count = wpi_pages_count(&made);
    const uint32_t fetched_count = wpi_pages_count(pages) - made_count;
    wpi_page_events_count(&paging->events, WPI_PAGE_MADE, number, made_count);
    wpi_page_events_count(&paging->events, WPI_PAGE_FETCHED, number, fetched_count);
    for (uint32_t first = wpi_pages_next(pages, 0); first < WPI_CHUNK_PAGES;) {
        const uint32_t outer = piece_end(paging, pages, &made, faulting, first);
        plan(&paging->transfers, &(wpi_transfer){.run = wpi_run_of(number, first, outer),
                                                 .is_made = wpi_pages_has(&made, first),
                                                 .next = NONE,
                                                 .request = request});
        if (request != NONE) wpi_page_requests_add_part(&paging->requests, request);
        first = wpi_pages_next(pages, outer);
    }
    if (paging->profile->paging.stages_victims &&
        paging->transfers.planned_pages > wpi_residency_free(&paging->residency))
        wpi_evictions_set_oversubscribed(&paging->evictions, true);
}

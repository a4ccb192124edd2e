/* SPDX-License-Identifier: Apache-2.0 */
/* A program's requests and hints for managed memory: prefetches (cudaMemPrefetchAsync) and advice
 * (cudaMemAdvise). */
#include "sim/paging/page_advice.h"

#include "sim/paging/paging_parts.h"

#define NONE WPI_PAGING_NONE

/* Calls `visit` with the range's pages of each chunk that there is. */
typedef void (*chunk_visit)(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages,
                            void *object);

static void visit_chunks(wpi_paging *p, wpi_paging_range range, chunk_visit visit, void *object) {
    const wpi_residency *r = &p->residency;
    const uint64_t before = range.address > r->first ? range.address - r->first : 0;
    for (uint64_t i = before / WPI_CHUNK_BYTES; i < r->chunk_count; i++) {
        const wpi_chunk_number number = {(uint32_t)i};
        const uint64_t at = wpi_chunk_address(r->first, number);
        const uint64_t end = at + (uint64_t)r->chunks[i].page_count * WPI_PAGE_BYTES;
        if (at > range.address && at - range.address >= range.bytes) return;
        if (end == at || end <= range.address || range.bytes == 0) continue;
        const uint64_t last =
            range.bytes - 1 < end - 1 - range.address ? range.address + range.bytes - 1 : end - 1;
        wpi_pages pages = {{0}};
        wpi_pages_add_range(&pages, range.address > at ? wpi_page_of(range.address) : 0,
                            wpi_page_of(last) + 1);
        visit(p, number, &pages, object);
    }
}

/* ---- prefetches ------------------------------------------------------------------------------ */

void wpi_page_requests_deinit(wpi_page_requests *requests) {
    wpi_pool_deinit(&requests->pool);
}

static wpi_page_request *request_at(const wpi_page_requests *requests, uint32_t number) {
    return &((wpi_page_request *)requests->pool.items)[number];
}

void wpi_page_requests_add_part(wpi_page_requests *requests, uint32_t request) {
    request_at(requests, request)->left++;
}

void wpi_page_requests_end_part(wpi_page_requests *requests, uint32_t request, wpi_time_ps now) {
    if (--request_at(requests, request)->left != 0) return;
    const wpi_page_request ended = *request_at(requests, request);
    wpi_pool_give(&requests->pool, request);
    ended.done(ended.object, 0, now);
}

static void part_ended(void *object, uint64_t request, wpi_time_ps now) {
    wpi_page_requests_end_part(object, (uint32_t)request, now);
}

static void bring(wpi_paging *p, wpi_chunk_number number, const wpi_pages *pages, void *object) {
    const wpi_chunk *chunk = wpi_residency_chunk_at(&p->residency, number);
    const wpi_pages none = {{0}};
    const wpi_pages here = wpi_residency_here(chunk);
    const wpi_pages wanted = wpi_pages_without(pages, &here);
    wpi_page_events_add(&p->events, WPI_PAGE_REQUESTED, wpi_pages_count(&wanted));
    wpi_transfers_plan(p, number, &wanted, &none, *(const uint32_t *)object);
}

/* State of a prefetch to the host. */
typedef struct sending {
    wpi_time_ps now, done;
} sending;

static void send_back(wpi_paging *p, wpi_chunk_number number, const wpi_pages *pages,
                      void *object) {
    sending *s = object;
    wpi_chunk *chunk = wpi_residency_chunk_at(&p->residency, number);
    wpi_residency_set_touched(chunk, pages);
    const wpi_pages idle = wpi_residency_idle(chunk), leaving = wpi_pages_and(pages, &idle);
    const wpi_pages twice = wpi_residency_on_host_too(chunk);
    const wpi_pages copied = wpi_pages_without(&leaving, &twice);
    if (wpi_pages_is_empty(&leaving)) return;
    wpi_residency_leave(&p->residency, chunk, &leaving);
    const wpi_time_ps done = wpi_departures_start(p, number, &leaving, &copied, s->now);
    if (done > s->done) s->done = done;
    wpi_page_events_report(&p->events, WPI_PAGE_SENT_BACK, number, &leaving, s->now);
}

void wpi_paging_prefetch(wpi_paging *paging, wpi_paging_range range, bool to_device,
                         wpi_time_ps now, wpi_event_fn done, void *object) {
    uint32_t request = wpi_pool_take(&paging->requests.pool, sizeof(wpi_page_request));
    *request_at(&paging->requests, request) = (wpi_page_request){done, object, 1};
    sending s = {now, now};
    if (to_device)
        visit_chunks(paging, range, bring, &request);
    else
        visit_chunks(paging, range, send_back, &s);
    wpi_engine_at(paging->engine, s.done, part_ended, &paging->requests, request);
    wpi_transfers_pump(paging, now);
}

/* ---- advice ---------------------------------------------------------------------------------- */

static wpi_pages changed(const wpi_pages *set, const wpi_pages *pages, bool is_in) {
    return is_in ? wpi_pages_or(set, pages) : wpi_pages_without(set, pages);
}

static void advise(wpi_paging *p, wpi_chunk_number number, const wpi_pages *pages, void *object) {
    const wpi_paging_advice *advice = object;
    wpi_chunk *chunk = wpi_residency_chunk_at(&p->residency, number);
    chunk->read_mostly = changed(&chunk->read_mostly, pages, advice->is_read_mostly);
    chunk->stays_on_host = changed(&chunk->stays_on_host, pages, advice->stays_on_host);
    chunk->prefers_device = changed(&chunk->prefers_device, pages, advice->prefers_device);
    /* A preferred location overrides what the thrashing policy has recorded. */
    if (advice->prefers_device) wpi_thrashing_reset(&p->thrashing, number, pages);
}

void wpi_paging_advise(wpi_paging *paging, wpi_paging_range range, wpi_paging_advice advice) {
    visit_chunks(paging, range, advise, &advice);
}

static void use_on_host(wpi_paging *p, wpi_chunk_number number, const wpi_pages *pages,
                        void *object) {
    wpi_chunk *chunk = wpi_residency_chunk_at(&p->residency, number);
    (void)object;
    wpi_residency_set_touched(chunk, pages);
}

void wpi_paging_use_on_host(wpi_paging *paging, wpi_paging_range range) {
    visit_chunks(paging, range, use_on_host, NULL);
}

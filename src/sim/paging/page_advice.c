/* SPDX-License-Identifier: Apache-2.0 */
/* What a program says of its managed memory: where it wants pages (cudaMemPrefetchAsync), and how
 * it will use them (cudaMemAdvise). */
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

static wpi_page_request *request_at(const wpi_paging *p, uint32_t number) {
    return &((wpi_page_request *)p->requests.items)[number];
}

void wpi_request_part_ended(wpi_paging *paging, uint32_t request, wp_time_ps now) {
    if (--request_at(paging, request)->left != 0) return;
    const wpi_page_request ended = *request_at(paging, request);
    wpi_pool_give(&paging->requests, request);
    ended.done(ended.object, 0, now);
}

static void part_ended(void *object, uint64_t request, wp_time_ps now) {
    wpi_request_part_ended(object, (uint32_t)request, now);
}

static void bring(wpi_paging *p, wpi_chunk_number number, const wpi_pages *pages, void *object) {
    const wpi_chunk *chunk = wpi_residency_chunk_at(&p->residency, number);
    const wpi_pages none = {{0}};
    wpi_pages here = wpi_pages_or(&chunk->resident, &chunk->coming);
    here = wpi_pages_or(&here, &chunk->planned);
    const wpi_pages wanted = wpi_pages_without(pages, &here);
    wpi_page_events_add(&p->events, WPI_PAGE_REQUESTED, wpi_pages_count(&wanted));
    wpi_migrate_plan(p, number, &wanted, &none, *(const uint32_t *)object);
}

/* What a request to the host has to know. */
typedef struct sending {
    wp_time_ps now, done;
} sending;

static void send_back(wpi_paging *p, wpi_chunk_number number, const wpi_pages *pages,
                      void *object) {
    sending *s = object;
    wpi_chunk *chunk = wpi_residency_chunk_at(&p->residency, number);
    chunk->untouched = wpi_pages_without(&chunk->untouched, pages);
    const wpi_pages idle = wpi_idle_pages(chunk), leaving = wpi_pages_and(pages, &idle);
    const wpi_pages twice = wpi_pages_without(&chunk->read_mostly, &chunk->dirty);
    const wpi_pages copied = wpi_pages_without(&leaving, &twice);
    if (wpi_pages_is_empty(&leaving)) return;
    wpi_residency_leave(&p->residency, chunk, &leaving);
    const wp_time_ps done = wpi_migrate_out(p, number, &leaving, &copied, s->now);
    if (done > s->done) s->done = done;
    wpi_page_events_report(&p->events, WPI_PAGE_SENT_BACK, number, &leaving, s->now);
}

void wpi_paging_prefetch(wpi_paging *paging, wpi_paging_range range, bool to_device, wp_time_ps now,
                         wpi_event_fn done, void *object) {
    uint32_t request = wpi_pool_take(&paging->requests, sizeof(wpi_page_request));
    *request_at(paging, request) = (wpi_page_request){done, object, 1};
    sending s = {now, now};
    if (to_device)
        visit_chunks(paging, range, bring, &request);
    else
        visit_chunks(paging, range, send_back, &s);
    wpi_engine_at(paging->engine, s.done, part_ended, paging, request);
    wpi_migration_pump(paging, now);
}

/* ---- advice ---------------------------------------------------------------------------------- */

static wpi_pages changed(const wpi_pages *set, const wpi_pages *pages, bool is_in) {
    return is_in ? wpi_pages_or(set, pages) : wpi_pages_without(set, pages);
}

/* Its preferred location overrides what was found out about a page. */
static void forget_fights(wpi_paging *p, wpi_chunk_number number, const wpi_pages *pages) {
    wpi_thrash_page *own = p->thrash.chunks[number.v].pages;
    for (uint32_t page = wpi_pages_next(pages, 0); own != NULL && page < WPI_CHUNK_PAGES;
         page = wpi_pages_next(pages, page + 1))
        wpi_thrash_reset(&own[page]);
}

static void advise(wpi_paging *p, wpi_chunk_number number, const wpi_pages *pages, void *object) {
    const wpi_paging_advice *advice = object;
    wpi_chunk *chunk = wpi_residency_chunk_at(&p->residency, number);
    chunk->read_mostly = changed(&chunk->read_mostly, pages, advice->is_read_mostly);
    chunk->stays_on_host = changed(&chunk->stays_on_host, pages, advice->stays_on_host);
    chunk->prefers_device = changed(&chunk->prefers_device, pages, advice->prefers_device);
    if (advice->prefers_device) forget_fights(p, number, pages);
}

void wpi_paging_advise(wpi_paging *paging, wpi_paging_range range, wpi_paging_advice advice) {
    visit_chunks(paging, range, advise, &advice);
}

static void use_on_host(wpi_paging *p, wpi_chunk_number number, const wpi_pages *pages,
                        void *object) {
    wpi_chunk *chunk = wpi_residency_chunk_at(&p->residency, number);
    (void)object;
    chunk->untouched = wpi_pages_without(&chunk->untouched, pages);
}

void wpi_paging_use_on_host(wpi_paging *paging, wpi_paging_range range) {
    visit_chunks(paging, range, use_on_host, NULL);
}

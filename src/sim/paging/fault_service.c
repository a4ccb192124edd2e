/* SPDX-License-Identifier: Apache-2.0 */
/* Far faults with a fixed service time, as in the papers:
 *
 *     drained      takes all faults in the buffer at once; `latency` later their transfers start,
 *                  and the faults raised meanwhile are taken
 *     pipelined    a page's transfer starts `latency` after its fault was raised: the handler polls
 *                  while others are in progress (Zheng et al., section 3.1)
 *     serial       one fault after the other, each for `latency` (UVMSmart's accurate mode)
 *     added        the transfers of a core cycle's faults start at its end; the latency is counted,
 *                  but not simulated (UVMSmart's default) */
#include "sim/paging/fault_service.h"

#include "sim/paging/paging_parts.h"

#define NONE WPI_PAGING_NONE

static void served(void *object, uint64_t token, wpi_time_ps now);

static wpi_fault_entry *entry_at(const wpi_paging *p, uint32_t number) {
    return &((wpi_fault_entry *)p->queue.entries.items)[number];
}

static wpi_fifo_links entries_of(const wpi_paging *p) {
    return WPI_FIFO_LINKS(p->queue.entries.items, wpi_fault_entry, next);
}

/* Whether a service handles all faults of a core cycle, at its end. */
static bool is_of_a_cycle(const wpi_paging *p) {
    return p->profile->paging.service == WPI_FAULT_ADDED;
}

static bool is_pipelined(const wpi_paging *p) {
    return p->profile->paging.service == WPI_FAULT_PIPELINED;
}

/* Whether faults are taken at the end of a service, as more may be raised until then. */
static bool takes_at_end(const wpi_paging *p) {
    return is_of_a_cycle(p) || is_pipelined(p);
}

static wpi_time_ps ready_at(const wpi_paging *p, uint32_t number) {
    return entry_at(p, number)->raised + p->profile->paging.latency_ps;
}

static wpi_time_ps service_end(const wpi_paging *p, wpi_time_ps now) {
    const wpi_time_ps cycle_ps = p->profile->cycle_ps;
    if (is_of_a_cycle(p)) return (now / cycle_ps + 1) * cycle_ps;
    if (is_pipelined(p)) return ready_at(p, p->queue.buffer.first);
    return now + p->profile->paging.latency_ps;
}

/* The last fault in the buffer that a service takes now. */
static uint32_t last_taken(const wpi_paging *p, wpi_time_ps now) {
    uint32_t last = p->queue.buffer.first;
    if (p->profile->paging.service == WPI_FAULT_SERIAL) return last;
    if (!is_pipelined(p)) return p->queue.buffer.last;
    for (uint32_t next = entry_at(p, last)->next; next != NONE && ready_at(p, next) <= now;
         next = entry_at(p, last)->next)
        last = next;
    return last;
}

/* Takes all faults, the first one only (serial), or those that are due (pipelined). */
static wpi_fifo take(wpi_paging *p, wpi_time_ps now) {
    return wpi_fifo_take_until(&p->queue.buffer, entries_of(p), last_taken(p, now));
}

static void serve(wpi_paging *p, wpi_time_ps now) {
    if (p->queue.is_serving || wpi_fifo_is_empty(&p->queue.buffer)) return;
    p->queue.is_serving = true;
    wpi_page_events_add(&p->events, WPI_PAGE_SERVICE, 1);
    if (!takes_at_end(p)) p->queue.served = take(p, now);
    wpi_utilisation_add(&p->handler, now, service_end(p, now));
    wpi_engine_at(p->engine, service_end(p, now), served, p, 0);
}

void wpi_paging_count_fault(const wpi_paging *paging, const wpi_page_fault *fault) {
    const wpi_chunk *chunk = wpi_residency_chunk_of(&paging->residency, fault->page);
    const bool has_left = wpi_pages_has(&chunk->left, wpi_page_index(fault->page));
    wpi_line_add(fault->counts, WP_RUN_LINE_FAR_FAULTS, 1);
    wpi_line_add(fault->counts, WP_RUN_LINE_REFAULTS, has_left);
}

static void add(wpi_paging *paging, const wpi_page_fault *fault, wpi_time_ps now) {
    const uint32_t number = wpi_pool_take(&paging->queue.entries, sizeof(wpi_fault_entry));
    *entry_at(paging, number) = (wpi_fault_entry){fault->page, now, NONE};
    wpi_page_events_report_one(&paging->events, WPI_PAGE_FAR_FAULT, fault->page, now);
    wpi_paging_count_fault(paging, fault);
    wpi_fifo_append(&paging->queue.buffer, entries_of(paging), number);
    serve(paging, now);
}

static void order(wpi_paging *paging, wpi_page_number page, wpi_time_ps now) {
    add(paging, &(wpi_page_fault){.page = page}, now);
}

/* Removes the faults in the chunk of `*first` from the list, and returns their pages. Memory may
 * have been freed since they were raised. */
static wpi_chunk_number take_chunk(wpi_paging *p, uint32_t *first, wpi_pages *pages) {
    const wpi_chunk_number chunk = wpi_page_chunk(entry_at(p, *first)->page);
    const uint32_t page_count = wpi_residency_chunk_at(&p->residency, chunk)->page_count;
    *pages = (wpi_pages){{0}};
    for (uint32_t *link = first; *link != NONE;) {
        wpi_fault_entry *fault = entry_at(p, *link);
        if (wpi_page_chunk(fault->page).v != chunk.v) {
            link = &fault->next;
            continue;
        }
        if (wpi_page_index(fault->page) < page_count)
            wpi_pages_add(pages, wpi_page_index(fault->page));
        const uint32_t number = *link;
        *link = fault->next;
        wpi_pool_give(&p->queue.entries, number);
    }
    return chunk;
}

static void served(void *object, uint64_t token, wpi_time_ps now) {
    wpi_paging *p = object;
    (void)token;
    if (takes_at_end(p)) p->queue.served = take(p, now);
    uint32_t first = wpi_fifo_take_all(&p->queue.served).first;
    while (first != NONE) {
        wpi_pages faulting;
        const wpi_chunk_number chunk = take_chunk(p, &first, &faulting);
        wpi_block_moves_serve(&p->moves, chunk, &faulting);
        (void)wpi_page_fetch_faulting(p, chunk, &faulting, now);
    }
    p->queue.is_serving = false;
    serve(p, now);
}

static wp_status create(wpi_paging *paging, wp_error *err) {
    (void)err;
    paging->queue = (wpi_fault_queue){.buffer = WPI_FIFO_EMPTY, .served = WPI_FIFO_EMPTY};
    return WP_STATUS_OK;
}

static void destroy(wpi_paging *paging) {
    wpi_pool_deinit(&paging->queue.entries);
}

const wpi_fault_service_ops wpi_fault_rounds = {
    .create = create, .destroy = destroy, .add = add, .order = order};

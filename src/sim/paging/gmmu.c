/* SPDX-License-Identifier: Apache-2.0 */
/* After a walk: finds out where the page is. A request that has to wait is in the list of its far
 * fault, or, if its CU may have no more far faults or no MSHR is free, in the CU's list of nacked
 * requests. */
#include "sim/paging/gmmu.h"

#include <string.h>

#include "base/alloc.h"
#include "sim/paging/paging_parts.h"

#define NONE WPI_PAGING_NONE

/* Pages that are evicted before each replay would be fetched again without end: after so many
 * replays that resumed no access, a page's waiters are replayed when it arrives. */
#define VAIN_REPLAYS 100u

wp_status wpi_gmmu_init(wpi_gmmu *gmmu, uint32_t sm_count, wp_error *err) {
    *gmmu = (wpi_gmmu){.raised = WPI_FIFO_EMPTY};
    gmmu->cus = wpi_calloc(sm_count, sizeof *gmmu->cus);
    if (gmmu->cus == NULL || !wpi_index_init(&gmmu->fault_of, 0))
        return WP_FAIL(err, NOMEM, "the GMMU of %u SMs", sm_count);
    for (uint32_t i = 0; i < sm_count; i++)
        gmmu->cus[i].nacked = WPI_FIFO_EMPTY;
    return WP_STATUS_OK;
}

void wpi_gmmu_deinit(wpi_gmmu *gmmu) {
    wpi_index_deinit(&gmmu->fault_of);
    wpi_pool_deinit(&gmmu->faults);
    wpi_pool_deinit(&gmmu->waiters);
    wpi_free(gmmu->cus);
    wpi_free(gmmu->fault_sms);
    wpi_free(gmmu->waited);
    *gmmu = (wpi_gmmu){0};
}

wp_status wpi_gmmu_grow(wpi_gmmu *gmmu, uint32_t before, uint32_t after, wp_error *err) {
    wpi_pages *waited = wpi_realloc(gmmu->waited, after * sizeof *waited);
    if (waited == NULL) return WP_FAIL(err, NOMEM, "%u chunks of managed memory", after);
    for (uint32_t i = before; i < after; i++)
        waited[i] = (wpi_pages){{0}};
    gmmu->waited = waited;
    return WP_STATUS_OK;
}

static wpi_far_fault *fault_at(const wpi_gmmu *gmmu, uint32_t number) {
    return &((wpi_far_fault *)gmmu->faults.items)[number];
}

static wpi_paging_waiter *waiter_at(const wpi_paging *p, uint32_t number) {
    return &((wpi_paging_waiter *)p->gmmu.waiters.items)[number];
}

static wpi_fifo_links waiters_of(const wpi_paging *p) {
    return WPI_FIFO_LINKS(p->gmmu.waiters.items, wpi_paging_waiter, next);
}

static void append(wpi_paging *p, wpi_fifo *queue, const wpi_paging_waiter *waiter) {
    const uint32_t number = wpi_pool_take(&p->gmmu.waiters, sizeof *waiter);
    *waiter_at(p, number) = *waiter;
    wpi_fifo_append(queue, waiters_of(p), number);
}

static wpi_paging_waiter take_first(wpi_paging *p, wpi_fifo *queue) {
    const uint32_t number = wpi_fifo_take_first(queue, waiters_of(p));
    const wpi_paging_waiter waiter = *waiter_at(p, number);
    wpi_pool_give(&p->gmmu.waiters, number);
    return waiter;
}

static void replay(const wpi_paging *p, const wpi_paging_waiter *waiter, bool is_held,
                   wpi_time_ps now) {
    p->calls.replay(p->calls.object, waiter->token, is_held, now);
}

/* Replays a nacked request of the CU, as another request has its page. It may not need a fault any
 * more. */
static void replay_nacked(wpi_paging *p, wpi_paging_cu *cu, wpi_time_ps now) {
    if (wpi_fifo_is_empty(&cu->nacked)) return;
    const wpi_paging_waiter waiter = take_first(p, &cu->nacked);
    replay(p, &waiter, false, now);
}

/* ---- asking ---- */

static bool has_fault_left(const wpi_paging *p, const wpi_paging_cu *cu) {
    const uint32_t most = p->profile->paging.cu_faults;
    return most == 0 || cu->waiting < most;
}

static bool has_mshr_left(const wpi_paging *p) {
    return p->profile->paging.mshrs == 0 || p->gmmu.fault_count < p->profile->paging.mshrs;
}

/* Keeps far faults in order, for a service that replays all of them. */
static void append_fault(wpi_paging *p, uint32_t number) {
    wpi_fifo_append(&p->gmmu.raised, WPI_FIFO_LINKS(p->gmmu.faults.items, wpi_far_fault, next),
                    number);
}

/* The pages of the page's chunk that have a far fault. */
static wpi_pages *waited_at(const wpi_paging *p, wpi_page_number page) {
    return &p->gmmu.waited[wpi_page_chunk(page).v];
}

/* No SM waits for the fault yet. */
static void clear_sms(wpi_paging *p, uint32_t fault) {
    if (p->gmmu.fault_sms_count < p->gmmu.faults.capacity) {
        p->gmmu.fault_sms =
            wpi_realloc(p->gmmu.fault_sms, p->gmmu.faults.capacity * sizeof *p->gmmu.fault_sms);
        WP_CHECK(p->gmmu.fault_sms != NULL);
        p->gmmu.fault_sms_count = p->gmmu.faults.capacity;
    }
    memset(p->gmmu.fault_sms[fault], 0, sizeof p->gmmu.fault_sms[fault]);
}

static uint32_t raise(wpi_paging *p, wpi_page_number page, const wpi_paging_waiter *waiter,
                      wpi_time_ps now) {
    const uint32_t number = wpi_pool_take(&p->gmmu.faults, sizeof(wpi_far_fault));
    *fault_at(&p->gmmu, number) = (wpi_far_fault){
        .page = page, .raised = now, .first = *waiter, .others = WPI_FIFO_EMPTY, .next = NONE};
    wpi_index_add(&p->gmmu.fault_of, page.v, number);
    wpi_pages_add(waited_at(p, page), wpi_page_index(page));
    p->gmmu.fault_count++;
    if (p->service->is_replaying) {
        append_fault(p, number);
        clear_sms(p, number);
    }
    return number;
}

/* If the service replays, records that the SM has a waiter. False: it had one before. */
static bool is_first_of_sm(const wpi_paging *p, uint32_t fault, uint32_t sm) {
    if (!p->service->is_replaying) return false;
    uint64_t *word = &p->gmmu.fault_sms[fault][sm / 64];
    const uint64_t bit = (uint64_t)1 << sm % 64, before = *word;
    *word |= bit;
    return (before & bit) == 0;
}

static void wait_for_page(wpi_paging *p, const wpi_paging_asker *asker, bool is_coming,
                          wpi_time_ps now) {
    const wpi_page_number page = wpi_residency_page(&p->residency, asker->address);
    wpi_paging_cu *cu = &p->gmmu.cus[asker->sm];
    uint32_t fault = wpi_index_find(&p->gmmu.fault_of, page.v);
    const bool is_new = fault == WPI_INDEX_NONE;
    const bool is_counted =
        is_new || p->profile->paging.cu_counts == (uint32_t)WPI_CU_COUNTS_WAITED;
    const wpi_paging_waiter waiter = {
        .token = asker->token, .sm = asker->sm, .is_counted = is_counted};
    if ((is_counted && !has_fault_left(p, cu)) || (is_new && !has_mshr_left(p))) {
        wpi_page_events_add(&p->events, WPI_PAGE_NACKED, 1);
        append(p, &cu->nacked, &waiter);
        return;
    }
    if (is_new)
        fault = raise(p, page, &waiter, now);
    else
        append(p, &fault_at(&p->gmmu, fault)->others, &waiter);
    cu->waiting += is_counted;
    /* If it was replayed as a nacked request, it did not need a far fault: replay another. */
    if (!is_counted && has_fault_left(p, cu)) replay_nacked(p, cu, now);
    const bool is_first = is_first_of_sm(p, fault, asker->sm);
    if (!is_new && !is_first) {
        wpi_page_events_add(&p->events, WPI_PAGE_JOINED, 1);
    } else if (!is_coming || p->service->is_replaying) {
        /* A replaying service also gets faults on pages in flight: page tables do not show them. */
        p->service->add(p, &(wpi_page_fault){page, asker->sm, asker->is_write, asker->counts}, now);
        wpi_idle_prefetch_ask(p, now);
    }
}

wpi_paging_answer wpi_paging_ask(wpi_paging *paging, const wpi_paging_asker *asker,
                                 wpi_time_ps now) {
    wpi_chunk *chunk = wpi_residency_chunk(&paging->residency, asker->address);
    const wpi_page_number page = wpi_residency_page(&paging->residency, asker->address);
    const bool is_local = wpi_pages_has(&chunk->resident, wpi_page_index(page));
    const bool is_coming = !is_local && wpi_page_is_here(&paging->residency, page);
    bool is_remote =
        !is_local && !is_coming && wpi_block_moves_stay_remote(paging, chunk, asker, now);
    if (!is_local && !is_remote && wpi_block_moves_may_go_on(paging, chunk, asker, now)) {
        if (!is_coming) wpi_block_moves_order(paging, page, now);
        is_remote = true;
    }
    if (!is_local && !is_remote) {
        wait_for_page(paging, asker, is_coming, now);
        return WPI_PAGING_WAITS;
    }
    /* If it was replayed as a nacked request, it did not need a far fault: replay another. */
    wpi_paging_cu *cu = &paging->gmmu.cus[asker->sm];
    if (has_fault_left(paging, cu)) replay_nacked(paging, cu, now);
    if (is_remote) {
        wpi_residency_set_page_touched(&paging->residency, page); /* its data now are on the host */
        wpi_page_events_report_one(&paging->events, WPI_PAGE_REMOTE, page, now);
        wpi_line_add(asker->counts, WP_RUN_LINE_REMOTE, 1);
    }
    return is_remote ? WPI_PAGING_REMOTE : WPI_PAGING_LOCAL;
}

/* ---- answers ---- */

/* Nacked requests for lack of an MSHR: a CU that waits for no page would never replay them. */
static void replay_any(wpi_paging *p, wpi_time_ps now) {
    for (uint32_t i = 0; i < p->profile->sm_count; i++)
        if (p->gmmu.cus[i].waiting == 0) replay_nacked(p, &p->gmmu.cus[i], now);
}

static bool is_resident(const wpi_paging *p, wpi_page_number page) {
    const wpi_chunk *chunk = wpi_residency_chunk_of(&p->residency, page);
    return wpi_pages_has(&chunk->resident, wpi_page_index(page));
}

/* The waiter walks again; it holds the page if that is resident. */
static void release_waiter(wpi_paging *p, const wpi_paging_waiter *waiter, wpi_page_number page,
                           bool is_held, wpi_time_ps now) {
    wpi_paging_cu *cu = &p->gmmu.cus[waiter->sm];
    cu->waiting -= waiter->is_counted;
    if (is_held) (void)wpi_paging_hold(p, wpi_page_address(p->residency.first, page), false);
    replay(p, waiter, is_held, now);
    replay_nacked(p, cu, now);
}

static void release(wpi_paging *p, uint32_t number, wpi_time_ps now) {
    const wpi_far_fault fault = *fault_at(&p->gmmu, number);
    const bool is_held = is_resident(p, fault.page);
    (void)wpi_index_take(&p->gmmu.fault_of, fault.page.v);
    wpi_pages_remove(waited_at(p, fault.page), wpi_page_index(fault.page));
    wpi_pool_give(&p->gmmu.faults, number);
    p->gmmu.fault_count--;
    wpi_page_events_measure(&p->events, WPI_PAGE_WAIT_PS, now - fault.raised);
    release_waiter(p, &fault.first, fault.page, is_held, now);
    for (wpi_fifo others = fault.others; !wpi_fifo_is_empty(&others);) {
        const wpi_paging_waiter waiter = take_first(p, &others);
        release_waiter(p, &waiter, fault.page, is_held, now);
    }
}

void wpi_gmmu_expect_arrival(const wpi_gmmu *gmmu, wpi_page_run run) {
    const uint32_t index = wpi_pages_next(&gmmu->waited[run.chunk.v], run.first);
    if (index < run.outer) wpi_index_prefetch(&gmmu->fault_of, wpi_page_in(run.chunk, index).v);
}

void wpi_gmmu_expect_release(const wpi_gmmu *gmmu, wpi_page_run run) {
    const uint32_t index = wpi_pages_next(&gmmu->waited[run.chunk.v], run.first);
    if (index >= run.outer) return;
    const wpi_page_number page = wpi_page_in(run.chunk, index);
    __builtin_prefetch(fault_at(gmmu, wpi_index_find(&gmmu->fault_of, page.v)));
}

void wpi_gmmu_arrived(wpi_paging *paging, wpi_page_run run, wpi_time_ps now) {
    const wpi_pages *waited = &paging->gmmu.waited[run.chunk.v];
    if (paging->service->is_replaying) {
        if (paging->gmmu.vain_replays >= VAIN_REPLAYS &&
            wpi_pages_next(waited, run.first) < run.outer)
            wpi_gmmu_replay(paging, now);
        return;
    }
    for (uint32_t index = wpi_pages_next(waited, run.first); index < run.outer;
         index = wpi_pages_next(waited, index + 1)) {
        const wpi_page_number page = wpi_page_in(run.chunk, index);
        release(paging, wpi_index_find(&paging->gmmu.fault_of, page.v), now);
        if (paging->profile->paging.mshrs != 0) replay_any(paging, now);
    }
}

void wpi_gmmu_replay(wpi_paging *paging, wpi_time_ps now) {
    uint32_t number = wpi_fifo_take_all(&paging->gmmu.raised).first;
    uint32_t *vain = &paging->gmmu.vain_replays;
    if (number != NONE && *vain < VAIN_REPLAYS) ++*vain;
    while (number != NONE) {
        const uint32_t next = fault_at(&paging->gmmu, number)->next;
        if (is_resident(paging, fault_at(&paging->gmmu, number)->page)) *vain = 0;
        release(paging, number, now);
        number = next;
    }
    if (paging->profile->paging.mshrs != 0) replay_any(paging, now);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory as a whole: creation, allocations, statistics. */
#include "base/alloc.h"
#include "sim/paging/paging_parts.h"

wp_status wpi_paging_create(wpi_engine *engine, const wpi_profile *profile, wpi_link *link,
                            uint64_t first, const wpi_paging_calls *calls, wpi_paging **out,
                            wp_error *err) {
    *out = NULL;
    wpi_paging *p = wpi_calloc(1, sizeof *p);
    if (p == NULL) return WP_FAIL(err, NOMEM, "paging");
    *p = (wpi_paging){.engine = engine,
                      .profile = profile,
                      .link = link,
                      .calls = *calls,
                      .random = profile->seed * 0x9e3779b97f4a7c15u | 1,
                      .service = profile->paging.service == WPI_FAULT_BATCH ? &wpi_fault_batches
                                                                            : &wpi_fault_rounds};
    wpi_page_events_init(&p->events, first);
    wpi_utilisation_init(&p->handler, profile->slice_ps, 1);
    wpi_residency_init(&p->residency, first, profile->memory_bytes / WPI_PAGE_BYTES);
    wpi_thrashing_init(&p->thrashing, profile);
    wpi_block_moves_init(&p->moves, profile);
    wpi_transfers_init(&p->transfers);
    wpi_staging_init(&p->staging);
    wp_status status = wpi_gmmu_init(&p->gmmu, profile->sm_count, err);
    if (status == WP_STATUS_OK) status = p->service->create(p, err);
    if (status != WP_STATUS_OK) {
        wpi_paging_destroy(p);
        return status;
    }
    *out = p;
    return WP_STATUS_OK;
}

void wpi_paging_destroy(wpi_paging *paging) {
    if (paging == NULL) return;
    paging->service->destroy(paging);
    wpi_thrashing_deinit(&paging->thrashing);
    wpi_residency_deinit(&paging->residency);
    wpi_tlb_copies_deinit(&paging->tlb_copies);
    wpi_gmmu_deinit(&paging->gmmu);
    wpi_block_moves_deinit(&paging->moves);
    wpi_transfers_deinit(&paging->transfers);
    wpi_page_requests_deinit(&paging->requests);
    wpi_evictions_deinit(&paging->evictions);
    wpi_staging_deinit(&paging->staging);
    wpi_free(paging);
}

/* Grows the parts' arrays, one item per chunk. If one cannot grow, others may already have grown:
 * they are longer than needed, which is harmless.
 */
static wp_status grow_parts(wpi_paging *p, uint32_t after, wp_error *err) {
    const wpi_evict_ops *evict = p->profile->paging.evict->ops;
    const uint32_t before = p->residency.chunk_count;
    WP_TRY(wpi_thrashing_grow(&p->thrashing, after, err));
    if (evict->needs_page_ages) WP_TRY(wpi_residency_reserve_ages(&p->residency, after, err));
    WP_TRY(wpi_block_moves_grow(&p->moves, before, after, err));
    WP_TRY(wpi_tlb_copies_grow(&p->tlb_copies, before, after, err));
    WP_TRY(wpi_gmmu_grow(&p->gmmu, before, after, err));
    WP_TRY(wpi_evictions_grow(&p->evictions, before, after, err));
    return wpi_residency_reserve(&p->residency, after, err);
}

wp_status wpi_paging_add(wpi_paging *paging, uint64_t address, uint64_t bytes, wp_error *err) {
    wpi_residency *r = &paging->residency;
    const uint64_t covered =
        paging->profile->paging.rounds_up ? wpi_residency_tree_bytes(bytes) : bytes;
    uint32_t count;
    WP_TRY(wpi_residency_count(r, address, covered, &count, err));
    WP_TRY(grow_parts(paging, count, err));
    WP_TRY(wpi_page_events_allocate(&paging->events, address, bytes,
                                    (covered + WPI_PAGE_BYTES - 1) / WPI_PAGE_BYTES, err));
    WP_TRY(wpi_residency_add(r, address, covered, err)); /* cannot fail: reserved above */
    if (paging->profile->paging.makes_pages) wpi_residency_set_untouched(r, address, covered);
    return WP_STATUS_OK;
}

/* TLBs drop the pages, as another allocation may get these addresses. */
void wpi_paging_remove(wpi_paging *paging, uint64_t address, uint64_t bytes) {
    wpi_pages all = {{0}};
    wpi_pages_add_range(&all, 0, WPI_CHUNK_PAGES);
    for (uint64_t at = address; at < address + bytes; at += WPI_CHUNK_BYTES) {
        const wpi_chunk_number chunk = wpi_chunk_at(paging->residency.first, at);
        wpi_block_moves_serve(&paging->moves, chunk, &all);
        wpi_staging_keep(paging, chunk, &all);
        wpi_tlb_copies_drop(paging, chunk,
                            paging->profile->paging.fills_remote
                                ? &all
                                : &wpi_residency_chunk_at(&paging->residency, chunk)->resident);
        wpi_thrashing_forget(&paging->thrashing, chunk);
    }
    wpi_residency_remove(&paging->residency, address, bytes);
}

void wpi_paging_set_history(wpi_paging *paging, wpi_page_history *history) {
    wpi_page_events_set_history(&paging->events, history);
}

void wpi_paging_set_watch(wpi_paging *paging, wpi_watch *watch) {
    wpi_page_events_set_watch(&paging->events, watch);
}

void wpi_paging_set_frames(wpi_paging *paging, uint64_t frames) {
    wpi_residency_set_frames(&paging->residency, frames);
}

bool wpi_paging_has(const wpi_paging *paging, uint64_t address) {
    return wpi_residency_chunk(&paging->residency, address) != NULL;
}

const wpi_residency *wpi_paging_residency(const wpi_paging *paging) {
    return &paging->residency;
}

/* Fault latency that is counted but not simulated (paging.fault_service = added). */
static uint64_t added_ns(const wpi_paging *p) {
    if (p->profile->paging.service != WPI_FAULT_ADDED) return 0;
    return wpi_page_events_counted(&p->events, WPI_PAGE_FAR_FAULT) * p->profile->paging.latency_ps /
           WP_PS_PER_NS;
}

void wpi_paging_statistics(const wpi_paging *paging, wpi_visit visit, void *object) {
    const wpi_page_events *events = &paging->events;
    wpi_page_events_visit(events, WPI_PAGE_FAR_FAULT, WPI_PAGE_FETCHED, visit, object);
    wpi_visit_value(visit, object, "paging.", "added_ns", "ns", added_ns(paging));
    wpi_page_events_visit(events, WPI_PAGE_FETCHED, WPI_PAGE_EVENTS, visit, object);
    wpi_page_events_visit_measure(events, WPI_PAGE_WAIT_PS, visit, object);
    wpi_visit_utilisation(visit, object, "paging.", "handler_utilisation", &paging->handler);
    if (paging->service->statistics != NULL) paging->service->statistics(paging, visit, object);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory as a whole: its making and end, allocations, statistics. */
#include <string.h>

#include "base/alloc.h"
#include "sim/paging/paging_parts.h"

#define NONE WPI_PAGING_NONE

/* How many bytes SMs could have read across the link while a block is on it, there or back. */
static uint64_t block_move_bytes(const wpi_profile *profile) {
    const wp_time_ps move_ps =
        wpi_link_transfer_ps(profile, (uint64_t)WPI_BLOCK_PAGES * WPI_PAGE_BYTES);
    return (uint64_t)((double)move_ps / WP_PS_PER_S * (double)profile->link.bytes_per_s);
}

wp_status wpi_paging_create(wpi_engine *engine, const wpi_profile *profile, wpi_link *link,
                            uint64_t first, const wpi_paging_calls *calls, wpi_paging **out,
                            wp_error *err) {
    *out = NULL;
    wpi_paging *p = wp_calloc(1, sizeof *p);
    if (p == NULL) return WP_FAIL(err, NOMEM, "paging");
    *p = (wpi_paging){.engine = engine,
                      .profile = profile,
                      .link = link,
                      .calls = *calls,
                      .random = profile->seed * 0x9e3779b97f4a7c15u | 1,
                      .service = profile->paging.service == WPI_FAULT_BATCH ? &wpi_fault_batches
                                                                            : &wpi_fault_rounds,
                      .raised = WPI_FIFO_EMPTY,
                      .buffer = WPI_FIFO_EMPTY,
                      .served = WPI_FIFO_EMPTY,
                      .block_move_bytes = block_move_bytes(profile),
                      .planned = WPI_FIFO_EMPTY,
                      .staged = WPI_FIFO_EMPTY};
    p->events.first = first;
    wpi_residency_init(&p->residency, first, profile->memory_bytes / WPI_PAGE_BYTES);
    wpi_thrashing_init(p);
    p->cus = wp_calloc(profile->sm_count, sizeof *p->cus);
    const bool has_index = wpi_index_init(&p->fault_of, 0);
    if (p->cus == NULL || !has_index) {
        wpi_paging_destroy(p);
        return WP_FAIL(err, NOMEM, "paging");
    }
    for (uint32_t i = 0; i < profile->sm_count; i++)
        p->cus[i].nacked = WPI_FIFO_EMPTY;
    const wp_status status = p->service->create != NULL ? p->service->create(p, err) : WP_STATUS_OK;
    if (status != WP_STATUS_OK) {
        wpi_paging_destroy(p);
        return status;
    }
    *out = p;
    return WP_STATUS_OK;
}

void wpi_paging_destroy(wpi_paging *paging) {
    if (paging == NULL) return;
    if (paging->service->destroy != NULL) paging->service->destroy(paging);
    wpi_thrashing_deinit(paging);
    wpi_residency_deinit(&paging->residency);
    wpi_index_deinit(&paging->fault_of);
    wpi_pool_deinit(&paging->faults);
    wpi_pool_deinit(&paging->waiters);
    wpi_pool_deinit(&paging->entries);
    wpi_pool_deinit(&paging->transfers);
    wpi_pool_deinit(&paging->staged_runs);
    wpi_pool_deinit(&paging->requests);
    wp_free(paging->cus);
    wp_free(paging->fault_sms);
    wp_free(paging->evict_notes);
    wp_free(paging->ordered);
    wp_free(paging->known);
    wp_free(paging->known_large);
    wp_free(paging->waited);
    wp_free(paging);
}

/* Grows an array of `each` words a chunk, new ones 0. */
static wp_status grow_words(uint64_t **words, uint64_t before, uint64_t after, uint64_t each,
                            wp_error *err) {
    uint64_t *grown = wp_realloc(*words, after * each * sizeof *grown);
    if (grown == NULL)
        return WP_FAIL(err, NOMEM, "%llu chunks of managed memory", (unsigned long long)after);
    for (uint64_t i = before * each; i < after * each; i++)
        grown[i] = 0;
    *words = grown;
    return WP_STATUS_OK;
}

static wp_status grow_waited(wpi_paging *p, uint32_t before, uint32_t after, wp_error *err) {
    wpi_pages *waited = wp_realloc(p->waited, after * sizeof *waited);
    if (waited == NULL) return WP_FAIL(err, NOMEM, "%u chunks of managed memory", after);
    for (uint32_t i = before; i < after; i++)
        waited[i] = (wpi_pages){{0}};
    p->waited = waited;
    return WP_STATUS_OK;
}

/* The arrays beside the residency's, which counts the chunks: an array that has grown when another
 * one cannot is only longer than it needs to be, and grows again with the next allocation. */
static wp_status grow_arrays(wpi_paging *p, uint32_t after, wp_error *err) {
    const wpi_evict_ops *evict = p->profile->paging.evict->ops;
    wpi_residency *r = &p->residency;
    const uint32_t before = r->chunk_count;
    WP_TRY(wpi_thrashing_grow(p, after, err));
    if (evict->needs_page_ages)
        WP_TRY(grow_words(&r->page_ages, before, after, WPI_CHUNK_PAGES, err));
    WP_TRY(grow_words(&p->ordered, before, after, 1, err));
    WP_TRY(grow_words(&p->known, before, after, WPI_CHUNK_PAGES, err));
    WP_TRY(grow_words(&p->known_large, before, after, 1, err));
    WP_TRY(grow_waited(p, before, after, err));
    WP_TRY(grow_words(&p->evict_notes, before, after, 1, err));
    return wpi_residency_reserve(r, after, err);
}

wp_status wpi_paging_add(wpi_paging *paging, uint64_t address, uint64_t bytes, wp_error *err) {
    wpi_residency *r = &paging->residency;
    const uint64_t covered =
        paging->profile->paging.rounds_up ? wpi_residency_tree_bytes(bytes) : bytes;
    uint32_t count;
    WP_TRY(wpi_residency_count(r, address, covered, &count, err));
    WP_TRY(grow_arrays(paging, count, err));
    WP_TRY(wpi_page_events_allocate(&paging->events, address, bytes,
                                    (covered + WPI_PAGE_BYTES - 1) / WPI_PAGE_BYTES, err));
    WP_TRY(wpi_residency_add(r, address, covered, err)); /* there is room for it */
    if (paging->profile->paging.makes_pages) wpi_residency_set_untouched(r, address, covered);
    return WP_STATUS_OK;
}

/* Another allocation may come to these addresses: TLBs must not know them then. */
void wpi_paging_remove(wpi_paging *paging, uint64_t address, uint64_t bytes) {
    wpi_pages all = {{0}};
    wpi_pages_add_range(&all, 0, WPI_CHUNK_PAGES);
    for (uint64_t at = address; at < address + bytes; at += WPI_CHUNK_BYTES) {
        const wpi_chunk_number chunk = wpi_chunk_at(paging->residency.first, at);
        wpi_blocks_serve(paging, chunk, &all);
        wpi_staging_keep(paging, chunk, &all);
        wpi_shoot_down(paging, chunk,
                       paging->profile->paging.fills_remote
                           ? &all
                           : &wpi_residency_chunk_at(&paging->residency, chunk)->resident);
        wpi_thrash_forget(&paging->thrash, chunk.v);
    }
    wpi_residency_remove(&paging->residency, address, bytes);
}

void wpi_paging_set_history(wpi_paging *paging, wpi_page_history *history) {
    paging->events.history = history;
}

void wpi_paging_set_watch(wpi_paging *paging, wpi_watch *watch) {
    paging->events.watch = watch;
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

/* What faults take that are only counted, and is no part of the kernels' time. */
static uint64_t added_ns(const wpi_paging *p) {
    if (p->profile->paging.service != WPI_FAULT_ADDED) return 0;
    return p->events.counts[WPI_PAGE_FAR_FAULT] * p->profile->paging.latency_ps / WP_PS_PER_NS;
}

void wpi_paging_statistics(const wpi_paging *paging, wpi_visit visit, void *object) {
    const wpi_page_events *events = &paging->events;
    wpi_page_events_visit(events, WPI_PAGE_FAR_FAULT, WPI_PAGE_FETCHED, visit, object);
    wpi_visit_value(visit, object, "paging.", "added_ns", "ns", added_ns(paging));
    wpi_page_events_visit(events, WPI_PAGE_FETCHED, WPI_PAGE_EVENTS, visit, object);
    wpi_page_events_visit_measure(events, WPI_PAGE_WAIT_PS, visit, object);
    if (paging->service->statistics != NULL) paging->service->statistics(paging, visit, object);
}

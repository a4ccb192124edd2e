/* SPDX-License-Identifier: Apache-2.0 */
/* Evictions make room for transfers: the policy chooses victims until enough frames are free, or
 * will be when the victims have been written back. */
#include "sim/paging/page_eviction.h"

#include "base/alloc.h"
#include "sim/paging/paging_parts.h"

void wpi_evictions_deinit(wpi_evictions *evictions) {
    wpi_free(evictions->notes);
    *evictions = (wpi_evictions){0};
}

wp_status wpi_evictions_grow(wpi_evictions *evictions, uint32_t before, uint32_t after,
                             wp_error *err) {
    return wpi_residency_grow_words(&evictions->notes, before, after, 1, err);
}

/* ---- victims --------------------------------------------------------------------------------- */

bool wpi_evictions_choose(wpi_paging *paging, wpi_chunk_number *chunk, wpi_pages *pages) {
    const wpi_evict_ops *ops = paging->profile->paging.evict->ops;
    wpi_evict_question question = {.residency = &paging->residency,
                                   .reserve_percent = paging->profile->paging.reserve_percent,
                                   .random = &paging->random,
                                   .notes = paging->evictions.notes,
                                   .future = wpi_look_ahead_future(&paging->ahead)};
    if (ops->choose(&question, &chunk->v, pages)) return true;
    question.is_pressed = true;
    return ops->choose(&question, &chunk->v, pages);
}

/* Those of the pages of which the host has no copy. */
static wpi_pages to_write_back(const wpi_paging *p, const wpi_chunk *chunk,
                               const wpi_pages *pages) {
    if (p->profile->paging.drops_clean && !chunk->is_written) return (wpi_pages){{0}};
    const wpi_pages twice = wpi_residency_on_host_too(chunk);
    return wpi_pages_without(pages, &twice);
}

static void count_round_trips(wpi_paging *p, const wpi_chunk *chunk, const wpi_pages *pages) {
    for (uint32_t block = 0; block < WPI_CHUNK_BLOCKS; block++)
        if (wpi_block_has(pages, block))
            wpi_page_events_add_round_trip(&p->events, chunk->blocks[block].evictions);
}

void wpi_evictions_start(wpi_paging *paging, wpi_chunk_number number, const wpi_pages *pages,
                         wpi_time_ps now) {
    wpi_chunk *chunk = wpi_residency_chunk_at(&paging->residency, number);
    const wpi_pages copied = to_write_back(paging, chunk, pages);
    const wpi_pages dirty = wpi_pages_and(pages, &chunk->dirty);
    wpi_tlb_copies_expect_drop(&paging->tlb_copies, number);
    wpi_look_ahead_left(paging, number, pages);
    wpi_block_moves_judge(paging, number, pages);
    wpi_residency_evict(&paging->residency, chunk, pages);
    paging->evictions.has_evicted = true;
    count_round_trips(paging, chunk, pages);
    wpi_page_events_report(&paging->events, WPI_PAGE_EVICTED, number, pages, now);
    wpi_page_events_add(&paging->events, WPI_PAGE_EVICTED_DIRTY, wpi_pages_count(&dirty));
    wpi_page_events_add(&paging->events, WPI_PAGE_WRITTEN_BACK, wpi_pages_count(&copied));
    (void)wpi_departures_start(paging, number, pages, &copied, now);
}

/* ---- room ------------------------------------------------------------------------------------ */

/* The last victims that were spared, without those used since. */
static wpi_pages still_spared(const wpi_paging *p) {
    const wpi_evictions *e = &p->evictions;
    if (wpi_pages_is_empty(&e->spared)) return e->spared;
    const wpi_chunk *chunk = wpi_residency_chunk_at(&p->residency, e->spared_chunk);
    wpi_pages all = wpi_pages_and(&e->spared, &chunk->resident);
    all = wpi_pages_without(&all, &chunk->unlisted);
    wpi_pages still = all;
    for (uint32_t i = wpi_pages_next_block(&all, 0); i < WPI_CHUNK_BLOCKS;
         i = wpi_pages_next_block(&all, i + 1)) {
        const wpi_pages block = wpi_pages_of_block(&all, i);
        if (wpi_block_is_busy(chunk, i) || chunk->blocks[i].age > e->spared_at)
            still = wpi_pages_without(&still, &block);
    }
    return still;
}

/* Victims for `missing` frames: of those that the evictor chooses together, the migration policy
 * may spare some. They are the next victims, unless they are used until then. */
static bool choose(wpi_paging *p, uint64_t missing, wpi_chunk_number *chunk, wpi_pages *pages) {
    wpi_evictions *e = &p->evictions;
    wpi_pages all = still_spared(p);
    *chunk = e->spared_chunk;
    if (wpi_pages_is_empty(&all)) {
        if (!wpi_evictions_choose(p, chunk, &all)) return false;
        e->spared_chunk = *chunk;
        e->spared_at = p->residency.clock;
    }
    *pages = wpi_block_moves_needed(p, *chunk, missing, &all);
    e->spared = wpi_pages_without(&all, pages);
    return true;
}

/* Evicts the policy's next victims, for `missing` frames. False: nothing can be evicted now. */
static bool evict_one(wpi_paging *p, uint64_t missing, wpi_may_leave may_leave, const void *object,
                      wpi_time_ps now) {
    wpi_chunk_number chunk = {0};
    wpi_pages pages;
    if (!choose(p, missing, &chunk, &pages)) return false;
    if (may_leave != NULL && !may_leave(p, chunk, &pages, object)) return false;
    wpi_evictions_start(p, chunk, &pages, now);
    return true;
}

/* Frames that are free, or will be at the end of the write-backs in flight. */
static uint64_t expected_free(const wpi_paging *p) {
    return wpi_residency_free(&p->residency) + p->residency.leaving;
}

bool wpi_evictions_make_room(wpi_paging *paging, uint64_t pages, wpi_may_leave may_leave,
                             const void *object, wpi_time_ps now) {
    if (expected_free(paging) < pages) paging->evictions.is_oversubscribed = true;
    while (expected_free(paging) < pages &&
           evict_one(paging, pages - expected_free(paging), may_leave, object, now))
        ;
    return wpi_residency_free(&paging->residency) >= pages;
}

uint64_t wpi_evictions_kept_frames(const wpi_paging *paging) {
    return paging->residency.frames * paging->profile->paging.free_percent / 100;
}

void wpi_evictions_keep_free(wpi_paging *paging, wpi_time_ps now) {
    const uint64_t wanted = wpi_evictions_kept_frames(paging);
    while (expected_free(paging) < wanted &&
           evict_one(paging, wanted - expected_free(paging), NULL, NULL, now))
        ;
}

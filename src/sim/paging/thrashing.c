/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that host and device access in turn: the policy's answer decides between a far fault, or a
 * touch by the host, and the migration.
 *
 *     far fault ─► MIGRATE ─► to the device          touch ─► MIGRATE ─► to the host
 *               ─► THROTTLE ─► faults again                ─► THROTTLE ─► touches again later
 *               ─► PIN on the host ─► remote               ─► PIN on the host ─► to the host, stays
 */
#include "sim/paging/thrashing.h"

#include <string.h>

#include "base/alloc.h"
#include "sim/paging/paging_parts.h"

void wpi_thrashing_init(wpi_thrashing *thrashing, const wpi_profile *profile) {
    const wpi_time_ps lapse_ps = profile->paging.thrash_lapse_ps;
    *thrashing = (wpi_thrashing){.state = {.threshold = profile->paging.thrash_threshold,
                                           .pin_threshold = profile->paging.thrash_pin_threshold,
                                           .max_resets = profile->paging.thrash_resets,
                                           .votes_needed = profile->paging.thrash_votes,
                                           .votes = (wpi_lapse_votes)profile->paging.thrash_adapt,
                                           .lapse_ps = lapse_ps,
                                           .nap_ps = profile->paging.thrash_nap * lapse_ps,
                                           .epoch_ps = profile->paging.thrash_epoch * lapse_ps,
                                           .pin_ps = profile->paging.thrash_pin * lapse_ps}};
}

wp_status wpi_thrashing_grow(wpi_thrashing *thrashing, uint32_t after, wp_error *err) {
    wpi_thrash *state = &thrashing->state;
    const uint32_t before = state->chunk_count;
    if (after <= before) return WP_STATUS_OK;
    wpi_thrash_chunk *chunks = wpi_realloc(state->chunks, after * sizeof *chunks);
    if (chunks == NULL) return WP_FAIL(err, NOMEM, "%u chunks of managed memory", after);
    memset(chunks + before, 0, (after - before) * sizeof *chunks);
    state->chunks = chunks;
    state->chunk_count = after;
    return WP_STATUS_OK;
}

void wpi_thrashing_deinit(wpi_thrashing *thrashing) {
    for (uint32_t i = 0; i < thrashing->state.chunk_count; i++)
        wpi_thrash_forget(&thrashing->state, i);
    wpi_free(thrashing->state.chunks);
    *thrashing = (wpi_thrashing){0};
}

/* ---- what is known of pages ---- */

bool wpi_thrashing_is_pinned(wpi_thrashing *thrashing, wpi_page_number page, wpi_time_ps now) {
    return wpi_thrash_pinned(&thrashing->state, wpi_page_chunk(page).v, wpi_page_index(page),
                             now) == WPI_PROCESSOR_HOST;
}

wpi_pages wpi_thrashing_pages(const wpi_thrashing *thrashing, wpi_chunk_number chunk) {
    return wpi_thrash_pages(&thrashing->state, chunk.v);
}

void wpi_thrashing_forget(wpi_thrashing *thrashing, wpi_chunk_number chunk) {
    wpi_thrash_forget(&thrashing->state, chunk.v);
}

void wpi_thrashing_reset(wpi_thrashing *thrashing, wpi_chunk_number chunk, const wpi_pages *pages) {
    wpi_thrash_page *own = thrashing->state.chunks[chunk.v].pages;
    for (uint32_t page = wpi_pages_next(pages, 0); own != NULL && page < WPI_CHUNK_PAGES;
         page = wpi_pages_next(pages, page + 1))
        wpi_thrash_reset(&own[page]);
}

void wpi_thrashing_moved(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages,
                         wpi_processor to, wpi_time_ps now) {
    const wpi_thrash_ops *ops = paging->profile->paging.thrash->ops;
    ops->moved(&paging->thrashing.state, chunk.v, pages, to, now);
}

wpi_thrash_hint wpi_thrashing_ask(wpi_paging *paging, wpi_page_number page, wpi_processor processor,
                                  wpi_time_ps now) {
    const wpi_thrash_ops *ops = paging->profile->paging.thrash->ops;
    const wpi_chunk *chunk = wpi_residency_chunk_of(&paging->residency, page);
    const wpi_thrash_question question = {
        .chunk = wpi_page_chunk(page).v,
        .page = wpi_page_index(page),
        .processor = processor,
        .now = now,
        .prefers_device = wpi_pages_has(&chunk->prefers_device, wpi_page_index(page))};
    const wpi_thrash_hint hint = ops->ask(&paging->thrashing.state, &question);
    wpi_page_events_add(&paging->events, WPI_PAGE_THROTTLED, hint.answer == WPI_THRASH_THROTTLE);
    wpi_page_events_add(&paging->events, WPI_PAGE_PINNED, hint.answer == WPI_THRASH_PIN);
    return hint;
}

/* ---- the device's faults ---- */

static void fault_again(void *object, uint64_t page, wpi_time_ps now) {
    wpi_paging *p = object;
    p->service->add(p, &(wpi_page_fault){.page = {page}}, now);
}

/* A refused fault. A replaying service replays its waiters anyway; for others the page's waiters
 * are replayed, or its fault is raised again, here. */
static void refuse(wpi_paging *p, wpi_page_number page, const wpi_thrash_hint *hint,
                   wpi_time_ps now) {
    const uint32_t index = wpi_page_index(page);
    p->thrashing.refused++;
    p->thrashing.throttled += hint->answer == WPI_THRASH_THROTTLE;
    if (p->service->is_replaying) return;
    if (hint->answer == WPI_THRASH_PIN)
        wpi_gmmu_arrived(p, wpi_run_of(wpi_page_chunk(page), index, index + 1), now);
    else
        wpi_engine_at(p->engine, hint->until > now ? hint->until : now + p->profile->cycle_ps,
                      fault_again, p, page.v);
}

wpi_pages wpi_thrashing_let(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *faulting,
                            wpi_time_ps now) {
    wpi_pages let = *faulting;
    for (uint32_t index = wpi_pages_next(faulting, 0); index < WPI_CHUNK_PAGES;
         index = wpi_pages_next(faulting, index + 1)) {
        const wpi_page_number page = wpi_page_in(chunk, index);
        const wpi_thrash_hint hint = wpi_thrashing_ask(paging, page, WPI_PROCESSOR_DEVICE, now);
        if (hint.answer == WPI_THRASH_MIGRATE ||
            (hint.answer == WPI_THRASH_PIN && hint.location == WPI_PROCESSOR_DEVICE))
            continue;
        wpi_pages_remove(&let, index);
        refuse(paging, page, &hint, now);
    }
    return let;
}

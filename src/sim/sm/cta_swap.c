/* SPDX-License-Identifier: Apache-2.0 */
/* CTAs that leave their SM while they wait for grids which they launched, as on NVIDIA's GPUs: else
 * those that wait could fill all SMs, and the grids that they wait for would not begin.
 *
 *     resident ──all its threads wait, and another CTA lacks room──► swapped out
 *        ▲                                                               │
 *        └──room on an SM, maybe another one── due ◄──its grids are complete
 *
 * Room is made for a CTA that is due, and for the next one of a grid that a kernel launched. Room
 * is never made for grids of the host: their CTAs end without them. A CTA is swapped out at most
 * once each time that it waits, and what it waits for always gets room, so all of them end.
 *
 * Registers and shared memory go to DRAM and come back, at the SM's bandwidth to L2 and at DRAM's,
 * which those that are swapped at the same time share; and after the latency of both. Room is free
 * when they have left. */
#include "base/alloc.h"
#include "sim/sm/gpu_parts.h"

/* Returns when a state has been moved, from `begin` on. */
static wpi_time_ps move_state(wpi_gpu *gpu, wpi_sm *sm, uint64_t bytes, wpi_time_ps begin) {
    const wpi_profile *p = gpu->profile;
    const wpi_time_ps port_ps = wpi_bytes_ps(bytes, p->l2.sm_bytes_per_s);
    const wpi_time_ps dram_ps = wpi_bytes_ps(bytes, p->dram.bytes_per_s);
    const wpi_time_ps port = wpi_bus_take(&sm->state_port, begin, port_ps) + port_ps;
    const wpi_time_ps dram = wpi_bus_take(&gpu->state_bus, begin, dram_ps) + dram_ps;
    return (port > dram ? port : dram) + p->l2.latency_ps + p->dram.latency_ps;
}

/* ---- out ---- */

static void save_warp(wpi_cta *cta, uint32_t number) {
    wpi_warp_run *warp = cta->warps[number], *saved = &cta->saved[number];
    saved->number = cta->warp_count;
    if (warp == NULL) return;
    const bool is_stalled = warp->state == WPI_WARP_STALLS;
    wpi_sm *sm = warp->sm;
    wpi_warp_end_residence(warp, is_stalled ? WPI_WARP_TIME_THREADS : WPI_WARP_TIME_BARRIER,
                           cta->saved_ps);
    *saved = *warp;
    wpi_warp_set_state(warp, WPI_WARP_FREE);
    if (warp->scheduler->last == warp) warp->scheduler->last = NULL;
    warp->next = sm->free_warps;
    sm->free_warps = warp;
    cta->warps[number] = NULL;
}

/* False: out of memory. */
static bool swap_out(wpi_gpu *gpu, wpi_cta *cta) {
    wpi_sm *sm = cta->sm;
    wpi_grid *launch = cta->launch;
    const wpi_time_ps now = wpi_engine_now(gpu->engine);
    cta->saved = wpi_calloc(cta->warp_count, sizeof *cta->saved);
    if (cta->saved == NULL) return false;
    cta->saved_ps = move_state(gpu, sm, wpi_sm_state_bytes(gpu->profile, launch->source), now);
    if (cta->saved_ps > sm->vacant_ps) sm->vacant_ps = cta->saved_ps;
    for (uint32_t w = 0; w < cta->warp_count; w++)
        save_warp(cta, w);
    wpi_cta_unlink(cta);
    cta->next = gpu->swapped_out;
    cta->link = &gpu->swapped_out;
    if (cta->next != NULL) cta->next->link = &cta->next;
    gpu->swapped_out = cta;
    wpi_sm_give_room(sm, launch->source);
    launch->swapped_out++;
    launch->numbers.swapped_ctas++;
    return true;
}

/* ---- in ---- */

static void start_soon(wpi_gpu *gpu);

static void state_is_back(void *object, uint64_t token, wpi_time_ps now) {
    (void)token;
    wpi_cta_continue(object, now);
}

static void restore_warp(wpi_sm *sm, wpi_cta *cta, uint32_t number, wpi_time_ps begin) {
    const wpi_warp_run *saved = &cta->saved[number];
    if (saved->number == cta->warp_count) return;
    wpi_warp_run *warp = sm->free_warps;
    sm->free_warps = warp->next;
    *warp = *saved;
    warp->sm = sm;
    warp->ready.age = sm->warp_ages++;
    warp->scheduler = &sm->schedulers[(uint32_t)(warp->ready.age % sm->scheduler_count)];
    warp->start_ps = warp->counted_ps = begin;
    for (uint32_t what = 0; what < WPI_WARP_TIME_COUNT; what++)
        warp->spent_ps[what] = 0;
    cta->warps[number] = warp;
}

static void swap_in(wpi_gpu *gpu, wpi_cta *cta, wpi_sm *sm) {
    wpi_grid *launch = cta->launch;
    wpi_time_ps begin = wpi_engine_now(gpu->engine);
    if (begin < cta->saved_ps) begin = cta->saved_ps;
    if (begin < sm->vacant_ps) begin = sm->vacant_ps;
    const wpi_time_ps end =
        move_state(gpu, sm, wpi_sm_state_bytes(gpu->profile, launch->source), begin);
    cta->sm = sm;
    wpi_sm_link_cta(sm, cta);
    wpi_sm_take_room(sm, launch->source);
    for (uint32_t w = 0; w < cta->warp_count; w++)
        restore_warp(sm, cta, w, begin);
    wpi_free(cta->saved);
    cta->saved = NULL;
    wpi_engine_at(gpu->engine, end, state_is_back, cta, 0);
    if (--launch->swapped_out == 0 && launch->next_cta != launch->source->cta_count)
        start_soon(gpu); /* its further CTAs */
}

static void remove_due(wpi_gpu *gpu, wpi_cta **link) {
    wpi_cta *cta = *link;
    *link = cta->next;
    if (gpu->due_last == &cta->next) gpu->due_last = link;
}

bool wpi_gpu_swap_in_on(wpi_gpu *gpu, wpi_sm *sm) {
    for (wpi_cta **link = &gpu->due; *link != NULL; link = &(*link)->next) {
        wpi_cta *cta = *link;
        if (!wpi_sm_has_room(sm, cta->launch->source)) continue;
        remove_due(gpu, link);
        swap_in(gpu, cta, sm);
        return true;
    }
    return false;
}

/* ---- room ---- */

/* Whether a CTA of `source` fits on the SM once CTAs that wait have left it, newest first. */
static bool could_have_room(const wpi_sm *sm, const wpi_warp_source *source) {
    wpi_sm after = *sm;
    for (const wpi_cta *cta = sm->ctas; cta != NULL && !wpi_sm_has_room(&after, source);
         cta = cta->next) {
        if (wpi_cta_waits_for_grids(cta)) wpi_sm_give_room(&after, cta->launch->source);
    }
    return wpi_sm_has_room(&after, source);
}

static bool vacate(wpi_gpu *gpu, wpi_sm *sm, const wpi_warp_source *source) {
    for (wpi_cta *cta = sm->ctas, *next; cta != NULL && !wpi_sm_has_room(sm, source); cta = next) {
        next = cta->next;
        if (wpi_cta_waits_for_grids(cta) && !swap_out(gpu, cta)) return false;
    }
    return true;
}

/* An SM with room for a CTA of `source`; NULL: none, even if CTAs that wait leave. */
static wpi_sm *make_room(wpi_gpu *gpu, const wpi_warp_source *source) {
    for (uint32_t i = 0; i < gpu->sm_count; i++) {
        if (wpi_sm_has_room(gpu->sms[i], source)) return gpu->sms[i];
    }
    for (uint32_t i = 1; i <= gpu->sm_count; i++) {
        const uint32_t number = (gpu->last_vacated + i) % gpu->sm_count;
        wpi_sm *sm = gpu->sms[number];
        if (!could_have_room(sm, source)) continue;
        gpu->last_vacated = number;
        return vacate(gpu, sm, source) ? sm : NULL;
    }
    return NULL;
}

/* Starts one CTA for which room can be made. */
static bool place_one(wpi_gpu *gpu) {
    for (wpi_cta **link = &gpu->due; *link != NULL; link = &(*link)->next) {
        wpi_cta *cta = *link;
        wpi_sm *sm = make_room(gpu, cta->launch->source);
        if (sm == NULL) continue;
        remove_due(gpu, link);
        swap_in(gpu, cta, sm);
        return true;
    }
    for (wpi_grid *l = gpu->launches; l != NULL; l = l->next) {
        const wpi_warp_source *source = l->source;
        if (!source->is_nested || l->next_cta == source->cta_count || l->swapped_out != 0 ||
            source->cluster_size > 1)
            continue;
        wpi_sm *sm = make_room(gpu, source);
        if (sm != NULL) return wpi_gpu_start_next(gpu, l, sm);
    }
    return false;
}

static void start(void *object, uint64_t token, wpi_time_ps now) {
    wpi_gpu *gpu = object;
    (void)token;
    (void)now;
    gpu->has_start_event = false;
    wpi_gpu_feed_all(gpu);
    while (place_one(gpu))
        ;
}

static void start_soon(wpi_gpu *gpu) {
    if (gpu->has_start_event) return;
    gpu->has_start_event = true;
    wpi_engine_at(gpu->engine, wpi_engine_now(gpu->engine), start, gpu, 0);
}

static bool lacks_room(const wpi_gpu *gpu) {
    if (gpu->due != NULL) return true;
    for (const wpi_grid *l = gpu->launches; l != NULL; l = l->next) {
        if (l->source->is_nested && l->next_cta < l->source->cta_count && l->swapped_out == 0)
            return true;
    }
    return false;
}

void wpi_gpu_want_room(wpi_gpu *gpu) {
    if (lacks_room(gpu)) start_soon(gpu);
}

/* ---- grids that are complete ---- */

void wpi_gpu_grids_done(wpi_gpu *gpu, const wpi_warp_source *source, uint32_t slot) {
    const wpi_grid *launch = gpu->launches;
    while (launch != NULL && launch->source != source)
        launch = launch->next;
    if (launch == NULL || slot >= launch->slot_count) return; /* it has failed */
    wpi_cta *cta = launch->by_slot[slot];
    if (cta->is_due) return;
    cta->is_due = true;
    if (cta->saved == NULL) {
        wpi_engine_at(gpu->engine, wpi_engine_now(gpu->engine), state_is_back, cta, 0);
        return;
    }
    wpi_cta_unlink(cta);
    cta->next = NULL;
    *gpu->due_last = cta;
    gpu->due_last = &cta->next;
    wpi_gpu_want_room(gpu);
}

static void destroy(wpi_cta *cta) {
    while (cta != NULL) {
        wpi_cta *next = cta->next;
        wpi_free(cta->saved);
        wpi_free(cta->warps);
        wpi_free(cta);
        cta = next;
    }
}

void wpi_gpu_destroy_swapped(wpi_gpu *gpu) {
    destroy(gpu->swapped_out);
    destroy(gpu->due);
}

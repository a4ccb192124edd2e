/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sm/sm.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/sm/sm_parts.h"

/* ---- barriers ---- */

static void unblock(wpi_warp_run *warp, uint32_t lanes, wpi_time_ps now) {
    warp->blocked &= ~lanes;
    if (warp->state != WPI_WARP_BARRIER) return;
    wpi_warp_spent(warp, WPI_WARP_TIME_BARRIER, now);
    wpi_warp_set_state(warp, WPI_WARP_BUSY);
    wpi_engine_at(warp->sm->engine, now, wpi_warp_ready, warp, 0);
}

/* Releases barrier `id` if enough threads have arrived. */
static void complete_barrier(wpi_cta *cta, uint32_t id, wpi_time_ps now) {
    wpi_barrier_state *barrier = &cta->barriers[id];
    const uint32_t need = barrier->count != 0 && barrier->count < cta->threads_left
                              ? barrier->count
                              : cta->threads_left;
    if (barrier->waiting == 0 || barrier->waiting + barrier->arrived < need) return;
    *barrier = (wpi_barrier_state){0};
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        wpi_warp_run *warp = cta->warps[w];
        if (warp == NULL || warp->at[id] == 0) continue;
        const uint32_t lanes = warp->at[id];
        warp->at[id] = 0;
        unblock(warp, lanes, now);
    }
}

void wpi_cta_at_barrier(wpi_warp_run *warp, uint32_t id, uint32_t count, uint32_t lanes, bool waits,
                        wpi_time_ps now) {
    if (id >= WPI_BARRIER_COUNT) return; /* no such barrier: the source reports that */
    wpi_barrier_state *barrier = &warp->cta->barriers[id];
    barrier->count = count;
    *(waits ? &barrier->waiting : &barrier->arrived) += (uint32_t)__builtin_popcount(lanes);
    if (waits) {
        warp->blocked |= lanes;
        warp->at[id] |= lanes;
    }
    complete_barrier(warp->cta, id, now);
}

static void complete_grid(wpi_sm *sm, const wpi_cta *cta) {
    if (cta->threads_at_grid != 0 && cta->threads_at_grid == cta->threads_left)
        sm->parent.at_grid(sm->parent.object, cta->launch);
}

void wpi_cta_at_grid(wpi_warp_run *warp, uint32_t lanes) {
    warp->blocked |= lanes;
    warp->cta->threads_at_grid += (uint32_t)__builtin_popcount(lanes);
    complete_grid(warp->sm, warp->cta);
}

void wpi_sm_release_grid(wpi_sm *sm, const wpi_grid *launch) {
    for (wpi_cta *cta = sm->ctas; cta != NULL; cta = cta->next) {
        if (cta->launch != launch) continue;
        cta->threads_at_grid = 0;
        for (uint32_t w = 0; w < cta->warp_count; w++) {
            if (cta->warps[w] != NULL) unblock(cta->warps[w], ~0u, wpi_engine_now(sm->engine));
        }
    }
}

/* ---- clusters ---- */

/* All threads have arrived: those that wait continue when the last arrival has reached them. */
static void complete_cluster(wpi_cta_cluster *cluster, wpi_time_ps now) {
    if (cluster->arrived == 0 || cluster->arrived < cluster->live) return;
    cluster->arrived = 0;
    for (uint32_t i = 0; i < cluster->joined; i++) {
        wpi_cta *cta = cluster->ctas[i];
        for (uint32_t w = 0; cta != NULL && w < cta->warp_count; w++) {
            wpi_warp_run *warp = cta->warps[w];
            if (warp == NULL) continue;
            const uint32_t lanes = warp->at_cluster;
            warp->cluster_arrived = warp->at_cluster = 0;
            if (lanes != 0) unblock(warp, lanes, now + warp->sm->cluster_latency_ps);
        }
    }
}

static bool join_cluster(wpi_grid *launch, wpi_cta *cta) {
    if (launch->cluster == NULL) launch->cluster = wpi_calloc(1, sizeof *launch->cluster);
    wpi_cta_cluster *cluster = launch->cluster;
    if (cluster == NULL) return false;
    cluster->ctas[cluster->joined++] = cta;
    /* all of a cluster's CTAs start at once: none waits for those that are not there yet */
    if (cluster->live == 0)
        cluster->live = launch->source->threads_per_cta * launch->source->cluster_size;
    cta->cluster = cluster;
    if (cluster->joined == launch->source->cluster_size) launch->cluster = NULL;
    return true;
}

static void leave_cluster(wpi_cta *cta) {
    wpi_cta_cluster *cluster = cta->cluster;
    if (cluster == NULL) return;
    cta->cluster = NULL;
    for (uint32_t i = 0; i < cluster->joined; i++) {
        if (cluster->ctas[i] == cta) cluster->ctas[i] = NULL;
    }
    if (++cluster->ended == cluster->joined) wpi_free(cluster);
}

void wpi_cta_arrive_at_cluster(wpi_warp_run *warp, uint32_t lanes, wpi_time_ps now) {
    wpi_cta *cta = warp->cta;
    if (cta->cluster == NULL) { /* a launch without clusters */
        cta->cluster = wpi_calloc(1, sizeof *cta->cluster);
        if (cta->cluster == NULL) return;
        *cta->cluster = (wpi_cta_cluster){.ctas = {cta}, .joined = 1, .live = cta->threads_left};
    }
    lanes &= ~warp->cluster_arrived;
    warp->cluster_arrived |= lanes;
    cta->cluster->arrived += (uint32_t)__builtin_popcount(lanes);
    complete_cluster(cta->cluster, now);
}

void wpi_cta_wait_at_cluster(wpi_warp_run *warp, uint32_t lanes) {
    lanes &= warp->cluster_arrived;
    warp->blocked |= lanes;
    warp->at_cluster |= lanes;
}

static void note_cluster_exits(wpi_warp_run *warp, uint32_t exited, wpi_time_ps now) {
    wpi_cta_cluster *cluster = warp->cta->cluster;
    if (cluster == NULL) return;
    const uint32_t arrived = exited & warp->cluster_arrived;
    warp->cluster_arrived &= ~arrived;
    cluster->arrived -= (uint32_t)__builtin_popcount(arrived);
    cluster->live -= (uint32_t)__builtin_popcount(exited);
    complete_cluster(cluster, now);
}

void wpi_cta_wake_stalled(wpi_cta *cta, wpi_time_ps now) {
    cta->stalled = 0;
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        wpi_warp_run *warp = cta->warps[w];
        if (warp == NULL || warp->state != WPI_WARP_STALLS) continue;
        wpi_warp_spent(warp, WPI_WARP_TIME_THREADS, now);
        wpi_warp_set_state(warp, WPI_WARP_BUSY);
        wpi_engine_at(warp->sm->engine, now, wpi_warp_ready, warp, 0);
    }
}

/* ---- waiting for grids ---- */

/* Lanes at a barrier, at a join or at a warp operation wait for other lanes of the CTA. */
static bool can_only_wait(const wpi_warp_run *warp) {
    return (warp->state == WPI_WARP_STALLS || warp->state == WPI_WARP_BARRIER) &&
           warp->score_count == 0;
}

bool wpi_cta_waits_for_grids(const wpi_cta *cta) {
    const wpi_source_waits *waits = &cta->launch->source->waits;
    if (waits->awaits_grids == NULL || cta->is_due || cta->launch->source->cluster_size > 1)
        return false;
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        if (cta->warps[w] != NULL && !can_only_wait(cta->warps[w])) return false;
    }
    return waits->awaits_grids(waits->object, cta->slot);
}

void wpi_cta_note_waiting(const wpi_cta *cta) {
    const wpi_sm *sm = cta->sm;
    if (cta->launch->source->waits.awaits_grids != NULL && wpi_cta_waits_for_grids(cta))
        sm->parent.cta_waits(sm->parent.object);
}

void wpi_cta_continue(wpi_cta *cta, wpi_time_ps now) {
    const wpi_source_waits *waits = &cta->launch->source->waits;
    const wpi_sm *sm = cta->sm;
    cta->is_due = false;
    if (!waits->grids_done(waits->object, cta->slot, sm->number)) {
        sm->parent.failed(sm->parent.object, cta->launch);
        return;
    }
    wpi_cta_wake_stalled(cta, now);
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        wpi_warp_run *warp = cta->warps[w];
        if (warp != NULL && warp->state == WPI_WARP_BARRIER)
            wpi_warp_resume_at(warp, WPI_WARP_TIME_BARRIER, now);
    }
}

/* The CTA by its number in the source. */
static bool note_slot(wpi_grid *launch, wpi_cta *cta) {
    if (launch->source->waits.awaits_grids == NULL) return true;
    if (cta->slot >= launch->slot_count) {
        const uint32_t count = 2 * (cta->slot + 1);
        wpi_cta **grown = wpi_realloc(launch->by_slot, count * sizeof(wpi_cta *));
        if (grown == NULL) return false;
        launch->by_slot = grown;
        launch->slot_count = count;
    }
    launch->by_slot[cta->slot] = cta;
    return true;
}

/* ---- CTAs ---- */

static wpi_cta *obtain_cta(wpi_sm *sm, uint32_t warps) {
    wpi_cta *cta = sm->free_ctas;
    if (cta != NULL) {
        sm->free_ctas = cta->next;
    } else if ((cta = wpi_calloc(1, sizeof *cta)) == NULL) {
        return NULL;
    }
    if (cta->warp_capacity < warps) {
        wpi_free(cta->warps);
        cta->warps = wpi_calloc(warps, sizeof(wpi_warp_run *));
        cta->warp_capacity = cta->warps != NULL ? warps : 0;
    }
    if (cta->warps != NULL) return cta;
    wpi_free(cta);
    return NULL;
}

static void start_warp(wpi_sm *sm, wpi_cta *cta, uint32_t number, wpi_time_ps now) {
    wpi_warp_run *warp = sm->free_warps;
    sm->free_warps = warp->next;
    const uint64_t age = sm->warp_ages++;
    *warp = (wpi_warp_run){.cta = cta,
                           .sm = sm,
                           .scheduler = &sm->schedulers[(uint32_t)(age % sm->scheduler_count)],
                           .ready.age = age,
                           .number = number,
                           .state = WPI_WARP_BUSY,
                           .start_ps = now,
                           .counted_ps = now};
    cta->warps[number] = warp;
    sm->warps_going++;
    wpi_engine_at(sm->engine, now, wpi_warp_ready, warp, 0);
}

wp_status wpi_sm_start_cta(wpi_sm *sm, wpi_grid *launch, uint64_t number, wpi_time_ps when,
                           wp_error *err) {
    wpi_warp_source *source = launch->source;
    wpi_cta *cta = obtain_cta(sm, source->warps_per_cta);
    if (cta == NULL) return WP_FAIL(err, NOMEM, "CTA of the simulated GPU");
    const wp_status status =
        source->ops->start(source, number, sm->number, &cta->slot, &cta->windows, err);
    if (status != WP_STATUS_OK) {
        cta->next = sm->free_ctas;
        sm->free_ctas = cta;
        return status;
    }
    cta->launch = launch;
    cta->sm = sm;
    cta->cluster = NULL;
    if (!note_slot(launch, cta) || (source->cluster_size > 1 && !join_cluster(launch, cta))) {
        source->ops->finish(source, cta->slot);
        cta->next = sm->free_ctas;
        sm->free_ctas = cta;
        return WP_FAIL(err, NOMEM, "CTA of the simulated GPU");
    }
    cta->number = number;
    cta->warp_count = cta->warps_left = source->warps_per_cta;
    cta->threads_left = source->threads_per_cta;
    cta->threads_at_grid = cta->stalled = 0;
    memset(cta->barriers, 0, sizeof cta->barriers);
    cta->is_due = false;
    wpi_sm_link_cta(sm, cta);
    wpi_sm_take_room(sm, source);
    if (when < sm->vacant_ps) when = sm->vacant_ps;
    for (uint32_t w = 0; w < cta->warp_count; w++)
        start_warp(sm, cta, w, when);
    return WP_STATUS_OK;
}

void wpi_sm_link_cta(wpi_sm *sm, wpi_cta *cta) {
    cta->next = sm->ctas;
    cta->link = &sm->ctas;
    if (cta->next != NULL) cta->next->link = &cta->next;
    sm->ctas = cta;
}

void wpi_cta_unlink(wpi_cta *cta) {
    *cta->link = cta->next;
    if (cta->next != NULL) cta->next->link = cta->link;
}

static void end_cta(wpi_sm *sm, wpi_cta *cta) {
    wpi_grid *launch = cta->launch;
    leave_cluster(cta);
    wpi_cta_unlink(cta);
    cta->next = sm->free_ctas;
    sm->free_ctas = cta;
    wpi_sm_give_room(sm, launch->source);
    launch->source->ops->finish(launch->source, cta->slot);
    sm->parent.cta_ended(sm->parent.object, sm, launch);
}

void wpi_cta_note_exits(wpi_warp_run *warp, wpi_time_ps now) {
    const uint32_t exited = warp->block.exited & ~warp->exited;
    if (exited == 0) return;
    warp->exited |= exited;
    warp->cta->threads_left -= (uint32_t)__builtin_popcount(exited);
    note_cluster_exits(warp, exited, now);
    for (uint32_t id = 0; id < WPI_BARRIER_COUNT; id++)
        complete_barrier(warp->cta, id, now);
    complete_grid(warp->sm, warp->cta);
}

void wpi_warp_end_residence(wpi_warp_run *warp, wpi_warp_time what, wpi_time_ps until) {
    wpi_launch_numbers *numbers = &warp->cta->launch->numbers;
    wpi_warp_spent(warp, what, until);
    numbers->resident_warp_ps += until - warp->start_ps;
    for (uint32_t kind = 0; kind < WPI_WARP_TIME_COUNT; kind++)
        numbers->warp_ps[kind] += warp->spent_ps[kind];
    wpi_utilisation_add(warp->sm->parent.warps, warp->start_ps, until);
}

void wpi_cta_warp_ended(wpi_warp_run *warp, wpi_time_ps now) {
    wpi_cta *cta = warp->cta;
    wpi_sm *sm = warp->sm;
    wpi_warp_end_residence(warp, WPI_WARP_TIME_DRAIN, now);
    cta->warps[warp->number] = NULL;
    wpi_warp_set_state(warp, WPI_WARP_FREE);
    if (warp->scheduler->last == warp) warp->scheduler->last = NULL;
    warp->next = sm->free_warps;
    sm->free_warps = warp;
    if (--cta->warps_left != 0)
        wpi_cta_note_waiting(cta);
    else if (sm->parent.may_end_cta(sm->parent.object, now))
        end_cta(sm, cta);
}

void wpi_sm_end_ctas(wpi_sm *sm) {
    for (wpi_cta *cta = sm->ctas, *next; cta != NULL; cta = next) {
        next = cta->next;
        if (cta->warps_left == 0) end_cta(sm, cta);
    }
}

/* ---- the SM ---- */

/* For how long an instruction of an estimate occupies its scheduler, on average: less than a cycle
 * where some issue together. */
static wpi_time_ps issue_ps_of(const wpi_profile *profile) {
    const wpi_time_ps least_ps = profile->cycle_ps / profile->issue_width;
    const wpi_time_ps paired_ps = profile->cycle_ps * (100 - profile->pairs_percent) / 100;
    return paired_ps > least_ps ? paired_ps : least_ps;
}

/* A warp instruction of class `c` on one scheduler, which has its share of the SM's units. Without
 * a pipe they are part of its issue. */
static void set_costs(wpi_sm *sm, const wpi_profile *profile, uint32_t c) {
    const wpi_class_profile *class = &profile->classes[c];
    const wpi_time_ps issue_ps = issue_ps_of(profile);
    const wpi_time_ps units_ps = profile->cycle_ps * WPI_LANES * profile->schedulers / class->lanes;
    const bool has_pipe = profile->has_pipes && class->pipe != WPI_PIPE_ISSUE;
    sm->slot_ps[c] = has_pipe || issue_ps > units_ps ? issue_ps : units_ps;
    sm->alone_ps[c] = has_pipe || profile->cycle_ps > units_ps ? profile->cycle_ps : units_ps;
    sm->pipe_ps[c] = has_pipe ? units_ps : 0;
    sm->latency_ps[c] = class->latency_cycles * sm->cycle_ps;
}

wp_status wpi_sm_create(const wpi_profile *profile, uint32_t number, wpi_engine *engine,
                        wpi_memory *memory, const wpi_sm_parent *parent, wpi_sm **out,
                        wp_error *err) {
    *out = NULL;
    wpi_sm *sm = wpi_calloc(1, sizeof *sm);
    if (sm == NULL) return WP_FAIL(err, NOMEM, "simulated SM");
    sm->profile = profile;
    sm->engine = engine;
    sm->memory = memory;
    sm->parent = *parent;
    sm->number = number;
    sm->cycle_ps = profile->cycle_ps;
    sm->in_line_last = &sm->in_line;
    sm->policy = profile->scheduler->ops;
    sm->scheduler_count = profile->schedulers;
    for (uint32_t c = 0; c < WP_TRACE_CLASS_COUNT; c++)
        set_costs(sm, profile, c);
    sm->shared = (wpi_shared){profile->shared_banks, (uint32_t)profile->shared_bank_bytes};
    sm->cluster_latency_ps = profile->cluster_latency_cycles * sm->cycle_ps;
    sm->shared_latency_ps = profile->shared_latency_cycles * sm->cycle_ps;
    sm->shared_turn_ps = profile->shared_turn_cycles * sm->cycle_ps;
    sm->schedulers = wpi_calloc(sm->scheduler_count, sizeof *sm->schedulers);
    wpi_warp_run *warps = wpi_calloc(profile->warps, sizeof *warps);
    sm->warp_memory = warps;
    if (sm->schedulers == NULL || warps == NULL) {
        wpi_sm_destroy(sm);
        return WP_FAIL(err, NOMEM, "simulated SM");
    }
    for (uint32_t i = 0; i < sm->scheduler_count; i++)
        sm->schedulers[i].sm = sm;
    for (uint32_t i = profile->warps; i-- != 0;) {
        warps[i].next = sm->free_warps;
        sm->free_warps = &warps[i];
    }
    *out = sm;
    return WP_STATUS_OK;
}

static void free_ctas(wpi_cta *cta, bool is_live) {
    while (cta != NULL) {
        wpi_cta *next = cta->next;
        if (is_live) leave_cluster(cta);
        wpi_free(cta->warps);
        wpi_free(cta->saved);
        wpi_free(cta);
        cta = next;
    }
}

void wpi_sm_destroy(wpi_sm *sm) {
    if (sm == NULL) return;
    free_ctas(sm->ctas, true);
    free_ctas(sm->free_ctas, false);
    wpi_free(sm->schedulers);
    wpi_free(sm->warp_memory);
    wpi_free(sm);
}

uint32_t wpi_sm_number(const wpi_sm *sm) {
    return sm->number;
}

/* ---- messages ---- */

static void describe_barrier(const wpi_warp_run *warp, char *out, size_t out_bytes) {
    const wpi_cta *cta = warp->cta;
    const wpi_grid *launch = cta->launch;
    for (uint32_t id = 0; id < WPI_BARRIER_COUNT; id++) {
        const wpi_barrier_state *barrier = &cta->barriers[id];
        if (warp->at[id] == 0) continue;
        snprintf(out, out_bytes, "waits at barrier %u, where %u of %u threads are", id,
                 barrier->waiting + barrier->arrived,
                 barrier->count != 0 ? barrier->count : cta->threads_left);
        return;
    }
    if (warp->at_cluster != 0) {
        snprintf(out, out_bytes, "waits at the barrier of its cluster, where %u of %u threads are",
                 cta->cluster->arrived, cta->cluster->live);
        return;
    }
    snprintf(out, out_bytes, "waits at the grid barrier, where %llu of %llu CTAs are",
             (unsigned long long)launch->ctas_at_grid,
             (unsigned long long)launch->source->cta_count);
}

/* Whether the warp can continue, so that others may wait for it. In step, a warp at a barrier may
 * still have lanes with an access in flight. */
static bool moves(const wpi_warp_run *warp) {
    return warp->state != WPI_WARP_BARRIER || warp->score_count != 0;
}

static void describe_state(const wpi_warp_run *warp, char *out, size_t out_bytes) {
    switch (warp->score_count != 0 ? WPI_WARP_WAITS : warp->state) {
    case WPI_WARP_BARRIER: describe_barrier(warp, out, out_bytes); break;
    case WPI_WARP_STALLS: snprintf(out, out_bytes, "waits for other threads"); break;
    case WPI_WARP_DRAINS: snprintf(out, out_bytes, "has returned"); break;
    default: snprintf(out, out_bytes, "goes round a loop that waits for a store"); break;
    }
}

static void describe_warp(const wpi_warp_run *warp, char *out, size_t out_bytes) {
    const wpi_warp_source *source = warp->cta->launch->source;
    char place[160], what[128];
    wpi_describe_place(source->tables, warp->block.block, place, sizeof place);
    describe_state(warp, what, sizeof what);
    snprintf(out, out_bytes, "SM %u, CTA %llu, warp %u of kernel %s%s %s", warp->sm->number,
             (unsigned long long)warp->cta->number, warp->number,
             source->name != NULL ? source->name : "without a name", place, what);
}

static bool comes_first(const wpi_warp_run *warp, const wpi_warp_run *other) {
    if (moves(warp) != moves(other)) return moves(warp);
    return warp->cta->number < other->cta->number;
}

bool wpi_sm_describe_wait(const wpi_sm *sm, bool moving, char *out, size_t out_bytes) {
    const wpi_warp_run *first = NULL;
    for (const wpi_cta *cta = sm->ctas; cta != NULL; cta = cta->next) {
        for (uint32_t w = 0; w < cta->warp_count; w++) {
            const wpi_warp_run *warp = cta->warps[w];
            if (warp != NULL && (first == NULL || comes_first(warp, first))) first = warp;
        }
    }
    if (first == NULL || (moving && !moves(first))) return false;
    describe_warp(first, out, out_bytes);
    return true;
}

uint32_t wpi_sm_warp_count(const wpi_sm *sm) {
    return sm->warps_used;
}

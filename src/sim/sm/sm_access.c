/* SPDX-License-Identifier: Apache-2.0 */
/* A warp's memory accesses: to global memory through the LSU, to shared memory by banks, to
 * constant memory word by word. */
#include "sim/sm/sm_parts.h"

/* ---- stores in line at the LSU ---- */

/* Resumes the first warp in the LSU's queue, if there is room for its store. */
static void serve_line(wpi_sm *sm, wpi_time_ps now) {
    wpi_warp_run *warp = sm->in_line;
    if (warp == NULL || !wpi_memory_has_store_room(sm->memory, sm->number)) return;
    sm->in_line = warp->next;
    if (sm->in_line == NULL) sm->in_line_last = &sm->in_line;
    warp->next = NULL;
    wpi_warp_spent(warp, WPI_WARP_TIME_LSU, now);
    wpi_warp_set_state(warp, WPI_WARP_BUSY);
    wpi_engine_at(sm->engine, now, wpi_warp_ready, warp, 0);
}

static void store_accepted(void *sm, uint64_t token, const wpi_answer *answer) {
    (void)token;
    serve_line(sm, answer->answered);
}

static void wait_in_line(wpi_warp_run *warp) {
    wpi_sm *sm = warp->sm;
    wpi_warp_set_state(warp, WPI_WARP_QUEUES);
    warp->next = NULL;
    *sm->in_line_last = warp;
    sm->in_line_last = &warp->next;
}

/* ---- which memory ---- */

static bool is_in(uint64_t address, uint64_t base, uint64_t bytes) {
    return address - base < bytes;
}

typedef enum place { PLACE_GLOBAL, PLACE_SHARED, PLACE_LOCAL, PLACE_CLUSTER, PLACE_CONST } place;

static bool is_any_remote(const wpi_warp_run *warp, const uint64_t *addresses) {
    const wpi_windows *windows = &warp->cta->windows;
    for (uint32_t left = warp->block.mask; left != 0; left &= left - 1) {
        if (!is_in(addresses[__builtin_ctz(left)], windows->shared, windows->shared_bytes))
            return true;
    }
    return false;
}

static place place_of(const wpi_warp_run *warp, const wp_trace_site *site,
                      const uint64_t *addresses) {
    if (site->space == WP_TRACE_GLOBAL) return PLACE_GLOBAL;
    if (site->space == WP_TRACE_SHARED) return PLACE_SHARED;
    if (site->space == WP_TRACE_CONST) return PLACE_CONST;
    const wpi_windows *windows = &warp->cta->windows;
    const uint64_t address = addresses[__builtin_ctz(warp->block.mask)];
    if (is_in(address, windows->cluster, windows->cluster_bytes))
        return is_any_remote(warp, addresses) ? PLACE_CLUSTER : PLACE_SHARED;
    if (is_in(address, windows->shared, windows->shared_bytes)) return PLACE_SHARED;
    return is_in(address, windows->local, windows->local_bytes) ? PLACE_LOCAL : PLACE_GLOBAL;
}

static bool has_result(const wp_trace_site *site) {
    return site->access == WP_TRACE_LOAD || site->access == WP_TRACE_ATOMIC;
}

/* NULL: not counted. */
static wpi_line_count *counts_of(const wpi_warp_run *warp, uint32_t site) {
    const wpi_line_counts *lines = warp->cta->launch->source->lines;
    return lines != NULL ? &lines->sites[site] : NULL;
}

static void shared_answered(void *warp, uint64_t token, wpi_time_ps now) {
    wpi_warp_answered(warp, token, NULL, now);
}

static void access_shared(wpi_warp_run *warp, uint32_t number, const wp_trace_site *site,
                          const uint64_t *addresses, wpi_time_ps now) {
    wpi_sm *sm = warp->sm;
    wpi_launch_numbers *numbers = &warp->cta->launch->numbers;
    const bool is_atomic = site->access == WP_TRACE_ATOMIC || site->access == WP_TRACE_REDUCE;
    const uint32_t cycles =
        wpi_shared_cycles(&sm->shared, warp->block.mask, addresses, site->size_bytes, is_atomic);
    numbers->shared_accesses++;
    numbers->shared_conflict_cycles += cycles - 1;
    wpi_line_add(counts_of(warp, number), WP_RUN_LINE_SHARED_ACCESSES, 1);
    wpi_line_add(counts_of(warp, number), WP_RUN_LINE_CONFLICT_CYCLES, cycles - 1);
    /* The banks are free for others between its turns; its next access comes behind its last one.
     */
    wpi_time_ps start = sm->shared_free_at > now ? sm->shared_free_at : now;
    sm->shared_free_at = start + cycles * sm->cycle_ps;
    if (warp->shared_free_at > start) start = warp->shared_free_at;
    warp->shared_free_at = start + (cycles - 1) * sm->shared_turn_ps + sm->cycle_ps;
    if (has_result(site)) {
        wpi_engine_at(sm->engine, warp->shared_free_at + sm->shared_latency_ps, shared_answered,
                      warp, number);
    }
}

/* Aligned pieces of memory of that size which hold the lanes' first bytes. */
static uint32_t pieces_of(const wpi_warp_run *warp, const uint64_t *addresses, uint32_t bytes) {
    uint64_t seen[WPI_LANES];
    uint32_t count = 0;
    for (uint32_t left = warp->block.mask; left != 0; left &= left - 1) {
        const uint64_t piece = addresses[__builtin_ctz(left)] / bytes;
        uint32_t i = 0;
        while (i < count && seen[i] != piece)
            i++;
        if (i == count) seen[count++] = piece;
    }
    return count;
}

/* The constant cache gives one word at a time to all lanes that want it. It is the scheduler's, and
 * always hits. */
static void access_const(wpi_warp_run *warp, uint32_t number, const wp_trace_site *site,
                         const uint64_t *addresses, wpi_time_ps now) {
    const wpi_sm *sm = warp->sm;
    wpi_scheduler *scheduler = warp->scheduler;
    const wpi_time_ps slot_ps = sm->slot_ps[WP_TRACE_CONSTANT],
                      pipe_ps = sm->pipe_ps[WP_TRACE_CONSTANT];
    const uint32_t turns = pieces_of(warp, addresses, site->size_bytes);
    const wpi_time_ps start = scheduler->constant_free_at > now ? scheduler->constant_free_at : now;
    scheduler->constant_free_at = start + turns * (slot_ps > pipe_ps ? slot_ps : pipe_ps);
    wpi_engine_at(sm->engine, scheduler->constant_free_at + sm->latency_ps[WP_TRACE_CONSTANT],
                  shared_answered, warp, number);
}

/* Some lane accesses the shared memory of another SM: the SM sends and receives sectors. */
static void access_cluster(wpi_warp_run *warp, uint32_t number, const wp_trace_site *site,
                           const uint64_t *addresses, wpi_time_ps now) {
    enum { SECTOR_BYTES = 32 };
    wpi_sm *sm = warp->sm;
    const uint32_t bytes = pieces_of(warp, addresses, SECTOR_BYTES) * SECTOR_BYTES;
    const uint32_t rate = sm->profile->cluster_bytes_per_cycle;
    warp->cta->launch->numbers.shared_accesses++;
    wpi_line_add(counts_of(warp, number), WP_RUN_LINE_SHARED_ACCESSES, 1);
    const wpi_time_ps start = sm->cluster_free_at > now ? sm->cluster_free_at : now;
    sm->cluster_free_at = start + (bytes + rate - 1) / rate * sm->cycle_ps;
    if (has_result(site)) {
        wpi_engine_at(sm->engine, sm->cluster_free_at + sm->cluster_latency_ps, shared_answered,
                      warp, number);
    }
}

static void performed_in_l2(void *warp, uint32_t lanes, wpi_time_ps now) {
    wpi_warp_reach(warp, lanes, now);
}

/* In step, accesses that must see other SMs' writes are made when they reach L2. All others are
 * made when they are issued, which is indistinguishable. */
static bool is_made_at_issue(const wpi_warp_run *warp, const wp_trace_site *site, place where) {
    return warp->cta->launch->source->is_in_step &&
           (where != PLACE_GLOBAL || !wpi_is_performed_in_l2(site->access, site->cache));
}

/* Lanes that access memory: for a texture, those whose texel lies inside it. */
static uint32_t lanes_of(const wpi_warp_run *warp, const wp_trace_site *site,
                         const uint64_t *addresses) {
    if (site->cache != WP_TRACE_CACHE_TEXTURE) return warp->block.mask;
    uint32_t lanes = 0;
    for (uint32_t left = warp->block.mask; left != 0; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        lanes |= (uint32_t)(addresses[lane] != 0) << lane;
    }
    return lanes;
}

bool wpi_warp_pass_over(wpi_warp_run *warp, const wp_trace_step *step, wpi_time_ps now) {
    const wpi_warp_source *source = warp->cta->launch->source;
    const wp_trace_site *site = &source->tables->sites[step->value];
    if (lanes_of(warp, site, warp->block.addresses + (size_t)warp->access * WPI_LANES) != 0)
        return false;
    warp->access++;
    if (source->is_in_step) wpi_warp_reach(warp, warp->block.mask, now);
    return true;
}

static void access_global(wpi_warp_run *warp, uint32_t number, const wp_trace_site *site,
                          const uint64_t *addresses, bool is_made_later, wpi_time_ps now) {
    wpi_sm *sm = warp->sm;
    const wpi_access access = {.sm = sm->number,
                               .kind = site->access,
                               .cache = site->cache,
                               .prefers_l1 = warp->cta->launch->source->prefers_l1,
                               .size_bytes = site->size_bytes,
                               .mask = lanes_of(warp, site, addresses),
                               .addresses = addresses,
                               .name = site->name,
                               .counts = counts_of(warp, number),
                               .performed = is_made_later ? performed_in_l2 : NULL};
    const bool answers = has_result(site);
    const uint32_t cycles = wpi_memory_access(sm->memory, &access, now,
                                              answers ? wpi_warp_memory_answered : store_accepted,
                                              answers ? (void *)warp : (void *)sm, number);
    sm->lsu_free_at = now + cycles * sm->cycle_ps;
    warp->cta->launch->numbers.accesses[site->access]++;
    if (!answers) serve_line(sm, now);
}

bool wpi_warp_issue_access(wpi_warp_run *warp, const wp_trace_step *step, wpi_time_ps now) {
    wpi_sm *sm = warp->sm;
    const wp_trace_site *site = &warp->cta->launch->source->tables->sites[step->value];
    const uint64_t *addresses = warp->block.addresses + (size_t)warp->access * WPI_LANES;
    const place where = place_of(warp, site, addresses);
    if (where == PLACE_GLOBAL && sm->lsu_free_at > now) {
        wpi_warp_resume_at(warp, WPI_WARP_TIME_LSU, sm->lsu_free_at);
        return false;
    }
    if (where == PLACE_GLOBAL && !has_result(site) &&
        !wpi_memory_has_store_room(sm->memory, sm->number)) {
        wait_in_line(warp);
        return false;
    }
    if (has_result(site) && where != PLACE_LOCAL && !wpi_warp_expect(warp, step->value)) {
        wpi_warp_wait_for(warp, WP_TRACE_NONE); /* any answer frees an entry */
        return false;
    }
    const bool is_now = is_made_at_issue(warp, site, where);
    if (where == PLACE_SHARED) {
        access_shared(warp, step->value, site, addresses, now);
    } else if (where == PLACE_CLUSTER) {
        access_cluster(warp, step->value, site, addresses, now);
    } else if (where == PLACE_CONST) {
        access_const(warp, step->value, site, addresses, now);
    } else if (where == PLACE_GLOBAL) {
        access_global(warp, step->value, site, addresses,
                      warp->cta->launch->source->is_in_step && !is_now, now);
    }
    if (site->cache != WP_TRACE_CACHE_TEXTURE) { /* of a texture, the fetch counts: an ISSUE step */
        wpi_warp_count_instructions(warp, 1);
        wpi_line_add(counts_of(warp, step->value), WP_RUN_LINE_WARP_INSTRUCTIONS, 1);
        wpi_line_add(counts_of(warp, step->value), WP_RUN_LINE_THREAD_INSTRUCTIONS,
                     (uint32_t)__builtin_popcount(warp->block.mask));
    }
    warp->access++;
    warp->step++;
    if (is_now) wpi_warp_reach(warp, warp->block.mask, now);
    return true;
}

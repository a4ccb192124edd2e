/* SPDX-License-Identifier: Apache-2.0 */
#include "base/abi.h"
#include "sim/sm/shared_banks.h"
#include "sim/sm/sm_parts.h"

/* A warp that waits for another CTA's store looks again after so long. */
#define SPIN_CYCLES 100u
/* One that spins on memory lets others issue for so long before it looks again. */
#define YIELD_CYCLES 20u
/* What a warp may wait for besides sites: its fence, its instructions. */
#define FENCE_SITE (WP_TRACE_NONE - 1)
#define CODE_SITE (WP_TRACE_NONE - 2)

/* ---- the scoreboard
 * ------------------------------------------------------------------------------- */

static wpi_score *find_score(wpi_warp_run *warp, uint32_t site) {
    for (uint32_t i = 0; i < warp->score_count; i++) {
        if (warp->scores[i].site == site) return &warp->scores[i];
    }
    return NULL;
}

/* Notes that the site will answer once more; false: there is no room. */
static bool expect_answer(wpi_warp_run *warp, uint32_t site) {
    wpi_score *score = find_score(warp, site);
    if (score == NULL) {
        if (warp->score_count == WPI_SCOREBOARD_SITES) return false;
        score = &warp->scores[warp->score_count++];
        *score = (wpi_score){.site = site};
    }
    score->outstanding++;
    return true;
}

static void answered(wpi_warp_run *warp, uint64_t token, wp_time_ps now) {
    wpi_score *score = find_score(warp, (uint32_t)token);
    if (--score->outstanding != 0) return;
    *score = warp->scores[--warp->score_count];
    if (warp->state == WPI_WARP_WAITS &&
        (warp->waits_for == token || warp->waits_for == WP_TRACE_NONE)) {
        wpi_warp_ready(warp, 0, now);
    } else if (warp->state == WPI_WARP_DRAINS && warp->score_count == 0) {
        wpi_cta_warp_ended(warp, now);
    }
}

static void memory_answered(void *warp, uint64_t token, const wpi_answer *answer) {
    answered(warp, token, answer->answered);
}

static void shared_answered(void *warp, uint64_t token, wp_time_ps now) {
    answered(warp, token, now);
}

/* The first warp in line at the LSU, if there is room for its store. */
static void serve_line(wpi_sm *sm, wp_time_ps now) {
    wpi_warp_run *warp = sm->in_line;
    if (warp == NULL || !wpi_memory_has_store_room(sm->memory, sm->number)) return;
    sm->in_line = warp->next;
    if (sm->in_line == NULL) sm->in_line_last = &sm->in_line;
    warp->next = NULL;
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

static void wait_for(wpi_warp_run *warp, uint32_t site) {
    wpi_warp_set_state(warp, WPI_WARP_WAITS);
    warp->waits_for = site;
}

/* ---- steps
 * ---------------------------------------------------------------------------------------- */

void wpi_warp_ready(void *object, uint64_t token, wp_time_ps now) {
    wpi_warp_run *warp = object;
    (void)token;
    wpi_scheduler_want(warp->scheduler, warp, now);
}

/* It may issue again at `time`. */
static void resume_at(wpi_warp_run *warp, wp_time_ps time) {
    wpi_warp_set_state(warp, WPI_WARP_BUSY);
    wpi_engine_at(warp->sm->engine, time, wpi_warp_ready, warp, 0);
}

static void count_instructions(wpi_warp_run *warp, uint32_t count) {
    wpi_launch_numbers *numbers = &warp->cta->launch->numbers;
    numbers->warp_instructions += count;
    numbers->thread_instructions +=
        (uint64_t)count * (uint32_t)__builtin_popcount(warp->block.mask);
}

static wp_time_ps longer(wp_time_ps a, wp_time_ps b) {
    return a > b ? a : b;
}

/* How long it takes until the warp has been sent so many instructions: one warp at a time gets its
 * next ones, in turn, of all that go on. */
static wp_time_ps fetch_time(const wpi_warp_run *warp, uint32_t instructions) {
    const wpi_sm *sm = warp->sm;
    const uint32_t width = sm->profile->fetch_width;
    if (width == 0) return 0;
    return (uint64_t)((instructions + width - 1) / width) * sm->warps_going * sm->cycle_ps;
}

/* All ISSUE steps in a row: their slots one after the other, beside them the longest chain and
 * their way to the warp. */
static void issue_run(wpi_warp_run *warp, const wp_trace_step *steps, wp_time_ps now) {
    wpi_sm *sm = warp->sm;
    wp_time_ps slots_ps = 0, chain_ps = 0;
    uint32_t count = 0;
    for (; warp->step < warp->step_outer && steps[warp->step].op == WP_TRACE_ISSUE; warp->step++) {
        const wp_trace_step *step = &steps[warp->step];
        slots_ps += step->count * sm->slot_ps[step->class];
        chain_ps += step->chain * sm->latency_ps[step->class];
        count += step->count;
    }
    count_instructions(warp, count);
    const wp_time_ps took_ps = longer(longer(slots_ps, chain_ps), fetch_time(warp, count));
    resume_at(warp,
              now + took_ps); /* before the scheduler's next turn, if that is at the same time */
    wpi_scheduler_take(warp->scheduler, warp, now, slots_ps);
}

static bool is_in(uint64_t address, uint64_t base, uint64_t bytes) {
    return address - base < bytes;
}

typedef enum place { PLACE_GLOBAL, PLACE_SHARED, PLACE_LOCAL } place;

static place place_of(const wpi_warp_run *warp, const wp_trace_site *site,
                      const uint64_t *addresses) {
    if (site->space == WP_TRACE_GLOBAL) return PLACE_GLOBAL;
    if (site->space == WP_TRACE_SHARED) return PLACE_SHARED;
    const wpi_windows *windows = &warp->cta->windows;
    const uint64_t address = addresses[__builtin_ctz(warp->block.mask)];
    if (is_in(address, windows->shared, windows->shared_bytes)) return PLACE_SHARED;
    return is_in(address, windows->local, windows->local_bytes) ? PLACE_LOCAL : PLACE_GLOBAL;
}

static bool has_result(const wp_trace_site *site) {
    return site->access == WP_TRACE_LOAD || site->access == WP_TRACE_ATOMIC;
}

static void access_shared(wpi_warp_run *warp, uint32_t number, const wp_trace_site *site,
                          const uint64_t *addresses, wp_time_ps now) {
    wpi_sm *sm = warp->sm;
    wpi_launch_numbers *numbers = &warp->cta->launch->numbers;
    const bool is_atomic = site->access == WP_TRACE_ATOMIC || site->access == WP_TRACE_REDUCE;
    const uint32_t cycles =
        wpi_shared_cycles(&sm->shared, warp->block.mask, addresses, site->size_bytes, is_atomic);
    numbers->shared_accesses++;
    numbers->shared_conflict_cycles += cycles - 1;
    const wp_time_ps start = sm->shared_free_at > now ? sm->shared_free_at : now;
    sm->shared_free_at = start + cycles * sm->cycle_ps;
    if (has_result(site)) {
        wpi_engine_at(sm->engine, sm->shared_free_at + sm->shared_latency_ps, shared_answered, warp,
                      number);
    }
}

/* ---- what lanes are told
 * -------------------------------------------------------------------------- */

/* Threads ran: who had no words may have some. */
static void ask_again(wpi_warp_run *warp, wp_time_ps now) {
    if (warp->cta->stalled != 0) wpi_cta_wake_stalled(warp->cta, now);
    if (warp->state == WPI_WARP_BARRIER) resume_at(warp, now);
}

static void reach(wpi_warp_run *warp, uint32_t lanes, wp_time_ps now) {
    wpi_warp_source *source = warp->cta->launch->source;
    if (source->ops->reach(source, warp->cta->slot, warp->number, lanes, now / warp->sm->cycle_ps,
                           now / WP_PS_PER_NS)) {
        ask_again(warp, now);
    } else {
        warp->sm->parent.failed(warp->sm->parent.object, warp->cta->launch);
    }
}

static void performed_in_l2(void *warp, uint32_t lanes, wp_time_ps now) {
    reach(warp, lanes, now);
}

/* In step, what reads what others write is made when it gets to L2; everything else, which others
 * cannot tell from that, when it is issued. */
static bool is_made_at_issue(const wpi_warp_run *warp, const wp_trace_site *site, place where) {
    return warp->cta->launch->source->is_in_step &&
           (where != PLACE_GLOBAL || !wpi_is_performed_in_l2(site->access, site->cache));
}

/* ---- accesses
 * ------------------------------------------------------------------------------------- */

/* Lanes that touch memory: of a texture, those whose texel lies in it. */
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

/* An access by nobody takes nothing. */
static bool pass_over(wpi_warp_run *warp, const wp_trace_step *step, wp_time_ps now) {
    const wpi_warp_source *source = warp->cta->launch->source;
    const wp_trace_site *site = &source->tables->sites[step->value];
    if (lanes_of(warp, site, warp->block.addresses + (size_t)warp->access * WPI_LANES) != 0)
        return false;
    warp->access++;
    if (source->is_in_step) reach(warp, warp->block.mask, now);
    return true;
}

static void access_global(wpi_warp_run *warp, uint32_t number, const wp_trace_site *site,
                          const uint64_t *addresses, bool is_made_later, wp_time_ps now) {
    wpi_sm *sm = warp->sm;
    const wpi_access access = {.sm = sm->number,
                               .kind = site->access,
                               .cache = site->cache,
                               .size_bytes = site->size_bytes,
                               .mask = lanes_of(warp, site, addresses),
                               .addresses = addresses,
                               .name = site->name,
                               .performed = is_made_later ? performed_in_l2 : NULL};
    const bool answers = has_result(site);
    const uint32_t cycles =
        wpi_memory_access(sm->memory, &access, now, answers ? memory_answered : store_accepted,
                          answers ? (void *)warp : (void *)sm, number);
    sm->lsu_free_at = now + cycles * sm->cycle_ps;
    warp->cta->launch->numbers.accesses[site->access]++;
    if (!answers) serve_line(sm, now);
}

/* False: nothing happened yet, the warp waits. */
static bool issue_access(wpi_warp_run *warp, const wp_trace_step *step, wp_time_ps now) {
    wpi_sm *sm = warp->sm;
    const wp_trace_site *site = &warp->cta->launch->source->tables->sites[step->value];
    const uint64_t *addresses = warp->block.addresses + (size_t)warp->access * WPI_LANES;
    const place where = place_of(warp, site, addresses);
    if (where == PLACE_GLOBAL && sm->lsu_free_at > now) {
        resume_at(warp, sm->lsu_free_at);
        return false;
    }
    if (where == PLACE_GLOBAL && !has_result(site) &&
        !wpi_memory_has_store_room(sm->memory, sm->number)) {
        wait_in_line(warp);
        return false;
    }
    if (has_result(site) && where != PLACE_LOCAL && !expect_answer(warp, step->value)) {
        wait_for(warp, WP_TRACE_NONE); /* any: until there is room */
        return false;
    }
    const bool is_now = is_made_at_issue(warp, site, where);
    if (where == PLACE_SHARED) {
        access_shared(warp, step->value, site, addresses, now);
    } else if (where == PLACE_GLOBAL) {
        access_global(warp, step->value, site, addresses,
                      warp->cta->launch->source->is_in_step && !is_now, now);
    }
    if (site->cache != WP_TRACE_CACHE_TEXTURE) count_instructions(warp, 1); /* the fetch counts */
    warp->access++;
    warp->step++;
    if (is_now) reach(warp, warp->block.mask, now);
    return true;
}

static void issue_fence(wpi_warp_run *warp, wp_time_ps now) {
    if (!expect_answer(warp, FENCE_SITE)) {
        wait_for(warp, WP_TRACE_NONE);
        return;
    }
    wpi_memory_fence(warp->sm->memory, warp->sm->number, now, memory_answered, warp, FENCE_SITE);
    warp->step++;
    wait_for(warp, FENCE_SITE);
}

/* ---- ends of blocks
 * ------------------------------------------------------------------------------- */

/* Lanes may name different barriers where these are known only there. */
static void at_barrier(wpi_warp_run *warp, const wp_trace_step *step, bool waits, wp_time_ps now) {
    const uint32_t mask = warp->block.mask;
    if (step->chain != WP_TRACE_NONE) {
        wpi_cta_at_barrier(warp, step->chain, step->count, mask, waits, now);
        return;
    }
    const uint64_t *words = warp->block.addresses + (size_t)warp->access * WPI_LANES;
    for (uint32_t left = mask; left != 0;) {
        const uint64_t word = words[__builtin_ctz(left)];
        uint32_t same = 0;
        for (uint32_t rest = left; rest != 0; rest &= rest - 1) {
            const uint32_t lane = (uint32_t)__builtin_ctz(rest);
            same |= (uint32_t)(words[lane] == word) << lane;
        }
        left &= ~same;
        wpi_cta_at_barrier(warp, (uint32_t)word, (uint32_t)(word >> 32), same, waits, now);
    }
}

static void stop(wpi_warp_run *warp, const wp_trace_step *step, wp_time_ps now) {
    switch (WP_STOP_KIND(step->value)) {
    case WP_STOP_BARRIER:
    case WP_STOP_BARRIER_COUNT:
    case WP_STOP_BARRIER_AND:
    case WP_STOP_BARRIER_OR: at_barrier(warp, step, true, now); break;
    case WP_STOP_BARRIER_ARRIVE: at_barrier(warp, step, false, now); break;
    case WP_STOP_GRID: wpi_cta_at_grid(warp, warp->block.mask); break;
    default: break;
    }
}

/* A warp that spins must not keep the turn from warps that it waits for, however young they are. In
 * step it waits for memory in every round, as on hardware. */
static bool gives_way(const wpi_warp_run *warp, const wp_trace_step *step) {
    return WP_STOP_KIND(step->value) == WP_STOP_YIELD && !warp->cta->launch->source->is_in_step;
}

static void let_others_go(wpi_warp_run *warp, wp_time_ps now) {
    warp->ready.age = warp->sm->warp_ages++;
    resume_at(warp, now + YIELD_CYCLES * warp->sm->cycle_ps);
}

static void code_fetched(void *object, uint64_t address, wp_time_ps now);

/* The pages of the block's code, from `address` on; false: the warp waits for one. */
static bool fetch_code(wpi_warp_run *warp, uint64_t address, wp_time_ps now) {
    const wpi_sm *sm = warp->sm;
    const uint64_t outer = warp->cta->launch->code->places[warp->block.block + 1],
                   page = sm->profile->page_bytes;
    for (; address < outer; address = (address / page + 1) * page) {
        if (wpi_memory_fetch(sm->memory, sm->number, address, now, code_fetched, warp)) continue;
        wait_for(warp, CODE_SITE);
        return false;
    }
    return true;
}

static void code_fetched(void *object, uint64_t address, wp_time_ps now) {
    wpi_warp_run *warp = object;
    const uint64_t page = warp->sm->profile->page_bytes;
    if (fetch_code(warp, (address / page + 1) * page, now)) wpi_warp_ready(warp, 0, now);
}

static bool has_code(wpi_warp_run *warp, wp_time_ps now) {
    const wpi_code *code = warp->cta->launch->code;
    return code == NULL || fetch_code(warp, code->places[warp->block.block], now);
}

/* The source names what comes next; false: the warp has not become ready. */
static bool fetch(wpi_warp_run *warp, wp_time_ps now) {
    wpi_cta *cta = warp->cta;
    wpi_warp_source *source = cta->launch->source;
    const uint64_t run_count = source->run_count;
    const wpi_source_answer answer =
        source->ops->next(source, cta->slot, warp->number, warp->blocked, &warp->block);
    if (source->run_count != run_count && cta->stalled != 0) wpi_cta_wake_stalled(cta, now);
    if (answer == WPI_SOURCE_WAIT) {
        wpi_warp_set_state(warp, warp->blocked != 0 ? WPI_WARP_BARRIER : WPI_WARP_STALLS);
        cta->stalled += warp->state == WPI_WARP_STALLS;
    }
    if (answer != WPI_SOURCE_FAILED) wpi_cta_note_exits(warp, now); /* may let it go on */
    switch (answer) {
    case WPI_SOURCE_BLOCK: {
        const wp_trace_block *block = &source->tables->blocks[warp->block.block];
        warp->step = block->first_step;
        warp->step_outer = block->first_step + block->step_count;
        warp->access = 0;
        cta->launch->numbers.blocks++;
        return has_code(warp, now);
    }
    case WPI_SOURCE_EXIT:
        wpi_warp_set_state(warp, WPI_WARP_DRAINS);
        if (warp->score_count == 0) wpi_cta_warp_ended(warp, now);
        return false;
    case WPI_SOURCE_WAIT: return false;
    case WPI_SOURCE_SPIN: resume_at(warp, now + SPIN_CYCLES * warp->sm->cycle_ps); return false;
    default: warp->sm->parent.failed(warp->sm->parent.object, cta->launch); return false;
    }
}

void wpi_warp_issue(wpi_warp_run *warp, wp_time_ps now) {
    const wp_trace_step *steps = warp->cta->launch->source->tables->steps;
    for (;;) {
        if (warp->step == warp->step_outer) {
            if (!fetch(warp, now)) return;
            continue;
        }
        const wp_trace_step *step = &steps[warp->step];
        switch ((wp_trace_op)step->op) {
        case WP_TRACE_ISSUE: issue_run(warp, steps, now); return;
        case WP_TRACE_ACCESS:
            if (pass_over(warp, step, now)) break;
            if (!issue_access(warp, step, now)) return;
            resume_at(warp, now + warp->sm->cycle_ps);
            wpi_scheduler_take(warp->scheduler, warp, now, warp->sm->cycle_ps);
            return;
        case WP_TRACE_WAIT:
            if (find_score(warp, step->value) != NULL) {
                wait_for(warp, step->value);
                return;
            }
            break;
        case WP_TRACE_FENCE: issue_fence(warp, now); return;
        case WP_TRACE_STOP:
            stop(warp, step, now);
            if (!gives_way(warp, step)) break;
            warp->step++;
            let_others_go(warp, now);
            return;
        case WP_TRACE_CLOCK: reach(warp, warp->block.mask, now); break;
        default: break;
        }
        warp->step++;
    }
}

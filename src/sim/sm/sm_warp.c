/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a warp, one after the other: instructions, waits, fences, ends of blocks. */
#include "base/abi.h"
#include "sim/sm/sm_parts.h"

/* A warp that waits for another CTA's store polls at this interval. */
#define SPIN_CYCLES 100u
/* A warp that spins on memory yields to others for this long. */
#define YIELD_CYCLES 20u

/* ---- the scoreboard ---- */

static wpi_score *find_score(wpi_warp_run *warp, uint32_t site) {
    for (uint32_t i = 0; i < warp->score_count; i++) {
        if (warp->scores[i].site == site) return &warp->scores[i];
    }
    return NULL;
}

bool wpi_warp_expect(wpi_warp_run *warp, uint32_t site) {
    wpi_score *score = find_score(warp, site);
    if (score == NULL) {
        if (warp->score_count == WPI_SCOREBOARD_SITES) return false;
        score = &warp->scores[warp->score_count++];
        *score = (wpi_score){.site = site};
    }
    score->outstanding++;
    return true;
}

void wpi_warp_answered(wpi_warp_run *warp, uint64_t token, const wpi_answer *answer,
                       wpi_time_ps now) {
    wpi_score *score = find_score(warp, (uint32_t)token);
    if (--score->outstanding != 0) return;
    *score = warp->scores[--warp->score_count];
    if (warp->state == WPI_WARP_WAITS &&
        (warp->waits_for == token || warp->waits_for == WP_TRACE_NONE)) {
        wpi_warp_waited(warp, (uint32_t)token, answer, now);
        wpi_warp_ready(warp, 0, now);
    } else if (warp->state == WPI_WARP_DRAINS && warp->score_count == 0) {
        wpi_cta_warp_ended(warp, now);
    } else if (warp->score_count == 0 && !wpi_warp_is_going(warp->state)) {
        wpi_cta_note_waiting(warp->cta);
    }
}

void wpi_warp_memory_answered(void *warp, uint64_t token, const wpi_answer *answer) {
    wpi_warp_answered(warp, token, answer, answer->answered);
}

void wpi_warp_wait_for(wpi_warp_run *warp, uint32_t site) {
    wpi_warp_set_state(warp, WPI_WARP_WAITS);
    warp->waits_for = site;
}

/* ---- steps ---- */

void wpi_warp_ready(void *object, uint64_t token, wpi_time_ps now) {
    wpi_warp_run *warp = object;
    (void)token;
    wpi_scheduler_want(warp->scheduler, warp, now);
}

void wpi_warp_resume_at(wpi_warp_run *warp, wpi_warp_time what, wpi_time_ps time) {
    wpi_warp_spent(warp, what, time);
    wpi_warp_set_state(warp, WPI_WARP_BUSY);
    wpi_engine_at(warp->sm->engine, time, wpi_warp_ready, warp, 0);
}

void wpi_warp_count_instructions(wpi_warp_run *warp, uint32_t count) {
    wpi_launch_numbers *numbers = &warp->cta->launch->numbers;
    numbers->warp_instructions += count;
    numbers->thread_instructions +=
        (uint64_t)count * (uint32_t)__builtin_popcount(warp->block.mask);
}

static wpi_time_ps longer(wpi_time_ps a, wpi_time_ps b) {
    return a > b ? a : b;
}

/* The time to fetch `instructions` for the warp: warps that are BUSY or READY share the fetch unit
 * in turn. */
static wpi_time_ps fetch_time(const wpi_warp_run *warp, uint32_t instructions) {
    const wpi_sm *sm = warp->sm;
    const uint32_t width = sm->profile->fetch_width;
    if (width == 0) return 0;
    return (uint64_t)((instructions + width - 1) / width) * sm->warps_going * sm->cycle_ps;
}

/* What a run of ISSUE steps takes. */
typedef struct issue_times {
    wpi_time_ps slots_ps, chain_ps, pipes_ps[WPI_PIPE_COUNT];
} issue_times;

/* The pipes take the instructions behind those of earlier runs: until when the warp waits for the
 * first of them, and when the last one is done. */
static void enter_pipes(wpi_scheduler *s, const issue_times *times, wpi_time_ps now,
                        wpi_time_ps *begun, wpi_time_ps *done) {
    *begun = *done = now;
    for (int p = WPI_PIPE_ISSUE + 1; p < WPI_PIPE_COUNT; p++) {
        if (times->pipes_ps[p] == 0) continue;
        const wpi_time_ps begin = longer(now, s->pipe_free_at[p]);
        s->pipe_free_at[p] = begin + times->pipes_ps[p];
        *begun = longer(*begun, begin);
        *done = longer(*done, s->pipe_free_at[p]);
    }
}

/* Machine code says which instructions share a slot; an estimate does not. */
static wpi_time_ps slots_of(const wpi_sm *sm, const wp_trace_step *step) {
    if (step->value == 0) return step->count * sm->slot_ps[step->class];
    return (step->count - (step->value - 1)) * sm->alone_ps[step->class];
}

/* Issues consecutive ISSUE steps. They take the longest of their slots, their pipes, their
 * dependence chains and their instruction fetches. */
static void issue_run(wpi_warp_run *warp, const wp_trace_step *steps, wpi_time_ps now) {
    wpi_sm *sm = warp->sm;
    issue_times times = {0};
    uint32_t count = 0;
    for (; warp->step < warp->step_outer && steps[warp->step].op == WP_TRACE_ISSUE; warp->step++) {
        const wp_trace_step *step = &steps[warp->step];
        times.slots_ps += slots_of(sm, step);
        times.chain_ps += step->chain * sm->latency_ps[step->class];
        times.pipes_ps[sm->profile->classes[step->class].pipe] +=
            step->count * sm->pipe_ps[step->class];
        count += step->count;
    }
    wpi_warp_count_instructions(warp, count);
    wpi_time_ps begun, done;
    enter_pipes(warp->scheduler, &times, now, &begun, &done);
    if (begun > now) wpi_warp_spent(warp, WPI_WARP_TIME_NOT_SELECTED, begun);
    const wpi_time_ps took_ps =
        longer(longer(times.slots_ps, times.chain_ps), fetch_time(warp, count));
    wpi_warp_resume_at(warp, WPI_WARP_TIME_EXECUTE,
                       longer(begun + took_ps, done)); /* ordered before the scheduler's next event
                                                          at the same time */
    wpi_scheduler_take(warp->scheduler, warp, now, times.slots_ps);
}

/* ---- notifications to lanes ---- */

/* Threads have run: asks the source again for stalled warps, and for this one. */
static void ask_again(wpi_warp_run *warp, wpi_time_ps now) {
    if (warp->cta->stalled != 0) wpi_cta_wake_stalled(warp->cta, now);
    if (warp->state == WPI_WARP_BARRIER) wpi_warp_resume_at(warp, WPI_WARP_TIME_BARRIER, now);
}

void wpi_warp_reach(wpi_warp_run *warp, uint32_t lanes, wpi_time_ps now) {
    wpi_warp_source *source = warp->cta->launch->source;
    if (source->ops->reach(source, warp->cta->slot, warp->number, lanes, now / warp->sm->cycle_ps,
                           now / WP_PS_PER_NS)) {
        ask_again(warp, now);
    } else {
        warp->sm->parent.failed(warp->sm->parent.object, warp->cta->launch);
    }
}

static void issue_fence(wpi_warp_run *warp, wpi_time_ps now) {
    if (!wpi_warp_expect(warp, WPI_FENCE_SITE)) {
        wpi_warp_wait_for(warp, WP_TRACE_NONE);
        return;
    }
    wpi_memory_fence(warp->sm->memory, warp->sm->number, now, wpi_warp_memory_answered, warp,
                     WPI_FENCE_SITE);
    warp->step++;
    wpi_warp_wait_for(warp, WPI_FENCE_SITE);
}

/* ---- ends of blocks ---- */

/* Barrier numbers that are known only at run time may differ between lanes. */
static void at_barrier(wpi_warp_run *warp, const wp_trace_step *step, bool waits, wpi_time_ps now) {
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

static void stop(wpi_warp_run *warp, const wp_trace_step *step, wpi_time_ps now) {
    switch (WP_STOP_KIND(step->value)) {
    case WP_STOP_BARRIER:
    case WP_STOP_BARRIER_COUNT:
    case WP_STOP_BARRIER_AND:
    case WP_STOP_BARRIER_OR: at_barrier(warp, step, true, now); break;
    case WP_STOP_BARRIER_ARRIVE: at_barrier(warp, step, false, now); break;
    case WP_STOP_GRID: wpi_cta_at_grid(warp, warp->block.mask); break;
    case WP_STOP_CLUSTER_ARRIVE: wpi_cta_arrive_at_cluster(warp, warp->block.mask, now); break;
    case WP_STOP_CLUSTER_WAIT: wpi_cta_wait_at_cluster(warp, warp->block.mask); break;
    default: break;
    }
}

/* A spinning warp must not starve warps that it waits for, even younger ones. In step it waits for
 * memory in every round, as on hardware. */
static bool gives_way(const wpi_warp_run *warp, const wp_trace_step *step) {
    return WP_STOP_KIND(step->value) == WP_STOP_YIELD && !warp->cta->launch->source->is_in_step;
}

static void let_others_go(wpi_warp_run *warp, wpi_time_ps now) {
    warp->ready.age = warp->sm->warp_ages++;
    wpi_warp_resume_at(warp, WPI_WARP_TIME_THREADS, now + YIELD_CYCLES * warp->sm->cycle_ps);
}

static void code_fetched(void *object, uint64_t address, wpi_time_ps now);

/* Fetches the pages of the block's code from `address` on; false: the warp waits for one. */
static bool fetch_code(wpi_warp_run *warp, uint64_t address, wpi_time_ps now) {
    const wpi_sm *sm = warp->sm;
    const uint64_t outer = warp->cta->launch->code->places[warp->block.block + 1],
                   page = sm->profile->page_bytes;
    for (; address < outer; address = (address / page + 1) * page) {
        if (wpi_memory_fetch(sm->memory, sm->number, address, now, code_fetched, warp)) continue;
        wpi_warp_wait_for(warp, WPI_CODE_SITE);
        return false;
    }
    return true;
}

static void code_fetched(void *object, uint64_t address, wpi_time_ps now) {
    wpi_warp_run *warp = object;
    const uint64_t page = warp->sm->profile->page_bytes;
    wpi_warp_spent(warp, WPI_WARP_TIME_CODE, now);
    if (fetch_code(warp, (address / page + 1) * page, now)) wpi_warp_ready(warp, 0, now);
}

static bool has_code(wpi_warp_run *warp, wpi_time_ps now) {
    const wpi_code *code = warp->cta->launch->code;
    return code == NULL || fetch_code(warp, code->places[warp->block.block], now);
}

static void count_block(const wpi_line_counts *lines, const wpi_warp_block *block) {
    wpi_line_count *counts = &lines->blocks[block->block];
    wpi_line_add(counts, WP_RUN_LINE_WARP_INSTRUCTIONS, 1);
    wpi_line_add(counts, WP_RUN_LINE_THREAD_INSTRUCTIONS,
                 (uint32_t)__builtin_popcount(block->mask));
}

/* Gets the warp's next block from its source; false: the warp is not ready. */
static bool fetch(wpi_warp_run *warp, wpi_time_ps now) {
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
    if (answer != WPI_SOURCE_FAILED) wpi_cta_note_exits(warp, now); /* may release its barrier */
    switch (answer) {
    case WPI_SOURCE_BLOCK: {
        const wp_trace_block *block = &source->tables->blocks[warp->block.block];
        warp->step = block->first_step;
        warp->step_outer = block->first_step + block->step_count;
        warp->access = 0;
        cta->launch->numbers.blocks++;
        if (source->lines != NULL) count_block(source->lines, &warp->block);
        return has_code(warp, now);
    }
    case WPI_SOURCE_EXIT:
        wpi_warp_set_state(warp, WPI_WARP_DRAINS);
        if (warp->score_count == 0) wpi_cta_warp_ended(warp, now);
        return false;
    case WPI_SOURCE_WAIT: wpi_cta_note_waiting(cta); return false;
    case WPI_SOURCE_SPIN:
        wpi_warp_resume_at(warp, WPI_WARP_TIME_THREADS, now + SPIN_CYCLES * warp->sm->cycle_ps);
        return false;
    default: warp->sm->parent.failed(warp->sm->parent.object, cta->launch); return false;
    }
}

void wpi_warp_issue(wpi_warp_run *warp, wpi_time_ps now) {
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
            if (wpi_warp_pass_over(warp, step, now)) break;
            if (!wpi_warp_issue_access(warp, step, now)) return;
            wpi_warp_resume_at(warp, WPI_WARP_TIME_EXECUTE, now + warp->sm->cycle_ps);
            wpi_scheduler_take(warp->scheduler, warp, now, warp->sm->cycle_ps);
            return;
        case WP_TRACE_WAIT:
            if (find_score(warp, step->value) != NULL) {
                wpi_warp_wait_for(warp, step->value);
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
        case WP_TRACE_CLOCK: wpi_warp_reach(warp, warp->block.mask, now); break;
        default: break;
        }
        warp->step++;
    }
}

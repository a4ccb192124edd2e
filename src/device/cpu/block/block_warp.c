/* SPDX-License-Identifier: Apache-2.0 */
/* One warp of a block that runs by warps: its lanes run to their stops, and its operations
 * complete. */
#include "device/cpu/block/block_parts.h"

/* The most times that lanes which meet in their own loop run before lanes that yielded. */
#define PASSED_OVER_MAX 64u
/* Turns of a warp before the next warp gets one: limits unfairness; not needed for correctness. */
#define WARP_TURNS 256u

/* Runs fibers one after the other; lanes that stop in the same state are sorted together. */
static void run_fibers(wpi_block *block, uint32_t w, uint32_t lanes) {
    const uint32_t base = w * WP_WARP_LANES;
    uint32_t alike = 0, state = 0, op = 0;
    for (; lanes != 0; lanes &= lanes - 1) {
        const uint32_t lane = wpi_lanes_lowest(lanes), t = base + lane;
        wpi_fiber_resume(block, t);
        const uint32_t lane_op = block->pub.requests[t].op;
        const uint32_t lane_state = lane_op == WPI_OP_EXIT ? WP_STATE_EXIT : block->pub.states[t];
        if (alike != 0 && (lane_op != op || lane_state != state)) {
            wpi_warp_stop(block, w, alike, state);
            alike = 0;
        }
        alike |= 1u << lane;
        state = lane_state;
        op = lane_op;
    }
    if (alike != 0) wpi_warp_stop(block, w, alike, state);
}

/* Runs `lanes` of warp `w`, all in `state`, to their next stop. */
static void run_lanes(wpi_block *block, uint32_t w, uint32_t lanes, uint32_t state) {
    const uint32_t base = w * WP_WARP_LANES;
    uint32_t *states = block->pub.states;
    if (wpi_block_code(block)->regions == NULL) {
        run_fibers(block, w, lanes);
        return;
    }
    const wp_region_fn run = wpi_block_code(block)->regions[state].run;
    for (uint32_t left = lanes; left != 0;) {
        const uint32_t first = wpi_lanes_lowest(left);
        const uint32_t gap = ~(left >> first);
        const uint32_t outer = gap == 0 ? WP_WARP_LANES : first + wpi_lanes_lowest(gap);
        const uint32_t run_of_lanes = wpi_lanes_between(first, outer);
        const uint32_t next = run(&block->pub, base + first, base + outer);
        if (next == WP_STATE_MIXED) {
            wpi_warp_stop_by_states(block, w, run_of_lanes);
        } else {
            for (uint32_t lane = first; lane < outer; lane++)
                states[base + lane] = next;
            wpi_warp_stop(block, w, run_of_lanes, next);
        }
        left &= ~run_of_lanes;
    }
}

/* Whether a lane outside `group`, at the same place, has one of the group's lanes in its mask. See
 * wpi_warp_complete_odd_ops. */
static bool is_awaited(const wpi_block *block, uint32_t w, uint32_t group) {
    const uint32_t base = w * WP_WARP_LANES,
                   state = block->pub.states[base + wpi_lanes_lowest(group)];
    for (uint32_t left = block->warps[w].op & ~group; left != 0; left &= left - 1) {
        const uint32_t t = base + wpi_lanes_lowest(left);
        if ((block->pub.requests[t].mask & group) != 0 && block->pub.states[t] == state)
            return true;
    }
    return false;
}

/* Whether all lanes of a warp are at one operation that names all. */
static bool are_at_one_op(const wp_cpu_request *requests) {
    uint32_t masks = ~0u, differs = 0;
    for (uint32_t lane = 0; lane < WP_WARP_LANES; lane++) {
        masks &= requests[lane].mask;
        differs |= requests[lane].op ^ requests[0].op;
    }
    return masks == ~0u && differs == 0;
}

static void evaluate(wpi_block *block, uint32_t w, uint32_t kind, uint32_t lanes) {
    wpi_warp_evaluate(block, w, kind, block->pub.requests + (size_t)w * WP_WARP_LANES, lanes);
    wpi_words_answer(block, w, lanes);
}

/* Completes masked operations whose lanes are all there. */
static bool complete_ops(wpi_block *block, uint32_t w) {
    wpi_warp *warp = &block->warps[w];
    const wp_cpu_request *requests = block->pub.requests + (size_t)w * WP_WARP_LANES;
    if (warp->op == ~0u && are_at_one_op(requests)) {
        evaluate(block, w, WP_STOP_KIND(requests[0].op), ~0u);
        warp->op = 0;
        warp->ready = ~0u;
        return true;
    }
    bool has_completed = false;
    for (uint32_t left = warp->op; left != 0;) {
        const uint32_t lane = wpi_lanes_lowest(left);
        const uint32_t need = requests[lane].mask & ~warp->exited;
        left &= ~(1u << lane);
        if ((need >> lane & 1u) == 0 || (need & ~warp->op) != 0) continue;
        uint32_t group = 0;
        for (uint32_t rest = need; rest != 0; rest &= rest - 1) {
            const wp_cpu_request *r = &requests[wpi_lanes_lowest(rest)];
            group |= (uint32_t)(r->op == requests[lane].op && r->mask == requests[lane].mask)
                     << wpi_lanes_lowest(rest);
        }
        if (group != need || is_awaited(block, w, group)) continue;
        evaluate(block, w, WP_STOP_KIND(requests[lane].op), group);
        warp->op &= ~group;
        warp->ready |= group;
        left &= ~group;
        has_completed = true;
    }
    return has_completed;
}

/* No lane of the block can run. Masks that differ between lanes, or lack the lane itself, are
 * undefined in CUDA, but programs use them (a ballot of the lanes below), and GPUs complete them:
 * lanes at the same place that wait for none elsewhere continue, each with the result over its own
 * mask. */
bool wpi_warp_complete_odd_ops(wpi_block *block, uint32_t w) {
    wpi_warp *warp = &block->warps[w];
    wp_cpu_request *requests = block->pub.requests + (size_t)w * WP_WARP_LANES;
    if (warp->op == 0) return false;
    const uint32_t group = wpi_warp_smallest_state(block, w, warp->op);
    const uint32_t kind = WP_STOP_KIND(requests[wpi_lanes_lowest(group)].op);
    for (uint32_t left = group; left != 0; left &= left - 1) {
        if ((requests[wpi_lanes_lowest(left)].mask & ~warp->exited & ~group) != 0) return false;
    }
    uint64_t results[WP_WARP_LANES];
    for (uint32_t left = group; left != 0; left &= left - 1) {
        const uint32_t lane = wpi_lanes_lowest(left), named = requests[lane].mask & group;
        const bool is_vote = kind >= WP_STOP_VOTE_ALL && kind <= WP_STOP_VOTE_BALLOT;
        /* A vote ignores lanes outside its mask. */
        wp_cpu_request copies[WP_WARP_LANES];
        for (uint32_t rest = group; rest != 0; rest &= rest - 1)
            copies[wpi_lanes_lowest(rest)] = requests[wpi_lanes_lowest(rest)];
        if (is_vote && (named >> lane & 1u) == 0) copies[lane].a = kind == WP_STOP_VOTE_ALL;
        wpi_warp_evaluate(block, w, kind, copies, named | 1u << lane);
        results[lane] = copies[lane].result;
    }
    for (uint32_t left = group; left != 0; left &= left - 1)
        requests[wpi_lanes_lowest(left)].result = results[wpi_lanes_lowest(left)];
    wpi_words_answer(block, w, group);
    warp->op &= ~group;
    warp->ready |= group;
    return true;
}

/* Releases `group`: lanes in one state that waited until no other lane is ready. */
static void complete_meet_of(wpi_block *block, uint32_t w, uint32_t group) {
    wpi_warp *warp = &block->warps[w];
    const uint32_t t = w * WP_WARP_LANES + wpi_lanes_lowest(group);
    const uint32_t kind = WP_STOP_KIND(wpi_block_op(block, t, block->pub.states[t]));
    if (kind != WP_STOP_STEP) evaluate(block, w, kind, group);
    warp->meet &= ~group;
    warp->ready |= group;
}

static void complete_smallest_meet(wpi_block *block, uint32_t w) {
    complete_meet_of(block, w, wpi_warp_smallest_state(block, w, block->warps[w].meet));
}

bool wpi_block_meet_without_held(wpi_block *block, uint32_t w) {
    const wpi_warp *warp = &block->warps[w];
    if (warp->meet == 0 || warp->held == 0 || warp->ready != 0) return false;
    complete_smallest_meet(block, w);
    return true;
}

bool wpi_block_meet_in_turn(wpi_block *block, uint32_t w) {
    wpi_warp *warp = &block->warps[w];
    if (warp->meet == 0) return false;
    const uint32_t behind = warp->meet & ~((2u << warp->met_last) - 1u);
    warp->met_last = wpi_lanes_lowest(behind != 0 ? behind : warp->meet);
    const uint32_t state = block->pub.states[w * WP_WARP_LANES + warp->met_last];
    uint32_t group = 0;
    for (uint32_t left = warp->meet; left != 0; left &= left - 1) {
        const uint32_t lane = wpi_lanes_lowest(left);
        group |= (uint32_t)(block->pub.states[w * WP_WARP_LANES + lane] == state) << lane;
    }
    complete_meet_of(block, w, group);
    return true;
}

/* No lane of the warp is ready: releases lanes that wait for that. */
static bool complete_meet(wpi_block *block, uint32_t w) {
    wpi_warp *warp = &block->warps[w];
    if (warp->meet == 0 || warp->held != 0) return false;
    if (warp->yielded != 0 && ++warp->passed_over > PASSED_OVER_MAX) {
        warp->ready = warp->yielded;
        warp->yielded = 0;
        warp->passed_over = 0;
        return true;
    }
    complete_smallest_meet(block, w);
    return true;
}

bool wpi_warp_run(wpi_block *block, uint32_t w) {
    wpi_warp *warp = &block->warps[w];
    bool has_progressed = false;
    for (uint32_t turn = 0; turn < WARP_TURNS; turn++) {
        if (warp->op != 0 && complete_ops(block, w)) has_progressed = true;
        if (warp->ready == 0) {
            if (!complete_meet(block, w)) break;
        }
        const uint32_t lanes = wpi_warp_smallest_state(block, w, warp->ready);
        const uint32_t state = block->pub.states[w * WP_WARP_LANES + wpi_lanes_lowest(lanes)];
        warp->ready &= ~lanes;
        warp->awaits_nested &= ~lanes;
        block->warps_run |= 1u << w;
        run_lanes(block, w, lanes, state);
        if ((lanes & ~warp->yielded) != 0) has_progressed = true;
    }
    /* If its turns ended at an operation, only this call may complete that. */
    if (warp->op != 0 && complete_ops(block, w)) has_progressed = true;
    return has_progressed;
}

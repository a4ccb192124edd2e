/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks whose live threads are all in one state. A stop that completes for all of them at once (a
 * barrier, a warp operation of whole warps) costs no work per thread. */
#include "device/cpu/block/block_parts.h"
#include "device/cpu/check/access_check.h"
#include "device/cpu/check/race_check.h"

typedef enum completion { COMPLETES, WAITS, YIELDS, AT_GRID, AT_CLUSTER } completion;

/* After a region left [first, outer) in different states: whether the live ones are a range in one
 * state.
 */
static bool trim(wpi_block *block) {
    const uint32_t *states = block->pub.states;
    uint32_t first = block->first, outer = block->outer;
    while (first < outer && states[first] == WP_STATE_EXIT)
        first++;
    while (first < outer && states[outer - 1] == WP_STATE_EXIT)
        outer--;
    for (uint32_t t = first + 1; t < outer; t++) {
        if (states[t] != states[first]) return false;
    }
    block->state = first < outer ? states[first] : WP_STATE_EXIT;
    block->first = first;
    block->outer = outer;
    return true;
}

static bool is_barrier(uint32_t kind) {
    return kind >= WP_STOP_BARRIER && kind <= WP_STOP_BARRIER_OR;
}

/* Completes a barrier with requests, over all live threads. */
static completion complete_barrier_together(wpi_block *block, uint32_t kind) {
    wp_cpu_request *requests = block->pub.requests;
    const uint64_t id = requests[block->first].a;
    uint32_t with_predicate = 0;
    for (uint32_t t = block->first; t < block->outer; t++) {
        const uint32_t count = requests[t].mask;
        if (requests[t].a != id || (count != 0 && count < block->pub.thread_count)) return WAITS;
        with_predicate += requests[t].b != 0;
    }
    const uint32_t live = block->outer - block->first;
    uint64_t result = 0;
    if (kind == WP_STOP_BARRIER_COUNT) result = with_predicate;
    if (kind == WP_STOP_BARRIER_AND) result = with_predicate == live;
    if (kind == WP_STOP_BARRIER_OR) result = with_predicate != 0;
    for (uint32_t t = block->first; t < block->outer; t++)
        requests[t].result = result;
    return COMPLETES;
}

/* The common case: a whole warp, each lane with the full mask. */
static bool names_all_lanes(const wp_cpu_request *requests) {
    uint32_t masks = ~0u;
    for (uint32_t lane = 0; lane < WP_WARP_LANES; lane++)
        masks &= requests[lane].mask;
    return masks == ~0u;
}

/* Completes a warp operation at which all live lanes of warp `w` are. */
static completion complete_warp(wpi_block *block, uint32_t w, uint32_t lanes, uint32_t op) {
    wp_cpu_request *requests = block->pub.requests + (size_t)w * WP_WARP_LANES;
    const uint32_t kind = WP_STOP_KIND(op);
    if ((op & WP_STOP_FLAG_ACTIVE) != 0 || kind == WP_STOP_ACTIVE_MASK) {
        wpi_warp_evaluate(block, w, kind, requests, lanes);
        return COMPLETES;
    }
    if (lanes == ~0u && names_all_lanes(requests)) {
        wpi_warp_evaluate(block, w, kind, requests, lanes);
        return COMPLETES;
    }
    for (uint32_t left = lanes; left != 0;) { /* one group for each mask */
        const uint32_t mask = requests[wpi_lanes_lowest(left)].mask;
        const uint32_t group = mask & lanes;
        if ((mask >> wpi_lanes_lowest(left) & 1u) == 0 || (group & ~left) != 0) return WAITS;
        for (uint32_t rest = group; rest != 0; rest &= rest - 1) {
            if (requests[wpi_lanes_lowest(rest)].mask != mask) return WAITS;
        }
        wpi_warp_evaluate(block, w, kind, requests, group);
        left &= ~group;
    }
    return COMPLETES;
}

/* A barrier without a count of its own. */
static bool is_for_all(const wpi_block *block, const wp_cpu_region *region) {
    return (region->flags & WP_CPU_REGION_PLAIN) != 0 ||
           block->pub.requests[block->first].mask == 0;
}

/* The live threads of warp `w`; 0: none. */
static uint32_t lanes_of(const wpi_block *block, uint32_t w) {
    const uint32_t base = w * WP_WARP_LANES;
    const uint32_t first = block->first > base ? block->first - base : 0;
    const uint32_t outer = block->outer - base;
    return wpi_lanes_between(first, outer < WP_WARP_LANES ? outer : WP_WARP_LANES);
}

static void arrive_at_cluster(wpi_block *block) {
    for (uint32_t w = block->first / WP_WARP_LANES; w * WP_WARP_LANES < block->outer; w++)
        wpi_cluster_arrive(block, w, lanes_of(block, w));
    (void)wpi_cluster_complete(block->cluster);
}

static bool waits_at_cluster(const wpi_block *block) {
    for (uint32_t w = block->first / WP_WARP_LANES; w * WP_WARP_LANES < block->outer; w++) {
        if (wpi_cluster_waits(block, w, lanes_of(block, w)) != 0) return true;
    }
    return false;
}

/* All live threads have stopped in block->state. */
static completion complete_together(wpi_block *block) {
    const wp_cpu_region *region = &wpi_block_code(block)->regions[block->state];
    const uint32_t kind = WP_STOP_KIND(region->stop);
    if (wpi_block_is_checked(block) && is_barrier(kind) && is_for_all(block, region)) {
        const bool is_partial = block->outer - block->first != block->pub.thread_count;
        if (is_partial) wpi_check_barrier(block);
        wpi_races_barrier(block);
    }
    if ((region->flags & WP_CPU_REGION_PLAIN) != 0 || kind == WP_STOP_STEP ||
        kind == WP_STOP_ROUND || kind == WP_STOP_CUT) {
        return COMPLETES;
    }
    if (kind == WP_STOP_YIELD) return YIELDS;
    if (kind == WP_STOP_GRID) return AT_GRID;
    if (kind == WP_STOP_BARRIER_ARRIVE) return WAITS;
    if (kind == WP_STOP_CLUSTER_ARRIVE) {
        arrive_at_cluster(block);
        return COMPLETES;
    }
    if (kind == WP_STOP_CLUSTER_WAIT) {
        /* threads that have returned since they arrived count from now on */
        if (block->cluster != NULL) (void)wpi_cluster_complete(block->cluster);
        return waits_at_cluster(block) ? AT_CLUSTER : COMPLETES;
    }
    if (is_barrier(kind)) return complete_barrier_together(block, kind);
    if ((region->flags & WP_CPU_REGION_ALIKE) != 0) {
        for (uint32_t w = block->first / WP_WARP_LANES; w * WP_WARP_LANES < block->outer; w++)
            wpi_words_perform(block, w, lanes_of(block, w), region);
        return COMPLETES;
    }
    for (uint32_t w = block->first / WP_WARP_LANES; w * WP_WARP_LANES < block->outer; w++) {
        if (complete_warp(block, w, lanes_of(block, w), region->stop) == WAITS) {
            return WAITS; /* completed warps will get the same results again */
        }
    }
    return COMPLETES;
}

wpi_outcome wpi_block_run_together(wpi_block *block) {
    const wp_cpu_region *regions = wpi_block_code(block)->regions;
    uint32_t yields = 0;
    bool has_progressed = false;
    if (block->is_at_grid) block->is_at_grid = false;
    if (block->is_at_cluster && waits_at_cluster(block)) return WPI_OUTCOME_CLUSTER;
    block->is_at_cluster = false;
    for (;;) {
        block->awaiting_count = 0;
        const uint32_t next = regions[block->state].run(&block->pub, block->first, block->outer);
        if (next == WP_STATE_EXIT) return WPI_OUTCOME_DONE;
        if (next != WP_STATE_MIXED) {
            block->state = next;
        } else if (!trim(block)) {
            wpi_block_enter_mixed(block);
            return WPI_OUTCOME_COUNT;
        } else if (block->state == WP_STATE_EXIT) {
            return WPI_OUTCOME_DONE;
        }
        switch (complete_together(block)) {
        case COMPLETES: has_progressed = true; break;
        case YIELDS:
            block->awaits_nested = block->awaiting_count == block->outer - block->first;
            if (block->awaits_nested || !wpi_block_lets_yield_pass(block) ||
                ++yields > WPI_YIELD_PASSES) {
                return wpi_block_waits_outside(has_progressed);
            }
            break;
        case AT_GRID: block->is_at_grid = true; return WPI_OUTCOME_GRID;
        case AT_CLUSTER: block->is_at_cluster = true; return WPI_OUTCOME_CLUSTER;
        case WAITS:
            for (uint32_t t = block->first; t < block->outer; t++) {
                block->pub.states[t] = block->state;
            }
            wpi_block_enter_mixed(block);
            return WPI_OUTCOME_COUNT;
        }
    }
}

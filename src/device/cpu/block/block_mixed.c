/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks whose threads are in different states: passes over the warps, then over the barriers,
 * until the threads can run together again or all wait for something outside the block. */
#include <string.h>

#include "device/cpu/block/block_parts.h"

void wpi_block_enter_mixed(wpi_block *block) {
    memset(block->barriers, 0, sizeof block->barriers);
    block->barriers_used = 0;
    block->are_barriers_plain = true;
    block->exited_count = block->pub.thread_count - (block->outer - block->first);
    block->is_mixed = true;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        const uint32_t base = w * WP_WARP_LANES;
        const uint32_t first = block->first > base ? block->first - base : 0;
        const uint32_t outer = block->outer > base ? block->outer - base : 0;
        uint32_t lanes = 0;
        if (first < WP_WARP_LANES && outer > first) {
            lanes = wpi_lanes_between(first, outer < WP_WARP_LANES ? outer : WP_WARP_LANES);
        }
        block->warps[w] = (wpi_warp){.exited = ~lanes};
        wpi_warp_stop_by_states(block, w, lanes);
    }
}

/* Returns to "together" if all live threads are ready, in one state, and a range. */
static bool rejoin(wpi_block *block) {
    if (wpi_block_code(block)->regions == NULL) return false;
    uint32_t first = UINT32_MAX, outer = 0, live = 0;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        const wpi_warp *warp = &block->warps[w];
        if (warp->ready != ~warp->exited) return false;
        if (warp->ready == 0) continue;
        if (first == UINT32_MAX) first = w * WP_WARP_LANES + wpi_lanes_lowest(warp->ready);
        outer = (w + 1) * WP_WARP_LANES - (uint32_t)__builtin_clz(warp->ready);
        live += wpi_lanes_count(warp->ready);
    }
    if (live == 0 || outer - first != live || block->barriers_used != 0) return false;
    const uint32_t *states = block->pub.states;
    for (uint32_t t = first + 1; t < outer; t++) {
        if (states[t] != states[first]) return false;
    }
    block->state = states[first];
    block->first = first;
    block->outer = outer;
    block->is_mixed = false;
    return true;
}

/* Makes lanes ready that yielded or have passed the grid barrier. */
static void make_ready(wpi_block *block) {
    for (uint32_t w = 0; w < block->warp_count; w++) {
        wpi_warp *warp = &block->warps[w];
        warp->ready |= warp->yielded;
        warp->yielded = 0;
        warp->passed_over = 0;
        if (!block->is_at_grid) continue;
        warp->ready |= warp->grid;
        warp->grid = 0;
    }
    block->is_at_grid = false;
}

/* Makes lanes ready whose cluster has passed its barrier. */
static bool release_cluster(wpi_block *block) {
    bool has_released = false;
    if (block->cluster == NULL) return false;
    (void)wpi_cluster_complete(block->cluster);
    for (uint32_t w = 0; w < block->warp_count; w++) {
        wpi_warp *warp = &block->warps[w];
        const uint32_t released = warp->cluster & ~wpi_cluster_waits(block, w, warp->cluster);
        has_released = has_released || released != 0;
        warp->cluster &= ~released;
        warp->ready |= released;
    }
    return has_released;
}

static bool is_any_at_cluster(const wpi_block *block) {
    for (uint32_t w = 0; w < block->warp_count; w++) {
        if (block->warps[w].cluster != 0) return true;
    }
    return false;
}

/* Whether all lanes that yielded wait for grids that the block launched. */
static bool awaits_nested(const wpi_block *block) {
    for (uint32_t w = 0; w < block->warp_count; w++) {
        const wpi_warp *warp = &block->warps[w];
        if ((warp->yielded & ~warp->awaits_nested) != 0 || warp->cluster != 0) return false;
    }
    return true;
}

wpi_outcome wpi_block_run_mixed(wpi_block *block) {
    uint32_t yields = 0;
    bool has_progressed = false;
    make_ready(block);
    (void)release_cluster(block);
    for (;;) {
        if (rejoin(block)) return WPI_OUTCOME_COUNT;
        bool pass_progressed = false;
        for (uint32_t w = 0; w < block->warp_count; w++) {
            if (wpi_warp_run(block, w)) pass_progressed = true;
        }
        if (block->exited_count == block->pub.thread_count) return WPI_OUTCOME_DONE;
        if (block->barriers_used != 0 && wpi_barriers_complete(block, false)) continue;
        if (release_cluster(block)) continue;
        uint32_t ready = 0, yielded = 0, meeting = 0, held = 0, not_at_grid = 0;
        for (uint32_t w = 0; w < block->warp_count; w++) {
            const wpi_warp *warp = &block->warps[w];
            ready |= warp->ready;
            yielded |= warp->yielded;
            meeting |= warp->held == 0 ? warp->meet : 0;
            held |= warp->held;
            not_at_grid |= ~(warp->exited | warp->grid);
        }
        has_progressed = has_progressed || pass_progressed;
        if ((ready | meeting) != 0) continue;
        if (held != 0) return WPI_OUTCOME_HELD;
        if (yielded != 0) {
            block->awaits_nested = awaits_nested(block);
            if (block->awaits_nested || (!pass_progressed && (!wpi_block_lets_yield_pass(block) ||
                                                              ++yields > WPI_YIELD_PASSES))) {
                return wpi_block_waits_outside(has_progressed);
            }
            make_ready(block);
            continue;
        }
        if (not_at_grid == 0) {
            block->is_at_grid = true;
            return WPI_OUTCOME_GRID;
        }
        if (block->barriers_used != 0 && wpi_barriers_complete(block, true)) continue;
        bool has_completed = false;
        for (uint32_t w = 0; w < block->warp_count; w++)
            has_completed = wpi_warp_complete_odd_ops(block, w) || has_completed;
        if (has_completed) continue;
        if (is_any_at_cluster(block)) return WPI_OUTCOME_CLUSTER;
        wpi_block_fail_deadlock(block);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts stopped threads into the warp's sets, until they may run again. */
#include "device/cpu/block/block_parts.h"

/* A warp that is there as a whole need not wait. */
static bool is_performed(wpi_block *block, uint32_t w, uint32_t lanes, uint32_t state) {
    const wp_cpu_region *region = &wpi_block_code(block)->regions[state];
    if ((region->stop & WP_STOP_FLAG_ACTIVE) == 0 && (lanes | block->warps[w].exited) == ~0u) {
        wpi_words_perform(block, w, lanes, region);
        return true;
    }
    wpi_words_request(block, w, lanes, region);
    return false;
}

void wpi_warp_stop(wpi_block *block, uint32_t w, uint32_t lanes, uint32_t state) {
    wpi_warp *warp = &block->warps[w];
    if (state == WP_STATE_EXIT) {
        warp->exited |= lanes;
        block->exited_count += wpi_lanes_count(lanes);
        return;
    }
    if (wpi_block_is_plain(block, state)) {
        block->barriers_used |= 1u;
        block->barriers[0].count = 0;
        block->barriers[0].waiting += wpi_lanes_count(lanes);
        warp->barrier |= lanes;
        return;
    }
    const uint32_t op = wpi_block_op(block, w * WP_WARP_LANES + wpi_lanes_lowest(lanes), state);
    switch (WP_STOP_KIND(op)) {
    case WP_STOP_BARRIER:
    case WP_STOP_BARRIER_COUNT:
    case WP_STOP_BARRIER_AND:
    case WP_STOP_BARRIER_OR:
    case WP_STOP_BARRIER_ARRIVE: wpi_barrier_reach(block, warp, w, lanes, op); break;
    case WP_STOP_STEP:
    case WP_STOP_ACTIVE_MASK: warp->meet |= lanes; break;
    case WP_STOP_YIELD: warp->yielded |= lanes; break;
    case WP_STOP_GRID: warp->grid |= lanes; break;
    case WP_STOP_CLUSTER_ARRIVE:
        wpi_cluster_arrive(block, w, lanes);
        warp->ready |= lanes;
        break;
    case WP_STOP_CLUSTER_WAIT: {
        const uint32_t waits = wpi_cluster_waits(block, w, lanes);
        warp->cluster |= waits;
        warp->ready |= lanes & ~waits;
        break;
    }
    case WPI_OP_HELD: warp->held |= lanes; break;
    case WP_STOP_ROUND:
    case WP_STOP_CUT: warp->ready |= lanes; break;
    default:
        if (wpi_block_is_alike(block, state) && is_performed(block, w, lanes, state))
            warp->ready |= lanes;
        else
            *(op & WP_STOP_FLAG_ACTIVE ? &warp->meet : &warp->op) |= lanes;
        break;
    }
}

/* Whether a whole warp is in one state, as it mostly is. */
static bool is_in_one_state(const uint32_t *states) {
    uint32_t differs = 0;
    for (uint32_t lane = 1; lane < WP_WARP_LANES; lane++)
        differs |= states[lane] ^ states[0];
    return differs == 0;
}

/* The lanes among `lanes` of warp `w` that are in the state of the lowest. */
static uint32_t same_state(const wpi_block *block, uint32_t w, uint32_t lanes) {
    const uint32_t *states = block->pub.states + (size_t)w * WP_WARP_LANES;
    if (lanes == ~0u && is_in_one_state(states)) return lanes;
    const uint32_t state = states[wpi_lanes_lowest(lanes)];
    uint32_t same = 0;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        same |= (uint32_t)(states[wpi_lanes_lowest(left)] == state) << wpi_lanes_lowest(left);
    }
    return same;
}

uint32_t wpi_warp_smallest_state(const wpi_block *block, uint32_t w, uint32_t lanes) {
    const uint32_t *states = block->pub.states + (size_t)w * WP_WARP_LANES;
    if (lanes == ~0u && is_in_one_state(states)) return lanes;
    uint32_t state = UINT32_MAX, same = 0;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const uint32_t lane = wpi_lanes_lowest(left);
        if (states[lane] < state) {
            state = states[lane];
            same = 0;
        }
        same |= (uint32_t)(states[lane] == state) << lane;
    }
    return same;
}

void wpi_warp_stop_by_states(wpi_block *block, uint32_t w, uint32_t lanes) {
    while (lanes != 0) {
        const uint32_t same = same_state(block, w, lanes);
        wpi_warp_stop(block, w, same,
                      block->pub.states[w * WP_WARP_LANES + wpi_lanes_lowest(lanes)]);
        lanes &= ~same;
    }
}

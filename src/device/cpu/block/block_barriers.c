/* SPDX-License-Identifier: Apache-2.0 */
/* Block barriers of threads that do not stop together. */
#include "device/cpu/block/block_parts.h"
#include "device/cpu/check/access_check.h"
#include "device/cpu/check/race_check.h"

uint32_t wpi_barrier_id(const wpi_block *block, uint32_t t) {
    if (wpi_block_is_plain(block, block->pub.states[t])) return 0;
    return (uint32_t)block->pub.requests[t].a % WPI_BARRIERS;
}

static uint32_t barrier_count(const wpi_block *block, uint32_t t) {
    if (wpi_block_is_plain(block, block->pub.states[t])) return 0;
    const uint32_t count = block->pub.requests[t].mask;
    return count >= block->pub.thread_count ? 0 : count; /* 0: all */
}

void wpi_barrier_reach(wpi_block *block, wpi_warp *warp, uint32_t w, uint32_t lanes, uint32_t op) {
    const bool waits = WP_STOP_KIND(op) != WP_STOP_BARRIER_ARRIVE;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const uint32_t t = w * WP_WARP_LANES + wpi_lanes_lowest(left);
        const uint32_t id = wpi_barrier_id(block, t);
        block->barriers_used |= 1u << id;
        block->barriers[id].count = barrier_count(block, t);
        *(waits ? &block->barriers[id].waiting : &block->barriers[id].arrived) += 1;
    }
    block->are_barriers_plain = false;
    *(waits ? &warp->barrier : &warp->ready) |= lanes;
}

/* Whether a waiting thread gave a number of threads: such a barrier may be reached at several
 * places, even if the number is that of the block. */
static bool is_counted(const wpi_block *block) {
    for (uint32_t w = 0; w < block->warp_count; w++) {
        for (uint32_t left = block->warps[w].barrier; left != 0; left &= left - 1) {
            const uint32_t t = w * WP_WARP_LANES + wpi_lanes_lowest(left);
            if (!wpi_block_is_plain(block, block->pub.states[t]) &&
                block->pub.requests[t].mask != 0)
                return true;
        }
    }
    return false;
}

/* Releases all waiting threads, which want no results. */
static void release_plain(wpi_block *block) {
    for (uint32_t w = 0; w < block->warp_count; w++) {
        block->warps[w].ready |= block->warps[w].barrier;
        block->warps[w].barrier = 0;
    }
    block->barriers[0] = (wpi_barrier){0};
    block->barriers_used = 0;
}

/* Releases the threads at barrier `id`, with their results. */
static void release_barrier(wpi_block *block, uint32_t id) {
    wpi_barrier *barrier = &block->barriers[id];
    if (block->are_barriers_plain && !wpi_block_is_checked(block)) {
        release_plain(block);
        return;
    }
    const bool is_only = block->barriers_used == 1u << id;
    uint32_t waiting = 0, with_predicate = 0;
    if (is_only && barrier->count == 0 && barrier->arrived == 0 && wpi_block_is_checked(block) &&
        !is_counted(block)) {
        wpi_check_barrier(block);
        wpi_races_barrier(block);
    }
    for (uint32_t pass = 0; pass < 2; pass++) { /* count, then set results */
        for (uint32_t w = 0; w < block->warp_count; w++) {
            wpi_warp *warp = &block->warps[w];
            uint32_t released = 0;
            for (uint32_t left = warp->barrier; left != 0; left &= left - 1) {
                const uint32_t t = w * WP_WARP_LANES + wpi_lanes_lowest(left);
                if (!is_only && wpi_barrier_id(block, t) != id) continue;
                released |= 1u << wpi_lanes_lowest(left);
                if (wpi_block_is_plain(block, block->pub.states[t])) {
                    waiting += pass == 0;
                    continue;
                }
                wp_cpu_request *r = &block->pub.requests[t];
                if (pass == 0) {
                    waiting++;
                    with_predicate += r->b != 0;
                    continue;
                }
                r->result = 0;
                if (WP_STOP_KIND(r->op) == WP_STOP_BARRIER_COUNT) r->result = with_predicate;
                if (WP_STOP_KIND(r->op) == WP_STOP_BARRIER_AND) {
                    r->result = with_predicate == waiting;
                }
                if (WP_STOP_KIND(r->op) == WP_STOP_BARRIER_OR) r->result = with_predicate != 0;
            }
            if (pass == 1) {
                warp->ready |= released;
                warp->barrier &= ~released;
            }
        }
    }
    *barrier = (wpi_barrier){0};
    block->barriers_used &= ~(1u << id);
    block->are_barriers_plain = block->barriers_used == 0;
}

/* Lanes that do not exist in warps that wait at barrier `id`: hardware counts whole warps. */
static uint32_t missing_lanes(const wpi_block *block, uint32_t id) {
    const uint32_t w = block->warp_count - 1;
    const uint32_t missing = block->warp_count * WP_WARP_LANES - block->pub.thread_count;
    for (uint32_t left = block->warps[w].barrier; left != 0; left &= left - 1) {
        if (wpi_barrier_id(block, w * WP_WARP_LANES + wpi_lanes_lowest(left)) == id) return missing;
    }
    return 0;
}

bool wpi_barriers_complete(wpi_block *block, bool is_stuck) {
    bool has_completed = false;
    for (uint32_t left = block->barriers_used; left != 0; left &= left - 1) {
        const uint32_t id = wpi_lanes_lowest(left);
        const wpi_barrier *barrier = &block->barriers[id];
        if (barrier->waiting == 0) continue;
        uint32_t there = barrier->waiting + barrier->arrived;
        uint32_t need = barrier->count;
        if (need == 0) {
            need = block->pub.thread_count;
            there += block->exited_count;
        } else if (is_stuck) {
            there += block->exited_count + missing_lanes(block, id);
        }
        if (there < need) continue;
        release_barrier(block, id);
        has_completed = true;
    }
    return has_completed;
}

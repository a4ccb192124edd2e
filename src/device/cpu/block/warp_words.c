/* SPDX-License-Identifier: Apache-2.0 */
/* Warp operations of which each lane decides only a word (WP_CPU_REGION_ALIKE): results take the
 * words' places. The same definitions as in warp_operations.c. */
#include <string.h>

#include "device/cpu/block/block_parts.h"

/* ---- shuffles ---- */

/* Where PTX's c operand makes the warp one segment. */
static bool is_of_whole_warp(uint32_t kind, uint32_t bounds) {
    return (bounds >> 8 & 31u) == 0 && (bounds & 31u) == (kind == WP_STOP_SHFL_UP ? 0 : 31u);
}

/* Words of distance `by`, a power of two, change places; inlined for each. */
static inline void exchange(uint32_t *words, const uint32_t by) {
    for (uint32_t first = 0; first < WP_WARP_LANES; first += 2 * by) {
        for (uint32_t i = first; i < first + by; i++) {
            const uint32_t word = words[i];
            words[i] = words[i + by];
            words[i + by] = word;
        }
    }
}

static void exchange_all(uint32_t *words, uint32_t distance) {
    if ((distance & 1u) != 0) exchange(words, 1);
    if ((distance & 2u) != 0) exchange(words, 2);
    if ((distance & 4u) != 0) exchange(words, 4);
    if ((distance & 8u) != 0) exchange(words, 8);
    if ((distance & 16u) != 0) exchange(words, 16);
}

static void fill(uint32_t *words, uint32_t lanes, uint32_t word) {
    if (lanes == ~0u) {
        for (uint32_t lane = 0; lane < WP_WARP_LANES; lane++)
            words[lane] = word;
        return;
    }
    for (uint32_t left = lanes; left != 0; left &= left - 1)
        words[wpi_lanes_lowest(left)] = word;
}

/* All lanes are there, and one segment. A lane without a source keeps its word. */
static void shuffle_warp(uint32_t kind, uint32_t *words, uint32_t distance) {
    const size_t bytes = (WP_WARP_LANES - distance) * sizeof *words;
    switch (kind) {
    case WP_STOP_SHFL_UP: memmove(words + distance, words, bytes); break;
    case WP_STOP_SHFL_DOWN: memmove(words, words + distance, bytes); break;
    case WP_STOP_SHFL_BFLY: exchange_all(words, distance); break;
    default: fill(words, ~0u, words[distance]); break;
    }
}

/* `b` of one lane. */
static uint64_t operand_of(uint64_t b, const uint32_t *own_lanes, uint32_t lane) {
    return (b & WP_WORDS_OWN_LANES) != 0 ? (b >> 32 << 32) | own_lanes[lane] : b;
}

static void shuffle(uint32_t kind, uint32_t *words, const uint32_t *own_lanes, uint64_t b,
                    uint32_t lanes) {
    const bool is_of_all = lanes == ~0u && is_of_whole_warp(kind, (uint32_t)(b >> 32));
    uint32_t given[WP_WARP_LANES];
    if (is_of_all && (b & WP_WORDS_OWN_LANES) == 0) {
        shuffle_warp(kind, words, (uint32_t)b & 31u);
        return;
    }
    for (uint32_t lane = 0; lane < WP_WARP_LANES; lane++)
        given[lane] = (lanes >> lane & 1u) != 0 ? words[lane] : 0;
    if (is_of_all && kind == WP_STOP_SHFL_IDX) {
        for (uint32_t lane = 0; lane < WP_WARP_LANES; lane++)
            words[lane] = given[own_lanes[lane] & 31u];
        return;
    }
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const uint32_t lane = wpi_lanes_lowest(left);
        bool ignored;
        words[lane] =
            given[wpi_shuffle_source(kind, lane, operand_of(b, own_lanes, lane), &ignored)];
    }
}

/* ---- votes and sums ---- */

static uint32_t ballot(const uint32_t *words, uint32_t lanes) {
    uint32_t mask = 0;
    for (uint32_t lane = 0; lane < WP_WARP_LANES; lane++)
        mask |= (uint32_t)(words[lane] != 0) << lane;
    return mask & lanes;
}

static uint32_t reduce(uint32_t kind, const uint32_t *words, uint32_t lanes) {
    uint32_t value = words[wpi_lanes_lowest(lanes)];
    for (uint32_t left = lanes & (lanes - 1); left != 0; left &= left - 1)
        value = wpi_redux_combine(kind, value, words[wpi_lanes_lowest(left)]);
    return value;
}

/* Of the warp that begins with thread `first`. */
static void perform(const wp_cpu_block *block, uint32_t first, uint32_t lanes, uint32_t op,
                    uint64_t b) {
    const uint32_t kind = WP_STOP_KIND(op);
    uint32_t *words = block->words + first;
    uint32_t mask;
    switch (kind) {
    case WP_STOP_WARP_SYNC: break;
    case WP_STOP_SHFL_IDX:
    case WP_STOP_SHFL_UP:
    case WP_STOP_SHFL_DOWN:
    case WP_STOP_SHFL_BFLY: shuffle(kind, words, block->lane_words + first, b, lanes); break;
    case WP_STOP_VOTE_ALL: fill(words, lanes, ballot(words, lanes) == lanes); break;
    case WP_STOP_VOTE_ANY: fill(words, lanes, ballot(words, lanes) != 0); break;
    case WP_STOP_VOTE_UNI:
        mask = ballot(words, lanes);
        fill(words, lanes, mask == lanes || mask == 0);
        break;
    case WP_STOP_VOTE_BALLOT: fill(words, lanes, ballot(words, lanes)); break;
    default: fill(words, lanes, reduce(kind, words, lanes)); break;
    }
}

/* ---- in a block ---- */

void wpi_words_perform(wpi_block *block, uint32_t w, uint32_t lanes, const wp_cpu_region *region) {
    perform(&block->pub, w * WP_WARP_LANES, lanes, region->stop, region->b);
}

void wpi_words_request(wpi_block *block, uint32_t w, uint32_t lanes, const wp_cpu_region *region) {
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const uint32_t t = w * WP_WARP_LANES + wpi_lanes_lowest(left);
        block->pub.requests[t] =
            (wp_cpu_request){.op = region->stop,
                             .mask = ~0u,
                             .a = block->pub.words[t],
                             .b = operand_of(region->b, block->pub.lane_words, t)};
    }
}

void wpi_words_answer(wpi_block *block, uint32_t w, uint32_t lanes) {
    if ((wpi_block_code(block)->flags & WP_CPU_KERNEL_WORDS) == 0) return;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const uint32_t t = w * WP_WARP_LANES + wpi_lanes_lowest(left);
        block->pub.words[t] = (uint32_t)block->pub.requests[t].result;
    }
}

void wp_rt_warps(wp_cpu_block *block, uint32_t op, uint64_t b) {
    for (uint32_t first = 0; first < block->thread_count; first += WP_WARP_LANES) {
        const uint32_t left = block->thread_count - first;
        const uint32_t outer = left < WP_WARP_LANES ? left : WP_WARP_LANES;
        perform(block, first, wpi_lanes_between(0, outer), op, b);
    }
}

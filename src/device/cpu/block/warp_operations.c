/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Results of warp operations. Participating lanes have written their requests; each gets its
 * `result`. Definitions follow PTX: shfl.sync, vote.sync, match.sync, redux.sync.
 */
#include "device/cpu/block/block_parts.h"

#define EACH_LANE(lane, lanes)                                                                     \
    for (uint32_t wpi_left = (lanes), lane;                                                        \
         wpi_left != 0 && (lane = (uint32_t)__builtin_ctz(wpi_left), true);                        \
         wpi_left &= wpi_left - 1)

/* All lanes participate with equal operands: inlined for each kind, without a branch per lane. */
static inline void shuffle_all(const uint32_t kind, wp_cpu_request *requests) {
    const uint64_t operands = requests[0].b;
    for (uint32_t lane = 0; lane < WP_WARP_LANES; lane++) {
        bool in_range;
        const uint32_t source = wpi_shuffle_source(kind, lane, operands, &in_range);
        requests[lane].result = (uint32_t)requests[source].a | (uint64_t)in_range << 32;
    }
}

static bool is_shuffled_alike(const wp_cpu_request *requests, uint32_t lanes) {
    uint64_t differs = 0;
    for (uint32_t lane = 1; lane < WP_WARP_LANES; lane++)
        differs |= requests[lane].b ^ requests[0].b;
    return lanes == ~0u && differs == 0;
}

static void shuffle(uint32_t kind, wp_cpu_request *requests, uint32_t lanes) {
    if (is_shuffled_alike(requests, lanes)) {
        switch (kind) {
        case WP_STOP_SHFL_UP: shuffle_all(WP_STOP_SHFL_UP, requests); return;
        case WP_STOP_SHFL_DOWN: shuffle_all(WP_STOP_SHFL_DOWN, requests); return;
        case WP_STOP_SHFL_BFLY: shuffle_all(WP_STOP_SHFL_BFLY, requests); return;
        default: shuffle_all(WP_STOP_SHFL_IDX, requests); return;
        }
    }
    EACH_LANE(lane, lanes) {
        bool in_range;
        uint32_t source = wpi_shuffle_source(kind, lane, requests[lane].b, &in_range);
        const bool is_there = (lanes >> source & 1u) != 0; /* undefined in PTX if not: 0 */
        const uint32_t value = is_there ? (uint32_t)requests[source].a : 0;
        requests[lane].result = value | (uint64_t)in_range << 32;
    }
}

/* Votes are the commonest operation of whole warps: these get loops without branches. */
static void give(wp_cpu_request *requests, uint32_t lanes, uint64_t result) {
    if (lanes == ~0u) {
        for (uint32_t lane = 0; lane < WP_WARP_LANES; lane++)
            requests[lane].result = result;
        return;
    }
    EACH_LANE(lane, lanes) {
        requests[lane].result = result;
    }
}

static uint32_t ballot(const wp_cpu_request *requests, uint32_t lanes) {
    uint32_t mask = 0;
    if (lanes == ~0u) {
        for (uint32_t lane = 0; lane < WP_WARP_LANES; lane++)
            mask |= (uint32_t)(requests[lane].a != 0) << lane;
        return mask;
    }
    EACH_LANE(lane, lanes) {
        mask |= (uint32_t)(requests[lane].a != 0) << lane;
    }
    return mask;
}

/* Lanes are found by a hash of their value: a digit in a sort has up to 32. */
static void match_any(wp_cpu_request *requests, uint32_t lanes) {
    enum { SLOT_BITS = 6, SLOTS = 1 << SLOT_BITS };
    uint8_t slots[SLOTS] = {0}, first_of[WP_WARP_LANES]; /* a slot: 1 + the first lane of a value */
    uint32_t same[WP_WARP_LANES];
    EACH_LANE(lane, lanes) {
        const uint64_t value = requests[lane].a;
        uint32_t at = (uint32_t)(value * 0x9e3779b97f4a7c15u >> (64 - SLOT_BITS));
        while (slots[at] != 0 && requests[slots[at] - 1].a != value)
            at = (at + 1) % SLOTS;
        if (slots[at] == 0) {
            slots[at] = (uint8_t)(lane + 1);
            same[lane] = 0;
        }
        first_of[lane] = (uint8_t)(slots[at] - 1);
        same[first_of[lane]] |= 1u << lane;
    }
    EACH_LANE(lane, lanes) {
        requests[lane].result = same[first_of[lane]];
    }
}

static void match_all(wp_cpu_request *requests, uint32_t lanes) {
    const uint64_t value = requests[__builtin_ctz(lanes)].a;
    bool is_same = true;
    EACH_LANE(lane, lanes) {
        is_same = is_same && requests[lane].a == value;
    }
    give(requests, lanes, is_same ? lanes | (uint64_t)1 << 32 : 0);
}

static void reduce(uint32_t kind, wp_cpu_request *requests, uint32_t lanes) {
    uint32_t value = (uint32_t)requests[__builtin_ctz(lanes)].a;
    EACH_LANE(lane, lanes & (lanes - 1)) {
        value = wpi_redux_combine(kind, value, (uint32_t)requests[lane].a);
    }
    give(requests, lanes, value);
}

void wpi_warp_evaluate(const wpi_block *block, uint32_t w, uint32_t kind, wp_cpu_request *requests,
                       uint32_t lanes) {
    switch (kind) {
    case WP_STOP_SHFL_IDX:
    case WP_STOP_SHFL_UP:
    case WP_STOP_SHFL_DOWN:
    case WP_STOP_SHFL_BFLY: shuffle(kind, requests, lanes); break;
    case WP_STOP_VOTE_ALL: give(requests, lanes, ballot(requests, lanes) == lanes); break;
    case WP_STOP_VOTE_ANY: give(requests, lanes, ballot(requests, lanes) != 0); break;
    case WP_STOP_VOTE_UNI: {
        const uint32_t mask = ballot(requests, lanes);
        give(requests, lanes, mask == lanes || mask == 0);
        break;
    }
    case WP_STOP_VOTE_BALLOT: give(requests, lanes, ballot(requests, lanes)); break;
    case WP_STOP_MATCH_ANY: match_any(requests, lanes); break;
    case WP_STOP_MATCH_ALL: match_all(requests, lanes); break;
    case WP_STOP_REDUX_ADD:
    case WP_STOP_REDUX_MIN_S:
    case WP_STOP_REDUX_MAX_S:
    case WP_STOP_REDUX_MIN_U:
    case WP_STOP_REDUX_MAX_U:
    case WP_STOP_REDUX_AND:
    case WP_STOP_REDUX_OR:
    case WP_STOP_REDUX_XOR: reduce(kind, requests, lanes); break;
    case WP_STOP_ACTIVE_MASK: give(requests, lanes, lanes); break;
    case WP_STOP_MATRIX: wpi_warp_matrix(block, w, requests, lanes); break;
    default: give(requests, lanes, 0); break; /* WARP_SYNC */
    }
}

const char *wpi_stop_name(uint32_t op) {
    switch (WP_STOP_KIND(op)) {
    case WP_STOP_BARRIER: return "__syncthreads";
    case WP_STOP_BARRIER_COUNT: return "__syncthreads_count";
    case WP_STOP_BARRIER_AND: return "__syncthreads_and";
    case WP_STOP_BARRIER_OR: return "__syncthreads_or";
    case WP_STOP_BARRIER_ARRIVE: return "bar.arrive";
    case WP_STOP_WARP_SYNC: return "__syncwarp";
    case WP_STOP_SHFL_IDX: return "__shfl_sync";
    case WP_STOP_SHFL_UP: return "__shfl_up_sync";
    case WP_STOP_SHFL_DOWN: return "__shfl_down_sync";
    case WP_STOP_SHFL_BFLY: return "__shfl_xor_sync";
    case WP_STOP_VOTE_ALL: return "__all_sync";
    case WP_STOP_VOTE_ANY: return "__any_sync";
    case WP_STOP_VOTE_UNI: return "vote.uni";
    case WP_STOP_VOTE_BALLOT: return "__ballot_sync";
    case WP_STOP_MATCH_ANY: return "__match_any_sync";
    case WP_STOP_MATCH_ALL: return "__match_all_sync";
    case WP_STOP_REDUX_ADD:
    case WP_STOP_REDUX_MIN_S:
    case WP_STOP_REDUX_MAX_S:
    case WP_STOP_REDUX_MIN_U:
    case WP_STOP_REDUX_MAX_U:
    case WP_STOP_REDUX_AND:
    case WP_STOP_REDUX_OR:
    case WP_STOP_REDUX_XOR: return "__reduce_sync";
    case WP_STOP_ACTIVE_MASK: return "__activemask";
    case WP_STOP_STEP: return "a volatile access";
    case WP_STOP_YIELD: return "a waiting loop";
    case WP_STOP_GRID: return "the grid barrier";
    case WP_STOP_CLUSTER_ARRIVE:
    case WP_STOP_CLUSTER_WAIT: return "the barrier of its cluster";
    case WP_STOP_ROUND: return "a loop's round";
    case WP_STOP_CUT: return "a cut";
    case WP_STOP_MATRIX: return "a matrix instruction";
    default: return "an unknown stop";
    }
}

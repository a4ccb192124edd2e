/* SPDX-License-Identifier: Apache-2.0 */
/** Internals of the scheduler of a block; see block.c. Not for other folders. */
#ifndef WP_DEVICE_CPU_BLOCK_PARTS_H
#define WP_DEVICE_CPU_BLOCK_PARTS_H

#include "device/cpu/cpu.h"

/* Passes without progress before the block is parked, if other workers may help. */
#define WPI_YIELD_PASSES 32u

/* ---- sets of lanes ---- */

static inline uint32_t wpi_lanes_count(uint32_t lanes) {
    return (uint32_t)__builtin_popcount(lanes);
}

static inline uint32_t wpi_lanes_lowest(uint32_t lanes) {
    return (uint32_t)__builtin_ctz(lanes);
}

/** Lanes [first, outer), 0 <= first < outer <= 32. */
static inline uint32_t wpi_lanes_between(uint32_t first, uint32_t outer) {
    return (outer == 32u ? ~0u : (1u << outer) - 1u) & ~((1u << first) - 1u);
}

/* ---- the block ---- */

static inline const wp_cpu_kernel *wpi_block_code(const wpi_block *block) {
    return block->launch->kernel->code;
}

/** The operation at which thread `t`, in state `state`, has stopped. */
static inline uint32_t wpi_block_op(const wpi_block *block, uint32_t t, uint32_t state) {
    const wp_cpu_kernel *code = wpi_block_code(block);
    return code->regions != NULL ? code->regions[state].stop : block->pub.requests[t].op;
}

/** Whether the stop of that state is a barrier over all threads, without requests. */
static inline bool wpi_block_is_plain(const wpi_block *block, uint32_t state) {
    const wp_cpu_kernel *code = wpi_block_code(block);
    return code->regions != NULL && (code->regions[state].flags & WP_CPU_REGION_PLAIN) != 0;
}

/** Whether the stop of that state is a warp operation without requests. */
static inline bool wpi_block_is_alike(const wpi_block *block, uint32_t state) {
    const wp_cpu_kernel *code = wpi_block_code(block);
    return code->regions != NULL && (code->regions[state].flags & WP_CPU_REGION_ALIKE) != 0;
}

static inline bool wpi_block_is_checked(const wpi_block *block) {
    return block->launch->kernel->site_count != 0;
}

/** Whether other workers may enable a block that yields to continue. */
static inline bool wpi_block_lets_yield_pass(const wpi_block *block) {
    return block->launch->device->base.info.sm_count > 1;
}

/** The outcome of a run that ends with threads that wait for something outside the block. */
static inline wpi_outcome wpi_block_waits_outside(bool has_progressed) {
    return has_progressed ? WPI_OUTCOME_PROGRESSED : WPI_OUTCOME_YIELDS;
}

/** Runs while all threads are together. COUNT: they no longer are (block_together.c). */
wpi_outcome wpi_block_run_together(wpi_block *block);
/** Runs by warps. COUNT: all threads are together again (block_mixed.c). */
wpi_outcome wpi_block_run_mixed(wpi_block *block);
/** Switches to running by warps. The live threads [first, outer) have their states in states[]. */
void wpi_block_enter_mixed(wpi_block *block);
/** Fails; the message names the first waiting thread, and the first that waits elsewhere. */
_Noreturn void wpi_block_fail_deadlock(wpi_block *block);

/* ---- warps (block_stops.c, block_warp.c) ---- */

/** `lanes` of warp `w` have stopped, all in `state`. */
void wpi_warp_stop(wpi_block *block, uint32_t w, uint32_t lanes, uint32_t state);
/** Sorts `lanes` of warp `w` by their states[] into the warp's sets. */
void wpi_warp_stop_by_states(wpi_block *block, uint32_t w, uint32_t lanes);
/** The lanes among `lanes` of warp `w` that are in the smallest state of any. */
uint32_t wpi_warp_smallest_state(const wpi_block *block, uint32_t w, uint32_t lanes);
/** Runs a warp until no lane is ready, or its turns are used up. True if any lane progressed beyond
 * a yield. */
bool wpi_warp_run(wpi_block *block, uint32_t w);
/** If no lane of the block can run: completes an operation of the warp whose masks are undefined in
 * CUDA. False: there is none. */
bool wpi_warp_complete_odd_ops(wpi_block *block, uint32_t w);

/* ---- what warp operations compute ---- */

/** The lane that `lane` reads from, by PTX's rule; *in_range is PTX's predicate. */
static inline uint32_t wpi_shuffle_source(uint32_t kind, uint32_t lane, uint64_t operands,
                                          bool *in_range) {
    const uint32_t b = (uint32_t)operands & 31u;
    const uint32_t c = (uint32_t)(operands >> 32);
    const uint32_t clamp = c & 31u;
    const uint32_t segment = (c >> 8) & 31u;
    const uint32_t lane_max = (lane & segment) | (clamp & ~segment & 31u);
    uint32_t source;
    switch (kind) {
    case WP_STOP_SHFL_UP:
        source = lane - b;
        *in_range = (int32_t)source >= (int32_t)lane_max;
        break;
    case WP_STOP_SHFL_DOWN:
        source = lane + b;
        *in_range = source <= lane_max;
        break;
    case WP_STOP_SHFL_BFLY:
        source = lane ^ b;
        *in_range = source <= lane_max;
        break;
    default:
        source = (lane & segment) | (b & ~segment & 31u);
        *in_range = source <= lane_max;
        break;
    }
    return *in_range ? source : lane;
}

static inline uint32_t wpi_redux_combine(uint32_t kind, uint32_t x, uint32_t y) {
    switch (kind) {
    case WP_STOP_REDUX_ADD: return x + y;
    case WP_STOP_REDUX_MIN_S: return (int32_t)x < (int32_t)y ? x : y;
    case WP_STOP_REDUX_MAX_S: return (int32_t)x > (int32_t)y ? x : y;
    case WP_STOP_REDUX_MIN_U: return x < y ? x : y;
    case WP_STOP_REDUX_MAX_U: return x > y ? x : y;
    case WP_STOP_REDUX_AND: return x & y;
    case WP_STOP_REDUX_OR: return x | y;
    default: return x ^ y;
    }
}

/* ---- warp operations of words (warp_words.c), in states that are alike ---- */

/** Performs one for `lanes`, all live lanes of warp `w`. */
void wpi_words_perform(wpi_block *block, uint32_t w, uint32_t lanes, const wp_cpu_region *region);
/** For lanes that wait for others: makes requests of their words. */
void wpi_words_request(wpi_block *block, uint32_t w, uint32_t lanes, const wp_cpu_region *region);
/** Results of requests become words. */
void wpi_words_answer(wpi_block *block, uint32_t w, uint32_t lanes);

/* ---- barriers (block_barriers.c) ---- */

/** The id of the barrier at which thread `t` is. */
uint32_t wpi_barrier_id(const wpi_block *block, uint32_t t);
/** Counts threads that reach barriers; those that only arrive continue at once. */
void wpi_barrier_reach(wpi_block *block, wpi_warp *warp, uint32_t w, uint32_t lanes, uint32_t op);
/** Releases barriers that enough threads have reached. `is_stuck`: no thread can run, so exited
 * threads also count at a barrier for a part of the block. */
bool wpi_barriers_complete(wpi_block *block, bool is_stuck);

#endif

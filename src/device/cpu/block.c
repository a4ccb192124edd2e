/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The scheduler of one thread block. The rules are written down in docs/rooms/abi.md.
 *
 *   together   All live threads are in one state: a range [first, outer) and a state number. A stop
 *              that completes for all of them at once (a barrier, a warp operation of whole warps)
 *              costs no work per thread. Region form only.
 *   mixed      Each warp keeps sets of lanes (wpi_warp). Passes over the warps: in each, the ready
 *              lanes with the smallest state run, until none is ready; then operations complete,
 *              then barriers. When all live threads meet again in one state, back to "together".
 *
 * A block in which every thread that could run has yielded gives its worker back (YIELDS): what it
 * waits for may be another block. A block in which nobody can run is a deadlock, and says so.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "device/cpu/access_check.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"

#define STACK_OF_CALLS_BYTES ((size_t)16384) /* beside large local arrays, at least */

/* Lanes that yielded are passed over at most so often by lanes that meet in a loop of their own. */
#define PASSED_OVER_MAX 64u
/* Turns of a warp before the next warp gets one: a bound on unfairness, not on correctness. */
#define WARP_TURNS 256u
/* Fruitless passes before the block is parked, when other workers may be about to help. */
#define YIELD_PASSES 32u
#define FRAME_ALIGN 64u /* of a block's frame, for vectors and local arrays in it */

static uint32_t count_of(uint32_t lanes) {
    return (uint32_t)__builtin_popcount(lanes);
}

static uint32_t lowest(uint32_t lanes) {
    return (uint32_t)__builtin_ctz(lanes);
}

/* Lanes [first, outer), 0 <= first < outer <= 32. */
static uint32_t lanes_between(uint32_t first, uint32_t outer) {
    return (outer == 32u ? ~0u : (1u << outer) - 1u) & ~((1u << first) - 1u);
}

/* ---- storage ----------------------------------------------------------------------------------
 */

static bool grow_frame(wpi_block *block, uint32_t frame_bytes, uint32_t threads) {
    size_t need;
    if (!wp_mul_size(frame_bytes, threads, &need)) return false;
    if (block->frame_capacity >= need) return true;
    wp_free(block->frame_memory);
    block->storage_bytes -= block->frame_capacity;
    block->frame_capacity = 0;
    block->frame_memory = wp_malloc(need + FRAME_ALIGN);
    if (block->frame_memory == NULL) return false;
    block->frame_capacity = need;
    block->storage_bytes += need;
    const uintptr_t misaligned = (uintptr_t)block->frame_memory % FRAME_ALIGN;
    block->pub.frame = block->frame_memory + (FRAME_ALIGN - misaligned);
    return true;
}

/* Whole pages: programs may expect any alignment, and nothing else lies behind the end. */
static bool grow_shared(wpi_block *block, size_t need) {
    if (block->shared_capacity >= need) return true;
    const size_t bytes = (need + 4095u) / 4096u * 4096u;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    if (block->pub.shared != NULL) munmap(block->pub.shared, block->shared_capacity);
    block->storage_bytes += bytes - block->shared_capacity;
    block->pub.shared = memory;
    block->shared_capacity = bytes;
    return true;
}

static bool grow_threads(wpi_block *block, size_t need) {
    if (block->thread_capacity >= need) return true;
    wp_free(block->pub.states);
    wp_free(block->pub.requests);
    wp_free(block->warps);
    block->storage_bytes -= block->thread_capacity * (sizeof(uint32_t) + sizeof(wp_cpu_request));
    block->thread_capacity = 0;
    need = (need + WP_WARP_LANES - 1) / WP_WARP_LANES * WP_WARP_LANES;
    block->pub.states = wp_malloc(need * sizeof(uint32_t));
    block->pub.requests = wp_malloc(need * sizeof(wp_cpu_request));
    block->warps = wp_malloc(need / WP_WARP_LANES * sizeof(wpi_warp));
    if (block->pub.states == NULL || block->pub.requests == NULL || block->warps == NULL) {
        return false;
    }
    block->thread_capacity = need;
    block->storage_bytes += need * (sizeof(uint32_t) + sizeof(wp_cpu_request));
    return true;
}

wpi_block *wpi_block_obtain(wpi_worker *worker, wpi_launch *launch) {
    wpi_block *block = worker->blocks;
    if (block != NULL) {
        worker->blocks = block->next;
        worker->block_count--;
    } else {
        block = wp_calloc(1, sizeof *block);
        if (block == NULL) return NULL;
        block->storage_bytes = sizeof *block;
    }
    block->next = NULL;
    block->worker = worker;
    block->launch = launch;
    block->holds_ref = false;

    const wpi_cpu_kernel *kernel = launch->kernel;
    const wp_cpu_kernel *code = kernel->code;
    const uint32_t threads = launch->thread_count;
    wp_cpu_block *pub = &block->pub;
    const uint32_t shared_bytes = code->shared_static_bytes + launch->shared_dynamic_bytes;
    bool is_complete = grow_shared(block, shared_bytes);
    is_complete = is_complete && grow_frame(block, code->frame_bytes, threads);
    if (kernel->has_states) is_complete = is_complete && grow_threads(block, threads);
    if (code->regions == NULL) {
        size_t stack_bytes = atomic_load(&launch->device->stack_bytes);
        /* The limit is of calls: CUDA gives a kernel's own arrays their room besides. */
        if (code->local_bytes + STACK_OF_CALLS_BYTES > stack_bytes)
            stack_bytes = code->local_bytes + STACK_OF_CALLS_BYTES;
        is_complete = is_complete && wpi_fibers_prepare(block, threads, stack_bytes);
    }
    if (kernel->site_count != 0) is_complete = is_complete && wpi_check_prepare(block);
    if (!is_complete) {
        wpi_block_release(block);
        return NULL;
    }

    const wp_dim3 grid = launch->grid, dim = launch->block;
    memcpy(pub->grid_dim, (uint32_t[3]){grid.x, grid.y, grid.z}, sizeof pub->grid_dim);
    memcpy(pub->block_dim, (uint32_t[3]){dim.x, dim.y, dim.z}, sizeof pub->block_dim);
    pub->thread_count = threads;
    pub->args = launch->args;
    pub->shared_bytes = shared_bytes;
    pub->shared_dynamic_bytes = launch->shared_dynamic_bytes;
    pub->sm_id = worker->number;
    pub->sm_count = launch->device->base.info.sm_count;
    pub->grid_id = launch->id;
    pub->is_cooperative = launch->is_cooperative;
    block->warp_count = (threads + WP_WARP_LANES - 1) / WP_WARP_LANES;
    return block;
}

void wpi_block_release(wpi_block *block) {
    wpi_worker *worker = block->worker;
    if (worker->block_count >= worker->block_max) { /* many were parked: do not hoard */
        wpi_block_destroy(block);
        return;
    }
    block->next = worker->blocks;
    worker->blocks = block;
    worker->block_count++;
}

void wpi_block_destroy(wpi_block *block) {
    if (block == NULL) return;
    wpi_fibers_release(block);
    wpi_check_release(block);
    if (block->pub.shared != NULL) munmap(block->pub.shared, block->shared_capacity);
    wp_free(block->frame_memory);
    wp_free(block->pub.states);
    wp_free(block->pub.requests);
    wp_free(block->warps);
    wp_free(block);
}

void wpi_block_start(wpi_block *block, uint64_t number) {
    wp_cpu_block *pub = &block->pub;
    const wp_dim3 grid = block->launch->grid;
    if (grid.y == 1 && grid.z == 1) {
        pub->block_idx[0] = (uint32_t)number;
        pub->block_idx[1] = 0;
        pub->block_idx[2] = 0;
    } else {
        const uint64_t row = number / grid.x;
        pub->block_idx[0] = (uint32_t)(number % grid.x);
        pub->block_idx[1] = (uint32_t)(row % grid.y);
        pub->block_idx[2] = (uint32_t)(row / grid.y);
    }
    pub->thread = 0;
    memset(pub->tid, 0, sizeof pub->tid);
    block->state = 0;
    block->first = 0;
    block->outer = pub->thread_count;
    block->is_at_grid = false;
    block->is_mixed = block->launch->kernel->code->regions == NULL;
    if (!block->is_mixed) return;

    memset(block->barriers, 0, sizeof block->barriers);
    block->barriers_used = 0;
    block->exited_count = 0;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        const uint32_t left = pub->thread_count - w * WP_WARP_LANES;
        const uint32_t lanes = lanes_between(0, left < WP_WARP_LANES ? left : WP_WARP_LANES);
        block->warps[w] = (wpi_warp){.ready = lanes, .exited = ~lanes};
    }
    memset(pub->states, 0, pub->thread_count * sizeof *pub->states);
    wpi_fibers_start(block);
}

/* ---- what a thread waits for ------------------------------------------------------------------
 */

static const wp_cpu_kernel *code_of(const wpi_block *block) {
    return block->launch->kernel->code;
}

/* The operation at which thread `t`, in state `state`, has stopped. */
static uint32_t op_of(const wpi_block *block, uint32_t t, uint32_t state) {
    const wp_cpu_kernel *code = code_of(block);
    return code->regions != NULL ? code->regions[state].stop : block->pub.requests[t].op;
}

static bool is_plain(const wpi_block *block, uint32_t state) {
    const wp_cpu_kernel *code = code_of(block);
    return code->regions != NULL && (code->regions[state].flags & WP_CPU_REGION_PLAIN) != 0;
}

static uint32_t barrier_id(const wpi_block *block, uint32_t t) {
    if (is_plain(block, block->pub.states[t])) return 0;
    return (uint32_t)block->pub.requests[t].a % WPI_BARRIERS;
}

static uint32_t barrier_count(const wpi_block *block, uint32_t t) {
    if (is_plain(block, block->pub.states[t])) return 0;
    const uint32_t count = block->pub.requests[t].mask;
    return count >= block->pub.thread_count ? 0 : count; /* 0: all */
}

static bool is_checked(const wpi_block *block) {
    return block->launch->kernel->site_count != 0;
}

static bool is_barrier(uint32_t kind) {
    return kind >= WP_STOP_BARRIER && kind <= WP_STOP_BARRIER_OR;
}

/* Threads at a barrier of the given ids count in; those that only arrive go on at once. */
static void reach_barrier(wpi_block *block, wpi_warp *warp, uint32_t w, uint32_t lanes,
                          uint32_t op) {
    const bool waits = WP_STOP_KIND(op) != WP_STOP_BARRIER_ARRIVE;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const uint32_t t = w * WP_WARP_LANES + lowest(left);
        const uint32_t id = barrier_id(block, t);
        block->barriers_used |= 1u << id;
        block->barriers[id].count = barrier_count(block, t);
        *(waits ? &block->barriers[id].waiting : &block->barriers[id].arrived) += 1;
    }
    *(waits ? &warp->barrier : &warp->ready) |= lanes;
}

/* `lanes` of warp `w` have stopped, all in `state`. */
static void stop_lanes(wpi_block *block, uint32_t w, uint32_t lanes, uint32_t state) {
    wpi_warp *warp = &block->warps[w];
    if (state == WP_STATE_EXIT) {
        warp->exited |= lanes;
        block->exited_count += count_of(lanes);
        return;
    }
    if (is_plain(block, state)) {
        block->barriers_used |= 1u;
        block->barriers[0].count = 0;
        block->barriers[0].waiting += count_of(lanes);
        warp->barrier |= lanes;
        return;
    }
    const uint32_t op = op_of(block, w * WP_WARP_LANES + lowest(lanes), state);
    switch (WP_STOP_KIND(op)) {
    case WP_STOP_BARRIER:
    case WP_STOP_BARRIER_COUNT:
    case WP_STOP_BARRIER_AND:
    case WP_STOP_BARRIER_OR:
    case WP_STOP_BARRIER_ARRIVE: reach_barrier(block, warp, w, lanes, op); break;
    case WP_STOP_STEP:
    case WP_STOP_ACTIVE_MASK: warp->meet |= lanes; break;
    case WP_STOP_YIELD: warp->yielded |= lanes; break;
    case WP_STOP_GRID: warp->grid |= lanes; break;
    case WPI_OP_HELD: warp->held |= lanes; break;
    case WP_STOP_ROUND:
    case WP_STOP_CUT: warp->ready |= lanes; break;
    default: *(op & WP_STOP_FLAG_ACTIVE ? &warp->meet : &warp->op) |= lanes; break;
    }
}

/* The lanes among `lanes` of warp `w` that are in the state of the lowest. */
static uint32_t same_state(const wpi_block *block, uint32_t w, uint32_t lanes) {
    const uint32_t *states = block->pub.states + (size_t)w * WP_WARP_LANES;
    const uint32_t state = states[lowest(lanes)];
    uint32_t same = 0;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        same |= (uint32_t)(states[lowest(left)] == state) << lowest(left);
    }
    return same;
}

/* … in the smallest state of any. */
static uint32_t smallest_state(const wpi_block *block, uint32_t w, uint32_t lanes) {
    const uint32_t *states = block->pub.states + (size_t)w * WP_WARP_LANES;
    uint32_t state = UINT32_MAX, same = 0;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const uint32_t lane = lowest(left);
        if (states[lane] < state) {
            state = states[lane];
            same = 0;
        }
        same |= (uint32_t)(states[lane] == state) << lane;
    }
    return same;
}

/* Sorts `lanes` of warp `w` by their states[] into the warp's sets. */
static void stop_by_states(wpi_block *block, uint32_t w, uint32_t lanes) {
    while (lanes != 0) {
        const uint32_t same = same_state(block, w, lanes);
        stop_lanes(block, w, same, block->pub.states[w * WP_WARP_LANES + lowest(lanes)]);
        lanes &= ~same;
    }
}

/* ---- together ---------------------------------------------------------------------------------
 */

/* The block's live threads [first, outer) have their states in states[]: from now on, by warps. */
static void enter_mixed(wpi_block *block) {
    memset(block->barriers, 0, sizeof block->barriers);
    block->barriers_used = 0;
    block->exited_count = block->pub.thread_count - (block->outer - block->first);
    block->is_mixed = true;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        const uint32_t base = w * WP_WARP_LANES;
        const uint32_t first = block->first > base ? block->first - base : 0;
        const uint32_t outer = block->outer > base ? block->outer - base : 0;
        uint32_t lanes = 0;
        if (first < WP_WARP_LANES && outer > first) {
            lanes = lanes_between(first, outer < WP_WARP_LANES ? outer : WP_WARP_LANES);
        }
        block->warps[w] = (wpi_warp){.exited = ~lanes};
        stop_by_states(block, w, lanes);
    }
}

/* After a region left [first, outer) in different states: are the live ones a range in one state?
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

typedef enum completion { COMPLETES, WAITS, YIELDS, AT_GRID } completion;

/* A barrier with requests, over all live threads. */
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

/* The common case: a whole warp, each lane with the mask of all. */
static bool names_all_lanes(const wp_cpu_request *requests) {
    uint32_t masks = ~0u;
    for (uint32_t lane = 0; lane < WP_WARP_LANES; lane++)
        masks &= requests[lane].mask;
    return masks == ~0u;
}

/* A warp operation at which all live lanes of warp `w` are. */
static completion complete_warp(wpi_block *block, uint32_t w, uint32_t lanes, uint32_t op) {
    wp_cpu_request *requests = block->pub.requests + (size_t)w * WP_WARP_LANES;
    const uint32_t kind = WP_STOP_KIND(op);
    if ((op & WP_STOP_FLAG_ACTIVE) != 0 || kind == WP_STOP_ACTIVE_MASK) {
        wpi_warp_evaluate(kind, requests, lanes);
        return COMPLETES;
    }
    if (lanes == ~0u && names_all_lanes(requests)) {
        wpi_warp_evaluate(kind, requests, lanes);
        return COMPLETES;
    }
    for (uint32_t left = lanes; left != 0;) { /* one group for each mask */
        const uint32_t mask = requests[lowest(left)].mask;
        const uint32_t group = mask & lanes;
        if ((mask >> lowest(left) & 1u) == 0 || (group & ~left) != 0) return WAITS;
        for (uint32_t rest = group; rest != 0; rest &= rest - 1) {
            if (requests[lowest(rest)].mask != mask) return WAITS;
        }
        wpi_warp_evaluate(kind, requests, group);
        left &= ~group;
    }
    return COMPLETES;
}

/* A barrier without a count of its own. */
static bool is_for_all(const wpi_block *block, const wp_cpu_region *region) {
    return (region->flags & WP_CPU_REGION_PLAIN) != 0 ||
           block->pub.requests[block->first].mask == 0;
}

/* All live threads have stopped in block->state. */
static completion complete_together(wpi_block *block) {
    const wp_cpu_region *region = &code_of(block)->regions[block->state];
    const uint32_t kind = WP_STOP_KIND(region->stop);
    const bool is_partial = block->outer - block->first != block->pub.thread_count;
    if (is_partial && is_checked(block) && is_barrier(kind) && is_for_all(block, region)) {
        wpi_check_barrier(block);
    }
    if ((region->flags & WP_CPU_REGION_PLAIN) != 0 || kind == WP_STOP_STEP ||
        kind == WP_STOP_ROUND || kind == WP_STOP_CUT) {
        return COMPLETES;
    }
    if (kind == WP_STOP_YIELD) return YIELDS;
    if (kind == WP_STOP_GRID) return AT_GRID;
    if (kind == WP_STOP_BARRIER_ARRIVE) return WAITS;
    if (is_barrier(kind)) return complete_barrier_together(block, kind);
    for (uint32_t w = block->first / WP_WARP_LANES; w * WP_WARP_LANES < block->outer; w++) {
        const uint32_t base = w * WP_WARP_LANES;
        const uint32_t first = block->first > base ? block->first - base : 0;
        const uint32_t outer =
            block->outer - base < WP_WARP_LANES ? block->outer - base : WP_WARP_LANES;
        if (complete_warp(block, w, lanes_between(first, outer), region->stop) == WAITS) {
            return WAITS; /* what was answered already will be answered alike */
        }
    }
    return COMPLETES;
}

/* ---- mixed ------------------------------------------------------------------------------------
 */

/* Fibers run one after the other; lanes that stop alike are counted in together. */
static void run_fibers(wpi_block *block, uint32_t w, uint32_t lanes) {
    const uint32_t base = w * WP_WARP_LANES;
    uint32_t alike = 0, state = 0, op = 0;
    for (; lanes != 0; lanes &= lanes - 1) {
        const uint32_t lane = lowest(lanes), t = base + lane;
        wpi_fiber_resume(block, t);
        const uint32_t lane_op = block->pub.requests[t].op;
        const uint32_t lane_state = lane_op == WPI_OP_EXIT ? WP_STATE_EXIT : block->pub.states[t];
        if (alike != 0 && (lane_op != op || lane_state != state)) {
            stop_lanes(block, w, alike, state);
            alike = 0;
        }
        alike |= 1u << lane;
        state = lane_state;
        op = lane_op;
    }
    if (alike != 0) stop_lanes(block, w, alike, state);
}

/* Runs `lanes` of warp `w`, all in `state`, to their next stop. */
static void run_lanes(wpi_block *block, uint32_t w, uint32_t lanes, uint32_t state) {
    const uint32_t base = w * WP_WARP_LANES;
    uint32_t *states = block->pub.states;
    if (code_of(block)->regions == NULL) {
        run_fibers(block, w, lanes);
        return;
    }
    const wp_region_fn run = code_of(block)->regions[state].run;
    for (uint32_t left = lanes; left != 0;) {
        const uint32_t first = lowest(left);
        const uint32_t gap = ~(left >> first);
        const uint32_t outer = gap == 0 ? WP_WARP_LANES : first + lowest(gap);
        const uint32_t run_of_lanes = lanes_between(first, outer);
        const uint32_t next = run(&block->pub, base + first, base + outer);
        if (next == WP_STATE_MIXED) {
            stop_by_states(block, w, run_of_lanes);
        } else {
            for (uint32_t lane = first; lane < outer; lane++)
                states[base + lane] = next;
            stop_lanes(block, w, run_of_lanes, next);
        }
        left &= ~run_of_lanes;
    }
}

/* Does a lane beside `group`, at the same place, name one of the group's? See complete_odd_ops. */
static bool is_awaited(const wpi_block *block, uint32_t w, uint32_t group) {
    const uint32_t base = w * WP_WARP_LANES, state = block->pub.states[base + lowest(group)];
    for (uint32_t left = block->warps[w].op & ~group; left != 0; left &= left - 1) {
        const uint32_t t = base + lowest(left);
        if ((block->pub.requests[t].mask & group) != 0 && block->pub.states[t] == state)
            return true;
    }
    return false;
}

/* Completes operations with a mask whose lanes are all there. */
static bool complete_ops(wpi_block *block, uint32_t w) {
    wpi_warp *warp = &block->warps[w];
    wp_cpu_request *requests = block->pub.requests + (size_t)w * WP_WARP_LANES;
    bool has_completed = false;
    for (uint32_t left = warp->op; left != 0;) {
        const uint32_t lane = lowest(left);
        const uint32_t need = requests[lane].mask & ~warp->exited;
        left &= ~(1u << lane);
        if ((need >> lane & 1u) == 0 || (need & ~warp->op) != 0) continue;
        uint32_t group = 0;
        for (uint32_t rest = need; rest != 0; rest &= rest - 1) {
            const wp_cpu_request *r = &requests[lowest(rest)];
            group |= (uint32_t)(r->op == requests[lane].op && r->mask == requests[lane].mask)
                     << lowest(rest);
        }
        if (group != need || is_awaited(block, w, group)) continue;
        wpi_warp_evaluate(WP_STOP_KIND(requests[lane].op), requests, group);
        warp->op &= ~group;
        warp->ready |= group;
        left &= ~group;
        has_completed = true;
    }
    return has_completed;
}

/* Nobody can run. Masks that differ between lanes, or lack the lane itself, are undefined in CUDA,
 * but programs use them (a ballot of the lanes below), and GPUs answer: lanes that have come to the
 * same place and wait for none elsewhere go on, each with the answer over its own mask. */
static bool complete_odd_ops(wpi_block *block, uint32_t w) {
    wpi_warp *warp = &block->warps[w];
    wp_cpu_request *requests = block->pub.requests + (size_t)w * WP_WARP_LANES;
    if (warp->op == 0) return false;
    const uint32_t group = smallest_state(block, w, warp->op);
    const uint32_t kind = WP_STOP_KIND(requests[lowest(group)].op);
    for (uint32_t left = group; left != 0; left &= left - 1) {
        if ((requests[lowest(left)].mask & ~warp->exited & ~group) != 0) return false;
    }
    uint64_t results[WP_WARP_LANES];
    for (uint32_t left = group; left != 0; left &= left - 1) {
        const uint32_t lane = lowest(left), named = requests[lane].mask & group;
        const bool is_vote = kind >= WP_STOP_VOTE_ALL && kind <= WP_STOP_VOTE_BALLOT;
        /* A vote does not count a lane that its mask lacks. */
        wp_cpu_request copies[WP_WARP_LANES];
        for (uint32_t rest = group; rest != 0; rest &= rest - 1)
            copies[lowest(rest)] = requests[lowest(rest)];
        if (is_vote && (named >> lane & 1u) == 0) copies[lane].a = kind == WP_STOP_VOTE_ALL;
        wpi_warp_evaluate(kind, copies, named | 1u << lane);
        results[lane] = copies[lane].result;
    }
    for (uint32_t left = group; left != 0; left &= left - 1)
        requests[lowest(left)].result = results[lowest(left)];
    warp->op &= ~group;
    warp->ready |= group;
    return true;
}

/* No lane of the warp is ready: those that wait for just that go on, the smallest state first. */
static bool complete_meet(wpi_block *block, uint32_t w) {
    wpi_warp *warp = &block->warps[w];
    if (warp->meet == 0 || warp->held != 0) return false;
    if (warp->yielded != 0 && ++warp->passed_over > PASSED_OVER_MAX) {
        warp->ready = warp->yielded;
        warp->yielded = 0;
        warp->passed_over = 0;
        return true;
    }
    const uint32_t group = smallest_state(block, w, warp->meet);
    const uint32_t t = w * WP_WARP_LANES + lowest(group);
    const uint32_t kind = WP_STOP_KIND(op_of(block, t, block->pub.states[t]));
    if (kind != WP_STOP_STEP) {
        wpi_warp_evaluate(kind, block->pub.requests + (size_t)w * WP_WARP_LANES, group);
    }
    warp->meet &= ~group;
    warp->ready = group;
    return true;
}

/* Runs a warp until nobody in it is ready, or its turns are used up. True if any lane came further
 * than a yield. */
static bool run_warp(wpi_block *block, uint32_t w) {
    wpi_warp *warp = &block->warps[w];
    bool has_progressed = false;
    for (uint32_t turn = 0; turn < WARP_TURNS; turn++) {
        if (warp->op != 0 && complete_ops(block, w)) has_progressed = true;
        if (warp->ready == 0) {
            if (!complete_meet(block, w)) break;
        }
        const uint32_t lanes = smallest_state(block, w, warp->ready);
        const uint32_t state = block->pub.states[w * WP_WARP_LANES + lowest(lanes)];
        warp->ready &= ~lanes;
        run_lanes(block, w, lanes, state);
        if ((lanes & ~warp->yielded) != 0) has_progressed = true;
    }
    /* Where its turns ended at an operation nobody else may wake it. */
    if (warp->op != 0 && complete_ops(block, w)) has_progressed = true;
    return has_progressed;
}

/* Some thread that waits gave a number of threads: such a barrier may be reached at several places,
 * even if the number is that of the block. */
static bool is_counted(const wpi_block *block) {
    for (uint32_t w = 0; w < block->warp_count; w++) {
        for (uint32_t left = block->warps[w].barrier; left != 0; left &= left - 1) {
            const uint32_t t = w * WP_WARP_LANES + lowest(left);
            if (!is_plain(block, block->pub.states[t]) && block->pub.requests[t].mask != 0)
                return true;
        }
    }
    return false;
}

/* The threads at barrier `id` go on, with their answers. */
static void release_barrier(wpi_block *block, uint32_t id) {
    wpi_barrier *barrier = &block->barriers[id];
    const bool is_only = block->barriers_used == 1u << id;
    uint32_t waiting = 0, with_predicate = 0;
    if (is_only && barrier->count == 0 && barrier->arrived == 0 && is_checked(block) &&
        !is_counted(block)) {
        wpi_check_barrier(block);
    }
    for (uint32_t pass = 0; pass < 2; pass++) { /* count, then answer */
        for (uint32_t w = 0; w < block->warp_count; w++) {
            wpi_warp *warp = &block->warps[w];
            uint32_t released = 0;
            for (uint32_t left = warp->barrier; left != 0; left &= left - 1) {
                const uint32_t t = w * WP_WARP_LANES + lowest(left);
                if (!is_only && barrier_id(block, t) != id) continue;
                released |= 1u << lowest(left);
                if (is_plain(block, block->pub.states[t])) {
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
}

/* Lanes that do not exist in warps that wait at barrier `id`: hardware counts whole warps. */
static uint32_t missing_lanes(const wpi_block *block, uint32_t id) {
    const uint32_t w = block->warp_count - 1;
    const uint32_t missing = block->warp_count * WP_WARP_LANES - block->pub.thread_count;
    for (uint32_t left = block->warps[w].barrier; left != 0; left &= left - 1) {
        if (barrier_id(block, w * WP_WARP_LANES + lowest(left)) == id) return missing;
    }
    return 0;
}

/* Barriers at which enough threads are. `is_stuck`: nobody can run any more, so that threads that
 * have exited count at a barrier of some of the block, too. */
static bool complete_barriers(wpi_block *block, bool is_stuck) {
    bool has_completed = false;
    for (uint32_t left = block->barriers_used; left != 0; left &= left - 1) {
        const uint32_t id = lowest(left);
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

/* All live threads are ready, in one state, and a range: back to "together". */
static bool rejoin(wpi_block *block) {
    if (code_of(block)->regions == NULL) return false;
    uint32_t first = UINT32_MAX, outer = 0, live = 0;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        const wpi_warp *warp = &block->warps[w];
        if (warp->ready != ~warp->exited) return false;
        if (warp->ready == 0) continue;
        if (first == UINT32_MAX) first = w * WP_WARP_LANES + lowest(warp->ready);
        outer = (w + 1) * WP_WARP_LANES - (uint32_t)__builtin_clz(warp->ready);
        live += count_of(warp->ready);
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

/* ---- deadlock ---------------------------------------------------------------------------------
 */

static void thread_index(const wpi_block *block, uint32_t t, uint32_t tid[3]) {
    const uint32_t *dim = block->pub.block_dim;
    tid[0] = t % dim[0];
    tid[1] = t / dim[0] % dim[1];
    tid[2] = t / dim[0] / dim[1];
}

static void describe_wait(const wpi_block *block, uint32_t w, uint32_t lane, char *out,
                          size_t out_bytes) {
    const wpi_warp *warp = &block->warps[w];
    const uint32_t t = w * WP_WARP_LANES + lane;
    const uint32_t op = op_of(block, t, block->pub.states[t]);
    const char *name = wpi_stop_name(op);
    if ((warp->barrier >> lane & 1u) != 0) {
        const wpi_barrier *barrier = &block->barriers[barrier_id(block, t)];
        snprintf(out, out_bytes, "waits at %s (barrier %u, %u of %u threads are there)", name,
                 barrier_id(block, t), barrier->waiting + barrier->arrived,
                 barrier->count != 0 ? barrier->count
                                     : block->pub.thread_count - block->exited_count);
    } else if ((warp->op >> lane & 1u) != 0) {
        const wp_cpu_request *requests = block->pub.requests + (size_t)w * WP_WARP_LANES;
        const uint32_t mask = requests[lane].mask;
        uint32_t there = 0;
        for (uint32_t left = warp->op & mask; left != 0; left &= left - 1) {
            const wp_cpu_request *r = &requests[lowest(left)];
            there |= (uint32_t)(r->op == op && r->mask == mask) << lowest(left);
        }
        snprintf(out, out_bytes, "waits at %s with mask 0x%08x for the lanes 0x%08x", name, mask,
                 mask & ~warp->exited & ~there);
    } else {
        snprintf(out, out_bytes, "waits at %s", name);
    }
}

/* Names the first thread that waits, and the first that waits at something else. */
static _Noreturn void fail_deadlock(wpi_block *block) {
    char waits[2][200] = {"", ""};
    uint32_t other[3] = {0, 0, 0}, first_op = WP_STOP_COUNT;
    for (uint32_t w = 0; w < block->warp_count && waits[1][0] == '\0'; w++) {
        const wpi_warp *warp = &block->warps[w];
        for (uint32_t left = ~warp->exited; left != 0; left &= left - 1) {
            const uint32_t t = w * WP_WARP_LANES + lowest(left);
            const uint32_t op = op_of(block, t, block->pub.states[t]);
            if (waits[0][0] == '\0') {
                describe_wait(block, w, lowest(left), waits[0], sizeof waits[0]);
                thread_index(block, t, block->pub.tid);
                first_op = op;
            } else if (op != first_op) {
                describe_wait(block, w, lowest(left), waits[1], sizeof waits[1]);
                thread_index(block, t, other);
                break;
            }
        }
    }
    if (waits[1][0] == '\0') {
        wpi_worker_fail(block->worker, WP_STATUS_KERNEL_DEADLOCK, true,
                        "%s; no thread of the block can go on", waits[0]);
    }
    wpi_worker_fail(block->worker, WP_STATUS_KERNEL_DEADLOCK, true,
                    "%s, thread (%u,%u,%u) %s; no thread of the block can go on", waits[0],
                    other[0], other[1], other[2], waits[1]);
}

/* ---- the block --------------------------------------------------------------------------------
 */

static bool lets_yield_pass(const wpi_block *block) {
    return block->launch->device->base.info.sm_count > 1;
}

static wpi_outcome waits_outside(bool has_progressed) {
    return has_progressed ? WPI_OUTCOME_PROGRESSED : WPI_OUTCOME_YIELDS;
}

/* Runs while all are together. COUNT: they no longer are. */
static wpi_outcome run_together(wpi_block *block) {
    const wp_cpu_region *regions = code_of(block)->regions;
    uint32_t yields = 0;
    bool has_progressed = false;
    if (block->is_at_grid) block->is_at_grid = false;
    for (;;) {
        const uint32_t next = regions[block->state].run(&block->pub, block->first, block->outer);
        if (next == WP_STATE_EXIT) return WPI_OUTCOME_DONE;
        if (next != WP_STATE_MIXED) {
            block->state = next;
        } else if (!trim(block)) {
            enter_mixed(block);
            return WPI_OUTCOME_COUNT;
        } else if (block->state == WP_STATE_EXIT) {
            return WPI_OUTCOME_DONE;
        }
        switch (complete_together(block)) {
        case COMPLETES: has_progressed = true; break;
        case YIELDS:
            if (!lets_yield_pass(block) || ++yields > YIELD_PASSES) {
                return waits_outside(has_progressed);
            }
            break;
        case AT_GRID: block->is_at_grid = true; return WPI_OUTCOME_GRID;
        case WAITS:
            for (uint32_t t = block->first; t < block->outer; t++) {
                block->pub.states[t] = block->state;
            }
            enter_mixed(block);
            return WPI_OUTCOME_COUNT;
        }
    }
}

/* Lets lanes that yielded, or came through the grid barrier, run again. */
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

/* Runs by warps. COUNT: all are together again. */
static wpi_outcome run_mixed(wpi_block *block) {
    uint32_t yields = 0;
    bool has_progressed = false;
    make_ready(block);
    for (;;) {
        if (rejoin(block)) return WPI_OUTCOME_COUNT;
        bool pass_progressed = false;
        for (uint32_t w = 0; w < block->warp_count; w++) {
            if (run_warp(block, w)) pass_progressed = true;
        }
        if (block->exited_count == block->pub.thread_count) return WPI_OUTCOME_DONE;
        if (block->barriers_used != 0 && complete_barriers(block, false)) continue;
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
            if (!pass_progressed && (!lets_yield_pass(block) || ++yields > YIELD_PASSES)) {
                return waits_outside(has_progressed);
            }
            make_ready(block);
            continue;
        }
        if (not_at_grid == 0) {
            block->is_at_grid = true;
            return WPI_OUTCOME_GRID;
        }
        if (block->barriers_used != 0 && complete_barriers(block, true)) continue;
        bool has_completed = false;
        for (uint32_t w = 0; w < block->warp_count; w++)
            has_completed = complete_odd_ops(block, w) || has_completed;
        if (!has_completed) fail_deadlock(block);
    }
}

void wpi_block_let_go(wpi_block *block, uint32_t w, uint32_t lanes) {
    wpi_warp *warp = &block->warps[w];
    warp->ready |= warp->held & lanes;
    warp->held &= ~lanes;
}

wpi_outcome wpi_block_run(wpi_block *block) {
    wp_rt_block = &block->pub;
    if (is_checked(block)) block->worker->check_stack = __builtin_frame_address(0);
    for (;;) {
        const wpi_outcome outcome = block->is_mixed ? run_mixed(block) : run_together(block);
        if (outcome != WPI_OUTCOME_COUNT) return outcome;
    }
}

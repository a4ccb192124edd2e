/* SPDX-License-Identifier: Apache-2.0 */
/** The block scheduler on kernels in region form. Each test is one rule of docs/rooms/abi.md. */
#include <sched.h>
#include <stdatomic.h>

#include "cpu_program.h"

#define FULL 0xffffffffu

static void ask(wp_cpu_block *b, uint32_t t, uint32_t op, uint32_t mask, uint64_t x, uint64_t y) {
    b->requests[t] = (wp_cpu_request){.op = op, .mask = mask, .a = x, .b = y};
}

/* Runs a kernel whose arguments are one pointer, or two, and expects success. */
static void run_ok(const char *workers, const wp_cpu_kernel *code, uint32_t blocks,
                   uint32_t threads, void *first, void *second) {
    wp_error err = {0};
    assert_status_ok(run_once(workers, code, blocks, threads, (void *[]){&first, &second}, &err),
                     &err);
}

/* ---- identity ---- */

static uint32_t write_identity(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    uint32_t *out = ARG(b, 0, uint32_t *);
    const uint32_t number =
        b->block_idx[0] + b->grid_dim[0] * (b->block_idx[1] + b->grid_dim[1] * b->block_idx[2]);
    for (uint32_t t = first; t < outer; t++)
        out[number * b->thread_count + t] = number * 1000 + t;
    return WP_STATE_EXIT;
}

static void every_block_of_a_3d_grid_runs_once(void **state) {
    (void)state;
    enum { BLOCKS = 5 * 3 * 7, THREADS = 24 };
    static const wp_cpu_region regions[] = {REGION(write_identity, WP_STOP_NONE, 0)};
    static const wp_cpu_kernel code = REGION_KERNEL("identity", regions, 1, 0, 0);
    static uint32_t out[BLOCKS * THREADS];
    wp_error err = {0};
    wp_device *device = open_device("3");
    wp_module *module = load_kernels(device, &code, 1);
    uint32_t *to = out;
    const wp_launch l = {.kernel = find_kernel(module, "identity"),
                         .grid = {5, 3, 7},
                         .block = {4, 3, 2},
                         .args = (void *[]){&to}};
    assert_status_ok(wp_queue_launch(wp_device_default_queue(device), &l, &err), &err);
    assert_status_ok(wp_device_wait(device, &err), &err);
    for (uint32_t b = 0; b < BLOCKS; b++) {
        for (uint32_t t = 0; t < THREADS; t++)
            assert_int_equal(out[b * THREADS + t], b * 1000 + t);
    }
    wp_module_unload(module);
    wp_device_close(device);
}

/* ---- barriers ---- */

/* for (step = 1; step < n; step *= 2) { add to shared from the left; barrier twice }: a prefix sum.
 * The frame holds `step` and the value read. */
typedef struct scan_slot {
    uint32_t step[256], value[256];
} scan_slot;

static uint32_t scan_write(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    scan_slot *f = (scan_slot *)(void *)b->frame;
    uint32_t *shared = (uint32_t *)(void *)b->shared;
    for (uint32_t t = first; t < outer; t++) {
        shared[t] = t + 1;
        f->step[t] = 1;
    }
    return 1;
}

static uint32_t scan_read(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    scan_slot *f = (scan_slot *)(void *)b->frame;
    const uint32_t *shared = (const uint32_t *)(const void *)b->shared;
    if (f->step[first] >= b->thread_count) {
        for (uint32_t t = first; t < outer; t++)
            ARG(b, 0, uint32_t *)[t] = shared[t];
        return WP_STATE_EXIT;
    }
    for (uint32_t t = first; t < outer; t++) {
        f->value[t] = t >= f->step[t] ? shared[t - f->step[t]] : 0;
    }
    return 2;
}

static uint32_t scan_add(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    scan_slot *f = (scan_slot *)(void *)b->frame;
    uint32_t *shared = (uint32_t *)(void *)b->shared;
    for (uint32_t t = first; t < outer; t++) {
        shared[t] += f->value[t];
        f->step[t] *= 2;
    }
    return 1;
}

static void barriers_in_a_loop_order_shared_memory(void **state) {
    (void)state;
    static const wp_cpu_region regions[] = {REGION(scan_write, WP_STOP_NONE, 0),
                                            PLAIN_BARRIER(scan_read), PLAIN_BARRIER(scan_add)};
    wp_cpu_kernel code = REGION_KERNEL("scan", regions, 2, sizeof(scan_slot) / 256, 0);
    code.shared_static_bytes = 256 * sizeof(uint32_t);
    static uint32_t out[256];
    run_ok("1", &code, 1, 256, out, NULL);
    for (uint32_t t = 0; t < 256; t++)
        assert_int_equal(out[t], (t + 1) * (t + 2) / 2);
}

/* Thread t returns at once unless t % 3 == 1; the rest meet at a barrier and count themselves. */
static uint32_t leave_early(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    for (uint32_t t = first; t < outer; t++) {
        b->states[t] = t % 3 == 1 ? 1 : WP_STATE_EXIT;
        if (t % 3 == 1) ask(b, t, WP_STOP_BARRIER_COUNT, 0, 0, t % 2);
    }
    return WP_STATE_MIXED;
}

static uint32_t keep_result(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    for (uint32_t t = first; t < outer; t++)
        ARG(b, 0, uint64_t *)[t] = b->requests[t].result;
    return WP_STATE_EXIT;
}

static void exited_threads_count_as_arrived(void **state) {
    (void)state;
    static const wp_cpu_region regions[] = {REGION(leave_early, WP_STOP_NONE, 0),
                                            REGION(keep_result, WP_STOP_BARRIER_COUNT, 0)};
    static const wp_cpu_kernel code = REGION_KERNEL("early", regions, 2, 0, 0);
    static uint64_t out[100];
    run_ok("1", &code, 1, 100, out, NULL);
    uint64_t odd = 0;
    for (uint32_t t = 1; t < 100; t += 3)
        odd += t % 2;
    for (uint32_t t = 0; t < 100; t++)
        assert_u64(out[t], t % 3 == 1 ? odd : 0);
}

/* if (t < limit) go on: the usual bounds check, then a barrier and a second part. */
static uint32_t check_bounds(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    for (uint32_t t = first; t < outer; t++)
        b->states[t] = t < 70 ? 1 : WP_STATE_EXIT;
    return WP_STATE_MIXED;
}

static uint32_t note_range(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    uint32_t *out = ARG(b, 0, uint32_t *);
    out[0] = first;
    out[1] = outer;
    out[2]++;
    return WP_STATE_EXIT;
}

static void threads_left_after_a_bounds_check_run_together(void **state) {
    (void)state;
    static const wp_cpu_region regions[] = {REGION(check_bounds, WP_STOP_NONE, 0),
                                            PLAIN_BARRIER(note_range)};
    static const wp_cpu_kernel code = REGION_KERNEL("bounds", regions, 2, 0, 0);
    static uint32_t out[3];
    run_ok("1", &code, 1, 128, out, NULL);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], 70);
    assert_int_equal(out[2], 1);
}

static uint32_t ask_barrier(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    const uint64_t op = ARG(b, 1, uint64_t);
    for (uint32_t t = first; t < outer; t++) {
        ask(b, t, (uint32_t)op, 0, 0, t != 5);
        b->states[t] = (uint32_t)op - WP_STOP_BARRIER_COUNT + 1;
    }
    return (uint32_t)op - WP_STOP_BARRIER_COUNT + 1;
}

static void barriers_reduce_a_predicate(void **state) {
    (void)state;
    static const wp_cpu_region regions[] = {
        REGION(ask_barrier, WP_STOP_NONE, 0), REGION(keep_result, WP_STOP_BARRIER_COUNT, 0),
        REGION(keep_result, WP_STOP_BARRIER_AND, 0), REGION(keep_result, WP_STOP_BARRIER_OR, 0)};
    static const wp_cpu_kernel code = REGION_KERNEL("predicate", regions, 2, 0, 0);
    static const struct {
        uint32_t op, expected;
    } cases[] = {{WP_STOP_BARRIER_COUNT, 63}, {WP_STOP_BARRIER_AND, 0}, {WP_STOP_BARRIER_OR, 1}};
    for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
        static uint64_t out[64];
        run_ok("1", &code, 1, 64, out, (void *)(uintptr_t)cases[i].op);
        for (uint32_t t = 0; t < 64; t++)
            assert_u64(out[t], cases[i].expected);
    }
}

/* Warps 0 and 1 use barrier 1 (64 threads), warps 2 and 3 barrier 2, one pair more often. */
static uint32_t pair_start(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    uint32_t *left = (uint32_t *)(void *)b->frame;
    for (uint32_t t = first; t < outer; t++) {
        left[t] = t < 64 ? 1 : 5;
        ask(b, t, WP_STOP_BARRIER_COUNT, 64, 1 + t / 64, 1);
    }
    return 1;
}

static uint32_t pair_again(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    uint32_t *left = (uint32_t *)(void *)b->frame;
    uint32_t next = 0;
    for (uint32_t t = first; t < outer; t++) {
        ARG(b, 0, uint64_t *)[t] += b->requests[t].result;
        left[t]--;
        if (left[t] != 0) ask(b, t, WP_STOP_BARRIER_COUNT, 64, 1 + t / 64, 1);
        b->states[t] = left[t] != 0 ? 1 : WP_STATE_EXIT;
        next = t == first || next == b->states[t] ? b->states[t] : WP_STATE_MIXED;
    }
    return next;
}

static void named_barriers_join_parts_of_a_block(void **state) {
    (void)state;
    static const wp_cpu_region regions[] = {REGION(pair_start, WP_STOP_NONE, 0),
                                            REGION(pair_again, WP_STOP_BARRIER_COUNT, 0)};
    static const wp_cpu_kernel code = REGION_KERNEL("pairs", regions, 2, 4, 0);
    static uint64_t out[128];
    run_ok("1", &code, 1, 128, out, NULL);
    for (uint32_t t = 0; t < 128; t++)
        assert_u64(out[t], t < 64 ? 64 : 5 * 64);
}

/* Producer warp arrives at barrier 3, consumer warp waits there. */
static uint32_t arrive_or_wait(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    for (uint32_t t = first; t < outer; t++) {
        const bool produces = t >= 32;
        if (produces) ARG(b, 0, uint64_t *)[t - 32] = t;
        ask(b, t, produces ? WP_STOP_BARRIER_ARRIVE : WP_STOP_BARRIER, 64, 3, 0);
        b->states[t] = produces ? 1 : 2;
    }
    return WP_STATE_MIXED;
}

static uint32_t just_exit(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    (void)b, (void)first, (void)outer;
    return WP_STATE_EXIT;
}

static uint32_t double_it(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    for (uint32_t t = first; t < outer; t++)
        ARG(b, 0, uint64_t *)[t] *= 2;
    return WP_STATE_EXIT;
}

static void arriving_threads_do_not_wait(void **state) {
    (void)state;
    static const wp_cpu_region regions[] = {REGION(arrive_or_wait, WP_STOP_NONE, 0),
                                            REGION(just_exit, WP_STOP_BARRIER_ARRIVE, 0),
                                            REGION(double_it, WP_STOP_BARRIER, 0)};
    static const wp_cpu_kernel code = REGION_KERNEL("arrive", regions, 2, 0, 0);
    static uint64_t out[32];
    run_ok("1", &code, 1, 64, out, NULL);
    for (uint32_t t = 0; t < 32; t++)
        assert_u64(out[t], 2 * (t + 32));
}

/* ---- warp operations ---- */

/* One operation a thread: op, mask and operands by `WARP_CASE` of the launch, result kept. */
typedef struct warp_case {
    uint32_t op;
    uint32_t (*mask)(uint32_t lane);
    uint64_t (*a)(uint32_t t);
    uint64_t (*b)(uint32_t lane);
} warp_case;

static uint32_t ask_warp(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    const warp_case *c = ARG(b, 1, const warp_case *);
    for (uint32_t t = first; t < outer; t++) {
        const uint32_t lane = t % 32;
        ask(b, t, c->op, c->mask(lane), c->a(t), c->b != NULL ? c->b(lane) : 0);
    }
    return 1;
}

static uint32_t all_lanes(uint32_t lane) {
    (void)lane;
    return FULL;
}
static uint32_t half_lanes(uint32_t lane) {
    return lane < 16 ? 0xffffu : 0xffff0000u;
}
static uint32_t odd_even_lanes(uint32_t lane) {
    return lane % 2 != 0 ? 0xaaaaaaaau : 0x55555555u;
}
static uint64_t thread_value(uint32_t t) {
    return t * 10;
}
static uint64_t thread_value_mod_3(uint32_t t) {
    return t % 3;
}
static uint64_t shuffle_by_one(uint32_t lane) {
    (void)lane;
    return 1 | (uint64_t)31 << 32; /* width 32: clamp 31 */
}
static uint64_t shuffle_up_by_two(uint32_t lane) {
    (void)lane;
    return 2;
}
static uint64_t shuffle_down_width_8(uint32_t lane) {
    (void)lane;
    return 4 | (uint64_t)(31 | (32 - 8) << 8) << 32;
}
static uint64_t shuffle_from_3_width_16(uint32_t lane) {
    (void)lane;
    return 3 | (uint64_t)(31 | (32 - 16) << 8) << 32;
}

static void run_warp_case(const warp_case *c, uint32_t threads, uint64_t *out) {
    const wp_cpu_region regions[] = {REGION(ask_warp, WP_STOP_NONE, 0),
                                     REGION(keep_result, c->op, 0)};
    const wp_cpu_kernel code = REGION_KERNEL("warp", regions, 2, 0, WP_CPU_KERNEL_WARP);
    run_ok("1", &code, 1, threads, out, (void *)(uintptr_t)c);
}

#define IN_RANGE ((uint64_t)1 << 32)

static void shuffles_read_other_lanes(void **state) {
    (void)state;
    static uint64_t out[64];
    run_warp_case(&(warp_case){WP_STOP_SHFL_BFLY, all_lanes, thread_value, shuffle_by_one}, 64,
                  out);
    for (uint32_t t = 0; t < 64; t++)
        assert_u64(out[t], (t ^ 1) * 10 | IN_RANGE);
    run_warp_case(&(warp_case){WP_STOP_SHFL_UP, all_lanes, thread_value, shuffle_up_by_two}, 64,
                  out);
    for (uint32_t t = 0; t < 64; t++) {
        assert_u64(out[t], t % 32 < 2 ? t * 10 : ((t - 2) * 10 | IN_RANGE));
    }
    run_warp_case(&(warp_case){WP_STOP_SHFL_DOWN, all_lanes, thread_value, shuffle_down_width_8},
                  64, out);
    for (uint32_t t = 0; t < 64; t++) {
        assert_u64(out[t], t % 8 >= 4 ? t * 10 : ((t + 4) * 10 | IN_RANGE));
    }
    run_warp_case(&(warp_case){WP_STOP_SHFL_IDX, all_lanes, thread_value, shuffle_from_3_width_16},
                  64, out);
    for (uint32_t t = 0; t < 64; t++)
        assert_u64(out[t], (t / 16 * 16 + 3) * 10 | IN_RANGE);
}

static void groups_with_different_masks_are_answered_apart(void **state) {
    (void)state;
    static uint64_t out[64];
    run_warp_case(&(warp_case){WP_STOP_REDUX_ADD, half_lanes, thread_value, NULL}, 64, out);
    for (uint32_t t = 0; t < 64; t++) {
        const uint32_t base = t / 16 * 16;
        assert_u64(out[t], 10 * (16 * base + 120));
    }
    run_warp_case(&(warp_case){WP_STOP_REDUX_MAX_U, odd_even_lanes, thread_value, NULL}, 64, out);
    for (uint32_t t = 0; t < 64; t++)
        assert_u64(out[t], (t / 32 * 32 + 30 + t % 2) * 10);
}

static void votes_and_matches_see_the_lanes_of_a_partial_warp(void **state) {
    (void)state;
    static uint64_t out[40];
    run_warp_case(&(warp_case){WP_STOP_VOTE_BALLOT, all_lanes, thread_value_mod_3, NULL}, 40, out);
    for (uint32_t t = 0; t < 40; t++) {
        uint32_t mask = 0;
        for (uint32_t u = t / 32 * 32; u < 40 && u < t / 32 * 32 + 32; u++) {
            mask |= (uint32_t)(u % 3 != 0) << u % 32;
        }
        assert_u64(out[t], mask);
    }
    run_warp_case(&(warp_case){WP_STOP_MATCH_ANY, all_lanes, thread_value_mod_3, NULL}, 40, out);
    for (uint32_t t = 0; t < 40; t++) {
        uint32_t mask = 0;
        for (uint32_t u = t / 32 * 32; u < 40 && u < t / 32 * 32 + 32; u++) {
            mask |= (uint32_t)(u % 3 == t % 3) << u % 32;
        }
        assert_u64(out[t], mask);
    }
    run_warp_case(&(warp_case){WP_STOP_VOTE_ALL, all_lanes, thread_value_mod_3, NULL}, 40, out);
    for (uint32_t t = 0; t < 40; t++)
        assert_u64(out[t], 0);
    run_warp_case(&(warp_case){WP_STOP_VOTE_ANY, all_lanes, thread_value_mod_3, NULL}, 40, out);
    for (uint32_t t = 0; t < 40; t++)
        assert_u64(out[t], 1);
    run_warp_case(&(warp_case){WP_STOP_MATCH_ALL, odd_even_lanes, thread_value_mod_3, NULL}, 40,
                  out);
    for (uint32_t t = 0; t < 40; t++)
        assert_u64(out[t], 0);
}

/* Lanes take different ways to a ballot: lanes 0-9 through state 1, the rest through state 2. */
static uint32_t split(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    for (uint32_t t = first; t < outer; t++) {
        ask(b, t, WP_STOP_VOTE_BALLOT, FULL, t < 20, 0);
        b->states[t] = t < 10 ? 1 : 2;
    }
    return WP_STATE_MIXED;
}

static void lanes_at_the_same_operation_in_different_places_meet(void **state) {
    (void)state;
    static const wp_cpu_region regions[] = {REGION(split, WP_STOP_NONE, 0),
                                            REGION(keep_result, WP_STOP_VOTE_BALLOT, 0),
                                            REGION(keep_result, WP_STOP_VOTE_BALLOT, 0)};
    static const wp_cpu_kernel code = REGION_KERNEL("places", regions, 2, 0, WP_CPU_KERNEL_WARP);
    static uint64_t out[32];
    run_ok("1", &code, 1, 32, out, NULL);
    for (uint32_t t = 0; t < 32; t++)
        assert_u64(out[t], 0xfffff);
}

/* if (lane < 8) __activemask() in state 1, else in state 2, then both in state 3 together. */
static uint32_t branch(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    for (uint32_t t = first; t < outer; t++) {
        ask(b, t, WP_STOP_ACTIVE_MASK, 0, 0, 0);
        b->states[t] = t % 32 < 8 ? 1 : 2;
    }
    return WP_STATE_MIXED;
}

static uint32_t join(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    for (uint32_t t = first; t < outer; t++) {
        ARG(b, 0, uint64_t *)[t] = b->requests[t].result;
        ask(b, t, WP_STOP_VOTE_BALLOT | WP_STOP_FLAG_ACTIVE, 0, 1, 0);
    }
    return 3;
}

static uint32_t keep_high(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    for (uint32_t t = first; t < outer; t++) {
        ARG(b, 0, uint64_t *)[t] |= b->requests[t].result << 32;
    }
    return WP_STATE_EXIT;
}

static void lanes_without_a_mask_meet_where_they_are(void **state) {
    (void)state;
    static const wp_cpu_region regions[] = {
        REGION(branch, WP_STOP_NONE, 0), REGION(join, WP_STOP_ACTIVE_MASK, 0),
        REGION(join, WP_STOP_ACTIVE_MASK, 0),
        REGION(keep_high, WP_STOP_VOTE_BALLOT | WP_STOP_FLAG_ACTIVE, 0)};
    static const wp_cpu_kernel code = REGION_KERNEL("active", regions, 2, 0, WP_CPU_KERNEL_WARP);
    static uint64_t out[64];
    run_ok("1", &code, 1, 64, out, NULL);
    for (uint32_t t = 0; t < 64; t++) {
        assert_u64(out[t], (uint64_t)FULL << 32 | (t % 32 < 8 ? 0xffu : 0xffffff00u));
    }
}

/* ---- lockstep ---- */

/* Old warp-synchronous code: s[t] += s[t + step] for step 16, 8, 4, 2, 1, a step before each
 * access. The load and the store are separate, so that only lockstep gives the right sum. */
typedef struct reduce_slot {
    uint32_t step[64], value[64];
} reduce_slot;

static uint32_t reduce_start(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    reduce_slot *f = (reduce_slot *)(void *)b->frame;
    uint32_t *shared = (uint32_t *)(void *)b->shared;
    for (uint32_t t = first; t < outer; t++) {
        shared[t] = t + 1;
        f->step[t] = 16;
        b->states[t] = t < 32 ? 1 : WP_STATE_EXIT; /* the first warp goes on alone */
    }
    return WP_STATE_MIXED;
}

static uint32_t reduce_load(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    reduce_slot *f = (reduce_slot *)(void *)b->frame;
    const uint32_t *shared = (const uint32_t *)(const void *)b->shared;
    for (uint32_t t = first; t < outer; t++)
        f->value[t] = shared[t] + shared[t + f->step[t]];
    return 2;
}

static uint32_t reduce_store(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    reduce_slot *f = (reduce_slot *)(void *)b->frame;
    uint32_t *shared = (uint32_t *)(void *)b->shared;
    for (uint32_t t = first; t < outer; t++) {
        shared[t] = f->value[t];
        f->step[t] /= 2;
    }
    if (f->step[first] != 0) return 1;
    if (first == 0) *ARG(b, 0, uint32_t *) = shared[0];
    return WP_STATE_EXIT;
}

static void steps_keep_a_warp_in_lockstep(void **state) {
    (void)state;
    static const wp_cpu_region regions[] = {REGION(reduce_start, WP_STOP_NONE, 0),
                                            REGION(reduce_load, WP_STOP_STEP, 0),
                                            REGION(reduce_store, WP_STOP_STEP, 0)};
    wp_cpu_kernel code =
        REGION_KERNEL("reduce", regions, 2, sizeof(reduce_slot) / 64, WP_CPU_KERNEL_WARP);
    code.shared_static_bytes = 64 * sizeof(uint32_t);
    static uint32_t sum;
    run_ok("1", &code, 1, 64, &sum, NULL);
    uint32_t expected = 0; /* of the first warp: what 32 lanes in lockstep make of 1..64 */
    uint32_t s[64];
    for (uint32_t t = 0; t < 64; t++)
        s[t] = t + 1;
    for (uint32_t step = 16; step != 0; step /= 2) {
        uint32_t v[32];
        for (uint32_t t = 0; t < 32; t++)
            v[t] = s[t] + s[t + step];
        for (uint32_t t = 0; t < 32; t++)
            s[t] = v[t];
    }
    expected = s[0];
    assert_int_equal(sum, expected);
}

/* ---- waiting loops ---- */

/* while (!try_lock) yield; count++; several stops inside; unlock. All lanes of a warp fight. */
static uint32_t lock_start(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    uint32_t *lock = ARG(b, 0, uint32_t *);
    uint32_t next = 0;
    for (uint32_t t = first; t < outer; t++) {
        const bool has_it = __atomic_exchange_n(&lock[0], 1u, __ATOMIC_ACQUIRE) == 0;
        if (has_it) ask(b, t, WP_STOP_WARP_SYNC | WP_STOP_FLAG_ACTIVE, 0, 0, 0);
        b->states[t] = has_it ? 2 : 1;
        next = t == first || next == b->states[t] ? b->states[t] : WP_STATE_MIXED;
    }
    return next;
}

static uint32_t lock_work(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    uint32_t *lock = ARG(b, 0, uint32_t *);
    assert_int_equal(outer - first, 1);
    lock[1]++;
    return 3;
}

static uint32_t lock_release(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    uint32_t *lock = ARG(b, 0, uint32_t *);
    (void)first, (void)outer;
    __atomic_store_n(&lock[0], 0u, __ATOMIC_RELEASE);
    return WP_STATE_EXIT;
}

static const wp_cpu_region lock_regions[] = {
    REGION(lock_start, WP_STOP_NONE, 0), REGION(lock_start, WP_STOP_YIELD, 0),
    REGION(lock_work, WP_STOP_WARP_SYNC | WP_STOP_FLAG_ACTIVE, 0),
    REGION(lock_release, WP_STOP_STEP, 0)};
static const wp_cpu_kernel lock_code =
    REGION_KERNEL("lock", lock_regions, 2, 0, WP_CPU_KERNEL_SPINS | WP_CPU_KERNEL_WARP);

static void a_lock_taken_by_lanes_of_one_warp_is_passed_on(void **state) {
    (void)state;
    uint32_t lock[2] = {0, 0};
    run_ok("1", &lock_code, 1, 64, lock, NULL);
    assert_int_equal(lock[1], 64);
}

static void a_lock_is_passed_on_between_blocks_and_workers(void **state) {
    (void)state;
    uint32_t lock[2] = {0, 0};
    run_ok("2", &lock_code, 20, 40, lock, NULL);
    assert_int_equal(lock[1], 800);
}

/* Block b waits until block b + 1 has been: the last must run first. */
static uint32_t chain(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    atomic_uint *turn = ARG(b, 0, atomic_uint *);
    (void)first, (void)outer;
    if (atomic_load(turn) != b->grid_dim[0] - 1 - b->block_idx[0]) return 1;
    atomic_fetch_add(turn, 1);
    return WP_STATE_EXIT;
}

static const wp_cpu_region chain_regions[] = {REGION(chain, WP_STOP_NONE, 0),
                                              REGION(chain, WP_STOP_YIELD, 0)};
static const wp_cpu_kernel chain_code =
    REGION_KERNEL("chain", chain_regions, 2, 0, WP_CPU_KERNEL_SPINS);

static void blocks_that_wait_for_later_ones_finish_with_one_worker(void **state) {
    (void)state;
    atomic_uint turn = 0;
    run_ok("1", &chain_code, 300, 32, &turn, NULL);
    assert_int_equal(atomic_load(&turn), 300);
    atomic_store(&turn, 0);
    run_ok("3", &chain_code, 300, 32, &turn, NULL);
    assert_int_equal(atomic_load(&turn), 300);
}

/* One kernel waits for another, in two queues of a device with one worker. */
static uint32_t wait_flag(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    (void)first, (void)outer;
    return atomic_load(ARG(b, 0, atomic_uint *)) != 0 ? WP_STATE_EXIT : 1;
}

static uint32_t set_flag(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    (void)first, (void)outer;
    atomic_store(ARG(b, 0, atomic_uint *), 1);
    return WP_STATE_EXIT;
}

static void kernels_that_wait_for_each_other_finish_with_one_worker(void **state) {
    (void)state;
    static const wp_cpu_region wait_regions[] = {REGION(wait_flag, WP_STOP_NONE, 0),
                                                 REGION(wait_flag, WP_STOP_YIELD, 0)};
    static const wp_cpu_region set_regions[] = {REGION(set_flag, WP_STOP_NONE, 0)};
    static const wp_cpu_kernel codes[] = {
        REGION_KERNEL("wait", wait_regions, 2, 0, WP_CPU_KERNEL_SPINS),
        REGION_KERNEL("set", set_regions, 2, 0, 0)};
    wp_error err = {0};
    wp_device *device = open_device("1");
    wp_module *module = load_kernels(device, codes, 2);
    wp_queue *queues[2];
    atomic_uint flag = 0;
    void *arg = &flag;
    for (int i = 0; i < 2; i++) {
        assert_status_ok(wp_queue_create(device, false, &queues[i], &err), &err);
        assert_status_ok(launch(queues[i], find_kernel(module, codes[i].name), 2, 32,
                                (void *[]){&arg, &arg}, &err),
                         &err);
    }
    assert_status_ok(wp_device_wait(device, &err), &err);
    for (int i = 0; i < 2; i++)
        wp_queue_destroy(queues[i]);
    wp_module_unload(module);
    wp_device_close(device);
}

/* ---- the grid ---- */

/* out[block] = block; grid barrier; out2[block] = out[next block]; grid barrier; again. */
static uint32_t grid_write(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    (void)outer;
    if (first == 0) ARG(b, 0, uint32_t *)[b->block_idx[0]] += b->block_idx[0];
    return 1;
}

static uint32_t grid_read(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    (void)outer;
    const uint32_t next = (b->block_idx[0] + 1) % b->grid_dim[0];
    if (first == 0) ARG(b, 1, uint32_t *)[b->block_idx[0]] = ARG(b, 0, uint32_t *)[next];
    return WP_STATE_EXIT;
}

static const wp_cpu_region grid_regions[] = {REGION(grid_write, WP_STOP_NONE, 0),
                                             REGION(grid_read, WP_STOP_GRID, 0)};
static const wp_cpu_kernel grid_code =
    REGION_KERNEL("grid", grid_regions, 2, 0, WP_CPU_KERNEL_GRID_SYNC);

static wp_status run_grid(const char *workers, const wp_cpu_kernel *code, uint32_t blocks,
                          bool is_cooperative, void *first, void *second, wp_error *err) {
    wp_device *device = open_device(workers);
    wp_module *module = load_kernels(device, code, 1);
    const wp_launch l = {.kernel = find_kernel(module, code->name),
                         .grid = {blocks, 1, 1},
                         .block = {64, 1, 1},
                         .args = (void *[]){&first, &second},
                         .is_cooperative = is_cooperative};
    wp_status status = wp_queue_launch(wp_device_default_queue(device), &l, err);
    if (status == WP_STATUS_OK) status = wp_device_wait(device, err);
    wp_module_unload(module);
    wp_device_close(device);
    return status;
}

static void a_grid_barrier_joins_all_blocks(void **state) {
    (void)state;
    const char *const workers[] = {"1", "2", "3"};
    for (uint32_t w = 0; w < 3; w++) {
        static uint32_t a[32], b[32];
        wp_error err = {0};
        memset(a, 0, sizeof a);
        assert_status_ok(run_grid(workers[w], &grid_code, 32, true, a, b, &err), &err);
        for (uint32_t i = 0; i < 32; i++)
            assert_int_equal(b[i], (i + 1) % 32);
    }
}

static void a_grid_barrier_needs_a_cooperative_launch(void **state) {
    (void)state;
    static uint32_t a[32], b[32];
    wp_error err = {0};
    assert_status_fails(run_grid("2", &grid_code, 8, false, a, b, &err), WP_STATUS_KERNEL_TRAP,
                        &err, "was not launched with cudaLaunchCooperativeKernel");
}

static void a_cooperative_launch_must_fit_the_device(void **state) {
    (void)state;
    wp_error err = {0};
    assert_status_fails(run_grid("1", &grid_code, 33, true, NULL, NULL, &err), WP_STATUS_LAUNCH,
                        &err, "a cooperative launch of 33 blocks, but only 32 blocks");
}

static uint32_t half_to_grid(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    (void)first, (void)outer;
    return b->block_idx[0] % 2 == 0 ? 1 : WP_STATE_EXIT;
}

static void a_grid_barrier_that_some_blocks_skip_is_a_deadlock(void **state) {
    (void)state;
    static const wp_cpu_region regions[] = {REGION(half_to_grid, WP_STOP_NONE, 0),
                                            REGION(just_exit, WP_STOP_GRID, 0)};
    static const wp_cpu_kernel code =
        REGION_KERNEL("halfgrid", regions, 2, 0, WP_CPU_KERNEL_GRID_SYNC);
    const char *const workers[] = {"1", "2"};
    for (uint32_t w = 0; w < 2; w++) {
        wp_error err = {0};
        assert_status_fails(run_grid(workers[w], &code, 8, true, NULL, NULL, &err),
                            WP_STATUS_KERNEL_DEADLOCK, &err,
                            "4 of its blocks wait at the grid barrier for 4 that have ended");
    }
}

/* ---- clusters ---- */

/* shared[t] = 100 * block + t; threads that divide by 5 return in every third block; arrive; wait;
 * out[block][t] = what the next block of the cluster stored. */
static uint32_t cluster_write(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    for (uint32_t t = first; t < outer; t++) {
        ((uint32_t *)(void *)b->shared)[t] = 100 * b->block_idx[0] + t;
        b->states[t] = b->block_idx[0] % 3 == 2 && t % 5 == 0 ? WP_STATE_EXIT : 1;
    }
    return b->block_idx[0] % 3 == 2 ? WP_STATE_MIXED : 1;
}

static uint32_t cluster_arrived(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    for (uint32_t t = first; t < outer; t++)
        b->states[t] = 2;
    return 2;
}

static uint32_t cluster_read(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    const uint32_t next = (b->cluster_rank + 1) % b->cluster_size;
    const char *there = b->cluster_shared + next * b->cluster_stride_bytes;
    for (uint32_t t = first; t < outer; t++) {
        ARG(b, 0, uint32_t *)
        [b->block_idx[0] * b->thread_count + t] = ((const uint32_t *)(const void *)there)[t];
        b->states[t] = WP_STATE_EXIT;
    }
    return WP_STATE_EXIT;
}

static const wp_cpu_region cluster_regions[] = {REGION(cluster_write, WP_STOP_NONE, 0),
                                                REGION(cluster_arrived, WP_STOP_CLUSTER_ARRIVE, 0),
                                                REGION(cluster_read, WP_STOP_CLUSTER_WAIT, 0)};

static wp_status run_cluster(const char *workers, const wp_cpu_kernel *code, uint32_t blocks,
                             uint32_t size, uint32_t *out, wp_error *err) {
    wp_device *device = open_device(workers);
    wp_module *module = load_kernels(device, code, 1);
    const wp_launch l = {.kernel = find_kernel(module, code->name),
                         .grid = {blocks, 1, 1},
                         .block = {48, 1, 1},
                         .args = (void *[]){&out, &out},
                         .cluster = {size, 1, 1}};
    wp_status status = wp_queue_launch(wp_device_default_queue(device), &l, err);
    if (status == WP_STATUS_OK) status = wp_device_wait(device, err);
    wp_module_unload(module);
    wp_device_close(device);
    return status;
}

static void the_blocks_of_a_cluster_meet_and_reach_each_others_shared_memory(void **state) {
    (void)state;
    enum { BLOCKS = 48, THREADS = 48 };
    wp_cpu_kernel code = REGION_KERNEL("cluster", cluster_regions, 2, 0, 0);
    code.shared_static_bytes = THREADS * sizeof(uint32_t);
    static uint32_t out[BLOCKS * THREADS];
    const uint32_t sizes[] = {1, 2, 3, 8, 16};
    const char *const workers[] = {"1", "3"};
    for (uint32_t i = 0; i < 10; i++) {
        const uint32_t size = sizes[i / 2];
        wp_error err = {0};
        memset(out, 0, sizeof out);
        assert_status_ok(run_cluster(workers[i % 2], &code, BLOCKS, size, out, &err), &err);
        for (uint32_t n = 0; n < BLOCKS * THREADS; n++) {
            const uint32_t block = n / THREADS, t = n % THREADS;
            const uint32_t next = block / size * size + (block % size + 1) % size;
            const bool has_returned = block % 3 == 2 && t % 5 == 0;
            assert_int_equal(out[n], has_returned ? 0 : 100 * next + t);
        }
    }
}

static uint32_t cluster_part(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    for (uint32_t t = first; t < outer; t++) {
        if (t % 2 == 1) ask(b, t, WP_STOP_BARRIER, 0, 3, 0);
        b->states[t] = t % 2 == 1 && b->cluster_rank == 1 ? 3 : 1;
    }
    return WP_STATE_MIXED;
}

static void a_cluster_barrier_that_some_threads_never_reach_is_a_deadlock(void **state) {
    (void)state;
    static const wp_cpu_region regions[] = {
        REGION(cluster_part, WP_STOP_NONE, 0), REGION(cluster_arrived, WP_STOP_CLUSTER_ARRIVE, 0),
        REGION(cluster_read, WP_STOP_CLUSTER_WAIT, 0), REGION(just_exit, WP_STOP_BARRIER, 0)};
    wp_cpu_kernel code = REGION_KERNEL("parted", regions, 2, 0, 0);
    code.shared_static_bytes = 48 * sizeof(uint32_t);
    const char *const workers[] = {"1", "2"};
    for (uint32_t w = 0; w < 2; w++) {
        static uint32_t out[8 * 48];
        wp_error err = {0};
        assert_status_fails(run_cluster(workers[w], &code, 8, 2, out, &err),
                            WP_STATUS_KERNEL_DEADLOCK, &err,
                            "wait at the barrier of their cluster");
    }
}

static void clusters_must_fill_the_grid(void **state) {
    (void)state;
    wp_cpu_kernel code = REGION_KERNEL("cluster", cluster_regions, 2, 0, 0);
    wp_error err = {0};
    assert_status_fails(run_cluster("1", &code, 9, 2, NULL, &err), WP_STATUS_LAUNCH, &err,
                        "is not made of whole clusters of 2 x 1 x 1");
    assert_status_fails(run_cluster("1", &code, 34, 17, NULL, &err), WP_STATUS_LAUNCH, &err,
                        "at most 16 are allowed");
    code.cluster_dim[0] = 4;
    code.cluster_dim[1] = code.cluster_dim[2] = 1;
    assert_status_fails(run_cluster("1", &code, 8, 2, NULL, &err), WP_STATUS_LAUNCH, &err,
                        "its __cluster_dims__ are 4 x 1 x 1");
}

/* ---- deadlocks ---- */

/* Lane 0 of the block waits for its whole warp, the others at a barrier. */
static uint32_t part_ways(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    for (uint32_t t = first; t < outer; t++) {
        if (t == 0) ask(b, t, WP_STOP_SHFL_DOWN, FULL, 0, 0);
        b->states[t] = t == 0 ? 1 : 2;
    }
    return WP_STATE_MIXED;
}

static void a_shuffle_that_misses_lanes_is_a_deadlock(void **state) {
    (void)state;
    static const wp_cpu_region regions[] = {REGION(part_ways, WP_STOP_NONE, 0),
                                            REGION(just_exit, WP_STOP_SHFL_DOWN, 0),
                                            PLAIN_BARRIER(just_exit)};
    static const wp_cpu_kernel code = REGION_KERNEL("_Z4partPi", regions, 2, 0, WP_CPU_KERNEL_WARP);
    wp_error err = {0};
    void *none = NULL;
    assert_status_fails(run_once("1", &code, 3, 48, (void *[]){&none, &none}, &err),
                        WP_STATUS_KERNEL_DEADLOCK, &err,
                        "kernel part, block (0,0,0), thread (0,0,0)");
    assert_contains(err.message, "waits at __shfl_down_sync with mask 0xffffffff for the lanes "
                                 "0xfffffffe");
    assert_contains(err.message, "thread (1,0,0) waits at __syncthreads (barrier 0, 47 of 48");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_of_a_3d_grid_runs_once),
        cmocka_unit_test(barriers_in_a_loop_order_shared_memory),
        cmocka_unit_test(exited_threads_count_as_arrived),
        cmocka_unit_test(threads_left_after_a_bounds_check_run_together),
        cmocka_unit_test(barriers_reduce_a_predicate),
        cmocka_unit_test(named_barriers_join_parts_of_a_block),
        cmocka_unit_test(arriving_threads_do_not_wait),
        cmocka_unit_test(shuffles_read_other_lanes),
        cmocka_unit_test(groups_with_different_masks_are_answered_apart),
        cmocka_unit_test(votes_and_matches_see_the_lanes_of_a_partial_warp),
        cmocka_unit_test(lanes_at_the_same_operation_in_different_places_meet),
        cmocka_unit_test(lanes_without_a_mask_meet_where_they_are),
        cmocka_unit_test(steps_keep_a_warp_in_lockstep),
        cmocka_unit_test(a_lock_taken_by_lanes_of_one_warp_is_passed_on),
        cmocka_unit_test(a_lock_is_passed_on_between_blocks_and_workers),
        cmocka_unit_test(blocks_that_wait_for_later_ones_finish_with_one_worker),
        cmocka_unit_test(kernels_that_wait_for_each_other_finish_with_one_worker),
        cmocka_unit_test(a_grid_barrier_joins_all_blocks),
        cmocka_unit_test(a_grid_barrier_needs_a_cooperative_launch),
        cmocka_unit_test(a_cooperative_launch_must_fit_the_device),
        cmocka_unit_test(a_grid_barrier_that_some_blocks_skip_is_a_deadlock),
        cmocka_unit_test(the_blocks_of_a_cluster_meet_and_reach_each_others_shared_memory),
        cmocka_unit_test(a_cluster_barrier_that_some_threads_never_reach_is_a_deadlock),
        cmocka_unit_test(clusters_must_fill_the_grid),
        cmocka_unit_test(a_shuffle_that_misses_lanes_is_a_deadlock),
    };
    return wp_test_main(tests);
}

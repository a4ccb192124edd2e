/* SPDX-License-Identifier: Apache-2.0 */
/** Kernels in fiber form: every thread has a stack and stops by calling wp_rt_stop. */
#include <sched.h>
#include <stdatomic.h>

#include "cpu_program.h"

#define FULL 0xffffffffu

static void run_fibers(const char *workers, wp_thread_fn function, uint32_t flags, uint32_t blocks,
                       uint32_t threads, void *first, void *second) {
    const wp_cpu_kernel code = {.name = "fibers",
                                .thread = function,
                                .params = pointer_params,
                                .param_count = 2,
                                .shared_static_bytes = 4096,
                                .flags = flags};
    wp_error err = {0};
    assert_status_ok(run_once(workers, &code, blocks, threads, (void *[]){&first, &second}, &err),
                     &err);
}

/* A tree sum in shared memory. */
static void tree_sum(wp_cpu_block *b) {
    uint32_t *shared = (uint32_t *)(void *)b->shared;
    const uint32_t t = b->thread;
    shared[t] = t + 1;
    wp_rt_stop(WP_STOP_BARRIER, 1, 0, 0, 0);
    for (uint32_t step = b->thread_count / 2; step != 0; step /= 2) {
        if (t < step) shared[t] += shared[t + step];
        wp_rt_stop(WP_STOP_BARRIER, 2, 0, 0, 0);
    }
    if (t == 0) ARG(b, 0, uint32_t *)[b->block_idx[0]] = shared[0];
}

static void barriers_in_a_loop_order_shared_memory(void **state) {
    (void)state;
    uint32_t sums[10] = {0};
    run_fibers("2", tree_sum, 0, 10, 256, sums, NULL);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(sums[i], 256 * 257 / 2);
}

static void note_identity(wp_cpu_block *b) {
    uint32_t *out = ARG(b, 0, uint32_t *);
    wp_rt_stop(WP_STOP_BARRIER, 1, 0, 0, 0);
    out[b->thread] = b->tid[0] + 100 * b->tid[1] + 10000 * b->tid[2];
}

static void a_thread_knows_its_index_after_a_stop(void **state) {
    (void)state;
    static const wp_cpu_kernel code = FIBER_KERNEL("identity", note_identity, 1, 0);
    static uint32_t out[5 * 4 * 3];
    wp_error err = {0};
    wp_device *device = open_device("1");
    wp_module *module = load_kernels(device, &code, 1);
    uint32_t *to = out;
    const wp_launch l = {.kernel = find_kernel(module, "identity"),
                         .grid = {1, 1, 1},
                         .block = {5, 4, 3},
                         .args = (void *[]){&to}};
    assert_status_ok(wp_queue_launch(wp_device_default_queue(device), &l, &err), &err);
    assert_status_ok(wp_device_wait(device, &err), &err);
    for (uint32_t z = 0, i = 0; z < 3; z++) {
        for (uint32_t y = 0; y < 4; y++) {
            for (uint32_t x = 0; x < 5; x++)
                assert_int_equal(out[i++], x + 100 * y + 10000 * z);
        }
    }
    wp_module_unload(module);
    wp_device_close(device);
}

/* A shuffle inside a recursion, which no region form could hold. */
static uint32_t sum_up(uint32_t value, uint32_t step) {
    if (step == 32) return value;
    const uint64_t other = wp_rt_stop(WP_STOP_SHFL_BFLY, 1, FULL, value, step | (uint64_t)31 << 32);
    return sum_up(value + (uint32_t)other, 2 * step);
}

static void warp_sum(wp_cpu_block *b) {
    const uint32_t t = b->thread;
    ARG(b, 0, uint32_t *)[t] = sum_up(t, 1);
}

static void shuffles_work_at_any_depth(void **state) {
    (void)state;
    static uint32_t out[96];
    run_fibers("1", warp_sum, WP_CPU_KERNEL_WARP, 1, 96, out, NULL);
    for (uint32_t t = 0; t < 96; t++)
        assert_int_equal(out[t], 32 * (t / 32 * 32) + 496);
}

/* Lanes leave a loop one by one; those left count themselves. */
static void dwindle(wp_cpu_block *b) {
    const uint32_t t = b->thread;
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= t % 32; i++) {
        const uint64_t mask = wp_rt_stop(WP_STOP_ACTIVE_MASK, 1, 0, 0, 0);
        sum += (uint32_t)__builtin_popcount((uint32_t)mask);
    }
    const uint64_t all = wp_rt_stop(WP_STOP_VOTE_BALLOT, 2, FULL, 1, 0);
    ARG(b, 0, uint32_t *)[t] = all == FULL ? sum : 0;
}

static void lanes_meet_again_after_a_divergent_loop(void **state) {
    (void)state;
    static uint32_t out[64];
    run_fibers("1", dwindle, WP_CPU_KERNEL_WARP, 1, 64, out, NULL);
    for (uint32_t t = 0; t < 64; t++) {
        uint32_t expected = 0;
        for (uint32_t i = 0; i <= t % 32; i++)
            expected += 32 - i;
        assert_int_equal(out[t], expected);
    }
}

static void fight_for_lock(wp_cpu_block *b) {
    uint32_t *lock = ARG(b, 0, uint32_t *);
    while (__atomic_exchange_n(&lock[0], 1u, __ATOMIC_ACQUIRE) != 0) {
        wp_rt_stop(WP_STOP_YIELD, 1, 0, 0, 0);
    }
    const uint32_t before = lock[1];
    wp_rt_stop(WP_STOP_STEP, 2, 0, 0, 0);
    lock[1] = before + 1;
    __atomic_store_n(&lock[0], 0u, __ATOMIC_RELEASE);
}

static void a_lock_is_passed_on_within_and_between_warps_and_blocks(void **state) {
    (void)state;
    uint32_t lock[2] = {0, 0};
    run_fibers("2", fight_for_lock, WP_CPU_KERNEL_SPINS, 6, 80, lock, NULL);
    assert_int_equal(lock[1], 480);
}

static void wait_in_turn(wp_cpu_block *b) {
    atomic_uint *turn = ARG(b, 0, atomic_uint *);
    const uint32_t mine = b->grid_dim[0] - 1 - b->block_idx[0];
    while (atomic_load(turn) / 2 != mine)
        wp_rt_stop(WP_STOP_YIELD, 1, 0, 0, 0);
    wp_rt_stop(WP_STOP_BARRIER, 2, 0, 0, 0);
    if (b->thread < 2) atomic_fetch_add(turn, 1);
}

static void blocks_that_wait_for_later_ones_finish_with_one_worker(void **state) {
    (void)state;
    atomic_uint turn = 0;
    run_fibers("1", wait_in_turn, WP_CPU_KERNEL_SPINS, 40, 32, &turn, NULL);
    assert_int_equal(atomic_load(&turn), 80);
}

static void cross_grid(wp_cpu_block *b) {
    const uint32_t t = b->thread;
    uint32_t *out = ARG(b, 0, uint32_t *);
    uint32_t *seen = ARG(b, 1, uint32_t *);
    for (uint32_t round = 1; round <= 3; round++) {
        if (t == 0) out[b->block_idx[0]] = round;
        wp_rt_stop(WP_STOP_GRID, 1, 0, 0, 0);
        if (t == 1) seen[b->block_idx[0]] += out[(b->block_idx[0] + 1) % b->grid_dim[0]];
        wp_rt_stop(WP_STOP_GRID, 2, 0, 0, 0);
    }
}

static void a_grid_barrier_joins_all_blocks(void **state) {
    (void)state;
    static const wp_cpu_kernel code = FIBER_KERNEL("grid", cross_grid, 2, WP_CPU_KERNEL_GRID_SYNC);
    uint32_t out[12] = {0}, seen[12] = {0};
    void *first = out, *second = seen;
    wp_error err = {0};
    wp_device *device = open_device("2");
    wp_module *module = load_kernels(device, &code, 1);
    const wp_launch l = {.kernel = find_kernel(module, "grid"),
                         .grid = {12, 1, 1},
                         .block = {40, 1, 1},
                         .args = (void *[]){&first, &second},
                         .is_cooperative = true};
    assert_status_ok(wp_queue_launch(wp_device_default_queue(device), &l, &err), &err);
    assert_status_ok(wp_device_wait(device, &err), &err);
    for (uint32_t i = 0; i < 12; i++)
        assert_int_equal(seen[i], 6);
    wp_module_unload(module);
    wp_device_close(device);
}

static void meet_wrongly(wp_cpu_block *b) {
    if (b->thread == 3) {
        wp_rt_stop(WP_STOP_WARP_SYNC, 1, 0xff, 0, 0);
    } else {
        wp_rt_stop(WP_STOP_WARP_SYNC, 2, 0x0f, 0, 0);
    }
}

static void lanes_with_different_masks_never_meet(void **state) {
    (void)state;
    static const wp_cpu_kernel code = FIBER_KERNEL("masks", meet_wrongly, 1, WP_CPU_KERNEL_WARP);
    wp_error err = {0};
    void *none = NULL;
    assert_status_fails(
        run_once("1", &code, 1, 4, (void *[]){&none}, &err), WP_STATUS_KERNEL_DEADLOCK, &err,
        "kernel masks, block (0,0,0), thread (0,0,0): waits at __syncwarp with mask "
        "0x0000000f for the lanes 0x00000008");
}

static void trap_in_thread_7(wp_cpu_block *b) {
    wp_rt_stop(WP_STOP_BARRIER, 1, 0, 0, 0);
    if (b->thread == 7) wp_rt_trap();
    wp_rt_stop(WP_STOP_BARRIER, 2, 0, 0, 0);
}

static void a_trap_names_its_thread_and_the_device_goes_on_after_a_reset(void **state) {
    (void)state;
    static const wp_cpu_kernel codes[] = {FIBER_KERNEL("bad", trap_in_thread_7, 2, 0),
                                          FIBER_KERNEL("good", tree_sum, 2, 0)};
    wp_cpu_kernel with_shared[2] = {codes[0], codes[1]};
    with_shared[1].shared_static_bytes = 4096;
    wp_error err = {0};
    uint32_t sum = 0;
    void *to = &sum, *args[] = {&to, &to};
    wp_device *device = open_device("2");
    wp_module *module = load_kernels(device, with_shared, 2);
    wp_queue *queue = wp_device_default_queue(device);
    for (int round = 0; round < 3; round++) {
        assert_status_ok(launch(queue, find_kernel(module, "bad"), 50, 64, args, &err), &err);
        assert_status_fails(wp_queue_wait(queue, &err), WP_STATUS_KERNEL_TRAP, &err,
                            "thread (7,0,0): executed a trap");
        assert_status_fails(launch(queue, find_kernel(module, "good"), 1, 64, args, &err),
                            WP_STATUS_KERNEL_TRAP, &err, "kernel bad");
        assert_status_ok(wp_device_reset(device, &err), &err);
        sum = 0;
        assert_status_ok(launch(queue, find_kernel(module, "good"), 1, 64, args, &err), &err);
        assert_status_ok(wp_queue_wait(queue, &err), &err);
        assert_int_equal(sum, 64 * 65 / 2);
    }
    wp_module_unload(module);
    wp_device_close(device);
}

#if defined(__clang__)
__attribute__((disable_tail_calls))
#endif
__attribute__((noinline, no_sanitize("address", "thread", "undefined"))) static uint32_t
dig(volatile uint32_t *depth) {
    volatile uint32_t hole[256];
    hole[*depth % 256] = ++*depth;
    if (*depth == 0) return 0;
    return dig(depth) + hole[5];
}

static void overflow_stack(wp_cpu_block *b) {
    volatile uint32_t depth = 0;
    ARG(b, 0, uint32_t *)[0] = dig(&depth);
}

static void a_stack_overflow_is_named_as_such(void **state) {
    (void)state;
    static const wp_cpu_kernel code = FIBER_KERNEL("deep", overflow_stack, 1, 0);
    wp_error err = {0};
    uint32_t out = 0;
    void *to = &out;
    assert_status_fails(run_once("1", &code, 1, 2, (void *[]){&to}, &err), WP_STATUS_KERNEL_ADDRESS,
                        &err, "stack overflow: its stack of 65536 bytes is used up");
    assert_contains(err.message, "cudaLimitStackSize");
}

static void use_100_kib(wp_cpu_block *b) {
    volatile char big[100 * 1024];
    memset((char *)big, 1, sizeof big);
    wp_rt_stop(WP_STOP_BARRIER, 1, 0, 0, 0);
    ARG(b, 0, uint32_t *)[b->thread] = (uint32_t)big[b->thread];
}

static void the_stack_limit_can_be_raised(void **state) {
    (void)state;
    static const wp_cpu_kernel code = FIBER_KERNEL("big", use_100_kib, 1, 0);
    wp_error err = {0};
    uint32_t out[4] = {0};
    void *to = out;
    uint64_t bytes;
    wp_device *device = open_device("1");
    wp_module *module = load_kernels(device, &code, 1);
    assert_status_ok(wpi_device_set_limit(device, WPI_LIMIT_STACK, 256 * 1024, &err), &err);
    assert_status_ok(wpi_device_get_limit(device, WPI_LIMIT_STACK, &bytes, &err), &err);
    assert_u64(bytes, 256 * 1024);
    assert_status_ok(launch(wp_device_default_queue(device), find_kernel(module, "big"), 2, 4,
                            (void *[]){&to}, &err),
                     &err);
    assert_status_ok(wp_device_wait(device, &err), &err);
    for (int i = 0; i < 4; i++)
        assert_int_equal(out[i], 1);
    wp_module_unload(module);
    wp_device_close(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barriers_in_a_loop_order_shared_memory),
        cmocka_unit_test(a_thread_knows_its_index_after_a_stop),
        cmocka_unit_test(shuffles_work_at_any_depth),
        cmocka_unit_test(lanes_meet_again_after_a_divergent_loop),
        cmocka_unit_test(a_lock_is_passed_on_within_and_between_warps_and_blocks),
        cmocka_unit_test(blocks_that_wait_for_later_ones_finish_with_one_worker),
        cmocka_unit_test(a_grid_barrier_joins_all_blocks),
        cmocka_unit_test(lanes_with_different_masks_never_meet),
        cmocka_unit_test(a_trap_names_its_thread_and_the_device_goes_on_after_a_reset),
        cmocka_unit_test(a_stack_overflow_is_named_as_such),
        cmocka_unit_test(the_stack_limit_can_be_raised),
    };
    return wp_test_main(tests);
}

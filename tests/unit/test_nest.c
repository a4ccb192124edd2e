/* SPDX-License-Identifier: Apache-2.0 */
/** Work that kernels queue: nested grids, order, tails, waiting blocks, limits, failures. */
#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"
#include "cpu_program.h"

enum { STREAM_NULL = 0, STREAM_TAIL = 3, STREAM_ALONE = 4 };

static int32_t launch_by_thread(const char *name, uint32_t blocks, uint32_t threads,
                                uint64_t stream, void *const *args, uint32_t thread) {
    const uint32_t shape[6] = {blocks, 1, 1, threads, 1, 1};
    return wp_rt_launch((const void *)(uintptr_t)wpi_kernel_id(name), shape, 0, stream, args,
                        thread);
}

/* A tree of grids of two threads; its leaves count. */
static uint32_t tree(wp_cpu_block *block, uint32_t first, uint32_t outer) {
    atomic_uint *leaves = ARG(block, 0, atomic_uint *);
    const uint64_t depth = ARG(block, 1, uint64_t) - 1;
    for (uint32_t t = first; t < outer; t++) {
        if (ARG(block, 1, uint64_t) == 0)
            atomic_fetch_add(leaves, 1);
        else
            (void)launch_by_thread("tree", 1, 2, STREAM_ALONE,
                                   (void *[]){&leaves, (void *)(uintptr_t)&depth}, t);
    }
    return WP_STATE_EXIT;
}

/* *state = *state * 3 + value */
static uint32_t step(wp_cpu_block *block, uint32_t first, uint32_t outer) {
    (void)first;
    (void)outer;
    uint32_t *state = ARG(block, 0, uint32_t *);
    *state = *state * 3 + (uint32_t)ARG(block, 1, uint64_t);
    return WP_STATE_EXIT;
}

/* Each block queues steps 1 … count to its own state, and 1000 as a tail to the state behind all.
 */
static uint32_t queue_steps(wp_cpu_block *block, uint32_t first, uint32_t outer) {
    (void)first;
    (void)outer;
    uint32_t *states = ARG(block, 0, uint32_t *), *state = &states[block->block_idx[0]];
    uint32_t *behind = &states[block->grid_dim[0]];
    uint64_t tail = 1000;
    (void)launch_by_thread("step", 1, 1, STREAM_TAIL, (void *[]){&behind, &tail}, 0);
    for (uint64_t i = 1; i <= ARG(block, 1, uint64_t); i++)
        (void)launch_by_thread("step", 1, 1, STREAM_NULL, (void *[]){&state, &i}, 0);
    return WP_STATE_EXIT;
}

/* Queues a step, waits for it, and adds what it finds. */
static uint32_t begin_wait(wp_cpu_block *block, uint32_t first, uint32_t outer) {
    (void)first;
    (void)outer;
    uint32_t *state = &ARG(block, 0, uint32_t *)[2 * block->block_idx[0]];
    uint64_t value = 7;
    (void)launch_by_thread("step", 1, 1, STREAM_NULL, (void *[]){&state, &value}, 0);
    ARG(block, 1, int64_t *)
    [block->block_idx[0]] = wp_rt_device_call(WP_DEVICE_SYNC_BEGIN, 0, 0, 0, 0, 0);
    return 1;
}
static uint32_t end_wait(wp_cpu_block *block, uint32_t first, uint32_t outer) {
    (void)first;
    (void)outer;
    const int64_t number = ARG(block, 1, int64_t *)[block->block_idx[0]];
    if (wp_rt_device_call(WP_DEVICE_SYNC_IS_DONE, (uint64_t)number, 0, 0, 0, 0) == 0) return 1;
    uint32_t *state = &ARG(block, 0, uint32_t *)[2 * block->block_idx[0]];
    state[1] = state[0] + 1;
    return WP_STATE_EXIT;
}

/* Counts launches that fail; the last error is the thread's. */
static uint32_t queue_many(wp_cpu_block *block, uint32_t first, uint32_t outer) {
    atomic_uint *counts = ARG(block, 0, atomic_uint *); /* ran, failed, wrong errors */
    const uint64_t zero = 0;
    for (uint32_t t = first; t < outer; t++) {
        const int32_t error = launch_by_thread("tree", 1, 1, STREAM_ALONE,
                                               (void *[]){&counts, (void *)(uintptr_t)&zero}, t);
        const int64_t last = wp_rt_device_call(WP_DEVICE_ERROR_GET, 1, 0, 0, 0, t);
        if (error != 0) atomic_fetch_add(&counts[1], 1);
        if (last != error || wp_rt_device_call(WP_DEVICE_ERROR_GET, 1, 0, 0, 0, t) != 0)
            atomic_fetch_add(&counts[2], 1);
    }
    return WP_STATE_EXIT;
}

static uint32_t trap(wp_cpu_block *block, uint32_t first, uint32_t outer) {
    (void)block;
    (void)first;
    (void)outer;
    wp_rt_trap();
    return WP_STATE_EXIT;
}

/* A grid that traps, between others. */
static uint32_t queue_trap(wp_cpu_block *block, uint32_t first, uint32_t outer) {
    (void)first;
    (void)outer;
    atomic_uint *counts = ARG(block, 0, atomic_uint *);
    const uint64_t zero = 0;
    void *args[] = {&counts, (void *)(uintptr_t)&zero};
    (void)launch_by_thread("tree", 1, 1, STREAM_NULL, args, 0);
    (void)launch_by_thread("trap", 1, 1, STREAM_NULL, NULL, 0);
    (void)launch_by_thread("tree", 1, 1, STREAM_NULL, args, 0);
    (void)launch_by_thread("tree", 1, 1, STREAM_TAIL, args, 0);
    return WP_STATE_EXIT;
}

static const wp_cpu_region tree_regions[] = {REGION(tree, WP_STOP_NONE, 0)};
static const wp_cpu_region step_regions[] = {REGION(step, WP_STOP_NONE, 0)};
static const wp_cpu_region queue_regions[] = {REGION(queue_steps, WP_STOP_NONE, 0)};
static const wp_cpu_region wait_regions[] = {REGION(begin_wait, WP_STOP_NONE, 0),
                                             REGION(end_wait, WP_STOP_YIELD, 0)};
static const wp_cpu_region many_regions[] = {REGION(queue_many, WP_STOP_NONE, 0)};
static const wp_cpu_region trap_regions[] = {REGION(trap, WP_STOP_NONE, 0)};
static const wp_cpu_region queue_trap_regions[] = {REGION(queue_trap, WP_STOP_NONE, 0)};
static const wp_cpu_kernel kernels[] = {
    REGION_KERNEL("tree", tree_regions, 2, 0, WP_CPU_KERNEL_LAUNCHES),
    REGION_KERNEL("step", step_regions, 2, 0, 0),
    REGION_KERNEL("queue_steps", queue_regions, 2, 0, WP_CPU_KERNEL_LAUNCHES),
    REGION_KERNEL("wait", wait_regions, 2, 0, WP_CPU_KERNEL_LAUNCHES | WP_CPU_KERNEL_SPINS),
    REGION_KERNEL("queue_many", many_regions, 1, 0, WP_CPU_KERNEL_LAUNCHES),
    REGION_KERNEL("trap", trap_regions, 0, 0, 0),
    REGION_KERNEL("queue_trap", queue_trap_regions, 1, 0, WP_CPU_KERNEL_LAUNCHES)};

typedef struct fixture {
    wp_device *device;
    wp_module *module;
    wp_error err;
} fixture;

static int set_up_with(void **state, const char *workers) {
    fixture *f = calloc(1, sizeof *f);
    f->device = open_device(workers);
    f->module = load_kernels(f->device, kernels, COUNT_OF(kernels));
    *state = f;
    return 0;
}

static int set_up(void **state) {
    return set_up_with(state, "2");
}

static int set_up_alone(void **state) {
    return set_up_with(state, "1");
}

static int tear_down(void **state) {
    fixture *f = *state;
    wp_module_unload(f->module);
    wp_device_close(f->device);
    free(f);
    return 0;
}

static void run(fixture *f, const char *name, uint32_t blocks, uint32_t threads, void **args) {
    wp_queue *queue = wp_device_default_queue(f->device);
    assert_status_ok(launch(queue, find_kernel(f->module, name), blocks, threads, args, &f->err),
                     &f->err);
    assert_status_ok(wp_device_wait(f->device, &f->err), &f->err);
}

static void grids_nest(void **state) {
    fixture *f = *state;
    static atomic_uint leaves;
    atomic_uint *at = &leaves;
    uint64_t depth = 6;
    atomic_store(&leaves, 0);
    run(f, "tree", 3, 2, (void *[]){&at, &depth});
    assert_int_equal(atomic_load(&leaves), 3 * 128);
}

static void a_stream_keeps_its_order_and_tails_come_last(void **state) {
    fixture *f = *state;
    enum { BLOCKS = 5, STEPS = 30 };
    uint32_t states[BLOCKS + 1] = {0}, *at = states, expected = 0, behind = 0;
    uint64_t count = STEPS;
    run(f, "queue_steps", BLOCKS, 1, (void *[]){&at, &count});
    for (uint32_t i = 1; i <= STEPS; i++)
        expected = expected * 3 + i;
    for (uint32_t b = 0; b < BLOCKS; b++) {
        assert_int_equal(states[b], expected);
        behind = behind * 3 + 1000;
    }
    assert_int_equal(states[BLOCKS], behind);
}

static void blocks_wait_for_what_they_launched(void **state) {
    fixture *f = *state;
    enum { BLOCKS = 40 };
    uint32_t states[2 * BLOCKS] = {0}, *at = states;
    int64_t numbers[BLOCKS] = {0}, *numbers_at = numbers;
    run(f, "wait", BLOCKS, 1, (void *[]){&at, &numbers_at});
    for (uint32_t b = 0; b < BLOCKS; b++) {
        assert_int_equal(states[2 * b], 7);
        assert_int_equal(states[2 * b + 1], 8);
    }
}

/* More than a worker holds of one launch, which is 4096 blocks. */
static void very_many_blocks_wait(void **state) {
    fixture *f = *state;
    enum { BLOCKS = 6000 };
    static uint32_t states[2 * BLOCKS];
    static int64_t numbers[BLOCKS];
    uint32_t *at = states;
    int64_t *numbers_at = numbers;
    memset(states, 0, sizeof states);
    assert_status_ok(wpi_device_set_limit(f->device, WPI_LIMIT_PENDING_LAUNCHES, 20000, &f->err),
                     &f->err);
    run(f, "wait", BLOCKS, 1, (void *[]){&at, &numbers_at});
    for (uint32_t b = 0; b < BLOCKS; b++)
        assert_int_equal(states[2 * b + 1], 8);
}

static void the_number_of_waiting_launches_is_limited(void **state) {
    fixture *f = *state;
    static atomic_uint counts[3];
    atomic_uint *at = counts;
    for (int i = 0; i < 3; i++)
        atomic_store(&counts[i], 0);
    assert_status_ok(wpi_device_set_limit(f->device, WPI_LIMIT_PENDING_LAUNCHES, 100, &f->err),
                     &f->err);
    run(f, "queue_many", 1, 512, (void *[]){&at});
    assert_int_equal(atomic_load(&counts[0]), 100);
    assert_int_equal(atomic_load(&counts[1]), 412);
    assert_int_equal(atomic_load(&counts[2]), 0);
    /* Small blocks one after the other: what they launch runs in between. */
    run(f, "queue_many", 200, 10, (void *[]){&at});
    assert_int_equal(atomic_load(&counts[0]), 2100);
    assert_int_equal(atomic_load(&counts[1]), 412);
}

static void a_failure_ends_the_others(void **state) {
    fixture *f = *state;
    static atomic_uint counts[1];
    atomic_uint *at = counts;
    atomic_store(&counts[0], 0);
    wp_queue *queue = wp_device_default_queue(f->device);
    assert_status_ok(
        launch(queue, find_kernel(f->module, "queue_trap"), 1, 1, (void *[]){&at}, &f->err),
        &f->err);
    assert_int_equal(wp_device_wait(f->device, &f->err), WP_STATUS_KERNEL_TRAP);
    assert_int_equal(atomic_load(&counts[0]), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(grids_nest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_stream_keeps_its_order_and_tails_come_last, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(blocks_wait_for_what_they_launched, set_up, tear_down),
        cmocka_unit_test_setup_teardown(blocks_wait_for_what_they_launched, set_up_alone,
                                        tear_down),
        cmocka_unit_test_setup_teardown(very_many_blocks_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(very_many_blocks_wait, set_up_alone, tear_down),
        cmocka_unit_test_setup_teardown(the_number_of_waiting_launches_is_limited, set_up_alone,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_failure_ends_the_others, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

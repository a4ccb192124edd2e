/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/cache_launch.h"

#include <string.h>

#include "device/device.h"
#include "wp_test.h"

enum { KIB = 1024 };

/* A GTX Titan Black, and a kernel of 32 registers with 8 structures. */
static const wpi_module_ops module_ops;
static const wpi_device_ops ops = {.module = &module_ops};
static wp_device device;
static wp_kernel plain, cached;
static wpi_cache_code code;

static int start(void **state) {
    (void)state;
    device = (wp_device){.ops = &ops,
                         .info = {.spec = "sim:titan-black",
                                  .sm_count = 15,
                                  .threads_per_block_max = 1024,
                                  .threads_per_sm_max = 2048,
                                  .blocks_per_sm_max = 16,
                                  .registers_per_sm = 65536,
                                  .register_granule = 256,
                                  .schedulers = 4,
                                  .shared_granule_bytes = 256,
                                  .shared_bytes_per_block = 48 * KIB,
                                  .shared_bytes_per_block_optin = 48 * KIB,
                                  .shared_bytes_per_sm = 48 * KIB}};
    plain = (wp_kernel){.device = &device, .info = {.name = "k", .register_count = 16}};
    cached = (wp_kernel){.device = &device, .info = {.name = "k$cache", .register_count = 32}};
    code = (wpi_cache_code){.device = &device,
                            .plain = &plain,
                            .cached = &cached,
                            .may_be_cached = 1,
                            .facts = {.structures = WPI_CACHE_STRUCTURES,
                                      .apart = 1,
                                      .line_bytes = WPI_CACHE_LINE_BYTES,
                                      .ways = 1}};
    return 0;
}

static wpi_cache_plan plan(uint64_t blocks, uint32_t threads, uint32_t shared_bytes) {
    wpi_cache_plan made;
    wpi_cache_plan_make(&code, blocks, threads, threads, shared_bytes, &made);
    return made;
}

static void full_sms_of_48_kib_have_one_line_a_thread(void **state) {
    (void)state;
    const wpi_cache_plan made = plan(30, 1024, 0);
    assert_null(made.reason);
    assert_int_equal(made.threads_per_sm, 2048);
    assert_int_equal(made.shared_left_bytes, 48 * KIB);
    assert_int_equal(made.lines, 48 * KIB / 2048 / WPI_CACHE_LINE_BYTES);
    assert_int_equal(made.lines, 1);
    assert_int_equal(made.shared_dynamic_bytes, 1024 * WPI_CACHE_LINE_BYTES);
}

static void a_small_grid_leaves_more_lines(void **state) {
    (void)state;
    assert_int_equal(plan(15, 1024, 0).lines, 3); /* a block an SM */
    assert_int_equal(plan(1, 512, 0).lines, 6);
    assert_int_equal(plan(0, 1024, 0).lines, 1); /* unknown: as many as fit */
}

static void the_programs_shared_memory_is_subtracted(void **state) {
    (void)state;
    cached.info.shared_static_bytes = 4 * KIB;
    const wpi_cache_plan made = plan(15, 512, 4 * KIB + 1);
    const uint32_t offset = 4 * KIB + WPI_CACHE_LINE_BYTES;
    assert_int_equal(made.lines_offset_bytes, offset);
    assert_int_equal(made.shared_left_bytes, 48 * KIB - 4 * KIB - offset);
    assert_int_equal(made.lines, made.shared_left_bytes / 512 / WPI_CACHE_LINE_BYTES);
    assert_int_equal(made.shared_dynamic_bytes, offset + made.lines * 512 * WPI_CACHE_LINE_BYTES);
}

static void longer_lines_are_fewer(void **state) {
    (void)state;
    code.facts.line_bytes = 32;
    assert_int_equal(plan(30, 1024, 0).lines, 0); /* 24 bytes a thread */
    code.facts.line_bytes = 8;
    assert_int_equal(plan(30, 1024, 0).lines, 3);
}

static void no_more_lines_than_structures(void **state) {
    (void)state;
    code.facts.structures = 2;
    assert_int_equal(plan(15, 32, 0).lines, 2);
}

static void without_room_for_a_line_the_plain_kernel_runs(void **state) {
    (void)state;
    cached.info.shared_static_bytes = 40 * KIB;
    const wpi_cache_plan made = plan(15, 1024, 8 * KIB - 5);
    assert_string_equal(made.reason, "the shared memory that is left is less than a line for each "
                                     "thread of an SM");
    assert_int_equal(made.lines, 0);
    assert_int_equal(made.shared_dynamic_bytes, 8 * KIB - 5);
}

static void lines_never_cost_a_resident_block(void **state) {
    (void)state;
    for (uint32_t threads = 32; threads <= 1024; threads += 32) {
        for (uint32_t shared_bytes = 0; shared_bytes < 6 * KIB; shared_bytes += 500) {
            const wpi_cache_plan made = plan(0, threads, shared_bytes);
            const uint32_t before = wp_kernel_occupancy_blocks(&cached, threads, shared_bytes);
            if (made.reason != NULL) continue;
            assert_int_equal(
                wp_kernel_occupancy_blocks(&cached, threads, made.shared_dynamic_bytes), before);
            assert_int_equal(wpi_cache_occupancy_blocks(&code, threads, shared_bytes), before);
        }
    }
}

static void a_block_that_fits_only_without_the_cache_runs_the_plain_kernel(void **state) {
    (void)state;
    cached.info.register_count = 100;
    cached.info.threads_per_block_max = 640;
    assert_non_null(plan(15, 1024, 0).reason);
    assert_null(plan(15, 512, 0).reason);
    assert_int_equal(wpi_cache_occupancy_blocks(&code, 1024, 0),
                     wp_kernel_occupancy_blocks(&plain, 1024, 0));
}

static void where_half_of_the_threads_would_not_be_resident_the_plain_kernel_runs(void **state) {
    (void)state;
    plain.info.register_count = 31;
    cached.info.register_count = 63;
    assert_non_null(plan(0, 256, 0).reason);  /* 8 and 4 blocks */
    assert_null(plan(15 * 4, 256, 0).reason); /* the grid has no more */
    cached.info.register_count = 40;
    assert_null(plan(0, 256, 0).reason); /* 8 and 6 */
}

static void without_a_cached_form_the_reason_is_the_compilers(void **state) {
    (void)state;
    code.cached = NULL;
    code.facts.structures = 0;
    (void)snprintf(code.facts.reason, sizeof code.facts.reason, "the kernel has no loops");
    assert_string_equal(plan(15, 128, 0).reason, "the kernel has no loops");
}

static void where_loops_end_by_data_the_plain_kernel_runs(void **state) {
    (void)state;
    code.may_be_cached = 0;
    assert_non_null(strstr(plan(15, 128, 0).reason, "its loops end where data say"));
}

static void loops_over_consecutive_elements_need_no_lines(void **state) {
    (void)state;
    code.has_runs = true;
    assert_null(plan(15, 128, 0).reason);
    const wpi_cache_plan made = plan(15, 128, 48 * KIB);
    assert_null(made.reason);
    assert_u64(made.lines, 0);
    assert_u64(made.shared_dynamic_bytes, 48 * KIB);
}

static void what_lanes_access_side_by_side_is_not_cached(void **state) {
    (void)state;
    wpi_cache_plan made;
    code.facts.apart = 0;
    assert_non_null(strstr(plan(15, 128, 0).reason, "side by side, or at few addresses"));
    code.facts.rows = 1; /* a row of 16 threads reads one address, one of 4 no less often */
    wpi_cache_plan_make(&code, 15, 256, 16, 0, &made);
    assert_non_null(made.reason);
    wpi_cache_plan_make(&code, 15, 256, 4, 0, &made);
    assert_null(made.reason);
    code.facts.rows = 2; /* of a structure that is not cached anyway */
    wpi_cache_plan_make(&code, 15, 256, 4, 0, &made);
    assert_non_null(made.reason);
    code.caches_together = true;
    assert_null(plan(15, 128, 0).reason);
}

/* 384 lines of 128 bytes, for at most as many threads of an SM, or warps. */
static void a_plain_launch_prefers_l1_where_it_has_a_line_for_each_thread(void **state) {
    (void)state;
    code.may_be_cached = 0;
    code.may_use_l1 = true;
    code.facts.l1 = WPI_CACHE_L1_THREADS;
    assert_false(plan(15, 128, 0).prefers_l1); /* the device leaves no choice */
    device.info.l1_preferred_bytes = 48 * KIB;
    device.info.l1_preferred_shared_bytes = 16 * KIB;
    assert_true(plan(15, 384, 0).prefers_l1);
    assert_false(plan(15, 416, 0).prefers_l1);
    assert_true(plan(15 * 3, 128, 0).prefers_l1); /* three blocks an SM */
    assert_false(plan(15 * 4, 128, 0).prefers_l1);
    code.facts.l1 = WPI_CACHE_L1_WARPS;
    assert_true(plan(0, 1024, 0).prefers_l1); /* 64 warps */
    code.facts.l1 = WPI_CACHE_L1_NONE;
    assert_false(plan(15, 128, 0).prefers_l1);
}

static void l1_is_not_preferred_where_that_would_halve_the_resident_threads(void **state) {
    (void)state;
    code.may_be_cached = 0;
    code.may_use_l1 = true;
    code.facts.l1 = WPI_CACHE_L1_WARPS;
    device.info.l1_preferred_bytes = 48 * KIB;
    device.info.l1_preferred_shared_bytes = 16 * KIB;
    plain.info.shared_static_bytes = 3 * KIB;
    assert_true(plan(0, 256, 0).prefers_l1);        /* 5 of 8 blocks have room */
    assert_false(plan(0, 256, KIB).prefers_l1);     /* 4 of 8 */
    assert_true(plan(15, 256, 8 * KIB).prefers_l1); /* the grid has no more than one */
    assert_false(plan(15, 256, 16 * KIB).prefers_l1);
}

static void a_cached_launch_and_a_program_under_check_leave_l1_as_it_is(void **state) {
    (void)state;
    code.may_use_l1 = true;
    code.facts.l1 = WPI_CACHE_L1_THREADS;
    device.info.l1_preferred_bytes = 48 * KIB;
    device.info.l1_preferred_shared_bytes = 16 * KIB;
    assert_null(plan(15, 128, 0).reason);
    assert_false(plan(15, 128, 0).prefers_l1);
    code.may_be_cached = 0;
    assert_true(plan(15, 128, 0).prefers_l1);
    code.is_checked = true;
    assert_false(plan(15, 128, 0).prefers_l1);
    code.is_checked = code.may_use_l1 = false;
    assert_false(plan(15, 128, 0).prefers_l1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(full_sms_of_48_kib_have_one_line_a_thread, start),
        cmocka_unit_test_setup(a_small_grid_leaves_more_lines, start),
        cmocka_unit_test_setup(the_programs_shared_memory_is_subtracted, start),
        cmocka_unit_test_setup(longer_lines_are_fewer, start),
        cmocka_unit_test_setup(no_more_lines_than_structures, start),
        cmocka_unit_test_setup(without_room_for_a_line_the_plain_kernel_runs, start),
        cmocka_unit_test_setup(lines_never_cost_a_resident_block, start),
        cmocka_unit_test_setup(a_block_that_fits_only_without_the_cache_runs_the_plain_kernel,
                               start),
        cmocka_unit_test_setup(
            where_half_of_the_threads_would_not_be_resident_the_plain_kernel_runs, start),
        cmocka_unit_test_setup(without_a_cached_form_the_reason_is_the_compilers, start),
        cmocka_unit_test_setup(where_loops_end_by_data_the_plain_kernel_runs, start),
        cmocka_unit_test_setup(loops_over_consecutive_elements_need_no_lines, start),
        cmocka_unit_test_setup(what_lanes_access_side_by_side_is_not_cached, start),
        cmocka_unit_test_setup(a_plain_launch_prefers_l1_where_it_has_a_line_for_each_thread,
                               start),
        cmocka_unit_test_setup(l1_is_not_preferred_where_that_would_halve_the_resident_threads,
                               start),
        cmocka_unit_test_setup(a_cached_launch_and_a_program_under_check_leave_l1_as_it_is, start),
    };
    return wp_test_main(tests);
}

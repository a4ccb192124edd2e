/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/planner.h"

#include "wp_test.h"

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

/* Like a K80: a second level that reaches 128 MiB, a third 2 GiB, slow walks. */
static const wpi_planner kepler = {.spec = "sim:test",
                                   .level_count = 2,
                                   .levels = {{128 * MIB, 1.0, 60}, {2 * GIB, 17.0, 200}},
                                   .memory_ns_per_byte = 0.004,
                                   .link_ns_per_byte = 0.083,
                                   .access_ns = 0.133,
                                   .l2_access_ns = 0.095,
                                   .l2_bytes = 1.5 * MIB,
                                   .l2_latency_ns = 275,
                                   .memory_latency_ns = 172,
                                   .instruction_ns = 0.0006,
                                   .warp_ns = 0.0028,
                                   .atomic_ns = 1.14,
                                   .threads = 26000,
                                   .launch_ns = 7000};

static wpi_plan choose(const wpi_planner *planner, wpi_plan_task task) {
    if (task.row_bytes == 0) task.row_bytes = 4;
    if (task.row_atomics == 0) task.row_atomics = 1;
    if (task.placement == WP_PLACEMENT_AUTO) task.placement = WP_PLACEMENT_ZERO_COPY;
    return wpi_planner_choose(planner, &task, NULL);
}

static void what_the_tlbs_reach_is_accessed_directly(void **state) {
    (void)state;
    const wpi_plan plan = choose(&kepler, (wpi_plan_task){.table_bytes = 100 * MIB});
    assert_int_equal(plan.strategy, WP_STRATEGY_DIRECT);
    assert_u64(plan.scope_bytes, 0);
}

static void beyond_them_scopes_fit_a_level(void **state) {
    (void)state;
    const wpi_plan plan = choose(&kepler, (wpi_plan_task){.table_bytes = 11 * GIB});
    assert_true(plan.strategy > WP_STRATEGY_SCOPED); /* the link would be passed again and again */
    assert_true(plan.scope_bytes > 100 * MIB && plan.scope_bytes <= 2 * GIB);
    const wpi_plan_task direct = {.table_bytes = 11 * GIB, .strategy = WP_STRATEGY_DIRECT};
    assert_true(choose(&kepler, direct).row_ns > 10 * plan.row_ns);
}

/* A launch for each of 89 scopes is dear for few rows. */
static void few_rows_have_few_passes(void **state) {
    (void)state;
    const wpi_plan_task many = {.table_bytes = 11 * GIB, .chunk_rows = 33000000};
    const wpi_plan_task few = {.table_bytes = 11 * GIB, .chunk_rows = 20000};
    assert_true(choose(&kepler, many).scope_bytes <= 128 * MIB);
    assert_true(choose(&kepler, few).scope_bytes > GIB ||
                choose(&kepler, few).strategy == WP_STRATEGY_DIRECT);
}

static void hot_keys_need_no_scopes(void **state) {
    (void)state;
    const wpi_plan plan =
        choose(&kepler, (wpi_plan_task){.table_bytes = 3 * GIB, .hot_share = 0.999});
    assert_int_equal(plan.strategy, WP_STRATEGY_DIRECT);
}

static void without_tlbs_nothing_is_gained(void **state) {
    (void)state;
    wpi_planner unknown = kepler;
    unknown.level_count = 0;
    const wpi_plan plan = choose(&unknown, (wpi_plan_task){.table_bytes = 100 * GIB});
    assert_int_equal(plan.strategy, WP_STRATEGY_DIRECT);
}

static void what_was_asked_for_is_done(void **state) {
    (void)state;
    for (wp_strategy s = WP_STRATEGY_DIRECT; s < WP_STRATEGY_COUNT; s++) {
        const wpi_plan_task task = {.table_bytes = 64 * MIB,
                                    .strategy = s,
                                    .scope_bytes = s == WP_STRATEGY_DIRECT ? 0 : MIB};
        assert_int_equal(choose(&kepler, task).strategy, s);
        assert_u64(choose(&kepler, task).scope_bytes, task.scope_bytes);
    }
}

static void samples_are_direct_or_scoped(void **state) {
    (void)state;
    const wpi_plan_task task = {
        .table_bytes = 11 * GIB, .placement = WP_PLACEMENT_RESIDENT, .is_read_only = true};
    const wpi_plan plan = choose(&kepler, task);
    assert_int_equal(plan.strategy, WP_STRATEGY_SCOPED);
    assert_true(plan.scope_bytes > GIB);
}

/* At 2.1 GiB direct access costs hardly more: what is simple is done. */
static void a_small_gain_is_none(void **state) {
    (void)state;
    const wpi_plan_task task = {.table_bytes = 2 * GIB + 32 * MIB, .chunk_rows = 30000};
    assert_int_equal(choose(&kepler, task).strategy, WP_STRATEGY_DIRECT);
}

static double row_ns(wpi_plan_task task) {
    task.row_bytes = 1; /* so that the link hides nothing */
    task.strategy = WP_STRATEGY_DIRECT;
    task.placement = WP_PLACEMENT_RESIDENT;
    task.row_atomics = task.row_atomics != 0 ? task.row_atomics : 1;
    return choose(&kepler, task).row_ns;
}

/* What fits L2 takes no memory; larger buckets have more sectors, more aggregates more atomics. */
static void terms_grow_with_what_they_are_about(void **state) {
    (void)state;
    const double small = row_ns((wpi_plan_task){.table_bytes = MIB, .bucket_bytes = 8});
    const double large = row_ns((wpi_plan_task){.table_bytes = 64 * MIB, .bucket_bytes = 8});
    const double wide = row_ns((wpi_plan_task){.table_bytes = 64 * MIB, .bucket_bytes = 40});
    const double many =
        row_ns((wpi_plan_task){.table_bytes = MIB, .bucket_bytes = 40, .row_atomics = 9});
    assert_true(small < 0.8 * large);
    assert_true(large < 0.7 * wide);
    assert_true(many > 2 * small);
}

/* Behind the first pass the link has nothing to do; chunks that are copied ahead keep it busy. */
static void the_link_works_beside_the_first_pass(void **state) {
    (void)state;
    wpi_plan_task task = {.table_bytes = 11 * GIB, .scope_bytes = 128 * MIB};
    for (task.strategy = WP_STRATEGY_COPY; task.strategy < WP_STRATEGY_COUNT; task.strategy++) {
        task.placement = WP_PLACEMENT_ZERO_COPY;
        const double kept = choose(&kepler, task).row_ns;
        task.placement = WP_PLACEMENT_COPIED;
        const double ahead = choose(&kepler, task).row_ns, link = 4 * kepler.link_ns_per_byte;
        assert_true(kept > ahead + 0.5 * link && kept <= ahead + link);
    }
}

static bool combines(double hottest_share, double warp_share, uint32_t row_atomics,
                     double link_ns_per_byte) {
    wpi_planner planner = kepler;
    const wpi_plan_task task = {.table_bytes = MIB,
                                .row_bytes = 4,
                                .bucket_bytes = 8,
                                .row_atomics = row_atomics,
                                .hottest_share = hottest_share,
                                .warp_share = warp_share,
                                .placement = WP_PLACEMENT_ZERO_COPY};
    planner.link_ns_per_byte = link_ns_per_byte;
    return wpi_planner_combines(&planner, &task, (wpi_plan){.strategy = WP_STRATEGY_DIRECT}, NULL);
}

/* Its atomics alone take longer than all else. */
static void a_hot_key_is_put_together(void **state) {
    (void)state;
    assert_true(combines(1, 1, 1, 0.083));
    assert_true(combines(0.6, 0.6, 1, 0.083));
    assert_false(combines(0.03, 0.03, 1, 0.083));
    assert_false(combines(0.03, 0.03, 9, 0.083)); /* also not where there are many atomics */
}

/* Runs of one key, short beside the rows under way: buckets are many. A slow link hides it all. */
static void what_does_not_wait_stays_alone(void **state) {
    (void)state;
    assert_false(combines(0.05, 1, 1, 0.083));
    assert_false(combines(1, 1, 1, 0.5));
}

static void every_term_is_said(void **state) {
    (void)state;
    wp_text text = {0};
    const wpi_plan_task task = {
        .table_bytes = 3 * GIB, .row_bytes = 4, .placement = WP_PLACEMENT_COPIED};
    (void)wpi_planner_choose(&kepler, &task, &text);
    static const char *const wanted[] = {"3.00 GiB", "copied", "direct", "partition", "link",
                                         "input",    "passes", "table",  "atomics",   "launches"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strstr(wp_text_string(&text), wanted[i]) == NULL)
            fail_msg("no '%s' in\n%s", wanted[i], wp_text_string(&text));
    wp_text_deinit(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_tlbs_reach_is_accessed_directly),
        cmocka_unit_test(beyond_them_scopes_fit_a_level),
        cmocka_unit_test(few_rows_have_few_passes),
        cmocka_unit_test(hot_keys_need_no_scopes),
        cmocka_unit_test(without_tlbs_nothing_is_gained),
        cmocka_unit_test(what_was_asked_for_is_done),
        cmocka_unit_test(samples_are_direct_or_scoped),
        cmocka_unit_test(a_small_gain_is_none),
        cmocka_unit_test(terms_grow_with_what_they_are_about),
        cmocka_unit_test(the_link_works_beside_the_first_pass),
        cmocka_unit_test(a_hot_key_is_put_together),
        cmocka_unit_test(what_does_not_wait_stays_alone),
        cmocka_unit_test(every_term_is_said),
    };
    return wp_test_main(tests);
}

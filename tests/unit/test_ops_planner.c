/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/planner.h"

#include <math.h>
#include <string.h>

#include "warpage/device.h"
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

/* A table that is full goes through the link once for each time that it is; rows that are postponed
 * go there and back. */
static void rows_are_postponed_where_tables_are_more(void **state) {
    (void)state;
    const wpi_plan_task task = {
        .table_bytes = GIB, .row_bytes = 8, .bucket_bytes = 40, .row_atomics = 3};
    const wpi_plan plan = {.strategy = WP_STRATEGY_DIRECT, .row_ns = 1};
    const double held = 1e6, rows = 1e9;
    wpi_full_table twice = {held, 2 * held, rows}, often = {held, 100 * held, rows};
    assert_true(wpi_planner_postpones(&kepler, &task, plan, &twice, NULL));
    assert_false(wpi_planner_postpones(&kepler, &task, plan, &often, NULL));
    wpi_plan_task wide = task;
    wide.row_bytes = 200;
    assert_false(wpi_planner_postpones(&kepler, &wide, plan, &twice, NULL));
    wpi_plan_task asked = task;
    asked.strategy = WP_STRATEGY_SEPO;
    assert_true(wpi_planner_postpones(&kepler, &asked, plan, &often, NULL));
    asked.strategy = WP_STRATEGY_DIRECT;
    assert_false(wpi_planner_postpones(&kepler, &asked, plan, &twice, NULL));
}

static void groups_are_estimated_from_those_seen(void **state) {
    (void)state;
    const double all = 5e6;
    for (double rows = 1e5; rows < 3e7; rows *= 3)
        assert_near(wpi_planner_groups(all * (1 - exp(-rows / all)), rows), all, 0.01);
    assert_true(wpi_planner_groups(1000, 1000) > 1e15);
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
                                    .scope_bytes =
                                        s == WP_STRATEGY_DIRECT || s == WP_STRATEGY_SEPO ? 0 : MIB};
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
    for (task.strategy = WP_STRATEGY_COPY; task.strategy <= WP_STRATEGY_PARTITION;
         task.strategy++) {
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
    wpi_text text = {0};
    const wpi_plan_task task = {
        .table_bytes = 3 * GIB, .row_bytes = 4, .placement = WP_PLACEMENT_COPIED};
    (void)wpi_planner_choose(&kepler, &task, &text);
    static const char *const wanted[] = {"3.00 GiB", "copied", "direct", "partition", "link",
                                         "input",    "passes", "table",  "atomics",   "launches"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strstr(wpi_text_string(&text), wanted[i]) == NULL)
            fail_msg("no '%s' in\n%s", wanted[i], wpi_text_string(&text));
    wpi_text_deinit(&text);
}

/* The costs of all strategies for one task: finite, and none is less than that of the choice, but
 * for the tenth by which a less simple strategy must be better. */
static void expect_least(const wpi_planner *planner, wpi_plan_task task) {
    wpi_text text = {0};
    const wpi_plan plan = wpi_planner_choose(planner, &task, &text);
    if (!isfinite(plan.row_ns) || plan.row_ns <= 0 ||
        strstr(wpi_text_string(&text), "nan") != NULL ||
        strstr(wpi_text_string(&text), "inf") != NULL)
        fail_msg("a cost is not finite:\n%s", wpi_text_string(&text));
    for (task.strategy = WP_STRATEGY_DIRECT; task.strategy <= WP_STRATEGY_PARTITION;
         task.strategy++) {
        for (uint32_t i = 0; i < planner->level_count; i++) {
            const uint64_t reach_bytes = planner->levels[i].reach_bytes;
            task.scope_bytes =
                task.strategy == WP_STRATEGY_DIRECT ? 0 : reach_bytes - reach_bytes / 64;
            if (reach_bytes >= task.table_bytes || task.table_bytes / reach_bytes >= 4000) continue;
            const wpi_plan other = wpi_planner_choose(planner, &task, NULL);
            if (!(other.row_ns * 1.0001 >= 0.9 * plan.row_ns))
                fail_msg("%s costs %g ns, less than the choice:\n%s",
                         wp_strategy_name(task.strategy), other.row_ns, wpi_text_string(&text));
        }
    }
    wpi_text_deinit(&text);
}

static void plan_for(const wpi_planner *planner) {
    for (uint64_t table_bytes = MIB; table_bytes <= 256 * GIB; table_bytes *= 4) {
        for (uint64_t chunk_rows = 0; chunk_rows < 1000000000; chunk_rows += 333333333) {
            const wpi_plan_task task = {.table_bytes = table_bytes,
                                        .row_bytes = 8,
                                        .bucket_bytes = 16,
                                        .row_atomics = 2,
                                        .chunk_rows = chunk_rows,
                                        .placement = WP_PLACEMENT_ZERO_COPY};
            expect_least(planner, task);
        }
    }
}

static wpi_planner planner_of(const char *spec) {
    wpi_planner planner;
    wp_device *device = NULL;
    wp_error err = {0};
    assert_status_ok(wp_device_open(spec, &device, &err), &err);
    assert_status_ok(wpi_planner_init(&planner, device, NULL, 0, &err), &err);
    wp_device_close(device);
    return planner;
}

static void see_profile(void *count, const char *spec) {
    const wpi_planner planner = planner_of(spec);
    assert_true(planner.level_count > 0);
    for (uint32_t i = 0; i < planner.level_count; i++) {
        assert_true(planner.levels[i].reach_bytes > 0);
        assert_true(isfinite(planner.levels[i].service_ns));
    }
    plan_for(&planner);
    ++*(int *)count;
}

static void the_least_cost_wins_on_every_profile(void **state) {
    int count = 0;
    (void)state;
    wp_device_visit_simulated(see_profile, &count);
    assert_true(count >= 12);
}

/* gem5-16sm's TLBs have any number of ports and MSHRs, and one page of 4 KiB an entry. */
static void zero_ports_mshrs_and_walkers_are_no_limit(void **state) {
    (void)state;
    const wpi_planner limited = planner_of("sim:gem5-16sm");
    assert_u64(limited.levels[0].reach_bytes, 32 * 4096);
    assert_u64(limited.levels[1].reach_bytes, 512 * 4096);
    assert_near(limited.levels[0].service_ns, 0, 1e-9);
    assert_near(limited.levels[1].service_ns, 150.0 / 8, 1e-9); /* 8 walkers of 150 ns */
    setenv("WARPAGE_SET", "walker.count=0;tlb.l2.ports=2;tlb.l1.mshrs=4", 1);
    const wpi_planner walkers = planner_of("sim:gem5-16sm");
    unsetenv("WARPAGE_SET");
    assert_near(walkers.levels[0].service_ns, 10.0 / 4, 1e-9);
    assert_near(walkers.levels[1].service_ns, 1, 1e-9); /* the last level asks once a cycle */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_tlbs_reach_is_accessed_directly),
        cmocka_unit_test(beyond_them_scopes_fit_a_level),
        cmocka_unit_test(rows_are_postponed_where_tables_are_more),
        cmocka_unit_test(groups_are_estimated_from_those_seen),
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
        cmocka_unit_test(the_least_cost_wins_on_every_profile),
        cmocka_unit_test(zero_ports_mshrs_and_walkers_are_no_limit),
    };
    return wp_test_main(tests);
}

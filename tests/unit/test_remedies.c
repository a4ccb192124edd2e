/* SPDX-License-Identifier: Apache-2.0 */
/** What is tried for which program, what a run means in words, and how remedies are ranked. */
#include "study/remedies.h"

#include "wp_test.h"

static wpi_paging_facts fitting(void) {
    return (wpi_paging_facts){.time_ns = 1000,
                              .wait_pct = 40,
                              .far_faults = 10,
                              .fetched_pages = 100,
                              .prefetched_pages = 90};
}

static void expect_words(const wpi_paging_facts *facts, const char *expected) {
    wpi_text words = {0};
    wpi_paging_diagnose(facts, &words);
    assert_string_equal(wpi_text_string(&words), expected);
    wpi_text_deinit(&words);
}

static void words_for_data_that_fits(void **state) {
    (void)state;
    wpi_paging_facts facts = fitting();
    expect_words(
        &facts, "The data fits in device memory; 40.0 % of the access time is spent on far faults, "
                "all on pages accessed for the first time.");
    facts.wait_pct = 2;
    expect_words(
        &facts, "The data fits in device memory, and only 2.0 % of the access time is spent on far "
                "faults: little can be gained.");
    expect_words(&(wpi_paging_facts){0}, "No page is migrated to the device.");
}

static void words_for_thrashing(void **state) {
    (void)state;
    wpi_paging_facts facts = fitting();
    facts.evicted_pages = 80;
    expect_words(&facts,
                 "Device memory is smaller than the data, but no evicted page was migrated again.");
    facts.again_pages = 75; /* 25 pages, 4 times each */
    expect_words(&facts,
                 "Thrashing: device memory is smaller than the data, and each migrated page was "
                 "migrated 4.0 times on average.");
}

static void words_for_a_fight_with_the_host(void **state) {
    (void)state;
    wpi_paging_facts facts = fitting();
    facts.host_faults = 5;
    facts.host_pages = 50;
    expect_words(
        &facts,
        "The data fits in device memory; 40.0 % of the access time is spent on far faults, "
        "all on pages accessed for the first time. 50 pages were migrated to the host, by 5 "
        "host page faults.");
    facts.again_pages = 45;
    expect_words(
        &facts, "The data fits in device memory; 40.0 % of the access time is spent on far faults, "
                "some on pages migrated before. Pages move back and forth: 50 pages were "
                "migrated to the host, 45 again to the device.");
}

/* "edges" is larger and colder than "state", which is written; "flag" is small. */
static void make_groups(wpi_managed_groups *groups) {
    static const wp_trace_allocation allocations[] = {{1, 1 << 20, 100, "a"},
                                                      {2, 8 << 20, 200, "b"},
                                                      {3, 4096, 300, "c"},
                                                      {4, 1 << 20, 100, "a"}};
    for (size_t i = 0; i < sizeof allocations / sizeof allocations[0]; i++)
        wpi_managed_groups_add(groups, &allocations[i]);
    char names[3][8] = {"state", "edges", "flag"}, sites[3][2] = {"a", "b", "c"};
    char kind[] = "managed";
    wp_run_allocation rows[3];
    const uint64_t moves[3] = {40, 60, 0};
    const wp_run_touches touches[3] = {{1000, 1000, 0, 0}, {100, 0, 0, 0}, {1, 1, 0, 0}};
    for (size_t i = 0; i < 3; i++)
        rows[i] = (wp_run_allocation){.name = names[i],
                                      .site = sites[i],
                                      .kind = kind,
                                      .count = i == 0 ? 2 : 1,
                                      .bytes = allocations[i].bytes,
                                      .address = allocations[i].address,
                                      .moves = {moves[i]},
                                      .touches = touches[i]};
    wp_run_simulation simulation = {.allocations = rows, .allocation_count = 3};
    wpi_managed_groups_describe(groups, &(wp_run_record){.simulation = &simulation});
}

static const wpi_remedy *find(const wpi_remedies *remedies, const char *name) {
    for (size_t i = 0; i < remedies->count; i++)
        if (strcmp(remedies->items[i].name, name) == 0) return &remedies->items[i];
    return NULL;
}

/* All remedies, with the GPU's keys "name", "value", … NULL. */
static void choose(wpi_remedies *remedies, const wpi_paging_facts *facts, const char *const *keys) {
    wpi_managed_groups groups = {0};
    wpi_strings list = {0};
    make_groups(&groups);
    for (size_t i = 0; keys[i] != NULL; i++)
        wpi_strings_add(&list, keys[i]);
    wpi_remedies_add_all(remedies, &(wpi_remedy_base){*facts, &groups, &list});
    wpi_strings_deinit(&list);
    wpi_managed_groups_deinit(&groups);
}

static const char *const tree[] = {"paging.prefetch", "tree", "paging.service", "drained", NULL};
static const char *const batch[] = {
    "paging.prefetch", "none", "paging.service", "batch", "paging.replay", "batch-flush", NULL};

static void allocations_of_one_place_are_one_group(void **state) {
    (void)state;
    wpi_managed_groups groups = {0};
    make_groups(&groups);
    assert_u64(groups.count, 3);
    assert_u64(groups.items[0].count, 2);
    assert_u64(groups.items[0].writes, 1000);
    assert_string_equal(groups.items[0].name, "state");
    wpi_managed_groups_deinit(&groups);
}

/* Two live ones of the same size and place are distinguished by their names; those without are not.
 */
static void what_has_names_is_told_apart(void **state) {
    (void)state;
    wpi_managed_groups groups = {0};
    char names[4][8] = {"from", "to", "", ""}, site[] = "make", kind[] = "managed";
    wp_run_allocation rows[4];
    for (uint64_t i = 0; i < 4; i++) {
        wpi_managed_groups_add(&groups, &(wp_trace_allocation){i + 1, 4096, 1000 * (i + 1), site});
        rows[i] = (wp_run_allocation){.name = names[i],
                                      .site = site,
                                      .kind = kind,
                                      .count = 1,
                                      .bytes = 4096,
                                      .address = 1000 * (i + 1),
                                      .moves = {i + 1}};
    }
    wp_run_simulation simulation = {.allocations = rows, .allocation_count = 4};
    wpi_managed_groups_describe(&groups, &(wp_run_record){.simulation = &simulation});
    assert_u64(groups.count, 3);
    assert_string_equal(groups.items[1].name, "to");
    assert_u64(groups.items[1].moves[0], 2);
    assert_string_equal(groups.items[2].name, "allocation 3");
    assert_u64(groups.items[2].count, 2);
    assert_u64(groups.items[2].moves[0], 7);
    size_t order[2];
    assert_u64(wpi_managed_groups_order(&groups, order, 2), 2);
    assert_u64(order[0], 2);
    assert_u64(order[1], 1);
    wpi_managed_groups_deinit(&groups);
}

/* Made and freed in turn, at other places: the row of the last one has the name of all. */
static void those_of_a_loop_are_one_group(void **state) {
    (void)state;
    wpi_managed_groups groups = {0};
    char name[] = "buffer", site[] = "loop", kind[] = "managed";
    for (uint64_t i = 0; i < 3; i++)
        wpi_managed_groups_add(&groups, &(wp_trace_allocation){i + 1, 4096, 1000 * (i + 1), site});
    wp_run_allocation row = {.name = name,
                             .site = site,
                             .kind = kind,
                             .count = 3,
                             .bytes = 4096,
                             .address = 3000,
                             .moves = {9}};
    wp_run_simulation simulation = {.allocations = &row, .allocation_count = 1};
    wpi_managed_groups_describe(&groups, &(wp_run_record){.simulation = &simulation});
    assert_u64(groups.count, 1);
    assert_string_equal(groups.items[0].name, "buffer");
    assert_u64(groups.items[0].count, 3);
    assert_u64(groups.items[0].moves[0], 9);
    wpi_managed_groups_deinit(&groups);
}

static void a_plan_is_hints_words_and_code(void **state) {
    (void)state;
    wpi_managed_groups groups = {0};
    wpi_remedies remedies = {0};
    wpi_advice_plan plan;
    make_groups(&groups);
    wpi_advice_plan_init(&plan, &groups);
    plan.calls[1] = WP_CALL_HOST;
    plan.calls[0] = WP_CALL_DEVICE;
    plan.prefetches_others = true;
    assert_u64(wpi_remedies_add_plan(&remedies, &groups, &plan), 0);
    assert_u64(wpi_remedies_add_plan(&remedies, &groups, &plan), 0); /* it is there */
    assert_u64(remedies.count, 1);
    const wpi_remedy *tried = &remedies.items[0];
    assert_string_equal(tried->hints, "1=device;4=device;2=host;all=prefetch");
    assert_string_equal(tried->name,
                        "pin to host: edges; prefer device: state; prefetch the others");
    static const char *const lines[] = {
        "cudaMemAdvise(edges, 8388608, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId); // "
        "8.00 MiB by b",
        "cudaMemAdvise(edges, 8388608, cudaMemAdviseSetAccessedBy, device);",
        "cudaMemAdvise(state, 1048576, cudaMemAdviseSetPreferredLocation, device); // each of 2 of "
        "1.00 MiB by a",
        "cudaMemPrefetchAsync(flag, 4096, device, stream); /* before each launch */ // 4.00 KiB by "
        "c"};
    assert_u64(tried->code.count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(tried->code.items[i], lines[i]);
    wpi_remedies_deinit(&remedies);
    wpi_advice_plan_deinit(&plan);
    wpi_managed_groups_deinit(&groups);
}

static void what_is_said_of_all_has_its_code(void **state) {
    (void)state;
    wpi_remedies remedies = {0};
    const wpi_paging_facts facts = fitting();
    choose(&remedies, &facts, tree);
    assert_int_equal(remedies.items[0].kind, WP_REMEDY_NOW);
    assert_u64(find(&remedies, "pin all to host")->code.count, 6); /* two lines for each of three */
    assert_u64(find(&remedies, "explicit copies of all")->code.count, 0);
    assert_string_equal(find(&remedies, "read-mostly: edges")->hints, "2=read-mostly");
    wpi_remedies_deinit(&remedies);
}

static void what_makes_no_sense_is_not_tried(void **state) {
    (void)state;
    wpi_remedies remedies = {0};
    wpi_paging_facts facts = fitting();
    choose(&remedies, &facts, tree);
    assert_non_null(find(&remedies, "explicit copies of all"));
    assert_null(find(&remedies, "prefetch threshold 25 %")); /* tree has none */
    assert_null(find(&remedies, "enough memory"));
    assert_null(find(&remedies, "replay policy: once"));
    assert_null(find(&remedies, "thrashing mitigation"));
    wpi_remedies_deinit(&remedies);
    facts.evicted_pages = 5;
    facts.host_pages = 5;
    choose(&remedies, &facts, batch);
    assert_null(find(&remedies, "explicit copies of all"));
    assert_null(find(&remedies, "no prefetcher"));
    assert_null(find(&remedies, "prefetch threshold 25 %"));
    assert_null(find(&remedies, "replay policy: batch flush"));
    assert_non_null(find(&remedies, "replay policy: once"));
    assert_non_null(find(&remedies, "enough memory"));
    assert_non_null(find(&remedies, "thrashing mitigation"));
    wpi_remedies_deinit(&remedies);
}

static void a_threshold_is_tried_where_the_prefetcher_has_one(void **state) {
    (void)state;
    static const char *const driver[] = {"paging.prefetch", "driver", NULL};
    wpi_remedies remedies = {0};
    const wpi_paging_facts facts = fitting();
    choose(&remedies, &facts, driver);
    assert_non_null(find(&remedies, "prefetch threshold 25 %"));
    assert_non_null(find(&remedies, "prefetch threshold 75 %"));
    wpi_remedies_deinit(&remedies);
}

static void the_fastest_comes_first_and_those_without_a_result_last(void **state) {
    (void)state;
    wpi_remedies remedies = {0};
    const wpi_paging_facts facts = fitting();
    choose(&remedies, &facts, tree);
    while (remedies.count > 4)
        wpi_remedies_drop_last(&remedies);
    static const uint64_t times_ns[] = {300, 0, 200, 200};
    char *third = remedies.items[2].name, *failed = remedies.items[1].name;
    for (size_t i = 0; i < 4; i++) {
        remedies.items[i].facts.time_ns = times_ns[i];
        remedies.items[i].has_result = i != 1;
    }
    wpi_remedies_rank(&remedies);
    assert_ptr_equal(remedies.items[0].name, third); /* as they came */
    assert_u64(remedies.items[1].facts.time_ns, 200);
    assert_u64(remedies.items[2].facts.time_ns, 300);
    assert_ptr_equal(remedies.items[3].name, failed);
    wpi_remedies_deinit(&remedies);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_for_data_that_fits),
        cmocka_unit_test(words_for_thrashing),
        cmocka_unit_test(words_for_a_fight_with_the_host),
        cmocka_unit_test(allocations_of_one_place_are_one_group),
        cmocka_unit_test(what_has_names_is_told_apart),
        cmocka_unit_test(those_of_a_loop_are_one_group),
        cmocka_unit_test(a_plan_is_hints_words_and_code),
        cmocka_unit_test(what_is_said_of_all_has_its_code),
        cmocka_unit_test(what_makes_no_sense_is_not_tried),
        cmocka_unit_test(a_threshold_is_tried_where_the_prefetcher_has_one),
        cmocka_unit_test(the_fastest_comes_first_and_those_without_a_result_last),
    };
    return wp_test_main(tests);
}

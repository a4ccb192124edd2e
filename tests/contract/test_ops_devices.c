/* SPDX-License-Identifier: Apache-2.0 */
/* Group-by on devices against group-by on the processor: the same rows, the same groups, whatever
 * the strategy, the placement, the memory. */
#include "warpage/ops.h"

#include <math.h>

#include "wp_random.h"
#include "wp_test.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define ROWS_MAX 50000u

static const char *const without_gpu[] = {"cpu", "sim:k80", "sim:gtx1080ti"};
static const char *const with_gpu[] = {"cuda:0"}; /* WARPAGE_LIBCUDA says whose */
static const char *const *devices = without_gpu;
static size_t device_count = COUNT(without_gpu);
static int32_t keys32[ROWS_MAX];
static int64_t keys64[ROWS_MAX], integers[ROWS_MAX];
static double floats[ROWS_MAX];
static uint16_t weights[ROWS_MAX];
static uint8_t key_valid[ROWS_MAX / 8 + 8], value_valid[ROWS_MAX / 8 + 8];

/* What a table has. */
typedef struct rows {
    uint32_t count;
    uint64_t groups;
    bool is_wide, is_pair, has_null_keys, has_null_values, has_values, has_moments;
    uint32_t hot_pct, hot; /* so many rows have this one of the groups */
} rows;

/* ---- both ways ---- */

static void fill(const rows *r, uint64_t seed) {
    for (uint32_t i = 0; i < r->count; i++) {
        uint64_t key = wp_random_next(&seed) % r->groups;
        if (r->hot_pct != 0 && wp_random_next(&seed) % 100 < r->hot_pct) key = r->hot;
        keys32[i] = (int32_t)key - 2;
        keys64[i] = (int64_t)(key * UINT64_C(0x9e3779b97f4a7c15)); /* 0 among them */
        integers[i] = (int64_t)wp_random_next(&seed) / 1024;
        floats[i] = (double)(int64_t)(wp_random_next(&seed) % 4001) - 2000; /* sums are exact */
        weights[i] = (uint16_t)(keys64[i] % 4 + (i % 3 == 0));
    }
    keys32[0] = INT32_MIN;
    keys32[1] = INT32_MAX;
    for (uint32_t i = 0; i < sizeof key_valid; i++) {
        key_valid[i] = (uint8_t)wp_random_next(&seed);
        value_valid[i] = (uint8_t)wp_random_next(&seed);
    }
}

static const wp_aggregate aggregates[] = {{WP_AGGREGATE_COUNT, WP_ALL_ROWS},
                                          {WP_AGGREGATE_COUNT, 0},
                                          {WP_AGGREGATE_SUM, 0},
                                          {WP_AGGREGATE_MIN, 0},
                                          {WP_AGGREGATE_MAX, 0},
                                          {WP_AGGREGATE_AVG, 0},
                                          {WP_AGGREGATE_SUM, 1},
                                          {WP_AGGREGATE_MIN, 1},
                                          {WP_AGGREGATE_MAX, 1},
                                          {WP_AGGREGATE_SUM_LOW, 0},
                                          {WP_AGGREGATE_SUM_HIGH, 0},
                                          {WP_AGGREGATE_MEAN, 0},
                                          {WP_AGGREGATE_SQUARES, 0},
                                          {WP_AGGREGATE_MEAN, 1},
                                          {WP_AGGREGATE_SQUARES, 1}};
#define MOMENTS 4u

static uint32_t aggregate_count(const rows *r) {
    if (!r->has_values) return 1;
    return r->has_moments ? COUNT(aggregates) : COUNT(aggregates) - MOMENTS;
}

/* In two calls, so that a chunk may begin in the middle of one. */
static wp_groups *group(wp_device *device, const rows *r, const wp_ops_options *options,
                        char *explanation, size_t explanation_bytes) {
    const uint32_t key_count = r->is_pair ? 2 : 1, split = r->count / 3;
    const wp_type key_type = r->is_wide ? WP_TYPE_INT64 : WP_TYPE_INT32;
    const wp_key key_types[] = {{key_type, r->has_null_keys}, {WP_TYPE_INT32, false}};
    const wp_type value_types[] = {WP_TYPE_INT64, WP_TYPE_FLOAT64, WP_TYPE_UINT16};
    const uint32_t weighted[] = {WP_ALL_ROWS, 2, WP_ALL_ROWS};
    wp_groupby_spec spec = {.key_count = key_count,
                            .value_count = r->has_values ? 3 : 0,
                            .aggregate_count = aggregate_count(r),
                            .keys = key_types,
                            .values = value_types,
                            .aggregates = aggregates,
                            .options = *options,
                            .weights = r->has_moments ? weighted : NULL};
    wp_error err = {0};
    wp_groupby *groupby = NULL;
    wp_groups *groups = NULL;
    spec.options.is_sorted = true;
    assert_status_ok(wp_groupby_open(device, &spec, &groupby, &err), &err);
    for (uint32_t part = 0; part < 2; part++) {
        const uint32_t first = part == 0 ? 0 : split, outer = part == 0 ? split : r->count;
        const uint8_t *keys_valid = r->has_null_keys ? key_valid : NULL;
        const uint8_t *values_valid = r->has_null_values ? value_valid : NULL;
        const void *first_key = r->is_wide ? (const void *)&keys64[first] : &keys32[first];
        const wp_column keys[] = {{key_type, first_key, keys_valid, first},
                                  {WP_TYPE_INT32, &keys32[first], NULL, 0}};
        const wp_column values[] = {{WP_TYPE_INT64, &integers[first], values_valid, first},
                                    {WP_TYPE_FLOAT64, &floats[first], NULL, 0},
                                    {WP_TYPE_UINT16, &weights[first], values_valid, first}};
        assert_status_ok(wp_groupby_add(groupby, keys, values, outer - first, &err), &err);
    }
    assert_status_ok(wp_groupby_finish(groupby, &groups, &err), &err);
    if (explanation != NULL)
        (void)snprintf(explanation, explanation_bytes, "%s", wp_groupby_explain(groupby));
    wp_groupby_close(groupby);
    return groups;
}

static bool is_valid(const wp_column *column, uint64_t row) {
    return column->valid == NULL || (column->valid[row / 8] >> row % 8 & 1) != 0;
}

static void compare(const char *what, const wp_column *ours, const wp_column *wanted,
                    uint64_t count) {
    const size_t bytes = wp_type_bytes(wanted->type);
    assert_int_equal(ours->type, wanted->type);
    for (uint64_t row = 0; row < count; row++) {
        const char *a = (const char *)ours->values + row * bytes;
        const char *b = (const char *)wanted->values + row * bytes;
        if (is_valid(ours, row) != is_valid(wanted, row) ||
            (is_valid(ours, row) && memcmp(a, b, bytes) != 0))
            fail_msg("%s: group %llu differs", what, (unsigned long long)row);
    }
}

/* Of values up to `largest`: sums of doubles, in another order. */
static void compare_moments(const char *what, const wp_column *ours, const wp_column *wanted,
                            uint64_t count, double largest) {
    for (uint64_t row = 0; row < count; row++) {
        const double a = ((const double *)ours->values)[row];
        const double b = ((const double *)wanted->values)[row];
        if (is_valid(ours, row) != is_valid(wanted, row) ||
            (is_valid(ours, row) && !(fabs(a - b) <= 1e-10 * (fabs(b) + largest))))
            fail_msg("%s: group %llu has %g, not %g", what, (unsigned long long)row, a, b);
    }
}

static void check(wp_device *device, const rows *r, const wp_ops_options *options,
                  char *explanation, size_t explanation_bytes) {
    char what[128];
    wp_groups *ours = group(device, r, options, explanation, explanation_bytes);
    wp_groups *wanted = group(NULL, r, &(wp_ops_options){0}, NULL, 0);
    assert_u64(wp_groups_count(ours), wp_groups_count(wanted));
    for (uint32_t key = 0; key < (r->is_pair ? 2u : 1u); key++) {
        (void)snprintf(what, sizeof what, "strategy %d, placement %d: key %u", options->strategy,
                       options->placement, key);
        compare(what, wp_groups_key(ours, key), wp_groups_key(wanted, key), wp_groups_count(ours));
    }
    for (uint32_t i = 0; i < aggregate_count(r); i++) {
        (void)snprintf(what, sizeof what, "strategy %d, placement %d: aggregate %u",
                       options->strategy, options->placement, i);
        if (i >= COUNT(aggregates) - MOMENTS)
            compare_moments(what, wp_groups_aggregate(ours, i), wp_groups_aggregate(wanted, i),
                            wp_groups_count(ours), aggregates[i].value == 0 ? 0x1p53 : 2000);
        else
            compare(what, wp_groups_aggregate(ours, i), wp_groups_aggregate(wanted, i),
                    wp_groups_count(ours));
    }
    wp_groups_close(ours);
    wp_groups_close(wanted);
}

static wp_device *open_device(const char *spec) {
    wp_device *device = NULL;
    wp_error err = {0};
    assert_status_ok(wp_device_open(spec, &device, &err), &err);
    return device;
}

/* Opens, checks, closes. */
static void check_on(const char *spec, const rows *r, const wp_ops_options *options,
                     char *explanation, size_t explanation_bytes) {
    wp_device *device = open_device(spec);
    check(device, r, options, explanation, explanation_bytes);
    wp_device_close(device);
}

/* ---- what must hold ---- */

static const rows tables[] = {
    {.count = 1200, .groups = 1000},
    {.count = 1200, .groups = 700, .is_wide = true, .has_values = true, .has_null_values = true},
    {.count = 1200, .groups = 50, .is_pair = true, .has_values = true},
    {.count = 1200, .groups = 900, .has_null_keys = true},
    {.count = 1200, .groups = 300, .is_wide = true, .is_pair = true, .has_null_keys = true},
    {.count = 1200, .groups = 900, .hot_pct = 50, .hot = 1, .has_values = true},
    {.count = 1200,
     .groups = 90,
     .has_values = true,
     .has_null_values = true,
     .has_moments = true}};

/* Each with each on cpu; other devices cost more: there each placement meets each strategy, and
 * each of both every table. */
static bool is_tried(size_t d, size_t table, wp_strategy strategy, wp_placement placement) {
    return strcmp(devices[d], "cpu") == 0 || (table + strategy) % WP_PLACEMENT_COUNT == placement;
}

static bool has_scopes(wp_strategy strategy) {
    return strategy != WP_STRATEGY_DIRECT && strategy != WP_STRATEGY_SEPO;
}

/* Scopes of 8 KiB, so that tables have several; chunks of a few hundred rows. */
static void every_strategy_and_placement_gives_the_same_groups(void **state) {
    (void)state;
    for (size_t d = 0; d < device_count; d++) {
        wp_device *device = open_device(devices[d]);
        for (size_t t = 0; t < COUNT(tables); t++) {
            fill(&tables[t], t + 1);
            for (wp_strategy s = WP_STRATEGY_AUTO; s < WP_STRATEGY_COUNT; s++) {
                for (wp_placement p = WP_PLACEMENT_AUTO; p < WP_PLACEMENT_COUNT; p++) {
                    if (!is_tried(d, t, s, p)) continue;
                    const wp_ops_options options = {.strategy = s,
                                                    .placement = p,
                                                    .group_count = 3000,
                                                    .scope_bytes = !has_scopes(s) ? 0 : 8192,
                                                    .chunk_bytes = 8000};
                    check(device, &tables[t], &options, NULL, 0);
                }
            }
        }
        wp_device_close(device);
    }
}

static bool says(const char *explanation, const char *unwanted) {
    return strstr(explanation, unwanted) != NULL;
}

/* Estimated: 10; there are hundreds of times as many and more. */
static void tables_grow_when_the_estimate_was_low(void **state) {
    (void)state;
    static const rows many = {.count = 20000, .groups = 1000000, .is_wide = true};
    static const rows narrow = {.count = 4000, .groups = 1000000};
    char explanation[4096];
    for (size_t d = 0; d < device_count && d < 2; d++) {
        fill(d == 0 ? &many : &narrow, 7);
        for (wp_strategy s = WP_STRATEGY_DIRECT; s < WP_STRATEGY_COUNT; s++) {
            const uint64_t scope_bytes = d == 0 ? 65536 : 16384;
            const wp_ops_options options = {
                .strategy = s, .group_count = 10, .scope_bytes = !has_scopes(s) ? 0 : scope_bytes};
            check_on(devices[d], d == 0 ? &many : &narrow, &options, explanation,
                     sizeof explanation);
            assert_false(says(explanation, "grown 0 times"));
        }
    }
}

/* 20,000 groups do not fit; with values, not a tenth of them. */
static void memory_smaller_than_the_groups_is_enough(void **state) {
    (void)state;
    static const rows many = {
        .count = 20000, .groups = 1000000, .is_wide = true, .has_values = true};
    static const rows narrow = {.count = 20000, .groups = 1000000};
    char explanation[4096];
    fill(&many, 8);
    for (wp_strategy s = WP_STRATEGY_DIRECT; s < WP_STRATEGY_COUNT; s++) {
        const wp_ops_options options = {.strategy = s,
                                        .memory_bytes = (uint64_t)300 << 10,
                                        .scope_bytes = !has_scopes(s) ? 0 : 65536};
        check_on(devices[0], &many, &options, explanation, sizeof explanation);
        if (says(explanation, "spilled 0 times")) fail_msg("%s", explanation);
    }
    const wp_ops_options options = {.memory_bytes = (uint64_t)150 << 10};
    if (device_count == 1) return;
    check_on(devices[1], &narrow, &options, explanation, sizeof explanation);
    if (says(explanation, "spilled 0 times")) fail_msg("%s", explanation);
}

/* Each group is made in one pass, so that its rows come to one table: beside --strategy sepo the
 * planner chooses that where there are a few times as many groups as fit, and many rows to each,
 * and not where most rows are groups of their own. */
static void rows_of_groups_beyond_memory_are_postponed(void **state) {
    (void)state;
    static const rows few[] = {
        {.count = 20000, .groups = 6000, .is_wide = true, .has_values = true},
        {.count = 20000,
         .groups = 6000,
         .is_wide = true,
         .is_pair = true,
         .has_values = true,
         .has_null_keys = true,
         .has_null_values = true,
         .hot_pct = 40}};
    static const rows narrow = {.count = 20000, .groups = 1000000};
    char explanation[4096];
    for (size_t d = 0; d < device_count; d++) {
        wp_device *device = open_device(devices[d]);
        for (size_t t = 0; t < COUNT(few); t++) {
            if (d != 0 && t == d % 2) continue;
            fill(&few[t], t + 31);
            const wp_ops_options options = {.strategy = WP_STRATEGY_SEPO,
                                            .placement =
                                                (wp_placement)((d + t) % WP_PLACEMENT_COUNT),
                                            .memory_bytes = (uint64_t)400 << 10};
            check(device, &few[t], &options, explanation, sizeof explanation);
            if (!says(explanation, "─► sepo") || !says(explanation, "further passes"))
                fail_msg("%s", explanation);
        }
        wp_device_close(device);
    }
    fill(&few[0], 33);
    const wp_ops_options options = {.memory_bytes = (uint64_t)500 << 10, .row_count = 1000000};
    check_on(devices[0], &few[0], &options, explanation, sizeof explanation);
    if (!says(explanation, "─► sepo")) fail_msg("%s", explanation);
    fill(&narrow, 34);
    const wp_ops_options less = {.memory_bytes = (uint64_t)150 << 10};
    check_on(devices[0], &narrow, &less, explanation, sizeof explanation);
    if (!says(explanation, "─► spill")) fail_msg("%s", explanation);
}

/* The parts of a group that were spilled have origins of their own. */
static void moments_of_spilled_groups_are_merged(void **state) {
    (void)state;
    static const rows many = {.count = 20000,
                              .groups = 6000,
                              .is_wide = true,
                              .has_values = true,
                              .has_null_values = true,
                              .has_moments = true};
    char explanation[4096];
    fill(&many, 12);
    const wp_ops_options options = {.strategy = WP_STRATEGY_DIRECT,
                                    .memory_bytes = (uint64_t)300 << 10};
    check_on(devices[0], &many, &options, explanation, sizeof explanation);
    if (says(explanation, "spilled 0 times")) fail_msg("%s", explanation);
}

static void few_rows_or_none(void **state) {
    (void)state;
    for (uint32_t count = 0; count < 3; count++) {
        const rows few = {.count = count, .groups = 5, .has_values = true};
        fill(&few, 9);
        check_on(devices[0], &few, &(wp_ops_options){0}, NULL, 0);
        check_on(devices[device_count - 1], &few,
                 &(wp_ops_options){.strategy = WP_STRATEGY_PARTITION}, NULL, 0);
    }
}

static void all_rows_in_one_group(void **state) {
    (void)state;
    const rows one = {.count = 20000, .groups = 1, .is_wide = true, .has_values = true};
    fill(&one, 10);
    for (size_t d = 0; d < device_count && d < 2; d++)
        check_on(devices[d], &one, &(wp_ops_options){0}, NULL, 0);
}

/* Keys that are hot, in narrow and wide buckets, 0 and NULL among them; in tables that grow, so
 * that rows put together find no place; by blocks of 45 threads, too. Atomics cost less than they
 * save where they are few and the device is no GPU. */
static void rows_of_a_hot_key_are_put_together(void **state) {
    (void)state;
    static const rows hot[] = {
        {.count = 3001, .groups = 2900, .hot_pct = 80, .hot = 1},
        {.count = 1999, .groups = 1000, .hot_pct = 90, .hot = 2}, /* 0 */
        {.count = 1999, .groups = 900, .hot_pct = 90, .hot = 2, .has_null_keys = true},
        {.count = 2500,
         .groups = 2000,
         .is_wide = true,
         .has_null_keys = true,
         .has_values = true,
         .has_null_values = true,
         .hot_pct = 85}, /* 0 */
        {.count = 2500, .groups = 40, .is_pair = true, .has_values = true, .hot_pct = 95},
        {.count = 1500,
         .groups = 40,
         .has_values = true,
         .has_null_keys = true,
         .has_null_values = true,
         .has_moments = true,
         .hot_pct = 95}};
    char explanation[4096];
    for (size_t d = 0; d < device_count; d++) {
        wp_device *device = open_device(devices[d]);
        for (size_t t = 0; t < COUNT(hot); t++) {
            fill(&hot[t], t + 20);
            for (wp_strategy s = WP_STRATEGY_AUTO; s < WP_STRATEGY_COUNT; s++) {
                const wp_ops_options options = {.strategy = s,
                                                .group_count = 100,
                                                .thread_count = hot[t].is_pair ? 45 : 0,
                                                .scope_bytes = !has_scopes(s) ? 0 : 8192};
                check(device, &hot[t], &options, explanation, sizeof explanation);
                const bool is_cheap = s == WP_STRATEGY_DIRECT && options.thread_count == 0;
                const bool is_sure =
                    !hot[t].has_moments
                        ? strstr(devices[d], "sim:") != NULL || (hot[t].has_values && is_cheap)
                        : strcmp(devices[d], "sim:k80") == 0 && s == WP_STRATEGY_DIRECT;
                if (is_sure && says(explanation, ", 0 of ")) fail_msg("%s", explanation);
            }
        }
        wp_device_close(device);
    }
}

/* Nanoseconds of the device's clock. */
static uint64_t time_of(wp_device *device, const rows *r, const wp_ops_options *options) {
    wp_queue *queue = wp_device_default_queue(device);
    wp_event *begin, *end;
    wp_error err = {0};
    assert_status_ok(wp_event_create(device, &begin, &err), &err);
    assert_status_ok(wp_event_create(device, &end, &err), &err);
    assert_status_ok(wp_event_record(begin, queue, &err), &err);
    assert_status_ok(wp_queue_wait(queue, &err), &err);
    wp_groups_close(group(device, r, options, NULL, 0));
    assert_status_ok(wp_event_record(end, queue, &err), &err);
    assert_status_ok(wp_queue_wait(queue, &err), &err);
    const uint64_t time_ns = wp_event_time_ns(end) - wp_event_time_ns(begin);
    wp_event_destroy(begin);
    wp_event_destroy(end);
    return time_ns;
}

/* One chunk of a megabyte and more; resident, it is worked on when all of it has arrived. */
static void a_chunk_is_worked_on_while_it_moves(void **state) {
    (void)state;
    const rows r = {.count = ROWS_MAX, .groups = 3000, .is_wide = true, .has_values = true};
    const wp_ops_options copied = {.strategy = WP_STRATEGY_DIRECT,
                                   .placement = WP_PLACEMENT_COPIED,
                                   .group_count = 10000,
                                   .row_count = ROWS_MAX};
    wp_ops_options resident = copied;
    resident.placement = WP_PLACEMENT_RESIDENT;
    fill(&r, 17);
    for (size_t d = 0; d < device_count; d++) {
        wp_device *device = open_device(devices[d]);
        check(device, &r, &copied, NULL, 0);
        if (strncmp(devices[d], "sim:", 4) == 0) {
            const uint64_t copied_ns = time_of(device, &r, &copied);
            const uint64_t resident_ns = time_of(device, &r, &resident);
            if (copied_ns >= resident_ns - resident_ns / 32)
                fail_msg("%s: copied %llu ns, resident %llu ns", devices[d],
                         (unsigned long long)copied_ns, (unsigned long long)resident_ns);
        }
        wp_device_close(device);
    }
}

static void few_threads_do_it_too(void **state) {
    (void)state;
    const rows r = {.count = 5000, .groups = 1000};
    fill(&r, 11);
    for (uint64_t threads = 1; threads < 2000; threads = threads * 12 + 3)
        check_on(devices[0], &r, &(wp_ops_options){.thread_count = threads}, NULL, 0);
}

static void sums_that_do_not_fit_are_found(void **state) {
    (void)state;
    static const int32_t keys[4] = {1, 1, 1, 2};
    static const int64_t values[4] = {INT64_MAX, INT64_MAX, -5, INT64_MIN};
    const wp_column key = {WP_TYPE_INT32, keys, NULL, 0}, value = {WP_TYPE_INT64, values, NULL, 0};
    const wp_key key_type = {WP_TYPE_INT32, false};
    const wp_aggregate sum = {WP_AGGREGATE_SUM, 0};
    const wp_groupby_spec spec = {.key_count = 1,
                                  .value_count = 1,
                                  .aggregate_count = 1,
                                  .keys = &key_type,
                                  .values = &value.type,
                                  .aggregates = &sum};
    wp_device *device = open_device(devices[0]);
    for (uint32_t count = 1; count <= 4; count += 3) {
        wp_groupby *groupby = NULL;
        wp_groups *groups = NULL;
        wp_error err = {0};
        assert_status_ok(wp_groupby_open(device, &spec, &groupby, &err), &err);
        assert_status_ok(wp_groupby_add(groupby, &key, &value, count, &err), &err);
        if (count == 1)
            assert_status_ok(wp_groupby_finish(groupby, &groups, &err), &err);
        else
            assert_status_fails(wp_groupby_finish(groupby, &groups, &err), WP_STATUS_INVALID, &err,
                                "does not fit");
        wp_groups_close(groups);
        wp_groupby_close(groupby);
    }
    wp_device_close(device);
}

int main(void) {
    const char *most = getenv("WARPAGE_TEST_DEVICES");
    if (getenv("WARPAGE_LIBCUDA") != NULL) {
        devices = with_gpu;
        device_count = COUNT(with_gpu);
    } else if (most != NULL && strcmp(most, "1") == 0) {
        device_count = 1;
    } else if (most != NULL && strcmp(most, "2") == 0) {
        device_count = 2;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_strategy_and_placement_gives_the_same_groups),
        cmocka_unit_test(tables_grow_when_the_estimate_was_low),
        cmocka_unit_test(memory_smaller_than_the_groups_is_enough),
        cmocka_unit_test(rows_of_groups_beyond_memory_are_postponed),
        cmocka_unit_test(moments_of_spilled_groups_are_merged),
        cmocka_unit_test(few_rows_or_none),
        cmocka_unit_test(all_rows_in_one_group),
        cmocka_unit_test(rows_of_a_hot_key_are_put_together),
        cmocka_unit_test(a_chunk_is_worked_on_while_it_moves),
        cmocka_unit_test(few_threads_do_it_too),
        cmocka_unit_test(sums_that_do_not_fit_are_found),
    };
    return wp_test_main(tests);
}

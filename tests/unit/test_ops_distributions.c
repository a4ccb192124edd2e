/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of a sorted group-by by keys and value: distinct values, quantiles, extremes. */
#include "warpage/distributions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "wp_random.h"
#include "wp_test.h"

enum { ROWS = 4000, GROUPS = 37, NULL_GROUP = 5 };

static int32_t keys[ROWS];
static double values[ROWS];
static uint8_t valid[ROWS / 8];

/* Group NULL_GROUP has nothing but NULL. */
static void draw(void) {
    uint64_t seed = 11;
    for (uint32_t i = 0; i < ROWS; i++) {
        keys[i] = (int32_t)(wp_random_next(&seed) % GROUPS);
        values[i] = (double)(wp_random_next(&seed) % 50) / 4;
        if (keys[i] != NULL_GROUP && wp_random_next(&seed) % 8 != 0)
            valid[i / 8] |= (uint8_t)(1u << i % 8);
    }
}

static wp_groups *pairs_of(void) {
    const wp_key types[] = {{WP_TYPE_INT32, false}, {WP_TYPE_FLOAT64, true}};
    const wp_aggregate count = {WP_AGGREGATE_COUNT, WP_ALL_ROWS};
    const wp_groupby_spec spec = {.key_count = 2,
                                  .aggregate_count = 1,
                                  .keys = types,
                                  .aggregates = &count,
                                  .options = {.is_sorted = true}};
    const wp_column columns[] = {{.type = WP_TYPE_INT32, .values = keys},
                                 {.type = WP_TYPE_FLOAT64, .values = values, .valid = valid}};
    wp_error err = {0};
    wp_groupby *groupby = NULL;
    wp_groups *groups = NULL;
    assert_status_ok(wp_groupby_open(NULL, &spec, &groupby, &err), &err);
    assert_status_ok(wp_groupby_add(groupby, columns, NULL, ROWS, &err), &err);
    assert_status_ok(wp_groupby_finish(groupby, &groups, &err), &err);
    wp_groupby_close(groupby);
    return groups;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The group's values in order. */
static uint32_t values_of(uint32_t group, double *out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < ROWS; i++)
        if (keys[i] == (int32_t)group && (valid[i / 8] >> i % 8 & 1) != 0) out[count++] = values[i];
    qsort(out, count, sizeof *out, by_value);
    return count;
}

static void runs_are_the_groups(void **state) {
    (void)state;
    draw();
    wp_groups *pairs = pairs_of();
    static uint64_t starts[ROWS + 1];
    uint64_t distinct[GROUPS], least[GROUPS], largest[GROUPS];
    double quantiles[GROUPS], taken[GROUPS], sorted[ROWS];
    uint8_t flags[GROUPS], taken_flags[GROUPS];
    assert_u64(wp_runs_find(pairs, 1, starts), GROUPS);
    assert_u64(starts[GROUPS], wp_groups_count(pairs));
    const wp_column *column = wp_groups_key(pairs, 1);
    const uint64_t *counts = wp_groups_aggregate(pairs, 0)->values;
    wp_runs_count_distinct(column, starts, GROUPS, distinct);
    wp_runs_extreme(column, starts, GROUPS, false, least);
    wp_runs_extreme(column, starts, GROUPS, true, largest);
    wp_runs_take(column, largest, GROUPS, taken, taken_flags);
    for (double share = 0; share <= 1; share += 0.125) {
        wp_runs_quantile(column, counts, starts, GROUPS, share, quantiles, flags);
        for (uint32_t group = 0; group < GROUPS; group++) {
            const uint32_t count = values_of(group, sorted);
            assert_int_equal(flags[group], count != 0);
            assert_int_equal(taken_flags[group], count != 0);
            assert_int_equal(count == 0, group == NULL_GROUP);
            if (count == 0) {
                assert_u64(distinct[group], 0);
                assert_true(least[group] == WP_NO_ROW && largest[group] == WP_NO_ROW);
                continue;
            }
            const double at = (count - 1) * share;
            const uint32_t low = (uint32_t)at, high = low + (at > low);
            assert_near(quantiles[group], sorted[low] + (sorted[high] - sorted[low]) * (at - low),
                        1e-12);
            uint32_t different = 1;
            for (uint32_t i = 1; i < count; i++)
                different += sorted[i] != sorted[i - 1];
            assert_u64(distinct[group], different);
            assert_true(((const double *)column->values)[least[group]] == sorted[0]);
            assert_true(taken[group] == sorted[count - 1]);
        }
    }
    wp_groups_close(pairs);
}

static void infinities_are_not_interpolated(void **state) {
    (void)state;
    const double numbers[] = {-INFINITY, 1, INFINITY, INFINITY};
    const uint64_t counts[] = {1, 1, 1, 3}, starts[] = {0, 2, 4};
    const wp_column column = {.type = WP_TYPE_FLOAT64, .values = numbers};
    double out[2];
    uint8_t flags[2];
    wp_runs_quantile(&column, counts, starts, 2, 0.5, out, flags);
    assert_true(out[0] == -INFINITY && out[1] == INFINITY);
}

/* The group's number, of its first row. */
static uint32_t number_of(const uint32_t *numbers, uint32_t group) {
    uint32_t row = 0;
    while (keys[row] != (int32_t)group)
        row++;
    return numbers[row];
}

static void lists_have_the_quantiles_of_runs(void **state) {
    (void)state;
    enum { REPEATS = 12, ALL = REPEATS * ROWS }; /* several morsels, in two chunks */
    const wp_key key = {WP_TYPE_INT32, false};
    const wp_type type = WP_TYPE_FLOAT64;
    static int32_t all_keys[ALL];
    static double all_values[ALL];
    static uint8_t all_valid[ALL / 8];
    static uint32_t numbers[ALL];
    draw();
    for (uint32_t i = 0; i < REPEATS; i++) {
        memcpy(all_keys + i * ROWS, keys, sizeof keys);
        memcpy(all_values + i * ROWS, values, sizeof values);
        memcpy(all_valid + i * ROWS / 8, valid, sizeof valid);
    }
    for (uint64_t threads = 1; threads <= 3; threads++) {
        const wp_groupby_spec spec = {.key_count = 1,
                                      .value_count = 1,
                                      .keys = &key,
                                      .values = &type,
                                      .options = {.thread_count = threads}};
        wp_error err = {0};
        wp_lists *lists = NULL;
        assert_status_ok(wp_lists_open(&spec, &lists, &err), &err);
        for (uint32_t chunk = 0; chunk < 2; chunk++) {
            const uint32_t first = chunk * ROWS, count = chunk == 0 ? ROWS : ALL - ROWS;
            const wp_column key_column = {.type = WP_TYPE_INT32, .values = all_keys + first};
            const wp_column column = {.type = WP_TYPE_FLOAT64,
                                      .values = all_values + first,
                                      .valid = all_valid,
                                      .valid_offset = first};
            assert_status_ok(
                wp_lists_add(lists, &key_column, &column, count, numbers + first, &err), &err);
        }
        uint32_t asked[GROUPS];
        double quantiles[GROUPS], sorted[ROWS];
        uint8_t flags[GROUPS];
        for (uint32_t group = 0; group < GROUPS; group++)
            asked[group] = number_of(numbers, group);
        for (uint32_t i = 0; i < ALL; i++)
            assert_int_equal(numbers[i], asked[all_keys[i]]);
        for (double share = 0; share <= 1; share += 0.125) {
            assert_status_ok(wp_lists_quantile(lists, asked, GROUPS, share, quantiles, flags, &err),
                             &err);
            for (uint32_t group = 0; group < GROUPS; group++) {
                const uint32_t count = values_of(group, sorted);
                assert_int_equal(flags[group], count != 0);
                if (count == 0) continue;
                const double at = (count * REPEATS - 1) * share; /* each value comes so often */
                const uint32_t low = (uint32_t)at, high = low + (at > low);
                const double a = sorted[low / REPEATS], b = sorted[high / REPEATS];
                assert_near(quantiles[group], a + (b - a) * (at - low), 1e-12);
            }
        }
        uint64_t distinct[GROUPS];
        assert_status_ok(wp_lists_count_distinct(lists, asked, GROUPS, distinct, &err), &err);
        for (uint32_t group = 0; group < GROUPS; group++) {
            const uint32_t count = values_of(group, sorted);
            uint64_t different = count != 0;
            for (uint32_t i = 1; i < count; i++)
                different += sorted[i] != sorted[i - 1];
            assert_u64(distinct[group], different);
        }
        const wp_column column = {.type = WP_TYPE_INT32, .values = all_keys};
        assert_status_fails(wp_lists_add(lists, &column, &column, 1, numbers, &err),
                            WP_STATUS_INVALID, &err, "have been taken");
        const uint32_t absent = UINT32_MAX;
        assert_status_fails(wp_lists_quantile(lists, &absent, 1, 0, quantiles, flags, &err),
                            WP_STATUS_INVALID, &err, "is not one of the lists");
        wp_lists_close(lists);
    }
}

/* A NULL key is a group; integers; -0, NaN and infinities; any order of rows. */
static void lists_order_all_values(void **state) {
    (void)state;
    const wp_key key = {WP_TYPE_INT8, true};
    const int8_t group[] = {0, 1, 0, 0, 1, 1, 0};
    const uint8_t key_valid = 0x6d; /* rows 1 and 4 are NULL */
    const int64_t integers[] = {3, 9, INT64_MIN, INT64_MAX, -7, 5, 0};
    const double floats[] = {NAN, INFINITY, -0.0, -1, -INFINITY, 4, 2};
    const struct {
        wp_type type;
        const void *values;
        double least[3], middle[3], largest[3];
    } cases[] = {{WP_TYPE_INT64, integers, {-0x1p63, -7, 5}, {1.5, 1, 5}, {0x1p63, 9, 5}},
                 {WP_TYPE_FLOAT64, floats, {-1, -INFINITY, 4}, {1, NAN, 4}, {NAN, INFINITY, 4}}};
    for (uint32_t i = 0; i < 2; i++) {
        const wp_groupby_spec spec = {
            .key_count = 1, .value_count = 1, .keys = &key, .values = &cases[i].type};
        uint64_t distinct[3];
        const wp_column keys_in = {.type = WP_TYPE_INT8, .values = group, .valid = &key_valid};
        const wp_column column = {.type = cases[i].type, .values = cases[i].values};
        wp_error err = {0};
        wp_lists *lists = NULL;
        uint32_t numbers[7];
        assert_status_ok(wp_lists_open(&spec, &lists, &err), &err);
        assert_status_ok(wp_lists_add(lists, &keys_in, &column, 7, numbers, &err), &err);
        assert_true(numbers[0] == numbers[2] && numbers[1] == numbers[4] &&
                    numbers[1] != numbers[5]);
        const uint32_t asked[] = {numbers[0], numbers[1], numbers[5]};
        for (uint32_t j = 0; j < 3; j++) {
            const double *wanted = j == 0   ? cases[i].least
                                   : j == 1 ? cases[i].middle
                                            : cases[i].largest;
            double out[3];
            uint8_t flags[3];
            assert_status_ok(wp_lists_quantile(lists, asked, 3, j / 2.0, out, flags, &err), &err);
            for (uint32_t at = 0; at < 3; at++)
                assert_true(flags[at] == 1 &&
                            (out[at] == wanted[at] || (isnan(out[at]) && isnan(wanted[at]))));
        }
        assert_status_ok(wp_lists_count_distinct(lists, asked, 3, distinct, &err), &err);
        assert_true(distinct[0] == 4 && distinct[1] == 2 && distinct[2] == 1);
        wp_lists_close(lists);
    }
}

static void lists_say_what_they_do_not_take(void **state) {
    (void)state;
    const wp_key key = {WP_TYPE_INT32, false};
    const wp_type type = WP_TYPE_INT32;
    wp_groupby_spec spec = {.key_count = 1, .keys = &key, .values = &type};
    const wp_column column = {.type = WP_TYPE_INT32, .values = keys};
    const wp_column other = {.type = WP_TYPE_INT64, .values = keys};
    wp_error err = {0};
    wp_lists *lists = NULL;
    uint32_t number;
    assert_status_fails(wp_lists_open(&spec, &lists, &err), WP_STATUS_INVALID, &err,
                        "of one column, not 0");
    assert_null(lists);
    spec.value_count = 1;
    assert_status_ok(wp_lists_open(&spec, &lists, &err), &err);
    assert_status_fails(wp_lists_add(lists, &other, &column, 1, &number, &err), WP_STATUS_INVALID,
                        &err, "key 0 is not as specified");
    assert_status_fails(wp_lists_add(lists, &column, &other, 1, &number, &err), WP_STATUS_INVALID,
                        &err, "type int64, not int32");
    assert_status_ok(wp_lists_add(lists, &column, &column, 0, &number, &err), &err);
    wp_lists_close(lists);

    for (uint64_t n = 1;; n++) { /* every allocation may fail */
        double out;
        uint8_t flag;
        uint64_t distinct;
        wpi_alloc_fail_at(n);
        wp_status status = wp_lists_open(&spec, &lists, &err);
        if (status == WP_STATUS_OK)
            status = wp_lists_add(lists, &column, &column, 1, &number, &err);
        if (status == WP_STATUS_OK)
            status = wp_lists_quantile(lists, &number, 1, 0.5, &out, &flag, &err);
        if (status == WP_STATUS_OK)
            status = wp_lists_count_distinct(lists, &number, 1, &distinct, &err);
        wpi_alloc_fail_at(0);
        wp_lists_close(lists);
        lists = NULL;
        if (status == WP_STATUS_OK) break;
        assert_int_equal(status, WP_STATUS_NOMEM);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_have_the_quantiles_of_runs),
        cmocka_unit_test(lists_order_all_values),
        cmocka_unit_test(lists_say_what_they_do_not_take),
        cmocka_unit_test(runs_are_the_groups),
        cmocka_unit_test(infinities_are_not_interpolated),
    };
    return wp_test_main(tests);
}

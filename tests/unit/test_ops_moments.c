/* SPDX-License-Identifier: Apache-2.0 */
/* Means and squares of a group-by, beside the other aggregates: against sums of long doubles, by
 * any number of threads, from parts with weights. */
#include <math.h>

#include "base/fail.h"
#include "warpage/partials.h"
#include "wp_random.h"
#include "wp_test.h"

enum { ROWS = 6000, GROUPS = 301, PARTS = 3 };

static int32_t keys[ROWS];
static uint8_t key_valid[ROWS / 8];
static double values[ROWS];
static int64_t integers[ROWS];
static uint8_t valid[ROWS / 8];

/* Key GROUPS - 1 is NULL. Values are far from zero. */
static uint32_t group_of(uint32_t row) {
    return (key_valid[row / 8] >> row % 8 & 1) != 0 ? (uint32_t)keys[row] : GROUPS - 1;
}

static bool is_valid(uint32_t row) {
    return (valid[row / 8] >> row % 8 & 1) != 0;
}

static void draw(void) {
    uint64_t seed = 21;
    for (uint32_t i = 0; i < ROWS; i++) {
        keys[i] = (int32_t)(wp_random_next(&seed) % (GROUPS - 1));
        values[i] = 1e9 * keys[i] + (double)(wp_random_next(&seed) % 1000) / 8;
        integers[i] = (int64_t)(wp_random_next(&seed) % 2001) - 1000;
        if (wp_random_next(&seed) % 50 != 0) key_valid[i / 8] |= (uint8_t)(1u << i % 8);
        if (wp_random_next(&seed) % 8 != 0) valid[i / 8] |= (uint8_t)(1u << i % 8);
    }
}

static const wp_aggregate asked[] = {
    {WP_AGGREGATE_COUNT, 0}, {WP_AGGREGATE_MEAN, 0}, {WP_AGGREGATE_SQUARES, 0},
    {WP_AGGREGATE_SUM, 1},   {WP_AGGREGATE_MIN, 1},  {WP_AGGREGATE_MAX, 0},
    {WP_AGGREGATE_SUM, 0},   {WP_AGGREGATE_AVG, 1},  {WP_AGGREGATE_COUNT, WP_ALL_ROWS}};

static wp_status group(uint32_t first, uint32_t count, uint32_t threads, bool is_halved,
                       wp_groups **out, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    const wp_key key = {WP_TYPE_INT32, true};
    const wp_type types[] = {WP_TYPE_FLOAT64, WP_TYPE_INT64};
    const wp_groupby_spec spec = {.key_count = 1,
                                  .value_count = 2,
                                  .aggregate_count = sizeof asked / sizeof *asked,
                                  .keys = &key,
                                  .values = types,
                                  .aggregates = asked,
                                  .options = {.is_sorted = true, .thread_count = threads}};
    wp_groupby *groupby = NULL;
    WP_TRY(wp_groupby_open(NULL, &spec, &groupby, err));
    const uint32_t half = is_halved ? count / 2 : count;
    for (uint32_t at = first; at < first + count && status == WP_STATUS_OK; at += half) {
        const wp_column column = {WP_TYPE_INT32, keys + at, key_valid, at};
        const wp_column inputs[] = {{WP_TYPE_FLOAT64, values + at, valid, at},
                                    {WP_TYPE_INT64, integers + at, NULL, 0}};
        status = wp_groupby_add(groupby, &column, inputs, half, err);
    }
    if (status == WP_STATUS_OK) status = wp_groupby_finish(groupby, out, err);
    wp_groupby_close(groupby);
    return status;
}

static const void *column_of(const wp_groups *groups, uint32_t number) {
    return wp_groups_aggregate(groups, number)->values;
}

static void moments_are_those_of_the_values(void **state) {
    (void)state;
    draw();
    const uint32_t threads[] = {1, 3, 0};
    for (uint32_t run = 0; run < 3; run++) {
        wp_error err = {0};
        wp_groups *groups = NULL;
        assert_status_ok(group(0, ROWS, threads[run], run != 0, &groups, &err), &err);
        assert_u64(wp_groups_count(groups), GROUPS);
        for (uint32_t at = 0; at < GROUPS; at++) {
            long double sum = 0, squares = 0;
            int64_t total = 0, least = INT64_MAX;
            uint64_t count = 0, rows = 0;
            double largest = -INFINITY;
            for (uint32_t i = 0; i < ROWS; i++) {
                if (group_of(i) != at) continue;
                rows++;
                total += integers[i];
                least = integers[i] < least ? integers[i] : least;
                if (!is_valid(i)) continue;
                count++;
                sum += (long double)values[i];
                largest = values[i] > largest ? values[i] : largest;
            }
            const long double mean = sum / (long double)count;
            for (uint32_t i = 0; i < ROWS; i++)
                if (group_of(i) == at && is_valid(i))
                    squares += ((long double)values[i] - mean) * ((long double)values[i] - mean);
            assert_u64(((const uint64_t *)column_of(groups, 0))[at], count);
            assert_near(((const double *)column_of(groups, 1))[at], (double)mean, 1e-12);
            assert_near(((const double *)column_of(groups, 2))[at], (double)squares, 1e-5);
            assert_true(((const int64_t *)column_of(groups, 3))[at] == total);
            assert_true(((const int64_t *)column_of(groups, 4))[at] == least);
            assert_true(((const double *)column_of(groups, 5))[at] == largest);
            assert_near(((const double *)column_of(groups, 6))[at], (double)sum, 1e-12);
            assert_near(((const double *)column_of(groups, 7))[at], (double)total / (double)rows,
                        1e-12);
            assert_u64(((const uint64_t *)column_of(groups, 8))[at], rows);
        }
        wp_groups_close(groups);
    }
}

/* Means of parts with their counts as weights, and the parts' squares. */
static void parts_merge(void **state) {
    (void)state;
    wp_error err = {0};
    wp_groups *whole = NULL, *merged = NULL;
    const wp_key key = {WP_TYPE_INT32, true};
    const wp_type types[] = {WP_TYPE_FLOAT64, WP_TYPE_FLOAT64, WP_TYPE_UINT64};
    const wp_aggregate merge[] = {
        {WP_AGGREGATE_SQUARES, 0}, {WP_AGGREGATE_SUM, 1}, {WP_AGGREGATE_SUM, 2}};
    const uint32_t weights[] = {2, WP_ALL_ROWS, WP_ALL_ROWS}, wrong[] = {3, 0, 0};
    wp_groupby_spec spec = {.key_count = 1,
                            .value_count = 3,
                            .aggregate_count = 3,
                            .keys = &key,
                            .values = types,
                            .aggregates = merge,
                            .options = {.is_sorted = true},
                            .weights = wrong};
    wp_groupby *groupby = NULL;
    assert_status_fails(wp_groupby_open(NULL, &spec, &groupby, &err), WP_STATUS_INVALID, &err,
                        "the weights of value 0 are value 3 of 3");
    spec.weights = weights;
    assert_status_ok(wp_groupby_open(NULL, &spec, &groupby, &err), &err);
    for (uint32_t part = 0; part < PARTS; part++) {
        wp_groups *groups = NULL;
        const uint32_t rows = ROWS / PARTS;
        assert_status_ok(group(part * rows, rows, 2, false, &groups, &err), &err);
        const wp_column inputs[] = {*wp_groups_aggregate(groups, 1),
                                    *wp_groups_aggregate(groups, 2),
                                    *wp_groups_aggregate(groups, 0)};
        assert_status_ok(wp_groupby_add(groupby, wp_groups_key(groups, 0), inputs,
                                        wp_groups_count(groups), &err),
                         &err);
        wp_groups_close(groups);
    }
    assert_status_ok(wp_groupby_finish(groupby, &merged, &err), &err);
    assert_status_ok(group(0, ROWS, 1, false, &whole, &err), &err);
    double ours[GROUPS], wanted[GROUPS];
    uint8_t flags[GROUPS];
    wp_squares_variance(column_of(merged, 0), column_of(merged, 1), column_of(merged, 2), GROUPS,
                        true, ours, flags);
    wp_squares_variance(column_of(whole, 2), NULL, column_of(whole, 0), GROUPS, true, wanted,
                        flags);
    for (uint32_t i = 0; i < GROUPS; i++) {
        assert_true(flags[i] != 0);
        assert_near(ours[i], wanted[i], 1e-5);
    }
    wp_groups_close(whole);
    wp_groups_close(merged);
    wp_groupby_close(groupby);
}

static void one_value_has_no_variance(void **state) {
    (void)state;
    const double squares[] = {0, 8, 0};
    const uint64_t counts[] = {1, 3, 0};
    double out[3];
    uint8_t flags[3];
    wp_squares_variance(squares, NULL, counts, 3, false, out, flags);
    assert_true(flags[0] == 0 && flags[1] == 1 && flags[2] == 0 && out[1] == 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_those_of_the_values),
        cmocka_unit_test(parts_merge),
        cmocka_unit_test(one_value_has_no_variance),
    };
    return wp_test_main(tests);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of a sorted group-by by keys and value: distinct values, quantiles, extremes. */
#include "warpage/distributions.h"

#include <math.h>
#include <stdlib.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_the_groups),
        cmocka_unit_test(infinities_are_not_interpolated),
    };
    return wp_test_main(tests);
}

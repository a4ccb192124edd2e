/* SPDX-License-Identifier: Apache-2.0 */
/* Group-by through its public interface: small tables whose groups are known. */
#include "warpage/ops.h"

#include <math.h>

#include "base/alloc.h"
#include "wp_test.h"

#define ROWS(array) (sizeof(array) / sizeof(array)[0])

static const wp_aggregate all_of_0[] = {{WP_AGGREGATE_COUNT, WP_ALL_ROWS},
                                        {WP_AGGREGATE_COUNT, 0},
                                        {WP_AGGREGATE_SUM, 0},
                                        {WP_AGGREGATE_MIN, 0},
                                        {WP_AGGREGATE_MAX, 0},
                                        {WP_AGGREGATE_AVG, 0}};
enum { ALL_ROWS, COUNT, SUM, MIN, MAX, AVG };

static wp_column column_of(wp_type type, const void *values, const uint8_t *valid) {
    return (wp_column){.type = type, .values = values, .valid = valid};
}

/* All aggregates of the only value, by keys; sorted. */
static wp_groups *group(uint32_t key_count, const wp_column *keys, const wp_column *value,
                        uint64_t row_count) {
    wp_error err = {0};
    wp_key key_types[4] = {0};
    for (uint32_t i = 0; i < key_count; i++)
        key_types[i] = (wp_key){.type = keys[i].type, .is_nullable = keys[i].valid != NULL};
    const wp_groupby_spec spec = {.key_count = key_count,
                                  .value_count = value != NULL,
                                  .aggregate_count = value != NULL ? ROWS(all_of_0) : 1,
                                  .keys = key_types,
                                  .values = value != NULL ? &value->type : NULL,
                                  .aggregates = all_of_0,
                                  .options = {.is_sorted = true}};
    wp_groupby *groupby = NULL;
    wp_groups *groups = NULL;
    assert_status_ok(wp_groupby_open(NULL, &spec, &groupby, &err), &err);
    assert_status_ok(wp_groupby_add(groupby, keys, value, row_count, &err), &err);
    assert_status_ok(wp_groupby_finish(groupby, &groups, &err), &err);
    wp_groupby_close(groupby);
    return groups;
}

static bool is_null(const wp_column *column, uint64_t row) {
    return column->valid != NULL && (column->valid[row / 8] >> row % 8 & 1) == 0;
}

static int64_t integer_at(const wp_column *column, uint64_t row) {
    assert_false(is_null(column, row));
    switch (column->type) {
    case WP_TYPE_INT8: return ((const int8_t *)column->values)[row];
    case WP_TYPE_INT16: return ((const int16_t *)column->values)[row];
    case WP_TYPE_INT32: return ((const int32_t *)column->values)[row];
    default: return ((const int64_t *)column->values)[row];
    }
}

static double float_at(const wp_column *column, uint64_t row) {
    assert_false(is_null(column, row));
    return ((const double *)column->values)[row];
}

#define key_at(groups, key, row) integer_at(wp_groups_key(groups, key), row)
#define integer_of(groups, aggregate, row) integer_at(wp_groups_aggregate(groups, aggregate), row)
#define float_of(groups, aggregate, row) float_at(wp_groups_aggregate(groups, aggregate), row)
#define assert_i64(a, b) assert_int_equal((a), (b))

static void every_aggregate_of_every_group(void **state) {
    (void)state;
    const int32_t keys[] = {7, -3, 7, 0, 7, -3};
    const int64_t values[] = {5, -10, 6, 100, -20, 30};
    const wp_column key = column_of(WP_TYPE_INT32, keys, NULL);
    const wp_column value = column_of(WP_TYPE_INT64, values, NULL);
    wp_groups *groups = group(1, &key, &value, ROWS(keys));
    const int64_t wanted[3][6] = {/* key, rows, values, sum, min, max */
                                  {-3, 2, 2, 20, -10, 30},
                                  {0, 1, 1, 100, 100, 100},
                                  {7, 3, 3, -9, -20, 6}};
    const double averages[3] = {10, 100, -3};
    assert_u64(wp_groups_count(groups), 3);
    for (uint64_t row = 0; row < 3; row++) {
        assert_i64(key_at(groups, 0, row), wanted[row][0]);
        for (uint32_t i = 0; i < 5; i++)
            assert_i64(integer_of(groups, i, row), wanted[row][1 + i]);
        assert_true(float_of(groups, AVG, row) == averages[row]);
    }
    wp_groups_close(groups);
}

static void null_is_a_group_and_null_values_are_left_out(void **state) {
    (void)state;
    const int64_t keys[] = {0, 1, 1, 0, 0, 2};
    const uint8_t keys_valid[] = {0x3b << 1}; /* row 2 is NULL; from bit 1 on */
    const int32_t values[] = {4, 8, 16, 32, 64, 1};
    const uint8_t values_valid[] = {0x1d}; /* rows 1 and 5 are NULL */
    wp_column key = column_of(WP_TYPE_INT64, keys, keys_valid);
    key.valid_offset = 1;
    const wp_column value = column_of(WP_TYPE_INT32, values, values_valid);
    wp_groups *groups = group(1, &key, &value, ROWS(keys));
    assert_u64(wp_groups_count(groups), 4); /* 0, 1, 2, NULL */
    assert_true(is_null(wp_groups_key(groups, 0), 3));
    assert_i64(integer_of(groups, SUM, 0), 4 + 32 + 64);
    assert_i64(integer_of(groups, ALL_ROWS, 1), 1);
    assert_i64(integer_of(groups, COUNT, 1), 0);
    for (uint32_t i = SUM; i <= AVG; i++) {
        assert_true(is_null(wp_groups_aggregate(groups, i), 1));
        assert_true(is_null(wp_groups_aggregate(groups, i), 2));
    }
    assert_i64(integer_of(groups, SUM, 3), 16);
    wp_groups_close(groups);
}

/* Keys (a, b) in {-1, 0, 1}^2 with values 3a + b, each twice. */
static void check_pairs(const wp_column keys[2], const wp_column *value) {
    wp_groups *groups = group(2, keys, value, 18);
    assert_u64(wp_groups_count(groups), 9);
    for (int64_t row = 0; row < 9; row++) {
        assert_i64(key_at(groups, 0, (uint64_t)row), row / 3 - 1);
        assert_i64(key_at(groups, 1, (uint64_t)row), row % 3 - 1);
        assert_i64(integer_of(groups, SUM, (uint64_t)row), 2 * (row - 4));
        assert_i64(integer_of(groups, ALL_ROWS, (uint64_t)row), 2);
    }
    wp_groups_close(groups);
}

static void several_keys_side_by_side_and_by_numbers(void **state) {
    (void)state;
    const uint8_t all[3] = {0xff, 0xff, 0xff};
    int16_t narrow[2][18];
    int64_t wide[2][18];
    int8_t values[18];
    for (int i = 0; i < 18; i++) {
        narrow[0][i] = (int16_t)(i * 5 % 9 / 3 - 1);
        narrow[1][i] = (int16_t)(i * 5 % 9 % 3 - 1);
        wide[0][i] = narrow[0][i];
        wide[1][i] = narrow[1][i];
        values[i] = (int8_t)(3 * narrow[0][i] + narrow[1][i]);
    }
    const wp_column value = column_of(WP_TYPE_INT8, values, NULL);
    check_pairs((wp_column[]){column_of(WP_TYPE_INT16, narrow[0], NULL),
                              column_of(WP_TYPE_INT16, narrow[1], NULL)},
                &value);
    check_pairs((wp_column[]){column_of(WP_TYPE_INT64, wide[0], NULL),
                              column_of(WP_TYPE_INT64, wide[1], NULL)},
                &value);
    check_pairs((wp_column[]){column_of(WP_TYPE_INT16, narrow[0], all),
                              column_of(WP_TYPE_INT16, narrow[1], NULL)},
                &value);
}

static void three_keys_with_null_among_them(void **state) {
    (void)state;
    const int64_t a[] = {1, 1, 1, 1, 2};
    const uint8_t a_valid[] = {0x17}; /* row 3 */
    const int32_t b[] = {5, 5, 5, 5, 5};
    const uint8_t b_valid[] = {0x1d}; /* row 1 */
    const int8_t c[] = {-1, -1, -1, -1, -1};
    const wp_column keys[] = {column_of(WP_TYPE_INT64, a, a_valid),
                              column_of(WP_TYPE_INT32, b, b_valid),
                              column_of(WP_TYPE_INT8, c, NULL)};
    wp_groups *groups = group(3, keys, NULL, 5);
    assert_u64(wp_groups_count(groups), 4); /* 1 5, 1 NULL, 2 5, NULL 5 */
    assert_i64(integer_of(groups, ALL_ROWS, 0), 2);
    assert_true(is_null(wp_groups_key(groups, 1), 1));
    assert_i64(key_at(groups, 0, 2), 2);
    assert_true(is_null(wp_groups_key(groups, 0), 3));
    assert_i64(key_at(groups, 2, 3), -1);
    wp_groups_close(groups);
}

/* Groups rows with each pair of an item of `a` (or NULL, last) and one of `b`, both in order, twice
 * in another order, and checks all pairs. */
static void check_product(const int64_t *a, uint32_t a_count, const int32_t *b, uint32_t b_count) {
    int64_t left[512];
    int32_t right[512];
    uint8_t valid[64] = {0};
    const uint32_t pairs = (a_count + 1) * b_count, rows = 2 * pairs;
    assert_true(rows <= ROWS(left));
    for (uint32_t row = 0; row < rows; row++) {
        const uint32_t pair = row * 101 % pairs; /* 101: a prime that does not divide them */
        const uint32_t at = pair / b_count;
        left[row] = at < a_count ? a[at] : 7;
        if (at < a_count) valid[row / 8] |= (uint8_t)(1u << row % 8);
        right[row] = b[pair % b_count];
    }
    const wp_column keys[] = {column_of(WP_TYPE_INT64, left, valid),
                              column_of(WP_TYPE_INT32, right, NULL)};
    wp_groups *groups = group(2, keys, NULL, rows);
    assert_u64(wp_groups_count(groups), pairs);
    for (uint32_t pair = 0; pair < pairs; pair++) {
        const uint32_t at = pair / b_count;
        assert_i64(integer_of(groups, ALL_ROWS, pair), 2);
        assert_int_equal(is_null(wp_groups_key(groups, 0), pair), at == a_count);
        if (at < a_count) assert_i64(key_at(groups, 0, pair), a[at]);
        assert_i64(key_at(groups, 1, pair), b[pair % b_count]);
    }
    wp_groups_close(groups);
}

/* Keys of 64 bits together have codes: words near 0 their own, others numbers. */
static void keys_near_to_0_and_far_from_it(void **state) {
    (void)state;
    const int64_t near = INT64_C(1) << 30, half = INT64_C(1) << 31;
    const int64_t a[] = {
        INT64_MIN, -2 * half - 1, -half - 1, -half, -near - 1, -near, -1,       0,
        1,         near - 2,      near - 1,  near,  half - 1,  half,  2 * half, INT64_MAX};
    const int32_t b[] = {INT32_MIN,     -(1 << 30) - 1, -(1 << 30), -1,       0,
                         (1 << 30) - 2, (1 << 30) - 1,  1 << 30,    INT32_MAX};
    check_product(a, ROWS(a), b, ROWS(b));
    check_product(&a[5], 6, b, ROWS(b)); /* in order by one word */
    check_product(&a[6], 3, &b[3], 2);
    check_product(&a[7], 1, &b[4], 1);
    check_product(a, 0, b, ROWS(b)); /* all NULL */
}

static void extreme_keys_and_values(void **state) {
    (void)state;
    const int64_t keys[] = {INT64_MAX, INT64_MIN, 0, -1, INT64_MIN, INT64_MAX, 0};
    const int64_t values[] = {INT64_MAX, INT64_MIN, INT64_MAX, 1, INT64_MAX, INT64_MIN, INT64_MIN};
    const wp_column key = column_of(WP_TYPE_INT64, keys, NULL);
    const wp_column value = column_of(WP_TYPE_INT64, values, NULL);
    wp_groups *groups = group(1, &key, &value, ROWS(keys));
    const int64_t wanted[] = {INT64_MIN, -1, 0, INT64_MAX};
    assert_u64(wp_groups_count(groups), 4);
    for (uint64_t row = 0; row < 4; row++) {
        assert_i64(key_at(groups, 0, row), wanted[row]);
        assert_i64(integer_of(groups, SUM, row), row == 1 ? 1 : -1);
    }
    assert_i64(integer_of(groups, MIN, 0), INT64_MIN);
    assert_i64(integer_of(groups, MAX, 0), INT64_MAX);
    wp_groups_close(groups);
}

static void sums_that_leave_64_bits_and_come_back_are_exact(void **state) {
    (void)state;
    const uint8_t keys[] = {1, 1, 1, 1, 1, 1};
    const int64_t values[] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN, INT64_MIN};
    const wp_column key = column_of(WP_TYPE_UINT8, keys, NULL);
    const wp_column value = column_of(WP_TYPE_INT64, values, NULL);
    wp_groups *groups = group(1, &key, &value, ROWS(keys));
    assert_i64(integer_of(groups, SUM, 0), -3);
    assert_true(float_of(groups, AVG, 0) == -0.5);
    wp_groups_close(groups);
}

static void check_sum_fails(wp_type type, const void *values, const char *name) {
    wp_error err = {0};
    const int32_t keys[] = {4, 4};
    const wp_column key = column_of(WP_TYPE_INT32, keys, NULL);
    const wp_column value = column_of(type, values, NULL);
    const wp_groupby_spec spec = {.key_count = 1,
                                  .value_count = 1,
                                  .aggregate_count = ROWS(all_of_0),
                                  .keys = &(wp_key){.type = WP_TYPE_INT32},
                                  .values = &type,
                                  .aggregates = all_of_0};
    wp_groupby *groupby = NULL;
    wp_groups *groups = NULL;
    assert_status_ok(wp_groupby_open(NULL, &spec, &groupby, &err), &err);
    assert_status_ok(wp_groupby_add(groupby, &key, &value, 2, &err), &err);
    assert_status_fails(wp_groupby_finish(groupby, &groups, &err), WP_STATUS_INVALID, &err, name);
    assert_null(groups);
    wp_groupby_close(groupby);
}

static void a_sum_that_does_not_fit_is_said(void **state) {
    (void)state;
    check_sum_fails(WP_TYPE_INT64, (int64_t[]){INT64_MAX, 1}, "int64");
    check_sum_fails(WP_TYPE_INT64, (int64_t[]){INT64_MIN, -1}, "int64");
    check_sum_fails(WP_TYPE_UINT64, (uint64_t[]){UINT64_MAX, 1}, "uint64");
}

static void floats_as_keys_and_values(void **state) {
    (void)state;
    const double keys[] = {-0.0, 0.0, NAN, -NAN, -1.5, INFINITY, -INFINITY};
    const float values[] = {1, 2, 3, 4, -0.5f, NAN, 6};
    const wp_column key = column_of(WP_TYPE_FLOAT64, keys, NULL);
    const wp_column value = column_of(WP_TYPE_FLOAT32, values, NULL);
    wp_groups *groups = group(1, &key, &value, ROWS(keys));
    assert_u64(wp_groups_count(groups), 5); /* -inf, -1.5, 0, inf, NaN */
    assert_true(float_at(wp_groups_key(groups, 0), 0) == -INFINITY);
    assert_true(isnan(float_at(wp_groups_key(groups, 0), 4)));
    assert_true(float_of(groups, SUM, 2) == 3);
    assert_true(((const float *)wp_groups_aggregate(groups, MIN)->values)[1] == -0.5f);
    assert_true(float_of(groups, AVG, 4) == 3.5);
    assert_true(isnan(float_of(groups, SUM, 3)));
    wp_groups_close(groups);
}

static void no_rows_give_no_groups_and_one_row_one(void **state) {
    (void)state;
    const int64_t number = INT64_MIN;
    const wp_column column = column_of(WP_TYPE_INT64, &number, NULL);
    wp_groups *groups = group(1, &column, &column, 0);
    assert_u64(wp_groups_count(groups), 0);
    wp_groups_close(groups);
    groups = group(1, &column, &column, 1);
    assert_u64(wp_groups_count(groups), 1);
    assert_i64(key_at(groups, 0, 0), INT64_MIN);
    assert_i64(integer_of(groups, SUM, 0), INT64_MIN);
    wp_groups_close(groups);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_aggregate_of_every_group),
        cmocka_unit_test(null_is_a_group_and_null_values_are_left_out),
        cmocka_unit_test(several_keys_side_by_side_and_by_numbers),
        cmocka_unit_test(three_keys_with_null_among_them),
        cmocka_unit_test(keys_near_to_0_and_far_from_it),
        cmocka_unit_test(extreme_keys_and_values),
        cmocka_unit_test(sums_that_leave_64_bits_and_come_back_are_exact),
        cmocka_unit_test(a_sum_that_does_not_fit_is_said),
        cmocka_unit_test(floats_as_keys_and_values),
        cmocka_unit_test(no_rows_give_no_groups_and_one_row_one),
    };
    return wp_test_main(tests);
}

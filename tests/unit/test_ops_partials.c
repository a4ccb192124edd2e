/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of 128 bits: halves from a group-by, pieces and back, as 64 bits, averages. */
#include "warpage/partials.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/wide_sum.h"
#include "wp_random.h"
#include "wp_test.h"

#define COUNT 1000u

static uint64_t decimals[2 * COUNT], again[2 * COUNT];
static int64_t high[COUNT];
static uint32_t middle[COUNT], low[COUNT];
static uint64_t wide_middle[COUNT], wide_low[COUNT];

static void draw(void) {
    uint64_t seed = 3;
    for (uint32_t i = 0; i < COUNT; i++) {
        decimals[2 * i] = wp_random_next(&seed);
        decimals[2 * i + 1] = i % 3 == 0 ? 0 : i % 3 == 1 ? UINT64_MAX : wp_random_next(&seed);
    }
}

static void pieces_join_to_the_same_number(void **state) {
    (void)state;
    draw();
    wp_decimals_piece(decimals, COUNT, WP_DECIMAL_HIGH, high);
    wp_decimals_piece(decimals, COUNT, WP_DECIMAL_MIDDLE, middle);
    wp_decimals_piece(decimals, COUNT, WP_DECIMAL_LOW, low);
    for (uint32_t i = 0; i < COUNT; i++) {
        wide_middle[i] = middle[i];
        wide_low[i] = low[i];
    }
    wp_decimals_join(high, wide_middle, wide_low, COUNT, again);
    assert_memory_equal(again, decimals, sizeof decimals);
    /* Sums of pieces carry. */
    for (uint32_t i = 0; i < COUNT; i++) {
        high[i] = high[i] / 8 * 3;
        wide_middle[i] *= 3;
        wide_low[i] *= 3;
    }
    wp_decimals_join(high, wide_middle, wide_low, COUNT, again);
    for (uint32_t i = 0; i < COUNT; i++) {
        const wpi_wide sum = (wpi_wide)((wpi_wide_bits)(uint64_t)high[i] << 64) +
                             (wpi_wide)((wpi_wide_bits)decimals[2 * i] * 3);
        assert_true(wpi_wide_of(&again[2 * i]) == sum);
    }
}

static void sums_beyond_38_digits_are_found(void **state) {
    (void)state;
    const wpi_wide outer =
        (wpi_wide)UINT64_C(10000000000000000000) * UINT64_C(10000000000000000000);
    const wpi_wide fit[] = {outer - 1, -outer + 1, 0, -1}, large[] = {outer, -outer, outer + 5};
    const int64_t far[] = {INT64_MAX, INT64_MIN};
    const uint64_t zero[2] = {0, 0};
    for (size_t i = 0; i < sizeof fit / sizeof *fit; i++) {
        const int64_t top = (int64_t)(fit[i] >> 64);
        assert_true(wp_decimals_fit(&top, &fit[i], 1));
    }
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        const int64_t top = (int64_t)(large[i] >> 64);
        assert_false(wp_decimals_fit(&top, &large[i], 1));
    }
    for (int i = 0; i < 2; i++) /* joined, they wrap */
        assert_false(wp_decimals_fit(&far[i], zero, 1));
}

static void numbers_that_do_not_fit_are_found(void **state) {
    (void)state;
    const uint64_t fit[] = {5, 0, (uint64_t)INT64_MIN, UINT64_MAX};
    const uint64_t large[] = {UINT64_MAX, 0};
    const uint64_t negative[] = {UINT64_MAX, UINT64_MAX};
    int64_t out[2];
    assert_true(wp_decimals_narrow(fit, 2, WP_TYPE_INT64, out));
    assert_int_equal(out[0], 5);
    assert_true(out[1] == INT64_MIN);
    assert_false(wp_decimals_narrow(fit, 2, WP_TYPE_UINT64, out));
    assert_false(wp_decimals_narrow(large, 1, WP_TYPE_INT64, out));
    assert_true(wp_decimals_narrow(large, 1, WP_TYPE_UINT64, out));
    assert_true(wp_decimals_narrow(negative, 1, WP_TYPE_INT64, out));
}

/* Groups of 3 rows whose sums leave 64 bits, by SUM_LOW, SUM_HIGH and AVG. */
static void halves_are_the_sum(void **state) {
    (void)state;
    enum { GROUPS = 50, ROWS = 3 * GROUPS };
    int32_t keys[ROWS];
    int64_t values[ROWS];
    uint64_t seed = 9;
    for (uint32_t i = 0; i < ROWS; i++) {
        keys[i] = (int32_t)(i % GROUPS);
        values[i] = (int64_t)(wp_random_next(&seed) | UINT64_C(3) << 61) ^
                    (i % GROUPS % 2 == 0 ? INT64_MIN : 0);
    }
    const wp_column key = {.type = WP_TYPE_INT32, .values = keys};
    const wp_column value = {.type = WP_TYPE_INT64, .values = values};
    const wp_aggregate aggregates[] = {{WP_AGGREGATE_SUM_LOW, 0},
                                       {WP_AGGREGATE_SUM_HIGH, 0},
                                       {WP_AGGREGATE_AVG, 0},
                                       {WP_AGGREGATE_COUNT, 0}};
    const wp_type type = WP_TYPE_INT64;
    wp_groupby_spec spec = {.key_count = 1,
                            .value_count = 1,
                            .aggregate_count = 4,
                            .keys = &(wp_key){.type = WP_TYPE_INT32},
                            .values = &type,
                            .aggregates = aggregates,
                            .options = {.is_sorted = true}};
    wp_error err = {0};
    wp_groupby *groupby = NULL;
    wp_groups *groups = NULL;
    assert_status_ok(wp_groupby_open(NULL, &spec, &groupby, &err), &err);
    assert_status_ok(wp_groupby_add(groupby, &key, &value, ROWS, &err), &err);
    assert_status_ok(wp_groupby_finish(groupby, &groups, &err), &err);
    assert_u64(wp_groups_count(groups), GROUPS);
    wp_decimals_join(wp_groups_aggregate(groups, 1)->values, NULL,
                     wp_groups_aggregate(groups, 0)->values, GROUPS, again);
    double averages[GROUPS];
    wp_decimals_average(again, NULL, wp_groups_aggregate(groups, 3)->values, GROUPS, averages);
    for (uint32_t i = 0; i < GROUPS; i++) {
        const wpi_wide sum =
            (wpi_wide)values[i] + (wpi_wide)values[i + GROUPS] + (wpi_wide)values[i + 2 * GROUPS];
        assert_true(wpi_wide_of(&again[2 * i]) == sum);
    }
    assert_memory_equal(averages, wp_groups_aggregate(groups, 2)->values, sizeof averages);
    wp_groups_close(groups);
    wp_groupby_close(groupby);
    const wp_type float_type = WP_TYPE_FLOAT32;
    spec.values = &float_type;
    assert_status_fails(wp_groupby_open(NULL, &spec, &groupby, &err), WP_STATUS_INVALID, &err,
                        "floats has no halves");
}

static void decimals_are_divided_as_by_39_digits(void **state) {
    (void)state;
    const struct {
        int64_t sum;
        uint64_t divisor;
        wp_decimal_quotient quotient;
        int64_t wanted;
    } cases[] = {
        {1, 3, {38, 4, 4}, 3333},
        {-2, 3, {38, 4, 4}, -6667},
        {5, 8, {38, 2, 2}, 63}, /* 0.625 */
        {-5, 8, {38, 2, 2}, -63},
        {7, 0, {38, 4, 4}, 0},
        {4, 9, {38, 36, 0}, 0}, /* 0.4444 (36 + 3 digits) is rounded to 0.444 */
        {1, 2, {38, 38, 0}, 1},
        {44, 97, {38, 38, 0}, 1}, /* 0.4536: 0.5 at digit 39 */
        {43, 97, {38, 38, 0}, 0}, /* 0.4433 */
        {INT64_MIN, UINT64_C(1) << 62, {38, 4, 4}, -20000},
        {INT64_MAX, INT64_MAX, {5, 4, 4}, 10000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t sum[2], out[2];
        wp_decimals_widen(&cases[i].sum, 1, sum);
        assert_true(wp_decimals_divide(sum, &cases[i].divisor, 1, &cases[i].quotient, out));
        assert_true(wpi_wide_of(out) == cases[i].wanted);
    }
    const int64_t large = 100000;
    const uint64_t one = 1;
    uint64_t sum[2], out[2];
    wp_decimals_widen(&large, 1, sum);
    assert_false(wp_decimals_divide(sum, &one, 1, &(wp_decimal_quotient){5, 0, 0}, out));
    assert_false(wp_decimals_divide(sum, &one, 1, &(wp_decimal_quotient){9, 4, 4}, out));
    assert_true(wp_decimals_divide(sum, &one, 1, &(wp_decimal_quotient){10, 4, 4}, out));
    const wpi_wide wide =
        (wpi_wide)INT64_C(1000000000000000000) * INT64_C(1000000000000000000) * 35;
    memcpy(sum, &wide, sizeof sum); /* ten times as much is beyond 128 bits */
    assert_false(wp_decimals_divide(sum, &one, 1, &(wp_decimal_quotient){38, 1, 1}, out));
}

static void halves_and_integers_widen(void **state) {
    (void)state;
    /* 1, -2, the largest, the smallest normal, the smallest, -0, infinity */
    const uint16_t halves[] = {0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0x8000, 0x7c00, 0x7e01};
    const float wanted[] = {1, -2, 65504, 0x1p-14f, 0x1p-24f, -0.0f, INFINITY};
    const int64_t integers[] = {0, 5, -1, INT64_MIN};
    const uint64_t wide[] = {0, 0, 5, 0, UINT64_MAX, UINT64_MAX, UINT64_C(1) << 63, UINT64_MAX};
    float out[8];
    uint64_t words[8];
    wp_halves_widen(halves, 8, out);
    assert_memory_equal(out, wanted, sizeof wanted);
    assert_true(out[7] != out[7]);
    wp_decimals_widen(integers, 4, words);
    assert_memory_equal(words, wide, sizeof wide);
}

static void equal_keys_have_equal_hashes(void **state) {
    (void)state;
    const double nan_a = strtod("nan", NULL);
    const double numbers[] = {0.0, -0.0, nan_a, -nan_a, 1.0, 7.0};
    const uint8_t valid[] = {0x1f << 1}; /* from bit 1 on; the last is NULL */
    const int32_t narrow[] = {0, 2, 2, 15, 17, 30, 32};
    const int64_t wide[] = {0, 2, 2, 15, 17, 30, 32};
    const char *const bytes[] = {"abthirteen byteabthirteen bytezz"};
    const wp_column column = {WP_TYPE_FLOAT64, numbers, valid, 1};
    uint64_t a[6] = {0}, b[6] = {0};
    wp_error err = {0};
    wp_rows_hash(&column, 6, a);
    assert_true(a[0] == a[1] && a[2] == a[3]);
    assert_true(a[0] != a[2] && a[0] != a[4] && a[0] != a[5] && a[4] != a[5]);
    /* "ab", "", 13 bytes, "ab", the same 13, "zz": both widths of offsets. */
    memset(a, 0, sizeof a);
    const wp_text_column texts = {WP_TEXT_OFFSETS_32, narrow, (const void *const *)bytes, NULL, 0};
    const wp_text_column same = {WP_TEXT_OFFSETS_64, wide, (const void *const *)bytes, NULL, 0};
    assert_status_ok(wp_rows_hash_texts(&texts, 6, a, &err), &err);
    assert_status_ok(wp_rows_hash_texts(&same, 6, b, &err), &err);
    assert_memory_equal(a, b, sizeof a);
    assert_true(a[0] == a[3] && a[2] == a[4] && a[0] != a[5] && a[1] != a[0]);
    const int32_t damaged[] = {5, 2};
    const wp_text_column bad = {WP_TEXT_OFFSETS_32, damaged, (const void *const *)bytes, NULL, 0};
    assert_int_equal(wp_rows_hash_texts(&bad, 1, a, &err), WP_STATUS_INVALID);
}

static void rows_are_divided_by_their_hashes(void **state) {
    (void)state;
    enum { BUCKETS = 7 };
    static uint64_t hashes[COUNT], starts[BUCKETS + 1];
    static uint32_t rows[COUNT];
    for (uint32_t shift = 0; shift <= 32; shift += 16) {
        for (uint64_t i = 0; i < COUNT; i++)
            hashes[i] = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        wp_rows_divide(hashes, COUNT, shift, BUCKETS, rows, starts);
        assert_true(starts[0] == 0 && starts[BUCKETS] == COUNT);
        bool seen[COUNT] = {0};
        for (uint32_t b = 0; b < BUCKETS; b++) {
            for (uint64_t i = starts[b]; i < starts[b + 1]; i++) {
                const double share = (double)(uint32_t)(hashes[rows[i]] >> shift) / 4294967296.0;
                assert_true((uint32_t)(share * BUCKETS) == b && !seen[rows[i]]);
                assert_true(i == starts[b] || rows[i - 1] < rows[i]);
                seen[rows[i]] = true;
            }
        }
    }
    wp_rows_divide(hashes, 0, 0, BUCKETS, rows, starts);
    assert_true(starts[0] == 0 && starts[BUCKETS] == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_join_to_the_same_number),
        cmocka_unit_test(sums_beyond_38_digits_are_found),
        cmocka_unit_test(numbers_that_do_not_fit_are_found),
        cmocka_unit_test(halves_are_the_sum),
        cmocka_unit_test(decimals_are_divided_as_by_39_digits),
        cmocka_unit_test(halves_and_integers_widen),
        cmocka_unit_test(equal_keys_have_equal_hashes),
        cmocka_unit_test(rows_are_divided_by_their_hashes),
    };
    return wp_test_main(tests);
}

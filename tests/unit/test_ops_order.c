/* SPDX-License-Identifier: Apache-2.0 */
/* Order of groups by keys of every number of bits: as one word with the row number, as one word
 * beside it, key by key. */
#include "ops/order.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "ops/word_bits.h"
#include "wp_random.h"
#include "wp_test.h"

#define ROWS 3000u
#define KEYS_MAX 3u

static wpi_group_column columns[KEYS_MAX + 2];
static uint64_t before[KEYS_MAX][ROWS]; /* words in order of values */
static bool is_null[KEYS_MAX][ROWS];

static void fill(uint32_t number, wp_type type, uint64_t count) {
    wpi_group_column *column = &columns[number];
    column->column.type = type;
    column->values = wpi_calloc(count, wp_type_bytes(type));
    column->valid = wpi_malloc(count);
    assert_non_null(column->values);
    assert_non_null(column->valid);
    column->column.values = column->values;
    memset(column->valid, 1, count);
}

static uint64_t ordered(wp_type type, const void *values, uint64_t row) {
    const uint64_t word = wpi_load_word(type, values, row);
    return wpi_type_is_float(type) ? wpi_ordered_float(word) : wpi_ordered_integer(type, word);
}

/* Values of up to `bits` bits around 0, or halves of them for floats; every eighth NULL, whose
 * value is 0. */
static void draw(uint32_t key, uint32_t bits, uint64_t count, bool has_nulls, uint64_t *seed) {
    const wp_type type = columns[key].column.type;
    void *values = columns[key].values;
    for (uint64_t row = 0; row < count; row++) {
        is_null[key][row] = has_nulls && wp_random_next(seed) % 8 == 0;
        columns[key].valid[row] = !is_null[key][row];
        const uint64_t word = wp_random_next(seed) >> (64 - bits);
        const int64_t centred = (int64_t)(word - ((uint64_t)1 << (bits - 1)));
        if (is_null[key][row]) continue;
        switch (type) {
        case WP_TYPE_INT8: ((int8_t *)values)[row] = (int8_t)centred; break;
        case WP_TYPE_UINT16: ((uint16_t *)values)[row] = (uint16_t)word; break;
        case WP_TYPE_INT32: ((int32_t *)values)[row] = (int32_t)centred; break;
        case WP_TYPE_FLOAT32: ((float *)values)[row] = (float)centred / 2; break;
        case WP_TYPE_FLOAT64: ((double *)values)[row] = (double)centred / 2; break;
        case WP_TYPE_UINT64: ((uint64_t *)values)[row] = word; break;
        default: ((int64_t *)values)[row] = centred;
        }
        before[key][row] = ordered(type, values, row);
    }
}

static int compare_rows(uint32_t key_count, uint64_t a, uint64_t b) {
    for (uint32_t key = 0; key < key_count; key++) {
        if (is_null[key][a] != is_null[key][b]) return is_null[key][a] ? 1 : -1;
        if (!is_null[key][a] && before[key][a] != before[key][b])
            return before[key][a] < before[key][b] ? -1 : 1;
    }
    return a < b ? -1 : 1; /* the order is stable */
}

/* The last column has the row numbers, so it says where each row went. */
static void check(uint32_t key_count, uint64_t count) {
    const uint32_t *rows = columns[key_count].values;
    for (uint64_t i = 0; i < count; i++) {
        if (i > 0) assert_int_equal(compare_rows(key_count, rows[i - 1], rows[i]), -1);
        assert_true(columns[key_count].valid[i] == (rows[i] % 3 != 0));
        for (uint32_t key = 0; key < key_count; key++) {
            assert_true(columns[key].valid[i] == !is_null[key][rows[i]]);
            if (!is_null[key][rows[i]])
                assert_u64(ordered(columns[key].column.type, columns[key].values, i),
                           before[key][rows[i]]);
        }
    }
}

static void order(const wp_type *types, const uint32_t *bits, uint32_t key_count, uint64_t count,
                  bool has_nulls, uint64_t seed) {
    wp_error err = {0};
    for (uint32_t key = 0; key < key_count; key++) {
        fill(key, types[key], count);
        draw(key, bits[key], count, has_nulls, &seed);
    }
    fill(key_count, WP_TYPE_UINT32, count);
    for (uint32_t row = 0; row < count; row++) {
        ((uint32_t *)columns[key_count].values)[row] = row;
        columns[key_count].valid[row] = row % 3 != 0;
    }
    assert_status_ok(wpi_order_columns(columns, key_count, key_count + 1, count, &err), &err);
    check(key_count, count);
    for (uint32_t i = 0; i <= key_count; i++) {
        wpi_free(columns[i].values);
        wpi_free(columns[i].valid);
    }
}

static void one_key_of_any_bits(void **state) {
    (void)state;
    for (uint32_t bits = 1; bits <= 64; bits++) {
        order((wp_type[]){WP_TYPE_INT64}, &bits, 1, ROWS, bits % 2 != 0, bits);
        order((wp_type[]){WP_TYPE_UINT64}, &bits, 1, ROWS, bits % 2 == 0, bits);
    }
}

static void several_keys(void **state) {
    (void)state;
    for (uint32_t bits = 2; bits <= 60; bits += 2) { /* 2 to 100 bits together */
        order((wp_type[]){WP_TYPE_INT8, WP_TYPE_INT64, WP_TYPE_INT32},
              (uint32_t[]){bits < 8 ? bits : 8, bits, bits < 32 ? bits : 32}, 3, ROWS,
              bits % 4 != 0, bits);
        order((wp_type[]){WP_TYPE_INT64, WP_TYPE_UINT16}, (uint32_t[]){bits, bits < 16 ? bits : 16},
              2, ROWS, bits % 4 == 0, bits);
    }
}

static void floats(void **state) {
    (void)state;
    for (uint32_t bits = 1; bits <= 52; bits += 3) {
        order((wp_type[]){WP_TYPE_FLOAT64}, &bits, 1, ROWS, true, bits);
        order((wp_type[]){WP_TYPE_INT8, WP_TYPE_FLOAT32}, (uint32_t[]){3, bits < 24 ? bits : 24}, 2,
              ROWS, bits % 2 != 0, bits);
    }
}

static void few_rows(void **state) {
    (void)state;
    for (uint64_t count = 0; count < 5; count++)
        for (uint32_t bits = 1; bits <= 64; bits += 9)
            order((wp_type[]){WP_TYPE_INT64, WP_TYPE_UINT64}, (uint32_t[]){bits, bits}, 2, count,
                  bits % 2 != 0, bits);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_key_of_any_bits),
        cmocka_unit_test(several_keys),
        cmocka_unit_test(floats),
        cmocka_unit_test(few_rows),
    };
    return wp_test_main(tests);
}

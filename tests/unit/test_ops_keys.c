/* SPDX-License-Identifier: Apache-2.0 */
/* Keys as words and back; numbers given to words by several threads at a time. */
#include "ops/keys.h"

#include <pthread.h>

#include "ops/codes.h"
#include "wp_random.h"
#include "wp_test.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define ROWS 5000u
#define THREADS 4u
#define WORDS 20000u

/* ---- words and back ---- */

static int64_t values64[3][ROWS];
static int32_t values32[ROWS];
static int8_t values8[ROWS];
static uint8_t valid[4][ROWS / 8 + 1];
static uint64_t words[ROWS];

static void draw(void) {
    uint64_t seed = 11;
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t key = 0; key < 3; key++)
            values64[key][i] = (int64_t)(wp_random_next(&seed) % 7 * UINT64_C(0x9e3779b97f4a7c15));
        values32[i] = (int32_t)(wp_random_next(&seed) % 9) - 4;
        values8[i] = (int8_t)(wp_random_next(&seed) % 5 - 2);
    }
    for (uint32_t i = 0; i < sizeof valid[0]; i++)
        for (uint32_t key = 0; key < 4; key++)
            valid[key][i] = (uint8_t)(wp_random_next(&seed) | wp_random_next(&seed));
}

/* NULL, or the bytes of a value. What lies where NULL is counts for nothing. */
static bool is_same(const wp_column *column, uint64_t a, uint64_t b) {
    const size_t bytes = wp_type_bytes(column->type);
    const char *values = column->values;
    if (!wpi_is_valid(column, a) || !wpi_is_valid(column, b))
        return wpi_is_valid(column, a) == wpi_is_valid(column, b);
    return memcmp(values + a * bytes, values + b * bytes, bytes) == 0;
}

static void check(const wp_column *columns, uint32_t count, wpi_key_form form) {
    wp_key types[3];
    int64_t back[ROWS];
    uint8_t back_valid[ROWS];
    wp_error err = {0};
    wpi_keys *keys = NULL;
    for (uint32_t key = 0; key < count; key++)
        types[key] = (wp_key){columns[key].type, columns[key].valid != NULL};
    const wpi_shape shape = {.key_count = count, .keys = types};
    assert_status_ok(wpi_keys_create(&shape, &keys, &err), &err);
    assert_int_equal(wpi_keys_form(keys), form);
    assert_status_ok(wpi_keys_pack(keys, columns, 0, ROWS, words, NULL, &err), &err);
    for (uint32_t i = 0; i < 200; i++)
        for (uint32_t j = 0; j < ROWS; j++) {
            bool same = true;
            for (uint32_t key = 0; key < count; key++)
                same = same && is_same(&columns[key], i, j);
            assert_int_equal(words[i] == words[j], same);
        }
    for (uint32_t key = 0; key < count; key++) {
        const size_t bytes = wp_type_bytes(columns[key].type);
        wpi_keys_unpack(keys, key, words, ROWS, back, back_valid);
        for (uint32_t i = 0; i < ROWS; i++) {
            assert_int_equal(back_valid[i] != 0, wpi_is_valid(&columns[key], i));
            if (back_valid[i])
                assert_memory_equal((const char *)back + i * bytes,
                                    (const char *)columns[key].values + i * bytes, bytes);
        }
    }
    wpi_keys_destroy(keys);
}

static void columns_of_few_bits_lie_side_by_side(void **state) {
    (void)state;
    const wp_column columns[] = {{WP_TYPE_INT8, values8, valid[0], 0},
                                 {WP_TYPE_INT32, values32, valid[1], 0}};
    check(columns, 2, WPI_KEYS_PACKED);
    const wp_column mixed[] = {{WP_TYPE_INT32, values32, NULL, 0},
                               {WP_TYPE_INT8, values8, valid[2], 0}};
    check(mixed, 2, WPI_KEYS_PACKED);
}

static void columns_of_more_bits_are_numbered(void **state) {
    (void)state;
    const wp_column columns[] = {{WP_TYPE_INT64, values64[0], valid[0], 0},
                                 {WP_TYPE_INT64, values64[1], NULL, 0},
                                 {WP_TYPE_INT64, values64[2], valid[2], 0}};
    check(columns, 2, WPI_KEYS_CODED);
    check(columns, 3, WPI_KEYS_CODED);
    const wp_column halves[] = {{WP_TYPE_INT32, values32, valid[1], 0},
                                {WP_TYPE_INT32, values32, NULL, 0}};
    check(halves, 2, WPI_KEYS_CODED); /* 65 bits */
}

/* ---- numbers by threads ---- */

typedef struct worker {
    wpi_codes *codes;
    uint64_t seed;
    uint64_t words[WORDS];
    uint32_t numbers[WORDS];
    bool is_done;
} worker;

static void *number(void *object) {
    worker *w = object;
    wp_status status = WP_STATUS_OK;
    for (uint32_t i = 0; i < WORDS; i++)
        w->words[i] = wp_random_next(&w->seed) % 15000 * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t at = 0; at < WORDS && status == WP_STATUS_OK; at += 500)
        status = wpi_codes_number(w->codes, w->words + at, 500, w->numbers + at, NULL);
    w->is_done = status == WP_STATUS_OK;
    return NULL;
}

static int compare(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

static void threads_agree_on_numbers(void **state) {
    (void)state;
    static worker workers[THREADS];
    static uint64_t pairs[THREADS * WORDS][2]; /* word, number */
    pthread_t threads[THREADS];
    wpi_codes *codes = NULL;
    wp_error err = {0};
    assert_status_ok(wpi_codes_create(&codes, &err), &err);
    for (uint32_t t = 0; t < THREADS; t++) {
        workers[t].codes = codes;
        workers[t].seed = t + 1;
        assert_int_equal(pthread_create(&threads[t], NULL, number, &workers[t]), 0);
    }
    for (uint32_t t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_join(threads[t], NULL), 0);
        assert_true(workers[t].is_done);
        for (uint32_t i = 0; i < WORDS; i++) {
            pairs[t * WORDS + i][0] = workers[t].words[i];
            pairs[t * WORDS + i][1] = workers[t].numbers[i];
            assert_u64(wpi_codes_word(codes, workers[t].numbers[i]), workers[t].words[i]);
        }
    }
    qsort(pairs, COUNT(pairs), sizeof pairs[0], compare);
    for (uint32_t i = 1; i < COUNT(pairs); i++)
        assert_int_equal(pairs[i][0] == pairs[i - 1][0], pairs[i][1] == pairs[i - 1][1]);
    wpi_codes_destroy(codes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_few_bits_lie_side_by_side),
        cmocka_unit_test(columns_of_more_bits_are_numbered),
        cmocka_unit_test(threads_agree_on_numbers),
    };
    draw();
    return wp_test_main(tests);
}

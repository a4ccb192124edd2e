/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of columns as pairs of a table: against a model, over passes, batches and files. */
#include "warpage/table_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "wp_test.h"

#define KEYS 500u
#define ROWS_MAX 600u

static wp_device *device;

typedef struct model {
    wp_table *table;
    uint64_t random;
    uint64_t counts[KEYS], sums[KEYS]; /* of values, or of their bytes */
    uint64_t keys, pairs;
} model;

static uint64_t next_random(model *m) {
    m->random = m->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return m->random >> 33;
}

static uint32_t key_text(uint64_t key, char *out) {
    return (uint32_t)sprintf(out, "%0*llu", (int)(3 + key % 40), (unsigned long long)key);
}

/* Keys as texts, by offsets or views; values as numbers, or as texts of 0 to 59 bytes. */
static wp_status add_batch(model *m, uint64_t count, bool has_views, bool has_numbers,
                           wp_table_combine combine, wp_error *err) {
    static char keys[ROWS_MAX * 64], values[ROWS_MAX * 64];
    static int32_t offsets[ROWS_MAX + 1];
    static int64_t value_offsets[ROWS_MAX + 1];
    static int64_t numbers[ROWS_MAX];
    static struct {
        uint32_t length;
        char head[4];
        uint32_t buffer, offset;
    } views[ROWS_MAX];
    const void *key_buffers[] = {keys}, *value_buffers[] = {values};
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t key = next_random(m) % KEYS, length = next_random(m) % 60;
        offsets[i + 1] = offsets[i] + (int32_t)key_text(key, keys + offsets[i]);
        views[i].length = (uint32_t)(offsets[i + 1] - offsets[i]);
        views[i].buffer = 0;
        views[i].offset = (uint32_t)offsets[i];
        memcpy(views[i].head, keys + offsets[i], views[i].length <= 12 ? views[i].length : 4);
        value_offsets[i + 1] = value_offsets[i] + (int64_t)length;
        memset(values + value_offsets[i], (int)(key % 100), length);
        numbers[i] = (int64_t)(next_random(m) % 1000) - 300;
        m->keys += m->counts[key] == 0;
        m->counts[key]++;
        m->sums[key] += has_numbers ? (uint64_t)numbers[i] : length * (key % 100);
        m->pairs++;
    }
    const wp_table_column by_offsets = {WP_TABLE_OFFSETS_32, 0, offsets, key_buffers, NULL, 0};
    const wp_table_column by_views = {WP_TABLE_VIEWS, 0, views, key_buffers, NULL, 0};
    const wp_table_column texts = {WP_TABLE_OFFSETS_64, 0, value_offsets, value_buffers, NULL, 0};
    const wp_table_column words = {WP_TABLE_SIGNED, 8, numbers, NULL, NULL, 0};
    return wp_table_add_rows(m->table, has_views ? &by_views : &by_offsets,
                             has_numbers ? &words : &texts, count, combine, 2, err);
}

static void check(model *m, wp_table_organisation organisation) {
    uint64_t counts[KEYS] = {0}, sums[KEYS] = {0}, pairs = 0;
    wp_table_cursor cursor = {0};
    wp_table_rows rows;
    wp_error err = {0};
    assert_status_ok(wp_table_settle_rows(m->table, &err), &err);
    do {
        assert_status_ok(wp_table_take_rows(m->table, &cursor, 4000, &rows, &err), &err);
        for (uint64_t i = 0; i < rows.count; i++) {
            char text[64] = {0};
            memcpy(text, rows.keys + rows.key_offsets[i],
                   rows.key_offsets[i + 1] - rows.key_offsets[i]);
            const uint64_t key = strtoull(text, NULL, 10);
            counts[key]++;
            const char *value = rows.values + rows.value_offsets[i];
            const uint64_t length = rows.value_offsets[i + 1] - rows.value_offsets[i];
            uint64_t number = 0;
            if (organisation == WP_TABLE_COMBINING) memcpy(&number, value, sizeof number);
            for (uint64_t at = 0; organisation != WP_TABLE_COMBINING && at < length; at++)
                number += (unsigned char)value[at];
            sums[key] += number;
            pairs++;
        }
        wp_table_rows_deinit(&rows);
    } while (rows.count != 0 || cursor.run == 0 || pairs < wp_table_pair_count(m->table));
    for (uint64_t key = 0; key < KEYS; key++) {
        const bool is_there = m->counts[key] != 0;
        assert_u64(counts[key], organisation == WP_TABLE_COMBINING ? is_there : m->counts[key]);
        assert_u64(sums[key], m->sums[key]);
    }
    const uint64_t distinct = organisation == WP_TABLE_BASIC ? m->pairs : m->keys;
    assert_u64(wp_table_key_count(m->table), distinct);
    assert_u64(wp_table_pair_count(m->table),
               organisation == WP_TABLE_COMBINING ? m->keys : m->pairs);
}

static void create(model *m, wp_table_organisation organisation, wp_table_combiner combiner,
                   uint64_t heap_bytes, uint64_t host_bytes) {
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    wp_error err = {0};
    spec.organisation = organisation;
    spec.combiner = combiner;
    spec.bucket_count = 64;
    spec.heap_bytes = heap_bytes;
    spec.page_bytes = 512;
    spec.host_bytes = host_bytes;
    spec.postpone_pct = m->random % 2 == 0 ? 0 : 20;
    assert_status_ok(wp_table_create(device, &spec, &m->table, &err), &err);
}

/* Batches of 1 to 600 rows; the table is read now and then, and added to again. */
static void batches_make_the_models_table(void **state) {
    (void)state;
    for (uint32_t seed = 0; seed < 24; seed++) {
        const wp_table_organisation organisation = (wp_table_organisation)(seed % 3);
        const bool is_combining = organisation == WP_TABLE_COMBINING;
        const bool is_built_in = seed % 2 == 0;
        const wp_table_combine add = is_combining && !is_built_in
                                         ? wp_table_number_combine(WP_TABLE_ADD, WP_TABLE_INT64)
                                         : WP_TABLE_NO_CALLBACK;
        model m = {.random = seed};
        wp_table_report report;
        wp_error err = {0};
        create(&m, organisation, is_built_in ? WP_TABLE_ADD : WP_TABLE_CALLBACK,
               seed % 4 < 2 ? 16384 : 1 << 20, seed < 12 ? 0 : 20000);
        for (uint32_t batch = 0; batch < 14; batch++) {
            const uint64_t count = batch % 5 == 0 ? 1 : 1 + next_random(&m) % ROWS_MAX;
            assert_status_ok(add_batch(&m, count, batch % 2 == 0, is_combining, add, &err), &err);
            if (batch % 4 == 3) check(&m, organisation);
        }
        check(&m, organisation);
        wp_table_get_report(m.table, &report);
        if (seed % 4 < 2) assert_true(report.passes > 6);
        wp_table_close(m.table);
    }
}

static void numbers_combine(void **state) {
    (void)state;
    const double nan = __builtin_nan("");
    double a = 1.5, b = nan;
    wp_table_number_combine(WP_TABLE_MIN, WP_TABLE_DOUBLE)(&a, &b);
    assert_true(b == 1.5);
    wp_table_number_combine(WP_TABLE_MAX, WP_TABLE_DOUBLE)(&nan, &b);
    assert_true(b != b);
    int64_t x = -3, y = 2;
    wp_table_number_combine(WP_TABLE_MIN, WP_TABLE_INT64)(&x, &y);
    assert_int_equal(y, -3);
    y = 2;
    wp_table_number_combine(WP_TABLE_MIN, WP_TABLE_UINT64)(&x, &y);
    assert_int_equal(y, 2);
    wp_table_number_combine(WP_TABLE_MAX, WP_TABLE_UINT64)(&x, &y);
    assert_int_equal(y, -3);
    assert_true(wp_table_number_combine(WP_TABLE_OR, WP_TABLE_DOUBLE) == NULL);
}

static wp_status add_words(wp_table *table, const int64_t *keys, const int64_t *values,
                           uint64_t count, wp_table_combine combine, wp_error *err) {
    const wp_table_column k = {WP_TABLE_SIGNED, 8, keys, NULL, NULL, 0};
    const wp_table_column v = {WP_TABLE_SIGNED, 8, values, NULL, NULL, 0};
    return wp_table_add_rows(table, &k, &v, count, combine, 1, err);
}

static void integers_are_widened(void **state) {
    (void)state;
    const int8_t keys[] = {-1, 5}, values[] = {7, 8};
    const wp_table_column k = {WP_TABLE_SIGNED, 1, keys, NULL, NULL, 0};
    const wp_table_column v = {WP_TABLE_UNSIGNED, 1, values, NULL, NULL, 0};
    const wp_table_column same = {WP_TABLE_CONSTANT, 3, "tea", NULL, NULL, 0};
    const int64_t key = -1;
    model m = {0};
    wp_table_cursor cursor = {0};
    wp_table_pair pair;
    wp_error err = {0};
    create(&m, WP_TABLE_BASIC, WP_TABLE_ADD, 16384, 0);
    assert_status_ok(wp_table_add_rows(m.table, &k, &v, 2, WP_TABLE_NO_CALLBACK, 0, &err), &err);
    assert_status_ok(wp_table_settle_rows(m.table, &err), &err);
    assert_true(wp_table_find_next(m.table, &key, sizeof key, &cursor, &pair));
    assert_u64(pair.value_bytes, 8);
    assert_u64(*(const uint64_t *)pair.value, 7);
    assert_status_ok(wp_table_add_rows(m.table, &same, &same, 2, WP_TABLE_NO_CALLBACK, 0, &err),
                     &err);
    assert_status_ok(wp_table_settle_rows(m.table, &err), &err);
    cursor = (wp_table_cursor){0};
    for (int i = 0; i < 2; i++)
        assert_true(wp_table_find_next(m.table, "tea", 3, &cursor, &pair));
    assert_false(wp_table_find_next(m.table, "tea", 3, &cursor, &pair));
    wp_table_close(m.table);
}

static void a_sum_beyond_64_bits_fails(void **state) {
    (void)state;
    const wp_table_combine add = wp_table_number_combine(WP_TABLE_ADD, WP_TABLE_INT64);
    const int64_t keys[] = {1, 1}, values[] = {INT64_MAX, 1};
    for (int is_merged = 0; is_merged < 2; is_merged++) { /* in one pass; in two */
        model m = {0};
        wp_error err = {0};
        create(&m, WP_TABLE_COMBINING, WP_TABLE_CALLBACK, 16384, 0);
        wp_status status;
        if (is_merged) {
            assert_status_ok(add_words(m.table, keys, values, 1, add, &err), &err);
            assert_status_ok(wp_table_settle_rows(m.table, &err), &err);
            assert_status_ok(add_words(m.table, keys, values + 1, 1, add, &err), &err);
            status = wp_table_settle_rows(m.table, &err);
        } else {
            status = add_words(m.table, keys, values, 2, add, &err);
        }
        assert_int_equal(status, WP_STATUS_INVALID);
        assert_non_null(strstr(err.message, "does not fit 64 bits"));
        assert_int_equal(add_words(m.table, keys, values, 1, add, &err), WP_STATUS_INVALID);
        assert_non_null(strstr(err.message, "can only be closed"));
        wp_table_close(m.table);
    }
}

static void what_cannot_be_inserted_is_refused_before(void **state) {
    (void)state;
    static char long_text[20000];
    const int64_t numbers[] = {1, 2, 3};
    const int32_t falling[] = {0, 5, 2, 6}, right[] = {0, 1, 2, 20000};
    const uint8_t bits[] = {0x5};
    const void *buffers[] = {long_text};
    const wp_table_column good = {WP_TABLE_SIGNED, 8, numbers, NULL, NULL, 0};
    const struct {
        wp_table_column column;
        const char *says;
    } bad[] = {{{WP_TABLE_SIGNED, 8, numbers, NULL, bits, 0}, "row 1 is NULL"},
               {{WP_TABLE_OFFSETS_32, 0, falling, buffers, NULL, 0}, "decrease"},
               {{WP_TABLE_OFFSETS_32, 0, right, buffers, NULL, 0}, "row 2 takes"},
               {{WP_TABLE_SIGNED, 3, numbers, NULL, NULL, 0}, "numbers of 3 bytes"},
               {{(wp_table_layout)9, 8, numbers, NULL, NULL, 0}, "no layout 9"}};
    model m = {0};
    wp_error err = {0};
    create(&m, WP_TABLE_BASIC, WP_TABLE_ADD, 16384, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int is_key = 0; is_key < 2; is_key++) {
            assert_int_equal(wp_table_add_rows(m.table, is_key ? &bad[i].column : &good,
                                               is_key ? &good : &bad[i].column, 3,
                                               WP_TABLE_NO_CALLBACK, 1, &err),
                             WP_STATUS_INVALID);
            assert_non_null(strstr(err.message, bad[i].says));
        }
    assert_status_ok(wp_table_add_rows(m.table, &good, &good, 3, WP_TABLE_NO_CALLBACK, 1, &err),
                     &err);
    wp_table_cursor cursor = {0};
    assert_int_equal(wp_table_check(m.table, &cursor, &err), WP_STATUS_INVALID); /* open */
    assert_status_ok(wp_table_settle_rows(m.table, &err), &err);
    assert_u64(wp_table_pair_count(m.table), 3);
    wp_table_close(m.table);
}

static void saved_rows_are_opened(void **state) {
    (void)state;
    char path[] = "/tmp/table_rows.XXXXXX";
    assert_true(close(mkstemp(path)) == 0);
    model m = {.random = 2};
    wp_error err = {0};
    create(&m, WP_TABLE_MULTIVALUED, WP_TABLE_ADD, 16384, 0);
    for (int batch = 0; batch < 5; batch++)
        assert_status_ok(add_batch(&m, 400, false, false, WP_TABLE_NO_CALLBACK, &err), &err);
    assert_status_ok(wp_table_settle_rows(m.table, &err), &err);
    assert_status_ok(wp_table_save(m.table, path, &err), &err);
    wp_table_close(m.table);
    for (int is_mapped = 0; is_mapped < 2; is_mapped++) {
        assert_status_ok((is_mapped ? wp_table_map : wp_table_open)(path, &m.table, &err), &err);
        assert_int_equal(wp_table_get_organisation(m.table), WP_TABLE_MULTIVALUED);
        check(&m, WP_TABLE_MULTIVALUED);
        const int64_t one = 1;
        assert_int_equal(add_words(m.table, &one, &one, 1, WP_TABLE_NO_CALLBACK, &err),
                         WP_STATUS_INVALID);
        wp_table_close(m.table);
    }
    (void)unlink(path);
}

static int open_device(void **state) {
    (void)state;
    return wp_device_open("cpu", &device, NULL) == WP_STATUS_OK ? 0 : -1;
}

static int close_device(void **state) {
    (void)state;
    wp_device_close(device);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(batches_make_the_models_table),
                                       cmocka_unit_test(numbers_combine),
                                       cmocka_unit_test(integers_are_widened),
                                       cmocka_unit_test(a_sum_beyond_64_bits_fails),
                                       cmocka_unit_test(what_cannot_be_inserted_is_refused_before),
                                       cmocka_unit_test(saved_rows_are_opened)};
    return cmocka_run_group_tests(tests, open_device, close_device);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes, from which keys come back; groups whose rows no longer fit half a word. */
#include "ops/groupby_cpu/cpu_table.h"

#include "ops/groupby_cpu/cpu_array.h"
#include "ops/groupby_cpu/cpu_hash.h"
#include "wp_random.h"
#include "wp_test.h"

#define ROWS 512u
#define GROUPS 200u

static const wp_key key32 = {WP_TYPE_INT32, false};
static const wp_type value_type = WP_TYPE_INT64;
static const wp_aggregate aggregates[] = {{WP_AGGREGATE_SUM, 0}, {WP_AGGREGATE_MIN, 0}};
static const wp_groupby_spec spec = {.key_count = 1,
                                     .value_count = 1,
                                     .aggregate_count = 2,
                                     .keys = &key32,
                                     .values = &value_type,
                                     .aggregates = aggregates};

typedef struct fixture {
    wpi_shape shape;
    bool has_nulls[1], is_wide[1];
    wpi_cpu_traits traits;
    wpi_cpu_layout layout;
} fixture;

static void set_up(fixture *f, uint32_t hash_bits, bool has_wide_rows) {
    wp_error err;
    *f = (fixture){.traits = {.hash_bits = hash_bits, .has_wide_rows = has_wide_rows}};
    f->traits.has_nulls = f->has_nulls;
    f->traits.is_wide = f->is_wide;
    assert_status_ok(wpi_shape_init(&f->shape, &spec, &err), &err);
    assert_status_ok(wpi_cpu_layout_init(&f->layout, &f->shape, &f->traits, &err), &err);
}

static void tear_down(fixture *f) {
    wpi_cpu_layout_deinit(&f->layout);
    wpi_shape_deinit(&f->shape);
}

/* Rows become too many; `old` is what the layout was. */
static void widen(fixture *f, wpi_cpu_layout *old) {
    wp_error err;
    *old = f->layout;
    f->traits.has_wide_rows = true;
    assert_status_ok(wpi_cpu_layout_init(&f->layout, &f->shape, &f->traits, &err), &err);
}

/* ---- hashes ---- */

static uint64_t hash_at(const wpi_cpu_layout *layout, const void *hashes, uint32_t i) {
    return wpi_cpu_hash_type(layout) == WP_TYPE_UINT32 ? ((const uint32_t *)hashes)[i]
                                                       : ((const uint64_t *)hashes)[i];
}

static void check_hashes(uint32_t hash_bits, bool has_wide_rows) {
    uint64_t seed = 3, keys[ROWS] = {0, 1, UINT64_MAX, UINT64_C(1) << 63}, hashes[ROWS],
             words[ROWS];
    fixture f;
    set_up(&f, hash_bits, has_wide_rows);
    for (uint32_t i = 4; i < ROWS; i++)
        keys[i] = wp_random_next(&seed);
    for (uint32_t i = 0; i < ROWS; i++)
        keys[i] &= UINT64_MAX >> (64 - hash_bits);
    wpi_cpu_hash(&f.layout, keys, ROWS, hashes);
    for (uint32_t i = 0; i < ROWS; i++)
        words[i] = hash_at(&f.layout, hashes, i);
    assert_true(words[1] != keys[1]);
    wpi_cpu_unhash(&f.layout, words, ROWS);
    for (uint32_t i = 0; i < ROWS; i++)
        assert_u64(words[i], keys[i]);
    tear_down(&f);
}

static void keys_come_back_from_hashes(void **state) {
    (void)state;
    check_hashes(32, false);
    check_hashes(32, true);
    check_hashes(64, false);
}

/* ---- finding ---- */

/* Two groups begin at one slot, so one has another; free slots are none's. */
static void a_hash_of_zero_has_rows_of_its_own(void **state) {
    (void)state;
    wp_error err;
    fixture f;
    wpi_cpu_table table;
    const uint64_t hashes[] = {64, 0, 0, 128, 0, 64};
    const uint64_t rows_of[] = {2, 3, 1}; /* of slots from the first on */
    uint32_t places[6];
    const wpi_cpu_rows rows = {.count = 6, .hashes = hashes};
    set_up(&f, 64, false);
    assert_status_ok(wpi_cpu_table_init(&table, &f.layout, 64, &err), &err);
    for (uint64_t times = 1; times <= 2; times++) { /* they are new, then known */
        assert_true(wpi_cpu_table_find(&table, &rows, 0, NULL, places));
        assert_u64(table.count, 3);
        for (uint32_t slot = 0; slot < 3; slot++)
            assert_u64(wpi_cpu_table_slot(&table, slot)[1], times * rows_of[slot]);
    }
    assert_int_equal(places[1], places[4]);
    wpi_cpu_table_deinit(&table);
    tear_down(&f);
}

static void rows_that_may_not_fit_change_nothing(void **state) {
    (void)state;
    wp_error err;
    fixture f;
    wpi_cpu_table table;
    uint64_t hashes[ROWS];
    uint32_t places[ROWS], others[ROWS];
    for (uint32_t i = 0; i < ROWS; i++)
        hashes[i] = i % GROUPS;
    const wpi_cpu_rows all = {.count = ROWS, .hashes = hashes},
                       few = {.count = 8, .hashes = hashes};
    set_up(&f, 64, false);
    assert_status_ok(wpi_cpu_table_init(&table, &f.layout, 64, &err), &err);
    assert_false(wpi_cpu_table_find(&table, &all, 0, NULL, places));
    assert_u64(table.count, 0);
    assert_true(wpi_cpu_table_find(&table, &few, 5, NULL, places)); /* rows 5 to 7 */
    assert_u64(table.count, 3);
    assert_int_equal(wpi_cpu_table_find_only(&table, &few, 0, NULL, places, others), 5);
    assert_int_equal(others[4], 4);
    assert_u64(wpi_cpu_table_slot(&table, 7)[1], 2);
    assert_u64(wpi_cpu_table_slot(&table, 4)[1], 0);
    wpi_cpu_table_deinit(&table);
    tear_down(&f);
}

/* ---- more rows than half a word counts ---- */

static uint64_t key_of(uint32_t row) {
    return row % GROUPS * UINT64_C(2654435761) & UINT32_MAX;
}

static void take(wpi_cpu_table *table, const uint64_t *keys) {
    wp_error err;
    uint64_t hashes[ROWS];
    uint32_t places[ROWS];
    wpi_cpu_hash(table->layout, keys, ROWS, hashes);
    const wpi_cpu_rows rows = {.count = ROWS, .hashes = hashes};
    while (!wpi_cpu_table_find(table, &rows, 0, NULL, places))
        assert_status_ok(wpi_cpu_table_grow(table, &err), &err);
}

static uint64_t count_rows(const wpi_cpu_table *table) {
    uint64_t rows = 0;
    for (uint32_t slot = 0; slot <= table->mask; slot++)
        rows += wpi_cpu_layout_rows(table->layout, wpi_cpu_table_slot(table, slot));
    return rows;
}

static void a_table_keeps_its_groups_when_heads_become_wide(void **state) {
    (void)state;
    wp_error err;
    fixture f;
    wpi_cpu_layout old;
    wpi_cpu_table table;
    uint64_t keys[ROWS];
    for (uint32_t i = 0; i < ROWS; i++)
        keys[i] = key_of(i);
    set_up(&f, 32, false);
    assert_status_ok(wpi_cpu_table_init(&table, &f.layout, 64, &err), &err);
    take(&table, keys);
    assert_true(wpi_cpu_layout_is_narrow(&f.layout));
    widen(&f, &old);
    assert_false(wpi_cpu_layout_is_narrow(&f.layout));
    assert_int_equal(f.layout.stride, old.stride + 1);
    assert_status_ok(wpi_cpu_table_convert(&table, &old, &err), &err);
    assert_u64(count_rows(&table), ROWS);
    take(&table, keys); /* finds them: none is new */
    assert_u64(table.count, GROUPS);
    assert_u64(count_rows(&table), 2 * ROWS);
    wpi_cpu_layout_deinit(&old);
    wpi_cpu_table_deinit(&table);
    tear_down(&f);
}

static void an_array_keeps_its_groups_when_heads_become_wide(void **state) {
    (void)state;
    fixture f;
    wpi_cpu_layout old;
    wpi_cpu_array array;
    set_up(&f, 32, false);
    uint64_t *narrow = malloc(wpi_cpu_array_bytes(&f.layout, GROUPS));
    wpi_cpu_array_init(&array, &f.layout, GROUPS, narrow);
    for (uint32_t i = 0; i < GROUPS; i += 2)
        wpi_cpu_array_slot(&array, i)[f.layout.rows_at] += (i + 1) * wpi_cpu_layout_row(&f.layout);
    widen(&f, &old);
    uint64_t *wide = malloc(wpi_cpu_array_bytes(&f.layout, GROUPS));
    wpi_cpu_array_convert(&array, &old, wide);
    for (uint32_t i = 0; i < GROUPS; i++)
        assert_u64(wpi_cpu_layout_rows(&f.layout, wpi_cpu_array_slot(&array, i)),
                   i % 2 == 0 ? i + 1 : 0);
    wpi_cpu_layout_deinit(&old);
    free(narrow);
    free(wide);
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_come_back_from_hashes),
        cmocka_unit_test(a_hash_of_zero_has_rows_of_its_own),
        cmocka_unit_test(rows_that_may_not_fit_change_nothing),
        cmocka_unit_test(a_table_keeps_its_groups_when_heads_become_wide),
        cmocka_unit_test(an_array_keeps_its_groups_when_heads_become_wide),
    };
    return wp_test_main(tests);
}

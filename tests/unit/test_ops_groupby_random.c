/* SPDX-License-Identifier: Apache-2.0 */
/* Group-by of random tables, in chunks and by threads, against groups found by sorting. The tables
 * are large enough to make threads give up tables of their own. */
#include "warpage/ops.h"

#include "base/alloc.h"
#include "wp_random.h"
#include "wp_test.h"

#define ROWS 300000u
#define CHUNKS 3u

typedef struct row {
    int64_t key;
    bool is_null_key;
    int64_t value;
    bool is_null;
} row;

typedef struct group {
    uint64_t rows, values;
    int64_t sum, min, max;
} group;

typedef struct table {
    wp_type key_type, value_type;
    row rows[ROWS];
} table;

static uint64_t seed;

/* ---- tables ---- */

typedef int64_t (*draw)(uint64_t at, uint64_t groups);

static int64_t uniform(uint64_t at, uint64_t groups) {
    (void)at;
    return (int64_t)(wp_random_next(&seed) % groups) - 5;
}

/* Half of the rows have one of 16 keys, a quarter are spread over many. */
static int64_t skewed(uint64_t at, uint64_t groups) {
    const uint64_t bits = wp_random_next(&seed);
    return bits % 4 < 2 ? (int64_t)(bits >> 8 & 15) : uniform(at, groups);
}

static int64_t all_equal(uint64_t at, uint64_t groups) {
    (void)at;
    return (int64_t)groups;
}

static int64_t ascending(uint64_t at, uint64_t groups) {
    return (int64_t)(at * groups / ROWS);
}

/* Keys whose low bits are the same. */
static int64_t strided(uint64_t at, uint64_t groups) {
    return uniform(at, groups) * 65536;
}

static int64_t extreme(uint64_t at, uint64_t groups) {
    (void)at, (void)groups;
    static const int64_t keys[] = {0, -1, 1, INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX};
    return keys[wp_random_next(&seed) % 7];
}

/* Few groups first, then very many more. */
static int64_t late(uint64_t at, uint64_t groups) {
    return uniform(at, at < ROWS / 2 ? 10 : groups);
}

/* Keys close together, of which every other one is elsewhere from the second chunk on. */
static int64_t elsewhere(uint64_t at, uint64_t groups) {
    const int64_t near = uniform(at, groups);
    return at > ROWS / CHUNKS && at % 5 % 2 == 1 ? near * 1000003 + INT32_MAX : near;
}

static void draw_rows(table *t, draw keys, uint64_t groups, uint32_t nulls_pct) {
    for (uint64_t i = 0; i < ROWS; i++) {
        row *r = &t->rows[i];
        r->key = keys(i, groups);
        if (t->key_type == WP_TYPE_INT32) r->key = (int32_t)(uint32_t)(uint64_t)r->key;
        r->value = (int64_t)(wp_random_next(&seed) % 2001) - 1000;
        r->is_null_key = wp_random_next(&seed) % 100 < nulls_pct;
        r->is_null = wp_random_next(&seed) % 100 < nulls_pct;
    }
}

/* ---- what it should be ---- */

static int compare_rows(const void *a, const void *b) {
    const row *x = a, *y = b;
    if (x->is_null_key != y->is_null_key) return x->is_null_key - y->is_null_key;
    return x->is_null_key ? 0 : (x->key > y->key) - (x->key < y->key);
}

/* The group that begins at *at of sorted rows; *at is then the next one's. */
static group next_group(const table *t, uint64_t *at) {
    group g = {.min = INT64_MAX, .max = INT64_MIN};
    const row *first = &t->rows[*at];
    while (*at < ROWS && compare_rows(first, &t->rows[*at]) == 0) {
        const row *r = &t->rows[(*at)++];
        g.rows++;
        if (r->is_null) continue;
        g.values++;
        g.sum += r->value;
        g.min = r->value < g.min ? r->value : g.min;
        g.max = r->value > g.max ? r->value : g.max;
    }
    return g;
}

/* ---- and is ---- */

static void put(wp_type type, void *values, uint64_t at, int64_t value) {
    switch (type) {
    case WP_TYPE_INT32: ((int32_t *)values)[at] = (int32_t)value; break;
    case WP_TYPE_INT16: ((int16_t *)values)[at] = (int16_t)value; break;
    case WP_TYPE_FLOAT64: ((double *)values)[at] = (double)value; break;
    default: ((int64_t *)values)[at] = value; break;
    }
}

static double get(const wp_column *column, uint64_t at) {
    switch (column->type) {
    case WP_TYPE_INT32: return ((const int32_t *)column->values)[at];
    case WP_TYPE_INT16: return ((const int16_t *)column->values)[at];
    case WP_TYPE_FLOAT64: return ((const double *)column->values)[at];
    default: return (double)((const int64_t *)column->values)[at];
    }
}

static bool is_null(const wp_column *column, uint64_t at) {
    return column->valid != NULL && (column->valid[at / 8] >> at % 8 & 1) == 0;
}

static void add_chunk(wp_groupby *groupby, const table *t, uint64_t first, uint64_t count,
                      bool has_nulls) {
    wp_error err = {0};
    void *keys = malloc(count * 8), *values = malloc(count * 8);
    uint8_t *bits[2] = {calloc(count / 8 + 1, 1), calloc(count / 8 + 1, 1)};
    for (uint64_t i = 0; i < count; i++) {
        const row *r = &t->rows[first + i];
        put(t->key_type, keys, i, r->key);
        put(t->value_type, values, i, r->value);
        bits[0][i / 8] |= (uint8_t)(!r->is_null_key << i % 8);
        bits[1][i / 8] |= (uint8_t)(!r->is_null << i % 8);
    }
    const wp_column key = {
        .type = t->key_type, .values = keys, .valid = has_nulls ? bits[0] : NULL};
    const wp_column value = {
        .type = t->value_type, .values = values, .valid = has_nulls ? bits[1] : NULL};
    assert_status_ok(wp_groupby_add(groupby, &key, &value, count, &err), &err);
    free(keys);
    free(values);
    free(bits[0]);
    free(bits[1]);
}

static wp_groups *group_table(const table *t, uint64_t group_count, uint64_t row_count,
                              bool has_nulls) {
    wp_error err = {0};
    const wp_aggregate aggregates[] = {{WP_AGGREGATE_COUNT, WP_ALL_ROWS},
                                       {WP_AGGREGATE_COUNT, 0},
                                       {WP_AGGREGATE_SUM, 0},
                                       {WP_AGGREGATE_MIN, 0},
                                       {WP_AGGREGATE_MAX, 0}};
    const wp_groupby_spec spec = {.key_count = 1,
                                  .value_count = 1,
                                  .aggregate_count = 5,
                                  .keys = &(wp_key){.type = t->key_type, .is_nullable = has_nulls},
                                  .values = &t->value_type,
                                  .aggregates = aggregates,
                                  .options = {.is_sorted = true,
                                              .thread_count = 3,
                                              .group_count = group_count,
                                              .row_count = row_count}};
    wp_groupby *groupby = NULL;
    wp_groups *groups = NULL;
    assert_status_ok(wp_groupby_open(NULL, &spec, &groupby, &err), &err);
    for (uint64_t chunk = 0; chunk < CHUNKS; chunk++)
        add_chunk(groupby, t, chunk * (ROWS / CHUNKS), ROWS / CHUNKS, has_nulls);
    assert_status_ok(wp_groupby_finish(groupby, &groups, &err), &err);
    wp_groupby_close(groupby);
    return groups;
}

static void check_group(const wp_groups *groups, uint64_t at, const row *first, const group *g) {
    const wp_column *key = wp_groups_key(groups, 0);
    assert_int_equal(is_null(key, at), first->is_null_key);
    if (!first->is_null_key) assert_true(get(key, at) == (double)first->key);
    assert_u64((uint64_t)get(wp_groups_aggregate(groups, 0), at), g->rows);
    assert_u64((uint64_t)get(wp_groups_aggregate(groups, 1), at), g->values);
    const int64_t wanted[] = {g->sum, g->min, g->max};
    for (uint32_t i = 0; i < 3; i++) {
        const wp_column *column = wp_groups_aggregate(groups, 2 + i);
        assert_int_equal(is_null(column, at), g->values == 0);
        if (g->values != 0) assert_true(get(column, at) == (double)wanted[i]);
    }
}

static void check_groups(const table *sorted, const wp_groups *groups) {
    uint64_t count = 0;
    for (uint64_t at = 0; at < ROWS; count++) {
        const row *first = &sorted->rows[at];
        const group g = next_group(sorted, &at);
        assert_true(count < wp_groups_count(groups));
        check_group(groups, count, first, &g);
    }
    assert_u64(wp_groups_count(groups), count);
}

/* Once as a small table, and once as the begin of a large one, whose memory allows for more. */
static void check(wp_type key_type, wp_type value_type, draw keys, uint64_t groups_wanted,
                  uint32_t nulls_pct) {
    table *t = malloc(sizeof *t);
    t->key_type = key_type;
    t->value_type = value_type;
    draw_rows(t, keys, groups_wanted, nulls_pct);
    wp_groups *small = group_table(t, groups_wanted / 1000, 0, nulls_pct != 0);
    wp_groups *large = group_table(t, 0, 40000000, nulls_pct != 0);
    qsort(t->rows, ROWS, sizeof t->rows[0], compare_rows);
    check_groups(t, small);
    check_groups(t, large);
    wp_groups_close(small);
    wp_groups_close(large);
    free(t);
}

#define TEST(name, key_type, value_type, keys, groups, nulls_pct)                                  \
    static void name(void **state) {                                                               \
        (void)state;                                                                               \
        check(WP_TYPE_##key_type, WP_TYPE_##value_type, keys, groups, nulls_pct);                  \
    }
TEST(few_groups, INT32, INT32, uniform, 10, 0)
TEST(many_groups, INT64, INT64, uniform, 100000, 0)
TEST(as_many_groups_as_rows, INT64, INT32, uniform, 100000000, 0)
TEST(many_groups_with_nulls, INT64, INT64, uniform, 100000, 10)
TEST(many_groups_of_floats, INT32, FLOAT64, uniform, 60000, 3)
TEST(some_groups_are_frequent, INT64, INT64, skewed, 1000000, 0)
TEST(some_groups_are_frequent_with_nulls, INT32, INT16, skewed, 1000000, 5)
TEST(all_keys_are_equal, INT64, INT32, all_equal, 7, 20)
TEST(keys_ascend, INT64, INT64, ascending, 150000, 0)
TEST(keys_share_low_bits, INT64, INT32, strided, 30000, 0)
TEST(keys_are_extreme, INT64, INT64, extreme, 1, 30)
TEST(many_more_groups_than_at_first, INT64, INT64, late, 200000, 0)
TEST(keys_turn_up_elsewhere, INT64, INT64, elsewhere, 50000, 0)
TEST(keys_turn_up_elsewhere_with_nulls, INT64, INT16, elsewhere, 100000, 10)
TEST(keys_of_few_groups_turn_up_elsewhere, INT32, INT64, elsewhere, 20, 3)
TEST(nearly_all_is_null, INT32, INT32, uniform, 100, 99)

/* Columns that have NULLs from the second chunk on: what groups keep changes while there are some.
 */
static void check_late_nulls(int64_t key_step, uint64_t row_count) {
    wp_error err = {0};
    const wp_aggregate aggregates[] = {{WP_AGGREGATE_COUNT, 0}, {WP_AGGREGATE_SUM, 0}};
    const wp_type type = WP_TYPE_INT32;
    const wp_groupby_spec spec = {
        .key_count = 1,
        .value_count = 1,
        .aggregate_count = 2,
        .keys = &(wp_key){.type = WP_TYPE_INT64},
        .values = &type,
        .aggregates = aggregates,
        .options = {.is_sorted = true, .thread_count = 2, .row_count = row_count}};
    enum { GROUPS = 100000 };
    int64_t *keys = malloc(GROUPS * sizeof *keys);
    int32_t *values = malloc(GROUPS * sizeof *values);
    uint8_t *valid = malloc(GROUPS / 8);
    for (int64_t i = 0; i < GROUPS; i++) {
        keys[i] = i * key_step;
        values[i] = (int32_t)(i - 50000);
        valid[i / 8] = 0x55; /* those of even keys */
    }
    const wp_column key = {.type = WP_TYPE_INT64, .values = keys};
    wp_column value = {.type = type, .values = values};
    wp_groupby *groupby = NULL;
    wp_groups *groups = NULL;
    assert_status_ok(wp_groupby_open(NULL, &spec, &groupby, &err), &err);
    for (uint32_t chunk = 0; chunk < 3; chunk++) {
        value.valid = chunk == 1 ? valid : NULL;
        assert_status_ok(wp_groupby_add(groupby, &key, &value, GROUPS, &err), &err);
    }
    assert_status_ok(wp_groupby_finish(groupby, &groups, &err), &err);
    assert_u64(wp_groups_count(groups), GROUPS);
    const uint64_t *counts = wp_groups_aggregate(groups, 0)->values;
    const int64_t *sums = wp_groups_aggregate(groups, 1)->values;
    for (int64_t i = 0; i < GROUPS; i++) {
        const uint64_t wanted = i % 2 == 0 ? 3 : 2;
        assert_u64(counts[i], wanted);
        assert_true(sums[i] == (int64_t)wanted * values[i]);
    }
    wp_groups_close(groups);
    wp_groupby_close(groupby);
    free(keys);
    free(values);
    free(valid);
}

static void nulls_come_late(void **state) {
    (void)state;
    check_late_nulls(1, 0);
    check_late_nulls(1, 100000000);
    check_late_nulls(10, 100000000);
    check_late_nulls(1000003, 0);
}

/* Values that leave 32 bits in the middle of the second chunk, for the first time: what sums are
 * kept in changes while rows are on their way. */
static void check_wide_values(wp_type type, uint64_t group_count, uint32_t key_step) {
    wp_error err = {0};
    enum { COUNT = 200000, AT = 123456 };
    const wp_aggregate aggregates[] = {
        {WP_AGGREGATE_SUM, 0}, {WP_AGGREGATE_MIN, 0}, {WP_AGGREGATE_MAX, 0}};
    const wp_groupby_spec spec = {
        .key_count = 1,
        .value_count = 1,
        .aggregate_count = 3,
        .keys = &(wp_key){.type = WP_TYPE_UINT32},
        .values = &type,
        .aggregates = aggregates,
        .options = {.is_sorted = true, .thread_count = 2, .row_count = 100000000}};
    uint32_t *keys = malloc(COUNT * sizeof *keys);
    uint64_t *values = malloc(COUNT * sizeof *values), *sums = calloc(group_count, sizeof *sums);
    const bool is_signed = type == WP_TYPE_INT64;
    const uint64_t largest = is_signed ? INT32_MAX : UINT32_MAX;
    const uint64_t wide[] = {largest + 1, is_signed ? (uint64_t)INT32_MIN - 1 : UINT64_MAX / 4,
                             is_signed ? (uint64_t)(INT64_MIN / 2) : UINT64_MAX / 2};
    const wp_column key = {.type = WP_TYPE_UINT32, .values = keys};
    const wp_column value = {.type = type, .values = values};
    wp_groupby *groupby = NULL;
    wp_groups *groups = NULL;
    assert_status_ok(wp_groupby_open(NULL, &spec, &groupby, &err), &err);
    for (uint32_t chunk = 0; chunk < 3; chunk++) {
        for (uint32_t i = 0; i < COUNT; i++) {
            keys[i] = i % (uint32_t)group_count * key_step;
            values[i] = is_signed && i % 3 == 0 ? (uint64_t)INT32_MIN : largest - i;
        }
        for (uint32_t i = 0; chunk == 1 && i < 3; i++)
            values[AT + 20000 * i] = wide[i];
        for (uint32_t i = 0; i < COUNT; i++)
            sums[i % group_count] += values[i];
        assert_status_ok(wp_groupby_add(groupby, &key, &value, COUNT, &err), &err);
    }
    assert_status_ok(wp_groupby_finish(groupby, &groups, &err), &err);
    assert_u64(wp_groups_count(groups), group_count);
    const uint64_t *found = wp_groups_aggregate(groups, 0)->values;
    const uint64_t *greatest = wp_groups_aggregate(groups, 2)->values;
    for (uint64_t i = 0; i < group_count; i++)
        assert_u64(found[i], sums[i]);
    assert_u64(greatest[AT % group_count], largest + 1);
    wp_groups_close(groups);
    wp_groupby_close(groupby);
    free(keys);
    free(values);
    free(sums);
}

static void wide_values_come_late(void **state) {
    (void)state;
    for (uint32_t key_step = 1; key_step < 10000; key_step *= 90) {
        check_wide_values(WP_TYPE_INT64, 90001, key_step);
        check_wide_values(WP_TYPE_UINT64, 90001, key_step);
        check_wide_values(WP_TYPE_INT64, 61, key_step);
    }
}

/* Every allocation fails once: an error, no crash, nothing lost. */
static void check_out_of_memory(int64_t key_step, uint64_t row_count) {
    static int64_t keys[60000];
    for (int64_t i = 0; i < 60000; i++)
        keys[i] = i * key_step;
    const wp_column key = {.type = WP_TYPE_INT64, .values = keys};
    const wp_aggregate aggregates[] = {{WP_AGGREGATE_SUM, 0}};
    const wp_groupby_spec spec = {
        .key_count = 1,
        .value_count = 1,
        .aggregate_count = 1,
        .keys = &(wp_key){.type = WP_TYPE_INT64},
        .values = &key.type,
        .aggregates = aggregates,
        .options = {.is_sorted = true, .thread_count = 2, .row_count = row_count}};
    wp_status status = WP_STATUS_NOMEM;
    uint64_t n = 0;
    while (status == WP_STATUS_NOMEM) {
        wp_groupby *groupby = NULL;
        wp_groups *groups = NULL;
        wp_error err = {0};
        n += n < 40 ? 1 : 1 + n / 8; /* all of the first ones, some of those of partitions */
        wpi_alloc_fail_at(n);
        status = wp_groupby_open(NULL, &spec, &groupby, &err);
        if (status == WP_STATUS_OK) status = wp_groupby_add(groupby, &key, &key, 60000, &err);
        if (status == WP_STATUS_OK) status = wp_groupby_finish(groupby, &groups, &err);
        wpi_alloc_fail_at(0);
        assert_true(status == WP_STATUS_OK || status == WP_STATUS_NOMEM);
        if (status == WP_STATUS_OK) assert_u64(wp_groups_count(groups), 60000);
        wp_groups_close(groups);
        wp_groupby_close(groupby);
    }
    assert_true(n > 20);
}

static void out_of_memory_anywhere(void **state) {
    (void)state;
    check_out_of_memory(7919, 0);
    check_out_of_memory(1, 100000000);
    check_out_of_memory(10, 100000000);
}

int main(void) {
    const char *text = getenv("SEED");
    const uint64_t first = text != NULL ? strtoull(text, NULL, 0) : 0x2545f4914f6cdd1d;
    seed = first != 0 ? first : 1;
    printf("SEED=%llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_groups),
        cmocka_unit_test(many_groups),
        cmocka_unit_test(as_many_groups_as_rows),
        cmocka_unit_test(many_groups_with_nulls),
        cmocka_unit_test(many_groups_of_floats),
        cmocka_unit_test(some_groups_are_frequent),
        cmocka_unit_test(some_groups_are_frequent_with_nulls),
        cmocka_unit_test(all_keys_are_equal),
        cmocka_unit_test(keys_ascend),
        cmocka_unit_test(keys_share_low_bits),
        cmocka_unit_test(keys_are_extreme),
        cmocka_unit_test(many_more_groups_than_at_first),
        cmocka_unit_test(keys_turn_up_elsewhere),
        cmocka_unit_test(keys_turn_up_elsewhere_with_nulls),
        cmocka_unit_test(keys_of_few_groups_turn_up_elsewhere),
        cmocka_unit_test(nearly_all_is_null),
        cmocka_unit_test(nulls_come_late),
        cmocka_unit_test(wide_values_come_late),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return wp_test_main(tests);
}

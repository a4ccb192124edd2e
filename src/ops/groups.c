/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/groups.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "ops/groupby_cpu/cpu_grouper_memory.h"
#include "ops/order.h"
#include "ops/texts/texts.h"
#include "ops/wide_sum.h"

#define NONE WPI_ACCUMULATOR_NONE

struct wp_groups {
    uint64_t count;
    uint32_t key_count, aggregate_count;
    wpi_group_column *columns; /* keys, then aggregates */
};

typedef struct filling {
    wp_groups *groups;
    const wpi_shape *shape;
    const wpi_keys *keys;
    atomic_uint overflowed; /* 1 + the aggregate whose sum did not fit; 0: none */
} filling;

/* ---- values ---- */

static void put(wpi_group_column *column, uint64_t at, uint64_t word, bool is_valid) {
    const uint32_t bytes = wp_type_bytes(column->column.type);
    if (!is_valid) word = 0;
    memcpy((char *)column->values + at * bytes, &word, bytes); /* little-endian */
    column->valid[at] = is_valid;
}

static uint64_t float_word(wp_type type, double number) {
    uint64_t word = 0;
    const float narrow = (float)number;
    if (type == WP_TYPE_FLOAT32)
        memcpy(&word, &narrow, sizeof narrow);
    else
        memcpy(&word, &number, sizeof number);
    return word;
}

/* The destination of an aggregate's values of a batch. */
typedef struct target {
    const wpi_shape_aggregate *aggregate;
    uint32_t count;
    const uint64_t *values; /* [count]: how many are not NULL */
    char *out;              /* of the aggregate's type */
} target;

static void put_word(const target *t, uint32_t i, uint32_t bytes, uint64_t word) {
    memcpy(t->out + (size_t)i * bytes, &word, bytes); /* little-endian */
}

static void put_averages(const target *t, const uint64_t *words, bool is_float) {
    for (uint32_t i = 0; i < t->count; i++) {
        const double average = is_float ? wpi_double_of(words[i]) / (double)t->values[i]
                                        : wpi_wide_average(&words[2 * (size_t)i], t->values[i]);
        put_word(t, i, sizeof average, float_word(WP_TYPE_FLOAT64, average));
    }
}

/* False: one does not fit. */
static bool put_sums(const target *t, const uint64_t *words) {
    bool is_ok = true;
    for (uint32_t i = 0; i < t->count; i++) {
        is_ok = is_ok && wpi_wide_fits(wpi_wide_of(&words[2 * (size_t)i]), t->aggregate->type);
        put_word(t, i, sizeof *words, words[2 * (size_t)i]);
    }
    return is_ok;
}

static void put_extremes(const target *t, const uint64_t *words, wp_type type) {
    const uint32_t bytes = wp_type_bytes(type);
    for (uint32_t i = 0; i < t->count; i++)
        put_word(t, i, bytes,
                 wpi_type_is_float(type)
                     ? float_word(type, wpi_double_of(wpi_unordered_float(words[i])))
                     : wpi_unordered_integer(type, words[i]));
}

/* One word of two. */
static void put_halves(const target *t, const uint64_t *words, bool is_high) {
    for (uint32_t i = 0; i < t->count; i++)
        put_word(t, i, sizeof *words, words[2 * (size_t)i + is_high]);
}

/* False: a sum does not fit. */
static bool put_values(const target *t, const wpi_accumulator *accumulator, const uint64_t *words) {
    const bool is_float = wpi_type_is_float(accumulator->type);
    if (t->aggregate->op == WP_AGGREGATE_AVG)
        put_averages(t, words, is_float);
    else if (t->aggregate->op == WP_AGGREGATE_SUM_LOW || t->aggregate->op == WP_AGGREGATE_SUM_HIGH)
        put_halves(t, words, t->aggregate->op == WP_AGGREGATE_SUM_HIGH);
    else if (accumulator->how == WPI_ACCUMULATE_MOMENTS)
        put_halves(t, words, t->aggregate->op == WP_AGGREGATE_SQUARES);
    else if (accumulator->how == WPI_ACCUMULATE_SUM_INTEGER)
        return put_sums(t, words);
    else if (accumulator->how == WPI_ACCUMULATE_MIN || accumulator->how == WPI_ACCUMULATE_MAX)
        put_extremes(t, words, accumulator->type);
    else
        memcpy(t->out, words, t->count * sizeof *words); /* counts, sums of floats */
    return true;
}

/* ---- batches ---- */

static void take_keys(const filling *f, const wpi_group_batch *batch) {
    for (uint32_t key = 0; key < f->groups->key_count; key++) {
        wpi_group_column *column = &f->groups->columns[key];
        const uint32_t bytes = wp_type_bytes(column->column.type);
        wpi_keys_unpack(f->keys, key, batch->keys, batch->count,
                        (char *)column->values + batch->first * bytes,
                        &column->valid[batch->first]);
        if (batch->null_group < batch->count)
            put(column, batch->first + batch->null_group, 0, false);
    }
}

static void take_aggregate(filling *f, const wpi_group_batch *batch, uint32_t number) {
    const wpi_shape_aggregate *aggregate = &f->shape->aggregates[number];
    wpi_group_column *column = &f->groups->columns[f->groups->key_count + number];
    if (aggregate->accumulator == NONE) {
        memcpy((uint64_t *)column->values + batch->first, batch->rows,
               batch->count * sizeof *batch->rows);
        memset(&column->valid[batch->first], true, batch->count);
        return;
    }
    const wpi_accumulator *accumulator = &f->shape->accumulators[aggregate->accumulator];
    const uint32_t bytes = wp_type_bytes(aggregate->type);
    const target t = {.aggregate = aggregate,
                      .count = batch->count,
                      .values = batch->words[aggregate->count],
                      .out = (char *)column->values + batch->first * bytes};
    if (!put_values(&t, accumulator, batch->words[aggregate->accumulator]))
        atomic_store(&f->overflowed, number + 1);
    uint8_t *valid = &column->valid[batch->first];
    for (uint32_t i = 0; i < batch->count; i++) {
        valid[i] = t.values[i] != 0 || aggregate->op == WP_AGGREGATE_COUNT;
        if (!valid[i]) put(column, batch->first + i, 0, false); /* the value of NULL is 0 */
    }
}

static void take(void *object, const wpi_group_batch *batch) {
    filling *f = object;
    take_keys(f, batch);
    for (uint32_t number = 0; number < f->groups->aggregate_count; number++)
        take_aggregate(f, batch, number);
}

/* ---- the result ---- */

static wp_status init_column(wpi_group_column *column, wp_type type, uint64_t count,
                             wp_error *err) {
    column->column.type = type;
    column->values = wpi_cpu_memory_alloc(count * wp_type_bytes(type) + 8);
    column->valid = wpi_cpu_memory_alloc(count + 8);
    if (column->values == NULL || column->valid == NULL)
        return WP_FAIL(err, NOMEM, "a column of %llu groups", (unsigned long long)count);
    column->column.values = column->values;
    return WP_STATUS_OK;
}

static wp_status init_columns(wp_groups *groups, const wpi_shape *shape, wp_error *err) {
    groups->columns =
        wpi_calloc(shape->key_count + shape->aggregate_count, sizeof *groups->columns);
    if (groups->columns == NULL) return WP_FAIL(err, NOMEM, "columns of the result");
    groups->key_count = shape->key_count;
    groups->aggregate_count = shape->aggregate_count;
    for (uint32_t i = 0; i < shape->key_count; i++)
        WP_TRY(init_column(&groups->columns[i], shape->keys[i].type, groups->count, err));
    for (uint32_t i = 0; i < shape->aggregate_count; i++)
        WP_TRY(init_column(&groups->columns[shape->key_count + i], shape->aggregates[i].type,
                           groups->count, err));
    return WP_STATUS_OK;
}

/* Bytes become bits, in place; a column without NULL has none. */
static void pack_valid(wpi_group_column *column, uint64_t count) {
    if (memchr(column->valid, 0, count) == NULL) return;
    for (uint64_t byte = 0; byte < (count + 7) / 8; byte++) {
        uint8_t bits = 0;
        for (uint64_t i = 8 * byte; i < count && i < 8 * byte + 8; i++)
            bits |= (uint8_t)((column->valid[i] != 0) << (i % 8));
        column->valid[byte] = bits;
    }
    column->column.valid = column->valid;
}

/* Codes of texts become places in their order: sorted, or as they came. */
static wp_status place_key(wpi_group_column *column, wp_texts *texts, uint64_t count,
                           bool is_sorted, wp_error *err) {
    uint32_t *ranks = NULL, *values = column->values;
    if (is_sorted) WP_TRY(wpi_texts_sort(texts, &ranks, err));
    for (uint64_t i = 0; i < count; i++) {
        column->valid[i] = values[i] != 0;
        if (values[i] != 0) values[i] = ranks != NULL ? ranks[values[i]] : values[i] - 1;
    }
    wpi_free(ranks);
    return WP_STATUS_OK;
}

/* If the only key is a text, and each text has a group, ranks are the groups' places. */
static bool ranks_are_places(const wp_groups *groups, const wpi_shape *shape) {
    const wp_texts *texts = wpi_shape_texts(shape, 0);
    if (groups->key_count != 1 || texts == NULL) return false;
    bool has_null = false;
    const uint32_t *values = groups->columns[0].values;
    for (uint64_t i = 0; i < groups->count; i++)
        has_null |= values[i] == 0;
    return groups->count == wp_texts_count(texts) + has_null;
}

static wp_status sort_by_ranks(wp_groups *groups, wp_texts *texts, wp_error *err) {
    uint32_t *ranks = NULL, *values = groups->columns[0].values;
    const uint64_t text_count = wp_texts_count(texts);
    WP_TRY(wpi_texts_sort(texts, &ranks, err));
    for (uint64_t i = 0; i < groups->count; i++)
        values[i] = ranks[values[i]];
    wpi_free(ranks);
    const wp_status status =
        wpi_order_place(&groups->columns[1], groups->aggregate_count, groups->count, values, err);
    for (uint64_t i = 0; i < groups->count; i++) {
        values[i] = i < text_count ? (uint32_t)i : 0;
        groups->columns[0].valid[i] = i < text_count;
    }
    return status;
}

static wp_status sort_groups(wp_groups *groups, const wpi_shape *shape, bool is_sorted,
                             wp_error *err) {
    if (is_sorted && ranks_are_places(groups, shape))
        return sort_by_ranks(groups, wpi_shape_texts(shape, 0), err);
    for (uint32_t key = 0; key < groups->key_count; key++)
        if (wpi_shape_texts(shape, key) != NULL)
            WP_TRY(place_key(&groups->columns[key], wpi_shape_texts(shape, key), groups->count,
                             is_sorted, err));
    if (!is_sorted) return WP_STATUS_OK;
    return wpi_order_columns(groups->columns, groups->key_count,
                             groups->key_count + groups->aggregate_count, groups->count, err);
}

wp_status wpi_groups_create(const wpi_shape *shape, const wpi_keys *keys, wpi_grouper *grouper,
                            bool is_sorted, wp_groups **out, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    *out = NULL;
    wp_groups *groups = wpi_calloc(1, sizeof *groups);
    if (groups == NULL) return WP_FAIL(err, NOMEM, "groups");
    filling f = {.groups = groups, .shape = shape, .keys = keys};
    WP_TRY_GOTO(grouper->ops->count(grouper, &groups->count, err), done);
    WP_TRY_GOTO(init_columns(groups, shape, err), done);
    WP_TRY_GOTO(grouper->ops->emit(grouper, take, &f, err), done);
    const uint32_t overflowed = atomic_load(&f.overflowed);
    if (overflowed != 0)
        status = WP_FAIL(err, INVALID, "aggregate %u: a sum does not fit %s", overflowed - 1,
                         wp_type_name(shape->aggregates[overflowed - 1].type));
    WP_TRY_GOTO(status, done);
    WP_TRY_GOTO(sort_groups(groups, shape, is_sorted, err), done);
    for (uint32_t i = 0; i < groups->key_count + groups->aggregate_count; i++)
        pack_valid(&groups->columns[i], groups->count);
    *out = groups;
    groups = NULL;
done:
    wp_groups_close(groups);
    return status;
}

void wp_groups_close(wp_groups *groups) {
    if (groups == NULL) return;
    for (uint32_t i = 0; groups->columns != NULL && i < groups->key_count + groups->aggregate_count;
         i++) {
        wpi_free(groups->columns[i].values);
        wpi_free(groups->columns[i].valid);
    }
    wpi_free(groups->columns);
    wpi_free(groups);
}

uint64_t wp_groups_count(const wp_groups *groups) {
    return groups->count;
}

const wp_column *wp_groups_key(const wp_groups *groups, uint32_t key) {
    return key < groups->key_count ? &groups->columns[key].column : NULL;
}

const wp_column *wp_groups_aggregate(const wp_groups *groups, uint32_t aggregate) {
    if (aggregate >= groups->aggregate_count) return NULL;
    return &groups->columns[groups->key_count + aggregate].column;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/shape.h"

#include <string.h>

#include "base/alloc.h"

static const struct {
    const char *name;
    uint32_t bytes;
} types[WP_TYPE_COUNT] = {{"int8", 1},    {"int16", 2},  {"int32", 4},  {"int64", 8},
                          {"uint8", 1},   {"uint16", 2}, {"uint32", 4}, {"uint64", 8},
                          {"float32", 4}, {"float64", 8}};

uint32_t wp_type_bytes(wp_type type) {
    return (unsigned)type < WP_TYPE_COUNT ? types[type].bytes : 0;
}

const char *wp_type_name(wp_type type) {
    return (unsigned)type < WP_TYPE_COUNT ? types[type].name : "unknown";
}

uint64_t wpi_value_word(wp_type type, const void *values, uint64_t row) {
    return wpi_load_word(type, values, row);
}

/* ---- the request ---- */

static wp_status check_type(wp_type type, const char *what, uint32_t number, wp_error *err) {
    if ((unsigned)type < WP_TYPE_COUNT) return WP_STATUS_OK;
    return WP_FAIL(err, INVALID, "the type of %s %u is unknown", what, number);
}

static wp_status check(const wp_groupby_spec *spec, wp_error *err) {
    if (spec->key_count == 0) return WP_FAIL(err, INVALID, "a group-by requires at least one key");
    for (uint32_t i = 0; i < spec->key_count; i++)
        WP_TRY(check_type(spec->keys[i].type, "key", i, err));
    for (uint32_t i = 0; spec->texts != NULL && i < spec->key_count; i++)
        if (spec->texts[i] != NULL &&
            (spec->keys[i].type != WP_TYPE_UINT32 || spec->keys[i].is_nullable))
            return WP_FAIL(err, INVALID,
                           "codes of texts are uint32 and not nullable; key %u is not", i);
    for (uint32_t i = 0; i < spec->value_count; i++)
        WP_TRY(check_type(spec->values[i], "value", i, err));
    for (uint32_t i = 0; i < spec->aggregate_count; i++) {
        const wp_aggregate *aggregate = &spec->aggregates[i];
        if ((unsigned)aggregate->op >= WP_AGGREGATE_OP_COUNT)
            return WP_FAIL(err, INVALID, "aggregate %u is unknown", i);
        const bool is_of_rows =
            aggregate->op == WP_AGGREGATE_COUNT && aggregate->value == WP_ALL_ROWS;
        if (!is_of_rows && aggregate->value >= spec->value_count)
            return WP_FAIL(err, INVALID, "aggregate %u refers to value %u of %u", i,
                           aggregate->value, spec->value_count);
        if ((aggregate->op == WP_AGGREGATE_SUM_LOW || aggregate->op == WP_AGGREGATE_SUM_HIGH) &&
            wpi_type_is_float(spec->values[aggregate->value]))
            return WP_FAIL(err, INVALID, "aggregate %u: a sum of floats has no halves", i);
    }
    for (uint32_t i = 0; spec->weights != NULL && i < spec->value_count; i++)
        if (spec->weights[i] != WP_ALL_ROWS && spec->weights[i] >= spec->value_count)
            return WP_FAIL(err, INVALID, "the weights of value %u are value %u of %u", i,
                           spec->weights[i], spec->value_count);
    return WP_STATUS_OK;
}

/* ---- accumulators ---- */

/* The number of an accumulator, which aggregates share. */
static uint32_t accumulator_of(wpi_shape *shape, wpi_accumulate how, uint32_t value) {
    for (uint32_t i = 0; i < shape->accumulator_count; i++)
        if (shape->accumulators[i].how == how && shape->accumulators[i].value == value) return i;
    shape->accumulators[shape->accumulator_count] = (wpi_accumulator){
        .how = how, .value = value, .type = shape->values[value], .weight = WP_ALL_ROWS};
    return shape->accumulator_count++;
}

static wpi_accumulate how_of(wp_aggregate_op op, wp_type type) {
    switch (op) {
    case WP_AGGREGATE_MIN: return WPI_ACCUMULATE_MIN;
    case WP_AGGREGATE_MAX: return WPI_ACCUMULATE_MAX;
    case WP_AGGREGATE_COUNT: return WPI_ACCUMULATE_COUNT;
    case WP_AGGREGATE_MEAN:
    case WP_AGGREGATE_SQUARES: return WPI_ACCUMULATE_MOMENTS;
    default: return wpi_type_is_float(type) ? WPI_ACCUMULATE_SUM_FLOAT : WPI_ACCUMULATE_SUM_INTEGER;
    }
}

static wp_type type_of(wp_aggregate_op op, wp_type type) {
    switch (op) {
    case WP_AGGREGATE_COUNT: return WP_TYPE_UINT64;
    case WP_AGGREGATE_AVG:
    case WP_AGGREGATE_MEAN:
    case WP_AGGREGATE_SQUARES: return WP_TYPE_FLOAT64;
    case WP_AGGREGATE_SUM_LOW: return WP_TYPE_UINT64;
    case WP_AGGREGATE_SUM_HIGH: return WP_TYPE_INT64;
    case WP_AGGREGATE_SUM:
        if (wpi_type_is_float(type)) return WP_TYPE_FLOAT64;
        return wpi_type_is_signed(type) ? WP_TYPE_INT64 : WP_TYPE_UINT64;
    default: return type;
    }
}

static void add_aggregate(wpi_shape *shape, const wp_aggregate *asked) {
    wpi_shape_aggregate *out = &shape->aggregates[shape->aggregate_count++];
    *out = (wpi_shape_aggregate){.op = asked->op,
                                 .accumulator = WPI_ACCUMULATOR_NONE,
                                 .count = WPI_ACCUMULATOR_NONE,
                                 .type = WP_TYPE_UINT64};
    if (asked->value == WP_ALL_ROWS) return;
    const wp_type type = shape->values[asked->value];
    out->type = type_of(asked->op, type);
    out->accumulator = accumulator_of(shape, how_of(asked->op, type), asked->value);
    out->count = accumulator_of(shape, WPI_ACCUMULATE_COUNT, asked->value);
}

wp_status wpi_shape_init(wpi_shape *shape, const wp_groupby_spec *spec, wp_error *err) {
    *shape = (wpi_shape){0};
    WP_TRY(check(spec, err));
    const uint32_t aggregates = spec->aggregate_count;
    shape->keys = wpi_calloc(spec->key_count, sizeof *shape->keys);
    shape->texts = wpi_calloc(spec->key_count, sizeof(wp_texts *));
    shape->values = wpi_calloc(spec->value_count + 1, sizeof *shape->values);
    shape->aggregates = wpi_calloc(aggregates + 1, sizeof *shape->aggregates);
    shape->accumulators = wpi_calloc(2 * (size_t)aggregates + 1, sizeof *shape->accumulators);
    if (shape->keys == NULL || shape->texts == NULL || shape->values == NULL ||
        shape->aggregates == NULL || shape->accumulators == NULL) {
        wpi_shape_deinit(shape);
        return WP_FAIL(err, NOMEM, "%u aggregates", aggregates);
    }
    shape->key_count = spec->key_count;
    shape->value_count = spec->value_count;
    memcpy(shape->keys, spec->keys, spec->key_count * sizeof *shape->keys);
    if (spec->texts != NULL)
        memcpy((void *)shape->texts, (const void *)spec->texts,
               spec->key_count * sizeof(wp_texts *));
    if (spec->value_count != 0)
        memcpy(shape->values, spec->values, spec->value_count * sizeof *shape->values);
    for (uint32_t i = 0; i < aggregates; i++)
        add_aggregate(shape, &spec->aggregates[i]);
    for (uint32_t i = 0; spec->weights != NULL && i < shape->accumulator_count; i++)
        if (shape->accumulators[i].how == WPI_ACCUMULATE_MOMENTS)
            shape->accumulators[i].weight = spec->weights[shape->accumulators[i].value];
    return WP_STATUS_OK;
}

bool wpi_shape_has_moments(const wpi_shape *shape) {
    for (uint32_t i = 0; i < shape->accumulator_count; i++)
        if (shape->accumulators[i].how == WPI_ACCUMULATE_MOMENTS) return true;
    return false;
}

void wpi_shape_deinit(wpi_shape *shape) {
    wpi_free(shape->keys);
    wpi_free((void *)shape->texts);
    wpi_free(shape->values);
    wpi_free(shape->aggregates);
    wpi_free(shape->accumulators);
    *shape = (wpi_shape){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A group's accumulators. Aggregates share them: sum and average of a column are one sum and one
 * count. Rows are always counted.
 *
 *     avg:price, sum:price, count  ─►  rows | SUM_FLOAT price | COUNT price
 */
#ifndef WP_OPS_SHAPE_H
#define WP_OPS_SHAPE_H

#include "base/fail.h"
#include "ops/word_bits.h"

typedef enum wpi_accumulate {
    WPI_ACCUMULATE_COUNT = 0,   /* of values that are not NULL */
    WPI_ACCUMULATE_SUM_INTEGER, /* exact: a number of 128 bits, in two's complement */
    WPI_ACCUMULATE_SUM_FLOAT,   /* bits of a double */
    WPI_ACCUMULATE_MIN,         /* in ordered form (wpi_ordered) */
    WPI_ACCUMULATE_MAX,
    WPI_ACCUMULATE_MOMENTS, /* bits of two doubles: mean, sum of squared differences from it */
    WPI_ACCUMULATE_KINDS    /* must be last */
} wpi_accumulate;

typedef struct wpi_accumulator {
    wpi_accumulate how;
    uint32_t value;  /* column */
    wp_type type;    /* of the column */
    uint32_t weight; /* of MOMENTS: the column of weights, or WP_ALL_ROWS */
} wpi_accumulator;

typedef struct wpi_shape_aggregate {
    wp_aggregate_op op;
    uint32_t accumulator; /* or NONE: the result is the count of rows */
    uint32_t count;       /* the accumulator that counts its values; NONE: rows */
    wp_type type;         /* of the result */
} wpi_shape_aggregate;

#define WPI_ACCUMULATOR_NONE UINT32_MAX

typedef struct wpi_shape {
    uint32_t key_count, value_count, aggregate_count, accumulator_count;
    wp_key *keys;
    wp_texts **texts; /* [key_count]; NULL: the key is no text */
    wp_type *values;
    wpi_shape_aggregate *aggregates;
    wpi_accumulator *accumulators;
} wpi_shape;

/** Copies what it needs of the spec. INVALID, NOMEM. */
WP_NODISCARD wp_status wpi_shape_init(wpi_shape *shape, const wp_groupby_spec *spec, wp_error *err);
void wpi_shape_deinit(wpi_shape *shape); /* `{0}` is fine */

/** Whether a mean or squares are asked for: cpu_moments.c groups then. */
bool wpi_shape_has_moments(const wpi_shape *shape);

static inline wp_texts *wpi_shape_texts(const wpi_shape *shape, uint32_t key) {
    return shape->texts != NULL ? shape->texts[key] : NULL;
}

/** Value `row` of a column, as by wpi_load_word. */
uint64_t wpi_value_word(wp_type type, const void *values, uint64_t row);

static inline bool wpi_is_valid(const wp_column *column, uint64_t row) {
    const uint64_t bit = column->valid_offset + row;
    return column->valid == NULL || (column->valid[bit / 8] >> (bit % 8) & 1) != 0;
}

#endif

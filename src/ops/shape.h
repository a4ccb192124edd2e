/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a group keeps. Aggregates share accumulators: sum and average of a column are one sum and
 * one count. The count of rows is always kept.
 *
 *     avg:price, sum:price, count  ─►  rows | SUM_FLOAT price | COUNT price
 */
#ifndef WP_OPS_SHAPE_H
#define WP_OPS_SHAPE_H

#include "base/fail.h"
#include "warpage/ops.h"

typedef enum wpi_accumulate {
    WPI_ACCUMULATE_COUNT = 0,   /* of values that are not NULL */
    WPI_ACCUMULATE_SUM_INTEGER, /* exact: a number of 128 bits, in two's complement */
    WPI_ACCUMULATE_SUM_FLOAT,   /* bits of a double */
    WPI_ACCUMULATE_MIN,         /* in ordered form (wpi_ordered) */
    WPI_ACCUMULATE_MAX,
    WPI_ACCUMULATE_KINDS /* must be last */
} wpi_accumulate;

typedef struct wpi_accumulator {
    wpi_accumulate how;
    uint32_t value; /* column */
    wp_type type;   /* of the column */
} wpi_accumulator;

typedef struct wpi_shape_aggregate {
    wp_aggregate_op op;
    uint32_t accumulator; /* or NONE: the rows are the answer */
    uint32_t count;       /* the accumulator that counts its values; NONE: rows */
    wp_type type;         /* of the result */
} wpi_shape_aggregate;

#define WPI_ACCUMULATOR_NONE UINT32_MAX

typedef struct wpi_shape {
    uint32_t key_count, value_count, aggregate_count, accumulator_count;
    wp_key *keys;
    wp_type *values;
    wpi_shape_aggregate *aggregates;
    wpi_accumulator *accumulators;
} wpi_shape;

/** Copies what it needs of the spec. INVALID, NOMEM. */
WP_NODISCARD wp_status wpi_shape_init(wpi_shape *shape, const wp_groupby_spec *spec, wp_error *err);
void wpi_shape_deinit(wpi_shape *shape); /* `{0}` is fine */

static inline bool wpi_type_is_float(wp_type type) {
    return type == WP_TYPE_FLOAT32 || type == WP_TYPE_FLOAT64;
}
static inline bool wpi_type_is_signed(wp_type type) {
    return type <= WP_TYPE_INT64;
}

/** Bits of a value as a word whose unsigned order is the values' order, and back. Integers and
 * floats are widened to 64 bits first. A NaN is larger than all other floats. */
static inline uint64_t wpi_ordered_integer(wp_type type, uint64_t value) {
    return wpi_type_is_signed(type) ? value ^ (uint64_t)1 << 63 : value;
}
static inline uint64_t wpi_ordered_float(uint64_t bits) {
    return (bits >> 63) != 0 ? ~bits : bits | (uint64_t)1 << 63;
}
static inline uint64_t wpi_unordered_integer(wp_type type, uint64_t word) {
    return wpi_ordered_integer(type, word);
}
static inline uint64_t wpi_unordered_float(uint64_t word) {
    return (word >> 63) != 0 ? word & ~((uint64_t)1 << 63) : ~word;
}

/** Value `row` of a column: an integer widened to 64 bits (sign or zeros), or the bits of a double.
 */
uint64_t wpi_value_word(wp_type type, const void *values, uint64_t row);

static inline bool wpi_is_valid(const wp_column *column, uint64_t row) {
    const uint64_t bit = column->valid_offset + row;
    return column->valid == NULL || (column->valid[bit / 8] >> (bit % 8) & 1) != 0;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "warpage/distributions.h"

#include <math.h>
#include <string.h>

#include "ops/shape.h"

static bool is_same(const wp_column *column, uint64_t a, uint64_t b) {
    const bool is_valid = wpi_is_valid(column, a);
    if (is_valid != wpi_is_valid(column, b)) return false;
    return !is_valid || wpi_load_word(column->type, column->values, a) ==
                            wpi_load_word(column->type, column->values, b);
}

uint64_t wp_runs_find(const wp_groups *pairs, uint32_t key_count, uint64_t *starts) {
    const uint64_t rows = wp_groups_count(pairs);
    uint64_t runs = 0;
    for (uint64_t row = 0; row < rows; row++) {
        bool is_new = row == 0;
        for (uint32_t key = 0; key < key_count && !is_new; key++)
            is_new = !is_same(wp_groups_key(pairs, key), row - 1, row);
        if (is_new) starts[runs++] = row;
    }
    starts[runs] = rows;
    return runs;
}

/* NULL is last in a run, in one row at most. */
static uint64_t end_of(const wp_column *values, const uint64_t *starts, uint64_t run) {
    const uint64_t end = starts[run + 1];
    return wpi_is_valid(values, end - 1) ? end : end - 1;
}

void wp_runs_count_distinct(const wp_column *values, const uint64_t *starts, uint64_t run_count,
                            uint64_t *out) {
    for (uint64_t run = 0; run < run_count; run++)
        out[run] = end_of(values, starts, run) - starts[run];
}

static double number_at(const wp_column *values, uint64_t row) {
    const uint64_t word = wpi_load_word(values->type, values->values, row);
    if (wpi_type_is_float(values->type)) return wpi_double_of(word);
    return wpi_type_is_signed(values->type) ? (double)(int64_t)word : (double)word;
}

/* The pair that holds row `place` of a run, from pair *at on, before which there are *before rows.
 */
static double number_of(const wp_column *values, const uint64_t *row_counts, uint64_t place,
                        uint64_t *at, uint64_t *before) {
    while (*before + row_counts[*at] <= place)
        *before += row_counts[(*at)++];
    return number_at(values, *at);
}

/* As Spark's percentile adds: equal numbers are not interpolated, so infinities stay. */
static double quantile_of(const wp_column *values, const uint64_t *row_counts, uint64_t first,
                          uint64_t rows, double share) {
    const double position = (double)(rows - 1) * share;
    const double below = floor(position), above = ceil(position);
    uint64_t at = first, before = 0;
    const double low = number_of(values, row_counts, (uint64_t)below, &at, &before);
    if (below == above) return low;
    const double high = number_of(values, row_counts, (uint64_t)above, &at, &before);
    return low == high ? low : (above - position) * low + (position - below) * high;
}

void wp_runs_quantile(const wp_column *values, const uint64_t *row_counts, const uint64_t *starts,
                      uint64_t run_count, double share, double *out, uint8_t *valid) {
    for (uint64_t run = 0; run < run_count; run++) {
        const uint64_t end = end_of(values, starts, run);
        uint64_t rows = 0;
        for (uint64_t i = starts[run]; i < end; i++)
            rows += row_counts[i];
        valid[run] = rows != 0;
        out[run] = rows != 0 ? quantile_of(values, row_counts, starts[run], rows, share) : 0;
    }
}

void wp_runs_extreme(const wp_column *values, const uint64_t *starts, uint64_t run_count,
                     bool is_largest, uint64_t *rows) {
    for (uint64_t run = 0; run < run_count; run++) {
        const uint64_t end = end_of(values, starts, run);
        rows[run] = end == starts[run] ? WP_NO_ROW : is_largest ? end - 1 : starts[run];
    }
}

void wp_runs_take(const wp_column *values, const uint64_t *rows, uint64_t count, void *out,
                  uint8_t *valid) {
    const uint32_t bytes = wp_type_bytes(values->type);
    for (uint64_t i = 0; i < count; i++) {
        char *to = (char *)out + i * bytes;
        valid[i] = rows[i] != WP_NO_ROW;
        if (valid[i])
            memcpy(to, (const char *)values->values + rows[i] * bytes, bytes);
        else
            memset(to, 0, bytes);
    }
}

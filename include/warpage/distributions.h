/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Exact aggregates that no fixed number of accumulators can hold: distinct values, quantiles,
 * extremes of texts. They come from a group-by of its own, whose last key is the value:
 *
 *     rows ─► group-by: keys, value; COUNT of rows; sorted ─► runs of rows with the same keys
 *                                                              ─► wp_runs_quantile, …: one value a
 * run
 *
 * So they run wherever a group-by does; memory is that of the distinct pairs of keys and value.
 * Runs are in the order of the groups of a sorted group-by by the keys alone.
 *
 * Thread rule: none has state. Ownership: arrays are the caller's.
 */
#ifndef WARPAGE_DISTRIBUTIONS_H
#define WARPAGE_DISTRIBUTIONS_H

#include "warpage/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WP_NO_ROW UINT64_MAX

/** Rows of a sorted result that agree in its first `key_count` keys are a run. `starts`:
 * [groups + 1], the first row of each, then the number of rows. Returns how many runs there are. */
WP_API uint64_t wp_runs_find(const wp_groups *pairs, uint32_t key_count, uint64_t *starts);

/** For each run, how many of its values are not NULL. */
WP_API void wp_runs_count_distinct(const wp_column *values, const uint64_t *starts,
                                   uint64_t run_count, uint64_t *out);

/** For each run the value at `share` (0 to 1) of its rows in order, NULL left out: between two rows
 * it is interpolated, a NaN is the largest. `row_counts`: rows of each pair. `valid`: a byte for
 * each run, 0 where all values are NULL. */
WP_API void wp_runs_quantile(const wp_column *values, const uint64_t *row_counts,
                             const uint64_t *starts, uint64_t run_count, double share, double *out,
                             uint8_t *valid);

/** For each run the row of its least or largest value, or WP_NO_ROW. */
WP_API void wp_runs_extreme(const wp_column *values, const uint64_t *starts, uint64_t run_count,
                            bool is_largest, uint64_t *rows);

/** Values of rows, in the column's type; 0 for WP_NO_ROW. `valid`: a byte for each. */
WP_API void wp_runs_take(const wp_column *values, const uint64_t *rows, uint64_t count, void *out,
                         uint8_t *valid);

/**
 * Quantiles and numbers of distinct values where few groups have many values that hardly recur, so
 * that pairs would be as many as rows: the values are kept, in lists, and selected from. On the
 * processor.
 *
 *     rows ─► wp_lists_add ─► a number for each row, that of its group ─► group-by by the keys, min
 * of the numbers ─► wp_lists_quantile
 */
typedef struct wp_lists wp_lists;

/** Lists of one column: of the spec, keys, texts, the type of the one value, and thread_count are
 * read. INVALID, NOMEM. */
WP_NODISCARD WP_API wp_status wp_lists_open(const wp_groupby_spec *spec, wp_lists **out,
                                            wp_error *err);
WP_API void wp_lists_close(wp_lists *lists);

/** Adds a chunk of rows. `numbers`: [row_count], equal for rows of a group. INVALID: columns are
 * not as specified, or a quantile has been taken. NOMEM. */
WP_NODISCARD WP_API wp_status wp_lists_add(wp_lists *lists, const wp_column *keys,
                                           const wp_column *values, uint64_t row_count,
                                           uint32_t *numbers, wp_error *err);

/** As wp_runs_quantile, for groups of these numbers, each of which is there once. INVALID: a number
 * is none of a group's. NOMEM. */
WP_NODISCARD WP_API wp_status wp_lists_quantile(wp_lists *lists, const uint32_t *numbers,
                                                uint64_t count, double share, double *out,
                                                uint8_t *valid, wp_error *err);

/** The same as wp_runs_count_distinct. */
WP_NODISCARD WP_API wp_status wp_lists_count_distinct(wp_lists *lists, const uint32_t *numbers,
                                                      uint64_t count, uint64_t *out, wp_error *err);

#ifdef __cplusplus
}
#endif
#endif

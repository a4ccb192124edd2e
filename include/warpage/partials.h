/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Partial groups: aggregates of some of the rows, which are merged by another group-by. A sum of
 * integers is a number of 128 bits then, as Arrow's Decimal128: partial sums may leave 64 bits
 * where the whole does not.
 *
 *     rows ─► group-by: SUM_LOW, SUM_HIGH ─► wp_decimals_join ─► partial sums
 *     partial sums ─► wp_decimals_piece: 3 columns ─► group-by: SUM of each ─► wp_decimals_join
 *                       ─► wp_decimals_narrow, wp_decimals_average
 */
#ifndef WARPAGE_PARTIALS_H
#define WARPAGE_PARTIALS_H

#include "warpage/texts.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Pieces of a decimal, whose sums of up to 2^32 rows fit 64 bits. */
typedef enum wp_decimal_piece {
    WP_DECIMAL_HIGH = 0, /* int64: bits 64 to 127 */
    WP_DECIMAL_MIDDLE,   /* uint32: bits 32 to 63 */
    WP_DECIMAL_LOW       /* uint32: bits 0 to 31 */
} wp_decimal_piece;

/** A piece of each of `count` decimals, of 16 bytes each, in `out`. */
WP_API void wp_decimals_piece(const void *decimals, uint64_t count, wp_decimal_piece piece,
                              void *out);
/** high * 2^64 + middle * 2^32 + low, in `decimals`. `middle` may be NULL. */
WP_API void wp_decimals_join(const int64_t *high, const uint64_t *middle, const uint64_t *low,
                             uint64_t count, void *decimals);
/** Whether each sum fits a decimal of 38 digits. `high`: the sums' high pieces, from which
 * wp_decimals_join made `decimals`, modulo 2^128. */
WP_API bool wp_decimals_fit(const int64_t *high, const void *decimals, uint64_t count);
/** Decimals as INT64 or UINT64. False: one does not fit. */
WP_API bool wp_decimals_narrow(const void *decimals, uint64_t count, wp_type type, void *out);
/** Integers as decimals. */
WP_API void wp_decimals_widen(const int64_t *values, uint64_t count, void *decimals);
/** Decimals as doubles; `scale`: digits behind the point. */
WP_API void wp_decimals_double(const void *decimals, uint64_t count, uint32_t scale, double *out);
/** Averages of sums: the same numbers as WP_AGGREGATE_AVG's. One of the two sums is NULL. An
 * average of no values is 0. */
WP_API void wp_decimals_average(const void *decimals, const double *sums,
                                const uint64_t *value_counts, uint64_t count, double *out);

/** The digits behind the point to which a quotient is rounded first. */
#define WP_DECIMAL_QUOTIENT_DIGITS 39u

/** How decimals are divided. */
typedef struct wp_decimal_quotient {
    uint32_t precision;   /**< digits of the quotient, 38 at most */
    uint32_t scale;       /**< those behind its point, 38 at most */
    uint32_t more_digits; /**< so many more than the decimals have there */
} wp_decimal_quotient;

/** Decimals divided by integers, as SQL engines do it that compute 39 digits behind the point:
 * rounded half up (away from zero) to 39 digits, then to the quotient's. By 0: 0. Divisors are less
 * than 2^63. False: a quotient has more digits than `precision`. */
WP_API bool wp_decimals_divide(const void *decimals, const uint64_t *divisors, uint64_t count,
                               const wp_decimal_quotient *quotient, void *out);

/** Sample variances, or their square roots, of squares (WP_AGGREGATE_SQUARES) and counts of values.
 * `more`: squares to be added, or NULL. `valid`: a byte for each, 0 where there are less than two
 * values. */
WP_API void wp_squares_variance(const double *squares, const double *more,
                                const uint64_t *value_counts, uint64_t count, bool is_root,
                                double *out, uint8_t *valid);

/** Numbers of 16 bits, as IEEE 754 has them, as floats: exact. */
WP_API void wp_halves_widen(const uint16_t *halves, uint64_t count, float *out);

/** Adds a key's column to hashes of rows, which begin as zeros: rows with equal keys get equal
 * hashes (-0 equals 0, all NaN are equal, as all NULL are), in every run. For dividing groups that
 * exceed memory among files. */
WP_API void wp_rows_hash(const wp_column *column, uint64_t count, uint64_t *hashes);
/** The same of texts, whatever their layout. INVALID: damaged offsets. */
WP_NODISCARD WP_API wp_status wp_rows_hash_texts(const wp_text_column *column, uint64_t count,
                                                 uint64_t *hashes, wp_error *err);
/** Orders rows, at most 2^32 - 1, by the buckets of their hashes; rows of a bucket keep their
 * order. A bucket is the 32 bits of a hash from bit `shift` (at most 32) on, as a fraction, of
 * `bucket_count`. `rows`: bucket b has those from starts[b] to starts[b + 1]; so `starts` has
 * bucket_count + 1 places. */
WP_API void wp_rows_divide(const uint64_t *hashes, uint64_t count, uint32_t shift,
                           uint32_t bucket_count, uint32_t *rows, uint64_t *starts);

#ifdef __cplusplus
}
#endif
#endif

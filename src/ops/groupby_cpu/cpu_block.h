/* SPDX-License-Identifier: Apache-2.0 */
/** Adds the values of a block of rows to their groups. */
#ifndef WP_OPS_CPU_BLOCK_H
#define WP_OPS_CPU_BLOCK_H

#include "ops/groupby_cpu/cpu_layout.h"

/** Rows whose words stay in the first cache. */
#define WPI_CPU_BLOCK 1024u

typedef struct wpi_cpu_values {
    wp_type type;
    const void *values;
    const uint8_t *nulls; /* a byte each; NULL: no NULLs */
} wpi_cpu_values;

/** Whether these values of a column fit its narrow type. */
bool wpi_cpu_is_narrow(const wp_column *column, uint64_t first, uint32_t count);
/** The type of 32 bits for integers of 64; else the same. */
wp_type wpi_cpu_narrow_type(wp_type type);

/** Bits of `column` as bytes: 1 where a value is NULL. */
void wpi_cpu_nulls(const wp_column *column, uint64_t first, uint32_t count, uint8_t *nulls);

/** The values as words, perhaps in `out`. */
const uint64_t *wpi_cpu_words(const wpi_cpu_values *values, uint32_t first, uint32_t count,
                              uint64_t *out);

/** The value whose sum, of one word, is a group's only accumulator and follows its rows; NULL:
 * otherwise. */
const wpi_cpu_values *wpi_cpu_only_sum(const wpi_cpu_layout *layout, const wpi_cpu_values *values);

/** Adds values [first, outer) of a block to the groups at `places`. `scratch`: a block's words. */
void wpi_cpu_accumulate(const wpi_cpu_layout *layout, uint64_t *groups, const uint32_t *places,
                        const wpi_cpu_values *values, uint32_t first, uint32_t outer,
                        uint64_t *scratch);

#endif

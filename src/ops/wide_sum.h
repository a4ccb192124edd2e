/* SPDX-License-Identifier: Apache-2.0 */
/** Sums of integers: 128 bits in two words, low and high. */
#ifndef WP_OPS_WIDE_SUM_H
#define WP_OPS_WIDE_SUM_H

#include <stdbool.h>
#include <stdint.h>

#include "warpage/ops.h"

__extension__ typedef __int128 wpi_wide;
__extension__ typedef unsigned __int128 wpi_wide_bits;

static inline wpi_wide wpi_wide_of(const uint64_t words[2]) {
    return (wpi_wide)((wpi_wide_bits)words[1] << 64 | words[0]);
}

static inline bool wpi_wide_fits(wpi_wide sum, wp_type type) {
    if (type == WP_TYPE_UINT64) return sum >= 0 && (wpi_wide_bits)sum >> 64 == 0;
    return sum == (wpi_wide)(int64_t)(uint64_t)(wpi_wide_bits)sum;
}

/* A double holds smaller integers exactly. */
#define WPI_WIDE_EXACT (INT64_C(1) << 53)

static inline double wpi_wide_average(const uint64_t sum[2], uint64_t count) {
    const int64_t low = (int64_t)sum[0];
    const bool is_small =
        sum[1] == (uint64_t)(low >> 63) && low > -WPI_WIDE_EXACT && low < WPI_WIDE_EXACT;
    if (is_small && count < (uint64_t)WPI_WIDE_EXACT) return (double)low / (double)(int64_t)count;
    return (double)((long double)wpi_wide_of(sum) / (long double)count);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Division of line and page numbers (below 2^44) by constants of a profile, by multiplication.
 */
#ifndef WP_SIM_DIVIDE_H
#define WP_SIM_DIVIDE_H

#include <stdint.h>

typedef struct wpi_divider {
    uint64_t inverse; /* 2^64 / by, rounded up; 0: divide instead */
    uint64_t by;
} wpi_divider;

/** `by` is at least 1. */
static inline wpi_divider wpi_divider_of(uint64_t by) {
    const int is_small = by > 1 && by < 1u << 20;
    return (wpi_divider){.inverse = is_small ? UINT64_MAX / by + 1 : 0, .by = by};
}

/* The inverse is too large by less than 1, so the quotient is by less than number / 2^64 < 1 /
 * by. */
static inline uint64_t wpi_divide(const wpi_divider *divider, uint64_t number) {
    __extension__ typedef unsigned __int128 wide;
    if (divider->by == 1) return number;
    if (divider->inverse == 0) return number / divider->by;
    return (uint64_t)((wide)number * divider->inverse >> 64);
}

static inline uint32_t wpi_remainder(const wpi_divider *divider, uint64_t number) {
    return (uint32_t)(number - wpi_divide(divider, number) * divider->by);
}

#endif

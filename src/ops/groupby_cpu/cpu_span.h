/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Keys that are numbers close together, as those of most tables are: a key's distance from the
 * first is its place, and nothing is hashed or compared. A sample of the first chunk says where
 * they lie; keys that turn up elsewhere later are far, and left to tables.
 *
 *     base                        base + 2^bits
 *      | key, key …  (offsets)      | NULL
 */
#ifndef WP_OPS_CPU_SPAN_H
#define WP_OPS_CPU_SPAN_H

#include "ops/keys.h"

#define WPI_CPU_SPAN_BITS_MAX 27u
#define WPI_CPU_FAR UINT32_MAX

typedef struct wpi_cpu_span {
    uint64_t base;
    uint64_t mask; /* of the bits that keys have */
    uint32_t bits; /* 0: there is none */
} wpi_cpu_span;

/** The span of a sample of these keys, or none: they are too far apart for `keys_max` places. */
WP_NODISCARD wp_status wpi_cpu_span_find(wpi_cpu_span *span, wpi_keys *keys,
                                         const wp_column *columns, uint64_t row_count,
                                         uint64_t keys_max, wp_error *err);

/** Offsets of keys, WPI_CPU_FAR for those outside. False: some are. `nulls`: NULL: no key is. */
bool wpi_cpu_span_offsets(const wpi_cpu_span *span, const uint64_t *restrict words,
                          const uint8_t *restrict nulls, uint32_t count,
                          uint32_t *restrict offsets);

static inline uint32_t wpi_cpu_span_null(const wpi_cpu_span *span) {
    return UINT32_C(1) << span->bits;
}
static inline uint64_t wpi_cpu_span_key(const wpi_cpu_span *span, uint32_t offset) {
    return (span->base + offset) & span->mask;
}
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Dense keys: numbers close together, as in many tables. A key's distance from the first is its
 * index, and nothing is hashed or compared. A sample of the first chunk gives the span; later keys
 * outside of it ("far") go to tables.
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

/** The span of a sample of these keys, or none if it has more than `keys_max` keys. */
WP_NODISCARD wp_status wpi_cpu_span_find(wpi_cpu_span *span, wpi_keys *keys,
                                         const wp_column *columns, uint64_t row_count,
                                         uint64_t keys_max, wp_error *err);

/** The span of codes of texts, which are dense: `text_count` of them after `row_count` rows. Where
 * texts do not recur yet, more are expected. */
void wpi_cpu_span_of_codes(wpi_cpu_span *span, uint64_t text_count, uint64_t row_count);

/** Offsets of keys, WPI_CPU_FAR for those outside. False: some are outside. `nulls`: NULL if no key
 * is NULL. */
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

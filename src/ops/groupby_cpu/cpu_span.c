/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/groupby_cpu/cpu_span.h"

#include "base/cpu_vectors.h"
#include "ops/key_hash.h"

#define SAMPLES 4096u
#define SLACK 16u /* and 1/64 of the span: the sample may miss the ends */
#define SLACK_SHARE 64u

/* The least and the greatest sampled key, as distances from the first one. */
typedef struct ends {
    bool is_any;
    uint64_t pivot;
    int64_t least, greatest;
} ends;

static void see(ends *e, uint64_t word, uint32_t key_bits) {
    if (!e->is_any) *e = (ends){.is_any = true, .pivot = word};
    const uint32_t unused = 64 - key_bits;
    const int64_t distance = (int64_t)((word - e->pivot) << unused) >> unused;
    if (distance < e->least) e->least = distance;
    if (distance > e->greatest) e->greatest = distance;
}

static wp_status sample(ends *e, wpi_keys *keys, const wp_column *columns, uint64_t row_count,
                        wp_error *err) {
    for (uint32_t i = 0; i < SAMPLES; i++) {
        uint64_t word = 0;
        uint8_t is_null = 0;
        WP_TRY(wpi_keys_pack(keys, columns, wpi_hash_word(i) % row_count, 1, &word, &is_null, err));
        if (is_null == 0) see(e, word, wpi_keys_bits(keys));
    }
    return WP_STATUS_OK;
}

wp_status wpi_cpu_span_find(wpi_cpu_span *span, wpi_keys *keys, const wp_column *columns,
                            uint64_t row_count, uint64_t keys_max, wp_error *err) {
    ends e = {0};
    *span = (wpi_cpu_span){0};
    if (wpi_keys_form(keys) == WPI_KEYS_CODED) return WP_STATUS_OK; /* sampling would number them */
    WP_TRY(sample(&e, keys, columns, row_count, err));
    const uint64_t width = (uint64_t)e.greatest - (uint64_t)e.least;
    if (!e.is_any || width >= keys_max || width >> WPI_CPU_SPAN_BITS_MAX != 0) return WP_STATUS_OK;
    const uint32_t key_bits = wpi_keys_bits(keys);
    uint32_t bits = 1;
    while (bits < key_bits && width + width / SLACK_SHARE + SLACK >= UINT64_C(1) << bits)
        bits++;
    if (bits > WPI_CPU_SPAN_BITS_MAX) return WP_STATUS_OK;
    const uint64_t spare = (UINT64_C(1) << bits) - 1 - width; /* some on either side */
    span->mask = UINT64_MAX >> (64 - key_bits);
    span->base = (e.pivot + (uint64_t)e.least - spare / 2) & span->mask;
    span->bits = bits;
    return WP_STATUS_OK;
}

#define CODES_SLACK_SHARE 8u
#define RECUR 16u             /* rows of a text */
#define CODES_MIN (1u << 22u) /* memory that no code needs is not touched */

void wpi_cpu_span_of_codes(wpi_cpu_span *span, uint64_t text_count, uint64_t row_count) {
    uint64_t width = text_count + text_count / CODES_SLACK_SHARE + SLACK;
    if (text_count > row_count / RECUR)
        width = 2 * text_count > CODES_MIN ? 2 * text_count : CODES_MIN;
    *span = (wpi_cpu_span){.mask = UINT32_MAX, .bits = 1};
    while (span->bits < WPI_CPU_SPAN_BITS_MAX && width > UINT64_C(1) << span->bits)
        span->bits++;
}

WPI_CPU_VECTORS bool wpi_cpu_span_offsets(const wpi_cpu_span *span, const uint64_t *restrict words,
                                          const uint8_t *restrict nulls, uint32_t count,
                                          uint32_t *restrict offsets) {
    const uint64_t base = span->base, mask = span->mask;
    const uint32_t bits = span->bits;
    uint64_t all = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t offset = (words[i] - base) & mask;
        all |= offset;
        offsets[i] = (uint32_t)offset;
    }
    if (all >> bits == 0 && nulls == NULL) return true;
    bool is_near = true;
    for (uint32_t i = 0; i < count; i++) {
        const bool is_null = nulls != NULL && nulls[i] != 0;
        const bool is_far = !is_null && ((words[i] - base) & mask) >> bits != 0;
        if (is_null) offsets[i] = wpi_cpu_span_null(span);
        if (is_far) offsets[i] = WPI_CPU_FAR;
        is_near = is_near && !is_far;
    }
    return is_near;
}

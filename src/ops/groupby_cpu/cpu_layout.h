/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A group on the processor: adjacent words, so that a row touches one cache line.
 *
 *     hash | rows | what each accumulator keeps: one word, two, or none
 *
 * Hashes are invertible (cpu_hash.h), so the hash replaces the key. If it has 32 bits and rows are
 * few enough, both share a word: the hash is its low half.
 *
 * A sum of integers has 64 bits as long as the column's values fit 32 bits and rows are few enough
 * that it cannot overflow, else 128. A count of values is stored as the number of NULLs, and not
 * stored for a column without any: then it is `rows`. When that changes, groups are converted.
 */
#ifndef WP_OPS_CPU_LAYOUT_H
#define WP_OPS_CPU_LAYOUT_H

#include "ops/shape.h"

typedef struct wpi_cpu_field {
    wpi_accumulator accumulator;
    uint32_t at; /* word of the group; 0: not stored */
    bool is_wide;
} wpi_cpu_field;

typedef struct wpi_cpu_layout {
    uint32_t stride;    /* words of a group */
    uint32_t hash_bits; /* 32 or 64 */
    uint32_t rows_at;   /* word of its rows: 1; 0: hash and rows are one word */
    uint32_t field_count;
    wpi_cpu_field *fields; /* as the shape's accumulators */
    uint64_t *initial;     /* [stride]: a group without rows */
} wpi_cpu_layout;

/** Rows that a 64-bit sum of 32-bit values, and a count of 32 bits, can take. */
#define WPI_CPU_NARROW_ROWS ((uint64_t)1 << 31)

/** Properties of the rows so far. */
typedef struct wpi_cpu_traits {
    uint32_t hash_bits; /* of keys */
    bool has_wide_rows; /* too many for 32 bits */
    bool *has_nulls;    /* [value_count]: they are to be counted */
    bool *is_wide; /* [value_count]: values beyond 32 bits, or too many rows: sums have 128 bits */
} wpi_cpu_traits;

static inline bool wpi_cpu_layout_is_narrow(const wpi_cpu_layout *layout) {
    return layout->rows_at == 0;
}
/** The amount that a row adds to the word of rows. */
static inline uint64_t wpi_cpu_layout_row(const wpi_cpu_layout *layout) {
    return layout->rows_at == 0 ? UINT64_C(1) << 32 : 1;
}
static inline uint64_t wpi_cpu_layout_rows(const wpi_cpu_layout *layout, const uint64_t *group) {
    return layout->rows_at == 0 ? group[0] >> 32 : group[1];
}
static inline uint64_t wpi_cpu_layout_hash(const wpi_cpu_layout *layout, const uint64_t *group) {
    return layout->rows_at == 0 ? (uint32_t)group[0] : group[0];
}

/** NOMEM. */
WP_NODISCARD wp_status wpi_cpu_layout_init(wpi_cpu_layout *layout, const wpi_shape *shape,
                                           const wpi_cpu_traits *traits, wp_error *err);
void wpi_cpu_layout_deinit(wpi_cpu_layout *layout);

/** Adds the accumulators of `from` to `into`, not the hash. */
void wpi_cpu_layout_merge(const wpi_cpu_layout *layout, uint64_t *into, const uint64_t *from);
/** Converts a group to another layout, which has at least its accumulators. */
void wpi_cpu_layout_convert(const wpi_cpu_layout *layout, const uint64_t *group,
                            const wpi_cpu_layout *to, uint64_t *out);
/** The groups' accumulators as a batch has them: a word, or two for sums of integers. */
void wpi_cpu_layout_values(const wpi_cpu_layout *layout, uint32_t field,
                           const uint64_t *const *groups, uint32_t count, uint64_t *out);

#endif

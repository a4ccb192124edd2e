/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Groups by number: as in a table, but a group's slot is its number, so its key is not stored.
 *
 *     rows | accumulators … || rows | accumulators … || …
 *
 * Pointers to groups point to where a table has the key, so that layouts can be used; that word
 * belongs to the group before and must not be accessed.
 */
#ifndef WP_OPS_CPU_ARRAY_H
#define WP_OPS_CPU_ARRAY_H

#include "ops/groupby_cpu/cpu_block.h"

typedef struct wpi_cpu_array {
    const wpi_cpu_layout *layout;
    uint64_t *groups; /* [count], in memory that the array does not own; NULL: not made yet */
    uint32_t count;
    uint32_t used; /* groups with rows, at the last count */
} wpi_cpu_array;

/** Words of a group. */
static inline uint32_t wpi_cpu_array_stride(const wpi_cpu_layout *layout) {
    return layout->stride - layout->rows_at;
}
static inline uint64_t *wpi_cpu_array_slot(const wpi_cpu_array *array, uint64_t number) {
    return &array->groups[number * wpi_cpu_array_stride(array->layout)];
}

/** Bytes of an array; whole cache lines. */
size_t wpi_cpu_array_bytes(const wpi_cpu_layout *layout, uint32_t count);
/** An array of groups without rows in that memory, which begins at a cache line. */
void wpi_cpu_array_init(wpi_cpu_array *array, const wpi_cpu_layout *layout, uint32_t count,
                        void *memory);

/** Adds rows [first, outer) of a block to the groups at `places` (words from `groups`). `scratch`:
 * a block's words. */
void wpi_cpu_array_add(wpi_cpu_array *array, const uint32_t *places, const wpi_cpu_values *values,
                       uint32_t first, uint32_t outer, uint64_t *scratch);

/** The number of groups that have rows. */
uint32_t wpi_cpu_array_used(const wpi_cpu_array *array);

/** The layout has changed and was `from`: moves to other memory. */
void wpi_cpu_array_convert(wpi_cpu_array *array, const wpi_cpu_layout *from, void *memory);

#endif

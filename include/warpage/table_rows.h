/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Rows of columns in memory as pairs of a table (warpage/table.h), inserted by threads of the host:
 * for programs that have Arrow's arrays and no kernel.
 *
 *     wp_table_create ─► wp_table_add_rows … ─► wp_table_settle_rows ─► wp_table_find_next, _next,
 *                        (any number of times)    ▲ and again              _take_rows, _save
 *                                └────────────────┘
 *
 * A row that the heap has no memory for is inserted in a further pass, within the call. The table
 * must be settled before it is read. Keys that several passes made are merged then.
 *
 * The device's memory must be the host's (cpu, sim). Thread rule: one call at a time on one table.
 */
#ifndef WARPAGE_TABLE_ROWS_H
#define WARPAGE_TABLE_ROWS_H

#include "warpage/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How a column has its values, as in Arrow. */
typedef enum wp_table_layout {
    WP_TABLE_OFFSETS_32 = 0, /* Utf8, Binary: offsets of 32 bits */
    WP_TABLE_OFFSETS_64,     /* LargeUtf8, LargeBinary */
    WP_TABLE_VIEWS,          /* Utf8View, BinaryView */
    WP_TABLE_FIXED,          /* `item_bytes` each */
    WP_TABLE_SIGNED,         /* integers of `item_bytes` (1, 2, 4, 8), inserted as 8 bytes */
    WP_TABLE_UNSIGNED,       /* ... */
    WP_TABLE_FLOATS,         /* float or double, inserted as double */
    WP_TABLE_CONSTANT,       /* one value of `item_bytes` for all rows */
    WP_TABLE_LAYOUT_COUNT
} wp_table_layout;

typedef struct wp_table_column {
    wp_table_layout layout;
    uint32_t item_bytes; /* of the last five layouts */
    const void *items;   /* offsets [rows + 1]; views, values [rows] */
    const void *const
        *buffers;          /* OFFSETS: the one that they refer to; VIEWS: as they number them */
    const uint8_t *valid;  /* Arrow's bits; NULL: no row is NULL */
    uint64_t valid_offset; /* bit of the first row */
} wp_table_column;

/** Inserts `count` rows. `combine`: for a table whose combiner is WP_TABLE_CALLBACK, the same in
 * all calls; else WP_TABLE_NO_CALLBACK. `thread_count`: 0: one for each processor.
 *
 * INVALID: a row without key or value, offsets that decrease, a pair that exceeds the heap (the
 * table is as it was before the call); a value combined with one of another size, a sum beyond 64
 * bits, a table that wp_table_run filled or that was opened from a file; UNSUPPORTED: the device's
 * memory is not the host's; NOMEM, IO. After one of these in mid-insertion the table can only be
 * closed. */
WP_NODISCARD WP_API wp_status wp_table_add_rows(wp_table *table, const wp_table_column *keys,
                                                const wp_table_column *values, uint64_t count,
                                                wp_table_combine combine, uint32_t thread_count,
                                                wp_error *err);
/** Ends the pass that insertions are in, so that the table can be read. Without insertions since
 * the last call it does nothing. INVALID also after a call that failed. */
WP_NODISCARD WP_API wp_status wp_table_settle_rows(wp_table *table, wp_error *err);

/** What numbers of 8 bytes are. */
typedef enum wp_table_number {
    WP_TABLE_INT64 = 0,
    WP_TABLE_UINT64,
    WP_TABLE_DOUBLE,
    WP_TABLE_NUMBER_COUNT
} wp_table_number;

/** A callback for wp_table_add_rows that combines such numbers; NULL: there is none (OR of
 * doubles). A sum of integers beyond 64 bits fails the call. NaN is the largest double. */
WP_API wp_table_combine wp_table_number_combine(wp_table_combiner combiner, wp_table_number number);

WP_API wp_table_organisation wp_table_get_organisation(const wp_table *table);

/** The next pairs of all, up to `bytes_max` of keys and values but at least one, as
 * wp_table_retrieve has them. `out->count` is 0 at the end. INVALID, PARSE: as wp_table_check;
 * NOMEM. */
WP_NODISCARD WP_API wp_status wp_table_take_rows(const wp_table *table, wp_table_cursor *cursor,
                                                 uint64_t bytes_max, wp_table_rows *out,
                                                 wp_error *err);

#ifdef __cplusplus
}
#endif
#endif

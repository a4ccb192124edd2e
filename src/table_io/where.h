/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A condition that rows must satisfy:
 *
 *     COLUMN = CONSTANT      also == != <> < <= > >=
 *     COLUMN is null         COLUMN is not null
 *     … and …
 *
 * A constant is a number, or text in single quotes ('' is a quote); a column whose name is no
 * single word is in double quotes. As in SQL a comparison with NULL is not true, so such a row is
 * left out. Numbers are compared exactly, whatever their types; texts byte by byte; a NaN is
 * unequal to every number and neither less nor greater. One thread.
 */
#ifndef WP_TABLE_IO_WHERE_H
#define WP_TABLE_IO_WHERE_H

#include "table_io/column_table.h"

typedef struct wpi_where wpi_where;

/** INVALID: the message has the position and the expected form. */
WP_NODISCARD wp_status wpi_where_parse(const char *text, wpi_where **out, wp_error *err);
void wpi_where_close(wpi_where *where); /* NULL allowed */

/** Columns that a condition adds to a selection, at most. */
uint32_t wpi_where_width(const wpi_where *where);
/** Finds the columns in `table` and adds those to `selected` that it does not have: room for
 * wpi_where_width more. NOT_FOUND; INVALID: a text is compared with a number. */
WP_NODISCARD wp_status wpi_where_bind(wpi_where *where, wpi_column_table *table,
                                      wpi_selected *selected, uint32_t *count, wp_error *err);
/** Leaves of a chunk's first `column_count` columns the rows that satisfy the condition:
 * `*columns` has `*row_count` of them, which may be 0, and lives until the next call. NOMEM. */
WP_NODISCARD wp_status wpi_where_filter(wpi_where *where, const wpi_column_table *table,
                                        const wpi_column_chunk *chunk, uint32_t column_count,
                                        const wp_column **columns, uint64_t *row_count,
                                        wp_error *err);

#endif

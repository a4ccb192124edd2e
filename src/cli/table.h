/* SPDX-License-Identifier: Apache-2.0 */
/** A table of strings, printed as aligned text, JSON or CSV: what commands put on stdout. */
#ifndef WP_CLI_TABLE_H
#define WP_CLI_TABLE_H

#include "base/strings.h"
#include "base/text.h"

typedef enum wp_table_format {
    WP_TABLE_TEXT = 0,
    WP_TABLE_JSON, /* an array of objects, keys are the column names */
    WP_TABLE_CSV,
    WP_TABLE_FORMAT_COUNT
} wp_table_format;

#define WP_TABLE_COLUMNS_MAX 32u

typedef struct wp_table {
    const char *const *columns; /* NULL-terminated, borrowed */
    wp_strings cells;           /* row after row */
} wp_table;

/** "text", "json", "csv"; NULL means text. INVALID otherwise. */
WP_NODISCARD wp_status wpi_table_format_parse(const char *name, wp_table_format *out,
                                              wp_error *err);
void wpi_table_print(const wp_table *table, wp_table_format format);
void wpi_table_deinit(wp_table *table);

#endif

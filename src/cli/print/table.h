/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A table of strings, printed as aligned text, JSON or CSV: what commands put on stdout.
 *
 * Text in a pipe or file has one line a row and every column, whatever the width. On a terminal it
 * fits the terminal: groups of rows get a heading, long cells are wrapped, details go beneath their
 * row, and a table that is still too wide is printed with one line a column.
 *
 * One thread at a time.
 */
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

typedef enum wp_column_kind {
    WP_COLUMN_TEXT = 0,
    WP_COLUMN_NUMBER, /* JSON: a number; null where the cell is empty */
    WP_COLUMN_FLAG,   /* "yes" or "no"; JSON: true or false; null where the cell is empty */
    WP_COLUMN_KIND_COUNT
} wp_column_kind;

#define WP_TABLE_COLUMNS_MAX 32u

typedef struct wp_table {
    const char *const *columns;  /* NULL-terminated, borrowed */
    wp_strings cells;            /* row after row */
    const wp_column_kind *kinds; /* one a column, borrowed; NULL: all are text */
    size_t heading_columns;      /* the first ones: on a terminal, the heading of rows that agree */
    const char *heading_joint;   /* between them, such as "/"; NULL: ", " */
    size_t detail_columns;       /* the last ones: on a terminal, beneath the row, unless empty */
} wp_table;

/** "text", "json", "csv"; NULL means text. INVALID otherwise. */
WP_NODISCARD wp_status wpi_table_format_parse(const char *name, wp_table_format *out,
                                              wp_error *err);
/** To stdout, which decides how text is laid out. */
void wpi_table_print(const wp_table *table, wp_table_format format);
/** The same as text, for lines of at most `width` characters; 0: a line a row, of any length. */
void wpi_table_to_text(const wp_table *table, size_t width, wp_text *out);
/** Characters of a terminal's line: of the terminal itself, else COLUMNS, else 80; 0: stdout is no
 * terminal. */
size_t wpi_terminal_width(void);
size_t wpi_table_column_count(const wp_table *table);
/** A string with quotes and escapes, as JSON has it. */
void wpi_table_json_string(wp_text *out, const char *text);
void wpi_table_deinit(wp_table *table);

#endif

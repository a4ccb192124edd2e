/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A table of strings, printed as aligned text, JSON or CSV: the commands' output.
 *
 * Text in a pipe or file has one line a row and every column, whatever the width. On a terminal it
 * fits the terminal: groups of rows get a heading, long cells are wrapped, details go beneath their
 * row, and a table that is still too wide is printed with one line a column.
 *
 * One thread at a time.
 */
#ifndef WP_CLI_LISTING_H
#define WP_CLI_LISTING_H

#include "base/strings.h"
#include "base/text.h"

typedef enum wpi_listing_format {
    WPI_LISTING_TEXT = 0,
    WPI_LISTING_JSON, /* an array of objects, keys are the column names */
    WPI_LISTING_CSV,
    WPI_LISTING_FORMAT_COUNT
} wpi_listing_format;

typedef enum wpi_column_kind {
    WP_COLUMN_TEXT = 0,
    WP_COLUMN_NUMBER, /* JSON: a number; null where the cell is empty */
    WP_COLUMN_FLAG,   /* "yes" or "no"; JSON: true or false; null where the cell is empty */
    WP_COLUMN_KIND_COUNT
} wpi_column_kind;

#define WPI_LISTING_COLUMNS_MAX 32u

typedef struct wpi_listing {
    const char *const *columns;   /* NULL-terminated, borrowed */
    wpi_strings cells;            /* row after row */
    const wpi_column_kind *kinds; /* one a column, borrowed; NULL: all are text */
    size_t heading_columns;    /* the first ones: on a terminal, the heading of rows that agree */
    const char *heading_joint; /* between them, such as "/"; NULL: ", " */
    size_t detail_columns;     /* the last ones: on a terminal, beneath the row, unless empty */
} wpi_listing;

/** "text", "json", "csv"; NULL means text. INVALID otherwise. */
WP_NODISCARD wp_status wpi_listing_format_parse(const char *name, wpi_listing_format *out,
                                                wp_error *err);
/** To stdout, which decides how text is laid out. */
void wpi_listing_print(const wpi_listing *table, wpi_listing_format format);
/** The same as text, for lines of at most `width` characters; 0: a line a row, of any length. */
void wpi_listing_to_text(const wpi_listing *table, size_t width, wpi_text *out);
/** The terminal's width in characters, else COLUMNS, else 80; 0: stdout is not a terminal. */
size_t wpi_terminal_width(void);
size_t wpi_listing_column_count(const wpi_listing *table);
/** A string with quotes and escapes, as JSON has it. */
void wpi_listing_json_string(wpi_text *out, const char *text);
void wpi_listing_deinit(wpi_listing *table);

#endif

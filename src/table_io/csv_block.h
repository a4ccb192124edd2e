/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Whole records of CSV text, parsed into columns. Blocks are independent, so threads parse many at
 * a time: codes of texts are the block's own until the reader converts them to the table's.
 */
#ifndef WP_TABLE_IO_CSV_BLOCK_H
#define WP_TABLE_IO_CSV_BLOCK_H

#include "table_io/column_table.h"

/** The shape that all blocks of a table share. */
typedef struct wpi_csv_shape {
    const wpi_field *fields;
    uint32_t width;
    const wpi_selected *selected;
    uint32_t selected_count;
    const char *null_text; /* NULL: none */
    size_t null_length;
    char delimiter;
} wpi_csv_shape;

typedef struct wpi_csv_column {
    wp_column column; /* of `values` and `valid` */
    void *values;
    uint8_t *valid;
    bool has_null;
    wpi_dictionary texts;
} wpi_csv_column;

typedef struct wpi_csv_block {
    char *text; /* [capacity + WPI_CSV_PADDING] */
    size_t size, capacity;
    uint32_t *marks;
    uint32_t *starts; /* of the current rows */
    uint64_t row_count, row_capacity;
    wpi_csv_column *columns; /* [selected_count] */
    uint64_t line_count;     /* newlines in the text */
} wpi_csv_block;

/** Makes room for `size` bytes of text; keeps the text. NOMEM. */
WP_NODISCARD wp_status wpi_csv_block_reserve(wpi_csv_block *block, size_t size, wp_error *err);
/** Parses the text into columns. On failure `*bad_line` is the line in the block, from 0 on, and
 * the message names the error, without file and line. PARSE, NOMEM. */
WP_NODISCARD wp_status wpi_csv_block_parse(wpi_csv_block *block, const wpi_csv_shape *shape,
                                           uint64_t *bad_line, wp_error *err);
void wpi_csv_block_deinit(wpi_csv_block *block, uint32_t selected_count);

/** A field without its quotes; "" inside becomes one quote, in place. `text` [first, outer) is the
 * field by its marks. False: text follows the closing quote. */
bool wpi_csv_field(char *text, size_t *first, size_t *outer, bool *is_quoted);

uint64_t wpi_csv_lines(const char *text, size_t size);

#endif

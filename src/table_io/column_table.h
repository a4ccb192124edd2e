/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tables in files, as chunks of columns:
 *
 *     wpi_column_table_open ─► which columns there are ─► wpi_column_table_select
 *         ─► wpi_column_table_next … ─► wpi_column_table_close
 *
 * CSV and TSV (also packed by gzip or zstd, also from stdin), NumPy's .npy, raw columns
 * ("user.bin:int32"), Parquet and Arrow files by way of a program. One thread; returned pointers
 * live as long as the table, except chunks, which live until the next one.
 */
#ifndef WP_TABLE_IO_COLUMN_TABLE_H
#define WP_TABLE_IO_COLUMN_TABLE_H

#include "table_io/dictionary.h"
#include "warpage/ops.h"

typedef struct wpi_field {
    char *name;
    wp_type type; /* of the values; where they are text: of their codes (uint32), 0 is NULL */
    bool is_text;
    bool is_nullable; /* there may be a NULL, beside codes */
    bool is_unseen;   /* CSV: the rows that were looked at have no value; is_text, too */
} wpi_field;

typedef struct wpi_column_options {
    const char *types;     /* "zip:text,fare:float64"; NULL: from the first rows */
    const char *null_text; /* a further text that is NULL, as the empty one; may be NULL */
    char delimiter;        /* '\0': by the file's ending, a tab or a comma */
    bool has_no_header;    /* columns are c1, c2, … */
    uint32_t thread_count; /* that parse; 0: as many as there are processors */
    size_t block_bytes;    /* of CSV, for a thread at a time; 0: 2 MiB */
} wpi_column_options;

typedef enum wpi_use {
    WPI_USE_VALUES = 0,
    WPI_USE_NULLS /* only which are NULL: values are zeros (uint8), and not checked */
} wpi_use;

typedef struct wpi_selected {
    uint32_t column;
    wpi_use use;
} wpi_selected;

typedef struct wpi_column_chunk {
    uint64_t row_count;       /* 0: the table is at its end */
    const wp_column *columns; /* as selected */
} wpi_column_chunk;

typedef struct wpi_column_table wpi_column_table;

/** Several files are columns side by side; "-" is stdin. NOT_FOUND, IO, PARSE, INVALID. */
WP_NODISCARD wp_status wpi_column_table_open(const char *const *paths, size_t path_count,
                                             const wpi_column_options *options,
                                             wpi_column_table **out, wp_error *err);
void wpi_column_table_close(wpi_column_table *table); /* NULL allowed */

uint32_t wpi_column_table_width(const wpi_column_table *table);
const wpi_field *wpi_column_table_field(const wpi_column_table *table, uint32_t column);
/** The same for a use that takes numbers: a column of CSV without a value in its first rows, which
 * is of text else, becomes one of int64. Before the selection. */
const wpi_field *wpi_column_table_numbers(wpi_column_table *table, uint32_t column);
/** The approximate number of rows; 0: unknown. Of CSV: from the length of its first rows. */
uint64_t wpi_column_table_expected_rows(const wpi_column_table *table);
/** NOT_FOUND with the nearest name; INVALID: two columns have that name. */
WP_NODISCARD wp_status wpi_column_table_find(const wpi_column_table *table, const char *name,
                                             uint32_t *column, wp_error *err);

/** Once, before the first chunk. */
WP_NODISCARD wp_status wpi_column_table_select(wpi_column_table *table,
                                               const wpi_selected *selected, uint32_t count,
                                               wp_error *err);
/** Maps a column whose file has its values one after the other, for about `read_count` reads at
 * random. Valid as long as the table, whose chunks need not be read. `*row_count` 0: it must be
 * read by chunks. PARSE: the file is truncated.
 */
WP_NODISCARD wp_status wpi_column_table_map(wpi_column_table *table, uint32_t column,
                                            uint64_t read_count, wp_column *out,
                                            uint64_t *row_count, wp_error *err);
/** PARSE: what is wrong, in which line of the file; NOMEM, IO. Then the table can only be closed.
 */
WP_NODISCARD wp_status wpi_column_table_next(wpi_column_table *table, wpi_column_chunk *out,
                                             wp_error *err);
/** Texts of a selected column (its place in the selection), for codes seen so far. */
const wpi_dictionary *wpi_column_table_dictionary(const wpi_column_table *table, uint32_t place);

/** Bytes of the files read, and in all; in all 0: not known. */
void wpi_column_table_progress(const wpi_column_table *table, uint64_t *done_bytes,
                               uint64_t *total_bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** The columns of CSV text: names from its first record, types from the first rows or from
 * options. */
#ifndef WP_TABLE_IO_CSV_HEAD_H
#define WP_TABLE_IO_CSV_HEAD_H

#include "table_io/column_table.h"

typedef struct wpi_csv_head {
    wpi_field *fields; /* wpi_fields_free */
    uint32_t width;
    size_t size;         /* of the header in the text; 0: there is none */
    uint64_t line_count; /* in it */
    double row_bytes;    /* of the first rows, on average; 0: there is none */
} wpi_csv_head;

/** `text` begins with the file's first record and has whole records only; WPI_CSV_PADDING more
 * bytes are readable. Removes the header's quotes in place. PARSE: there is no record; INVALID:
 * unknown types. */
WP_NODISCARD wp_status wpi_csv_head_read(char *text, size_t size, const char *name,
                                         const wpi_column_options *options, char delimiter,
                                         wpi_csv_head *out, wp_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** A reader of one kind of file, for column_table.c. Its structure begins with its operations and
 * fields. */
#ifndef WP_TABLE_IO_READER_H
#define WP_TABLE_IO_READER_H

#include "table_io/bytes.h"
#include "table_io/column_table.h"

typedef struct wpi_reader wpi_reader;

typedef struct wpi_reader_ops {
    wp_status (*select)(wpi_reader *reader, const wpi_selected *selected, uint32_t count,
                        wp_error *err);
    wp_status (*next)(wpi_reader *reader, wpi_column_chunk *out, wp_error *err);
    /* NULL: never; as wpi_column_table_map */
    wp_status (*map)(wpi_reader *reader, uint32_t column, uint64_t read_count, wp_column *out,
                     uint64_t *row_count, wp_error *err);
    const wpi_dictionary *(*dictionary)(const wpi_reader *reader, uint32_t place);
    void (*progress)(const wpi_reader *reader, uint64_t *done_bytes, uint64_t *total_bytes);
    void (*close)(wpi_reader *reader);
} wpi_reader_ops;

struct wpi_reader {
    const wpi_reader_ops *ops;
    wpi_field *fields;
    uint32_t width;
    uint64_t expected_rows; /* approximate; 0: unknown */
};

/** Takes ownership of `bytes`, also on failure. `types` as in options, `name` for messages. */
WP_NODISCARD wp_status wpi_csv_open(wpi_bytes *bytes, const char *name,
                                    const wpi_column_options *options, wpi_reader **out,
                                    wp_error *err);
/** Files of columns: .npy, and raw ones ("user.bin:int32"). */
WP_NODISCARD wp_status wpi_column_files_open(const char *const *paths, size_t path_count,
                                             wpi_reader **out, wp_error *err);
/** Parquet and Arrow files, which the Python package turns into CSV. */
WP_NODISCARD wp_status wpi_arrow_file_open(const char *path, const wpi_column_options *options,
                                           wpi_reader **out, wp_error *err);

/** "int32" or "text". False: neither. */
bool wpi_type_parse(const char *name, size_t length, wp_type *type, bool *is_text);
#define WPI_TYPE_NAMES "int8 … int64, uint8 … uint64, float32, float64, text"

void wpi_fields_free(wpi_field *fields, uint32_t count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Parquet files, which pyarrow writes from CSV. */
#ifndef WP_TABLE_IO_PARQUET_H
#define WP_TABLE_IO_PARQUET_H

#include <stddef.h>

#include "base/fail.h"

typedef struct wpi_parquet_field {
    const char *type; /* "int64", "float64", …, "text" */
    const char *name;
} wpi_parquet_field;

/** Whether `path` (NULL: stdout) can be written at all. IO: there is no Python, or no pyarrow. */
WP_NODISCARD wp_status wpi_parquet_check(const char *path, wp_error *err);
/** Turns `csv_path`, which has no header, into a Parquet file at `path` (NULL: stdout), complete or
 * not at all. `folder` has room for a temporary file. IO. */
WP_NODISCARD wp_status wpi_parquet_write(const char *csv_path, const wpi_parquet_field *fields,
                                         size_t field_count, const char *folder, const char *path,
                                         wp_error *err);

#endif

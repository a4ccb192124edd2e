/* SPDX-License-Identifier: Apache-2.0 */
/** The head of a .npy file, versions 1 to 3: little-endian integers and floats, in rows. */
#ifndef WP_TABLE_IO_NPY_H
#define WP_TABLE_IO_NPY_H

#include "table_io/bytes.h"
#include "warpage/ops.h"

#define WPI_NPY_MAGIC "\x93NUMPY"

typedef struct wpi_npy_field {
    char *name; /* NULL: it has none */
    wp_type type;
    uint32_t offset_bytes; /* in a row */
} wpi_npy_field;

typedef struct wpi_npy_head {
    wpi_npy_field *fields;
    uint32_t field_count, row_bytes;
    uint64_t row_count;
} wpi_npy_head;

/** Reads the head; the data follow. PARSE: not a .npy file; UNSUPPORTED: another kind of array.
 */
WP_NODISCARD wp_status wpi_npy_head_read(wpi_bytes *bytes, const char *name, wpi_npy_head *out,
                                         wp_error *err);
void wpi_npy_head_deinit(wpi_npy_head *head);

#endif

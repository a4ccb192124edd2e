/* SPDX-License-Identifier: Apache-2.0 */
/** Output of results: stdout, or a file that appears complete or not at all. One thread. */
#ifndef WP_TABLE_IO_OUTPUT_H
#define WP_TABLE_IO_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

typedef struct wpi_output wpi_output;

/** NULL: stdout. Files that are not plain (/dev/null, a pipe) are written directly. IO. */
WP_NODISCARD wp_status wpi_output_open(const char *path, wpi_output **out, wp_error *err);
/** wpi_output_finish returns a failure of this call. */
void wpi_output_write(wpi_output *output, const void *data, size_t size_bytes);
void wpi_output_text(wpi_output *output, const char *text);
/** The file appears. IO: not all of it could be written; then nothing appears. */
WP_NODISCARD wp_status wpi_output_finish(wpi_output *output, wp_error *err);
void wpi_output_close(wpi_output *output); /* NULL allowed */

/** Write a text as CSV and as JSON. CSV quotes it if it has a delimiter, a quote, or a newline, or
 * is empty (an empty field without quotes is NULL). */
void wpi_output_csv(wpi_output *output, const char *text, size_t length, char delimiter);
void wpi_output_json(wpi_output *output, const char *text, size_t length);

#endif

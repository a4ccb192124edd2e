/* SPDX-License-Identifier: Apache-2.0 */
/** Internal to report: the text of a source file, by line. */
#ifndef WP_REPORT_SOURCE_FILE_H
#define WP_REPORT_SOURCE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct wpi_source_file {
    char *text;
    size_t length;
    size_t *starts; /* [line_count + 1] */
    uint32_t line_count;
} wpi_source_file;

/** Reads the file; false: it is not there, or no text of a sensible size, and has no lines. */
bool wpi_source_file_open(const char *path, wpi_source_file *out);
void wpi_source_file_close(wpi_source_file *file);
/** A line, from 1, which is not terminated; NULL: there is none. */
const char *wpi_source_file_line(const wpi_source_file *file, uint32_t line, size_t *length);

/** The line without its indentation, and at most `columns` characters of it; NULL: there is none,
 * or it is blank. wpi_free. */
char *wpi_source_file_text(const wpi_source_file *file, uint32_t line, size_t columns);

#endif

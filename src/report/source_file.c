/* SPDX-License-Identifier: Apache-2.0 */
#include "report/source_file.h"

#include <string.h>

#include "base/alloc.h"
#include "base/file.h"

#define BYTES_MAX ((size_t)16 << 20)

bool wpi_source_file_open(const char *path, wpi_source_file *out) {
    *out = (wpi_source_file){0};
    if (wpi_dir_exists(path) || wpi_file_read(path, &out->text, &out->length, NULL) != WP_STATUS_OK)
        return false;
    if (out->length > BYTES_MAX || memchr(out->text, '\0', out->length) != NULL) {
        wpi_source_file_close(out);
        return false;
    }
    for (size_t i = 0; i < out->length; i++)
        out->line_count += out->text[i] == '\n';
    out->line_count += out->length != 0 && out->text[out->length - 1] != '\n';
    out->starts = wpi_calloc(out->line_count + (size_t)1, sizeof *out->starts);
    if (out->starts == NULL) {
        wpi_source_file_close(out);
        return false;
    }
    uint32_t line = 1;
    for (size_t i = 0; i < out->length; i++)
        if (out->text[i] == '\n') out->starts[line++] = i + 1;
    out->starts[line] = out->length + 1; /* as if another line followed */
    return true;
}

void wpi_source_file_close(wpi_source_file *file) {
    wpi_free(file->text);
    wpi_free(file->starts);
    *file = (wpi_source_file){0};
}

const char *wpi_source_file_line(const wpi_source_file *file, uint32_t line, size_t *length) {
    *length = 0;
    if (line == 0 || line > file->line_count) return NULL;
    const size_t first = file->starts[line - 1];
    *length = file->starts[line] - 1 - first;
    return file->text + first;
}

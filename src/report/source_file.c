/* SPDX-License-Identifier: Apache-2.0 */
#include "report/source_file.h"

#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"

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
    if (line <= out->line_count) /* the last line has no end: as if another followed */
        out->starts[line] = out->length + 1;
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

char *wpi_source_file_text(const wpi_source_file *file, uint32_t line, size_t columns) {
    size_t length = 0, end = 0;
    const char *text = wpi_source_file_line(file, line, &length);
    for (; length != 0 && (*text == ' ' || *text == '\t'); length--)
        text++;
    while (length != 0 && strchr(" \t\r", text[length - 1]) != NULL)
        length--;
    for (size_t column = 0; end < length; end++) {
        const bool is_first = ((unsigned char)text[end] & 0xc0) != 0x80; /* of a character */
        if (is_first && ++column > columns) break;
    }
    return end != 0 ? wpi_format("%.*s", (int)end, text) : NULL;
}

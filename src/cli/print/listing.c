/* SPDX-License-Identifier: Apache-2.0 */
/* The same cells as text (table_text.c), JSON or CSV. */
#include "cli/print/listing.h"

#include <stdio.h>
#include <string.h>

wp_status wpi_listing_format_parse(const char *name, wpi_listing_format *out, wp_error *err) {
    static const char *const names[WPI_LISTING_FORMAT_COUNT] = {"text", "json", "csv"};
    *out = WPI_LISTING_TEXT;
    if (name == NULL) return WP_STATUS_OK;
    for (int i = 0; i < WPI_LISTING_FORMAT_COUNT; i++) {
        if (strcmp(names[i], name) == 0) {
            *out = (wpi_listing_format)i;
            return WP_STATUS_OK;
        }
    }
    return WP_FAIL(err, INVALID, "unknown format '%s'; the formats are text, json and csv", name);
}

size_t wpi_listing_column_count(const wpi_listing *table) {
    size_t count = 0;
    while (table->columns[count] != NULL)
        count++;
    return count;
}

static void append_csv_field(wpi_text *out, const char *text) {
    if (strpbrk(text, ",\"\r\n") == NULL) {
        wpi_text_append(out, text);
        return;
    }
    wpi_text_append(out, "\"");
    for (const char *c = text; *c != '\0'; c++)
        wpi_text_appendf(out, *c == '"' ? "\"\"" : "%c", *c);
    wpi_text_append(out, "\"");
}

static void to_csv(const wpi_listing *table, size_t columns, wpi_text *out) {
    for (size_t c = 0; c < columns; c++)
        wpi_text_appendf(out, "%s%s", table->columns[c], c + 1 < columns ? "," : "\r\n");
    for (size_t i = 0; i < table->cells.count; i++) {
        append_csv_field(out, table->cells.items[i]);
        wpi_text_append(out, (i + 1) % columns != 0 ? "," : "\r\n");
    }
}

void wpi_listing_json_string(wpi_text *out, const char *text) {
    wpi_text valid = {0};
    wpi_text_append_utf8(&valid, text);
    wpi_text_append(out, "\"");
    for (const char *c = wpi_text_string(&valid); *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            wpi_text_appendf(out, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            wpi_text_appendf(out, "\\u%04x", (unsigned)(unsigned char)*c);
        else
            wpi_text_append_n(out, c, 1);
    }
    wpi_text_append(out, "\"");
    wpi_text_deinit(&valid);
}

static void append_json_value(wpi_text *out, wpi_column_kind kind, const char *cell) {
    if (kind == WP_COLUMN_TEXT)
        wpi_listing_json_string(out, cell);
    else if (cell[0] == '\0')
        wpi_text_append(out, "null");
    else if (kind == WP_COLUMN_FLAG)
        wpi_text_append(out, strcmp(cell, "yes") == 0 ? "true" : "false");
    else
        wpi_text_append(out, cell);
}

static void to_json(const wpi_listing *table, size_t columns, wpi_text *out) {
    wpi_text_append(out, "[");
    for (size_t i = 0; i < table->cells.count; i++) {
        const size_t c = i % columns;
        wpi_text_append(out, c != 0 ? ", " : i != 0 ? ",\n {" : "\n {");
        wpi_listing_json_string(out, table->columns[c]);
        wpi_text_append(out, ": ");
        append_json_value(out, table->kinds != NULL ? table->kinds[c] : WP_COLUMN_TEXT,
                          table->cells.items[i]);
        if (c + 1 == columns) wpi_text_append(out, "}");
    }
    wpi_text_append(out, "\n]\n");
}

void wpi_listing_print(const wpi_listing *table, wpi_listing_format format) {
    const size_t columns = wpi_listing_column_count(table);
    wpi_text text = {0};
    switch (format) {
    case WPI_LISTING_JSON: to_json(table, columns, &text); break;
    case WPI_LISTING_CSV: to_csv(table, columns, &text); break;
    case WPI_LISTING_TEXT:
    case WPI_LISTING_FORMAT_COUNT: wpi_listing_to_text(table, wpi_terminal_width(), &text); break;
    }
    (void)fwrite(wpi_text_string(&text), 1, text.length, stdout);
    wpi_text_deinit(&text);
}

void wpi_listing_deinit(wpi_listing *table) {
    wpi_strings_deinit(&table->cells);
}

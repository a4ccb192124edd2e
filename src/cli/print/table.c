/* SPDX-License-Identifier: Apache-2.0 */
/* The same cells as text (table_text.c), JSON or CSV. */
#include "cli/print/table.h"

#include <stdio.h>
#include <string.h>

wp_status wpi_table_format_parse(const char *name, wp_table_format *out, wp_error *err) {
    static const char *const names[WP_TABLE_FORMAT_COUNT] = {"text", "json", "csv"};
    *out = WP_TABLE_TEXT;
    if (name == NULL) return WP_STATUS_OK;
    for (int i = 0; i < WP_TABLE_FORMAT_COUNT; i++) {
        if (strcmp(names[i], name) == 0) {
            *out = (wp_table_format)i;
            return WP_STATUS_OK;
        }
    }
    return WP_FAIL(err, INVALID, "unknown format '%s'; the formats are text, json and csv", name);
}

size_t wpi_table_column_count(const wp_table *table) {
    size_t count = 0;
    while (table->columns[count] != NULL)
        count++;
    return count;
}

static void append_csv_field(wp_text *out, const char *text) {
    if (strpbrk(text, ",\"\r\n") == NULL) {
        wp_text_append(out, text);
        return;
    }
    wp_text_append(out, "\"");
    for (const char *c = text; *c != '\0'; c++)
        wp_text_appendf(out, *c == '"' ? "\"\"" : "%c", *c);
    wp_text_append(out, "\"");
}

static void to_csv(const wp_table *table, size_t columns, wp_text *out) {
    for (size_t c = 0; c < columns; c++)
        wp_text_appendf(out, "%s%s", table->columns[c], c + 1 < columns ? "," : "\r\n");
    for (size_t i = 0; i < table->cells.count; i++) {
        append_csv_field(out, table->cells.items[i]);
        wp_text_append(out, (i + 1) % columns != 0 ? "," : "\r\n");
    }
}

void wpi_table_json_string(wp_text *out, const char *text) {
    wp_text valid = {0};
    wp_text_append_utf8(&valid, text);
    wp_text_append(out, "\"");
    for (const char *c = wp_text_string(&valid); *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            wp_text_appendf(out, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            wp_text_appendf(out, "\\u%04x", (unsigned)(unsigned char)*c);
        else
            wp_text_append_n(out, c, 1);
    }
    wp_text_append(out, "\"");
    wp_text_deinit(&valid);
}

static void append_json_value(wp_text *out, wp_column_kind kind, const char *cell) {
    if (kind == WP_COLUMN_TEXT)
        wpi_table_json_string(out, cell);
    else if (cell[0] == '\0')
        wp_text_append(out, "null");
    else if (kind == WP_COLUMN_FLAG)
        wp_text_append(out, strcmp(cell, "yes") == 0 ? "true" : "false");
    else
        wp_text_append(out, cell);
}

static void to_json(const wp_table *table, size_t columns, wp_text *out) {
    wp_text_append(out, "[");
    for (size_t i = 0; i < table->cells.count; i++) {
        const size_t c = i % columns;
        wp_text_append(out, c != 0 ? ", " : i != 0 ? ",\n {" : "\n {");
        wpi_table_json_string(out, table->columns[c]);
        wp_text_append(out, ": ");
        append_json_value(out, table->kinds != NULL ? table->kinds[c] : WP_COLUMN_TEXT,
                          table->cells.items[i]);
        if (c + 1 == columns) wp_text_append(out, "}");
    }
    wp_text_append(out, "\n]\n");
}

void wpi_table_print(const wp_table *table, wp_table_format format) {
    const size_t columns = wpi_table_column_count(table);
    wp_text text = {0};
    switch (format) {
    case WP_TABLE_JSON: to_json(table, columns, &text); break;
    case WP_TABLE_CSV: to_csv(table, columns, &text); break;
    case WP_TABLE_TEXT:
    case WP_TABLE_FORMAT_COUNT: wpi_table_to_text(table, wpi_terminal_width(), &text); break;
    }
    (void)fwrite(wp_text_string(&text), 1, text.length, stdout);
    wp_text_deinit(&text);
}

void wpi_table_deinit(wp_table *table) {
    wp_strings_deinit(&table->cells);
}

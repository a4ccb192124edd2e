/* SPDX-License-Identifier: Apache-2.0 */
/* Three ways to print the same cells. */
#include "cli/table.h"

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
    return WP_FAIL(err, INVALID, "format '%s' is none of text, json, csv", name);
}

static size_t column_count(const wp_table *table) {
    size_t count = 0;
    while (table->columns[count] != NULL)
        count++;
    return count;
}

static size_t column_width(const wp_table *table, size_t column, size_t columns) {
    size_t width = strlen(table->columns[column]);
    for (size_t i = column; i < table->cells.count; i += columns) {
        const size_t length = strlen(table->cells.items[i]);
        if (length > width) width = length;
    }
    return width;
}

static void print_text(const wp_table *table, size_t columns) {
    size_t widths[WP_TABLE_COLUMNS_MAX];
    WP_CHECK(columns <= WP_TABLE_COLUMNS_MAX);
    for (size_t c = 0; c < columns; c++)
        widths[c] = c + 1 < columns ? column_width(table, c, columns) : 0;
    for (size_t c = 0; c < columns; c++)
        (void)printf("%-*s%s", (int)widths[c], table->columns[c], c + 1 < columns ? "  " : "\n");
    for (size_t i = 0; i < table->cells.count; i++) {
        const size_t c = i % columns;
        (void)printf("%-*s%s", (int)widths[c], table->cells.items[i],
                     c + 1 < columns ? "  " : "\n");
    }
}

static void print_csv_field(const char *text) {
    if (strpbrk(text, ",\"\r\n") == NULL) {
        (void)fputs(text, stdout);
        return;
    }
    (void)putchar('"');
    for (const char *c = text; *c != '\0'; c++)
        (void)printf(*c == '"' ? "\"\"" : "%c", *c);
    (void)putchar('"');
}

static void print_csv(const wp_table *table, size_t columns) {
    for (size_t c = 0; c < columns; c++)
        (void)printf("%s%s", table->columns[c], c + 1 < columns ? "," : "\r\n");
    for (size_t i = 0; i < table->cells.count; i++) {
        print_csv_field(table->cells.items[i]);
        (void)fputs((i + 1) % columns != 0 ? "," : "\r\n", stdout);
    }
}

static void print_json_string(const char *text) {
    (void)putchar('"');
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            (void)printf("\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            (void)printf("\\u%04x", (unsigned)(unsigned char)*c);
        else
            (void)putchar(*c);
    }
    (void)putchar('"');
}

static void print_json(const wp_table *table, size_t columns) {
    (void)printf("[");
    for (size_t i = 0; i < table->cells.count; i++) {
        const size_t c = i % columns;
        (void)printf("%s", c != 0 ? ", " : i != 0 ? ",\n {" : "\n {");
        print_json_string(table->columns[c]);
        (void)printf(": ");
        print_json_string(table->cells.items[i]);
        if (c + 1 == columns) (void)printf("}");
    }
    (void)printf("\n]\n");
}

void wpi_table_print(const wp_table *table, wp_table_format format) {
    const size_t columns = column_count(table);
    switch (format) {
    case WP_TABLE_JSON: print_json(table, columns); break;
    case WP_TABLE_CSV: print_csv(table, columns); break;
    case WP_TABLE_TEXT:
    case WP_TABLE_FORMAT_COUNT: print_text(table, columns); break;
    }
}

void wpi_table_deinit(wp_table *table) {
    wp_strings_deinit(&table->cells);
}

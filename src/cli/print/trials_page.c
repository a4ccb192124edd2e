/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/trials_page.h"

#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/page.h"

static void append_cell(wp_text *out, const char *tag, const char *text, bool is_text) {
    wp_text_appendf(out, "<%s%s>", tag,
                    !is_text            ? ""
                    : strlen(text) > 40 ? " class=long"
                                        : " class=text");
    wp_text_append_html(out, text);
    wp_text_appendf(out, "</%s>", tag);
}

static void append_table(const wpi_listing *table, size_t text_columns, wp_text *out) {
    const size_t columns = wpi_listing_column_count(table);
    wp_page_begin_table(out, NULL);
    wp_text_append(out, "<tr>");
    for (size_t c = 0; c < columns; c++)
        append_cell(out, "th", table->columns[c], (text_columns >> c & 1) != 0);
    wp_text_append(out, "</tr>\n");
    for (size_t i = 0; i + columns <= table->cells.count; i += columns) {
        const char *mark = table->cells.items[i + columns - 1];
        const bool is_marked = strcmp(mark, "best") == 0 || strcmp(mark, "worst") == 0;
        wp_text_appendf(out, is_marked ? "<tr class=%s>" : "<tr>", mark);
        for (size_t c = 0; c < columns; c++)
            append_cell(out, "td", table->cells.items[i + c], (text_columns >> c & 1) != 0);
        wp_text_append(out, "</tr>\n");
    }
    wp_page_end_table(out);
}

static void append_plot(const wp_trials *t, const wp_trials_page *page, wp_text *out) {
    char *file = wp_format("%s.svg", page->plot), *path = wp_path_join(t->folder, file);
    char *svg = NULL;
    size_t bytes = 0;
    if (wp_file_read(path, &svg, &bytes, NULL) == WP_STATUS_OK)
        wp_page_plot(out, page->plot_title, svg);
    wp_free(svg);
    wp_free(path);
    wp_free(file);
}

wp_status wpi_trials_page_write(const wp_trials *t, const wpi_listing *table,
                                const wp_trials_page *page, wp_error *err) {
    wp_text out = {0};
    char *title = wp_format("%s: %s", t->command, t->program[0]);
    wp_page_begin(&out, title);
    wp_page_command(&out, t->program, (size_t)t->program_count);
    wp_page_begin_facts(&out);
    if (page->device[0] != '\0') wp_page_fact(&out, "device", page->device);
    if (page->settings[0] != '\0') wp_page_fact(&out, "settings", page->settings);
    wp_page_end_facts(&out);
    if (page->verdict[0] != '\0') wp_page_element(&out, "p", page->verdict);
    append_table(table, page->text_columns, &out);
    append_plot(t, page, &out);
    wp_page_end(&out);
    char *path = wp_path_join(t->folder, "index.html");
    const wp_status status = wp_file_write(path, wp_text_string(&out), out.length, err);
    wp_free(path);
    wp_free(title);
    wp_text_deinit(&out);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/trials_page.h"

#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/page.h"

#define COLUMNS_WIDE 9u /* more of them are set closer */

static void append_cell(wpi_text *out, const char *tag, const char *text, bool is_text) {
    wpi_text_appendf(out, "<%s%s>", tag,
                     !is_text            ? ""
                     : strlen(text) > 40 ? " class=long"
                                         : " class=text");
    wpi_text_append_html(out, text);
    wpi_text_appendf(out, "</%s>", tag);
}

static void append_table(const wpi_listing *table, size_t text_columns, wpi_text *out) {
    const size_t columns = wpi_listing_column_count(table);
    wpi_text_append(out, columns > COLUMNS_WIDE ? "<div class=many>\n" : "<div>\n");
    wpi_page_begin_table(out, NULL);
    wpi_text_append(out, "<thead><tr>");
    for (size_t c = 0; c < columns; c++)
        append_cell(out, "th", table->columns[c], (text_columns >> c & 1) != 0);
    wpi_text_append(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i + columns <= table->cells.count; i += columns) {
        const char *mark = table->cells.items[i + columns - 1];
        const bool is_marked = strcmp(mark, "best") == 0 || strcmp(mark, "worst") == 0;
        wpi_text_appendf(out, is_marked ? "<tr class=%s>" : "<tr>", mark);
        for (size_t c = 0; c < columns; c++)
            append_cell(out, "td", table->cells.items[i + c], (text_columns >> c & 1) != 0);
        wpi_text_append(out, "</tr>\n");
    }
    wpi_page_end_table(out);
    wpi_text_append(out, "</div>\n");
}

static void append_plot(const wpi_trials *t, const wpi_trials_page *page, wpi_text *out) {
    char *file = wpi_format("%s.svg", page->plot), *path = wpi_path_join(t->folder, file);
    char *svg = NULL;
    size_t bytes = 0;
    if (wpi_file_read(path, &svg, &bytes, NULL) == WP_STATUS_OK)
        wpi_page_plot(out, page->plot_title, svg);
    wpi_free(svg);
    wpi_free(path);
    wpi_free(file);
}

wp_status wpi_trials_page_write(const wpi_trials *t, const wpi_listing *table,
                                const wpi_trials_page *page, wp_error *err) {
    wpi_text out = {0};
    char *title = wpi_format("%s: %s", t->command, t->program[0]);
    wpi_page_begin(&out, title);
    wpi_page_command(&out, t->program, (size_t)t->program_count);
    wpi_page_begin_facts(&out);
    if (page->device[0] != '\0') wpi_page_fact(&out, "device", page->device);
    if (page->settings[0] != '\0') wpi_page_fact(&out, "settings", page->settings);
    wpi_page_end_facts(&out);
    if (page->verdict[0] != '\0') wpi_page_element(&out, "p", page->verdict);
    append_table(table, page->text_columns, &out);
    if (page->details != NULL)
        wpi_text_append(&out, page->details);
    else
        append_plot(t, page, &out);
    wpi_page_end(&out);
    char *path = wpi_path_join(t->folder, "index.html");
    const wp_status status = wpi_file_write(path, wpi_text_string(&out), out.length, err);
    wpi_free(path);
    wpi_free(title);
    wpi_text_deinit(&out);
    return status;
}

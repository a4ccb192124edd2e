/* SPDX-License-Identifier: Apache-2.0 */
/* The source of kernels, with what each line cost; the warmer a row, the more of the time. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "base/page.h"
#include "report/lines.h"
#include "report/page/page_parts.h"
#include "report/source_file.h"

#define KERNELS_MAX 6u
#define ROWS_MAX 800u    /* of all kernels */
#define CONTEXT_LINES 2u /* that are shown around a line with counts */
#define TEXT_MAX 200     /* bytes of a line */
#define TITLE_MIN 60u    /* bytes of a line that the column may cut */

typedef struct listing {
    wpi_text *out;
    uint32_t used; /* columns, a bit each */
    uint64_t whole_ps;
    size_t rows_left;
    size_t kernel;        /* index */
    uint32_t file_number; /* of the kernel's files */
} listing;

static void append_head(const listing *l, const char *file) {
    wpi_page_begin_wide(l->out, file);
    wpi_text_append(l->out,
                    "<table class=source><thead><tr><th scope=col>line</th><th scope=col "
                    "title=\"of the kernel's warps\">time</th><th scope=col title=\"what took "
                    "most of it\">waits for</th><th scope=col class=text>");
    wpi_text_append_html(l->out, file);
    wpi_text_append(l->out, "</th>");
    for (size_t c = 0; c < wpi_line_column_count; c++)
        if ((l->used >> c & 1u) != 0)
            wpi_text_appendf(l->out, "<th scope=col title=\"%s\">%s</th>", wpi_line_columns[c].doc,
                             wpi_line_columns[c].title);
    wpi_text_append(l->out, "</tr></thead><tbody>\n");
}

static void append_text(const listing *l, const wpi_source_file *source, uint32_t line) {
    size_t length = 0;
    const char *text = wpi_source_file_line(source, line, &length);
    char *copy =
        wpi_format("%.*s", (int)(length < TEXT_MAX ? length : TEXT_MAX), text != NULL ? text : "");
    wpi_text_append(l->out, "<td class=source");
    if (length > TITLE_MIN) {
        wpi_text_append(l->out, " title=\"");
        wpi_text_append_html(l->out, copy);
        wpi_text_append(l->out, "\"");
    }
    wpi_text_append(l->out, ">");
    wpi_text_append_html(l->out, copy);
    wpi_text_append(l->out, "</td>");
    wpi_free(copy);
}

/* A line without counts. */
static void append_context(listing *l, const wpi_source_file *source, uint32_t line) {
    wpi_text_appendf(l->out, "<tr><th scope=row>%" PRIu32 "</th><td colspan=2></td>", line);
    append_text(l, source, line);
    if (l->used != 0) wpi_text_appendf(l->out, "<td colspan=%d></td>", __builtin_popcount(l->used));
    wpi_text_append(l->out, "</tr>\n");
}

static void append_row(listing *l, const wpi_source_file *source, const wpi_source_line *line) {
    char text[32];
    const uint64_t time_ps = wpi_line_time_ps(line->counts);
    const double share = l->whole_ps != 0 ? (double)time_ps / (double)l->whole_ps : 0;
    wpi_text_appendf(l->out,
                     "<tr id=\"k%zu-%" PRIu32 "-%" PRIu32
                     "\" style=\"background:rgb(221 84 51/%.2f)\"><th scope=row>%" PRIu32
                     "</th><td>%.1f %%</td><td>%s</td>",
                     l->kernel, l->file_number, line->line, 0.5 * share, line->line, 100 * share,
                     share >= 0.005 ? wpi_line_cause(line->counts) : "");
    append_text(l, source, line->line);
    for (size_t c = 0; c < wpi_line_column_count; c++) {
        if ((l->used >> c & 1u) == 0) continue;
        wpi_line_columns[c].format(line->counts, text, sizeof text);
        wpi_text_appendf(l->out, "<td>%s</td>", text);
    }
    wpi_text_append(l->out, "</tr>\n");
    l->rows_left--;
}

static void append_file(listing *l, const wpi_source_line *lines, size_t count) {
    wpi_source_file source;
    const bool is_here = wpi_source_file_open(lines[0].file, &source);
    append_head(l, lines[0].file);
    uint32_t shown = 0;
    for (size_t i = 0; i < count && l->rows_left != 0; i++) {
        const uint32_t at = lines[i].line;
        const uint32_t next = i + 1 < count ? lines[i + 1].line : UINT32_MAX;
        uint32_t first = at > CONTEXT_LINES ? at - CONTEXT_LINES : 1;
        if (first <= shown) first = shown + 1;
        for (uint32_t line = first; is_here && line < at; line++)
            append_context(l, &source, line);
        append_row(l, &source, &lines[i]);
        for (shown = at; is_here && shown < at + CONTEXT_LINES && shown + 1 < next; shown++)
            append_context(l, &source, shown + 1);
    }
    wpi_text_append(l->out, "</tbody>");
    wpi_page_end_table(l->out);
    if (!is_here)
        wpi_text_append(l->out, "<p class=note>Its text is not here: run where it was compiled to "
                                "see it.</p>\n");
    wpi_source_file_close(&source);
}

static void append_kernel(listing *l, const wp_run_simulation *s, const wp_run_kernel *kernel) {
    size_t count = 0, first = 0;
    wpi_source_line *lines = wpi_source_lines(s, kernel->name, &count);
    l->whole_ps = 0;
    for (size_t i = 0; i < count; i++)
        l->whole_ps += wpi_line_time_ps(lines[i].counts);
    l->used = wpi_line_columns_used(lines, count);
    wpi_html_kernel_name(l->out, "h3", kernel, 80);
    if (count != 0 && lines[count - 1].line == 0)
        wpi_text_append(l->out, "<p class=note>Its code has no lines: compile it with -lineinfo or "
                                "-g.</p>\n");
    while (first < count && lines[first].line == 0)
        first++;
    for (size_t outer; first < count && l->rows_left != 0; first = outer) {
        for (outer = first + 1; outer < count && strcmp(lines[outer].file, lines[first].file) == 0;)
            outer++;
        append_file(l, &lines[first], outer - first);
        l->file_number++;
    }
    wpi_free(lines);
}

void wpi_html_source(const wp_run_record *record, wpi_text *out) {
    const wp_run_simulation *s = record->simulation;
    listing l = {.out = out, .rows_left = ROWS_MAX};
    if (s->line_count == 0) return;
    wpi_page_begin_fold(out, "Source", NULL, true);
    size_t k = 0;
    for (; k < record->kernel_count && k < KERNELS_MAX && l.rows_left != 0; k++) {
        l.kernel = k;
        l.file_number = 0;
        append_kernel(&l, s, &record->kernels[k]);
    }
    wpi_html_left_out(out, record->kernel_count - k, "warpage run --source, report.json");
    wpi_page_end_fold(out);
}

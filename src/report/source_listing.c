/* SPDX-License-Identifier: Apache-2.0 */
/* The source of kernels with what each line cost, for terminals of 100 columns. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "base/file.h"
#include "base/text.h"
#include "base/time.h"
#include "base/units.h"
#include "report/lines.h"
#include "report/source_file.h"

#define WIDTH 100
#define SOURCE_MIN 36    /* columns; with all counts, rows are wider than WIDTH */
#define CONTEXT_LINES 2u /* that are shown around a line with counts */

/* ---- a row ---- */

static const char *heat(double share) {
    return share >= 0.30 ? "#" : share >= 0.10 ? "*" : share >= 0.03 ? ":" : " ";
}

static void append_titles(uint32_t used, wpi_text *out) {
    wpi_text_appendf(out, "  %5s   %6s %-9s", "line", "time", "waits for");
    for (size_t c = 0; c < wpi_line_column_count; c++)
        if ((used >> c & 1u) != 0)
            wpi_text_appendf(out, " %*s", wpi_line_columns[c].width, wpi_line_columns[c].title);
    wpi_text_append(out, "\n");
}

static void append_counts(const uint64_t *counts, uint64_t whole_ps, uint32_t used, wpi_text *out) {
    char text[32];
    const uint64_t time_ps = wpi_line_time_ps(counts);
    const double share = whole_ps != 0 ? (double)time_ps / (double)whole_ps : 0;
    wpi_text_appendf(out, " %s %5.1f%% %-9s", heat(share), 100 * share,
                     share >= 0.005 ? wpi_line_cause(counts) : "");
    for (size_t c = 0; c < wpi_line_column_count; c++) {
        if ((used >> c & 1u) == 0) continue;
        wpi_line_columns[c].format(counts, text, sizeof text);
        wpi_text_appendf(out, " %*s", wpi_line_columns[c].width, text);
    }
}

/* Ends a row. */
static void end_row(wpi_text *out) {
    while (out->length != 0 && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
    wpi_text_append(out, "\n");
}

static int counts_width(uint32_t used) {
    int width = 20;
    for (size_t c = 0; c < wpi_line_column_count; c++)
        if ((used >> c & 1u) != 0) width += 1 + wpi_line_columns[c].width;
    return width;
}

/* Ends the row with the source's text, cut to what is left of the row. Indentation is halved. */
static void append_source(const wpi_source_file *source, uint32_t line, int left, wpi_text *out) {
    size_t length = 0, i = 0;
    int column = 0;
    const char *text = wpi_source_file_line(source, line, &length);
    while (length != 0 && (text[length - 1] == ' ' || text[length - 1] == '\r'))
        length--;
    for (; i < length && (text[i] == ' ' || text[i] == '\t'); i++)
        column += text[i] == '\t' ? 4 : 1;
    column /= 2;
    if (i < length) wpi_text_appendf(out, "  %*s", column, "");
    for (; i < length && column < left; i++) {
        /* bytes of a character stay together */
        do
            wpi_text_append_n(out, text[i] == '\t' ? " " : &text[i], 1);
        while (i + 1 < length && ((unsigned char)text[i + 1] & 0xc0u) == 0x80 && ++i);
        column++;
    }
    end_row(out);
}

/* ---- a file of a kernel ---- */

static void append_file(const wpi_source_line *lines, size_t count, uint64_t whole_ps,
                        uint32_t used, wpi_text *out) {
    wpi_source_file source;
    const bool is_here = wpi_source_file_open(lines[0].file, &source);
    const int width = counts_width(used),
              left = WIDTH - 9 - width > SOURCE_MIN ? WIDTH - 9 - width : SOURCE_MIN;
    wpi_text_appendf(out, "  %s%s\n", lines[0].file,
                     is_here ? "" : " (not here: run where it was compiled to see its text)");
    uint32_t shown = 0; /* the last line that was shown */
    for (size_t i = 0; i < count; i++) {
        const uint32_t at = lines[i].line;
        const uint32_t next = i + 1 < count ? lines[i + 1].line : UINT32_MAX;
        uint32_t first = at > CONTEXT_LINES ? at - CONTEXT_LINES : 1;
        if (!is_here || first <= shown) first = is_here ? shown + 1 : at;
        if (first > shown + 1 && shown != 0) wpi_text_append(out, "      …\n");
        for (uint32_t line = first; line < at; line++) {
            wpi_text_appendf(out, "  %5" PRIu32 "%*s", line, width, "");
            append_source(&source, line, left, out);
        }
        wpi_text_appendf(out, "  %5" PRIu32, at);
        append_counts(lines[i].counts, whole_ps, used, out);
        append_source(&source, at, left, out);
        shown = at;
        for (uint32_t line = at + 1; is_here && line <= at + CONTEXT_LINES && line < next; line++) {
            size_t length = 0;
            if (wpi_source_file_line(&source, line, &length) == NULL) break;
            wpi_text_appendf(out, "  %5" PRIu32 "%*s", line, width, "");
            append_source(&source, line, left, out);
            shown = line;
        }
    }
    wpi_source_file_close(&source);
}

/* Returns the columns that it has. */
static uint32_t append_kernel(const wp_run_simulation *s, const wp_run_kernel *kernel,
                              wpi_text *out) {
    size_t count = 0;
    char time[32];
    wpi_source_line *lines = wpi_source_lines(s, kernel->name, &count);
    uint64_t whole_ps = 0;
    for (size_t i = 0; i < count; i++)
        whole_ps += wpi_line_time_ps(lines[i].counts);
    const uint32_t used = wpi_line_columns_used(lines, count);
    char *name = wpi_cxx_name_short(kernel->display_name, WIDTH - 30);
    wpi_text_appendf(out, "\n  kernel %s, %s of warps' time\n", name,
                     wpi_format_duration(whole_ps / WP_PS_PER_NS, time));
    wpi_free(name);
    const bool has_lines = count != 0 && lines[count - 1].line != 0;
    if (!has_lines && count != 0)
        wpi_text_append(out, "  its code has no lines: compile it with -lineinfo or -g\n");
    if (has_lines) append_titles(used, out);
    for (size_t first = 0, outer; first < count; first = outer) {
        for (outer = first + 1; outer < count && strcmp(lines[outer].file, lines[first].file) == 0;)
            outer++;
        if (lines[first].line != 0) {
            append_file(&lines[first], outer - first, whole_ps, used, out);
        } else if (has_lines) {
            wpi_text_append(out, "  (no line)");
            append_counts(lines[first].counts, whole_ps, used, out);
            end_row(out);
        }
    }
    wpi_free(lines);
    return used;
}

static void append_key(uint32_t used, wpi_text *out) {
    wpi_text_append(out, "\n  time: of the kernel's warps, with what took most of it\n");
    for (size_t c = 0; c < wpi_line_column_count; c++)
        if ((used >> c & 1u) != 0)
            wpi_text_appendf(out, "  %s: %s\n", wpi_line_columns[c].title, wpi_line_columns[c].doc);
}

char *wp_run_record_to_source(const wp_run_record *record) {
    wpi_text out = {0};
    const wp_run_simulation *s = record->simulation;
    if (s == NULL || s->lines == NULL) {
        wpi_text_append(&out, "\n  no counts by line: they are made on simulated GPUs\n");
        return wpi_text_take(&out);
    }
    uint32_t used = 0;
    for (size_t i = 0; i < record->kernel_count; i++)
        used |= append_kernel(s, &record->kernels[i], &out);
    if (s->line_count != 0) append_key(used, &out);
    wpi_text_append(&out, "\n");
    return wpi_text_take(&out);
}

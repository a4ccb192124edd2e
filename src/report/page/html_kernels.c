/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of a run's page: a row each, then their launches by shape. */
#include <inttypes.h>

#include "base/page.h"
#include "base/units.h"
#include "report/page/html.h"
#include "report/page/page_parts.h"
#include "report/shapes.h"

#define ROWS_MAX 100u       /* kernels */
#define SHAPE_ROWS_MAX 400u /* of all kernels; the longest kernels first */
#define NAME_WIDTH 40u

static uint64_t time_of_all(const wp_run_record *record) {
    uint64_t time_ns = 0;
    for (size_t i = 0; i < record->kernel_count; i++)
        time_ns += record->kernels[i].time_ns;
    return time_ns;
}

/* Cells sort by numbers: "1.20 ms" would sort as text. */
static void append_time(wpi_text *out, const char *class, uint64_t time_ns) {
    char text[32];
    wpi_text_appendf(out, "<td class=\"%s\" data-v=%" PRIu64 ">%s</td>", class, time_ns,
                     wpi_format_duration(time_ns, text));
}

static void append_count(wpi_text *out, const char *class, uint64_t count) {
    wpi_text_appendf(out, "<td class=\"%s\" data-v=%" PRIu64 ">%" PRIu64 "</td>", class, count,
                     count);
}

static void append_row(const wp_run_kernel *k, uint64_t all_ns, wpi_text *out) {
    const double share = all_ns != 0 ? (double)k->time_ns / (double)all_ns : 0;
    wpi_text_append(out, "<tr>");
    wpi_html_kernel_name(out, "th scope=row", k, NAME_WIDTH);
    append_time(out, "n", k->time_ns);
    wpi_text_appendf(out, "<td class=bar data-v=%" PRIu64 ">", k->time_ns);
    if (k->time_ns != all_ns) wpi_page_bar(out, share);
    wpi_text_appendf(out, "<span>%.1f %%</span></td>", 100 * share);
    append_count(out, "n", k->launches);
    append_time(out, "n more", k->launches != 0 ? k->time_ns / k->launches : 0);
    append_time(out, "n more", k->time_min_ns);
    append_time(out, "n more", k->time_max_ns);
    append_count(out, "n more", k->threads);
    wpi_text_append(out, "</tr>\n");
}

void wpi_html_kernels(const wp_run_record *record, wpi_text *out) {
    const uint64_t all_ns = time_of_all(record);
    wpi_text_append(out, "<h2>Kernels</h2>\n");
    if (record->kernel_count == 0) {
        wpi_text_append(out, "<p>No kernel was launched.</p>\n");
        return;
    }
    wpi_page_begin_wide(out, "Kernels");
    wpi_text_append(out, "<table class=\"fit sortable\"><thead><tr><th scope=col>kernel</th>"
                         "<th scope=col aria-sort=descending>time</th><th scope=col>share</th>"
                         "<th scope=col>launches</th>"
                         "<th scope=col class=more>mean</th><th scope=col class=more>shortest</th>"
                         "<th scope=col class=more>longest</th><th scope=col class=more>threads"
                         "</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < record->kernel_count && i < ROWS_MAX; i++)
        append_row(&record->kernels[i], all_ns, out);
    wpi_text_append(out, "</tbody>");
    wpi_page_end_table(out);
    if (record->kernel_count > ROWS_MAX)
        wpi_html_left_out(out, record->kernel_count - ROWS_MAX, "report.csv");
}

/* ---- shapes ---- */

static void append_shape(const wp_run_shape *s, wpi_text *out) {
    char grid[40], block[40];
    wpi_text_append(out, "<tr>");
    if (wpi_shape_is_rest(s)) {
        wpi_html_cell(out, "td", "all others");
        wpi_html_cell(out, "td", "");
    } else {
        wpi_html_cell(out, "td", wpi_shape_dim(s->grid, grid));
        wpi_html_cell(out, "td", wpi_shape_dim(s->block, block));
    }
    wpi_html_number(out, s->launches);
    append_time(out, "n", s->time_ns);
    append_time(out, "n", s->launches != 0 ? s->time_ns / s->launches : 0);
    append_time(out, "n", s->time_min_ns);
    append_time(out, "n", s->time_max_ns);
    wpi_text_append(out, "</tr>\n");
}

void wpi_html_shapes(const wp_run_record *record, wpi_text *out) {
    static const char *const names[] = {"grid", "block",    "launches", "time",
                                        "mean", "shortest", "longest",  NULL};
    size_t left = SHAPE_ROWS_MAX, left_out = 0;
    if (record->kernel_count == 0) return;
    wpi_page_begin_fold(out, "Launches by shape", "full names; grid and block", false);
    for (size_t i = 0; i < record->kernel_count && i < ROWS_MAX; i++) {
        const wp_run_kernel *k = &record->kernels[i];
        const size_t shown = k->shape_count < left ? k->shape_count : left;
        left -= shown;
        left_out += k->shape_count - shown;
        wpi_html_full_name(out, k);
        if (shown == 0) continue;
        wpi_html_begin_heads(out, "Launches by shape", names);
        for (size_t s = 0; s < shown; s++)
            append_shape(&k->shapes[s], out);
        wpi_text_append(out, "</tbody>");
        wpi_page_end_table(out);
    }
    wpi_html_left_out(out, left_out, "report.json");
    wpi_page_end_fold(out);
}

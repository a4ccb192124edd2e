/* SPDX-License-Identifier: Apache-2.0 */
#include "study/cells_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "base/file.h"
#include "base/page.h"
#include "base/units.h"

#define COLUMNS_MAX 8u  /* cells of a table */
#define BARS_MAX 24u    /* cells of a panel */
#define KERNELS_MAX 30u /* rows */
#define LINES_MAX 15u   /* rows */
#define NAME_WIDTH 32u
#define SOURCE_MAX 90u /* bytes */
#define SAME 1.02      /* ratio: no difference */

static void append_left_out(size_t all, size_t most, const char *what, wpi_text *out) {
    if (all > most)
        wpi_text_appendf(out, "<p class=note>… and %zu more %s.</p>\n", all - most, what);
}

/* ---- small multiples ---- */

static uint64_t kernel_ns(const wp_run_record *r) {
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < r->kernel_count; i++)
        sum_ns += r->kernels[i].time_ns;
    return sum_ns;
}

/* A number of a cell, and how it is written. */
typedef struct number {
    const char *title;
    enum { DURATION, COUNT, BYTES } form;
    const char *counters[4]; /* summed; the first NULL: time of kernels */
} number;

static const number numbers[] = {
    {"kernel time", DURATION, {NULL}},
    {"L1 TLB misses", COUNT, {"tlb_l1_misses", "tlb_l1_merges", NULL}},
    {"page walks", COUNT, {"walker_walks", NULL}},
    {"far faults", COUNT, {"paging_far_faults", NULL}},
    {"pages migrated in", COUNT, {"paging_fetched", NULL}},
    {"pages evicted", COUNT, {"paging_evicted", NULL}},
    {"accesses to the host's pages", COUNT, {"paging_remote", NULL}},
    {"L2 misses", COUNT, {"l2_misses", "l2_merges", NULL}},
    {"DRAM traffic", BYTES, {"dram_read_bytes", "dram_written_bytes", NULL}},
    {"link traffic",
     BYTES,
     {"link_to_device_copied_bytes", "link_to_device_remote_bytes", "link_to_host_copied_bytes",
      "link_to_host_remote_bytes"}},
};

static uint64_t value_of(const number *n, const wp_run_record *r) {
    uint64_t sum = 0;
    if (n->counters[0] == NULL) return kernel_ns(r);
    for (size_t i = 0; i < sizeof n->counters / sizeof n->counters[0] && n->counters[i] != NULL;
         i++)
        sum += wp_run_count(r, r->simulation->values, n->counters[i]);
    return sum;
}

static void append_value(const number *n, uint64_t value, wpi_text *out) {
    char text[32];
    switch (n->form) {
    case DURATION: wpi_text_append(out, wpi_format_duration(value, text)); break;
    case BYTES: wpi_text_append(out, wpi_format_bytes(value, text)); break;
    case COUNT: wpi_text_appendf(out, "%" PRIu64, value); break;
    }
}

static void append_bar(const wpi_cell *cell, const number *n, uint64_t value, uint64_t least,
                       uint64_t most, wpi_text *out) {
    wpi_text_append(out, "<tr>");
    wpi_page_element(out, "th scope=row", cell->label);
    wpi_text_appendf(out,
                     "<td class=bar><svg class=bar viewBox=\"0 0 100 1\" preserveAspectRatio=none "
                     "aria-hidden=true><rect%s width=\"%.4g\" height=1 /></svg></td><td class=n>",
                     value == least ? " class=least" : "", 100 * (double)value / (double)most);
    append_value(n, value, out);
    wpi_text_append(out, "</td></tr>\n");
}

static void append_panel(const wpi_cell *cells, size_t count, const number *n, wpi_text *out) {
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t value = value_of(n, cells[i].record);
        if (value < least) least = value;
        if (value > most) most = value;
    }
    if ((double)most <= SAME * (double)least) return;
    wpi_text_append(out, "<figure>");
    wpi_page_element(out, "figcaption", n->title);
    wpi_text_append(out, "<table>");
    for (size_t i = 0; i < count && i < BARS_MAX; i++)
        append_bar(&cells[i], n, value_of(n, cells[i].record), least, most, out);
    wpi_text_append(out, "</table></figure>\n");
}

static void append_multiples(const wpi_cell *cells, size_t count, wpi_text *out) {
    wpi_text_append(out, "<h2>What differs</h2>\n<div class=multiples>\n");
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        append_panel(cells, count, &numbers[i], out);
    wpi_text_append(
        out, "</div>\n<p class=note>Green: the least. Numbers within 2 % in all cells have no "
             "panel.</p>\n");
    append_left_out(count, BARS_MAX, "cells, in the table", out);
}

/* ---- rows with a time for each cell ---- */

typedef struct row {
    const char *kernel; /* mangled */
    const char *name;   /* displayed */
    const char *file;   /* of a line */
    uint32_t line;
    uint64_t times[COLUMNS_MAX]; /* ns of a kernel, ps of a line's warps */
    uint64_t causes[WP_RUN_LINE_COUNTS - WP_RUN_LINE_TIMES]; /* ps, of all cells */
} row;

typedef struct rows {
    row *items;
    size_t count, capacity;
} rows;

static row *find_row(rows *all, const char *kernel, const char *file, uint32_t line) {
    for (size_t i = 0; i < all->count; i++) {
        row *r = &all->items[i];
        if (r->line == line && strcmp(r->kernel, kernel) == 0 && strcmp(r->file, file) == 0)
            return r;
    }
    if (all->count == all->capacity) {
        all->capacity = all->capacity == 0 ? 64 : 2 * all->capacity;
        all->items = wpi_realloc(all->items, all->capacity * sizeof *all->items);
        WP_CHECK(all->items != NULL);
    }
    all->items[all->count] = (row){.kernel = kernel, .name = kernel, .file = file, .line = line};
    return &all->items[all->count++];
}

static void find_range(const row *r, size_t columns, uint64_t *least, uint64_t *most) {
    *least = UINT64_MAX;
    *most = 0;
    for (size_t c = 0; c < columns; c++) {
        if (r->times[c] < *least) *least = r->times[c];
        if (r->times[c] > *most) *most = r->times[c];
    }
}

static uint64_t longest_of(const row *r) {
    uint64_t least, most;
    find_range(r, COLUMNS_MAX, &least, &most);
    return most;
}

static int by_time(const void *a, const void *b) {
    const uint64_t x = longest_of(a), y = longest_of(b);
    return x < y ? 1 : x > y ? -1 : strcmp(((const row *)a)->kernel, ((const row *)b)->kernel);
}

/* Unused columns repeat the first one, so that they make no difference. */
static uint64_t difference_of(const row *r) {
    uint64_t least, most;
    find_range(r, COLUMNS_MAX, &least, &most);
    return most - least;
}

static int by_difference(const void *a, const void *b) {
    const row *r = a, *s = b;
    const uint64_t x = difference_of(r), y = difference_of(s);
    return x < y ? 1 : x > y ? -1 : r->line < s->line ? -1 : r->line > s->line ? 1 : 0;
}

static void append_head(const wpi_cell *cells, size_t columns, const char *label, const char *first,
                        wpi_text *out) {
    wpi_page_begin_wide(out, label);
    wpi_text_append(out, "<table class=cells><thead><tr>");
    wpi_page_element(out, "th scope=col", first);
    for (size_t c = 0; c < columns; c++)
        wpi_page_element(out, "th scope=col", cells[c].label);
}

/* Times, and how many times the least each is. */
static void append_times(const row *r, size_t columns, uint64_t per_ns, wpi_text *out) {
    uint64_t least, most;
    char text[32];
    find_range(r, columns, &least, &most);
    for (size_t c = 0; c < columns; c++) {
        const double ratio = least != 0 ? (double)r->times[c] / (double)least : 0;
        const bool differs = (double)most > SAME * (double)least;
        wpi_text_appendf(out, "<td class=\"n%s\">%s",
                         !differs               ? ""
                         : r->times[c] == least ? " least"
                         : r->times[c] == most  ? " most"
                                                : "",
                         wpi_format_duration(r->times[c] / per_ns, text));
        if (ratio > SAME) wpi_text_appendf(out, " <small>×%.2f</small>", ratio);
        wpi_text_append(out, "</td>");
    }
}

static void append_kernels(const wpi_cell *cells, size_t columns, wpi_text *out) {
    rows all = {0};
    for (size_t c = 0; c < columns; c++)
        for (size_t k = 0; k < cells[c].record->kernel_count; k++) {
            const wp_run_kernel *kernel = &cells[c].record->kernels[k];
            row *r = find_row(&all, kernel->name, "", 0);
            r->name = kernel->display_name;
            r->times[c] = kernel->time_ns;
        }
    if (all.count != 0) qsort(all.items, all.count, sizeof *all.items, by_time);
    wpi_text_append(out, "<h2>Time by kernel</h2>\n");
    append_head(cells, columns, "Time by kernel", "kernel", out);
    wpi_text_append(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < all.count && i < KERNELS_MAX; i++) {
        char *name = wpi_cxx_name_short(all.items[i].name, NAME_WIDTH);
        wpi_text_append(out, "<tr>");
        wpi_page_element(out, "th scope=row class=name", name);
        append_times(&all.items[i], columns, 1, out);
        wpi_text_append(out, "</tr>\n");
        wpi_free(name);
    }
    wpi_text_append(out, "</tbody>");
    wpi_page_end_table(out);
    append_left_out(all.count, KERNELS_MAX, "kernels", out);
    wpi_free(all.items);
}

/* ---- lines ---- */

static void add_line(rows *all, const wp_run_line *line, size_t column) {
    row *r = find_row(all, line->kernel, line->file, line->line);
    for (size_t what = WP_RUN_LINE_TIMES; what < WP_RUN_LINE_COUNTS; what++) {
        r->times[column] += line->counts[what];
        r->causes[what - WP_RUN_LINE_TIMES] += line->counts[what];
    }
}

/* "translation", of "translation_ps" */
static void append_cause(const row *r, wpi_text *out) {
    size_t most = 0;
    for (size_t i = 0; i < WP_RUN_LINE_COUNTS - WP_RUN_LINE_TIMES; i++)
        if (r->causes[i] > r->causes[most]) most = i;
    const char *name = wp_run_line_count_name((wp_run_line_count)(WP_RUN_LINE_TIMES + most));
    wpi_text_append(out, "<td class=text>");
    for (; *name != '\0' && strcmp(name, "_ps") != 0; name++)
        wpi_text_appendf(out, "%c", *name == '_' ? ' ' : *name);
    wpi_text_append(out, "</td>");
}

static void append_source(const row *r, wpi_text *out) {
    char *text = NULL;
    size_t bytes = 0;
    wpi_text_append(out, "<td class=source>");
    if (wpi_file_read(r->file, &text, &bytes, NULL) == WP_STATUS_OK) {
        const char *at = text;
        for (uint32_t line = 1; line < r->line && at != NULL; line++) {
            at = strchr(at, '\n');
            if (at != NULL) at++;
        }
        if (at != NULL) {
            at += strspn(at, " \t");
            const size_t length = strcspn(at, "\r\n");
            char *cut = wpi_format("%.*s", (int)(length < SOURCE_MAX ? length : SOURCE_MAX), at);
            wpi_text_append_html(out, cut);
            wpi_free(cut);
        }
    }
    wpi_text_append(out, "</td>");
    wpi_free(text);
}

static void append_line(const row *r, size_t columns, wpi_text *out) {
    const char *slash = strrchr(r->file, '/');
    char *place = wpi_format("%s:%" PRIu32, slash != NULL ? slash + 1 : r->file, r->line);
    wpi_text_append(out, "<tr>");
    wpi_page_element(out, "th scope=row class=name", place);
    append_times(r, columns, 1000, out);
    append_cause(r, out);
    append_source(r, out);
    wpi_text_append(out, "</tr>\n");
    wpi_free(place);
}

static void append_lines(const wpi_cell *cells, size_t columns, wpi_text *out) {
    rows all = {0};
    for (size_t c = 0; c < columns; c++) {
        const wp_run_simulation *s = cells[c].record->simulation;
        for (size_t i = 0; i < s->line_count; i++)
            if (s->lines[i].line != 0) add_line(&all, &s->lines[i], c);
    }
    for (size_t i = 0; i < all.count; i++)
        for (size_t c = columns; c < COLUMNS_MAX; c++)
            all.items[i].times[c] = all.items[i].times[0];
    if (all.count != 0) {
        qsort(all.items, all.count, sizeof *all.items, by_difference);
        wpi_text_append(out, "<h2>Time of warps by line</h2>\n");
        append_head(cells, columns, "Time of warps by line", "line", out);
        wpi_text_append(out, "<th scope=col class=text>most of it</th><th scope=col class=text>"
                             "source</th></tr></thead><tbody>\n");
        for (size_t i = 0; i < all.count && i < LINES_MAX; i++)
            append_line(&all.items[i], columns, out);
        wpi_text_append(out, "</tbody>");
        wpi_page_end_table(out);
        wpi_text_append(out, "<p class=note>The lines whose time differs most.</p>\n");
    }
    wpi_free(all.items);
}

void wpi_cells_html(const wpi_cell *cells, size_t count, wpi_text *out) {
    const size_t columns = count < COLUMNS_MAX ? count : COLUMNS_MAX;
    if (count < 2) return;
    append_multiples(cells, count, out);
    append_kernels(cells, columns, out);
    append_lines(cells, columns, out);
    append_left_out(count, COLUMNS_MAX, "cells: these tables have the first ones", out);
}

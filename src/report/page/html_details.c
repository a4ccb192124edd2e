/* SPDX-License-Identifier: Apache-2.0 */
/* Sections of a run's page that fold: numbers to look up. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/page.h"
#include "base/units.h"
#include "report/metrics.h"
#include "report/moves.h"
#include "report/page/html.h"
#include "report/page/page_parts.h"
#include "report/run_record.h"

#define COLUMNS_MAX 12u      /* kernels side by side */
#define HEAD_WIDTH 20u       /* of a kernel's name above its column */
#define ALLOCATIONS_MAX 100u /* rows */

void wpi_html_copies(const wp_run_record *record, wpi_text *out) {
    static const char *const names[] = {"copies", "time", "count", "bytes", NULL};
    char text[32];
    bool has_table = false;
    for (int kind = 0; kind < WP_COPY_KIND_COUNT; kind++) {
        const wp_run_copies *c = &record->copies[kind];
        if (c->count == 0) continue;
        if (!has_table) {
            wpi_page_begin_fold(out, "Copies", NULL, false);
            wpi_html_begin_heads(out, "Copies", names);
        }
        has_table = true;
        wpi_text_append(out, "<tr>");
        wpi_html_cell(out, "td", wp_copy_kind_name((wp_copy_kind)kind));
        wpi_html_cell(out, "td", wpi_format_duration(c->time_ns, text));
        wpi_html_number(out, c->count);
        wpi_html_cell(out, "td", wpi_format_bytes(c->bytes, text));
        wpi_text_append(out, "</tr>\n");
    }
    if (!has_table) return;
    wpi_text_append(out, "</tbody>");
    wpi_page_end_table(out);
    wpi_page_end_fold(out);
}

/* ---- what simulated GPUs count --------------------------------------------------------------- */

typedef struct wanted {
    const char *name;
    const char *unit;
    wpi_text *out;
    bool is_found;
} wanted;

static void append_if_wanted(void *object, const wpi_metric *metric) {
    wanted *w = object;
    char text[32];
    if (strcmp(metric->name, w->name) != 0) return;
    w->is_found = true;
    wpi_html_cell(w->out, "td", wpi_metric_format(metric, text));
}

typedef struct page {
    const wp_run_record *record;
    wpi_text *out;
    const char *group; /* of the metric before */
} page;

static size_t columns_of(const wp_run_record *record) {
    size_t count = 0;
    for (size_t i = 0; i < record->kernel_count && i < COLUMNS_MAX; i++)
        count += record->kernels[i].values != NULL;
    return count;
}

static void append_metric_of(const page *p, const char *name, const uint64_t *values,
                             uint64_t time_ps) {
    wanted w = {.name = name, .out = p->out};
    wpi_metrics_visit(p->record->simulation, values, time_ps, append_if_wanted, &w);
    if (!w.is_found) wpi_text_append(p->out, "<td></td>");
}

/* A row over the run and its kernels. */
static void append_metric(void *object, const wpi_metric *metric) {
    page *p = object;
    const wp_run_simulation *s = p->record->simulation;
    if (p->group != metric->group)
        wpi_text_appendf(p->out, "<tr><th class=group colspan=%zu>%s</th></tr>\n",
                         2 + columns_of(p->record), metric->group);
    p->group = metric->group;
    wpi_text_append(p->out, "<tr><td title=\"");
    wpi_text_append_html(p->out, metric->doc);
    wpi_text_append(p->out, "\">");
    wpi_text_append_html(p->out, metric->label);
    wpi_text_append(p->out, "</td>");
    append_metric_of(p, metric->name, s->values, s->counted_ps);
    for (size_t i = 0; i < p->record->kernel_count && i < COLUMNS_MAX; i++) {
        const wp_run_kernel *k = &p->record->kernels[i];
        if (k->values != NULL)
            append_metric_of(p, metric->name, k->values,
                             wp_run_count(p->record, k->values, "kernel_time_ps"));
    }
    wpi_text_append(p->out, "</tr>\n");
}

static void append_heads(const wp_run_record *record, const char *title, wpi_text *out) {
    wpi_page_begin_wide(out, title);
    wpi_text_append(out, "<table><thead><tr>");
    wpi_html_cell(out, "th scope=col", title);
    wpi_html_cell(out, "th scope=col", "run");
    for (size_t i = 0; i < record->kernel_count && i < COLUMNS_MAX; i++)
        if (record->kernels[i].values != NULL)
            wpi_html_kernel_name(out, "th scope=col", &record->kernels[i], HEAD_WIDTH);
    wpi_text_append(out, "</tr></thead><tbody>\n");
}

void wpi_html_counters(const wp_run_record *record, wpi_text *out) {
    const wp_run_simulation *s = record->simulation;
    wpi_page_begin_fold(out, "All counters", NULL, false);
    append_heads(record, "counter", out);
    for (size_t c = 0; c < s->column_count; c++) {
        wpi_text_append(out, "<tr>");
        wpi_html_cell(out, "td", s->columns[c].name);
        wpi_html_number(out, s->values[s->columns[c].first]);
        for (size_t i = 0; i < record->kernel_count && i < COLUMNS_MAX; i++)
            if (record->kernels[i].values != NULL)
                wpi_html_number(out, record->kernels[i].values[s->columns[c].first]);
        wpi_text_append(out, "</tr>\n");
    }
    wpi_text_append(out, "</tbody>");
    wpi_page_end_table(out);
    wpi_page_end_fold(out);
}

static void append_touches(const wp_run_touches *t, wpi_text *out) {
    wpi_html_number(out, t->reads);
    wpi_html_number(out, t->writes);
    wpi_html_number(out, t->tlb_misses);
    wpi_html_number(out, t->walks);
}

void wpi_html_allocations(const wp_run_simulation *s, wpi_text *out) {
    static const char *const names[] = {"allocation",   "kind",   "times",         "bytes",
                                        "reads",        "writes", "L1 TLB misses", "page walks",
                                        "allocated by", NULL};
    char text[32];
    if (s->allocation_count == 0) return;
    wpi_page_begin_fold(out, "Allocations", "most accesses first", false);
    wpi_html_begin_heads(out, "Allocations", names);
    for (size_t i = 0; i < s->allocation_count && i < ALLOCATIONS_MAX; i++) {
        const wp_run_allocation *a = &s->allocations[i];
        wpi_text_append(out, "<tr>");
        wpi_html_cell(out, "td", a->name[0] != '\0' ? a->name : "(unnamed)");
        wpi_html_cell(out, "td", a->kind);
        wpi_html_number(out, a->count);
        wpi_html_cell(out, "td", a->bytes != 0 ? wpi_format_bytes(a->bytes, text) : "");
        append_touches(&a->touches, out);
        wpi_html_cell(out, "td class=site", a->site);
        wpi_text_append(out, "</tr>\n");
    }
    wpi_text_append(out, "</tbody>");
    wpi_page_end_table(out);
    if (s->allocation_count > ALLOCATIONS_MAX)
        wpi_html_left_out(out, s->allocation_count - ALLOCATIONS_MAX, "report.json");
    wpi_page_end_fold(out);
}

void wpi_html_moves(const wp_run_simulation *s, wpi_text *out) {
    const char *names[WPI_MOVES_COLUMNS + 4] = {"allocation", "times", "bytes"};
    char text[32];
    size_t count;
    size_t *order = wpi_moves_order(s, &count);
    for (size_t c = 0; c < WPI_MOVES_COLUMNS; c++)
        names[3 + c] = wpi_moves_columns[c].title;
    if (count != 0) {
        wpi_page_begin_fold(out, "Managed memory", "pages by allocation", false);
        wpi_html_begin_heads(out, "Pages of managed memory, by allocation", names);
    }
    for (size_t i = 0; i < count && i < ALLOCATIONS_MAX; i++) {
        const wp_run_allocation *a = &s->allocations[order[i]];
        wpi_text_append(out, "<tr>");
        wpi_html_cell(out, "td", a->name[0] != '\0' ? a->name : "(unnamed)");
        wpi_html_number(out, a->count);
        wpi_html_cell(out, "td", wpi_format_bytes(a->bytes, text));
        for (size_t c = 0; c < WPI_MOVES_COLUMNS; c++)
            wpi_html_number(out, wpi_moves_in(&wpi_moves_columns[c], a));
        wpi_text_append(out, "</tr>\n");
    }
    if (count != 0) {
        wpi_text_append(out, "</tbody>");
        wpi_page_end_table(out);
        if (count > ALLOCATIONS_MAX) wpi_html_left_out(out, count - ALLOCATIONS_MAX, "report.json");
        wpi_page_end_fold(out);
    }
    wpi_free(order);
}

void wpi_html_hot_pages(const wp_run_simulation *s, wpi_text *out) {
    static const char *const names[] = {"page of",       "offset",     "reads", "writes",
                                        "L1 TLB misses", "page walks", NULL};
    char text[32];
    if (s->page_count == 0) return;
    wpi_page_begin_fold(out, "Hottest pages", NULL, false);
    wpi_html_begin_heads(out, "Hottest pages", names);
    for (size_t i = 0; i < s->page_count; i++) {
        const wp_run_page *p = &s->pages[i];
        if (p->allocation >= s->allocation_count) continue;
        wpi_text_append(out, "<tr>");
        wpi_html_cell(out, "td", s->allocations[p->allocation].name);
        wpi_html_cell(out, "td", wpi_format_bytes(p->offset_bytes, text));
        append_touches(&p->touches, out);
        wpi_text_append(out, "</tr>\n");
    }
    wpi_text_append(out, "</tbody>");
    wpi_page_end_table(out);
    wpi_page_end_fold(out);
}

void wpi_html_plots(const wpi_plots *plots, wpi_text *out) {
    for (size_t i = 0; i < plots->count; i++) {
        /* html_speed.c has these */
        if (strcmp(plots->items[i].name, "utilisation") == 0) continue;
        wpi_page_begin_fold(out, plots->items[i].title, NULL, false);
        wpi_page_drawing(out, plots->items[i].title, plots->items[i].svg);
        wpi_page_end_fold(out);
    }
    if (plots->why_not[0] == '\0') return;
    wpi_page_element(out, "p class=note", plots->why_not);
    wpi_text_append(out, "\n");
}

void wpi_html_metrics(const wp_run_record *record, wpi_text *out) {
    const wp_run_simulation *s = record->simulation;
    page p = {record, out, NULL};
    wpi_page_begin_fold(out, "Metrics", "ratios and rates", false);
    append_heads(record, "metric", out);
    wpi_metrics_visit(s, s->values, s->counted_ps, append_metric, &p);
    wpi_text_append(out, "</tbody>");
    wpi_page_end_table(out);
    wpi_page_end_fold(out);
}

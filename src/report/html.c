/* SPDX-License-Identifier: Apache-2.0 */
/* The record as a self-contained page: tables, and plots as inline SVG. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "base/page.h"
#include "base/time.h"
#include "base/units.h"
#include "report/cached.h"
#include "report/host_facts.h"
#include "report/html.h"
#include "report/metrics.h"
#include "report/moves.h"
#include "report/plots.h"
#include "report/run_record.h"
#include "report/simulation.h"
#include "report/streamed.h"

#define COLUMNS_MAX 12u /* kernels side by side */
#define NAME_WIDTH 40u  /* of a kernel in its row */
#define HEAD_WIDTH 20u  /* … above its column */

static void append_cell(wpi_text *out, const char *tag, const char *text) {
    wpi_page_element(out, tag, text);
}

static void append_number(wpi_text *out, uint64_t number) {
    wpi_text_appendf(out, "<td>%" PRIu64 "</td>", number);
}

/* A kernel's short name, with the full one as a tooltip. */
static void append_kernel_cell(wpi_text *out, const char *tag, const wp_run_kernel *k,
                               size_t columns) {
    char *name = wpi_cxx_name_short(k->display_name, columns);
    wpi_text_appendf(out, "<%s class=name title=\"", tag);
    wpi_text_append_html(out, k->display_name);
    wpi_text_append(out, "\">");
    wpi_text_append_html(out, name);
    wpi_text_appendf(out, "</%s>", tag);
    wpi_free(name);
}

static void begin_table(wpi_text *out, const char *title, const char *const *names) {
    wpi_page_begin_table(out, title);
    wpi_text_append(out, "<tr>");
    for (; *names != NULL; names++)
        append_cell(out, "th", *names);
    wpi_text_append(out, "</tr>\n");
}

/* ---- of every device ------------------------------------------------------------------------- */

static void append_summary(const wp_run_record *record, wpi_text *out) {
    char text[32];
    wpi_page_command(out, record->program, record->program_count);
    wpi_page_begin_facts(out);
    wpi_page_fact(out, record->device_spec, record->device_name);
    if (record->simulation != NULL)
        wpi_page_fact(out, "simulated time",
                      wpi_format_duration(record->simulation->time_ps / WP_PS_PER_NS, text));
    if (record->wall_time_ns != 0)
        wpi_page_fact(out, "wall time", wpi_format_duration(record->wall_time_ns, text));
    wpi_page_fact(out, "device memory, peak", wpi_format_bytes(record->memory_peak_bytes, text));
    if (record->has_exit_status) {
        (void)snprintf(text, sizeof text, "%d", record->exit_status);
        wpi_page_fact(out, "exit status", text);
    }
    for (size_t i = 0; i < record->policy_file_count; i++) {
        char *file = wpi_format("%s (hash %016" PRIx64 ")", record->policy_files[i].path,
                                record->policy_files[i].hash);
        wpi_page_fact(out, "policy file", file);
        wpi_free(file);
    }
    wpi_page_end_facts(out);
}

static void append_kernels(const wp_run_record *record, wpi_text *out) {
    static const char *const names[] = {"kernel",  "time",     "mean",    "shortest",
                                        "longest", "launches", "threads", NULL};
    char text[32];
    if (record->kernel_count == 0) return;
    begin_table(out, "Kernels", names);
    for (size_t i = 0; i < record->kernel_count; i++) {
        const wp_run_kernel *k = &record->kernels[i];
        const uint64_t times_ns[] = {k->time_ns, k->launches != 0 ? k->time_ns / k->launches : 0,
                                     k->time_min_ns, k->time_max_ns};
        wpi_text_append(out, "<tr>");
        append_kernel_cell(out, "td", k, NAME_WIDTH);
        for (size_t t = 0; t < sizeof times_ns / sizeof times_ns[0]; t++)
            append_cell(out, "td", wpi_format_duration(times_ns[t], text));
        append_number(out, k->launches);
        append_number(out, k->threads);
        wpi_text_append(out, "</tr>\n");
    }
    wpi_page_end_table(out);
}

static void append_copies(const wp_run_record *record, wpi_text *out) {
    static const char *const names[] = {"copies", "time", "count", "bytes", NULL};
    char text[32];
    bool has_table = false;
    for (int kind = 0; kind < WP_COPY_KIND_COUNT; kind++) {
        const wp_run_copies *c = &record->copies[kind];
        if (c->count == 0) continue;
        if (!has_table) begin_table(out, "Copies", names);
        has_table = true;
        wpi_text_append(out, "<tr>");
        append_cell(out, "td", wp_copy_kind_name((wp_copy_kind)kind));
        append_cell(out, "td", wpi_format_duration(c->time_ns, text));
        append_number(out, c->count);
        append_cell(out, "td", wpi_format_bytes(c->bytes, text));
        wpi_text_append(out, "</tr>\n");
    }
    if (has_table) wpi_page_end_table(out);
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
    append_cell(w->out, "td", wpi_metric_format(metric, text));
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
    wpi_page_begin_table(out, NULL);
    wpi_text_append(out, "<tr>");
    append_cell(out, "th", title);
    append_cell(out, "th", "run");
    for (size_t i = 0; i < record->kernel_count && i < COLUMNS_MAX; i++)
        if (record->kernels[i].values != NULL)
            append_kernel_cell(out, "th", &record->kernels[i], HEAD_WIDTH);
    wpi_text_append(out, "</tr>\n");
}

static void append_counters(const wp_run_record *record, wpi_text *out) {
    const wp_run_simulation *s = record->simulation;
    wpi_text_append(out, "<details><summary>All counters</summary>\n");
    append_heads(record, "counter", out);
    for (size_t c = 0; c < s->column_count; c++) {
        wpi_text_append(out, "<tr>");
        append_cell(out, "td", s->columns[c].name);
        append_number(out, s->values[s->columns[c].first]);
        for (size_t i = 0; i < record->kernel_count && i < COLUMNS_MAX; i++)
            if (record->kernels[i].values != NULL)
                append_number(out, record->kernels[i].values[s->columns[c].first]);
        wpi_text_append(out, "</tr>\n");
    }
    wpi_page_end_table(out);
    wpi_text_append(out, "</details>\n");
}

static void append_touches(const wp_run_touches *t, wpi_text *out) {
    append_number(out, t->reads);
    append_number(out, t->writes);
    append_number(out, t->tlb_misses);
    append_number(out, t->walks);
}

static void append_allocations(const wp_run_simulation *s, wpi_text *out) {
    static const char *const names[] = {"allocation",   "kind",   "times",         "bytes",
                                        "reads",        "writes", "L1 TLB misses", "page walks",
                                        "allocated by", NULL};
    char text[32];
    if (s->allocation_count == 0) return;
    begin_table(out, "Allocations, most accesses first", names);
    for (size_t i = 0; i < s->allocation_count; i++) {
        const wp_run_allocation *a = &s->allocations[i];
        wpi_text_append(out, "<tr>");
        append_cell(out, "td", a->name[0] != '\0' ? a->name : "(unnamed)");
        append_cell(out, "td", a->kind);
        append_number(out, a->count);
        append_cell(out, "td", a->bytes != 0 ? wpi_format_bytes(a->bytes, text) : "");
        append_touches(&a->touches, out);
        append_cell(out, "td", a->site);
        wpi_text_append(out, "</tr>\n");
    }
    wpi_page_end_table(out);
}

void wpi_html_moves(const wp_run_simulation *s, wpi_text *out) {
    const char *names[WPI_MOVES_COLUMNS + 4] = {"allocation", "times", "bytes"};
    char text[32];
    size_t count;
    size_t *order = wpi_moves_order(s, &count);
    for (size_t c = 0; c < WPI_MOVES_COLUMNS; c++)
        names[3 + c] = wpi_moves_columns[c].title;
    if (count != 0) begin_table(out, "Pages of managed memory, by allocation", names);
    for (size_t i = 0; i < count; i++) {
        const wp_run_allocation *a = &s->allocations[order[i]];
        wpi_text_append(out, "<tr>");
        append_cell(out, "td", a->name[0] != '\0' ? a->name : "(unnamed)");
        append_number(out, a->count);
        append_cell(out, "td", wpi_format_bytes(a->bytes, text));
        for (size_t c = 0; c < WPI_MOVES_COLUMNS; c++)
            append_number(out, wpi_moves_in(&wpi_moves_columns[c], a));
        wpi_text_append(out, "</tr>\n");
    }
    if (count != 0) wpi_page_end_table(out);
    wpi_free(order);
}

static void append_pages(const wp_run_simulation *s, wpi_text *out) {
    static const char *const names[] = {"page of",       "offset",     "reads", "writes",
                                        "L1 TLB misses", "page walks", NULL};
    char text[32];
    if (s->page_count == 0) return;
    begin_table(out, "Hottest pages", names);
    for (size_t i = 0; i < s->page_count; i++) {
        const wp_run_page *p = &s->pages[i];
        if (p->allocation >= s->allocation_count) continue;
        wpi_text_append(out, "<tr>");
        append_cell(out, "td", s->allocations[p->allocation].name);
        append_cell(out, "td", wpi_format_bytes(p->offset_bytes, text));
        append_touches(&p->touches, out);
        wpi_text_append(out, "</tr>\n");
    }
    wpi_page_end_table(out);
}

static void append_plots(const wpi_plots *plots, wpi_text *out) {
    for (size_t i = 0; i < plots->count; i++)
        wpi_page_plot(out, plots->items[i].title, plots->items[i].svg);
    if (plots->why_not[0] == '\0') return;
    wpi_page_element(out, "p class=note", plots->why_not);
    wpi_text_append(out, "\n");
}

static void append_simulation(const wp_run_record *record, const wpi_plots *plots, wpi_text *out) {
    const wp_run_simulation *s = record->simulation;
    page p = {record, out, NULL};
    append_plots(plots, out);
    wpi_text_append(out, "<h2>Metrics</h2>\n");
    append_heads(record, "metric", out);
    wpi_metrics_visit(s, s->values, s->counted_ps, append_metric, &p);
    wpi_page_end_table(out);
    append_allocations(s, out);
    wpi_html_moves(s, out);
    append_pages(s, out);
    append_counters(record, out);
}

void wpi_html_begin(const wp_run_record *record, wpi_text *out) {
    wpi_page_begin(out, record->program_count != 0 ? record->program[0] : "run");
    append_summary(record, out);
}

void wpi_html_end(const wp_run_record *record, wpi_text *out) {
    wpi_text_append(out, "<p class=note>Warpage ");
    wpi_text_append_html(out, record->version);
    wpi_text_append(out, "</p>\n");
    wpi_page_end(out);
}

void wpi_run_record_html_with(const wp_run_record *record, const wpi_plots *plots, wpi_text *out) {
    wpi_html_begin(record, out);
    append_kernels(record, out);
    append_copies(record, out);
    wpi_streamed_html(record, out);
    wpi_host_facts_html(record, out);
    wpi_cached_html(record, out);
    if (record->simulation != NULL) append_simulation(record, plots, out);
    wpi_html_end(record, out);
}

void wpi_run_record_html(const wp_run_record *record, wpi_text *out) {
    wpi_plots plots;
    wpi_plots_make(record, &plots);
    wpi_run_record_html_with(record, &plots, out);
    wpi_plots_deinit(&plots);
}

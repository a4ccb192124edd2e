/* SPDX-License-Identifier: Apache-2.0 */
/* The record as one page that needs nothing else: tables, and plots as inline SVG. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/time.h"
#include "base/units.h"
#include "report/html.h"
#include "report/metrics.h"
#include "report/moves.h"
#include "report/plots.h"
#include "report/run_record.h"
#include "report/simulation.h"

#define COLUMNS_MAX 12u /* kernels side by side */

static const char style[] =
    "body{font:15px/1.45 system-ui,sans-serif;max-width:1000px;margin:2em auto;padding:0 1em;"
    "color:#222}h1{font-size:1.4em}h2{font-size:1.1em;margin:1.8em 0 .4em}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "td,th{padding:.15em .7em;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}"
    "td:first-child,th:first-child{text-align:left}th{background:#f4f4f4;font-weight:600}"
    ".wide{overflow-x:auto}svg{width:100%;height:auto}image{image-rendering:pixelated}.note{color:#"
    "666}";

static void append_cell(wp_text *out, const char *tag, const char *text) {
    wp_text_appendf(out, "<%s>", tag);
    wp_text_append_html(out, text);
    wp_text_appendf(out, "</%s>", tag);
}

static void append_number(wp_text *out, uint64_t number) {
    wp_text_appendf(out, "<td>%" PRIu64 "</td>", number);
}

static void append_short_name(wp_text *out, const char *tag, const char *display_name) {
    char name[128];
    (void)snprintf(name, sizeof name, "%.*s", wpi_kernel_name_length(display_name), display_name);
    append_cell(out, tag, name);
}

static void begin_table(wp_text *out, const char *title, const char *const *names) {
    wp_text_appendf(out, "<h2>%s</h2>\n<div class=wide><table><tr>", title);
    for (; *names != NULL; names++)
        append_cell(out, "th", *names);
    wp_text_append(out, "</tr>\n");
}

static void end_table(wp_text *out) {
    wp_text_append(out, "</table></div>\n");
}

/* ---- what every device tells
 * ---------------------------------------------------------------------- */

static void append_summary(const wp_run_record *record, wp_text *out) {
    char text[32];
    wp_text_append(out, "<h1>");
    for (size_t i = 0; i < record->program_count; i++) {
        wp_text_append_html(out, record->program[i]);
        wp_text_append(out, " ");
    }
    wp_text_append(out, "</h1>\n<p>");
    wp_text_append_html(out, record->device_spec);
    wp_text_append(out, ", ");
    wp_text_append_html(out, record->device_name);
    if (record->simulation != NULL)
        wp_text_appendf(out, "; simulated time %s",
                        wp_format_duration(record->simulation->time_ps / WP_PS_PER_NS, text));
    if (record->wall_time_ns != 0)
        wp_text_appendf(out, "; wall time %s", wp_format_duration(record->wall_time_ns, text));
    wp_text_appendf(out, "; device memory, peak %s",
                    wp_format_bytes(record->memory_peak_bytes, text));
    if (record->has_exit_status) wp_text_appendf(out, "; exit status %d", record->exit_status);
    for (size_t i = 0; i < record->policy_file_count; i++) {
        wp_text_append(out, "; policy file ");
        wp_text_append_html(out, record->policy_files[i].path);
        wp_text_appendf(out, " (hash %016" PRIx64 ")", record->policy_files[i].hash);
    }
    wp_text_append(out, ".</p>\n");
}

static void append_kernels(const wp_run_record *record, wp_text *out) {
    static const char *const names[] = {"kernel", "launches", "threads", "time",
                                        "mean",   "shortest", "longest", NULL};
    char text[32];
    if (record->kernel_count == 0) return;
    begin_table(out, "Kernels", names);
    for (size_t i = 0; i < record->kernel_count; i++) {
        const wp_run_kernel *k = &record->kernels[i];
        const uint64_t times_ns[] = {k->time_ns, k->launches != 0 ? k->time_ns / k->launches : 0,
                                     k->time_min_ns, k->time_max_ns};
        wp_text_append(out, "<tr>");
        append_cell(out, "td", k->display_name);
        append_number(out, k->launches);
        append_number(out, k->threads);
        for (size_t t = 0; t < sizeof times_ns / sizeof times_ns[0]; t++)
            append_cell(out, "td", wp_format_duration(times_ns[t], text));
        wp_text_append(out, "</tr>\n");
    }
    end_table(out);
}

static void append_copies(const wp_run_record *record, wp_text *out) {
    static const char *const names[] = {"copies", "count", "bytes", "time", NULL};
    char text[32];
    bool has_table = false;
    for (int kind = 0; kind < WP_COPY_KIND_COUNT; kind++) {
        const wp_run_copies *c = &record->copies[kind];
        if (c->count == 0) continue;
        if (!has_table) begin_table(out, "Copies", names);
        has_table = true;
        wp_text_append(out, "<tr>");
        append_cell(out, "td", wp_copy_kind_name((wp_copy_kind)kind));
        append_number(out, c->count);
        append_cell(out, "td", wp_format_bytes(c->bytes, text));
        append_cell(out, "td", wp_format_duration(c->time_ns, text));
        wp_text_append(out, "</tr>\n");
    }
    if (has_table) end_table(out);
}

/* ---- what simulated ones count
 * -------------------------------------------------------------------- */

typedef struct wanted {
    const char *name;
    const char *unit;
    wp_text *out;
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
    wp_text *out;
} page;

static void append_metric_of(const page *p, const char *name, const uint64_t *values,
                             uint64_t time_ps) {
    wanted w = {.name = name, .out = p->out};
    wpi_metrics_visit(p->record->simulation, values, time_ps, append_if_wanted, &w);
    if (!w.is_found) wp_text_append(p->out, "<td></td>");
}

/* A row over the run and its kernels. */
static void append_metric(void *object, const wpi_metric *metric) {
    const page *p = object;
    const wp_run_simulation *s = p->record->simulation;
    wp_text_append(p->out, "<tr>");
    append_cell(p->out, "td", metric->label);
    append_metric_of(p, metric->name, s->values, s->counted_ps);
    for (size_t i = 0; i < p->record->kernel_count && i < COLUMNS_MAX; i++) {
        const wp_run_kernel *k = &p->record->kernels[i];
        if (k->values != NULL)
            append_metric_of(p, metric->name, k->values,
                             wp_run_count(p->record, k->values, "kernel_time_ps"));
    }
    wp_text_append(p->out, "</tr>\n");
}

static void append_heads(const wp_run_record *record, const char *title, wp_text *out) {
    wp_text_append(out, "<div class=wide><table><tr>");
    append_cell(out, "th", title);
    append_cell(out, "th", "run");
    for (size_t i = 0; i < record->kernel_count && i < COLUMNS_MAX; i++)
        if (record->kernels[i].values != NULL)
            append_short_name(out, "th", record->kernels[i].display_name);
    wp_text_append(out, "</tr>\n");
}

static void append_counters(const wp_run_record *record, wp_text *out) {
    const wp_run_simulation *s = record->simulation;
    wp_text_append(out, "<details><summary>All counters</summary>\n");
    append_heads(record, "counter", out);
    for (size_t c = 0; c < s->column_count; c++) {
        wp_text_append(out, "<tr>");
        append_cell(out, "td", s->columns[c].name);
        append_number(out, s->values[s->columns[c].first]);
        for (size_t i = 0; i < record->kernel_count && i < COLUMNS_MAX; i++)
            if (record->kernels[i].values != NULL)
                append_number(out, record->kernels[i].values[s->columns[c].first]);
        wp_text_append(out, "</tr>\n");
    }
    end_table(out);
    wp_text_append(out, "</details>\n");
}

static void append_touches(const wp_run_touches *t, wp_text *out) {
    append_number(out, t->reads);
    append_number(out, t->writes);
    append_number(out, t->tlb_misses);
    append_number(out, t->walks);
}

static void append_allocations(const wp_run_simulation *s, wp_text *out) {
    static const char *const names[] = {"allocation",   "kind",   "times",         "bytes",
                                        "reads",        "writes", "TLB L1 misses", "walks",
                                        "allocated by", NULL};
    char text[32];
    if (s->allocation_count == 0) return;
    begin_table(out, "Allocations, most accesses first", names);
    for (size_t i = 0; i < s->allocation_count; i++) {
        const wp_run_allocation *a = &s->allocations[i];
        wp_text_append(out, "<tr>");
        append_cell(out, "td", a->name[0] != '\0' ? a->name : "(unnamed)");
        append_cell(out, "td", a->kind);
        append_number(out, a->count);
        append_cell(out, "td", a->bytes != 0 ? wp_format_bytes(a->bytes, text) : "");
        append_touches(&a->touches, out);
        append_cell(out, "td", a->site);
        wp_text_append(out, "</tr>\n");
    }
    end_table(out);
}

void wpi_html_moves(const wp_run_simulation *s, wp_text *out) {
    const char *names[WPI_MOVES_COLUMNS + 4] = {"allocation", "times", "bytes"};
    char text[32];
    size_t count;
    size_t *order = wpi_moves_order(s, &count);
    for (size_t c = 0; c < WPI_MOVES_COLUMNS; c++)
        names[3 + c] = wpi_moves_columns[c].title;
    if (count != 0) begin_table(out, "Pages of managed memory, by allocation", names);
    for (size_t i = 0; i < count; i++) {
        const wp_run_allocation *a = &s->allocations[order[i]];
        wp_text_append(out, "<tr>");
        append_cell(out, "td", a->name[0] != '\0' ? a->name : "(unnamed)");
        append_number(out, a->count);
        append_cell(out, "td", wp_format_bytes(a->bytes, text));
        for (size_t c = 0; c < WPI_MOVES_COLUMNS; c++)
            append_number(out, wpi_moves_in(&wpi_moves_columns[c], a));
        wp_text_append(out, "</tr>\n");
    }
    if (count != 0) end_table(out);
    wp_free(order);
}

static void append_pages(const wp_run_simulation *s, wp_text *out) {
    static const char *const names[] = {"page of",       "offset", "reads", "writes",
                                        "TLB L1 misses", "walks",  NULL};
    char text[32];
    if (s->page_count == 0) return;
    begin_table(out, "Hottest pages", names);
    for (size_t i = 0; i < s->page_count; i++) {
        const wp_run_page *p = &s->pages[i];
        if (p->allocation >= s->allocation_count) continue;
        wp_text_append(out, "<tr>");
        append_cell(out, "td", s->allocations[p->allocation].name);
        append_cell(out, "td", wp_format_bytes(p->offset_bytes, text));
        append_touches(&p->touches, out);
        wp_text_append(out, "</tr>\n");
    }
    end_table(out);
}

/* What stands before the <svg> is for files of their own. */
static void append_plots(const wpi_plots *plots, wp_text *out) {
    for (size_t i = 0; i < plots->count; i++) {
        const char *svg = strstr(plots->items[i].svg, "<svg");
        if (svg == NULL) continue;
        wp_text_appendf(out, "<h2>%s</h2>\n%s", plots->items[i].title, svg);
    }
    if (plots->why_not[0] == '\0') return;
    wp_text_append(out, "<p class=note>");
    wp_text_append_html(out, plots->why_not);
    wp_text_append(out, "</p>\n");
}

static void append_simulation(const wp_run_record *record, const wpi_plots *plots, wp_text *out) {
    const wp_run_simulation *s = record->simulation;
    page p = {record, out};
    wp_text_append(out, "<h2>Simulated GPU</h2>\n");
    append_heads(record, "", out);
    wpi_metrics_visit(s, s->values, s->counted_ps, append_metric, &p);
    end_table(out);
    append_plots(plots, out);
    append_allocations(s, out);
    wpi_html_moves(s, out);
    append_pages(s, out);
    append_counters(record, out);
}

void wpi_html_begin(const wp_run_record *record, wp_text *out) {
    wp_text_append(out, "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><title>");
    wp_text_append_html(out, record->program_count != 0 ? record->program[0] : "run");
    wp_text_appendf(out, "</title><style>%s</style></head><body>\n", style);
    append_summary(record, out);
}

void wpi_html_end(const wp_run_record *record, wp_text *out) {
    wp_text_append(out, "<p class=note>Warpage ");
    wp_text_append_html(out, record->version);
    wp_text_append(out, "</p>\n</body></html>\n");
}

void wpi_run_record_html_with(const wp_run_record *record, const wpi_plots *plots, wp_text *out) {
    wpi_html_begin(record, out);
    append_kernels(record, out);
    append_copies(record, out);
    if (record->simulation != NULL) append_simulation(record, plots, out);
    wpi_html_end(record, out);
}

void wpi_run_record_html(const wp_run_record *record, wp_text *out) {
    wpi_plots plots;
    wpi_plots_make(record, &plots);
    wpi_run_record_html_with(record, &plots, out);
    wpi_plots_deinit(&plots);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The record as one CSV table: a row for each kernel, then one for each kind of copy; of simulated
 * GPUs one for each allocation whose pages move, and one for the run. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/time.h"
#include "report/metrics.h"
#include "report/moves.h"
#include "report/run_record.h"
#include "report/simulation.h"

/* Quotes as RFC 4180 requires, where needed. */
static void append_field(wpi_text *out, const char *value) {
    if (strpbrk(value, ",\"\r\n") == NULL) {
        wpi_text_append(out, value);
        return;
    }
    wpi_text_append(out, "\"");
    for (const char *c = value; *c != '\0'; c++)
        wpi_text_append_n(out, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    wpi_text_append(out, "\"");
}

/* For simulated GPUs, a column for each metric and counter of the run. A metric that a row's values
 * do not define is empty there. */
typedef struct cells {
    const wp_run_simulation *simulation;
    const uint64_t *values; /* of this row; NULL: empty cells */
    uint64_t time_ps;
    wpi_text *out;
} cells;

static void append_metric_name(void *object, const wpi_metric *metric) {
    wpi_text_appendf(((const cells *)object)->out, ",%s", metric->name);
}

typedef struct wanted {
    const char *name;
    wpi_text *out;
} wanted;

static void append_if_wanted(void *object, const wpi_metric *metric) {
    const wanted *w = object;
    if (strcmp(w->name, metric->name) == 0) wpi_text_appendf(w->out, "%.9g", metric->value);
}

static void append_metric(void *object, const wpi_metric *metric) {
    const cells *row = object;
    wpi_text_append(row->out, ",");
    if (row->values == NULL) return;
    wanted w = {metric->name, row->out};
    wpi_metrics_visit(row->simulation, row->values, row->time_ps, append_if_wanted, &w);
}

static void append_counted_names(const wp_run_record *record, wpi_text *out) {
    const wp_run_simulation *s = record->simulation;
    if (s == NULL) return;
    cells row = {.simulation = s, .out = out};
    wpi_metrics_visit(s, s->values, s->counted_ps, append_metric_name, &row);
    for (size_t i = 0; i < s->column_count; i++)
        wpi_text_appendf(out, ",%s%s", s->columns[i].name,
                         s->columns[i].is_histogram ? "_count" : "");
}

static void append_counted(const wp_run_record *record, const uint64_t *values, uint64_t time_ps,
                           wpi_text *out) {
    const wp_run_simulation *s = record->simulation;
    if (s == NULL) return;
    cells row = {s, values, time_ps, out};
    wpi_metrics_visit(s, s->values, s->counted_ps, append_metric, &row);
    for (size_t i = 0; i < s->column_count; i++) {
        wpi_text_append(out, ",");
        if (values != NULL) wpi_text_appendf(out, "%" PRIu64, values[s->columns[i].first]);
    }
}

/* Writes an allocation's moves in the columns of the counters that they sum to; all others are
 * empty. */
static void append_allocation(const wp_run_simulation *s, const wp_run_allocation *a,
                              wpi_text *out) {
    wpi_text_append(out, "allocation,");
    append_field(out, a->name[0] != '\0' ? a->name : a->site);
    wpi_text_appendf(out, ",%" PRIu64 ",,%" PRIu64 ",,,", a->count, a->bytes);
    wpi_metrics_visit(s, s->values, s->counted_ps, append_metric, &(cells){s, NULL, 0, out});
    for (size_t i = 0; i < s->column_count; i++) {
        const wp_run_move move = wpi_move_of_counter(s->columns[i].name);
        wpi_text_append(out, ",");
        if (move < WP_RUN_MOVES) wpi_text_appendf(out, "%" PRIu64, a->moves[move]);
    }
    wpi_text_append(out, "\r\n");
}

static void append_allocations(const wp_run_record *record, wpi_text *out) {
    size_t count = 0;
    if (record->simulation == NULL) return;
    size_t *order = wpi_moves_order(record->simulation, &count);
    for (size_t i = 0; i < count; i++)
        append_allocation(record->simulation, &record->simulation->allocations[order[i]], out);
    wpi_free(order);
}

static void append_run(const wp_run_record *record, wpi_text *out) {
    const wp_run_simulation *s = record->simulation;
    if (s == NULL) return;
    wpi_text_appendf(out, "run,,,,,%" PRIu64 ",,", s->time_ps / WP_PS_PER_NS);
    append_counted(record, s->values, s->counted_ps, out);
    wpi_text_append(out, "\r\n");
}

void wpi_run_record_csv(const wp_run_record *record, wpi_text *out) {
    wpi_text_append(out, "row,name,count,threads,bytes,time_ns,time_min_ns,time_max_ns");
    append_counted_names(record, out);
    wpi_text_append(out, "\r\n");
    for (size_t i = 0; i < record->kernel_count; i++) {
        const wp_run_kernel *k = &record->kernels[i];
        wpi_text_append(out, "kernel,");
        append_field(out, k->display_name);
        wpi_text_appendf(out, ",%" PRIu64 ",%" PRIu64 ",,%" PRIu64 ",%" PRIu64 ",%" PRIu64,
                         k->launches, k->threads, k->time_ns, k->time_min_ns, k->time_max_ns);
        append_counted(record, k->values, wp_run_count(record, k->values, "kernel_time_ps"), out);
        wpi_text_append(out, "\r\n");
    }
    for (size_t i = 0; i < record->streamed_count; i++) {
        const wp_run_streamed *row = &record->streamed[i];
        wpi_text_append(out, "streamed,");
        append_field(out, row->display_name);
        wpi_text_appendf(out, ",%" PRIu64 ",,%" PRIu64 ",%" PRIu64 ",,", row->launches,
                         row->read_bytes, row->time_ns);
        append_counted(record, NULL, 0, out);
        wpi_text_append(out, "\r\n");
    }
    for (int kind = 0; kind < WP_COPY_KIND_COUNT; kind++) {
        const wp_run_copies *c = &record->copies[kind];
        if (c->count == 0) continue;
        wpi_text_appendf(out, "copy,%s,%" PRIu64 ",,%" PRIu64 ",%" PRIu64 ",,",
                         wp_copy_kind_name((wp_copy_kind)kind), c->count, c->bytes, c->time_ns);
        append_counted(record, NULL, 0, out);
        wpi_text_append(out, "\r\n");
    }
    append_allocations(record, out);
    append_run(record, out);
}

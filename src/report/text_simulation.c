/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated GPU's counters as text: a row for each number, a column for each of the longest
 * kernels, and one for the run. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "base/text.h"
#include "base/units.h"
#include "report/metrics.h"
#include "report/moves.h"
#include "report/run_record.h"
#include "report/simulation.h"

#define LABEL_WIDTH 34
#define CELL_WIDTH 14
#define KERNELS_MAX 4u
#define BAR_WIDTH 40u
#define ROWS_MAX 8u /* of allocations, of pages */

/* Counters that are shown unchanged. */
static const struct {
    const char *name, *label;
    bool is_bytes;
} counts[] = {
    {"kernel_thread_instructions", "thread instructions", false},
    {"kernel_warp_instructions", "warp instructions", false},
    {"walker_walks", "page walks", false},
    {"tlb_l1_stalls", "L1 TLB stalls", false},
    {"tlb_l2_stalls", "L2 TLB stalls", false},
    {"tlb_l3_stalls", "L3 TLB stalls", false},
    {"l1_stalls", "L1 stalls", false},
    {"l2_mshr_waits", "L2 MSHR waits", false},
    {"paging_far_faults", "far faults", false},
    {"paging_batch_fetched", "fault buffer entries read", false},
    {"paging_batch_duplicates", "… of pages already serviced", false},
    {"paging_batch_replays", "fault replays", false},
    {"paging_fetched", "pages migrated to the device", false},
    {"paging_made", "pages zero-filled on the device", false},
    {"paging_demanded", "… of both, on a far fault", false},
    {"paging_prefetched", "… of both, by the prefetcher", false},
    {"paging_prefetched_used", "… … and accessed later", false},
    {"paging_evicted", "pages evicted", false},
    {"paging_evicted_dirty", "… dirty", false},
    {"paging_thrashed", "pages migrated again (thrashing)", false},
    {"paging_throttled", "far faults throttled", false},
    {"paging_pinned", "far faults that pinned a page", false},
    {"paging_remote", "translations to host memory", false},
    {"paging_requested", "pages prefetched by the program", false},
    {"paging_sent_back", "… to the host", false},
    {"paging_returned", "pages returned at synchronization", false},
    {"paging_host_faults", "host page faults", false},
    {"paging_host_fetched", "pages migrated to the host", false},
    {"dram_read_bytes", "DRAM read", true},
    {"dram_written_bytes", "DRAM written", true},
    {"link_to_device_copied_bytes", "link to device, copies", true},
    {"link_to_device_remote_bytes", "link to device, remote accesses", true},
    {"link_to_host_copied_bytes", "link to host, copies", true},
    {"link_to_host_remote_bytes", "link to host, remote accesses", true},
    {"shared_conflict_cycles", "bank conflict cycles", false},
};

/* A column: some values, and the time in which they were counted. */
typedef struct column {
    char *title; /* wpi_free */
    const uint64_t *values;
    uint64_t time_ps;
} column;

typedef struct table {
    const wp_run_record *record;
    column columns[KERNELS_MAX + 1];
    size_t count;
    wpi_text *out;
} table;

static void find_columns(table *t) {
    const wp_run_record *record = t->record;
    for (size_t i = 0; i < record->kernel_count && t->count < KERNELS_MAX; i++) {
        const wp_run_kernel *k = &record->kernels[i];
        if (k->values == NULL) continue;
        column *c = &t->columns[t->count++];
        c->title = wpi_cxx_name_short(k->display_name, CELL_WIDTH);
        c->values = k->values;
        c->time_ps = wp_run_count(record, k->values, "kernel_time_ps");
    }
    column *all = &t->columns[t->count++];
    all->title = wpi_format("run");
    all->values = record->simulation->values;
    all->time_ps = record->simulation->counted_ps;
}

static void append_label(const char *label, wpi_text *out) {
    wpi_text_append(out, "  ");
    wpi_text_append_padded(out, label, -LABEL_WIDTH);
}

static void append_counts(const table *t) {
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (wp_run_count(t->record, t->record->simulation->values, counts[i].name) == 0) continue;
        append_label(counts[i].label, t->out);
        for (size_t k = 0; k < t->count; k++) {
            char cell[32];
            const uint64_t count = wp_run_count(t->record, t->columns[k].values, counts[i].name);
            (void)snprintf(cell, sizeof cell, "%" PRIu64, count);
            wpi_text_appendf(t->out, " %*s", CELL_WIDTH,
                             counts[i].is_bytes ? wpi_format_bytes(count, cell) : cell);
        }
        wpi_text_append(t->out, "\n");
    }
}

/* Looks up a metric by name. */
typedef struct wanted {
    const char *name;
    char *cell; /* [32] */
} wanted;

static void look(void *object, const wpi_metric *metric) {
    wanted *w = object;
    if (strcmp(metric->name, w->name) != 0) return;
    (void)wpi_metric_format(metric, w->cell);
}

/* Percentages of peaks and of the time of warps, of which most are 0. */
static bool may_be_left_out(const wpi_metric *metric) {
    return strncmp(metric->name, "peak_", 5) == 0 || strncmp(metric->name, "warp_", 5) == 0;
}

static bool is_zero_everywhere(const table *t, const char *name) {
    for (size_t k = 0; k < t->count; k++)
        if (wpi_metric_value(t->record->simulation, t->columns[k].values, t->columns[k].time_ps,
                             name) >= 0.005)
            return false;
    return true;
}

/* Called for each metric of the run: its row over all columns. */
static void append_metric(void *object, const wpi_metric *metric) {
    const table *t = object;
    if (may_be_left_out(metric) && is_zero_everywhere(t, metric->name)) return;
    append_label(metric->label, t->out);
    for (size_t k = 0; k < t->count; k++) {
        char cell[32] = "-";
        wanted w = {metric->name, cell};
        wpi_metrics_visit(t->record->simulation, t->columns[k].values, t->columns[k].time_ps, look,
                          &w);
        wpi_text_appendf(t->out, " %*s", CELL_WIDTH, cell);
    }
    wpi_text_append(t->out, "\n");
}

/* Walks by their latency, a line for each power of two. */
static void append_walks(const wp_run_record *record, wpi_text *out) {
    const wp_run_simulation *s = record->simulation;
    const wp_run_column *c = wpi_simulation_column(s, "walker_latency_ps");
    if (c == NULL || s->values[c->first] == 0) return;
    const uint64_t *classes = &s->values[c->first + 2];
    uint64_t most = 1;
    for (size_t i = 0; i < WP_RUN_HISTOGRAM_CLASSES; i++)
        if (classes[i] > most) most = classes[i];
    wpi_text_append(out, "\n  page walks by latency\n");
    for (size_t i = 1; i < WP_RUN_HISTOGRAM_CLASSES; i++) {
        char below[32];
        if (classes[i] == 0) continue;
        const uint64_t outer_ps = i < 64 ? (uint64_t)1 << i : UINT64_MAX;
        wpi_text_appendf(out, "  below %10s %14" PRIu64 "  ",
                         wpi_format_duration(outer_ps / 1000, below), classes[i]);
        for (uint64_t k = 0; k < (classes[i] * BAR_WIDTH + most - 1) / most; k++)
            wpi_text_append(out, "#");
        wpi_text_append(out, "\n");
    }
}

/* 64 KiB blocks by number of evictions: each counter has the blocks that were evicted at least that
 * often, the first one all that were migrated in. */
static const struct {
    const char *counter, *label;
} trips[] = {{"paging_blocks_fetched", "0"},
             {"paging_blocks_round_trips_1", "1"},
             {"paging_blocks_round_trips_2", "2"},
             {"paging_blocks_round_trips_3", "3"},
             {"paging_blocks_round_trips_4", "4-7"},
             {"paging_blocks_round_trips_8", "8-15"},
             {"paging_blocks_round_trips_16", "16-31"},
             {"paging_blocks_round_trips_32", "32-"}};

#define TRIPS (sizeof trips / sizeof trips[0])

static void append_round_trips(const wp_run_record *record, wpi_text *out) {
    uint64_t at_least[TRIPS + 1] = {0}, all = 0;
    for (size_t i = 0; i < TRIPS; i++) {
        at_least[i] = wp_run_count(record, record->simulation->values, trips[i].counter);
        if (at_least[i] > all) all = at_least[i];
    }
    if (at_least[1] == 0) return;
    wpi_text_append(out, "\n  64 KiB blocks by evictions\n");
    for (size_t i = 0; i < TRIPS; i++) {
        /* Migrations may have happened before the selected launches. */
        if (at_least[i] <= at_least[i + 1]) continue;
        const uint64_t count = at_least[i] - at_least[i + 1];
        wpi_text_appendf(out, "  %-16s %14" PRIu64 "  ", trips[i].label, count);
        for (uint64_t k = 0; k < (count * BAR_WIDTH + all - 1) / all; k++)
            wpi_text_append(out, "#");
        wpi_text_append(out, "\n");
    }
}

/* "table", or where it was allocated. */
static const char *name_of(const wp_run_allocation *a) {
    return a->name[0] != '\0' ? a->name : a->site[0] != '\0' ? a->site : a->kind;
}

static void append_touches(const wp_run_touches *t, wpi_text *out) {
    wpi_text_appendf(out, " %14" PRIu64 " %14" PRIu64 " %14" PRIu64 " %12" PRIu64, t->reads,
                     t->writes, t->tlb_misses, t->walks);
}

static void append_allocations(const wp_run_simulation *s, wpi_text *out) {
    char bytes[32];
    if (s->allocation_count == 0) return;
    wpi_text_appendf(out, "\n  %-20s %12s %14s %14s %14s %12s  %s\n", "allocation", "bytes",
                     "reads", "writes", "L1 TLB misses", "page walks", "allocated by");
    for (size_t i = 0; i < s->allocation_count && i < ROWS_MAX; i++) {
        const wp_run_allocation *a = &s->allocations[i];
        wpi_text_appendf(out, "  %-20.20s %12s", name_of(a),
                         a->bytes != 0 ? wpi_format_bytes(a->bytes, bytes) : "");
        append_touches(&a->touches, out);
        wpi_text_appendf(out, "  %s", a->site);
        if (a->count > 1) wpi_text_appendf(out, ", %" PRIu64 " times", a->count);
        wpi_text_append(out, "\n");
    }
    if (s->allocation_count > ROWS_MAX)
        wpi_text_appendf(out, "  … and %zu more\n", s->allocation_count - ROWS_MAX);
}

/* Leaves out columns that are all zero. */
static void append_moves(const wp_run_simulation *s, wpi_text *out) {
    size_t count;
    size_t *order = wpi_moves_order(s, &count);
    bool is_shown[WPI_MOVES_COLUMNS];
    if (count != 0) wpi_text_appendf(out, "\n  %-20s %12s", "managed memory", "bytes");
    for (size_t c = 0; c < WPI_MOVES_COLUMNS; c++) {
        is_shown[c] = !wpi_moves_none(&wpi_moves_columns[c], s);
        if (is_shown[c]) wpi_text_appendf(out, " %*s", CELL_WIDTH, wpi_moves_columns[c].title);
    }
    if (count != 0) wpi_text_append(out, "\n");
    for (size_t i = 0; i < count && i < ROWS_MAX; i++) {
        char bytes[32];
        const wp_run_allocation *a = &s->allocations[order[i]];
        wpi_text_appendf(out, "  %-20.20s %12s", name_of(a),
                         a->bytes != 0 ? wpi_format_bytes(a->bytes, bytes) : "");
        for (size_t c = 0; c < WPI_MOVES_COLUMNS; c++)
            if (is_shown[c])
                wpi_text_appendf(out, " %*" PRIu64, CELL_WIDTH,
                                 wpi_moves_in(&wpi_moves_columns[c], a));
        wpi_text_append(out, "\n");
    }
    if (count > ROWS_MAX) wpi_text_appendf(out, "  … and %zu more\n", count - ROWS_MAX);
    wpi_free(order);
}

static uint64_t all_accesses(const wp_run_simulation *s) {
    uint64_t sum = 0;
    for (size_t i = 0; i < s->map.row_count; i++)
        sum += s->footprint[i].reads + s->footprint[i].writes;
    return sum;
}

static void append_pages(const wp_run_simulation *s, wpi_text *out) {
    char bytes[32], offset[32];
    if (s->page_count == 0) return;
    wpi_text_appendf(out, "\n  %-33s %14s %14s %14s %12s\n", "hottest pages", "reads", "writes",
                     "L1 TLB misses", "page walks");
    for (size_t i = 0; i < s->page_count && i < ROWS_MAX; i++) {
        const wp_run_page *p = &s->pages[i];
        if (p->allocation >= s->allocation_count) continue;
        wpi_text_appendf(out, "  %-20.20s %12s", name_of(&s->allocations[p->allocation]),
                         wpi_format_bytes(p->offset_bytes, offset));
        append_touches(&p->touches, out);
        wpi_text_append(out, "\n");
    }
    const wp_run_spread *spread = &s->spread;
    const uint64_t accesses = all_accesses(s);
    if (spread->pages >= 10)
        wpi_text_appendf(out, "  … a tenth of %" PRIu64 " pages takes %.0f %% of the accesses\n",
                         spread->pages,
                         100.0 * (double)spread->hottest_tenth_accesses / (double)accesses);
    if (s->page_bytes != s->machine.page_bytes)
        wpi_text_appendf(out, "  counted per %s\n", wpi_format_bytes(s->page_bytes, bytes));
}

static void append_notes(const wp_run_record *record, wpi_text *out) {
    uint64_t overlapped = 0;
    char counted[32];
    const wp_run_simulation *s = record->simulation;
    for (size_t i = 0; i < record->kernel_count; i++)
        overlapped += record->kernels[i].overlapped;
    if (overlapped != 0)
        wpi_text_appendf(out,
                         "\n  %" PRIu64 " launches overlapped with others: memory counters of the "
                         "overlap are in the columns of each of these kernels\n",
                         overlapped);
    if (s->counted_ps != s->time_ps)
        wpi_text_appendf(out, "\n  counted: the %s in which selected launches ran\n",
                         wpi_format_duration(s->counted_ps / 1000, counted));
}

void wpi_run_record_text_simulation(const wp_run_record *record, wpi_text *out) {
    table t = {.record = record, .out = out};
    find_columns(&t);
    wpi_text_appendf(out, "\n  %-*s", LABEL_WIDTH, "simulated");
    for (size_t i = 0; i < t.count; i++) {
        wpi_text_append(out, " ");
        wpi_text_append_padded(out, t.columns[i].title, CELL_WIDTH);
        wpi_free(t.columns[i].title);
    }
    wpi_text_append(out, "\n");
    append_counts(&t);
    wpi_metrics_visit(record->simulation, record->simulation->values,
                      record->simulation->counted_ps, append_metric, &t);
    append_walks(record, out);
    append_round_trips(record, out);
    append_allocations(record->simulation, out);
    append_moves(record->simulation, out);
    append_pages(record->simulation, out);
    append_notes(record, out);
}

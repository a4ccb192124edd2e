/* SPDX-License-Identifier: Apache-2.0 */
/* The run's sums cover windows of time: the whole run, or the times with selected launches in
 * progress. An open window lies between the snapshot `base` and now. */
#include "device/sim/observer.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "device/sim/allocations.h"
#include "device/sim/managed_pages.h"
#include "device/sim/record/line_record.h"
#include "device/sim/record/page_record.h"
#include "report/recorder.h"
#include "sim/engine/snapshot.h"
#include "sim/profile/floorplan.h"
#include "sim/tlb/tlb_ring.h"

struct wpi_observed {
    wpi_observed *next;
    bool is_selected, is_overlapped;
    uint32_t number;   /* its number in the history of pages */
    uint64_t before[]; /* values when it began */
};

/* Utilisations, in the order in which the model visits them. */
#define SERIES_MAX 8u

struct wpi_observer {
    wp_run_simulation sums; /* of closed windows */
    size_t column_capacity;
    wpi_allocations *allocations;
    wpi_watch *watch;
    wpi_page_history *history; /* NULL: not requested */
    wpi_line_record *lines;    /* NULL: not requested */
    char *series_names[SERIES_MAX];
    wpi_utilisation series[SERIES_MAX]; /* of detached models */
    size_t series_count;
    wpi_engine *engine; /* NULL: no model is attached */
    const wpi_gpu *gpu;
    wpi_memory *memory;
    wpi_time_ps base_ps;
    uint64_t instructions, instructions_since; /* of closed windows; the GPU's when it opened */
    uint64_t *base, *now;     /* values at the window's opening; buffer for a snapshot */
    wpi_time_ps window_since; /* in the model's time */
    bool is_open;
    uint32_t selected; /* selected launches in progress */
    wpi_observed *under_way;
};

/* ---- columns ---- */

/* "dram.read" in bytes -> "dram_read_bytes" */
static char *column_name(const wpi_statistic *statistic) {
    static const char *const dimensions[] = {"bytes", "ps", "cycles"};
    const char *unit = "";
    for (size_t i = 0; i < sizeof dimensions / sizeof dimensions[0]; i++)
        if (strcmp(statistic->unit, dimensions[i]) == 0) unit = dimensions[i];
    char name[128];
    (void)snprintf(name, sizeof name, "%s%s%s", statistic->name, unit[0] != '\0' ? "_" : "", unit);
    for (char *c = name; *c != '\0'; c++)
        if (*c == '.') *c = '_';
    return wpi_strdup(name);
}

static void add_column(void *object, const wpi_statistic *statistic) {
    wpi_observer *o = object;
    wp_run_simulation *s = &o->sums;
    if (wpi_snapshot_size(statistic) == 0) return;
    if (s->column_count == o->column_capacity) {
        o->column_capacity = o->column_capacity == 0 ? 64 : 2 * o->column_capacity;
        s->columns = wpi_realloc(s->columns, o->column_capacity * sizeof *s->columns);
        WP_CHECK(s->columns != NULL);
    }
    s->columns[s->column_count++] = (wp_run_column){.name = column_name(statistic),
                                                    .unit = wpi_strdup(statistic->unit),
                                                    .is_histogram = statistic->histogram != NULL,
                                                    .first = s->value_count};
    s->value_count += wpi_snapshot_size(statistic);
}

static void add_series(void *object, const wpi_statistic *statistic) {
    wpi_observer *o = object;
    const wpi_utilisation *u = statistic->utilisation;
    if (u == NULL) return;
    WP_CHECK(o->series_count < SERIES_MAX);
    wpi_utilisation_init(&o->series[o->series_count], u->slice_ps, u->units);
    o->series_names[o->series_count++] =
        column_name(&(wpi_statistic){.name = statistic->name, .unit = ""});
}

static void prepare(wpi_observer *o) {
    if (o->sums.values != NULL) return;
    wpi_snapshot_visit(o->gpu, o->memory, add_column, o);
    wpi_snapshot_visit(o->gpu, o->memory, add_series, o);
    const size_t count = o->sums.value_count;
    o->sums.values = wpi_calloc(count, sizeof(uint64_t));
    o->base = wpi_calloc(count, sizeof(uint64_t));
    o->now = wpi_calloc(count, sizeof(uint64_t));
    WP_CHECK(o->sums.values != NULL && o->base != NULL && o->now != NULL);
}

/* ---- utilisation over time ---- */

/* State of a visit. */
typedef struct merge {
    wpi_utilisation *into;
    wpi_time_ps base_ps;
} merge;

static void merge_one(void *object, const wpi_statistic *statistic) {
    merge *m = object;
    if (statistic->utilisation == NULL) return;
    wpi_utilisation_append(m->into++, statistic->utilisation, m->base_ps);
}

/* Adds the model's utilisations to `into`, [SERIES_MAX]. */
static void merge_series(const wpi_observer *o, wpi_utilisation *into) {
    merge m = {into, o->base_ps};
    wpi_snapshot_visit(o->gpu, o->memory, merge_one, &m);
}

/* ---- the window ---- */

static void open_window(wpi_observer *o) {
    if (o->is_open) return;
    o->is_open = true;
    o->window_since = wpi_engine_now(o->engine);
    o->instructions_since = wpi_gpu_thread_instructions(o->gpu);
    wpi_snapshot_take(o->gpu, o->memory, o->base);
    wpi_memory_set_watch(o->memory, o->watch);
    if (o->history != NULL) wpi_page_history_count(o->history, true);
}

static void add_window(wpi_observer *o, uint64_t *values, wpi_time_ps *counted_ps) {
    if (!o->is_open) return;
    wpi_snapshot_take(o->gpu, o->memory, o->now);
    for (size_t i = 0; i < o->sums.value_count; i++)
        values[i] += o->now[i] - o->base[i];
    *counted_ps += wpi_engine_now(o->engine) - o->window_since;
}

static void close_window(wpi_observer *o) {
    if (!o->is_open) return;
    o->instructions = wpi_observer_instructions(o);
    add_window(o, o->sums.values, &o->sums.counted_ps);
    o->is_open = false;
    wpi_memory_set_watch(o->memory, NULL);
    if (o->history != NULL) wpi_page_history_count(o->history, false);
}

/* ---- life ---- */

/* A profile whose groups of SMs cannot be read has no device. */
static void put_tlbs(const wpi_profile *profile, wp_run_machine *machine) {
    uint32_t group_of[WPI_SMS_MAX], count;
    wpi_floorplan plan;
    wpi_floorplan_init(&plan, profile);
    for (uint32_t i = 0; i < profile->tlb_levels && i < WP_RUN_TLB_LEVELS; i++) {
        const wpi_tlb_profile *tlb = &profile->tlb[i];
        if (wpi_floorplan_groups(&plan, tlb->sharing, tlb->groups, group_of, &count, NULL) !=
            WP_STATUS_OK)
            continue;
        machine->tlb_count[i] = count;
        machine->tlb_ports[i] = tlb->ports;
    }
    const wpi_tlb_ring_storage storage =
        wpi_tlb_ring_storage_of(profile, (uint32_t)machine->tlb_count[0]);
    machine->tlb_sharing = (wp_run_tlb_sharing){.directories = storage.directories,
                                                .directory_entries = storage.directory_entries,
                                                .tag_bits = storage.tag_bits,
                                                .map_bits = storage.map_bits,
                                                .buffers = storage.buffers,
                                                .directory_bits = storage.directory_bits,
                                                .buffer_bits = storage.buffer_bits};
}

wp_status wpi_observer_create(const wpi_profile *profile, const wpi_addresses *addresses,
                              wpi_observer **out, wp_error *err) {
    *out = wpi_calloc(1, sizeof **out);
    if (*out == NULL) return WP_FAIL(err, NOMEM, "report of the simulated GPU");
    (*out)->sums.machine = (wp_run_machine){.sm_count = profile->sm_count,
                                            .warps_per_sm = profile->warps,
                                            .clock_hz = profile->core_hz,
                                            .page_bytes = profile->page_bytes,
                                            .dram_channels = profile->dram.channels,
                                            .dram_bytes_per_s = profile->dram.bytes_per_s,
                                            .link_bytes_per_s = profile->link.bytes_per_s,
                                            .walker_count = profile->walker.count,
                                            .schedulers = profile->schedulers};
    put_tlbs(profile, &(*out)->sums.machine);
    wp_status status = wpi_allocations_create(profile->page_bytes, &(*out)->allocations, err);
    if (status == WP_STATUS_OK) wpi_allocations_translate((*out)->allocations, addresses);
    if (status == WP_STATUS_OK)
        status = wpi_watch_create(profile->page_bytes, wpi_allocations_locate, (*out)->allocations,
                                  &(*out)->watch, err);
    if (status == WP_STATUS_OK && wpi_report_wants_pages() && profile->paging.is_on)
        status = wpi_page_history_create(WPI_ARENA_MANAGED_FIRST, &(*out)->history, err);
    if (status == WP_STATUS_OK && wpi_report_wants_lines()) {
        (*out)->lines = wpi_line_record_create();
        if ((*out)->lines == NULL) status = WP_FAIL(err, NOMEM, "counts by line");
    }
    if (status == WP_STATUS_OK) return WP_STATUS_OK;
    wpi_observer_destroy(*out);
    *out = NULL;
    return status;
}

static void forget_launches(wpi_observer *o) {
    while (o->under_way != NULL) {
        wpi_observed *gone = o->under_way;
        o->under_way = gone->next;
        wpi_free(gone);
    }
    o->selected = 0;
}

void wpi_observer_destroy(wpi_observer *o) {
    if (o == NULL) return;
    forget_launches(o);
    for (size_t i = 0; i < o->sums.column_count; i++) {
        wpi_free(o->sums.columns[i].name);
        wpi_free(o->sums.columns[i].unit);
    }
    wpi_free(o->sums.columns);
    for (size_t i = 0; i < o->series_count; i++)
        wpi_free(o->series_names[i]);
    wpi_watch_destroy(o->watch);
    wpi_page_history_destroy(o->history);
    wpi_line_record_destroy(o->lines);
    wpi_allocations_destroy(o->allocations);
    wpi_free(o->sums.values);
    wpi_free(o->base);
    wpi_free(o->now);
    wpi_free(o);
}

void wpi_observer_attach(wpi_observer *o, wpi_engine *engine, wpi_gpu *gpu, wpi_memory *memory,
                         wpi_time_ps base_ps) {
    o->engine = engine;
    o->gpu = gpu;
    o->memory = memory;
    o->base_ps = base_ps;
    prepare(o);
    wpi_watch_set_base(o->watch, base_ps);
    if (o->history != NULL) {
        wpi_page_history_set_base(o->history, base_ps);
        wpi_memory_set_history(memory, o->history);
    }
    if (!wpi_report_is_selective()) open_window(o);
}

void wpi_observer_detach(wpi_observer *o) {
    if (o->engine == NULL) return;
    close_window(o);
    merge_series(o, o->series);
    o->sums.time_ps = o->base_ps + wpi_engine_now(o->engine);
    o->engine = NULL;
    forget_launches(o);
}

/* ---- launches ---- */

wpi_observed *wpi_observer_begin(wpi_observer *o, const char *kernel) {
    wpi_watch_forget(o->watch); /* the host may have freed memory since the last launch */
    const bool is_selected = wpi_report_selects(kernel);
    const size_t count = is_selected ? o->sums.value_count : 0;
    wpi_observed *l = wpi_calloc(1, sizeof *l + count * sizeof l->before[0]);
    if (l == NULL) return NULL;
    l->is_selected = is_selected;
    l->is_overlapped = o->under_way != NULL;
    for (wpi_observed *other = o->under_way; other != NULL; other = other->next)
        other->is_overlapped = true;
    l->next = o->under_way;
    o->under_way = l;
    if (!is_selected) return l;
    o->selected++;
    open_window(o);
    if (o->history != NULL)
        l->number = wpi_page_history_began(o->history, kernel, wpi_engine_now(o->engine));
    wpi_snapshot_take(o->gpu, o->memory, l->before);
    return l;
}

wpi_line_counts *wpi_observer_lines(const wpi_observer *o, const wpi_observed *l,
                                    const char *kernel, const wp_trace_tables *tables) {
    if (o->lines == NULL || l == NULL || !l->is_selected) return NULL;
    return wpi_line_record_of(o->lines, kernel, tables);
}

static void tell_launch(wpi_observer *o, const wpi_observed *l, const char *kernel,
                        const wpi_launch_numbers *numbers) {
    wpi_snapshot_take(o->gpu, o->memory, o->now);
    for (size_t i = 0; i < o->sums.value_count; i++)
        o->now[i] -= l->before[i];
    wpi_snapshot_take_launch(numbers, o->now);
    wpi_report_kernel_values(kernel, o->now, o->sums.value_count, l->is_overlapped);
}

bool wpi_observer_end(wpi_observer *o, wpi_observed *l, const char *kernel,
                      const wpi_launch_numbers *numbers) {
    if (l == NULL) return false;
    wpi_observed **link = &o->under_way;
    while (*link != l)
        link = &(*link)->next;
    *link = l->next;
    const bool is_selected = l->is_selected;
    if (is_selected) {
        if (numbers != NULL) tell_launch(o, l, kernel, numbers);
        if (o->history != NULL)
            wpi_page_history_ended(o->history, l->number, wpi_engine_now(o->engine));
        if (--o->selected == 0 && wpi_report_is_selective()) close_window(o);
    }
    wpi_free(l);
    return is_selected;
}

uint64_t wpi_observer_instructions(const wpi_observer *o) {
    if (!o->is_open) return o->instructions;
    return o->instructions + wpi_gpu_thread_instructions(o->gpu) - o->instructions_since;
}

/* ---- what the recorder gets ---- */

static char *text_of(const char *text) {
    char *copy = wpi_strdup(text);
    WP_CHECK(copy != NULL);
    return copy;
}

static void copy_columns(const wpi_observer *o, wp_run_simulation *out) {
    out->columns = wpi_calloc(o->sums.column_count + 1, sizeof *out->columns);
    WP_CHECK(out->columns != NULL);
    out->column_count = o->sums.column_count;
    for (size_t i = 0; i < out->column_count; i++) {
        out->columns[i] = o->sums.columns[i];
        out->columns[i].name = text_of(o->sums.columns[i].name);
        out->columns[i].unit = text_of(o->sums.columns[i].unit);
    }
}

static void copy_series(const wpi_observer *o, wp_run_simulation *out) {
    wpi_utilisation *sums = wpi_malloc(sizeof o->series);
    out->series = wpi_calloc(SERIES_MAX, sizeof *out->series);
    WP_CHECK(sums != NULL && out->series != NULL);
    memcpy(sums, o->series, sizeof o->series);
    if (o->engine != NULL) merge_series(o, sums);
    out->series_count = o->series_count;
    for (size_t i = 0; i < o->series_count; i++) {
        wp_run_series *series = &out->series[i];
        *series = (wp_run_series){.name = text_of(o->series_names[i]),
                                  .slice_ps = sums[i].slice_ps,
                                  .units = sums[i].units,
                                  .slice_count = sums[i].slice_count};
        series->busy_ps = wpi_calloc(series->slice_count + 1, sizeof *series->busy_ps);
        WP_CHECK(series->busy_ps != NULL);
        memcpy(series->busy_ps, sums[i].busy_ps, series->slice_count * sizeof *series->busy_ps);
    }
    wpi_free(sums);
}

void wpi_observer_collect(wpi_observer *const *observers, size_t count) {
    wpi_observer *o = observers[0];
    wp_run_simulation *out = wpi_calloc(1, sizeof *out);
    if (out == NULL) return;
    out->time_ps = o->sums.time_ps;
    out->counted_ps = o->sums.counted_ps;
    out->machine = o->sums.machine;
    out->value_count = o->sums.value_count;
    out->values = wpi_calloc(out->value_count + 1, sizeof *out->values);
    WP_CHECK(out->values != NULL);
    memcpy(out->values, o->sums.values, out->value_count * sizeof *out->values);
    if (o->engine != NULL) {
        add_window(o, out->values, &out->counted_ps);
        out->time_ps = o->base_ps + wpi_engine_now(o->engine);
    }
    for (size_t i = 1; i < count; i++) {
        wpi_time_ps ignored = 0; /* the devices share their time */
        for (size_t v = 0; v < out->value_count; v++)
            out->values[v] += observers[i]->sums.values[v];
        if (observers[i]->engine != NULL) add_window(observers[i], out->values, &ignored);
    }
    copy_columns(o, out);
    copy_series(o, out);
    wpi_watch_counts counts;
    wpi_watch_get(o->watch, &counts);
    wpi_allocations_fill(o->allocations, &counts, out);
    if (o->history != NULL) out->managed = wpi_page_record_make(o->history, o->allocations);
    if (o->lines != NULL) wpi_line_record_fill(o->lines, out);
    wpi_report_simulation(out);
}

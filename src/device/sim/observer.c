/* SPDX-License-Identifier: Apache-2.0 */
/* The run's sums are those of a window of time: all of the run, or while selected launches are
 * under way. A window that is open lies between `base` and now. */
#include "device/sim/observer.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "report/recorder.h"
#include "sim/snapshot.h"

struct wpi_observed {
    wpi_observed *next;
    bool is_selected, is_overlapped;
    uint64_t before[]; /* values when it began */
};

struct wpi_observer {
    wp_run_simulation sums; /* of the windows that are closed */
    size_t column_capacity;
    wpi_engine *engine; /* NULL: no model is attached */
    const wpi_gpu *gpu;
    const wpi_memory *memory;
    wp_time_ps base_ps;
    uint64_t *base, *now;    /* values: when the window opened; room for another snapshot */
    wp_time_ps window_since; /* model's time */
    bool is_open;
    uint32_t selected; /* launches under way */
    wpi_observed *under_way;
};

/* ---- columns
 * -------------------------------------------------------------------------------------- */

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
    return wp_strdup(name);
}

static void add_column(void *object, const wpi_statistic *statistic) {
    wpi_observer *o = object;
    wp_run_simulation *s = &o->sums;
    if (wpi_snapshot_size(statistic) == 0) return;
    if (s->column_count == o->column_capacity) {
        o->column_capacity = o->column_capacity == 0 ? 64 : 2 * o->column_capacity;
        s->columns = wp_realloc(s->columns, o->column_capacity * sizeof *s->columns);
        WP_CHECK(s->columns != NULL);
    }
    s->columns[s->column_count++] = (wp_run_column){.name = column_name(statistic),
                                                    .unit = wp_strdup(statistic->unit),
                                                    .is_histogram = statistic->histogram != NULL,
                                                    .first = s->value_count};
    s->value_count += wpi_snapshot_size(statistic);
}

static void prepare(wpi_observer *o) {
    if (o->sums.values != NULL) return;
    wpi_snapshot_visit(o->gpu, o->memory, add_column, o);
    const size_t count = o->sums.value_count;
    o->sums.values = wp_calloc(count, sizeof(uint64_t));
    o->base = wp_calloc(count, sizeof(uint64_t));
    o->now = wp_calloc(count, sizeof(uint64_t));
    WP_CHECK(o->sums.values != NULL && o->base != NULL && o->now != NULL);
}

/* ---- the window
 * ----------------------------------------------------------------------------------- */

static void open_window(wpi_observer *o) {
    if (o->is_open) return;
    o->is_open = true;
    o->window_since = wpi_engine_now(o->engine);
    wpi_snapshot_take(o->gpu, o->memory, o->base);
}

static void add_window(wpi_observer *o, uint64_t *values, wp_time_ps *counted_ps) {
    if (!o->is_open) return;
    wpi_snapshot_take(o->gpu, o->memory, o->now);
    for (size_t i = 0; i < o->sums.value_count; i++)
        values[i] += o->now[i] - o->base[i];
    *counted_ps += wpi_engine_now(o->engine) - o->window_since;
}

static void close_window(wpi_observer *o) {
    add_window(o, o->sums.values, &o->sums.counted_ps);
    o->is_open = false;
}

/* ---- life
 * ----------------------------------------------------------------------------------------- */

wp_status wpi_observer_create(const wpi_profile *profile, wpi_observer **out, wp_error *err) {
    *out = wp_calloc(1, sizeof **out);
    if (*out == NULL) return WP_FAIL(err, NOMEM, "report of the simulated GPU");
    (*out)->sums.machine = (wp_run_machine){.sm_count = profile->sm_count,
                                            .warps_per_sm = profile->warps,
                                            .clock_hz = profile->core_hz,
                                            .page_bytes = profile->page_bytes,
                                            .dram_channels = profile->dram.channels,
                                            .dram_bytes_per_s = profile->dram.bytes_per_s,
                                            .link_bytes_per_s = profile->link.bytes_per_s,
                                            .walker_count = profile->walker.count};
    return WP_STATUS_OK;
}

static void forget_launches(wpi_observer *o) {
    while (o->under_way != NULL) {
        wpi_observed *gone = o->under_way;
        o->under_way = gone->next;
        wp_free(gone);
    }
    o->selected = 0;
}

void wpi_observer_destroy(wpi_observer *o) {
    if (o == NULL) return;
    forget_launches(o);
    for (size_t i = 0; i < o->sums.column_count; i++) {
        wp_free(o->sums.columns[i].name);
        wp_free(o->sums.columns[i].unit);
    }
    wp_free(o->sums.columns);
    wp_free(o->sums.values);
    wp_free(o->base);
    wp_free(o->now);
    wp_free(o);
}

void wpi_observer_attach(wpi_observer *o, wpi_engine *engine, wpi_gpu *gpu, wpi_memory *memory,
                         wp_time_ps base_ps) {
    o->engine = engine;
    o->gpu = gpu;
    o->memory = memory;
    o->base_ps = base_ps;
    prepare(o);
    if (!wpi_report_is_selective()) open_window(o);
}

void wpi_observer_detach(wpi_observer *o) {
    if (o->engine == NULL) return;
    close_window(o);
    o->sums.time_ps = o->base_ps + wpi_engine_now(o->engine);
    o->engine = NULL;
    forget_launches(o);
}

/* ---- launches
 * ------------------------------------------------------------------------------------- */

wpi_observed *wpi_observer_begin(wpi_observer *o, const char *kernel) {
    const bool is_selected = wpi_report_selects(kernel);
    const size_t count = is_selected ? o->sums.value_count : 0;
    wpi_observed *l = wp_calloc(1, sizeof *l + count * sizeof l->before[0]);
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
    wpi_snapshot_take(o->gpu, o->memory, l->before);
    return l;
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
        if (--o->selected == 0 && wpi_report_is_selective()) close_window(o);
    }
    wp_free(l);
    return is_selected;
}

void wpi_observer_collect(wpi_observer *o) {
    const size_t bytes = o->sums.value_count * sizeof(uint64_t);
    wp_run_simulation sums = o->sums;
    sums.values = wp_malloc(bytes + 1);
    if (sums.values == NULL) return;
    memcpy(sums.values, o->sums.values, bytes);
    if (o->engine != NULL) {
        add_window(o, sums.values, &sums.counted_ps);
        sums.time_ps = o->base_ps + wpi_engine_now(o->engine);
    }
    wpi_report_simulation(&sums);
    wp_free(sums.values);
}

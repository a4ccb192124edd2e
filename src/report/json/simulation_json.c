/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the record's JSON that simulated GPUs fill. Metrics are written for readers of the
 * file, and computed again when it is read. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "report/json/json_parts.h"
#include "report/lines.h"
#include "report/managed_counts.h"
#include "report/metrics.h"
#include "report/moves.h"
#include "report/simulation.h"

static uint64_t integer_of(const json_t *value) {
    const json_int_t integer = json_integer_value(value);
    return integer < 0 ? 0 : (uint64_t)integer;
}

static json_t *histogram_to_json(const uint64_t *values) {
    json_t *object = json_object(), *classes = json_array();
    size_t used = WP_RUN_HISTOGRAM_CLASSES;
    while (used > 0 && values[2 + used - 1] == 0)
        used--;
    wpi_json_set(object, "count", wpi_json_number(values[0]));
    wpi_json_set(object, "sum", wpi_json_number(values[1]));
    for (size_t i = 0; i < used; i++)
        wpi_json_append(classes, wpi_json_number(values[2 + i]));
    wpi_json_set(object, "bits", classes);
    return object;
}

static void add_metric(void *object, const wpi_metric *metric) {
    wpi_json_set(object, metric->name, json_real(metric->value));
}

void wpi_simulation_values_to_json(const wp_run_simulation *s, const uint64_t *values,
                                   uint64_t time_ps, json_t *object) {
    json_t *metrics = json_object(), *counters = json_object(), *histograms = json_object();
    wpi_metrics_visit(s, values, time_ps, add_metric, metrics);
    for (size_t i = 0; i < s->column_count; i++) {
        const wp_run_column *column = &s->columns[i];
        if (column->is_histogram)
            wpi_json_set(histograms, column->name, histogram_to_json(&values[column->first]));
        else
            wpi_json_set(counters, column->name, wpi_json_number(values[column->first]));
    }
    wpi_json_set(object, "metrics", metrics);
    wpi_json_set(object, "counters", counters);
    wpi_json_set(object, "histograms", histograms);
}

/* ---- machine ---- */

#define MACHINE_MEMBERS(X)                                                                         \
    X(sm_count)                                                                                    \
    X(warps_per_sm)                                                                                \
    X(clock_hz)                                                                                    \
    X(page_bytes)                                                                                  \
    X(dram_channels)                                                                               \
    X(dram_bytes_per_s)                                                                            \
    X(link_bytes_per_s)                                                                            \
    X(walker_count)

#define SHARING_MEMBERS(X)                                                                         \
    X(directories)                                                                                 \
    X(directory_entries)                                                                           \
    X(tag_bits)                                                                                    \
    X(map_bits)                                                                                    \
    X(buffers)                                                                                     \
    X(directory_bits)                                                                              \
    X(buffer_bits)

static json_t *sharing_to_json(const wp_run_tlb_sharing *sharing) {
    json_t *object = json_object();
#define SET(member) wpi_json_set(object, #member, wpi_json_number(sharing->member));
    SHARING_MEMBERS(SET)
#undef SET
    return object;
}

/* Of TLBs that query each other. */
static void read_sharing(wpi_json_reader *r, const json_t *object, wp_run_tlb_sharing *out) {
    if (object == NULL) return;
#define GET(member) out->member = wpi_json_read_number(r, object, #member);
    SHARING_MEMBERS(GET)
#undef GET
}

static json_t *machine_to_json(const wp_run_machine *machine) {
    json_t *object = json_object();
#define SET(member) wpi_json_set(object, #member, wpi_json_number(machine->member));
    MACHINE_MEMBERS(SET)
#undef SET
    json_t *tlbs = json_array();
    for (size_t i = 0; i < WP_RUN_TLB_LEVELS && machine->tlb_count[i] != 0; i++) {
        json_t *tlb = json_object();
        wpi_json_set(tlb, "count", wpi_json_number(machine->tlb_count[i]));
        wpi_json_set(tlb, "ports", wpi_json_number(machine->tlb_ports[i]));
        wpi_json_append(tlbs, tlb);
    }
    wpi_json_set(object, "schedulers", wpi_json_number(machine->schedulers));
    wpi_json_set(object, "tlbs", tlbs);
    if (machine->tlb_sharing.buffers != 0)
        wpi_json_set(object, "tlb_sharing", sharing_to_json(&machine->tlb_sharing));
    return object;
}

static void read_machine(wpi_json_reader *r, const json_t *object, wp_run_machine *out) {
#define GET(member) out->member = wpi_json_read_number(r, object, #member);
    MACHINE_MEMBERS(GET)
#undef GET
    out->schedulers = integer_of(json_object_get(object, "schedulers")); /* a later member */
    const json_t *tlbs = json_object_get(object, "tlbs");
    for (size_t i = 0; i < json_array_size(tlbs) && i < WP_RUN_TLB_LEVELS; i++) {
        out->tlb_count[i] = wpi_json_read_number(r, json_array_get(tlbs, i), "count");
        out->tlb_ports[i] = wpi_json_read_number(r, json_array_get(tlbs, i), "ports");
    }
    read_sharing(r, json_object_get(object, "tlb_sharing"), &out->tlb_sharing);
}

/* ---- over time, and by place ---- */

static json_t *series_to_json(const wp_run_series *series) {
    json_t *object = json_object(), *busy = json_array();
    for (size_t i = 0; i < series->slice_count; i++)
        wpi_json_append(busy, wpi_json_number(series->busy_ps[i]));
    wpi_json_set(object, "name", wpi_json_string(series->name));
    wpi_json_set(object, "slice_ps", wpi_json_number(series->slice_ps));
    wpi_json_set(object, "units", wpi_json_number(series->units));
    wpi_json_set(object, "busy_ps", busy);
    return object;
}

static void read_series(wpi_json_reader *r, const json_t *object, wp_run_series *out) {
    const json_t *busy = wpi_json_member(r, object, "busy_ps", JSON_ARRAY);
    out->name = wpi_json_read_string(r, object, "name");
    out->slice_ps = wpi_json_read_number(r, object, "slice_ps");
    out->units = wpi_json_read_number(r, object, "units");
    out->slice_count = json_array_size(busy);
    out->busy_ps = wpi_calloc(out->slice_count + 1, sizeof *out->busy_ps);
    WP_CHECK(out->busy_ps != NULL);
    for (size_t i = 0; i < out->slice_count; i++)
        out->busy_ps[i] = integer_of(json_array_get(busy, i));
}

#define MAP_MAX 4096u /* slices, rows */

#define TOUCHES_MEMBERS(X)                                                                         \
    X(reads)                                                                                       \
    X(writes)                                                                                      \
    X(tlb_misses)                                                                                  \
    X(walks)

static void set_touches(json_t *object, const wp_run_touches *touches) {
#define SET(member) wpi_json_set(object, #member, wpi_json_number(touches->member));
    TOUCHES_MEMBERS(SET)
#undef SET
}

static void read_touches(wpi_json_reader *r, const json_t *object, wp_run_touches *out) {
#define GET(member) out->member = wpi_json_read_number(r, object, #member);
    TOUCHES_MEMBERS(GET)
#undef GET
}

#define SPREAD_MEMBERS(X)                                                                          \
    X(pages)                                                                                       \
    X(most_accesses)                                                                               \
    X(median_accesses)                                                                             \
    X(near_median)                                                                                 \
    X(hottest_tenth_accesses)

static json_t *spread_to_json(const wp_run_spread *spread) {
    json_t *object = json_object();
#define SET(member) wpi_json_set(object, #member, wpi_json_number(spread->member));
    SPREAD_MEMBERS(SET)
#undef SET
    return object;
}

/* Earlier reports have none. */
static void read_spread(const json_t *object, wp_run_spread *out) {
#define GET(member) out->member = integer_of(json_object_get(object, #member));
    SPREAD_MEMBERS(GET)
#undef GET
}

static json_t *moves_to_json(const wp_run_allocation *a) {
    json_t *object = json_object();
    for (uint32_t move = 0; move < WP_RUN_MOVES; move++)
        wpi_json_set(object, wp_run_move_name(move), wpi_json_number(a->moves[move]));
    return object;
}

static json_t *allocation_to_json(const wp_run_simulation *s, const wp_run_allocation *a) {
    json_t *object = json_object();
    wpi_json_set(object, "name", wpi_json_string(a->name));
    wpi_json_set(object, "site", wpi_json_string(a->site));
    wpi_json_set(object, "kind", wpi_json_string(a->kind));
    wpi_json_set(object, "count", wpi_json_number(a->count));
    wpi_json_set(object, "bytes", wpi_json_number(a->bytes));
    if (a->address != 0) wpi_json_set(object, "address", wpi_json_number(a->address));
    if (a->has_place) wpi_json_set(object, "place_bytes", wpi_json_number(a->place_bytes));
    set_touches(object, &a->touches);
    if (a->spread.pages != 0) wpi_json_set(object, "spread", spread_to_json(&a->spread));
    if (wpi_moves_are_of(s, a)) wpi_json_set(object, "paging", moves_to_json(a));
    return object;
}

static void read_allocation(wpi_json_reader *r, const json_t *object, wp_run_allocation *out) {
    out->name = wpi_json_read_string(r, object, "name");
    out->site = wpi_json_read_string(r, object, "site");
    out->kind = wpi_json_read_string(r, object, "kind");
    out->count = wpi_json_read_number(r, object, "count");
    out->bytes = wpi_json_read_number(r, object, "bytes");
    out->address = integer_of(json_object_get(object, "address"));
    const json_t *place = json_object_get(object, "place_bytes");
    out->has_place = place != NULL;
    out->place_bytes = integer_of(place);
    read_touches(r, object, &out->touches);
    read_spread(json_object_get(object, "spread"), &out->spread);
    const json_t *moves = json_object_get(object, "paging");
    for (uint32_t move = 0; move < WP_RUN_MOVES; move++)
        out->moves[move] = integer_of(json_object_get(moves, wp_run_move_name(move)));
}

static json_t *page_to_json(const wp_run_page *page) {
    json_t *object = json_object();
    wpi_json_set(object, "allocation", wpi_json_number(page->allocation));
    wpi_json_set(object, "offset_bytes", wpi_json_number(page->offset_bytes));
    set_touches(object, &page->touches);
    return object;
}

static void read_page(wpi_json_reader *r, const json_t *object, wp_run_page *out) {
    out->allocation = (uint32_t)wpi_json_read_number(r, object, "allocation");
    out->offset_bytes = wpi_json_read_number(r, object, "offset_bytes");
    read_touches(r, object, &out->touches);
}

/* A row of numbers as one string: one line of the file instead of hundreds. */
static json_t *row_to_json(const uint32_t *numbers, size_t count) {
    wpi_text text = {0};
    for (size_t i = 0; i < count; i++)
        wpi_text_appendf(&text, i == 0 ? "%u" : " %u", numbers[i]);
    json_t *row = json_string(wpi_text_string(&text));
    wpi_text_deinit(&text);
    return row;
}

static void read_row(const char *text, uint32_t *numbers, size_t count) {
    for (size_t i = 0; text != NULL && i < count; i++) {
        char *end;
        numbers[i] = (uint32_t)strtoul(text, &end, 10);
        text = end;
    }
}

static json_t *map_to_json(const wp_run_simulation *s) {
    const wp_run_map *map = &s->map;
    json_t *object = json_object(), *slices = json_array(), *pages = json_array();
    wpi_json_set(object, "row_bytes", wpi_json_number(map->row_bytes));
    wpi_json_set(object, "slice_ps", wpi_json_number(map->slice_ps));
    for (size_t i = 0; i < map->slice_count; i++)
        wpi_json_append(slices, row_to_json(&map->accesses[i * map->row_count], map->row_count));
    for (size_t i = 0; i < map->row_count; i++) {
        json_t *row = json_object();
        set_touches(row, &s->footprint[i]);
        wpi_json_append(pages, row);
    }
    wpi_json_set(object, "rows", pages);
    wpi_json_set(object, "accesses", slices);
    return object;
}

static void read_map(wpi_json_reader *r, const json_t *object, wp_run_simulation *out) {
    const json_t *slices = wpi_json_member(r, object, "accesses", JSON_ARRAY);
    const json_t *rows = wpi_json_member(r, object, "rows", JSON_ARRAY);
    wp_run_map *map = &out->map;
    map->row_bytes = wpi_json_read_number(r, object, "row_bytes");
    map->slice_ps = wpi_json_read_number(r, object, "slice_ps");
    map->slice_count = json_array_size(slices);
    map->row_count = json_array_size(rows);
    if (r->status == WP_STATUS_OK && (map->slice_count > MAP_MAX || map->row_count > MAP_MAX))
        r->status =
            WP_FAIL(r->err, PARSE, "%s: not a run record: 'access_map' is too large", r->where);
    if (r->status != WP_STATUS_OK) map->slice_count = map->row_count = 0;
    map->accesses = wpi_calloc(map->slice_count * map->row_count + 1, sizeof *map->accesses);
    out->footprint = wpi_calloc(map->row_count + 1, sizeof *out->footprint);
    WP_CHECK(map->accesses != NULL && out->footprint != NULL);
    for (size_t i = 0; i < map->slice_count; i++)
        read_row(json_string_value(json_array_get(slices, i)), &map->accesses[i * map->row_count],
                 map->row_count);
    for (size_t i = 0; i < map->row_count; i++)
        read_touches(r, json_array_get(rows, i), &out->footprint[i]);
}

static void places_to_json(const wp_run_simulation *s, json_t *object) {
    json_t *series = json_array(), *allocations = json_array(), *pages = json_array();
    for (size_t i = 0; i < s->series_count; i++)
        wpi_json_append(series, series_to_json(&s->series[i]));
    for (size_t i = 0; i < s->allocation_count; i++)
        wpi_json_append(allocations, allocation_to_json(s, &s->allocations[i]));
    for (size_t i = 0; i < s->page_count; i++)
        wpi_json_append(pages, page_to_json(&s->pages[i]));
    wpi_json_set(object, "utilisation", series);
    wpi_json_set(object, "allocations", allocations);
    wpi_json_set(object, "page_bytes", wpi_json_number(s->page_bytes));
    wpi_json_set(object, "pages", pages);
    if (s->spread.pages != 0) wpi_json_set(object, "spread", spread_to_json(&s->spread));
    wpi_json_set(object, "access_map", map_to_json(s));
}

/* Reads an array's items, `size` bytes each. */
typedef void (*read_item)(wpi_json_reader *r, const json_t *object, void *out);

static void *read_items(wpi_json_reader *r, const json_t *object, const char *key, size_t size,
                        read_item read, size_t *count) {
    const json_t *array = wpi_json_member(r, object, key, JSON_ARRAY);
    *count = json_array_size(array);
    char *items = wpi_calloc(*count + 1, size);
    WP_CHECK(items != NULL);
    for (size_t i = 0; i < *count; i++)
        read(r, json_array_get(array, i), items + i * size);
    return items;
}

static void read_series_item(wpi_json_reader *r, const json_t *object, void *out) {
    read_series(r, object, out);
}

static void read_allocation_item(wpi_json_reader *r, const json_t *object, void *out) {
    read_allocation(r, object, out);
}

static void read_page_item(wpi_json_reader *r, const json_t *object, void *out) {
    read_page(r, object, out);
}

static void read_places(wpi_json_reader *r, const json_t *object, wp_run_simulation *out) {
    out->series = read_items(r, object, "utilisation", sizeof *out->series, read_series_item,
                             &out->series_count);
    out->allocations = read_items(r, object, "allocations", sizeof *out->allocations,
                                  read_allocation_item, &out->allocation_count);
    out->page_bytes = wpi_json_read_number(r, object, "page_bytes");
    out->pages =
        read_items(r, object, "pages", sizeof *out->pages, read_page_item, &out->page_count);
    read_spread(json_object_get(object, "spread"), &out->spread);
    read_map(r, wpi_json_member(r, object, "access_map", JSON_OBJECT), out);
}

/* ---- both ways ---- */

json_t *wpi_simulation_to_json(const wp_run_simulation *s) {
    json_t *object = json_object(), *units = json_object();
    wpi_json_set(object, "time_ps", wpi_json_number(s->time_ps));
    wpi_json_set(object, "counted_ps", wpi_json_number(s->counted_ps));
    wpi_json_set(object, "machine", machine_to_json(&s->machine));
    wpi_simulation_values_to_json(s, s->values, s->counted_ps, object);
    for (size_t i = 0; i < s->column_count; i++)
        wpi_json_set(units, s->columns[i].name, wpi_json_string(s->columns[i].unit));
    wpi_json_set(object, "units", units);
    places_to_json(s, object);
    if (s->managed != NULL) wpi_json_set(object, "managed", wpi_managed_to_json(s->managed));
    if (s->lines != NULL) wpi_json_set(object, "lines", wpi_lines_to_json(s));
    return object;
}

static void read_columns(wpi_json_reader *r, const json_t *members, const json_t *units,
                         bool is_histogram, wp_run_simulation *out) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)members, name, value) {
        wp_run_column *column = &out->columns[out->column_count++];
        *column = (wp_run_column){.name = wpi_format("%s", name),
                                  .unit = wpi_json_read_string(r, units, name),
                                  .is_histogram = is_histogram,
                                  .first = out->value_count};
        out->value_count += wpi_column_size(column);
    }
}

uint64_t *wpi_simulation_values_from_json(const wp_run_simulation *s, const json_t *object) {
    const json_t *counters = json_object_get(object, "counters");
    const json_t *histograms = json_object_get(object, "histograms");
    if (!json_is_object(counters)) return NULL;
    uint64_t *values = wpi_calloc(s->value_count + 1, sizeof *values);
    WP_CHECK(values != NULL);
    for (size_t i = 0; i < s->column_count; i++) {
        const wp_run_column *column = &s->columns[i];
        uint64_t *at = &values[column->first];
        if (!column->is_histogram) {
            *at = integer_of(json_object_get(counters, column->name));
            continue;
        }
        const json_t *histogram = json_object_get(histograms, column->name);
        const json_t *bits = json_object_get(histogram, "bits");
        at[0] = integer_of(json_object_get(histogram, "count"));
        at[1] = integer_of(json_object_get(histogram, "sum"));
        for (size_t k = 0; k < WP_RUN_HISTOGRAM_CLASSES && k < json_array_size(bits); k++)
            at[2 + k] = integer_of(json_array_get(bits, k));
    }
    return values;
}

wp_status wpi_simulation_from_json(const json_t *object, const char *where, wp_run_simulation **out,
                                   wp_error *err) {
    wpi_json_reader r = {.where = where, .err = err};
    wp_run_simulation *s = wpi_calloc(1, sizeof *s);
    WP_CHECK(s != NULL);
    s->time_ps = wpi_json_read_number(&r, object, "time_ps");
    s->counted_ps = wpi_json_read_number(&r, object, "counted_ps");
    read_machine(&r, wpi_json_member(&r, object, "machine", JSON_OBJECT), &s->machine);
    const json_t *counters = wpi_json_member(&r, object, "counters", JSON_OBJECT);
    const json_t *histograms = wpi_json_member(&r, object, "histograms", JSON_OBJECT);
    const json_t *units = wpi_json_member(&r, object, "units", JSON_OBJECT);
    s->columns = wpi_calloc(json_object_size(counters) + json_object_size(histograms) + 1,
                            sizeof *s->columns);
    WP_CHECK(s->columns != NULL);
    read_columns(&r, counters, units, false, s);
    read_columns(&r, histograms, units, true, s);
    read_places(&r, object, s);
    const json_t *managed = json_object_get(object, "managed");
    if (managed != NULL) s->managed = wpi_managed_from_json(&r, managed);
    const json_t *lines = json_object_get(object, "lines");
    if (lines != NULL) wpi_lines_from_json(&r, lines, s);
    if (r.status == WP_STATUS_OK) s->values = wpi_simulation_values_from_json(s, object);
    *out = s;
    if (r.status == WP_STATUS_OK) return WP_STATUS_OK;
    wpi_simulation_destroy(s);
    *out = NULL;
    return r.status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the record's JSON that simulated GPUs fill. Metrics are written for readers of the
 * file, and computed again when it is read. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "report/json_parts.h"
#include "report/metrics.h"
#include "report/simulation.h"

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

/* ---- machine
 * -------------------------------------------------------------------------------------- */

#define MACHINE_MEMBERS(X)                                                                         \
    X(sm_count)                                                                                    \
    X(warps_per_sm)                                                                                \
    X(clock_hz)                                                                                    \
    X(page_bytes)                                                                                  \
    X(dram_channels)                                                                               \
    X(dram_bytes_per_s)                                                                            \
    X(link_bytes_per_s)                                                                            \
    X(walker_count)

static json_t *machine_to_json(const wp_run_machine *machine) {
    json_t *object = json_object();
#define SET(member) wpi_json_set(object, #member, wpi_json_number(machine->member));
    MACHINE_MEMBERS(SET)
#undef SET
    return object;
}

static void read_machine(wpi_json_reader *r, const json_t *object, wp_run_machine *out) {
#define GET(member) out->member = wpi_json_read_number(r, object, #member);
    MACHINE_MEMBERS(GET)
#undef GET
}

/* ---- both ways
 * ------------------------------------------------------------------------------------ */

json_t *wpi_simulation_to_json(const wp_run_simulation *s) {
    json_t *object = json_object(), *units = json_object();
    wpi_json_set(object, "time_ps", wpi_json_number(s->time_ps));
    wpi_json_set(object, "counted_ps", wpi_json_number(s->counted_ps));
    wpi_json_set(object, "machine", machine_to_json(&s->machine));
    wpi_simulation_values_to_json(s, s->values, s->counted_ps, object);
    for (size_t i = 0; i < s->column_count; i++)
        wpi_json_set(units, s->columns[i].name, wpi_json_string(s->columns[i].unit));
    wpi_json_set(object, "units", units);
    return object;
}

static void read_columns(wpi_json_reader *r, const json_t *members, const json_t *units,
                         bool is_histogram, wp_run_simulation *out) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)members, name, value) {
        wp_run_column *column = &out->columns[out->column_count++];
        *column = (wp_run_column){.name = wp_format("%s", name),
                                  .unit = wpi_json_read_string(r, units, name),
                                  .is_histogram = is_histogram,
                                  .first = out->value_count};
        out->value_count += wpi_column_size(column);
    }
}

static uint64_t integer_of(const json_t *value) {
    const json_int_t integer = json_integer_value(value);
    return integer < 0 ? 0 : (uint64_t)integer;
}

uint64_t *wpi_simulation_values_from_json(const wp_run_simulation *s, const json_t *object) {
    const json_t *counters = json_object_get(object, "counters");
    const json_t *histograms = json_object_get(object, "histograms");
    if (!json_is_object(counters)) return NULL;
    uint64_t *values = wp_calloc(s->value_count + 1, sizeof *values);
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
    wp_run_simulation *s = wp_calloc(1, sizeof *s);
    WP_CHECK(s != NULL);
    s->time_ps = wpi_json_read_number(&r, object, "time_ps");
    s->counted_ps = wpi_json_read_number(&r, object, "counted_ps");
    read_machine(&r, wpi_json_member(&r, object, "machine", JSON_OBJECT), &s->machine);
    const json_t *counters = wpi_json_member(&r, object, "counters", JSON_OBJECT);
    const json_t *histograms = wpi_json_member(&r, object, "histograms", JSON_OBJECT);
    const json_t *units = wpi_json_member(&r, object, "units", JSON_OBJECT);
    s->columns = wp_calloc(json_object_size(counters) + json_object_size(histograms) + 1,
                           sizeof *s->columns);
    WP_CHECK(s->columns != NULL);
    read_columns(&r, counters, units, false, s);
    read_columns(&r, histograms, units, true, s);
    if (r.status == WP_STATUS_OK) s->values = wpi_simulation_values_from_json(s, object);
    *out = s;
    if (r.status == WP_STATUS_OK) return WP_STATUS_OK;
    wpi_simulation_destroy(s);
    *out = NULL;
    return r.status;
}

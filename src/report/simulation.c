/* SPDX-License-Identifier: Apache-2.0 */
#include "report/simulation.h"

#include <string.h>

#include "base/alloc.h"

const wp_run_column *wpi_simulation_column(const wp_run_simulation *simulation, const char *name) {
    for (size_t i = 0; i < simulation->column_count; i++)
        if (strcmp(simulation->columns[i].name, name) == 0) return &simulation->columns[i];
    return NULL;
}

uint64_t wp_run_count(const wp_run_record *record, const uint64_t *values, const char *name) {
    if (record->simulation == NULL || values == NULL) return 0;
    const wp_run_column *column = wpi_simulation_column(record->simulation, name);
    return column != NULL ? values[column->first] : 0;
}

static void *copy_of(const void *items, size_t bytes) {
    void *copy = wp_malloc(bytes != 0 ? bytes : 1);
    if (copy != NULL && bytes != 0) memcpy(copy, items, bytes);
    return copy;
}

static bool copy_columns(wp_run_simulation *out, const wp_run_simulation *from) {
    out->columns = wp_calloc(from->column_count + 1, sizeof *out->columns);
    for (size_t i = 0; out->columns != NULL && i < from->column_count; i++) {
        wp_run_column *column = &out->columns[out->column_count++];
        *column = from->columns[i];
        column->name = wp_strdup(from->columns[i].name);
        column->unit = wp_strdup(from->columns[i].unit);
        if (column->name == NULL || column->unit == NULL) return false;
    }
    return out->columns != NULL;
}

wp_run_simulation *wpi_simulation_clone(const wp_run_simulation *from) {
    wp_run_simulation *out = wp_calloc(1, sizeof *out);
    if (out == NULL) return NULL;
    out->time_ps = from->time_ps;
    out->counted_ps = from->counted_ps;
    out->machine = from->machine;
    out->value_count = from->value_count;
    out->values = copy_of(from->values, from->value_count * sizeof *from->values);
    if (copy_columns(out, from) && out->values != NULL) return out;
    wpi_simulation_destroy(out);
    return NULL;
}

void wpi_simulation_destroy(wp_run_simulation *simulation) {
    if (simulation == NULL) return;
    for (size_t i = 0; i < simulation->column_count; i++) {
        wp_free(simulation->columns[i].name);
        wp_free(simulation->columns[i].unit);
    }
    wp_free(simulation->columns);
    wp_free(simulation->values);
    wp_free(simulation);
}

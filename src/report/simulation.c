/* SPDX-License-Identifier: Apache-2.0 */
#include "report/simulation.h"

#include <string.h>

#include "base/alloc.h"
#include "report/managed_counts.h"

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

void wpi_simulation_destroy(wp_run_simulation *simulation) {
    if (simulation == NULL) return;
    for (size_t i = 0; i < simulation->column_count; i++) {
        wp_free(simulation->columns[i].name);
        wp_free(simulation->columns[i].unit);
    }
    wp_free(simulation->columns);
    wp_free(simulation->values);
    for (size_t i = 0; i < simulation->series_count; i++) {
        wp_free(simulation->series[i].name);
        wp_free(simulation->series[i].busy_ps);
    }
    wp_free(simulation->series);
    for (size_t i = 0; i < simulation->allocation_count; i++) {
        wp_free(simulation->allocations[i].name);
        wp_free(simulation->allocations[i].site);
        wp_free(simulation->allocations[i].kind);
    }
    wp_free(simulation->allocations);
    wp_free(simulation->pages);
    wp_free(simulation->footprint);
    wp_free(simulation->map.accesses);
    wpi_managed_destroy(simulation->managed);
    wp_free(simulation);
}

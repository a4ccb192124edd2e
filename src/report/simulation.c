/* SPDX-License-Identifier: Apache-2.0 */
#include "report/simulation.h"

#include <string.h>

#include "base/alloc.h"
#include "report/lines.h"
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
        wpi_free(simulation->columns[i].name);
        wpi_free(simulation->columns[i].unit);
    }
    wpi_free(simulation->columns);
    wpi_free(simulation->values);
    for (size_t i = 0; i < simulation->series_count; i++) {
        wpi_free(simulation->series[i].name);
        wpi_free(simulation->series[i].busy_ps);
    }
    wpi_free(simulation->series);
    for (size_t i = 0; i < simulation->allocation_count; i++) {
        wpi_free(simulation->allocations[i].name);
        wpi_free(simulation->allocations[i].site);
        wpi_free(simulation->allocations[i].kind);
    }
    wpi_free(simulation->allocations);
    wpi_free(simulation->pages);
    wpi_free(simulation->footprint);
    wpi_free(simulation->map.accesses);
    wpi_managed_destroy(simulation->managed);
    wpi_lines_deinit(simulation);
    wpi_free(simulation);
}

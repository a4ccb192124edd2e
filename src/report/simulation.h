/* SPDX-License-Identifier: Apache-2.0 */
/** Internal to report: counters of a simulated GPU, as part of a run record. */
#ifndef WP_REPORT_SIMULATION_H
#define WP_REPORT_SIMULATION_H

#include <jansson.h>

#include "base/fail.h"
#include "warpage/report.h"

/** How many numbers a column has. */
static inline size_t wpi_column_size(const wp_run_column *column) {
    return column->is_histogram ? WP_RUN_HISTOGRAM_VALUES : 1;
}

/** The column of that name, or NULL. */
const wp_run_column *wpi_simulation_column(const wp_run_simulation *simulation, const char *name);
void wpi_simulation_destroy(wp_run_simulation *simulation); /* NULL allowed */

/** Members `counters`, `histograms` and `metrics` of one set of values into `object`. `time_ps` is
 *  the time in which they were counted. */
void wpi_simulation_values_to_json(const wp_run_simulation *simulation, const uint64_t *values,
                                   uint64_t time_ps, json_t *object);
json_t *wpi_simulation_to_json(const wp_run_simulation *simulation);
/** PARSE: `where` names the file in the message. */
WP_NODISCARD wp_status wpi_simulation_from_json(const json_t *object, const char *where,
                                                wp_run_simulation **out, wp_error *err);
/** The values of a kernel, in the simulation's columns; NULL if `object` has none. */
uint64_t *wpi_simulation_values_from_json(const wp_run_simulation *simulation,
                                          const json_t *object);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Metrics computed from counters: ratios, rates, shares. One table (metrics.c) serves every form of
 * the report.
 */
#ifndef WP_REPORT_METRICS_H
#define WP_REPORT_METRICS_H

#include "warpage/report.h"

typedef struct wpi_metric {
    const char *name;  /* with its unit: "l2_hit_pct" */
    const char *label; /* for people: "L2 hit rate" */
    const char *unit;  /* "%", "ns", "" */
    const char *group; /* its heading: "DRAM and link" */
    const char *doc;   /* one phrase */
    double value;
} wpi_metric;

typedef void (*wpi_metric_visit)(void *object, const wpi_metric *metric);

/** Visits every metric that can be computed from the values, in a fixed order; `metric` is valid
 *  during the call. `time_ps`: the time in which the values were counted. */
void wpi_metrics_visit(const wp_run_simulation *simulation, const uint64_t *values,
                       uint64_t time_ps, wpi_metric_visit visit, void *object);

/** The metric's value; 0 if it cannot be computed. */
double wpi_metric_value(const wp_run_simulation *simulation, const uint64_t *values,
                        uint64_t time_ps, const char *name);

/** "12.50 %", "340 ns", "480.18 GB/s"; returns `out`. */
const char *wpi_metric_format(const wpi_metric *metric, char out[32]);

/** What people read for a series over time: "page walkers"; its own name for one that has no label.
 */
const char *wpi_series_label(const char *name);

#endif

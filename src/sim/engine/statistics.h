/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counters of the model. Components keep plain numbers, histograms and utilisations, and reports
 * visit all of them by name:
 *
 *     tlb.l2.hits (requests) 1042        memory.load.latency (ps) count, sum and 64 classes
 *     dram.utilisation (ps busy of each slice of time)
 *
 * Memory does not grow with the length of a run: a utilisation that is full halves its resolution.
 */
#ifndef WP_SIM_STATISTICS_H
#define WP_SIM_STATISTICS_H

#include <stdbool.h>

#include "base/fail.h"
#include "base/time.h"

/** Class i counts values of i bits: 0, 1, 2-3, 4-7, … */
#define WPI_HISTOGRAM_CLASSES 65u

typedef struct wpi_histogram {
    uint64_t count, sum, max;
    uint64_t classes[WPI_HISTOGRAM_CLASSES];
} wpi_histogram;

void wpi_histogram_add(wpi_histogram *histogram, uint64_t value);
/** Adds the value 0 `count` times. */
static inline void wpi_histogram_add_zeros(wpi_histogram *histogram, uint64_t count) {
    histogram->count += count;
    histogram->classes[0] += count;
}

#define WPI_UTILISATION_SLICES 512u

/** The time for which a resource was busy, by slice of time. */
typedef struct wpi_utilisation {
    wpi_time_ps slice_ps; /* doubles when the run outgrows the array */
    uint64_t units;       /* that can be busy at once: 100% is units * slice_ps; 0: unlimited */
    uint64_t busy_ps[WPI_UTILISATION_SLICES];
    uint64_t total_ps;    /* the sum of these */
    uint32_t slice_count; /* in use */
    uint32_t last;        /* the last slice added to … */
    wpi_time_ps last_ps;  /* … and its start */
} wpi_utilisation;

void wpi_utilisation_init(wpi_utilisation *utilisation, wpi_time_ps slice_ps, uint64_t units);
/** One unit was busy in [first, outer). Calls may come in any order. */
void wpi_utilisation_add(wpi_utilisation *utilisation, wpi_time_ps first, wpi_time_ps outer);
/** Adds another utilisation of the same resource, whose time 0 is at `offset_ps`. */
void wpi_utilisation_append(wpi_utilisation *utilisation, const wpi_utilisation *more,
                            wpi_time_ps offset_ps);

/** A counter: a value, a histogram or a utilisation. */
typedef struct wpi_statistic {
    const char *name; /* "tlb.l1.hits" */
    const char *unit; /* "requests", "bytes", "ps" */
    uint64_t value;
    const wpi_histogram *histogram;     /* or NULL */
    const wpi_utilisation *utilisation; /* or NULL */
    bool is_maximum;                    /* of the run, so that snapshots have no difference */
} wpi_statistic;

/** `statistic` is valid during the call. */
typedef void (*wpi_visit)(void *object, const wpi_statistic *statistic);

/** Shorthands for components: the name is `prefix` + `name`. */
void wpi_visit_value(wpi_visit visit, void *object, const char *prefix, const char *name,
                     const char *unit, uint64_t value);
void wpi_visit_maximum(wpi_visit visit, void *object, const char *prefix, const char *name,
                       const char *unit, uint64_t value);
void wpi_visit_histogram(wpi_visit visit, void *object, const char *prefix, const char *name,
                         const char *unit, const wpi_histogram *histogram);
void wpi_visit_utilisation(wpi_visit visit, void *object, const char *prefix, const char *name,
                           const wpi_utilisation *utilisation);

#endif

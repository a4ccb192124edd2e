/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the model counts. Components keep plain numbers, histograms and utilisations; whoever writes
 * a report visits them all by name without knowing any:
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
/** Adds 0 so often. */
static inline void wpi_histogram_add_zeros(wpi_histogram *histogram, uint64_t count) {
    histogram->count += count;
    histogram->classes[0] += count;
}

#define WPI_UTILISATION_SLICES 512u

/** How long something was busy in each slice of time. */
typedef struct wpi_utilisation {
    wpi_time_ps slice_ps; /* doubles when the run outgrows the array */
    uint64_t units;       /* that can be busy at once: 100% is units * slice_ps; 0: any number */
    uint64_t busy_ps[WPI_UTILISATION_SLICES];
    uint64_t total_ps;    /* the sum of these */
    uint32_t slice_count; /* in use */
    uint32_t last;        /* the slice that was added to last … */
    wpi_time_ps last_ps;  /* … which begins here */
} wpi_utilisation;

void wpi_utilisation_init(wpi_utilisation *utilisation, wpi_time_ps slice_ps, uint64_t units);
/** One unit was busy in [first, outer). Any order. */
void wpi_utilisation_add(wpi_utilisation *utilisation, wpi_time_ps first, wpi_time_ps outer);
/** Adds what another of the same thing counted, whose time 0 was at `offset_ps`. */
void wpi_utilisation_append(wpi_utilisation *utilisation, const wpi_utilisation *more,
                            wpi_time_ps offset_ps);

/** One thing counted; exactly one of the three is told. */
typedef struct wpi_statistic {
    const char *name; /* "tlb.l1.hits" */
    const char *unit; /* "requests", "bytes", "ps" */
    uint64_t value;
    const wpi_histogram *histogram;     /* or NULL */
    const wpi_utilisation *utilisation; /* or NULL */
    bool is_maximum;                    /* of the run: two have no difference */
} wpi_statistic;

/** `statistic` is valid during the call. */
typedef void (*wpi_visit)(void *object, const wpi_statistic *statistic);

/** Shorthands for those who report: the name is `prefix` + `name`. */
void wpi_visit_value(wpi_visit visit, void *object, const char *prefix, const char *name,
                     const char *unit, uint64_t value);
void wpi_visit_maximum(wpi_visit visit, void *object, const char *prefix, const char *name,
                       const char *unit, uint64_t value);
void wpi_visit_histogram(wpi_visit visit, void *object, const char *prefix, const char *name,
                         const char *unit, const wpi_histogram *histogram);
void wpi_visit_utilisation(wpi_visit visit, void *object, const char *prefix, const char *name,
                           const wpi_utilisation *utilisation);

#endif

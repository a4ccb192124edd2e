/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The ramp: from the last chase without misses to the first in which all loads miss.
 *
 *     misses                         ┌──── all: entries + sets loads
 *     of a round                 ╱┈┈┈┘
 *                            ╱┈┈┈          each load more makes another set overflow:
 *       0 ────────────────●┈┈              its ways + 1 entries miss
 *                      entries
 */
#ifndef WP_PROBE_RAMP_H
#define WP_PROBE_RAMP_H

#include "probe/measure/search.h"

typedef struct wpi_ramp {
    uint64_t stride_bytes;
    uint64_t quiet_loads; /* the most without misses */
    uint64_t full_loads;  /* all of these miss: the plateau; 0: unknown */
    uint64_t top_loads;   /* on the plateau or, without one, as many as can be measured */
    double miss_cycles;
} wpi_ramp;

/** Finds quiet_loads exactly, and miss_cycles roughly, at a stride: if miss_cycles are less than
 * WPI_FAINT_CYCLES, quiet_loads are `rough`, the result of steps. */
WP_NODISCARD wp_status wpi_ramp_begin(wpi_search *search, uint64_t stride_bytes, uint64_t rough,
                                      wpi_ramp *ramp, wp_error *err);
/** miss_cycles as exact as counting needs it: from a round in which all loads miss, or as many as
 * memory allows. */
WP_NODISCARD wp_status wpi_ramp_refine(wpi_search *search, wpi_ramp *ramp, wp_error *err);
/** Misses of a round of quiet_loads + more, to a tenth. */
WP_NODISCARD wp_status wpi_ramp_misses(wpi_search *search, const wpi_ramp *ramp, uint64_t more,
                                       double *misses, wp_error *err);
/** Sets, ways, delay and plateau, with the ramp at strides of the page. */
WP_NODISCARD wp_status wpi_ramp_find(wpi_search *search, wpi_ramp *ramp, wpi_level *level,
                                     wp_error *err);

#endif

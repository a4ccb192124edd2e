/* SPDX-License-Identifier: Apache-2.0 */
/** Where a measured curve is flat, and how it rises in between. */
#ifndef WP_PROBE_PLATEAUS_H
#define WP_PROBE_PLATEAUS_H

#include "probe/curves.h"

#define WPI_RISES_MAX 32u

typedef struct wpi_rise {
    uint64_t stride_bytes;
    size_t quiet, full;         /* points of the curve: the last low one, the first high one */
    double cycles, ramp_cycles; /* up to the high plateau's end; to its beginning */
    double low_cycles;
} wpi_rise;

/** The rises of a curve in order; returns how many. Plateaus have four points at least; what rises
 * by little beyond one is part of it. */
uint32_t wpi_plateaus_rises(const wpi_curve *curve, wpi_rise rises[WPI_RISES_MAX],
                            double *first_cycles);

#endif

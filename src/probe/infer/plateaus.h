/* SPDX-License-Identifier: Apache-2.0 */
/** Flat parts of a measured curve, and the rises between them. */
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

/** The rises of a curve in order; returns their number. Plateaus have at least four points, and
 * include small rises. */
uint32_t wpi_plateaus_rises(const wpi_curve *curve, wpi_rise rises[WPI_RISES_MAX],
                            double *first_cycles);

#endif

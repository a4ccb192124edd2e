/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Measurements of the result for plots: for each level the boundary pattern (the paper's Figure 2:
 * half its page size, the page size and twice that), and a matrix of which SM evicts which SM's
 * entries.
 */
#ifndef WP_PROBE_SWEEP_H
#define WP_PROBE_SWEEP_H

#include "probe/infer/hierarchy.h"

#define WPI_SWEEP_CURVES 3u
#define WPI_SWEEP_POINTS 49u

typedef struct wpi_curve {
    uint64_t stride_bytes;
    uint32_t count;
    double distance_bytes[WPI_SWEEP_POINTS], added_cycles[WPI_SWEEP_POINTS];
} wpi_curve;

typedef struct wpi_sweep {
    wpi_curve curves[WPI_SWEEP_CURVES];
} wpi_sweep;

/** Curves of level `level` (from 0), whose page size and reach must be known, to two and a half
 * times its reach or as far as memory goes. What the sampler fails with. */
WP_NODISCARD wp_status wpi_sweep_level(const wpi_sampler *sampler, const wpi_hierarchy *hierarchy,
                                       uint32_t level, wpi_sweep *out, wp_error *err);

/** Cycles a load of `timed` after `other`: cycles[timed * sm_count + other]. */
typedef struct wpi_matrix {
    uint32_t sm_count;
    uint32_t measured; /* pairs; others have the value of a pair of their groups */
    double *cycles;
} wpi_matrix;

/** All ordered pairs of SMs. UNSUPPORTED: there is no sharing to be measured. */
WP_NODISCARD wp_status wpi_sweep_pairs(const wpi_sampler *sampler, const wpi_hierarchy *hierarchy,
                                       uint32_t level, wpi_matrix *out, wp_error *err);
void wpi_matrix_deinit(wpi_matrix *matrix); /* `{0}` is fine */

/** The number of pairs that contradict the level's groups. */
uint32_t wpi_matrix_contradictions(const wpi_matrix *matrix, const wpi_level *level);

/** gnuplot scripts. */
void wpi_sweep_script(const wpi_sweep *sweep, uint32_t level, wpi_text *out);
void wpi_matrix_script(const wpi_matrix *matrix, uint32_t level, wpi_text *out);

#endif

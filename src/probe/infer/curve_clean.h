/* SPDX-License-Identifier: Apache-2.0 */
/** Measured curves without what measuring adds: order, repetitions, outliers, noise. */
#ifndef WP_PROBE_CURVE_CLEAN_H
#define WP_PROBE_CURVE_CLEAN_H

#include "probe/curves.h"

/** A copy with ascending points, one at each distance (the median of several); points that stand
 * out from both sides are left out, and noise is smoothed by a running median, which leaves steps
 * and ramps where they are. `out->noise_cycles` is what is left of it. NOMEM. */
WP_NODISCARD wp_status wpi_curve_clean(const wpi_curve *raw, wpi_curve *out, wp_error *err);

#endif

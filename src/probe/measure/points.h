/* SPDX-License-Identifier: Apache-2.0 */
/** Single points, named by the user, in place of a search. One thread. */
#ifndef WP_PROBE_POINTS_H
#define WP_PROBE_POINTS_H

#include "base/text.h"
#include "probe/measure/sampler.h"

/**
 * Measures a point and appends "NAME VALUE\n".
 *
 *     NAME=STRIDE*COUNT         cycles per load of COUNT places STRIDE apart, less those of as many
 *                               adjacent cache lines
 *     NAME=STRIDE<CYCLES        the largest COUNT for which this is less than CYCLES
 *     NAME=A,B:STRIDE*COUNT     the same for SM A after SM B has loaded as many places of its own
 *
 * STRIDE is bytes with a unit: 128KiB. INVALID: it is none of these.
 */
WP_NODISCARD wp_status wpi_point_measure(const wpi_sampler *sampler, const char *point,
                                         wpi_text *out, wp_error *err);

/** Cycles a load of `loads` loads, more than the control's; on the SM that is given. */
WP_NODISCARD wp_status wpi_added_cycles(const wpi_sampler *sampler, uint64_t stride_bytes,
                                        uint64_t loads, uint32_t sm, uint32_t repeats, double *out,
                                        wp_error *err);

#endif

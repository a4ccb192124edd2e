/* SPDX-License-Identifier: Apache-2.0 */
/** Simulated time: picoseconds since the simulation began. 64 bits last 213 days. */
#ifndef WP_BASE_TIME_H
#define WP_BASE_TIME_H

#include <stdint.h>

typedef uint64_t wpi_time_ps;

#define WP_TIME_NEVER UINT64_MAX
#define WP_PS_PER_NS ((wpi_time_ps)1000)
#define WP_PS_PER_US ((wpi_time_ps)1000000)
#define WP_PS_PER_S ((wpi_time_ps)1000000000000)

#endif

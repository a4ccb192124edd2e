/* SPDX-License-Identifier: Apache-2.0 */
/** The host's monotonic clock, in nanoseconds. Simulated time is base/time.h. Any thread. */
#ifndef WP_BASE_CLOCK_H
#define WP_BASE_CLOCK_H

#include <stdint.h>

uint64_t wpi_clock_ns(void);

#endif

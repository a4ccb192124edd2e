/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What is known of a processor besides the samples: how large the system's pages are. A TLB that
 * does not drop its oldest entry has no ramp that would show its sets, and with them its page size;
 * from its reach and the system's pages, its entries and its delay follow all the same.
 */
#ifndef WP_PROBE_CPU_LEVELS_H
#define WP_PROBE_CPU_LEVELS_H

#include "probe/hierarchy.h"

/** Completes the last level, if its reach is known and its entries are not. What the sampler fails
 * with; then nothing is changed. */
WP_NODISCARD wp_status wpi_cpu_levels_complete(const wpi_sampler *sampler, uint64_t page_bytes,
                                               wpi_hierarchy *hierarchy, wp_error *err);

#endif

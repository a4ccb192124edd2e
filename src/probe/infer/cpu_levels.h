/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A processor's TLBs, read off loads. The system's page size is known, but neither do sets drop
 * their oldest entry, so that misses come in whole numbers, nor is the machine ever quite at rest;
 * infer.c needs the one and suffers from the other. What can be read all the same:
 *
 *     added │            ________  first plateau: what a first miss costs
 *     cycles│           /
 *           │__________/           last count without misses: the first TLB's entries
 *           └──────────┴─────────  pages
 *
 * Where misses of a second TLB set in is said, but not taken for its entries: its sets are hashed,
 * and it holds what page walks need, too.
 */
#ifndef WP_PROBE_CPU_LEVELS_H
#define WP_PROBE_CPU_LEVELS_H

#include "probe/infer/hierarchy.h"

/** Reads a hierarchy, with sharing unless it is skipped; what is not found is unknown. NOMEM; any
 * other failure of the sampler ends the reading, and its message is the reason. */
WP_NODISCARD wp_status wpi_cpu_levels_read(const wpi_sampler *sampler, uint64_t page_bytes,
                                           const wpi_infer_options *options, wpi_hierarchy **out,
                                           wp_error *err);

#endif

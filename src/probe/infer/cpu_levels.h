/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A processor's TLBs, from times of loads. The page size is known. But sets do not replace their
 * oldest entry, so misses are not whole numbers as infer.c needs, and the machine is never quite
 * idle. These can still be read:
 *
 *     added │            ________  first plateau: what a first miss costs
 *     cycles│           /
 *           │__________/           last count without misses: the first TLB's entries
 *           └──────────┴─────────  pages
 *
 * The start of a second TLB's misses is reported, but not taken for its entries: its sets are
 * hashed, and it also holds entries for page walks.
 */
#ifndef WP_PROBE_CPU_LEVELS_H
#define WP_PROBE_CPU_LEVELS_H

#include "probe/infer/hierarchy.h"

/** Reads a hierarchy, with sharing unless it is skipped; numbers that are not found are unknown.
 * NOMEM; any other failure of the sampler ends the reading, and its message is the reason. */
WP_NODISCARD wp_status wpi_cpu_levels_read(const wpi_sampler *sampler, uint64_t page_bytes,
                                           const wpi_infer_options *options, wpi_hierarchy **out,
                                           wp_error *err);

#endif

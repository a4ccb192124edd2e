/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counts by place in the code: of each access (site) what the memory system did for it, and of each
 * block how often warps executed it and where their time went.
 *
 *     SM ──► blocks[block]          access ──► sites[site] ◄── TLBs, L1, L2, paging
 *
 * An access carries a pointer to its counts through the memory system (NULL: they are not wanted),
 * so that what happens to it is added where it happens. device/sim/record/line_record.c makes lines
 * of them.
 */
#ifndef WP_SIM_LINE_COUNTS_H
#define WP_SIM_LINE_COUNTS_H

#include "base/trace_abi.h"
#include "warpage/report.h"

typedef struct wpi_line_count {
    uint64_t of[WP_RUN_LINE_COUNTS];
} wpi_line_count;

/** Of the launches of one kernel. */
typedef struct wpi_line_counts {
    wpi_line_count *sites;  /* [site_count] */
    wpi_line_count *blocks; /* [block_count + 1]; the last one: warps that have no block yet. An
                             * execution counts as one of WARP_INSTRUCTIONS, and as many of
                             * THREAD_INSTRUCTIONS as it has lanes */
} wpi_line_counts;

static inline void wpi_line_add(wpi_line_count *counts, wp_run_line_count what, uint64_t count) {
    if (counts != NULL) counts->of[what] += count;
}

#endif

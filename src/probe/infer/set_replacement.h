/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which entry of a set a miss replaces. Chases that visit each page once a round cannot tell LRU
 * from FIFO. A chase over hot and cold pages can: between two visits of a hot page, a set takes in
 * one cold page.
 *
 *     a set of 4 ways    h h h c   h h h d   h h h c   …
 *     LRU                misses c and d: hot pages were used since
 *     FIFO               misses hot pages, too: each is the oldest at some time
 *
 * Random replacement has no ramp whose steps are whole: the share of loads that miss grows smoothly
 * with the number of pages, in one way for each number of ways.
 */
#ifndef WP_PROBE_REPLACEMENT_H
#define WP_PROBE_REPLACEMENT_H

#include "probe/infer/ramp.h"

/** Levels are known; called after all of them were searched. */
WP_NODISCARD wp_status wpi_replacement_find(wpi_search *search, wpi_hierarchy *hierarchy,
                                            uint32_t number, wp_error *err);
/** Of a level whose sets could not be read, with the ramp at any stride. */
WP_NODISCARD wp_status wpi_replacement_find_random(wpi_search *search, const wpi_ramp *ramp,
                                                   wpi_level *level, wp_error *err);

#endif

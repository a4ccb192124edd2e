/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/cpu_levels.h"

#include <math.h>

#include "probe/number.h"
#include "probe/points.h"

#define REPEATS 32u
#define PLATEAU 1.5 /* times the entries: all sets of 4 ways and more are overfull */
#define CONFIDENCE 0.8
#define STEP_MIN_CYCLES 1.0

/* What is known already stays. */
static void follow(wpi_number *number, double value, const char *reason) {
    if (number->is_known) return;
    wpi_number_set(number, value, CONFIDENCE);
    wpi_number_explain(number, "%s", reason);
}

wp_status wpi_cpu_levels_complete(const wpi_sampler *sampler, uint64_t page_bytes,
                                  wpi_hierarchy *hierarchy, wp_error *err) {
    if (hierarchy->level_count == 0) return WP_STATUS_OK;
    wpi_level *level = &hierarchy->levels[hierarchy->level_count - 1];
    const double page = (double)page_bytes;
    if (!level->reach_bytes.is_known || level->miss_cycles.is_known) return WP_STATUS_OK;
    const double entries = level->reach_bytes.value / page;
    double within = 0, beyond = 0;
    if (entries < 2 || entries != floor(entries)) return WP_STATUS_OK;
    WP_TRY(wpi_added_cycles(sampler, page_bytes, (uint64_t)entries, WPI_SM_ANY, REPEATS, &within,
                            err));
    WP_TRY(wpi_added_cycles(sampler, page_bytes, (uint64_t)(PLATEAU * entries), WPI_SM_ANY, REPEATS,
                            &beyond, err));
    if (beyond - within < STEP_MIN_CYCLES) return WP_STATUS_OK;
    follow(&level->page_bytes, page, "the system's page; its ramp does not show it");
    follow(&level->entries, entries, "its reach in the system's pages");
    follow(&level->miss_cycles, beyond - within, "with half as many pages again as it has entries");
    return WP_STATUS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Samples for the search: differences of two chases, measured alternately so that drift affects
 * both, repeated until they are sure enough or the budget is spent. Measurements are kept and
 * refined later.
 */
#ifndef WP_PROBE_SEARCH_H
#define WP_PROBE_SEARCH_H

#include "probe/infer/hierarchy.h"

/** The known numbers of a level. None is 0. */
typedef struct wpi_found {
    uint64_t page_bytes, fill_bytes, entries, sets;
    uint64_t busy_loads; /* all of so many miss, at any stride that is not less than its page:
                            entries + sets if sets are equal */
    double miss_cycles;
} wpi_found;

/** A difference of two chases' cycles per load. */
typedef struct wpi_estimate {
    double cycles, error_cycles; /* one standard deviation */
} wpi_estimate;

typedef struct wpi_pair wpi_pair; /* two chases, and their measurements so far */

typedef struct wpi_search {
    const wpi_sampler *sampler;
    wpi_infer_options options; /* no zeros left */
    wpi_found found[WPI_PROBE_LEVELS_MAX];
    uint32_t found_count;
    double worst_z; /* of the decisions since it was last set: distance from the border */
    bool is_spent;  /* the budget */
    uint64_t samples, loads;
    wpi_pair *pairs;
    size_t pair_count, pair_capacity;
} wpi_search;

WP_NODISCARD wp_status wpi_search_init(wpi_search *search, const wpi_sampler *sampler,
                                       const wpi_infer_options *options, wp_error *err);
void wpi_search_deinit(wpi_search *search);

/** Loads at this stride that memory and options allow. */
uint64_t wpi_search_loads_max(const wpi_search *search, uint64_t stride_bytes);

/**
 * Cycles of translation per load beyond hits in the first level: the chase less its control, plus
 * known levels' misses in the control. NOT_FOUND, UNSUPPORTED (budget).
 */
WP_NODISCARD wp_status wpi_search_rise(wpi_search *search, uint64_t stride_bytes, uint64_t loads,
                                       wpi_chase_order order, double error_max, wpi_estimate *out,
                                       wp_error *err);
/** Whether that is more than `border`, as surely as the budget allows. */
WP_NODISCARD wp_status wpi_search_is_above(wpi_search *search, uint64_t stride_bytes,
                                           uint64_t loads, wpi_chase_order order, double border,
                                           bool *out, wp_error *err);
/** The same of a round over `hot` pages, `cold` ones, the hot ones again, and as many other cold
 * ones. NOT_FOUND, UNSUPPORTED: the device cannot visit a page twice, or the budget is spent. */
WP_NODISCARD wp_status wpi_search_reuse(wpi_search *search, uint64_t stride_bytes, uint64_t hot,
                                        uint64_t cold, double error_max, wpi_estimate *out,
                                        wp_error *err);
/** The cycles of a whole round beyond those of its loads in a chase over `loads_before` addresses:
 * the sum of the misses between the two. */
WP_NODISCARD wp_status wpi_search_extra(wpi_search *search, uint64_t stride_bytes, uint64_t loads,
                                        uint64_t loads_before, double error_max, wpi_estimate *out,
                                        wp_error *err);
/** Whether that is more than `border` cycles. */
WP_NODISCARD wp_status wpi_search_is_extra(wpi_search *search, uint64_t stride_bytes,
                                           uint64_t loads, uint64_t loads_before, double border,
                                           bool *out, wp_error *err);

#endif

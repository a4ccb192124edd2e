/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sharing among private TLBs: for each request, how many TLBs had the page; for each miss, how many
 * others had it, and whether a neighbour did. Counts only; it does not affect the simulation.
 * Source: NeiDty, Section II-B (Figure 3, Tables I and II). One thread.
 */
#ifndef WP_SIM_CENSUS_H
#define WP_SIM_CENSUS_H

#include "base/fail.h"
#include "sim/engine/key_index.h"
#include "sim/engine/statistics.h"

#define WPI_CENSUS_CLASSES 6u /* 0, 1, 2-4, 5-8, 9-12, more */

typedef struct wpi_census_tlb {
    uint64_t requests, misses;
    uint64_t neighbour_had; /* of misses */
} wpi_census_tlb;

typedef struct wpi_census {
    wpi_index holders; /* page -> TLBs that have it */
    wpi_census_tlb *tlbs;
    uint32_t tlb_count;
    uint64_t held[WPI_CENSUS_CLASSES]; /* requests, by the number of TLBs that had the page */
    uint64_t had[WPI_CENSUS_CLASSES];  /* misses, by the number of other TLBs that had the page */
} wpi_census;

/** NOMEM. */
WP_NODISCARD wp_status wpi_census_init(wpi_census *census, uint32_t tlb_count, wp_error *err);
void wpi_census_deinit(wpi_census *census); /* `{0}` is fine */
void wpi_census_clear(wpi_census *census);  /* no TLB has a page; counts remain */

/** `page`: below 2^44. */
void wpi_census_add(wpi_census *census, uint64_t page);
void wpi_census_remove(wpi_census *census, uint64_t page);
/** TLB `tlb` is looked up. A miss is also reported by wpi_census_miss. */
void wpi_census_request(wpi_census *census, uint32_t tlb, uint64_t page);
/** TLB `tlb` missed. `neighbour_has`: the TLB to its left or right has the page. */
void wpi_census_miss(wpi_census *census, uint32_t tlb, uint64_t page, bool neighbour_has);

void wpi_census_statistics(const wpi_census *census, wpi_visit visit, void *object);

#endif

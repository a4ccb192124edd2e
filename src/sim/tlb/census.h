/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What private TLBs have in common: of each request, how many of them had the page; of each miss,
 * how many others had it, and whether one beside it did. It counts and changes nothing. Source:
 * NeiDty, Section II-B (Figure 3, Tables I and II). One thread.
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
    uint64_t held[WPI_CENSUS_CLASSES]; /* requests for pages that so many had */
    uint64_t had[WPI_CENSUS_CLASSES];  /* misses of pages that so many others had */
} wpi_census;

/** NOMEM. */
WP_NODISCARD wp_status wpi_census_init(wpi_census *census, uint32_t tlb_count, wp_error *err);
void wpi_census_deinit(wpi_census *census); /* `{0}` is fine */
void wpi_census_clear(wpi_census *census);  /* nobody has anything; what was counted stays */

/** `page`: below 2^44. */
void wpi_census_add(wpi_census *census, uint64_t page);
void wpi_census_remove(wpi_census *census, uint64_t page);
/** A TLB is asked for the page, which it may have; a miss is told besides. */
void wpi_census_request(wpi_census *census, uint32_t tlb, uint64_t page);
/** A TLB, which has not got the page, missed it. */
void wpi_census_miss(wpi_census *census, uint32_t tlb, uint64_t page, bool neighbour_has);

void wpi_census_statistics(const wpi_census *census, wpi_visit visit, void *object);

#endif

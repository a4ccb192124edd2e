/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Prefetching for a TLB of the last level: a table of regions, which detects misses near each
 * other, and a buffer of translations that were prefetched and not yet used.
 *
 *     miss, or first use ─► table (a region an entry) ─► policy ─► pages ─► walks ─► buffer
 *     look-up that misses the TLB ─► buffer ─► there: moves into the TLB, no walk
 *
 * Pages are numbers of fills (wpi_tlb_page); those of a region differ in their low bits. Source:
 * Baruah et al., PACT'20, as described by NeiDty, Section V; the table and the rule are ours. One
 * thread.
 */
#ifndef WP_SIM_TLB_PREFETCH_H
#define WP_SIM_TLB_PREFETCH_H

#include "policy/tlb_prefetch.h"
#include "sim/engine/statistics.h"
#include "sim/profile/profile.h"
#include "sim/tlb/tags.h"

typedef struct wpi_tlb_region {
    uint64_t last; /* page */
    uint32_t uses;
} wpi_tlb_region;

typedef struct wpi_tlb_prefetch {
    const wpi_profile *profile;
    wpi_tags table, buffer;
    wpi_tlb_region *regions; /* [entry of the table] */
    uint64_t fetched, used;  /* pages */
} wpi_tlb_prefetch;

/** Whether the profile selects a prefetch policy. */
bool wpi_tlb_prefetch_is_on(const wpi_profile *profile);

/** NOMEM. */
WP_NODISCARD wp_status wpi_tlb_prefetch_init(wpi_tlb_prefetch *prefetch, const wpi_profile *profile,
                                             wp_error *err);
void wpi_tlb_prefetch_deinit(wpi_tlb_prefetch *prefetch); /* `{0}` is fine */
void wpi_tlb_prefetch_flush(wpi_tlb_prefetch *prefetch);

/** The page was missed, or taken from the buffer: chooses the pages to prefetch. Returns how
 * many. */
uint32_t wpi_tlb_prefetch_choose(wpi_tlb_prefetch *prefetch, uint64_t page,
                                 uint64_t pages[WPI_TLB_PREFETCH_MAX]);
bool wpi_tlb_prefetch_has(const wpi_tlb_prefetch *prefetch, uint64_t page);
/** Removes the page from the buffer; returns whether it was there. */
bool wpi_tlb_prefetch_use(wpi_tlb_prefetch *prefetch, uint64_t page);
/** Stores a prefetched page, for which no request waits, in the buffer. */
void wpi_tlb_prefetch_keep(wpi_tlb_prefetch *prefetch, uint64_t page);
void wpi_tlb_prefetch_forget(wpi_tlb_prefetch *prefetch, uint64_t page);

#endif

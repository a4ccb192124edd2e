/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Translations fetched ahead, beside a TLB of the last level: a table that finds out where misses
 * lie near each other, and a buffer of what was fetched and not used yet.
 *
 *     miss, or first use ─► table (a region an entry) ─► policy ─► pages ─► walks ─► buffer
 *     look-up that misses the TLB ─► buffer ─► there: moves into the TLB, no walk
 *
 * Pages are the numbers that the TLB's owner has for its fills; those of a region differ in their
 * low bits. Source: Baruah et al., PACT'20, as far as NeiDty, Section V tells it; table and rule
 * are ours. One thread.
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

/** The profile has such a policy. */
bool wpi_tlb_prefetch_is_on(const wpi_profile *profile);

/** NOMEM. */
WP_NODISCARD wp_status wpi_tlb_prefetch_init(wpi_tlb_prefetch *prefetch, const wpi_profile *profile,
                                             wp_error *err);
void wpi_tlb_prefetch_deinit(wpi_tlb_prefetch *prefetch); /* `{0}` is fine */
void wpi_tlb_prefetch_flush(wpi_tlb_prefetch *prefetch);

/** The page was missed, or taken from the buffer: which ones should come. Returns how many. */
uint32_t wpi_tlb_prefetch_choose(wpi_tlb_prefetch *prefetch, uint64_t page,
                                 uint64_t pages[WPI_TLB_PREFETCH_MAX]);
bool wpi_tlb_prefetch_has(const wpi_tlb_prefetch *prefetch, uint64_t page);
/** Takes it out of the buffer, if it is there: it is used. */
bool wpi_tlb_prefetch_use(wpi_tlb_prefetch *prefetch, uint64_t page);
/** It has come, and was not waited for. */
void wpi_tlb_prefetch_keep(wpi_tlb_prefetch *prefetch, uint64_t page);
void wpi_tlb_prefetch_forget(wpi_tlb_prefetch *prefetch, uint64_t page);

#endif

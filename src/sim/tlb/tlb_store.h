/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The contents of a TLB: each entry covers some pages, of which fills make parts valid. Changes are
 * reported to the ring that the TLB belongs to (tlb_ring.h). A TLB of the last level may have a
 * prefetch buffer (tlb_prefetcher.h).
 */
#ifndef WP_SIM_TLB_STORE_H
#define WP_SIM_TLB_STORE_H

#include "sim/paging/paging.h"
#include "sim/tlb/tags.h"
#include "sim/tlb/tlb_prefetcher.h"
#include "sim/tlb/tlb_ring.h"

/** Managed memory has small pages, or a large one where 2 MiB are completely resident. */
enum { WPI_GRAIN_MEMORY = 0, WPI_GRAIN_SMALL, WPI_GRAIN_LARGE, WPI_GRAIN_COUNT };

/** log2 of the bytes that an entry covers, and of those that a fill makes valid. */
typedef struct wpi_grain {
    uint32_t coverage_bits, fill_bits;
} wpi_grain;

typedef struct wpi_tlb_store {
    wpi_tags tags;
    const wpi_grain *grains;   /* [WPI_GRAIN_COUNT], the level's */
    wpi_tlb_prefetch prefetch; /* its `profile` is NULL if there is no prefetcher */
    wpi_tlb_ring *ring;        /* the ring it belongs to, or NULL */
    uint32_t ring_number;      /* its number there */
} wpi_tlb_store;

/** From the profile's page and the level's coverage and fill. */
void wpi_grains_init(wpi_grain grains[WPI_GRAIN_COUNT], const wpi_tlb_profile *profile,
                     uint64_t page_bytes);

/** `grains` must outlive it. `seed` is not 0. NOMEM. */
WP_NODISCARD wp_status wpi_tlb_store_init(wpi_tlb_store *store, const wpi_tlb_profile *profile,
                                          const wpi_grain *grains, uint64_t seed, wp_error *err);
void wpi_tlb_store_deinit(wpi_tlb_store *store); /* `{0}` is fine */
void wpi_tlb_store_clear(wpi_tlb_store *store);  /* the ring's owner clears the ring */

/** The number of a fill in rings and prefetchers. Consecutive pages have consecutive numbers. */
#define WPI_TLB_PAGE_GRAIN_SHIFT 42u
static inline uint64_t wpi_tlb_page(const wpi_grain *grains, uint32_t grain, uint64_t address) {
    return (uint64_t)grain << WPI_TLB_PAGE_GRAIN_SHIFT | address >> grains[grain].fill_bits;
}
static inline uint32_t wpi_tlb_page_grain(uint64_t page) {
    return (uint32_t)(page >> WPI_TLB_PAGE_GRAIN_SHIFT);
}
static inline uint64_t wpi_tlb_page_address(const wpi_grain *grains, uint64_t page) {
    const uint64_t mask = ((uint64_t)1 << WPI_TLB_PAGE_GRAIN_SHIFT) - 1;
    return (page & mask) << grains[wpi_tlb_page_grain(page)].fill_bits;
}

/** The bit of a fill in its entry's parts. */
static inline uint64_t wpi_tlb_part(const wpi_grain *grain, uint64_t address) {
    const uint64_t mask = ((uint64_t)1 << (grain->coverage_bits - grain->fill_bits)) - 1;
    return (uint64_t)1 << (address >> grain->fill_bits & mask);
}

/** Returns the entry that has the page, or WPI_INDEX_NONE. */
static inline uint32_t wpi_tlb_store_find(const wpi_tlb_store *store, uint32_t grain,
                                          uint64_t address) {
    const wpi_grain *g = &store->grains[grain];
    const uint32_t entry = wpi_tags_find(&store->tags, address >> g->coverage_bits);
    if (entry == WPI_INDEX_NONE) return WPI_INDEX_NONE;
    return (store->tags.entries[entry].parts & wpi_tlb_part(g, address)) != 0 ? entry
                                                                              : WPI_INDEX_NONE;
}

/** Returns whether it has the page, and marks its entry as used. */
static inline bool wpi_tlb_store_use(wpi_tlb_store *store, uint32_t grain, uint64_t address) {
    const uint32_t entry = wpi_tlb_store_find(store, grain, address);
    if (entry != WPI_INDEX_NONE) wpi_tags_touch(&store->tags, entry);
    return entry != WPI_INDEX_NONE;
}

/** Stores a page that it does not have. True: an entry was evicted. */
bool wpi_tlb_store_add(wpi_tlb_store *store, uint32_t grain, uint64_t address);
/** Invalidates the page, if it has it. */
void wpi_tlb_store_forget(wpi_tlb_store *store, uint32_t grain, uint64_t address);
/** Invalidates all pages of the shoot-down, small and large. */
void wpi_tlb_store_forget_all(wpi_tlb_store *store, const wpi_paging_shot *shot);
/** The same in the prefetch buffer. */
void wpi_tlb_store_forget_ahead(wpi_tlb_store *store, const wpi_paging_shot *shot);

#endif

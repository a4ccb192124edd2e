/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Says quickly of most pages that no TLB has them, or which one may: of all pages of a hash it
 * counts the TLBs that have one, and adds up their numbers. So a count of 0 is a certain no for all
 * of them, a count of 1 for all but one. One thread.
 */
#ifndef WP_SIM_PAGE_FILTER_H
#define WP_SIM_PAGE_FILTER_H

#include <stdint.h>
#include <string.h>

/* 32 KiB: in the host's first cache, and 8 times 16 TLBs of 32. */
#define WPI_PAGE_FILTER_BITS 12u
#define WPI_PAGE_FILTER_SLOTS (1u << WPI_PAGE_FILTER_BITS)
#define WPI_PAGE_FILTER_COUNT_SHIFT 32u

/** A slot: 0, where no TLB has a page of the hash. */
typedef struct wpi_page_filter {
    uint64_t slots[WPI_PAGE_FILTER_SLOTS]; /* count << COUNT_SHIFT | sum of the numbers */
} wpi_page_filter;

static inline uint32_t wpi_page_filter_slot(uint64_t page) {
    return (uint32_t)((page * 0x9e3779b97f4a7c15u) >> (64 - WPI_PAGE_FILTER_BITS));
}

/** A slot where this TLB has a page of the hash, and no other. */
static inline uint64_t wpi_page_filter_only(uint32_t tlb) {
    return (uint64_t)1 << WPI_PAGE_FILTER_COUNT_SHIFT | tlb;
}

/** A TLB has the page now; no longer; none has anything. */
static inline void wpi_page_filter_add(wpi_page_filter *filter, uint64_t page, uint32_t tlb) {
    filter->slots[wpi_page_filter_slot(page)] += wpi_page_filter_only(tlb);
}
static inline void wpi_page_filter_remove(wpi_page_filter *filter, uint64_t page, uint32_t tlb) {
    filter->slots[wpi_page_filter_slot(page)] -= wpi_page_filter_only(tlb);
}
static inline void wpi_page_filter_clear(wpi_page_filter *filter) {
    memset(filter, 0, sizeof *filter);
}

/** How many TLBs have it, at most. */
static inline uint32_t wpi_page_filter_count(const wpi_page_filter *filter, uint64_t page) {
    return (uint32_t)(filter->slots[wpi_page_filter_slot(page)] >> WPI_PAGE_FILTER_COUNT_SHIFT);
}

/** Where that is one: which. */
static inline uint32_t wpi_page_filter_one(const wpi_page_filter *filter, uint64_t page) {
    return (uint32_t)filter->slots[wpi_page_filter_slot(page)];
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Finds quickly, for most pages, that no TLB has them, or the only TLB that may. A slot stands for
 * all pages of a hash: it has the number of TLB entries for them, and the sum of those TLBs'
 * numbers. With a count of 0 no TLB has the page; with a count of 1 only the TLB of that number
 * may. One thread.
 */
#ifndef WP_SIM_PAGE_FILTER_H
#define WP_SIM_PAGE_FILTER_H

#include <stdint.h>
#include <string.h>

/* 32 KiB, which fit the host's L1 cache: 8 times as many slots as 16 TLBs of 32 entries. */
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

/** The slot's value if this TLB alone has a page of the hash. */
static inline uint64_t wpi_page_filter_only(uint32_t tlb) {
    return (uint64_t)1 << WPI_PAGE_FILTER_COUNT_SHIFT | tlb;
}

/** A TLB stored the page; dropped it; all TLBs were cleared. */
static inline void wpi_page_filter_add(wpi_page_filter *filter, uint64_t page, uint32_t tlb) {
    filter->slots[wpi_page_filter_slot(page)] += wpi_page_filter_only(tlb);
}
static inline void wpi_page_filter_remove(wpi_page_filter *filter, uint64_t page, uint32_t tlb) {
    filter->slots[wpi_page_filter_slot(page)] -= wpi_page_filter_only(tlb);
}
static inline void wpi_page_filter_clear(wpi_page_filter *filter) {
    memset(filter, 0, sizeof *filter);
}

/** An upper bound on the number of TLBs that have the page. */
static inline uint32_t wpi_page_filter_count(const wpi_page_filter *filter, uint64_t page) {
    return (uint32_t)(filter->slots[wpi_page_filter_slot(page)] >> WPI_PAGE_FILTER_COUNT_SHIFT);
}

/** If that is 1: the number of the TLB. */
static inline uint32_t wpi_page_filter_one(const wpi_page_filter *filter, uint64_t page) {
    return (uint32_t)filter->slots[wpi_page_filter_slot(page)];
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Says quickly of most pages that no TLB has them: counts the pages that TLBs have by a hash. So
 * a count of 0 is a certain no, 1 that there is one TLB at most, and so on. One thread.
 */
#ifndef WP_SIM_PAGE_FILTER_H
#define WP_SIM_PAGE_FILTER_H

#include <stdint.h>
#include <string.h>

#define WPI_PAGE_FILTER_BITS 12u /* 16 KiB: in the host's first cache, and 8 times 16 TLBs of 32 */

typedef struct wpi_page_filter {
    uint32_t counts[1u << WPI_PAGE_FILTER_BITS];
} wpi_page_filter;

static inline uint32_t wpi_page_filter_slot(uint64_t page) {
    return (uint32_t)((page * 0x9e3779b97f4a7c15u) >> (64 - WPI_PAGE_FILTER_BITS));
}

/** A TLB has the page now; no longer; none has anything. */
static inline void wpi_page_filter_add(wpi_page_filter *filter, uint64_t page) {
    filter->counts[wpi_page_filter_slot(page)]++;
}
static inline void wpi_page_filter_remove(wpi_page_filter *filter, uint64_t page) {
    filter->counts[wpi_page_filter_slot(page)]--;
}
static inline void wpi_page_filter_clear(wpi_page_filter *filter) {
    memset(filter, 0, sizeof *filter);
}

/** How many TLBs have it, at most. */
static inline uint32_t wpi_page_filter_count(const wpi_page_filter *filter, uint64_t page) {
    return filter->counts[wpi_page_filter_slot(page)];
}

#endif

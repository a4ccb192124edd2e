/* SPDX-License-Identifier: Apache-2.0 */
/** The first-level TLBs that may have a page's translation, so that an eviction looks only into
 * these. */
#ifndef WP_SIM_TLB_COPIES_H
#define WP_SIM_TLB_COPIES_H

#include "sim/paging/paging.h"

/** A bit for each first-level TLB, by its number modulo 64. */
typedef struct wpi_tlb_copies {
    uint64_t *of_page;  /* [page] */
    uint64_t *of_chunk; /* [chunk]: TLBs that have it as one large page */
} wpi_tlb_copies;

void wpi_tlb_copies_deinit(wpi_tlb_copies *copies); /* `{0}` is fine */
/** There will be `after` chunks instead of `before`. NOMEM. */
WP_NODISCARD wp_status wpi_tlb_copies_grow(wpi_tlb_copies *copies, uint32_t before, uint32_t after,
                                           wp_error *err);

/** TLBs drop the pages (a shoot-down). */
void wpi_tlb_copies_drop(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages);
/** The page's and the chunk's entries will be needed soon: prefetches them into the host's
 * caches. */
void wpi_tlb_copies_expect(const wpi_tlb_copies *copies, wpi_page_number page);
void wpi_tlb_copies_expect_drop(const wpi_tlb_copies *copies, wpi_chunk_number chunk);

#endif

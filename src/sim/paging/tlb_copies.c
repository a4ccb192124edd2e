/* SPDX-License-Identifier: Apache-2.0 */
/* A TLB that stored a page's translation is recorded until the page leaves. It may have evicted the
 * entry meanwhile: then the shoot-down finds nothing. */
#include "sim/paging/tlb_copies.h"

#include "base/alloc.h"
#include "sim/paging/paging_parts.h"

void wpi_tlb_copies_deinit(wpi_tlb_copies *copies) {
    wpi_free(copies->of_page);
    wpi_free(copies->of_chunk);
    *copies = (wpi_tlb_copies){0};
}

wp_status wpi_tlb_copies_grow(wpi_tlb_copies *copies, uint32_t before, uint32_t after,
                              wp_error *err) {
    WP_TRY(wpi_residency_grow_words(&copies->of_page, before, after, WPI_CHUNK_PAGES, err));
    return wpi_residency_grow_words(&copies->of_chunk, before, after, 1, err);
}

void wpi_paging_known(wpi_paging *paging, uint64_t address, bool is_large, uint32_t tlb) {
    const wpi_page_number page = wpi_residency_page(&paging->residency, address);
    uint64_t *copies = is_large ? &paging->tlb_copies.of_chunk[wpi_page_chunk(page).v]
                                : &paging->tlb_copies.of_page[page.v];
    *copies |= (uint64_t)1 << tlb % 64;
}

void wpi_tlb_copies_drop(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages) {
    uint64_t *of_page = &paging->tlb_copies.of_page[wpi_page_in(chunk, 0).v];
    uint64_t *of_chunk = &paging->tlb_copies.of_chunk[chunk.v];
    const wpi_paging_shot shot = {.address = wpi_chunk_address(paging->residency.first, chunk),
                                  .pages = pages,
                                  .tlbs = of_page,
                                  .tlbs_large = *of_chunk};
    if (wpi_pages_is_empty(pages)) return;
    paging->calls.shoot_down(paging->calls.object, &shot);
    *of_chunk = 0;
    for (uint32_t page = 0; page < WPI_CHUNK_PAGES; page++)
        if (wpi_pages_has(pages, page)) of_page[page] = 0;
}

void wpi_tlb_copies_expect(const wpi_tlb_copies *copies, wpi_page_number page) {
    __builtin_prefetch(&copies->of_page[page.v], 1);
}

void wpi_tlb_copies_expect_drop(const wpi_tlb_copies *copies, wpi_chunk_number chunk) {
    for (uint32_t page = 0; page < WPI_CHUNK_PAGES; page += 8) /* one for each cache line */
        __builtin_prefetch(&copies->of_page[wpi_page_in(chunk, page).v], 1);
}

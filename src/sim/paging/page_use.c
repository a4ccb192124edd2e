/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses in flight: they use, hold and release resident pages, or access pages on the host. */
#include "sim/paging/paging_parts.h"

void wpi_paging_expect(const wpi_paging *paging, uint64_t address, wpi_paging_expected what) {
    const wpi_page_number page = wpi_residency_page(&paging->residency, address);
    if (page.v / WPI_CHUNK_PAGES >= paging->residency.chunk_count) return;
    const wpi_chunk *chunk = wpi_residency_chunk_of(&paging->residency, page);
    __builtin_prefetch(&chunk->age, 1);
    __builtin_prefetch(wpi_residency_block_at(&paging->residency, wpi_page_block(page)), 1);
    if (what == WPI_PAGING_TOUCH) return;
    __builtin_prefetch(&chunk->resident);
    __builtin_prefetch(&chunk->unused);
    wpi_tlb_copies_expect(&paging->tlb_copies, page);
}

/* A page that is staged for eviction is used: it stays. */
static void keep_staged(wpi_paging *p, const wpi_chunk *chunk, wpi_page_number page) {
    wpi_pages pages = {{0}};
    if (wpi_staging_is_empty(&p->staging) || !wpi_pages_has(&chunk->unlisted, wpi_page_index(page)))
        return;
    wpi_pages_add(&pages, wpi_page_index(page));
    wpi_staging_keep(p, wpi_page_chunk(page), &pages);
}

void wpi_paging_touch(wpi_paging *paging, uint64_t address) {
    wpi_idle_prefetch_touch(&paging->idle);
    wpi_paging_foresee(paging, address);
    const wpi_page_number page = wpi_residency_page(&paging->residency, address);
    keep_staged(paging, wpi_residency_chunk_of(&paging->residency, page), page);
    wpi_residency_touch(&paging->residency, page);
}

bool wpi_paging_hold(wpi_paging *paging, uint64_t address, bool is_write) {
    const wpi_page_number page = wpi_residency_page(&paging->residency, address);
    const wpi_chunk *chunk = wpi_residency_chunk_of(&paging->residency, page);
    if (!wpi_pages_has(&chunk->resident, wpi_page_index(page))) {
        WP_ASSERT(paging->profile->paging.fills_remote);
        return false;
    }
    keep_staged(paging, chunk, page);
    wpi_residency_hold(&paging->residency, wpi_page_block(page));
    if (wpi_residency_take_unused(&paging->residency, page))
        wpi_page_events_add(&paging->events, WPI_PAGE_PREFETCHED_USED, 1);
    if (is_write) wpi_residency_write(&paging->residency, page);
    return true;
}

bool wpi_paging_is_here(const wpi_paging *paging, uint64_t address) {
    const wpi_chunk *chunk = wpi_residency_chunk(&paging->residency, address);
    return wpi_pages_has(&chunk->resident, wpi_page_of(address));
}

bool wpi_paging_is_large(const wpi_paging *paging, uint64_t address) {
    return paging->profile->page_bytes == WPI_CHUNK_BYTES &&
           wpi_residency_chunk(&paging->residency, address)->is_whole;
}

void wpi_paging_release(wpi_paging *paging, uint64_t address, wpi_time_ps now) {
    const wpi_page_number page = wpi_residency_page(&paging->residency, address);
    const bool is_free = wpi_residency_let_go(&paging->residency, wpi_page_block(page));
    if (is_free &&
        (wpi_transfers_are_waiting(&paging->transfers) || !wpi_staging_is_empty(&paging->staging)))
        wpi_transfers_pump(paging, now);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses under way: they use, hold and release pages that are resident, or reach them on the
 * host. */
#include "sim/paging/paging_parts.h"

void wpi_paging_expect(const wpi_paging *paging, uint64_t address, wpi_paging_expected what) {
    const uint64_t page = (address - paging->residency.first) / WPI_PAGE_BYTES;
    const uint64_t number = page / WPI_CHUNK_PAGES;
    const uint32_t block = (uint32_t)(page % WPI_CHUNK_PAGES) / WPI_BLOCK_PAGES;
    if (number >= paging->residency.chunk_count) return;
    const wpi_chunk *chunk = &paging->residency.chunks[number];
    __builtin_prefetch(&chunk->age, 1);
    __builtin_prefetch(&chunk->blocks[block], 1);
    if (what == WPI_PAGING_TOUCH) return;
    __builtin_prefetch(&chunk->resident);
    __builtin_prefetch(&chunk->unused);
    __builtin_prefetch(&paging->known[page], 1);
}

/* A page that was to leave is used. */
static void keep_staged(wpi_paging *p, const wpi_chunk *chunk, uint64_t address) {
    const uint32_t page = wpi_page_of(address);
    wpi_pages pages = {{0}};
    if (p->staged_pages == 0 || !wpi_pages_has(&chunk->unlisted, page)) return;
    wpi_pages_add(&pages, page);
    wpi_staging_keep(p, (uint32_t)(chunk - p->residency.chunks), &pages);
}

void wpi_paging_touch(wpi_paging *paging, uint64_t address) {
    paging->was_touched = true;
    wpi_paging_foresee(paging, address);
    wpi_chunk *chunk = wpi_residency_chunk(&paging->residency, address);
    keep_staged(paging, chunk, address);
    wpi_residency_touch(&paging->residency, chunk, wpi_page_of(address));
}

bool wpi_paging_hold(wpi_paging *paging, uint64_t address, bool is_write) {
    wpi_chunk *chunk = wpi_residency_chunk(&paging->residency, address);
    const uint32_t page = wpi_page_of(address);
    if (!wpi_pages_has(&chunk->resident, page)) {
        WP_ASSERT(paging->profile->paging.fills_remote);
        return false;
    }
    keep_staged(paging, chunk, address);
    wpi_residency_hold(chunk, page / WPI_BLOCK_PAGES);
    if (wpi_pages_has(&chunk->unused, page)) {
        wpi_pages_remove(&chunk->unused, page);
        wpi_page_events_add(&paging->events, WPI_PAGE_PREFETCHED_USED, 1);
    }
    if (is_write) wpi_residency_write(chunk, page);
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

void wpi_paging_known(wpi_paging *paging, uint64_t address, bool is_large, uint32_t tlb) {
    const uint64_t offset = address - paging->residency.first;
    uint64_t *known = is_large ? &paging->known_large[offset / WPI_CHUNK_BYTES]
                               : &paging->known[offset / WPI_PAGE_BYTES];
    *known |= (uint64_t)1 << tlb % 64;
}

void wpi_paging_release(wpi_paging *paging, uint64_t address, wp_time_ps now) {
    wpi_chunk *chunk = wpi_residency_chunk(&paging->residency, address);
    const bool is_free = wpi_residency_let_go(chunk, wpi_page_of(address) / WPI_BLOCK_PAGES);
    if (is_free && (!wpi_fifo_is_empty(&paging->planned) || !wpi_fifo_is_empty(&paging->staged)))
        wpi_migration_pump(paging, now);
}

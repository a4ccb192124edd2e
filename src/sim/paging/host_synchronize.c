/* SPDX-License-Identifier: Apache-2.0 */
/* The host has synchronised with the device. As UVMSmart does in cudaDeviceSynchronize, dirty pages
 * are written back and memory counts as empty. Clean pages stay resident and can be used, but
 * occupy no frames (the device gets as many frames more), and are not evicted before they are used
 * again.
 *
 * The write-back takes the link as if the host touched the pages in order and the tree prefetcher
 * fetched them: per 2 MiB, transfers of 64, 64, 128, 256, 512 and 1024 KiB, the first page of each
 * separately. The addresses do not matter. */
#include "sim/paging/paging_parts.h"

static wpi_time_ps copy(wpi_paging *p, uint64_t pages, wpi_time_ps now) {
    wpi_time_ps begun = 0;
    return wpi_page_copy(p, pages, WPI_DIRECTION_TO_HOST, now, &begun);
}

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static wpi_time_ps copy_back(wpi_paging *p, uint64_t pages, wpi_time_ps now) {
    wpi_time_ps done = now;
    uint64_t step = WPI_BLOCK_PAGES, sum = 0;
    while (pages > 0) {
        const uint64_t piece = smaller(step, pages);
        done = copy(p, 1, now);
        if (piece > 1) done = copy(p, piece - 1, now);
        pages -= piece;
        sum += step;
        step = sum == WPI_CHUNK_PAGES ? WPI_BLOCK_PAGES : sum;
        sum %= WPI_CHUNK_PAGES;
    }
    return done;
}

wpi_time_ps wpi_paging_synchronize(wpi_paging *paging, wpi_time_ps now) {
    wpi_residency *r = &paging->residency;
    uint64_t returned = 0, stayed = 0;
    if (paging->profile->paging.synchronize == WPI_SYNCHRONIZE_KEEP) return now;
    for (uint32_t i = 0; i < r->chunk_count; i++) {
        const wpi_chunk_number number = {i};
        wpi_chunk *chunk = wpi_residency_chunk_at(r, number);
        const wpi_pages idle = wpi_residency_idle(chunk);
        const wpi_pages written = wpi_pages_and(&idle, &chunk->dirty);
        wpi_staging_keep(paging, number, &chunk->resident);
        returned += wpi_pages_count(&written);
        wpi_residency_leave(r, chunk, &written);
        wpi_tlb_copies_drop(paging, number, &written);
        wpi_page_events_report(&paging->events, WPI_PAGE_RETURNED, number, &written, now);
        const wpi_pages clean = wpi_pages_without(&idle, &written);
        wpi_residency_set_unlisted(r, chunk, &clean);
        stayed += wpi_pages_count(&clean);
    }
    wpi_residency_release(r, returned);
    wpi_residency_lend(r, stayed);
    wpi_evictions_set_oversubscribed(&paging->evictions, false);
    return copy_back(paging, returned, now);
}

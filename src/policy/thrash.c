/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by policies against thrashing and the simulator. */
#include "policy/thrash.h"

#include "base/alloc.h"

void wpi_thrash_reset(wpi_thrash_page *page) {
    *page = (wpi_thrash_page){.moved = WPI_THRASH_NEVER};
}

void wpi_thrash_forget(wpi_thrash *thrash, uint32_t chunk) {
    wpi_free(thrash->chunks[chunk].pages);
    thrash->chunks[chunk] = (wpi_thrash_chunk){0};
}

wpi_processor wpi_thrash_pinned(wpi_thrash *thrash, uint32_t chunk, uint32_t page,
                                wpi_time_ps now) {
    if (thrash->chunks[chunk].pages == NULL) return WPI_PROCESSOR_NONE;
    wpi_thrash_page *own = &thrash->chunks[chunk].pages[page];
    if (own->pinned_on != WPI_PROCESSOR_NONE && own->pinned_to <= now) wpi_thrash_reset(own);
    return (wpi_processor)own->pinned_on;
}

wpi_pages wpi_thrash_pages(const wpi_thrash *thrash, uint32_t chunk) {
    wpi_pages pages = {{0}};
    const wpi_thrash_page *own = thrash->chunks[chunk].pages;
    for (uint32_t page = 0; own != NULL && page < WPI_CHUNK_PAGES; page++)
        if (own[page].events >= thrash->threshold) wpi_pages_add(&pages, page);
    return pages;
}

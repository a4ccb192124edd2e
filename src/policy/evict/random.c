/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/random.h"
#include "policy/evict.h"

/* The chunk's first page from `from` on that may be evicted. */
static uint32_t next_page(const wpi_chunk *chunk, uint32_t from) {
    uint32_t page = wpi_pages_next(&chunk->resident, from);
    while (page < WPI_CHUNK_PAGES && !wpi_page_may_leave(chunk, page))
        page = wpi_pages_next(&chunk->resident, page + 1);
    return page;
}

/* A random page, or the next one that may be evicted. */
static bool choose(const wpi_evict_question *question, uint32_t *chunk, wpi_pages *pages) {
    const wpi_residency *residency = question->residency;
    if (residency->chunk_count == 0) return false;
    const uint64_t start =
        wpi_random_next(question->random) % ((uint64_t)residency->chunk_count * WPI_CHUNK_PAGES);
    uint32_t from = (uint32_t)(start % WPI_CHUNK_PAGES);
    for (uint32_t i = 0; i <= residency->chunk_count; i++, from = 0) {
        *chunk = (uint32_t)((start / WPI_CHUNK_PAGES + i) % residency->chunk_count);
        const uint32_t page = next_page(&residency->chunks[*chunk], from);
        if (page == WPI_CHUNK_PAGES) continue;
        *pages = (wpi_pages){{0}};
        wpi_pages_add(pages, page);
        return true;
    }
    return false;
}

static const wpi_evict_ops ops = {.choose = choose};

const wpi_policy wpi_policy_evict_random = {.kind = "evict",
                                            .name = "random",
                                            .keys = "gpu.seed",
                                            .doc = "a random page",
                                            .source = "Ganguly et al., ISCA'19: random eviction",
                                            .ops = &ops};

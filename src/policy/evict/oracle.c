/* SPDX-License-Identifier: Apache-2.0 */
/* Belady's algorithm: no evictor that takes single pages has fewer misses. Pages that are never
 * used again cost nothing, so all of those in the chunk are evicted together. */
#include "policy/evict.h"

static wpi_pages never_used(const wpi_evict_question *question, uint32_t number) {
    const wpi_chunk *chunk = &question->residency->chunks[number];
    wpi_pages pages = {{0}};
    for (uint32_t page = wpi_pages_next(&chunk->resident, 0); page < WPI_CHUNK_PAGES;
         page = wpi_pages_next(&chunk->resident, page + 1)) {
        if (wpi_page_may_leave(chunk, page) &&
            wpi_future_next(question->future, number * WPI_CHUNK_PAGES + page) == WPI_FUTURE_NEVER)
            wpi_pages_add(&pages, page);
    }
    return pages;
}

/* Finds the chunk's page whose next use is latest, if later than `*next`, which is updated. */
static bool find_later(const wpi_evict_question *question, uint32_t number, uint32_t *next,
                       uint32_t *found) {
    const wpi_chunk *chunk = &question->residency->chunks[number];
    bool is_later = false;
    for (uint32_t page = wpi_pages_next(&chunk->resident, 0); page < WPI_CHUNK_PAGES;
         page = wpi_pages_next(&chunk->resident, page + 1)) {
        const uint32_t own = wpi_future_next(question->future, number * WPI_CHUNK_PAGES + page);
        if (own <= *next || !wpi_page_may_leave(chunk, page)) continue;
        *next = own;
        *found = page;
        is_later = true;
    }
    return is_later;
}

static bool choose(const wpi_evict_question *question, uint32_t *chunk, wpi_pages *pages) {
    uint32_t next = 0, found = WPI_CHUNK_PAGES; /* a next use at 0 is now */
    for (uint32_t i = 0; i < question->residency->chunk_count && next != WPI_FUTURE_NEVER; i++)
        if (find_later(question, i, &next, &found)) *chunk = i;
    if (found == WPI_CHUNK_PAGES) return false;
    *pages = (wpi_pages){{0}};
    wpi_pages_add(pages, found);
    if (next == WPI_FUTURE_NEVER) *pages = never_used(question, *chunk);
    return true;
}

static const wpi_evict_ops ops = {.needs_future = true, .choose = choose};

const wpi_policy wpi_policy_evict_oracle = {
    .kind = "evict",
    .name = "oracle",
    .keys = "",
    .doc = "the page whose next use is farthest in the future, as recorded by an earlier run",
    .source = "Belady, IBM Systems Journal 5(2), 1966: MIN",
    .ops = &ops};

/* SPDX-License-Identifier: Apache-2.0 */
/* Ages only grow, so the noted age of a chunk's oldest page is never more than its present one: the
 * chunk with the smallest note is searched, until its note is exact. Pages of a busy block are in
 * use, whatever their ages. */
#include "policy/evict.h"

/* The age of the oldest page that may be evicted, and the page; UINT64_MAX: none. */
static uint64_t oldest_page(const wpi_evict_question *question, uint32_t number, uint32_t *page) {
    const wpi_chunk *chunk = &question->residency->chunks[number];
    const uint64_t *ages = question->residency->page_ages + (size_t)number * WPI_CHUNK_PAGES;
    uint64_t best = UINT64_MAX;
    for (uint32_t at = wpi_pages_next(&chunk->resident, 0); at < WPI_CHUNK_PAGES;
         at = wpi_pages_next(&chunk->resident, at + 1)) {
        if (ages[at] >= best || !wpi_page_may_leave(chunk, at)) continue;
        best = ages[at];
        *page = at;
    }
    return best;
}

static uint32_t smallest_note(const wpi_evict_question *question, uint64_t *second) {
    uint32_t found = WPI_EVICT_NONE;
    uint64_t best = UINT64_MAX;
    *second = UINT64_MAX;
    for (uint32_t i = 0; i < question->residency->chunk_count; i++) {
        const uint64_t note = question->notes[i];
        if (note >= *second) continue;
        if (wpi_pages_is_empty(&question->residency->chunks[i].resident)) {
            question->notes[i] = question->residency->clock; /* arrivals are younger */
        } else if (note < best) {
            *second = best;
            best = note;
            found = i;
        } else {
            *second = note;
        }
    }
    return found;
}

static bool choose(const wpi_evict_question *question, uint32_t *chunk, wpi_pages *pages) {
    for (uint32_t tries = 2 * question->residency->chunk_count; tries > 0; tries--) {
        uint64_t second = 0;
        uint32_t page = 0;
        *chunk = smallest_note(question, &second);
        if (*chunk == WPI_EVICT_NONE) return false;
        const uint64_t age = oldest_page(question, *chunk, &page);
        question->notes[*chunk] = age != UINT64_MAX ? age : question->residency->clock;
        if (age > second || age == UINT64_MAX) continue;
        *pages = (wpi_pages){{0}};
        wpi_pages_add(pages, page);
        return true;
    }
    return false;
}

static const wpi_evict_ops ops = {.needs_page_ages = true, .choose = choose};

const wpi_policy wpi_policy_evict_lru_4k = {.kind = "evict",
                                            .name = "lru-4k",
                                            .keys = "",
                                            .doc = "the least recently used 4 KiB page",
                                            .source = "Ganguly et al., ISCA'19: LRU of 4 KB",
                                            .ops = &ops};

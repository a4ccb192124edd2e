/* SPDX-License-Identifier: Apache-2.0 */
/* What eviction policies share: chunks in order of age, found by looking at all of them. */
#include "policy/evict.h"

uint32_t wpi_evict_next(const wpi_residency *residency, wpi_evict_age age_of, uint64_t age) {
    uint32_t found = WPI_EVICT_NONE;
    uint64_t best = UINT64_MAX;
    for (uint32_t i = 0; i < residency->chunk_count; i++) {
        const uint64_t own = age_of(&residency->chunks[i]);
        if (own <= age || own >= best || wpi_pages_is_empty(&residency->chunks[i].resident)) continue;
        found = i;
        best = own;
    }
    return found;
}

bool wpi_evict_may_leave(const wpi_evict_question *question, const wpi_chunk *chunk) {
    if (wpi_chunk_is_busy(chunk)) return false;
    return question->is_pressed || wpi_pages_count(&chunk->resident) == chunk->page_count;
}

static uint32_t block_pages(const wpi_chunk *chunk, uint32_t block) {
    const uint32_t first = block * WPI_BLOCK_PAGES;
    if (first >= chunk->page_count) return 0;
    const uint32_t left = chunk->page_count - first;
    return left < WPI_BLOCK_PAGES ? left : WPI_BLOCK_PAGES;
}

static uint32_t resident_in(const wpi_chunk *chunk, uint32_t block) {
    const uint32_t first = block * WPI_BLOCK_PAGES;
    return wpi_pages_count_in(&chunk->resident, first, first + WPI_BLOCK_PAGES);
}

bool wpi_evict_block_may_leave(const wpi_evict_question *question, const wpi_chunk *chunk,
                               uint32_t block) {
    const uint32_t resident = resident_in(chunk, block);
    if (resident == 0 || wpi_block_is_busy(chunk, block)) return false;
    return question->is_pressed || resident == block_pages(chunk, block);
}

/* `percent` of the things there are, counted by chunk. */
static uint64_t reserved(const wpi_evict_question *question,
                         uint64_t (*count)(const wpi_chunk *chunk)) {
    uint64_t sum = 0;
    if (question->reserve_percent == 0 || question->is_pressed) return 0;
    for (uint32_t i = 0; i < question->residency->chunk_count; i++)
        sum += count(&question->residency->chunks[i]);
    return sum * question->reserve_percent / 100;
}

static uint64_t one_if_resident(const wpi_chunk *chunk) {
    return !wpi_pages_is_empty(&chunk->resident);
}

static uint64_t resident_blocks(const wpi_chunk *chunk) {
    uint64_t count = 0;
    for (uint32_t block = 0; block < WPI_CHUNK_BLOCKS; block++)
        count += resident_in(chunk, block) != 0;
    return count;
}

bool wpi_evict_oldest_chunk(const wpi_evict_question *question, wpi_evict_age age_of,
                            uint32_t *chunk, wpi_pages *pages) {
    const wpi_residency *residency = question->residency;
    uint64_t age = 0, skip = reserved(question, one_if_resident);
    for (;;) {
        const uint32_t number = wpi_evict_next(residency, age_of, age);
        if (number == WPI_EVICT_NONE) return false;
        const wpi_chunk *found = &residency->chunks[number];
        age = age_of(found);
        if (skip > 0) {
            skip--;
        } else if (wpi_evict_may_leave(question, found)) {
            *chunk = number;
            *pages = found->resident;
            return true;
        }
    }
}

static uint64_t age_by_use(const wpi_chunk *chunk) {
    return chunk->age;
}

/* Of the blocks older than none that was skipped, the oldest that may leave. */
static uint32_t oldest_in(const wpi_evict_question *question, const wpi_chunk *chunk,
                          uint64_t *skip) {
    uint64_t age = 0;
    for (;;) {
        uint32_t found = WPI_EVICT_NONE;
        uint64_t best = UINT64_MAX;
        for (uint32_t block = 0; block < WPI_CHUNK_BLOCKS; block++) {
            const uint64_t own = chunk->block_ages[block];
            if (own <= age || own >= best || resident_in(chunk, block) == 0) continue;
            found = block;
            best = own;
        }
        if (found == WPI_EVICT_NONE) return found;
        age = best;
        if (*skip > 0)
            --*skip;
        else if (wpi_evict_block_may_leave(question, chunk, found))
            return found;
    }
}

bool wpi_evict_oldest_block(const wpi_evict_question *question, uint32_t *chunk, uint32_t *block) {
    const wpi_residency *residency = question->residency;
    uint64_t age = 0, skip = reserved(question, resident_blocks);
    for (;;) {
        *chunk = wpi_evict_next(residency, age_by_use, age);
        if (*chunk == WPI_EVICT_NONE) return false;
        const wpi_chunk *found = &residency->chunks[*chunk];
        age = found->age;
        const uint64_t blocks = resident_blocks(found);
        if (skip >= blocks) {
            skip -= blocks;
            continue;
        }
        *block = oldest_in(question, found, &skip);
        if (*block != WPI_EVICT_NONE) return true;
    }
}

void wpi_evict_add_block(const wpi_chunk *chunk, uint32_t block, wpi_pages *pages) {
    wpi_pages whole = {{0}};
    wpi_pages_add_range(&whole, block * WPI_BLOCK_PAGES, (block + 1) * WPI_BLOCK_PAGES);
    whole = wpi_pages_and(&whole, &chunk->resident);
    *pages = wpi_pages_or(pages, &whole);
}

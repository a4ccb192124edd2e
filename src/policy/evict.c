/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by eviction policies: chunks in order of age. Ages only grow, so a chunk's noted age is
 * never more than its present one: only chunks whose notes are smaller than the best age found are
 * examined. */
#include "policy/evict.h"

static bool has_frames(const wpi_chunk *chunk) {
    return chunk->is_whole || !wpi_pages_is_empty(&chunk->resident) ||
           !wpi_pages_is_empty(&chunk->coming);
}

/* Returns the oldest chunk that is younger than `age` and that `may` accepts. */
static uint32_t next_chunk(const wpi_evict_question *question, wpi_evict_age age_of, uint64_t age,
                           bool (*may)(const wpi_evict_question *question,
                                       const wpi_chunk *chunk)) {
    const wpi_residency *residency = question->residency;
    uint32_t found = WPI_EVICT_NONE;
    uint64_t best = UINT64_MAX;
    for (uint32_t i = 0; i < residency->chunk_count; i++) {
        if (question->notes[i] >= best) continue;
        const wpi_chunk *chunk = &residency->chunks[i];
        const uint64_t own = age_of(chunk);
        question->notes[i] = has_frames(chunk) ? own : residency->clock; /* arrivals are younger */
        if (own <= age || own >= best || !may(question, chunk)) continue;
        found = i;
        best = own;
    }
    return found;
}

static bool is_resident(const wpi_evict_question *question, const wpi_chunk *chunk) {
    (void)question;
    return !wpi_pages_is_empty(&chunk->resident);
}

bool wpi_evict_may_leave(const wpi_evict_question *question, const wpi_chunk *chunk) {
    if (wpi_chunk_is_busy(chunk) || !wpi_chunk_is_listed(chunk, 0, WPI_CHUNK_PAGES)) return false;
    return question->is_pressed || wpi_pages_count(&chunk->resident) == chunk->page_count;
}

static uint32_t block_pages(const wpi_chunk *chunk, uint32_t block) {
    const uint32_t first = block * WPI_BLOCK_PAGES;
    if (first >= chunk->page_count) return 0;
    const uint32_t left = chunk->page_count - first;
    return left < WPI_BLOCK_PAGES ? left : WPI_BLOCK_PAGES;
}

static uint32_t resident_in(const wpi_chunk *chunk, uint32_t block) {
    return wpi_block_count(&chunk->resident, block);
}

bool wpi_evict_block_may_leave(const wpi_evict_question *question, const wpi_chunk *chunk,
                               uint32_t block) {
    const uint32_t resident = resident_in(chunk, block), first = block * WPI_BLOCK_PAGES;
    if (!wpi_chunk_is_listed(chunk, first, first + WPI_BLOCK_PAGES)) return false;
    if (wpi_block_is_busy(chunk, block)) return false;
    return question->is_pressed || resident == block_pages(chunk, block);
}

/* reserve_percent of a sum over all chunks. */
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
    const wpi_chunk *chunks = question->residency->chunks;
    uint64_t age = 0;
    for (uint64_t skip = reserved(question, one_if_resident); skip > 0; skip--)
        age = age_of(&chunks[next_chunk(question, age_of, age, is_resident)]);
    *chunk = next_chunk(question, age_of, age, wpi_evict_may_leave);
    if (*chunk == WPI_EVICT_NONE) return false;
    *pages = chunks[*chunk].resident;
    return true;
}

static uint64_t age_by_use(const wpi_chunk *chunk) {
    return chunk->age;
}

/* Returns the chunk's oldest block that may be evicted, after *skip older blocks. */
static uint32_t oldest_in(const wpi_evict_question *question, const wpi_chunk *chunk,
                          uint64_t *skip) {
    uint64_t age = 0;
    for (;;) {
        uint32_t found = WPI_EVICT_NONE;
        uint64_t best = UINT64_MAX;
        for (uint32_t block = 0; block < WPI_CHUNK_BLOCKS; block++) {
            const uint64_t own = chunk->blocks[block].age;
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

static bool has_block(const wpi_evict_question *question, const wpi_chunk *chunk) {
    for (uint32_t block = 0; block < WPI_CHUNK_BLOCKS; block++)
        if (wpi_evict_block_may_leave(question, chunk, block)) return true;
    return false;
}

bool wpi_evict_oldest_block(const wpi_evict_question *question, uint32_t *chunk, uint32_t *block) {
    const wpi_residency *residency = question->residency;
    uint64_t age = 0, skip = reserved(question, resident_blocks);
    for (;;) {
        *chunk = next_chunk(question, age_by_use, age, skip > 0 ? is_resident : has_block);
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/evict.h"

static uint64_t accesses_of(const wpi_chunk *chunk) {
    uint64_t sum = 0;
    for (uint32_t block = 0; block < WPI_CHUNK_BLOCKS; block++)
        sum += wpi_counter_accesses(chunk->blocks[block].counter);
    return sum;
}

static bool leaves_before(const wpi_chunk *chunk, const wpi_chunk *other) {
    const uint64_t accesses = accesses_of(chunk), others = accesses_of(other);
    if (accesses != others) return accesses < others;
    if (chunk->is_written != other->is_written) return other->is_written;
    return chunk->age < other->age;
}

static bool choose(const wpi_evict_question *question, uint32_t *chunk, wpi_pages *pages) {
    const wpi_chunk *best = NULL;
    for (uint32_t i = 0; i < question->residency->chunk_count; i++) {
        const wpi_chunk *own = &question->residency->chunks[i];
        if (!wpi_evict_may_leave(question, own)) continue;
        if (best == NULL || leaves_before(own, best)) best = own;
    }
    if (best == NULL) return false;
    *chunk = (uint32_t)(best - question->residency->chunks);
    *pages = best->resident;
    return true;
}

static const wpi_evict_ops ops = {.choose = choose};

const wpi_policy wpi_policy_evict_lfu_2m = {
    .kind = "evict",
    .name = "lfu-2m",
    .keys = "",
    .doc = "the 2 MiB chunk with the fewest counted accesses; on a tie, chunks that were "
           "only read first, then the least recently used",
    .source = "Ganguly et al., IPDPS'20, section IV",
    .ops = &ops};

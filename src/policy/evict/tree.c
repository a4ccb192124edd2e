/* SPDX-License-Identifier: Apache-2.0 */
/* The inverse of the tree prefetcher: a block is evicted, and then the rest of each node of which
 * less than half is left. */
#include "policy/evict.h"

/* As in the prefetcher's tree, requested pages count as present, and pages to be evicted as
 * absent. */
static wpi_pages in_tree(const wpi_chunk *chunk) {
    const wpi_pages listed = wpi_pages_without(&chunk->resident, &chunk->unlisted);
    const wpi_pages expected = wpi_pages_or(&chunk->coming, &chunk->planned);
    return wpi_pages_or(&listed, &expected);
}

static uint32_t left_in(const wpi_pages *there, const wpi_pages *leaving, uint32_t first,
                        uint32_t pages) {
    return wpi_pages_count_in(there, first, first + pages) -
           wpi_pages_count_in(leaving, first, first + pages);
}

static void drain(const wpi_evict_question *question, const wpi_chunk *chunk, uint32_t first,
                  uint32_t pages, wpi_pages *leaving) {
    for (uint32_t page = first; page < first + pages; page += WPI_BLOCK_PAGES) {
        const uint32_t block = page / WPI_BLOCK_PAGES;
        if (wpi_evict_block_may_leave(question, chunk, block))
            wpi_evict_add_block(chunk, block, leaving);
    }
}

static bool choose(const wpi_evict_question *question, uint32_t *chunk, wpi_pages *pages) {
    uint32_t block = 0;
    if (!wpi_evict_oldest_block(question, chunk, &block)) return false;
    const wpi_chunk *found = &question->residency->chunks[*chunk];
    const wpi_pages there = in_tree(found);
    *pages = (wpi_pages){{0}};
    wpi_evict_add_block(found, block, pages);
    for (uint32_t size = 2 * WPI_BLOCK_PAGES; size <= found->tree_pages; size *= 2) {
        const uint32_t first = block * WPI_BLOCK_PAGES / size * size;
        const uint32_t left = left_in(&there, pages, first, size);
        if (left != 0 && 2 * left < size) drain(question, found, first, size, pages);
    }
    return true;
}

static const wpi_evict_ops ops = {.choose = choose};

const wpi_policy wpi_policy_evict_tree = {
    .kind = "evict",
    .name = "tree",
    .keys = "paging.reserve",
    .doc = "as sequential-local, and the rest of each larger node of the tree of which less "
           "than half then remains resident",
    .source = "Ganguly et al., ISCA'19: tree-based eviction",
    .ops = &ops};

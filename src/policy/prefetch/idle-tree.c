/* SPDX-License-Identifier: Apache-2.0 */
/* Faults prefetch as under `tree`. While the link is idle, the rest of the chunk that last got
 * frames is fetched, 64 KiB at a time, if its resident share is at least the share of memory in
 * use: frames are cheap while many are free. */
#include "policy/prefetch.h"

#include <stddef.h>

static void choose(const wpi_prefetch_question *question, wpi_pages *out) {
    ((const wpi_prefetch_ops *)wpi_policy_prefetch_tree.ops)->choose(question, out);
}

static bool is_worth_its_frames(const wpi_residency *r, const wpi_chunk *chunk) {
    if (chunk->is_whole) return false;
    const wpi_pages missing = wpi_prefetch_missing(chunk);
    const uint64_t here = wpi_pages_count(&chunk->resident);
    const uint64_t taken = r->used + r->coming + r->leaving;
    return here > 0 && !wpi_pages_is_empty(&missing) &&
           here * r->frames >= chunk->page_count * taken;
}

static const wpi_chunk *youngest_chunk(const wpi_residency *r) {
    const wpi_chunk *youngest = NULL;
    for (uint32_t i = 0; i < r->chunk_count; i++) {
        const wpi_chunk *chunk = &r->chunks[i];
        const bool is_younger = youngest == NULL || chunk->frames_age > youngest->frames_age;
        if (is_younger && is_worth_its_frames(r, chunk)) youngest = chunk;
    }
    return youngest;
}

/* Considers resident blocks only: faults in others are known when they are serviced. */
static uint32_t youngest_block(const wpi_chunk *chunk) {
    uint32_t youngest = wpi_pages_next_block(&chunk->resident, 0);
    for (uint32_t block = youngest; block < WPI_CHUNK_BLOCKS;
         block = wpi_pages_next_block(&chunk->resident, block + 1))
        if (chunk->blocks[block].age > chunk->blocks[youngest].age) youngest = block;
    return youngest;
}

/* The next missing block from the youngest block on, with wrap-around. */
static bool next(const wpi_prefetch_idle *question, uint32_t *chunk, wpi_pages *out) {
    const wpi_residency *r = question->residency;
    const wpi_chunk *youngest = youngest_chunk(r);
    if (youngest == NULL) return false;
    const wpi_pages missing = wpi_prefetch_missing(youngest);
    uint32_t page = wpi_pages_next(&missing, youngest_block(youngest) * WPI_BLOCK_PAGES);
    if (page == WPI_CHUNK_PAGES) page = wpi_pages_next(&missing, 0);
    *chunk = (uint32_t)(youngest - r->chunks);
    *out = wpi_prefetch_of_block(&missing, page);
    return true;
}

static const wpi_prefetch_ops ops = {.choose = choose, .next = next};

const wpi_policy wpi_policy_prefetch_idle_tree = {
    .kind = "prefetch",
    .name = "idle-tree",
    .keys = "",
    .doc = "as tree; while the link is idle, further 64 KiB blocks of the 2 MiB chunk whose "
           "device memory was allocated last",
    .source = "docs/rooms/payback.md",
    .ops = &ops};

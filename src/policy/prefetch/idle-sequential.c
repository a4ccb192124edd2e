/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/prefetch.h"

/* *position is the page after the last one fetched, counted from managed memory's first. */
static bool next(const wpi_prefetch_idle *question, uint32_t *chunk, wpi_pages *out) {
    const wpi_residency *r = question->residency;
    for (uint32_t i = 0; i <= r->chunk_count; i++) { /* the first chunk twice */
        *chunk = (uint32_t)(*question->position / WPI_CHUNK_PAGES) % r->chunk_count;
        const uint64_t first = (uint64_t)*chunk * WPI_CHUNK_PAGES;
        const wpi_pages missing = wpi_prefetch_missing(&r->chunks[*chunk]);
        const uint32_t page =
            wpi_pages_next(&missing, (uint32_t)(*question->position % WPI_CHUNK_PAGES));
        if (page != WPI_CHUNK_PAGES) {
            *out = wpi_prefetch_of_block(&missing, page);
            *question->position = first + (page / WPI_BLOCK_PAGES + 1) * WPI_BLOCK_PAGES;
            return true;
        }
        *question->position = first + WPI_CHUNK_PAGES;
    }
    return false;
}

static const wpi_prefetch_ops ops = {.choose = wpi_prefetch_nothing, .next = next};

const wpi_policy wpi_policy_prefetch_idle_sequential = {
    .kind = "prefetch",
    .name = "idle-sequential",
    .keys = "",
    .doc = "nothing with a fault; while the link is idle, the next non-resident 64 KiB block "
           "in address order",
    .source = "Zheng et al., HPCA'16: sequential prefetcher; the size is our choice",
    .ops = &ops};

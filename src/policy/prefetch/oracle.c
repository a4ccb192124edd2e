/* SPDX-License-Identifier: Apache-2.0 */
/* When the link is idle, fetches the missing page that is used next, and the pages of its block
 * that are used soon, which are faster to fetch with it than alone. */
#include "policy/prefetch.h"

#include <stddef.h>

static bool is_missing(const wpi_residency *residency, uint32_t number) {
    if (number / WPI_CHUNK_PAGES >= residency->chunk_count) return false;
    const wpi_pages missing = wpi_prefetch_missing(&residency->chunks[number / WPI_CHUNK_PAGES]);
    return wpi_pages_has(&missing, number % WPI_CHUNK_PAGES);
}

/* The pages that are used within the next frames / 2 notes. */
static wpi_pages used_soon(const wpi_future *future, uint32_t chunk, const wpi_pages *pages,
                           uint64_t frames) {
    const uint64_t outer = future->now + frames / 2 + 1;
    wpi_pages soon = {{0}};
    for (uint32_t page = wpi_pages_next(pages, 0); page < WPI_CHUNK_PAGES;
         page = wpi_pages_next(pages, page + 1))
        if (wpi_future_next(future, chunk * WPI_CHUNK_PAGES + page) < outer)
            wpi_pages_add(&soon, page);
    return soon;
}

/* A page that faults was not prefetched in time: fetches with it the pages of its block that are
 * used soon. */
static void choose(const wpi_prefetch_question *question, wpi_pages *out) {
    wpi_pages blocks = {{0}};
    wpi_prefetch_blocks(&question->faulting, &blocks);
    if (question->future != NULL)
        *out = used_soon(question->future, question->chunk, &blocks, question->frames);
}

static bool next(const wpi_prefetch_idle *question, uint32_t *chunk, wpi_pages *out) {
    const wpi_future *future = question->future;
    uint64_t *at = question->position;
    if (*at < future->now) *at = future->now;
    while (*at < future->count && !is_missing(question->residency, future->pages[*at]))
        ++*at;
    if (*at >= future->count) return false;
    *chunk = future->pages[*at] / WPI_CHUNK_PAGES;
    const wpi_pages missing = wpi_prefetch_missing(&question->residency->chunks[*chunk]);
    const wpi_pages block = wpi_prefetch_of_block(&missing, future->pages[*at] % WPI_CHUNK_PAGES);
    *out = used_soon(future, *chunk, &block, question->residency->frames);
    wpi_pages_add(out, future->pages[*at] % WPI_CHUNK_PAGES); /* in any case */
    return true;
}

static const wpi_prefetch_ops ops = {.choose = choose, .next = next, .needs_future = true};

const wpi_policy wpi_policy_prefetch_oracle = {
    .kind = "prefetch",
    .name = "oracle",
    .keys = "",
    .doc = "while the link is idle, the pages that an earlier run used next",
    .source = "Zheng et al., HPCA'16: oracle prefetcher",
    .ops = &ops};

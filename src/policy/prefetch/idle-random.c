/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/prefetch.h"
#include "policy/random.h"

static uint64_t count_missing(const wpi_residency *r) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < r->chunk_count; i++) {
        const wpi_pages missing = wpi_prefetch_missing(&r->chunks[i]);
        count += wpi_pages_count(&missing);
    }
    return count;
}

/* The page of the set that follows `before` others. */
static uint32_t page_at(const wpi_pages *set, uint64_t before) {
    uint32_t page = wpi_pages_next(set, 0);
    while (before-- > 0)
        page = wpi_pages_next(set, page + 1);
    return page;
}

static bool next(const wpi_prefetch_idle *question, uint32_t *chunk, wpi_pages *out) {
    const wpi_residency *r = question->residency;
    const uint64_t count = count_missing(r);
    if (count == 0) return false;
    uint64_t left = wpi_random_next(question->random) % count;
    for (*chunk = 0;; ++*chunk) {
        const wpi_pages missing = wpi_prefetch_missing(&r->chunks[*chunk]);
        const uint32_t here = wpi_pages_count(&missing);
        if (left < here) {
            *out = wpi_prefetch_of_block(&missing, page_at(&missing, left));
            return true;
        }
        left -= here;
    }
}

static const wpi_prefetch_ops ops = {.choose = wpi_prefetch_nothing, .next = next};

const wpi_policy wpi_policy_prefetch_idle_random = {
    .kind = "prefetch",
    .name = "idle-random",
    .keys = "gpu.seed",
    .doc = "nothing with a fault; while the link is idle, the 64 KiB block of a random "
           "non-resident page",
    .source = "Zheng et al., HPCA'16: random prefetcher; the size is our choice",
    .ops = &ops};

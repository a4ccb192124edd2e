/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/prefetch.h"

static uint64_t next_random(uint64_t *state) { /* xorshift64* */
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

/* A page that is missing, each as likely as the others; none if there is none. */
static void add_missing(const wpi_prefetch_question *question, wpi_pages *out) {
    wpi_pages missing = {{0}};
    wpi_pages_add_range(&missing, 0, question->page_count);
    missing = wpi_pages_without(&missing, &question->here);
    missing = wpi_pages_without(&missing, &question->faulting);
    missing = wpi_pages_without(&missing, out);
    const uint32_t count = wpi_pages_count(&missing);
    if (count == 0) return;
    uint32_t page = wpi_pages_next(&missing, 0);
    for (uint64_t skip = next_random(question->random) % count; skip > 0; skip--)
        page = wpi_pages_next(&missing, page + 1);
    wpi_pages_add(out, page);
}

static void choose(const wpi_prefetch_question *question, wpi_pages *out) {
    for (uint32_t left = wpi_pages_count(&question->faulting); left > 0; left--)
        add_missing(question, out);
}

static const wpi_prefetch_ops ops = {choose};

const wpi_policy wpi_policy_prefetch_random = {
    .kind = "prefetch",
    .name = "random",
    .keys = "gpu.seed",
    .doc = "for each page that faults another of its 2 MiB, at random",
    .source = "Ganguly et al., ISCA'19: random prefetcher",
    .ops = &ops};

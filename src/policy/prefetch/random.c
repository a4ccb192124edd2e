/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/prefetch.h"

static uint64_t next_random(uint64_t *state) { /* xorshift64* */
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

/* Any page of the tree, each as likely as the others; one that is here already is left out. */
static void add_any(const wpi_prefetch_question *question, wpi_pages *out) {
    wpi_pages_add(out, (uint32_t)(next_random(question->random) % question->tree_pages));
}

static void choose(const wpi_prefetch_question *question, wpi_pages *out) {
    for (uint32_t left = wpi_pages_count(&question->faulting); left > 0; left--)
        add_any(question, out);
}

static const wpi_prefetch_ops ops = {.choose = choose};

const wpi_policy wpi_policy_prefetch_random = {
    .kind = "prefetch",
    .name = "random",
    .keys = "gpu.seed",
    .doc = "for each page that faults one of its 2 MiB at random, if it is missing",
    .source = "Ganguly et al., ISCA'19: random prefetcher",
    .ops = &ops};

/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/random.h"
#include "policy/prefetch.h"

/* Adds a page of the tree, chosen uniformly, unless it is resident. */
static void add_any(const wpi_prefetch_question *question, wpi_pages *out) {
    wpi_pages_add(out, (uint32_t)(wpi_random_next(question->random) % question->tree_pages));
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
    .doc = "for each faulting page, one random page of the same 2 MiB chunk if it is not "
           "resident",
    .source = "Ganguly et al., ISCA'19: random prefetcher",
    .ops = &ops};

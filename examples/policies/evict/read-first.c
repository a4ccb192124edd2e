/* SPDX-License-Identifier: Apache-2.0 */
/* An example of a policy: evicts clean chunks (2 MiB) before dirty ones, the least recently used
 * first. */
#include "policy/evict.h"

static bool leaves_before(const wpi_chunk *chunk, const wpi_chunk *other) {
    if (chunk->is_written != other->is_written) return other->is_written;
    return chunk->age < other->age;
}

static bool choose(const wpi_evict_question *question, uint32_t *chunk, wpi_pages *pages) {
    const wpi_residency *residency = question->residency;
    const wpi_chunk *best = NULL;
    for (uint32_t i = 0; i < residency->chunk_count; i++) {
        const wpi_chunk *own = &residency->chunks[i];
        if (wpi_pages_is_empty(&own->resident) || !wpi_evict_may_leave(question, own)) continue;
        if (best == NULL || leaves_before(own, best)) best = own;
    }
    if (best == NULL) return false;
    *chunk = (uint32_t)(best - residency->chunks);
    *pages = best->resident;
    return true;
}

static const wpi_evict_ops ops = {.choose = choose};

const wpi_policy wpi_policy_evict_read_first = {.kind = "evict",
                                                .name = "read-first",
                                                .keys = "",
                                                .doc = "clean chunks of 2 MiB before dirty ones",
                                                .source = "an example",
                                                .ops = &ops};

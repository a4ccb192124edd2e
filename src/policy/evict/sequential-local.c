/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/evict.h"

static bool choose(const wpi_evict_question *question, uint32_t *chunk, wpi_pages *pages) {
    uint32_t block = 0;
    if (!wpi_evict_oldest_block(question, chunk, &block)) return false;
    *pages = (wpi_pages){{0}};
    wpi_evict_add_block(&question->residency->chunks[*chunk], block, pages);
    return true;
}

static const wpi_evict_ops ops = {.choose = choose};

const wpi_policy wpi_policy_evict_sequential_local = {
    .kind = "evict",
    .name = "sequential-local",
    .keys = "paging.reserve",
    .doc = "the least recently used 64 KiB block of the least recently used 2 MiB chunk",
    .source = "Ganguly et al., ISCA'19: sequential-local eviction",
    .ops = &ops};

/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/evict.h"

static uint64_t age_of(const wpi_chunk *chunk) {
    return chunk->age;
}

static bool choose(const wpi_evict_question *question, uint32_t *chunk, wpi_pages *pages) {
    return wpi_evict_oldest_chunk(question, age_of, chunk, pages);
}

static const wpi_evict_ops ops = {.choose = choose};

const wpi_policy wpi_policy_evict_lru_2m = {
    .kind = "evict",
    .name = "lru-2m",
    .keys = "paging.reserve",
    .doc = "the least recently used 2 MiB chunk that is fully resident",
    .source = "Ganguly et al., IPDPS'20, section II-C",
    .ops = &ops};

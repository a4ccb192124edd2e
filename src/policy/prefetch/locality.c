/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/prefetch.h"

#define REGION_PAGES 128u /* 512 KiB */

static void choose(const wpi_prefetch_question *question, wpi_pages *out) {
    for (uint32_t page = wpi_pages_next(&question->faulting, 0); page < WPI_CHUNK_PAGES;) {
        const uint32_t region = page / REGION_PAGES * REGION_PAGES;
        wpi_pages_add_range(out, region, region + REGION_PAGES);
        page = wpi_pages_next(&question->faulting, region + REGION_PAGES);
    }
}

static const wpi_prefetch_ops ops = {.choose = choose};

const wpi_policy wpi_policy_prefetch_locality = {
    .kind = "prefetch",
    .name = "locality",
    .keys = "",
    .doc = "the rest of the aligned 512 KiB around each fault",
    .source = "Zheng et al., HPCA'16: locality-aware prefetcher; the size is our choice",
    .ops = &ops};

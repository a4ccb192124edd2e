/* SPDX-License-Identifier: Apache-2.0 */
/* An example of a policy: fetches the 64 KiB block of each faulting page and the next block. */
#include "policy/prefetch.h"

static void choose(const wpi_prefetch_question *question, wpi_pages *out) {
    for (uint32_t page = wpi_pages_next(&question->faulting, 0); page < WPI_CHUNK_PAGES;) {
        const uint32_t block = page / WPI_BLOCK_PAGES * WPI_BLOCK_PAGES;
        wpi_pages_add_range(out, block, block + 2 * WPI_BLOCK_PAGES);
        page = wpi_pages_next(&question->faulting, block + WPI_BLOCK_PAGES);
    }
}

static const wpi_prefetch_ops ops = {.choose = choose};

const wpi_policy wpi_policy_prefetch_next_block = {.kind = "prefetch",
                                                   .name = "next-block",
                                                   .keys = "",
                                                   .doc = "the faulting 64 KiB block and the next",
                                                   .source = "an example",
                                                   .ops = &ops};

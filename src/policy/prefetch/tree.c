/* SPDX-License-Identifier: Apache-2.0 */
/* The neighbourhood prefetcher that Ganguly et al. found in NVIDIA's driver: blocks are leaves; a
 * node of which more than half is resident is completed. */
#include "policy/prefetch.h"

/* Visits children first, so that their additions count for their parent. Returns how many pages of
 * the node are present afterwards. */
static uint32_t balance(wpi_pages *there, uint32_t first, uint32_t pages) {
    if (pages == WPI_BLOCK_PAGES) return wpi_block_count(there, first / WPI_BLOCK_PAGES);
    const uint32_t half = pages / 2;
    const uint32_t count = balance(there, first, half) + balance(there, first + half, half);
    if (count <= half) return count;
    wpi_pages_add_range(there, first, first + pages);
    return pages;
}

static void choose(const wpi_prefetch_question *question, wpi_pages *out) {
    wpi_prefetch_blocks(&question->faulting, out);
    wpi_pages there = wpi_pages_or(&question->here, out);
    (void)balance(&there, 0, question->tree_pages);
    *out = there;
}

static const wpi_prefetch_ops ops = {.choose = choose};

const wpi_policy wpi_policy_prefetch_tree = {
    .kind = "prefetch",
    .name = "tree",
    .keys = "",
    .doc = "the rest of the faulting 64 KiB blocks, and of each larger node of the tree of "
           "which more than half is then resident",
    .source = "Ganguly et al., IPDPS'20, section II-B",
    .ops = &ops};

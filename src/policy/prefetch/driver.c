/* SPDX-License-Identifier: Apache-2.0 */
/* As in NVIDIA's driver 595: completes blocks that fault; then, for each page that faults, the
 * largest aligned region around it of which more than the threshold is resident. The first time
 * that a chunk is used on its preferred location, it is fetched as a whole. */
#include "policy/prefetch.h"

static uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* Regions at the end of an allocation have only the pages that exist. */
static bool is_dense(const wpi_prefetch_question *question, const wpi_pages *there, uint32_t first,
                     uint32_t pages) {
    const uint32_t outer = smaller(first + pages, question->page_count);
    return wpi_pages_count_in(there, first, outer) * 100 >
           (outer - first) * question->threshold_percent;
}

static void add_region(const wpi_prefetch_question *question, const wpi_pages *there, uint32_t page,
                       wpi_pages *out) {
    for (uint32_t pages = WPI_CHUNK_PAGES; pages > 1; pages /= 2) {
        const uint32_t first = page / pages * pages;
        if (!is_dense(question, there, first, pages)) continue;
        wpi_pages_add_range(out, first, first + pages);
        return;
    }
}

static void choose(const wpi_prefetch_question *question, wpi_pages *out) {
    wpi_prefetch_blocks(&question->faulting, out);
    wpi_pages there = wpi_pages_or(&question->here, out);
    for (uint32_t page = wpi_pages_next(&question->faulting, 0); page < WPI_CHUNK_PAGES;
         page = wpi_pages_next(&question->faulting, page + 1))
        add_region(question, &there, page, out);
    *out = wpi_pages_or(out, &question->first);
}

static const wpi_prefetch_ops ops = {.choose = choose};

const wpi_policy wpi_policy_prefetch_driver = {
    .kind = "prefetch",
    .name = "driver",
    .keys = "paging.prefetch_threshold",
    .doc = "the rest of the faulting 64 KiB blocks, and of the largest aligned region around "
           "each fault of which more than paging.prefetch_threshold percent are then "
           "resident",
    .source = "NVIDIA's open driver 595: uvm_perf_prefetch",
    .ops = &ops};

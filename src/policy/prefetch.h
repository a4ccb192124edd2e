/* SPDX-License-Identifier: Apache-2.0 */
/** Which pages come with those that far-faulted. */
#ifndef WP_POLICY_PREFETCH_H
#define WP_POLICY_PREFETCH_H

#include "policy/pages.h"
#include "policy/policy.h"

/** Far faults of one service on one chunk of an allocation. */
typedef struct wpi_prefetch_question {
    wpi_pages faulting;         /* not empty; they come in any case */
    wpi_pages here;             /* resident, or on the way */
    uint32_t page_count;        /* of the allocation, in this chunk: pages [0, page_count) */
    uint32_t tree_pages;        /* of the chunk's tree: WPI_BLOCK_PAGES times a power of two */
    uint32_t threshold_percent; /* paging.prefetch_threshold */
    uint64_t *random;           /* state of a generator, never 0 */
} wpi_prefetch_question;

typedef struct wpi_prefetch_ops {
    /* Adds to `out`, which is empty, what should come too. Pages that are here, fault or are not the
     * allocation's are left out by who asks. */
    void (*choose)(const wpi_prefetch_question *question, wpi_pages *out);
} wpi_prefetch_ops;

/** The blocks of 64 KiB that fault, whole. */
static inline void wpi_prefetch_blocks(const wpi_pages *faulting, wpi_pages *out) {
    for (uint32_t page = wpi_pages_next(faulting, 0); page < WPI_CHUNK_PAGES;) {
        const uint32_t block = page / WPI_BLOCK_PAGES * WPI_BLOCK_PAGES;
        wpi_pages_add_range(out, block, block + WPI_BLOCK_PAGES);
        page = wpi_pages_next(faulting, block + WPI_BLOCK_PAGES);
    }
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Prefetch policy: which pages to fetch with those that far-faulted, and which while the link is
 * idle. */
#ifndef WP_POLICY_PREFETCH_H
#define WP_POLICY_PREFETCH_H

#include "policy/future.h"
#include "policy/policy.h"
#include "policy/residency.h"

/** A service's far faults on one chunk of an allocation. */
typedef struct wpi_prefetch_question {
    wpi_pages faulting;         /* not empty; they are fetched in any case */
    wpi_pages here;             /* resident, or in flight */
    wpi_pages first;            /* of a chunk never used before: those that prefer the device */
    uint32_t page_count;        /* pages of the allocation in this chunk: [0, page_count) */
    uint32_t tree_pages;        /* of the chunk's tree: WPI_BLOCK_PAGES times a power of two */
    uint32_t threshold_percent; /* paging.prefetch_threshold */
    uint64_t *random;           /* state of a generator, never 0 */
    uint32_t chunk;             /* its number */
    uint64_t frames;            /* of the device */
    const wpi_future *future;   /* NULL: not known */
} wpi_prefetch_question;

/** Nothing is copied to the device. If the future is not known, nothing has been evicted yet. */
typedef struct wpi_prefetch_idle {
    const wpi_residency *residency;
    const wpi_future *future; /* NULL: not known */
    uint64_t *position; /* the policy's own; 0 initially. If it needs the future: a time before
                           which all used pages are resident; set back when pages are evicted */
    uint64_t *random;   /* state of a generator, never 0 */
} wpi_prefetch_idle;

typedef struct wpi_prefetch_ops {
    /* Adds to `out`, which is empty, the pages to fetch too. The caller removes pages that are
     * resident, fault, or do not belong to the allocation. */
    void (*choose)(const wpi_prefetch_question *question, wpi_pages *out);
    /* Optional: the pages to fetch next, out of wpi_prefetch_missing of a chunk; few, as faults
     * wait for them. The caller removes those without a frame. False: none. */
    bool (*next)(const wpi_prefetch_idle *question, uint32_t *chunk, wpi_pages *out);
    bool needs_future; /* then pages that are used later are evicted for those to fetch next */
} wpi_prefetch_ops;

extern const wpi_policy wpi_policy_prefetch_tree; /* used by idle-tree when pages fault */

/** Prefetches nothing. */
static inline void wpi_prefetch_nothing(const wpi_prefetch_question *question, wpi_pages *out) {
    (void)question;
    (void)out;
}

/** Pages that exist, are neither resident nor in flight, and need not stay on the host. */
static inline wpi_pages wpi_prefetch_missing(const wpi_chunk *chunk) {
    wpi_pages missing = {{0}};
    wpi_pages_add_range(&missing, 0, chunk->page_count);
    missing = wpi_pages_without(&missing, &chunk->resident);
    missing = wpi_pages_without(&missing, &chunk->coming);
    missing = wpi_pages_without(&missing, &chunk->planned);
    return wpi_pages_without(&missing, &chunk->stays_on_host);
}

/** Those of `pages` that are in the block of `page`. */
static inline wpi_pages wpi_prefetch_of_block(const wpi_pages *pages, uint32_t page) {
    const uint32_t first = page / WPI_BLOCK_PAGES * WPI_BLOCK_PAGES;
    wpi_pages block = {{0}};
    wpi_pages_add_range(&block, first, first + WPI_BLOCK_PAGES);
    return wpi_pages_and(pages, &block);
}

/** Adds the complete 64 KiB blocks of the pages that fault. */
static inline void wpi_prefetch_blocks(const wpi_pages *faulting, wpi_pages *out) {
    for (uint32_t page = wpi_pages_next(faulting, 0); page < WPI_CHUNK_PAGES;) {
        const uint32_t block = page / WPI_BLOCK_PAGES * WPI_BLOCK_PAGES;
        wpi_pages_add_range(out, block, block + WPI_BLOCK_PAGES);
        page = wpi_pages_next(faulting, block + WPI_BLOCK_PAGES);
    }
}

#endif

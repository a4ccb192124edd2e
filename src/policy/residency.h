/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Locations of pages of managed memory, read-only for policies. Chunks are contiguous from one
 * address on; the simulator (sim/paging/page_residency.h) changes them.
 *
 *     page:   on the host ─► planned ── got a frame ─► coming ─► resident ── evicted ─► on the host
 *             untouched ───────┘        the same, but nothing comes over the link
 *
 * Ages are values of a clock that ticks with every use, so a smaller one is longer ago.
 */
#ifndef WP_POLICY_RESIDENCY_H
#define WP_POLICY_RESIDENCY_H

#include "policy/pages.h"

/** A block's counter: accesses, local and remote, and round trips. When a part is full, that part
 * of all counters is halved (Ganguly et al., IPDPS'20, section IV). */
#define WPI_COUNTER_BITS 27u
#define WPI_COUNTER_MAX ((1u << WPI_COUNTER_BITS) - 1)
#define WPI_ROUND_TRIPS_MAX (UINT32_MAX >> WPI_COUNTER_BITS)

typedef struct wpi_chunk_block {
    uint64_t age;          /* of its last use or arrival; 0: never */
    uint32_t remote_bytes; /* of accesses over the link, since pages were last evicted; … */
    uint32_t local_bytes;  /* … of local ones; both saturate */
    uint32_t counter;      /* round trips << COUNTER_BITS | accesses */
    uint32_t in_use;       /* accesses to resident pages in flight */
    uint32_t evictions;    /* number of evictions of its pages; never halved */
    uint32_t in_vain;      /* number of last consecutive evictions after a stay that did not pay */
} wpi_chunk_block;

/** Members that are used together share a cache line of the host: with large memory there are
 * thousands of chunks, which mostly are not cached. */
typedef struct wpi_chunk {
    _Alignas(64) uint32_t page_count; /* of its allocation; 0: no allocation */
    uint32_t tree_pages;              /* WPI_BLOCK_PAGES times a power of two */
    uint64_t age;                     /* the youngest of its blocks' */
    uint64_t frames_age;              /* when it was last given frames */
    uint32_t in_use;                  /* the sum of its blocks' */
    uint32_t came;                    /* a bit for each block that was ever resident */
    bool is_written;                  /* a page was written since the chunk last had no frame */
    bool is_whole;                    /* all of 2 MiB is resident */
    _Alignas(64) wpi_pages resident;  /* on the device */
    wpi_pages coming;                 /* in flight, with a frame */
    wpi_pages planned;                /* waiting for frames */
    wpi_pages dirty;                  /* resident, and written since they arrived */
    wpi_pages unused;                 /* prefetched, and not used since */
    wpi_pages left;                   /* were resident, and evicted */
    wpi_pages untouched;              /* never used: they are nowhere yet */
    wpi_pages unlisted; /* not evicted until used: kept by host_synchronize.c, or staged */
    wpi_pages read_mostly, stays_on_host; /* by the program's advice */
    wpi_pages prefers_device;             /* … the device is their preferred location */
    wpi_chunk_block blocks[WPI_CHUNK_BLOCKS];
} wpi_chunk;

typedef struct wpi_residency {
    uint64_t first; /* address of chunks[0]; a multiple of WPI_CHUNK_BYTES */
    wpi_chunk *chunks;
    uint32_t chunk_count;
    uint64_t frames;                /* of the device */
    uint64_t used, coming, leaving; /* of these: resident, in flight, not written back yet */
    uint64_t lent;     /* of these: in excess of the device's (sim/paging/host_synchronize.c) */
    bool has_unlisted; /* some chunk may have unlisted pages */
    uint64_t clock;
    uint64_t *page_ages; /* [chunk][page], of resident pages; NULL: no policy needs them */
} wpi_residency;

static inline uint32_t wpi_counter_accesses(uint32_t counter) {
    return counter & WPI_COUNTER_MAX;
}

static inline uint32_t wpi_counter_round_trips(uint32_t counter) {
    return counter >> WPI_COUNTER_BITS;
}

/** Accesses to the block, or transfers of its pages, are in flight: it cannot be evicted. */
static inline bool wpi_block_is_busy(const wpi_chunk *chunk, uint32_t block) {
    return chunk->blocks[block].in_use != 0 || wpi_block_has(&chunk->coming, block);
}

/** Whether the page alone may be evicted. */
static inline bool wpi_page_may_leave(const wpi_chunk *chunk, uint32_t page) {
    return !wpi_block_is_busy(chunk, page / WPI_BLOCK_PAGES) &&
           !wpi_pages_has(&chunk->unlisted, page);
}

/** Whether some of the pages [first, outer) are resident and not unlisted. */
static inline bool wpi_chunk_is_listed(const wpi_chunk *chunk, uint32_t first, uint32_t outer) {
    if (wpi_pages_is_empty(&chunk->unlisted) && first == 0 && outer == WPI_CHUNK_PAGES)
        return !wpi_pages_is_empty(&chunk->resident); /* by far the most frequent call */
    return wpi_pages_count_in(&chunk->resident, first, outer) >
           wpi_pages_count_in(&chunk->unlisted, first, outer);
}

static inline bool wpi_chunk_is_busy(const wpi_chunk *chunk) {
    return chunk->in_use != 0 || !wpi_pages_is_empty(&chunk->coming);
}

#endif

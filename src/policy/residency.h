/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Where pages of managed memory are, as policies may look at it. Chunks lie side by side from one
 * address on; the model (sim/paging/page_residency.h) changes them, policies only read.
 *
 *     page:   on the host ─► planned ── got a frame ─► coming ─► resident ── evicted ─► on the host
 *             untouched ───────┘        the same, but nothing comes over the link
 *
 * Ages are numbers of a clock that ticks with every use, so a smaller one was longer ago.
 */
#ifndef WP_POLICY_RESIDENCY_H
#define WP_POLICY_RESIDENCY_H

#include "policy/pages.h"

/** A block's counter: accesses, local and remote, and round trips. When one is full the same part
 * of all counters is halved (Ganguly et al., IPDPS'20, section IV). */
#define WPI_COUNTER_BITS 27u
#define WPI_COUNTER_MAX ((1u << WPI_COUNTER_BITS) - 1)
#define WPI_ROUND_TRIPS_MAX (UINT32_MAX >> WPI_COUNTER_BITS)

typedef struct wpi_chunk_block {
    uint64_t age;          /* of its last use or arrival; 0: never */
    uint32_t remote_bytes; /* of accesses across the link, since pages last left; … */
    uint32_t local_bytes;  /* … of others; when full both stay so */
    uint32_t counter;      /* round trips << COUNTER_BITS | accesses */
    uint32_t in_use;       /* accesses that found a page there, not made yet */
    uint32_t evictions;    /* of pages of the block, at once; never halved */
    uint32_t in_vain;      /* evictions, the last ones, after stays that the policy calls so */
} wpi_chunk_block;

/** What belongs together lies in one line of the host's cache: with large memory there are
 * thousands of chunks, of which none was touched just before. */
typedef struct wpi_chunk {
    _Alignas(64) uint32_t page_count; /* of its allocation; 0: nothing is there */
    uint32_t tree_pages;              /* WPI_BLOCK_PAGES times a power of two */
    uint64_t age;                     /* the youngest of its blocks' */
    uint64_t frames_age;              /* when it was last given frames */
    uint32_t in_use;                  /* the sum of its blocks' */
    uint32_t came;                    /* a bit for each block: pages of it were resident */
    bool is_written;                  /* a page was written since it had no frame */
    bool is_whole;                    /* all of 2 MiB is resident */
    _Alignas(64) wpi_pages resident;  /* on the device */
    wpi_pages coming;                 /* on their way, with a frame */
    wpi_pages planned;                /* will come when there are frames */
    wpi_pages dirty;                  /* resident, and written since they came */
    wpi_pages unused;                 /* prefetched, and not used since */
    wpi_pages left;                   /* were resident once, and evicted */
    wpi_pages untouched;              /* nobody has used them: they are nowhere yet */
    wpi_pages unlisted; /* stayed when the host waited, and not used since: they are not evicted */
    wpi_pages read_mostly, stays_on_host; /* said so by the program */
    wpi_pages prefers_device;             /* … that the device is their preferred location */
    wpi_chunk_block blocks[WPI_CHUNK_BLOCKS];
} wpi_chunk;

typedef struct wpi_residency {
    uint64_t first; /* address of chunks[0]; a multiple of WPI_CHUNK_BYTES */
    wpi_chunk *chunks;
    uint32_t chunk_count;
    uint64_t frames;                /* of the device */
    uint64_t used, coming, leaving; /* of these: resident, on the way here, not written back yet */
    uint64_t lent;     /* of these: more than the device has (sim/paging/host_synchronize.c) */
    bool has_unlisted; /* some chunk may have */
    uint64_t clock;
    uint64_t *page_ages; /* [chunk][page], of resident ones; NULL: no policy asked */
} wpi_residency;

static inline uint32_t wpi_counter_accesses(uint32_t counter) {
    return counter & WPI_COUNTER_MAX;
}

static inline uint32_t wpi_counter_round_trips(uint32_t counter) {
    return counter >> WPI_COUNTER_BITS;
}

/** Accesses to pages of the block are under way, or pages come there: it stays. */
static inline bool wpi_block_is_busy(const wpi_chunk *chunk, uint32_t block) {
    return chunk->blocks[block].in_use != 0 || wpi_block_has(&chunk->coming, block);
}

/** By itself it may be evicted. */
static inline bool wpi_page_may_leave(const wpi_chunk *chunk, uint32_t page) {
    return !wpi_block_is_busy(chunk, page / WPI_BLOCK_PAGES) &&
           !wpi_pages_has(&chunk->unlisted, page);
}

/** Of these pages some are resident, and more than unlisted. */
static inline bool wpi_chunk_is_listed(const wpi_chunk *chunk, uint32_t first, uint32_t outer) {
    if (wpi_pages_is_empty(&chunk->unlisted) && first == 0 && outer == WPI_CHUNK_PAGES)
        return !wpi_pages_is_empty(&chunk->resident); /* the most frequent question by far */
    return wpi_pages_count_in(&chunk->resident, first, outer) >
           wpi_pages_count_in(&chunk->unlisted, first, outer);
}

static inline bool wpi_chunk_is_busy(const wpi_chunk *chunk) {
    return chunk->in_use != 0 || !wpi_pages_is_empty(&chunk->coming);
}

#endif

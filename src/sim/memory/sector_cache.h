/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A sectored, set-associative cache with LRU: an L1, or one slice of L2. It tracks which sectors of
 * which lines are present; latencies are modelled by its owner.
 *
 *                      ┌────────── evicted, invalidated ──────────┐
 *     sector:  absent ─┴─ load ─► pending ─ fetched ─► valid ─────┘
 *                 └────── store (write-back) ───────► valid, dirty
 *
 * A line gets its place when its first sector is requested, and is not evicted while a sector is
 * pending. The end of that may be known at once (L2: `ready` is a time) or not yet (L1:
 * WP_TIME_NEVER until filled).
 */
#ifndef WP_SIM_CACHE_H
#define WP_SIM_CACHE_H

#include "sim/engine/divide.h"
#include "sim/engine/line_counts.h"
#include "sim/profile/profile.h"

typedef struct wpi_cache_line {
    wpi_time_ps ready;    /* pending sectors become valid; an atomic on the line ends */
    uint64_t number : 52; /* of the line + 1; 0: free */
    uint64_t valid : 4;   /* sectors */
    uint64_t dirty : 4;
    uint64_t pending : 4;
} wpi_cache_line;

typedef struct wpi_cache {
    wpi_cache_line *lines; /* [sets * ways] */
    /* [sets * 2 * row]: the ways of each set, most recently used first, free ones last; then 16
     * bits of the hash of each way's line */
    uint16_t *ways_of;
    uint32_t ways, row;  /* ways, to the next multiple of 8 */
    uint32_t dirty_ways; /* lines of a set that stores may leave dirty */
    wpi_divider sets;
    wpi_divider slices; /* their number; a line's slice is the low part of its number */
    wpi_hash hash;
    bool is_used; /* since it was invalidated */
    uint64_t sector_hits, sector_misses, sector_merges, evictions, dirty_evictions;
} wpi_cache;

#define WPI_CACHE_NO_PLACE UINT32_MAX

/** Counts a mask of sectors. */
static inline uint32_t wpi_sector_count(uint8_t sectors) {
    return (0x4332322132212110u >> (4 * (sectors & 15u))) & 15u;
}

/** The result of a look-up. Each requested sector is in exactly one of `valid`, `pending`,
 * `missing`. */
typedef struct wpi_cache_answer {
    uint32_t place; /* of the line; NO_PLACE: all lines of the set are pending, nothing was done */
    uint8_t valid, pending, missing; /* `missing` are pending from now on: fetch them */
    wpi_time_ps ready;               /* of the line's earlier pending sectors */
    wpi_time_ps blocked_until; /* NO_PLACE: when the first of them can be evicted; NEVER: unknown */
    uint64_t evicted_line;
    uint8_t evicted_dirty; /* sectors to write; 0: none. Of a store, the line may stay, clean */
} wpi_cache_answer;

/** Creates one of the profile's slices. NOMEM. */
WP_NODISCARD wp_status wpi_cache_init(wpi_cache *cache, const wpi_cache_profile *profile,
                                      wp_error *err);
void wpi_cache_deinit(wpi_cache *cache); /* `{0}` is fine */

/** The slice of a line. */
uint32_t wpi_cache_slice(wpi_hash hash, const wpi_divider *slices, uint64_t line);

/** The set of a line of this slice. */
uint32_t wpi_cache_set(const wpi_cache *cache, uint64_t line);
/** A line of the set will be looked up: prefetches the set's ways into the host's caches; if
 * `is_near`, the line to evict, for which the ways must be there. */
void wpi_cache_expect_set(const wpi_cache *cache, uint32_t set, bool is_near);
void wpi_cache_load(wpi_cache *cache, uint64_t line, uint8_t sectors, wpi_time_ps now,
                    wpi_cache_answer *out);
/** All pending sectors of the line become valid at `ready`. */
void wpi_cache_expect(wpi_cache *cache, uint32_t place, wpi_time_ps ready);
/** Sectors that were pending without a known time become valid. */
void wpi_cache_fill(wpi_cache *cache, uint32_t place, uint8_t sectors);

/** Writes sectors by the policy. WRITE_BACK allocates a place, with `out` as for loads; the others
 *  do not, and `out` has the sectors that were valid. */
void wpi_cache_store(wpi_cache *cache, wpi_write policy, uint64_t line, uint8_t sectors,
                     wpi_time_ps now, wpi_cache_answer *out);
/** Writes sectors of the line at `place`, as WRITE_BACK of a present line.
 */
void wpi_cache_write_at(wpi_cache *cache, uint32_t place, uint8_t sectors, wpi_time_ps now);
/** Returns the valid sectors of a line. Changes nothing. */
uint8_t wpi_cache_peek(const wpi_cache *cache, uint64_t line, wpi_time_ps now);
/** Gives an empty cache of one slice another size, at most that with which it was created. */
void wpi_cache_resize(wpi_cache *cache, uint64_t bytes);
/** Invalidates all sectors that are neither pending nor dirty. */
void wpi_cache_invalidate(wpi_cache *cache);
/** Invalidates all sectors that are not pending; dirty ones are written elsewhere. */
void wpi_cache_empty(wpi_cache *cache, wpi_time_ps now);

/** Hits, merges and misses, to count those of one request. */
typedef struct wpi_cache_tally {
    uint64_t hits, merges, misses;
} wpi_cache_tally;

static inline wpi_cache_tally wpi_cache_tally_of(const wpi_cache *cache) {
    return (wpi_cache_tally){cache->sector_hits, cache->sector_merges, cache->sector_misses};
}

/** Adds what has been counted since `before` to a line's counts (NULL allowed). `hits`: its hits at
 * this cache, behind which are its merges and misses. */
static inline void wpi_cache_tally_line(const wpi_cache *cache, const wpi_cache_tally *before,
                                        wpi_line_count *counts, wp_run_line_count hits) {
    if (counts == NULL) return;
    counts->of[hits] += cache->sector_hits - before->hits;
    counts->of[hits + 1] += cache->sector_merges - before->merges;
    counts->of[hits + 2] += cache->sector_misses - before->misses;
}

#endif

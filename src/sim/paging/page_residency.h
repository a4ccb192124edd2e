/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Residency of pages of managed memory, and its transitions, without time: callers decide when they
 * happen. Invariants are checked and end the process (WP_CHECK): a page is in one place, frames are
 * never exceeded.
 *
 * Source: Ganguly et al., IPDPS'20, sections II-B (chunks, trees), IV (counters). One thread.
 */
#ifndef WP_SIM_RESIDENCY_H
#define WP_SIM_RESIDENCY_H

#include <stddef.h>

#include "base/fail.h"
#include "policy/residency.h"
#include "sim/paging/page_number.h"

/** Managed memory lies from `first` on, a multiple of 2 MiB. */
void wpi_residency_init(wpi_residency *residency, uint64_t first, uint64_t frames);
void wpi_residency_deinit(wpi_residency *residency); /* `{0}` is fine */

/** How many chunks there are once an allocation is added. NOMEM: more than can be counted. */
WP_NODISCARD wp_status wpi_residency_count(const wpi_residency *residency, uint64_t address,
                                           uint64_t bytes, uint32_t *count, wp_error *err);
/** Reserves memory for `count` chunks, so that adding them cannot fail. NOMEM. */
WP_NODISCARD wp_status wpi_residency_reserve(wpi_residency *residency, uint32_t count,
                                             wp_error *err);
/** Grows an array of `each` words a chunk; new ones are 0. NOMEM. */
WP_NODISCARD wp_status wpi_residency_grow_words(uint64_t **words, uint32_t before, uint32_t after,
                                                uint32_t each, wp_error *err);
/** Reserves memory for ages of pages in `count` chunks, for a policy that needs them. NOMEM. */
WP_NODISCARD wp_status wpi_residency_reserve_ages(wpi_residency *residency, uint32_t count,
                                                  wp_error *err);
/** Adds an allocation, which begins at a multiple of 2 MiB; its pages are on the host. NOMEM. */
WP_NODISCARD wp_status wpi_residency_add(wpi_residency *residency, uint64_t address, uint64_t bytes,
                                         wp_error *err);
/** The allocation's pages have never been used: they are nowhere yet. */
void wpi_residency_set_untouched(wpi_residency *residency, uint64_t address, uint64_t bytes);
/** Removes an allocation; none of its pages may be in flight or in use. */
void wpi_residency_remove(wpi_residency *residency, uint64_t address, uint64_t bytes);

/** The bytes that an allocation's trees cover: its own, and the rest of the last chunk's tree. */
uint64_t wpi_residency_tree_bytes(uint64_t bytes);

/** The chunk of an address; NULL: that is not managed memory. */
static inline wpi_chunk *wpi_residency_chunk(const wpi_residency *residency, uint64_t address) {
    const uint64_t number = (address - residency->first) / WPI_CHUNK_BYTES;
    if (number >= residency->chunk_count || residency->chunks[number].page_count == 0) return NULL;
    return &residency->chunks[number];
}

static inline wpi_chunk *wpi_residency_chunk_at(const wpi_residency *residency,
                                                wpi_chunk_number chunk) {
    return &residency->chunks[chunk.v];
}

/** The chunk of a page. */
static inline wpi_chunk *wpi_residency_chunk_of(const wpi_residency *residency,
                                                wpi_page_number page) {
    return wpi_residency_chunk_at(residency, wpi_page_chunk(page));
}

static inline wpi_chunk_block *wpi_residency_block_at(const wpi_residency *residency,
                                                      wpi_block_number block) {
    return &wpi_residency_chunk_at(residency, wpi_block_chunk(block))
                ->blocks[wpi_block_index(block)];
}

static inline wpi_page_number wpi_residency_page(const wpi_residency *residency, uint64_t address) {
    return wpi_page_at(residency->first, address);
}

/** The index of the address's page in its chunk. */
static inline uint32_t wpi_page_of(uint64_t address) {
    return (uint32_t)(address / WPI_PAGE_BYTES) % WPI_CHUNK_PAGES;
}

/** Frames that are neither taken nor reserved. */
static inline uint64_t wpi_residency_free(const wpi_residency *residency) {
    return residency->frames - residency->used - residency->coming - residency->leaving;
}

/** A page is looked up for an access; it counts, wherever the page is. */
void wpi_residency_touch(wpi_residency *residency, wpi_page_number page);
/** An access to a resident page of the block is in flight … */
void wpi_residency_hold(wpi_residency *residency, wpi_block_number block);
/** … and has completed. True: it was the last one of the block. */
bool wpi_residency_let_go(wpi_residency *residency, wpi_block_number block);
/** Treats resident pages as just used, without counting an access. */
void wpi_residency_use(wpi_residency *residency, wpi_chunk *chunk, const wpi_pages *pages);
/** A resident page is written. */
void wpi_residency_write(wpi_residency *residency, wpi_page_number page);
/** Plans the migration of missing pages. */
void wpi_residency_plan(wpi_residency *residency, wpi_chunk *chunk, const wpi_pages *pages);
/** Planned pages get frames; enough must be free. */
void wpi_residency_fetch(wpi_residency *residency, wpi_chunk *chunk, const wpi_pages *pages);
/** Pages in flight become resident. Returns how many were resident before. */
uint32_t wpi_residency_arrive(wpi_residency *residency, wpi_chunk *chunk, const wpi_pages *pages);
/** Resident pages have no copy on the host: they must be written back. */
void wpi_residency_make(wpi_chunk *chunk, const wpi_pages *pages);
/** Counts the blocks of the pages, which have just arrived, that were never resident before. */
uint32_t wpi_residency_count_new_blocks(wpi_chunk *chunk, const wpi_pages *pages);
/** Resident pages leave; their frames are `leaving`. Evicted: it counts as a round trip. */
void wpi_residency_leave(wpi_residency *residency, wpi_chunk *chunk, const wpi_pages *pages);
void wpi_residency_evict(wpi_residency *residency, wpi_chunk *chunk, const wpi_pages *pages);
/** Sets the number of frames, without those that are lent; not fewer than are taken. */
void wpi_residency_set_frames(wpi_residency *residency, uint64_t frames);
/** Sets the number of lent frames, in place of the former number. */
void wpi_residency_lend(wpi_residency *residency, uint64_t frames);
/** `frames` frames whose pages were leaving become free. */
void wpi_residency_release(wpi_residency *residency, uint64_t frames);

/** The pages have been used, by the host or over the link: they have a location. */
void wpi_residency_set_touched(wpi_chunk *chunk, const wpi_pages *pages);
void wpi_residency_set_page_touched(wpi_residency *residency, wpi_page_number page);
/** The pages are prefetched, and not used yet … */
void wpi_residency_set_unused(wpi_chunk *chunk, const wpi_pages *pages);
/** … and this one is used. False: it was used before, or not prefetched. */
bool wpi_residency_take_unused(wpi_residency *residency, wpi_page_number page);
/** Only these resident pages of the chunk are unlisted: they are not evicted until they are used.
 */
void wpi_residency_set_unlisted(wpi_residency *residency, wpi_chunk *chunk, const wpi_pages *pages);

/** Pages that are on the device, or will be without further action. */
wpi_pages wpi_residency_here(const wpi_chunk *chunk);
/** Resident pages of blocks that are not busy. */
wpi_pages wpi_residency_idle(const wpi_chunk *chunk);

/** Pages of which the host has a copy even if they are resident. */
static inline wpi_pages wpi_residency_on_host_too(const wpi_chunk *chunk) {
    return wpi_pages_without(&chunk->read_mostly, &chunk->dirty);
}

/** Whether the page is on the device, or will be without further action. */
static inline bool wpi_page_is_here(const wpi_residency *residency, wpi_page_number page) {
    const wpi_chunk *chunk = wpi_residency_chunk_of(residency, page);
    const uint32_t index = wpi_page_index(page);
    return wpi_pages_has(&chunk->resident, index) || wpi_pages_has(&chunk->coming, index) ||
           wpi_pages_has(&chunk->planned, index);
}

#endif

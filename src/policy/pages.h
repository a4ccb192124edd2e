/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sets of pages of one chunk. A page, 4 KiB, is the unit of residency. A block, 64 KiB, has an
 * access counter and is the smallest unit that prefetchers fetch. A chunk, 2 MiB, aligned, has a
 * tree and is the largest unit of eviction. Thread rule: none, all state is the caller's.
 */
#ifndef WP_POLICY_PAGES_H
#define WP_POLICY_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#define WPI_PAGE_BITS 12u
#define WPI_PAGE_BYTES (1u << WPI_PAGE_BITS)
#define WPI_BLOCK_PAGES 16u
#define WPI_CHUNK_PAGES 512u
#define WPI_CHUNK_BLOCKS (WPI_CHUNK_PAGES / WPI_BLOCK_PAGES)
#define WPI_CHUNK_BYTES (WPI_CHUNK_PAGES * WPI_PAGE_BYTES)
#define WPI_PAGES_WORDS (WPI_CHUNK_PAGES / 64)

typedef struct wpi_pages {
    uint64_t words[WPI_PAGES_WORDS];
} wpi_pages;

static inline bool wpi_pages_has(const wpi_pages *set, uint32_t page) {
    return (set->words[page / 64] >> (page % 64) & 1) != 0;
}

static inline void wpi_pages_add(wpi_pages *set, uint32_t page) {
    set->words[page / 64] |= (uint64_t)1 << (page % 64);
}

static inline void wpi_pages_remove(wpi_pages *set, uint32_t page) {
    set->words[page / 64] &= ~((uint64_t)1 << (page % 64));
}

/** Bits [first, outer) of word `word`. */
static inline uint64_t wpi_pages_mask(uint32_t word, uint32_t first, uint32_t outer) {
    const uint32_t begin = word * 64, end = begin + 64;
    if (first >= end || outer <= begin) return 0;
    const uint64_t low = first <= begin ? UINT64_MAX : UINT64_MAX << (first - begin);
    const uint64_t high = outer >= end ? UINT64_MAX : ~(UINT64_MAX << (outer - begin));
    return low & high;
}

/** Adds the pages [first, outer). */
static inline void wpi_pages_add_range(wpi_pages *set, uint32_t first, uint32_t outer) {
    for (uint32_t i = 0; i < WPI_PAGES_WORDS; i++)
        set->words[i] |= wpi_pages_mask(i, first, outer);
}

/** Counts the set bits of a word. Baseline x86-64 has no instruction for it, and the compiler's
 * fallback is a call and a table. */
static inline uint32_t wpi_bits_count(uint64_t word) {
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (uint32_t)((word * 0x0101010101010101u) >> 56);
}

/** How many of the pages [first, outer) are in the set. */
static inline uint32_t wpi_pages_count_in(const wpi_pages *set, uint32_t first, uint32_t outer) {
    uint32_t count = 0;
    for (uint32_t i = first / 64; i < WPI_PAGES_WORDS && i * 64 < outer; i++)
        count += wpi_bits_count(set->words[i] & wpi_pages_mask(i, first, outer));
    return count;
}

/** The block's pages of the set, a bit each. */
static inline uint64_t wpi_block_bits(const wpi_pages *set, uint32_t block) {
    const uint32_t page = block * WPI_BLOCK_PAGES;
    return set->words[page / 64] >> (page % 64) & 0xffff;
}

/** Some page of the block is in the set. */
static inline bool wpi_block_has(const wpi_pages *set, uint32_t block) {
    return wpi_block_bits(set, block) != 0;
}

/** How many of the block's pages are in the set. */
static inline uint32_t wpi_block_count(const wpi_pages *set, uint32_t block) {
    return wpi_bits_count(wpi_block_bits(set, block));
}

static inline uint32_t wpi_pages_count(const wpi_pages *set) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < WPI_PAGES_WORDS; i++)
        count += wpi_bits_count(set->words[i]);
    return count;
}

/** The first page of the set from `from` on; WPI_CHUNK_PAGES: none. */
static inline uint32_t wpi_pages_next(const wpi_pages *set, uint32_t from) {
    for (uint32_t i = from / 64; i < WPI_PAGES_WORDS; i++) {
        const uint64_t left = set->words[i] & wpi_pages_mask(i, from, WPI_CHUNK_PAGES);
        if (left != 0) return i * 64 + (uint32_t)__builtin_ctzll(left);
    }
    return WPI_CHUNK_PAGES;
}

/** The first block from `from` on with a page in the set; WPI_CHUNK_BLOCKS: none.
 */
static inline uint32_t wpi_pages_next_block(const wpi_pages *set, uint32_t from) {
    return wpi_pages_next(set, from * WPI_BLOCK_PAGES) / WPI_BLOCK_PAGES;
}

/** All pages of a chunk are in the set. */
static inline bool wpi_pages_is_full(const wpi_pages *set) {
    uint64_t all = UINT64_MAX;
    for (uint32_t i = 0; i < WPI_PAGES_WORDS; i++)
        all &= set->words[i];
    return all == UINT64_MAX;
}

static inline bool wpi_pages_is_empty(const wpi_pages *set) {
    uint64_t any = 0;
    for (uint32_t i = 0; i < WPI_PAGES_WORDS; i++)
        any |= set->words[i];
    return any == 0;
}

static inline wpi_pages wpi_pages_or(const wpi_pages *a, const wpi_pages *b) {
    wpi_pages out;
    for (uint32_t i = 0; i < WPI_PAGES_WORDS; i++)
        out.words[i] = a->words[i] | b->words[i];
    return out;
}

static inline wpi_pages wpi_pages_and(const wpi_pages *a, const wpi_pages *b) {
    wpi_pages out;
    for (uint32_t i = 0; i < WPI_PAGES_WORDS; i++)
        out.words[i] = a->words[i] & b->words[i];
    return out;
}

/** Pages in `a` and not in `b`. */
static inline wpi_pages wpi_pages_without(const wpi_pages *a, const wpi_pages *b) {
    wpi_pages out;
    for (uint32_t i = 0; i < WPI_PAGES_WORDS; i++)
        out.words[i] = a->words[i] & ~b->words[i];
    return out;
}

/** Those of the block's pages that are in the set. */
static inline wpi_pages wpi_pages_of_block(const wpi_pages *set, uint32_t block) {
    wpi_pages all = {{0}};
    wpi_pages_add_range(&all, block * WPI_BLOCK_PAGES, (block + 1) * WPI_BLOCK_PAGES);
    return wpi_pages_and(&all, set);
}

/** The first page after `first` that is not in the set: the end of a run. */
static inline uint32_t wpi_pages_run_end(const wpi_pages *set, uint32_t first) {
    for (uint32_t i = first / 64; i < WPI_PAGES_WORDS; i++) {
        const uint64_t left = ~set->words[i] & wpi_pages_mask(i, first, WPI_CHUNK_PAGES);
        if (left != 0) return i * 64 + (uint32_t)__builtin_ctzll(left);
    }
    return WPI_CHUNK_PAGES;
}

#endif

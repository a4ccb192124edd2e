/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Numbers of pages, blocks and chunks of managed memory. Each is a type of its own, so the compiler
 * refuses one in place of another. All are counted from `first`, the address where managed memory
 * begins.
 *
 *     address ─► page (4 KiB) ─► block (64 KiB) ─► chunk (2 MiB)
 *
 * Sets of pages (policy/pages.h) and policies use plain integers: the number of a chunk, and the
 * index of a page or a block in its chunk. The functions `…_index` and `…_in` convert there and
 * back.
 */
#ifndef WP_SIM_PAGE_NUMBER_H
#define WP_SIM_PAGE_NUMBER_H

#include "policy/pages.h"

typedef struct wpi_page_number {
    uint64_t v;
} wpi_page_number;

typedef struct wpi_block_number {
    uint64_t v;
} wpi_block_number;

typedef struct wpi_chunk_number {
    uint32_t v;
} wpi_chunk_number;

/** The pages of a chunk with the indices [first, outer): what one transfer moves. */
typedef struct wpi_page_run {
    wpi_chunk_number chunk;
    uint16_t first, outer;
} wpi_page_run;

/* ---- addresses ------------------------------------------------------------------------------- */

static inline wpi_page_number wpi_page_at(uint64_t first, uint64_t address) {
    return (wpi_page_number){(address - first) / WPI_PAGE_BYTES};
}

static inline wpi_chunk_number wpi_chunk_at(uint64_t first, uint64_t address) {
    return (wpi_chunk_number){(uint32_t)((address - first) / WPI_CHUNK_BYTES)};
}

/** Where the page begins. */
static inline uint64_t wpi_page_address(uint64_t first, wpi_page_number page) {
    return first + page.v * WPI_PAGE_BYTES;
}

static inline uint64_t wpi_chunk_address(uint64_t first, wpi_chunk_number chunk) {
    return first + (uint64_t)chunk.v * WPI_CHUNK_BYTES;
}

/* ---- what a page or a block is part of ------------------------------------------------------- */

static inline wpi_block_number wpi_page_block(wpi_page_number page) {
    return (wpi_block_number){page.v / WPI_BLOCK_PAGES};
}

static inline wpi_chunk_number wpi_page_chunk(wpi_page_number page) {
    return (wpi_chunk_number){(uint32_t)(page.v / WPI_CHUNK_PAGES)};
}

static inline wpi_chunk_number wpi_block_chunk(wpi_block_number block) {
    return (wpi_chunk_number){(uint32_t)(block.v / WPI_CHUNK_BLOCKS)};
}

/* ---- indices in a chunk ---------------------------------------------------------------------- */

static inline uint32_t wpi_page_index(wpi_page_number page) {
    return (uint32_t)page.v % WPI_CHUNK_PAGES;
}

static inline uint32_t wpi_block_index(wpi_block_number block) {
    return (uint32_t)block.v % WPI_CHUNK_BLOCKS;
}

static inline wpi_page_number wpi_page_in(wpi_chunk_number chunk, uint32_t index) {
    return (wpi_page_number){(uint64_t)chunk.v * WPI_CHUNK_PAGES + index};
}

static inline wpi_block_number wpi_block_in(wpi_chunk_number chunk, uint32_t index) {
    return (wpi_block_number){(uint64_t)chunk.v * WPI_CHUNK_BLOCKS + index};
}

/* ---- runs ------------------------------------------------------------------------------------ */

/** [first, outer) of the chunk. */
static inline wpi_page_run wpi_run_of(wpi_chunk_number chunk, uint32_t first, uint32_t outer) {
    return (wpi_page_run){chunk, (uint16_t)first, (uint16_t)outer};
}

static inline uint32_t wpi_run_page_count(wpi_page_run run) {
    return (uint32_t)(run.outer - run.first);
}

static inline wpi_pages wpi_run_pages(wpi_page_run run) {
    wpi_pages pages = {{0}};
    wpi_pages_add_range(&pages, run.first, run.outer);
    return pages;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Places in a trace: a growing array of numbers that is kept in a temporary file while a trace is
 * written, and read a page at a time. So memory does not grow with its length on either side,
 * except 8 bytes per 8192 entries.
 *
 * A place is a block, and an offset in it. 0: none.
 */
#ifndef WP_TRACE_PLACES_H
#define WP_TRACE_PLACES_H

#include <stdio.h>

#include "trace/block_file.h"

static inline uint64_t wpi_place(uint64_t block_offset, size_t in_block) {
    return block_offset << 16 | (in_block & 0xffff);
}

static inline uint64_t wpi_place_block(uint64_t place) {
    return place >> 16;
}

static inline size_t wpi_place_in_block(uint64_t place) {
    return place & 0xffff;
}

typedef struct wpi_places_writer {
    FILE *file; /* NULL: empty */
    uint64_t count;
} wpi_places_writer;

/** Locates an array in a finished trace. */
typedef struct wpi_places_root {
    uint64_t count, offset;
} wpi_places_root;

/** Adds `count` entries, which are 0; returns the number of the first. */
uint64_t wpi_places_reserve(wpi_places_writer *places, uint64_t count);
WP_NODISCARD wp_status wpi_places_set(wpi_places_writer *places, uint64_t number, uint64_t place,
                                      wp_error *err);
/** Writes the array into the trace. */
WP_NODISCARD wp_status wpi_places_write(wpi_places_writer *places, wpi_block_writer *to,
                                        wpi_places_root *root, wp_error *err);
void wpi_places_writer_deinit(wpi_places_writer *places);

typedef struct wpi_places {
    wpi_block_file *file;
    uint64_t count;
    uint64_t *pages; /* offsets of blocks */
    uint64_t page;   /* the loaded page; UINT64_MAX: none */
    uint64_t *entries;
} wpi_places;

/** `file` must outlive it. Deinit also after failure. */
WP_NODISCARD wp_status wpi_places_init(wpi_places *places, wpi_block_file *file,
                                       const wpi_places_root *root, wp_error *err);
void wpi_places_deinit(wpi_places *places);
/** Reads entry `number`. PARSE: there is none. */
WP_NODISCARD wp_status wpi_places_get(wpi_places *places, uint64_t number, uint64_t *place,
                                      wp_error *err);

#endif

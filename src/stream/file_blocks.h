/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Blocks of mapped files in host memory: one pool for all files, as large as its budget. The pool
 * exists while a file is open.
 *
 * A block with holders is pinned. When another block is needed, the least recently held one is
 * evicted, after a write-back if it is dirty.
 *
 * Thread rule: any thread; taking a block waits for the disk.
 */
#ifndef WP_STREAM_FILE_BLOCKS_H
#define WP_STREAM_FILE_BLOCKS_H

#include "stream/mapped_file.h"

enum { WPI_FILE_BLOCKS_LEAST = 64 }; /* in a pool: actors of all launches hold fewer */

/** The budget of the next pool; 0: 256 MiB. */
void wpi_file_blocks_set_budget(uint64_t bytes);

/** Opens a file as wpi_mapped_file_open does; the first one makes the pool. INVALID: the budget is
 * less than 64 blocks of 4 KiB. */
WP_NODISCARD wp_status wpi_file_blocks_open(const char *source, const char *target, uint64_t offset,
                                            uint64_t size_bytes, wpi_mapped_file **out,
                                            wp_error *err);
/** Writes the file's dirty blocks and closes it. After an error, or if `keeps` is false, the target
 * does not appear. None of its blocks may have a holder. */
WP_NODISCARD wp_status wpi_file_blocks_close(wpi_mapped_file *file, bool keeps, wp_error *err);

/** What one holder has caused. */
typedef struct wpi_file_counts {
    uint64_t read_bytes, written_bytes; /* from and to disk */
    uint64_t waited_ns;                 /* on the clock */
} wpi_file_counts;

typedef struct wpi_file_block {
    wpi_mapped_file *file; /* NULL: unused */
    uint64_t index;
    char *memory;
    uint32_t holders;
    bool is_busy, is_dirty;               /* busy: being read or written */
    struct wpi_file_block *newer, *older; /* in the list of blocks without holders */
    struct wpi_file_block *next;          /* with the same hash */
} wpi_file_block;

/** Holds the block with byte `offset` of the file, which will be written to if `is_written`. */
WP_NODISCARD wp_status wpi_file_block_take(wpi_mapped_file *file, uint64_t offset, bool is_written,
                                           wpi_file_counts *counts, wpi_file_block **out,
                                           wp_error *err);
void wpi_file_block_give(wpi_file_block *block); /* NULL allowed */

/** Blocks of the pool, and its bytes; 0: there is none. */
uint64_t wpi_file_blocks_count(void);
uint64_t wpi_file_blocks_bytes(void);

#endif

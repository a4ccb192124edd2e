/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A file that reserved addresses are tied to: what is read comes from its source, what is written
 * goes to its target, block by block. A block that was written is read from the target from then
 * on; those that were not are copied when the file is finished. Only then does the target appear.
 *
 * Offsets are those of the files. Thread rule: reads and writes of different blocks from any
 * threads; of one block the caller keeps them apart.
 */
#ifndef WP_STREAM_MAPPED_FILE_H
#define WP_STREAM_MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "warpage/error.h"

typedef struct wpi_mapped_file {
    char *source_name, *target_name; /* NULL: none */
    char *temporary;                 /* the target's name so far; NULL: it has none */
    int source, target;              /* descriptors, -1: none */
    bool is_direct;                  /* the source is read past the page cache */
    uint64_t size_bytes;             /* of the whole file */
    uint64_t block_bytes, block_count;
    unsigned char *is_written;    /* [block_count], atomic: the block is in the target */
    uint64_t unsynced_bytes;      /* atomic: written since pages were last given back */
    bool has_failed;              /* atomic: a write did, so the target never appears */
    uint64_t first, outer;        /* the mapped bytes */
    struct wpi_mapped_file *next; /* the owner's */
} wpi_mapped_file;

/** Opens `source` (NULL: zeros) and makes room for `target` (NULL: read only); not both NULL.
 * `size_bytes` from `offset` on are mapped; without a source they end the file. NOT_FOUND, IO,
 * INVALID: the source is no plain file or too short; NOMEM. */
WP_NODISCARD wp_status wpi_mapped_file_open(const char *source, const char *target, uint64_t offset,
                                            uint64_t size_bytes, uint64_t block_bytes,
                                            wpi_mapped_file **out, wp_error *err);
/** Reads a block, up to the end of the file; `to` is a page's begin. `*bytes`: read from disk. IO:
 * it shrank, too. */
WP_NODISCARD wp_status wpi_mapped_file_read(wpi_mapped_file *file, uint64_t block, char *to,
                                            uint64_t *bytes, wp_error *err);
/** Writes a block to the target. IO. */
WP_NODISCARD wp_status wpi_mapped_file_write(wpi_mapped_file *file, uint64_t block,
                                             const char *from, uint64_t *bytes, wp_error *err);
/** The block will be read soon. */
void wpi_mapped_file_expect(const wpi_mapped_file *file, uint64_t block);
/** All that was written has reached wpi_mapped_file_write: the target appears. IO. */
WP_NODISCARD wp_status wpi_mapped_file_finish(wpi_mapped_file *file, wp_error *err);
/** Frees; a target that was not finished is gone. NULL allowed. */
void wpi_mapped_file_close(wpi_mapped_file *file);

#endif

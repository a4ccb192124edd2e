/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The container of a trace: a file of compressed blocks, each with a checksum, between a header and
 * an end mark. All numbers are little-endian.
 *
 *     header │ block │ block │ … │ root (a long object) │ end mark
 *            └ mark kind raw_bytes stored_bytes hash │ zstd data
 *
 * A file is written under a temporary name and renamed when it is complete, unless it is no plain
 * file (/dev/null, a pipe). A reader rejects
 * damaged contents, with a message that has the offset.
 *
 * Thread rule: one thread at a time; a file may be open several times.
 */
#ifndef WP_TRACE_BLOCK_FILE_H
#define WP_TRACE_BLOCK_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

#define WPI_TRACE_FORMAT 2u
/* A block is closed when it reaches this size, … */
#define WPI_BLOCK_BYTES ((size_t)64 << 10)
/* … and never exceeds this one. */
#define WPI_BLOCK_BYTES_MAX ((size_t)256 << 10)

typedef enum wpi_block_kind {
    WPI_BLOCK_ROOT = 1,
    WPI_BLOCK_TABLES, /* of a module: base/trace_abi.h */
    WPI_BLOCK_OPS,    /* operations of the host */
    WPI_BLOCK_LAUNCHES,
    WPI_BLOCK_WARPS,  /* parts of CTAs */
    WPI_BLOCK_PLACES, /* offsets of these */
    WPI_BLOCK_KIND_COUNT
} wpi_block_kind;

typedef struct wpi_block_writer wpi_block_writer;
typedef struct wpi_block_file wpi_block_file;

/** Starts a file that will get the name `path`. IO, NOMEM. */
WP_NODISCARD wp_status wpi_block_writer_create(const char *path, wpi_block_writer **out,
                                               wp_error *err);
/** Appends a block of at most WPI_BLOCK_BYTES_MAX; `*offset` is its place. */
WP_NODISCARD wp_status wpi_block_writer_add(wpi_block_writer *writer, wpi_block_kind kind,
                                            const void *data, size_t bytes, uint64_t *offset,
                                            wp_error *err);
/** Appends data of any size, as consecutive blocks. */
WP_NODISCARD wp_status wpi_block_writer_add_long(wpi_block_writer *writer, wpi_block_kind kind,
                                                 const void *data, size_t bytes, uint64_t *offset,
                                                 wp_error *err);
/** Writes the root and the end mark, and renames the file. Frees the writer in any case. */
WP_NODISCARD wp_status wpi_block_writer_finish(wpi_block_writer *writer, const void *root,
                                               size_t bytes, wp_error *err);
void wpi_block_writer_abandon(wpi_block_writer *writer); /* NULL allowed; no file appears */

/** Opens a complete file. NOT_FOUND, IO, PARSE (no trace, truncated, of another version). */
WP_NODISCARD wp_status wpi_block_file_open(const char *path, wpi_block_file **out, wp_error *err);
void wpi_block_file_close(wpi_block_file *file); /* NULL allowed */
/** The block at `offset`; valid until the next call. PARSE: damaged, or of another kind. */
WP_NODISCARD wp_status wpi_block_file_read(wpi_block_file *file, wpi_block_kind kind,
                                           uint64_t offset, const uint8_t **data, size_t *bytes,
                                           wp_error *err);
/** The same into memory of the caller, for wpi_free. */
WP_NODISCARD wp_status wpi_block_file_read_long(wpi_block_file *file, wpi_block_kind kind,
                                                uint64_t offset, size_t bytes, uint8_t **data,
                                                wp_error *err);
/** Offset and size of the root. */
void wpi_block_file_root(const wpi_block_file *file, uint64_t *offset, size_t *bytes);
const char *wpi_block_file_path(const wpi_block_file *file);
uint64_t wpi_block_file_bytes(const wpi_block_file *file);

/** A number that can be changed in a complete file: see wpi_block_file_set_note. */
uint32_t wpi_block_file_note(const wpi_block_file *file);
/** Changes the note of the file `path` in place. */
WP_NODISCARD wp_status wpi_block_file_set_note(const char *path, uint32_t note, wp_error *err);

#endif

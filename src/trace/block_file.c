/* SPDX-License-Identifier: Apache-2.0 */
/*
 *     header    8 magic, 4 version, 4 note, 8 zero, 8 hash of the 24 bytes before
 *     block     4 mark, 4 kind, 4 raw bytes, 4 stored bytes, 8 hash of these 16 bytes and the data
 *     end mark  8 magic, 8 offset of the root, 8 bytes of the root, 8 hash of the 24 bytes before
 *
 * Every hash includes the offset of the hashed data, so a misplaced block is detected.
 */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "trace/block_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/text.h"

#define EDGE_BYTES 32u /* of header and end mark */
#define BLOCK_HEADER_BYTES 24u
#define BLOCK_MARK 0x42545057u /* "WPTB" */
#define LEVEL 3                /* of zstd: higher levels gain little on deltas */

static const char header_magic[8] = {'\x89', 'W', 'P', 'T', '\r', '\n', '\x1a', '\n'};
static const char end_magic[8] = {'W', 'P', 'T', 'E', 'N', 'D', '\r', '\n'};

static void put32(uint8_t *to, uint32_t value) {
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static void put64(uint8_t *to, uint64_t value) {
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t get32(const uint8_t *from) {
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
           (uint32_t)from[3] << 24;
}

static uint64_t get64(const uint8_t *from) {
    return get32(from) | (uint64_t)get32(from + 4) << 32;
}

/* ---- writing -------------------------------------------------------------------------------- */

struct wpi_block_writer {
    char *path, *temporary;
    pid_t owner; /* forked children inherit the open file, and must not use it */
    int fd;
    uint64_t offset;
    ZSTD_CCtx *zstd;
    uint8_t *stored;
    size_t stored_capacity;
};

static wp_status write_all(wpi_block_writer *w, const void *data, size_t bytes, wp_error *err) {
    if (getpid() != w->owner) return WP_STATUS_OK;
    for (const uint8_t *at = data; bytes != 0;) {
        const ssize_t wrote = write(w->fd, at, bytes);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return WP_FAIL(err, IO, "%s: %s", w->path, strerror(errno));
        at += wrote;
        bytes -= (size_t)wrote;
        w->offset += (uint64_t)wrote;
    }
    return WP_STATUS_OK;
}

static void seal_edge(uint8_t edge[EDGE_BYTES], const char magic[8], uint64_t a, uint64_t b) {
    memcpy(edge, magic, 8);
    put64(edge + 8, a);
    put64(edge + 16, b);
    put64(edge + 24, wpi_hash64(edge, 24, 0));
}

static uint64_t header_word(uint32_t version, uint32_t note) {
    return version | (uint64_t)note << 32;
}

wp_status wpi_block_writer_create(const char *path, wpi_block_writer **out, wp_error *err) {
    *out = NULL;
    wpi_block_writer *w = wpi_calloc(1, sizeof *w);
    if (w == NULL) return WP_FAIL(err, NOMEM, "trace");
    w->path = wpi_format("%s", path);
    w->owner = getpid();
    struct stat info;
    if (stat(path, &info) != 0 || S_ISREG(info.st_mode))
        w->temporary = wpi_format("%s.%ld.part", path, (long)w->owner);
    w->fd = open(w->temporary != NULL ? w->temporary : path,
                 O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    wp_status status = WP_STATUS_OK;
    if (w->fd < 0) WP_TRY_GOTO(WP_FAIL(err, IO, "%s: %s", path, strerror(errno)), failed);
    w->zstd = ZSTD_createCCtx();
    w->stored_capacity = ZSTD_compressBound(WPI_BLOCK_BYTES_MAX);
    w->stored = wpi_malloc(w->stored_capacity);
    if (w->zstd == NULL || w->stored == NULL) WP_TRY_GOTO(WP_FAIL(err, NOMEM, "trace"), failed);
    uint8_t header[EDGE_BYTES];
    seal_edge(header, header_magic, header_word(WPI_TRACE_FORMAT, 0), 0);
    WP_TRY_GOTO(write_all(w, header, sizeof header, err), failed);
    *out = w;
    return WP_STATUS_OK;

failed:
    wpi_block_writer_abandon(w);
    return status;
}

void wpi_block_writer_abandon(wpi_block_writer *w) {
    if (w == NULL) return;
    if (w->fd >= 0) {
        close(w->fd);
        if (getpid() == w->owner && w->temporary != NULL) unlink(w->temporary);
    }
    ZSTD_freeCCtx(w->zstd);
    wpi_free(w->stored);
    wpi_free(w->path);
    wpi_free(w->temporary);
    wpi_free(w);
}

wp_status wpi_block_writer_add(wpi_block_writer *w, wpi_block_kind kind, const void *data,
                               size_t bytes, uint64_t *offset, wp_error *err) {
    WP_CHECK(bytes <= WPI_BLOCK_BYTES_MAX);
    const size_t stored =
        ZSTD_compressCCtx(w->zstd, w->stored, w->stored_capacity, data, bytes, LEVEL);
    if (ZSTD_isError(stored))
        return WP_FAIL(err, IO, "%s: zstd: %s", w->path, ZSTD_getErrorName(stored));
    uint8_t header[BLOCK_HEADER_BYTES];
    put32(header, BLOCK_MARK);
    put32(header + 4, kind);
    put32(header + 8, (uint32_t)bytes);
    put32(header + 12, (uint32_t)stored);
    put64(header + 16, wpi_hash64(w->stored, stored, wpi_hash64(header, 16, w->offset)));
    *offset = w->offset;
    WP_TRY(write_all(w, header, sizeof header, err));
    return write_all(w, w->stored, stored, err);
}

wp_status wpi_block_writer_add_long(wpi_block_writer *w, wpi_block_kind kind, const void *data,
                                    size_t bytes, uint64_t *offset, wp_error *err) {
    *offset = w->offset;
    for (size_t at = 0; at < bytes; at += WPI_BLOCK_BYTES) {
        const size_t part = bytes - at < WPI_BLOCK_BYTES ? bytes - at : WPI_BLOCK_BYTES;
        uint64_t part_offset;
        WP_TRY(wpi_block_writer_add(w, kind, (const uint8_t *)data + at, part, &part_offset, err));
    }
    return WP_STATUS_OK;
}

static wp_status publish(wpi_block_writer *w, wp_error *err) {
    const int failed = close(w->fd);
    w->fd = -1;
    if (getpid() != w->owner) return WP_STATUS_OK;
    if (failed == 0 && (w->temporary == NULL || rename(w->temporary, w->path) == 0))
        return WP_STATUS_OK;
    const wp_status status = WP_FAIL(err, IO, "%s: %s", w->path, strerror(errno));
    if (w->temporary != NULL) unlink(w->temporary);
    return status;
}

wp_status wpi_block_writer_finish(wpi_block_writer *w, const void *root, size_t bytes,
                                  wp_error *err) {
    uint64_t offset;
    uint8_t end[EDGE_BYTES];
    wp_status status;
    WP_TRY_GOTO(wpi_block_writer_add_long(w, WPI_BLOCK_ROOT, root, bytes, &offset, err), done);
    seal_edge(end, end_magic, offset, bytes);
    WP_TRY_GOTO(write_all(w, end, sizeof end, err), done);
    status = publish(w, err);
done:
    wpi_block_writer_abandon(w);
    return status;
}

/* ---- reading -------------------------------------------------------------------------------- */

struct wpi_block_file {
    char *path;
    int fd;
    uint64_t bytes;
    uint64_t root_offset, root_bytes;
    uint32_t note;
    ZSTD_DCtx *zstd;
    uint8_t *stored, *raw;
};

static wp_status read_at(const wpi_block_file *f, uint64_t offset, void *data, size_t bytes,
                         wp_error *err) {
    if (offset > f->bytes || bytes > f->bytes - offset) {
        return WP_FAIL(err, PARSE,
                       "%s: offset %" PRIu64 ": expected %zu bytes here, but the trace ends at "
                       "%" PRIu64,
                       f->path, offset, bytes, f->bytes);
    }
    for (uint8_t *to = data; bytes != 0;) {
        const ssize_t got = pread(f->fd, to, bytes, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            return WP_FAIL(err, IO, "%s: offset %" PRIu64 ": %s", f->path, offset,
                           got < 0 ? strerror(errno) : "the file was truncated while it was read");
        }
        to += got;
        offset += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return WP_STATUS_OK;
}

static bool is_sealed(const uint8_t edge[EDGE_BYTES], const char magic[8]) {
    return memcmp(edge, magic, 8) == 0 && get64(edge + 24) == wpi_hash64(edge, 24, 0);
}

static wp_status check_header(wpi_block_file *f, wp_error *err) {
    uint8_t header[EDGE_BYTES];
    if (f->bytes < EDGE_BYTES) {
        return WP_FAIL(err, PARSE, "%s: offset %" PRIu64 ": too short to be a trace", f->path,
                       f->bytes);
    }
    WP_TRY(read_at(f, 0, header, sizeof header, err));
    if (memcmp(header, header_magic, sizeof header_magic) != 0)
        return WP_FAIL(err, PARSE, "%s: offset 0: this is not a Warpage trace", f->path);
    const uint32_t version = get32(header + 8);
    if (version != WPI_TRACE_FORMAT) {
        return WP_FAIL(err, PARSE,
                       "%s: offset 8: the trace has format %u, this Warpage reads format %u; "
                       "record it again",
                       f->path, version, WPI_TRACE_FORMAT);
    }
    if (!is_sealed(header, header_magic))
        return WP_FAIL(err, PARSE, "%s: offset 0: the header is damaged", f->path);
    f->note = get32(header + 12);
    return WP_STATUS_OK;
}

static wp_status check_end(wpi_block_file *f, wp_error *err) {
    uint8_t end[EDGE_BYTES];
    if (f->bytes >= 2 * EDGE_BYTES) {
        WP_TRY(read_at(f, f->bytes - EDGE_BYTES, end, sizeof end, err));
        f->root_offset = get64(end + 8);
        f->root_bytes = get64(end + 16);
        if (is_sealed(end, end_magic)) return WP_STATUS_OK;
    }
    return WP_FAIL(err, PARSE,
                   "%s: offset %" PRIu64 ": the trace is truncated or damaged: it ends without its "
                   "end mark",
                   f->path, f->bytes);
}

wp_status wpi_block_file_open(const char *path, wpi_block_file **out, wp_error *err) {
    *out = NULL;
    wpi_block_file *f = wpi_calloc(1, sizeof *f);
    if (f == NULL) return WP_FAIL(err, NOMEM, "trace");
    wp_status status = WP_STATUS_OK;
    f->path = wpi_format("%s", path);
    f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe has no writer yet */
    if (f->fd < 0 && errno == ENOENT)
        WP_TRY_GOTO(WP_FAIL(err, NOT_FOUND, "%s: no such file", path), failed);
    struct stat about;
    if (f->fd < 0 || fstat(f->fd, &about) != 0)
        WP_TRY_GOTO(WP_FAIL(err, IO, "%s: %s", path, strerror(errno)), failed);
    if (!S_ISREG(about.st_mode))
        WP_TRY_GOTO(WP_FAIL(err, IO, "%s: a trace must be a regular file", path), failed);
    f->bytes = (uint64_t)about.st_size;
    WP_TRY_GOTO(check_header(f, err), failed);
    WP_TRY_GOTO(check_end(f, err), failed);
    f->zstd = ZSTD_createDCtx();
    f->stored = wpi_malloc(ZSTD_compressBound(WPI_BLOCK_BYTES_MAX));
    f->raw = wpi_malloc(WPI_BLOCK_BYTES_MAX);
    if (f->zstd == NULL || f->stored == NULL || f->raw == NULL)
        WP_TRY_GOTO(WP_FAIL(err, NOMEM, "trace"), failed);
    *out = f;
    return WP_STATUS_OK;

failed:
    wpi_block_file_close(f);
    return status;
}

void wpi_block_file_close(wpi_block_file *f) {
    if (f == NULL) return;
    if (f->fd >= 0) close(f->fd);
    ZSTD_freeDCtx(f->zstd);
    wpi_free(f->stored);
    wpi_free(f->raw);
    wpi_free(f->path);
    wpi_free(f);
}

static wp_status damaged(const wpi_block_file *f, uint64_t offset, const char *what,
                         wp_error *err) {
    return WP_FAIL(err, PARSE, "%s: offset %" PRIu64 ": %s", f->path, offset, what);
}

/* Reads a block into f->raw; `*next` is the offset of the following block. */
static wp_status read_block(wpi_block_file *f, wpi_block_kind kind, uint64_t offset, size_t *bytes,
                            uint64_t *next, wp_error *err) {
    uint8_t header[BLOCK_HEADER_BYTES];
    WP_TRY(read_at(f, offset, header, sizeof header, err));
    const uint32_t raw = get32(header + 8), stored = get32(header + 12);
    if (get32(header) != BLOCK_MARK) return damaged(f, offset, "no block starts here", err);
    if (raw > WPI_BLOCK_BYTES_MAX || stored > ZSTD_compressBound(WPI_BLOCK_BYTES_MAX))
        return damaged(f, offset, "the block exceeds the maximum size", err);
    WP_TRY(read_at(f, offset + BLOCK_HEADER_BYTES, f->stored, stored, err));
    if (get64(header + 16) != wpi_hash64(f->stored, stored, wpi_hash64(header, 16, offset)))
        return damaged(f, offset, "the block's checksum is wrong: the trace is damaged", err);
    if (get32(header + 4) != (uint32_t)kind)
        return damaged(f, offset, "the block has an unexpected kind", err);
    const size_t got = ZSTD_decompressDCtx(f->zstd, f->raw, WPI_BLOCK_BYTES_MAX, f->stored, stored);
    if (ZSTD_isError(got) || got != raw)
        return damaged(f, offset, "the block cannot be decompressed", err);
    *bytes = got;
    *next = offset + BLOCK_HEADER_BYTES + stored;
    return WP_STATUS_OK;
}

wp_status wpi_block_file_read(wpi_block_file *f, wpi_block_kind kind, uint64_t offset,
                              const uint8_t **data, size_t *bytes, wp_error *err) {
    uint64_t next;
    *data = f->raw;
    return read_block(f, kind, offset, bytes, &next, err);
}

wp_status wpi_block_file_read_long(wpi_block_file *f, wpi_block_kind kind, uint64_t offset,
                                   size_t bytes, uint8_t **data, wp_error *err) {
    *data = NULL;
    uint8_t *to = NULL;
    for (size_t at = 0, part = 0; at < bytes; at += part) {
        const uint64_t from = offset;
        wp_status status = read_block(f, kind, from, &part, &offset, err);
        if (status == WP_STATUS_OK && (part == 0 || part > bytes - at))
            status = damaged(f, from, "the block's size is wrong", err);
        uint8_t *larger = status == WP_STATUS_OK ? wpi_realloc(to, at + part) : NULL;
        if (larger == NULL) {
            wpi_free(to);
            return status != WP_STATUS_OK ? status : WP_FAIL(err, NOMEM, "%s", f->path);
        }
        to = larger;
        memcpy(to + at, f->raw, part);
    }
    *data = to;
    return WP_STATUS_OK;
}

void wpi_block_file_root(const wpi_block_file *f, uint64_t *offset, size_t *bytes) {
    *offset = f->root_offset;
    *bytes = f->root_bytes;
}

const char *wpi_block_file_path(const wpi_block_file *f) {
    return f->path;
}

uint64_t wpi_block_file_bytes(const wpi_block_file *f) {
    return f->bytes;
}

uint32_t wpi_block_file_note(const wpi_block_file *f) {
    return f->note;
}

wp_status wpi_block_file_set_note(const char *path, uint32_t note, wp_error *err) {
    wpi_block_file *f;
    WP_TRY(wpi_block_file_open(path, &f, err));
    wpi_block_file_close(f);
    uint8_t header[EDGE_BYTES];
    seal_edge(header, header_magic, header_word(WPI_TRACE_FORMAT, note), 0);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const bool is_done = fd >= 0 && pwrite(fd, header, sizeof header, 0) == (ssize_t)sizeof header;
    const int reason = errno;
    if (fd >= 0) close(fd);
    return is_done ? WP_STATUS_OK : WP_FAIL(err, IO, "%s: %s", path, strerror(reason));
}

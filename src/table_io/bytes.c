/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pipe2: programs started by other threads must not hold our pipe open;       \
                       madvise */
#include "table_io/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/alloc.h"

#define STORED_BYTES ((size_t)1 << 18)

extern char **environ;

typedef enum packing { PLAIN, GZIP, ZSTD } packing;

struct wpi_bytes {
    int fd;
    char *name;
    pid_t child; /* 0: none */
    packing packing;
    unsigned char *stored; /* [STORED_BYTES]: read, not yet returned or unpacked */
    size_t used, filled;
    bool is_at_end, is_in_member; /* of the file; inside packed data */
    z_stream gzip;
    ZSTD_DStream *zstd;
    _Atomic uint64_t done_bytes; /* read by other threads */
    uint64_t total_bytes;
    void *mapped; /* NULL: nothing is */
    size_t mapped_bytes;
};

static wp_status fail_errno(wp_error *err, const char *what, const char *name) {
    if (errno == ENOENT) return WP_FAIL(err, NOT_FOUND, "cannot %s %s: no such file", what, name);
    return WP_FAIL(err, IO, "cannot %s %s: %s", what, name, strerror(errno));
}

/* ---- stored bytes ---- */

static wp_status read_some(wpi_bytes *bytes, void *to, size_t size_bytes, size_t *got,
                           wp_error *err) {
    ssize_t count;
    do
        count = read(bytes->fd, to, size_bytes);
    while (count < 0 && errno == EINTR);
    if (count < 0) return fail_errno(err, "read", bytes->name);
    bytes->done_bytes += (uint64_t)count;
    bytes->is_at_end = count == 0;
    *got = (size_t)count;
    return WP_STATUS_OK;
}

/* Reads until `wanted` bytes are stored, unless the file ends before. */
static wp_status fill(wpi_bytes *bytes, size_t wanted, wp_error *err) {
    memmove(bytes->stored, bytes->stored + bytes->used, bytes->filled - bytes->used);
    bytes->filled -= bytes->used;
    bytes->used = 0;
    while (bytes->filled < wanted && !bytes->is_at_end) {
        size_t got = 0;
        WP_TRY(read_some(bytes, bytes->stored + bytes->filled, STORED_BYTES - bytes->filled, &got,
                         err));
        bytes->filled += got;
    }
    return WP_STATUS_OK;
}

static packing packing_of(const wpi_bytes *bytes) {
    static const unsigned char gzip[2] = {0x1f, 0x8b}, zstd[4] = {0x28, 0xb5, 0x2f, 0xfd};
    if (bytes->filled >= 2 && memcmp(bytes->stored, gzip, 2) == 0) return GZIP;
    if (bytes->filled >= 4 && memcmp(bytes->stored, zstd, 4) == 0) return ZSTD;
    return PLAIN;
}

/* ---- open ---- */

static wp_status create(const char *name, int fd, wpi_bytes **out, wp_error *err) {
    wpi_bytes *bytes = wpi_calloc(1, sizeof *bytes);
    *out = bytes;
    if (bytes == NULL) {
        (void)close(fd);
        return WP_FAIL(err, NOMEM, "reading %s", name);
    }
    bytes->fd = fd;
    bytes->name = wpi_strdup(name);
    bytes->stored = wpi_malloc(STORED_BYTES);
    if (bytes->name == NULL || bytes->stored == NULL)
        return WP_FAIL(err, NOMEM, "reading %s", name);
    return WP_STATUS_OK;
}

static wp_status begin(wpi_bytes *bytes, wp_error *err) {
    WP_TRY(fill(bytes, 4, err));
    bytes->packing = packing_of(bytes);
    if (bytes->packing == GZIP && inflateInit2(&bytes->gzip, 15 + 16) != Z_OK) {
        bytes->packing = PLAIN;
        return WP_FAIL(err, NOMEM, "decompressing %s", bytes->name);
    }
    if (bytes->packing == ZSTD && (bytes->zstd = ZSTD_createDStream()) == NULL)
        return WP_FAIL(err, NOMEM, "decompressing %s", bytes->name);
    return WP_STATUS_OK;
}

static wp_status finish_open(wp_status status, wpi_bytes **out) {
    if (status == WP_STATUS_OK) return status;
    wpi_bytes_close(*out);
    *out = NULL;
    return status;
}

wp_status wpi_bytes_open(const char *path, wpi_bytes **out, wp_error *err) {
    const bool is_stdin = strcmp(path, "-") == 0;
    struct stat info;
    *out = NULL;
    const int fd =
        is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_errno(err, "read", is_stdin ? "stdin" : path);
    wp_status status = create(is_stdin ? "stdin" : path, fd, out, err);
    if (status == WP_STATUS_OK && fstat(fd, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            status = WP_FAIL(err, IO, "cannot read %s: it is a directory", path);
        if (S_ISREG(info.st_mode)) (*out)->total_bytes = (uint64_t)info.st_size;
    }
    if (status == WP_STATUS_OK) status = begin(*out, err);
    return finish_open(status, out);
}

wp_status wpi_bytes_spawn(const char *const argv[], const char *name, wpi_bytes **out,
                          wp_error *err) {
    int ends[2];
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    *out = NULL;
    if (pipe2(ends, O_CLOEXEC) != 0) return fail_errno(err, "make a pipe for", argv[0]);
    int code = posix_spawn_file_actions_init(&actions);
    if (code == 0) {
        code = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        if (code == 0)
            code = posix_spawnp(&child, argv[0], &actions, NULL, (char *const *)argv, environ);
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    (void)close(ends[1]);
    if (code != 0) {
        (void)close(ends[0]);
        return WP_FAIL(err, NOT_FOUND, "%s: cannot start %s: %s", name, argv[0], strerror(code));
    }
    wp_status status = create(name, ends[0], out, err);
    if (*out != NULL) (*out)->child = child;
    if (status == WP_STATUS_OK) status = begin(*out, err);
    return finish_open(status, out);
}

void wpi_bytes_close(wpi_bytes *bytes) {
    if (bytes == NULL) return;
    (void)close(bytes->fd);
    if (bytes->child != 0) { /* it is still running */
        (void)kill(bytes->child, SIGTERM);
        (void)waitpid(bytes->child, NULL, 0);
    }
    if (bytes->packing == GZIP) (void)inflateEnd(&bytes->gzip);
    (void)ZSTD_freeDStream(bytes->zstd);
    if (bytes->mapped != NULL) (void)munmap(bytes->mapped, bytes->mapped_bytes);
    wpi_free(bytes->stored);
    wpi_free(bytes->name);
    wpi_free(bytes);
}

/* ---- read ---- */

/* The program has closed its output: checks its exit status. */
static wp_status reap(wpi_bytes *bytes, wp_error *err) {
    int how = 0;
    const pid_t child = bytes->child;
    bytes->child = 0;
    if (child == 0 || waitpid(child, &how, 0) != child) return WP_STATUS_OK;
    if (WIFEXITED(how) && WEXITSTATUS(how) == 0) return WP_STATUS_OK;
    return WP_FAIL(err, IO, "cannot read %s; see the message above", bytes->name);
}

static wp_status read_plain(wpi_bytes *bytes, char *to, size_t size_bytes, size_t *got_bytes,
                            wp_error *err) {
    size_t got = bytes->filled - bytes->used;
    if (got > size_bytes) got = size_bytes;
    memcpy(to, bytes->stored + bytes->used, got);
    bytes->used += got;
    while (got < size_bytes && !bytes->is_at_end) {
        size_t more = 0;
        WP_TRY(read_some(bytes, to + got, size_bytes - got, &more, err));
        got += more;
    }
    *got_bytes = got;
    return got < size_bytes ? reap(bytes, err) : WP_STATUS_OK;
}

static wp_status fail_damaged(const wpi_bytes *bytes, wp_error *err) {
    return WP_FAIL(err, PARSE, "%s: the %s data are corrupt", bytes->name,
                   bytes->packing == GZIP ? "gzip" : "zstd");
}

/* Unpacks what is stored to `to`; a member (gzip) or frame (zstd) may end, and another begin. */
static wp_status unpack_gzip(wpi_bytes *bytes, char *to, size_t size_bytes, size_t *got,
                             wp_error *err) {
    z_stream *stream = &bytes->gzip;
    if (!bytes->is_in_member && inflateReset(stream) != Z_OK) return fail_damaged(bytes, err);
    stream->next_in = bytes->stored + bytes->used;
    stream->avail_in = (uInt)(bytes->filled - bytes->used);
    stream->next_out = (unsigned char *)to;
    stream->avail_out = size_bytes < (1u << 30) ? (uInt)size_bytes : 1u << 30;
    const uInt asked = stream->avail_out;
    const int code = inflate(stream, Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        return fail_damaged(bytes, err);
    bytes->used = bytes->filled - stream->avail_in;
    bytes->is_in_member = code != Z_STREAM_END;
    *got = asked - stream->avail_out;
    return WP_STATUS_OK;
}

static wp_status unpack_zstd(wpi_bytes *bytes, char *to, size_t size_bytes, size_t *got,
                             wp_error *err) {
    ZSTD_inBuffer in = {bytes->stored, bytes->filled, bytes->used};
    ZSTD_outBuffer out = {to, size_bytes, 0};
    const size_t code = ZSTD_decompressStream(bytes->zstd, &out, &in);
    if (ZSTD_isError(code)) return fail_damaged(bytes, err);
    bytes->used = in.pos;
    bytes->is_in_member = code != 0;
    *got = out.pos;
    return WP_STATUS_OK;
}

static wp_status read_packed(wpi_bytes *bytes, char *to, size_t size_bytes, size_t *got_bytes,
                             wp_error *err) {
    size_t got = 0;
    *got_bytes = 0;
    while (got < size_bytes) {
        size_t more = 0;
        if (bytes->used == bytes->filled) WP_TRY(fill(bytes, 1, err));
        const size_t stored = bytes->filled - bytes->used;
        if (stored == 0 && !bytes->is_in_member) break;
        WP_TRY((bytes->packing == GZIP ? unpack_gzip : unpack_zstd)(bytes, to + got,
                                                                    size_bytes - got, &more, err));
        if (stored == 0 && more == 0)
            return WP_FAIL(err, PARSE, "%s: truncated: the %s data are incomplete", bytes->name,
                           bytes->packing == GZIP ? "gzip" : "zstd");
        *got_bytes = got += more;
    }
    return WP_STATUS_OK;
}

wp_status wpi_bytes_read(wpi_bytes *bytes, void *to, size_t size_bytes, size_t *got_bytes,
                         wp_error *err) {
    return (bytes->packing == PLAIN ? read_plain : read_packed)(bytes, to, size_bytes, got_bytes,
                                                                err);
}

bool wpi_bytes_map(wpi_bytes *bytes, bool is_random, const void **data, size_t *size_bytes) {
    struct stat info;
    const off_t read_to = lseek(bytes->fd, 0, SEEK_CUR);
    if (bytes->packing != PLAIN || bytes->mapped != NULL || read_to < 0 ||
        fstat(bytes->fd, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    const off_t first = read_to - (off_t)(bytes->filled - bytes->used);
    const off_t page = first - first % (off_t)sysconf(_SC_PAGESIZE);
    if (first >= info.st_size) return false;
    const size_t size = (size_t)(info.st_size - page);
    void *mapped = mmap(NULL, size, PROT_READ, MAP_PRIVATE, bytes->fd, page);
    if (mapped == MAP_FAILED) return false;
    if (is_random) (void)madvise(mapped, size, MADV_RANDOM); /* without reading around each page */
    bytes->mapped = mapped;
    bytes->mapped_bytes = size;
    *data = (const char *)mapped + (first - page);
    *size_bytes = (size_t)(info.st_size - first);
    return true;
}

uint64_t wpi_bytes_done(const wpi_bytes *bytes) {
    return bytes->done_bytes;
}

uint64_t wpi_bytes_total(const wpi_bytes *bytes) {
    return bytes->total_bytes;
}

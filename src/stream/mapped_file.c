/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_TMPFILE, fallocate, copy_file_range */
#include "stream/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/leftovers.h"
#include "base/text.h"

/* Written pages can be given back only when they are on the disk. */
#define SYNC_BYTES (UINT64_C(16) << 20)
/* Of a block: smaller ones are read faster through the page cache, which reads the next one ahead.
 */
#define DIRECT_BYTES (UINT64_C(64) << 10)
#define PAGE_BYTES UINT64_C(4096)

static wp_status fail_errno(wp_error *err, const char *what, const char *path) {
    const int code = errno;
    if (code == ENOENT) return WP_FAIL(err, NOT_FOUND, "cannot %s %s: no such file", what, path);
    return WP_FAIL(err, IO, "cannot %s %s: %s", what, path, strerror(code));
}

/* ---- open ---- */

/* Not all file systems can be read past the page cache. */
static void open_direct(wpi_mapped_file *f) {
    if (f->block_bytes < DIRECT_BYTES) return;
    f->source = open(f->source_name, O_RDONLY | O_CLOEXEC | O_DIRECT | O_NONBLOCK);
    f->is_direct = f->source >= 0;
}

/* Without waiting for the other end of a pipe, which is refused. */
static wp_status open_source(wpi_mapped_file *f, wp_error *err) {
    struct stat info;
    open_direct(f);
    if (!f->is_direct) f->source = open(f->source_name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (f->source < 0 || fstat(f->source, &info) != 0)
        return fail_errno(err, "open", f->source_name);
    if (!S_ISREG(info.st_mode))
        return WP_FAIL(err, INVALID, "%s is not a plain file, and cannot be mapped",
                       f->source_name);
    f->size_bytes = (uint64_t)info.st_size;
    if (f->outer > f->size_bytes)
        return WP_FAIL(err, INVALID,
                       "%s has %" PRIu64 " bytes, but bytes %" PRIu64 " to %" PRIu64
                       " are to be mapped",
                       f->source_name, f->size_bytes, f->first, f->outer);
    /* Threads read far from each other: what the system would read ahead is not needed. */
    (void)posix_fadvise(f->source, 0, 0, POSIX_FADV_RANDOM);
    return WP_STATUS_OK;
}

/* A file without a name never stays behind, however the process ends. */
static wp_status create_target(wpi_mapped_file *f, wp_error *err) {
    char *folder = wpi_path_dir(f->target_name);
    f->target = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    wpi_free(folder);
    if (f->target >= 0) return WP_STATUS_OK;
    f->temporary = wpi_format("%s.XXXXXX", f->target_name);
    f->target = wpi_leftover_file(f->temporary);
    if (f->target >= 0) return WP_STATUS_OK;
    wpi_free(f->temporary);
    f->temporary = NULL;
    return errno == ENOENT
               ? WP_FAIL(err, NOT_FOUND, "cannot create %s: no such folder", f->target_name)
               : fail_errno(err, "create", f->target_name);
}

static wp_status reserve_room(wpi_mapped_file *f, wp_error *err) {
    struct statvfs disk;
    if (fallocate(f->target, 0, 0, (off_t)f->size_bytes) == 0) return WP_STATUS_OK;
    if (errno == EOPNOTSUPP && ftruncate(f->target, (off_t)f->size_bytes) == 0) return WP_STATUS_OK;
    if (errno != ENOSPC || fstatvfs(f->target, &disk) != 0)
        return fail_errno(err, "make room for", f->target_name);
    return WP_FAIL(err, IO,
                   "there is no room for %s: it takes %" PRIu64 " bytes, and %" PRIu64 " are free",
                   f->target_name, f->size_bytes, (uint64_t)disk.f_bavail * disk.f_frsize);
}

static wp_status open_target(wpi_mapped_file *f, wp_error *err) {
    struct stat info;
    if (stat(f->target_name, &info) == 0 && !S_ISREG(info.st_mode))
        return WP_FAIL(err, INVALID, "%s is not a plain file, and cannot be replaced",
                       f->target_name);
    WP_TRY(create_target(f, err));
    WP_TRY(reserve_room(f, err));
    f->is_written = wpi_calloc((size_t)f->block_count, 1);
    if (f->is_written == NULL) return WP_FAIL(err, NOMEM, "a mapped file");
    (void)posix_fadvise(f->target, 0, 0, POSIX_FADV_RANDOM);
    return WP_STATUS_OK;
}

wp_status wpi_mapped_file_open(const char *source, const char *target, uint64_t offset,
                               uint64_t size_bytes, uint64_t block_bytes, wpi_mapped_file **out,
                               wp_error *err) {
    wp_status status;
    *out = NULL;
    if (offset > INT64_MAX || size_bytes > INT64_MAX - offset)
        return WP_FAIL(err, INVALID, "no file has %" PRIu64 " bytes behind byte %" PRIu64,
                       size_bytes, offset);
    wpi_mapped_file *f = wpi_calloc(1, sizeof *f);
    if (f == NULL) return WP_FAIL(err, NOMEM, "a mapped file");
    *f = (wpi_mapped_file){.source = -1,
                           .target = -1,
                           .size_bytes = offset + size_bytes,
                           .block_bytes = block_bytes,
                           .first = offset,
                           .outer = offset + size_bytes};
    if (source != NULL) f->source_name = wpi_strdup(source);
    if (target != NULL) f->target_name = wpi_strdup(target);
    if ((source != NULL && f->source_name == NULL) || (target != NULL && f->target_name == NULL)) {
        status = WP_FAIL(err, NOMEM, "a mapped file");
        goto failed;
    }
    if (source != NULL) WP_TRY_GOTO(open_source(f, err), failed);
    f->block_count = (f->size_bytes + block_bytes - 1) / block_bytes;
    if (target != NULL) WP_TRY_GOTO(open_target(f, err), failed);
    *out = f;
    return WP_STATUS_OK;
failed:
    wpi_mapped_file_close(f);
    return status;
}

/* ---- blocks ---- */

static uint64_t bytes_of(const wpi_mapped_file *f, uint64_t block) {
    const uint64_t left = f->size_bytes - block * f->block_bytes;
    return left < f->block_bytes ? left : f->block_bytes;
}

static bool is_in_target(const wpi_mapped_file *f, uint64_t block) {
    return f->is_written != NULL && __atomic_load_n(&f->is_written[block], __ATOMIC_ACQUIRE) != 0;
}

wp_status wpi_mapped_file_read(wpi_mapped_file *f, uint64_t block, char *to, uint64_t *bytes,
                               wp_error *err) {
    const bool is_target = is_in_target(f, block), is_direct = f->is_direct && !is_target;
    const int from = is_target ? f->target : f->source;
    const char *name = is_target ? f->target_name : f->source_name;
    const uint64_t all = bytes_of(f, block), at = block * f->block_bytes;
    *bytes = 0;
    if (from < 0) {
        memset(to, 0, all);
        return WP_STATUS_OK;
    }
    while (*bytes < all) {
        /* Past the page cache, whole pages: the end of the file ends a read all the same. */
        const uint64_t most = (all - *bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        const ssize_t got = pread(from, to + *bytes, most, (off_t)(at + *bytes));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno(err, "read", name);
        const bool is_end = is_direct && (uint64_t)got % PAGE_BYTES != 0;
        if (got == 0 || (is_end && *bytes + (uint64_t)got < all))
            return WP_FAIL(err, IO,
                           "%s shrank while it was read: it had %" PRIu64
                           " bytes, and now ends at byte %" PRIu64,
                           name, f->size_bytes, at + *bytes + (uint64_t)got);
        *bytes += (uint64_t)got;
    }
    if (*bytes > all) *bytes = all; /* the file has grown */
    (void)posix_fadvise(from, (off_t)at, (off_t)all, POSIX_FADV_DONTNEED);
    return WP_STATUS_OK;
}

static wp_status sync_target(wpi_mapped_file *f, wp_error *err) {
    if (fdatasync(f->target) != 0) return fail_errno(err, "write", f->target_name);
    (void)posix_fadvise(f->target, 0, 0, POSIX_FADV_DONTNEED);
    return WP_STATUS_OK;
}

static wp_status write_block(wpi_mapped_file *f, uint64_t block, const char *from, uint64_t *bytes,
                             wp_error *err) {
    const uint64_t all = bytes_of(f, block), at = block * f->block_bytes;
    while (*bytes < all) {
        const ssize_t put = pwrite(f->target, from + *bytes, all - *bytes, (off_t)(at + *bytes));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return fail_errno(err, "write", f->target_name);
        *bytes += (uint64_t)put;
    }
    __atomic_store_n(&f->is_written[block], 1, __ATOMIC_RELEASE);
    uint64_t before = __atomic_fetch_add(&f->unsynced_bytes, all, __ATOMIC_RELAXED) + all;
    if (before < SYNC_BYTES || !__atomic_compare_exchange_n(&f->unsynced_bytes, &before, 0, false,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return WP_STATUS_OK;
    return sync_target(f, err);
}

wp_status wpi_mapped_file_write(wpi_mapped_file *f, uint64_t block, const char *from,
                                uint64_t *bytes, wp_error *err) {
    *bytes = 0;
    const wp_status status = write_block(f, block, from, bytes, err);
    if (status != WP_STATUS_OK) __atomic_store_n(&f->has_failed, true, __ATOMIC_RELEASE);
    return status;
}

void wpi_mapped_file_expect(const wpi_mapped_file *f, uint64_t block) {
    if (block >= f->block_count) return;
    const int from = is_in_target(f, block) ? f->target : f->source;
    if (from < 0 || (from == f->source && f->is_direct)) return;
    (void)posix_fadvise(from, (off_t)(block * f->block_bytes), (off_t)f->block_bytes,
                        POSIX_FADV_WILLNEED);
}

/* ---- the end ---- */

static wp_status copy_range(wpi_mapped_file *f, uint64_t first, uint64_t outer, wp_error *err) {
    uint64_t since_sync = 0;
    if (f->is_direct && fcntl(f->source, F_SETFL, 0) != 0)
        return fail_errno(err, "read", f->source_name);
    f->is_direct = false;
    while (first < outer) {
        off_t from = (off_t)first, to = (off_t)first;
        uint64_t most = outer - first < SYNC_BYTES ? outer - first : SYNC_BYTES;
        const ssize_t got = copy_file_range(f->source, &from, f->target, &to, most, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno(err, "write", f->target_name);
        if (got == 0)
            return WP_FAIL(err, IO,
                           "%s shrank while it was read: it had %" PRIu64
                           " bytes, and now ends at byte %" PRIu64,
                           f->source_name, f->size_bytes, first);
        first += (uint64_t)got;
        since_sync += (uint64_t)got;
        if (since_sync < SYNC_BYTES) continue;
        WP_TRY(sync_target(f, err));
        (void)posix_fadvise(f->source, 0, 0, POSIX_FADV_DONTNEED);
        since_sync = 0;
    }
    return WP_STATUS_OK;
}

static wp_status copy_the_rest(wpi_mapped_file *f, wp_error *err) {
    for (uint64_t block = 0, outer; block < f->block_count; block = outer) {
        outer = block + 1;
        if (is_in_target(f, block)) continue;
        while (outer < f->block_count && !is_in_target(f, outer))
            outer++;
        const uint64_t end = outer * f->block_bytes;
        WP_TRY(
            copy_range(f, block * f->block_bytes, end < f->size_bytes ? end : f->size_bytes, err));
    }
    return WP_STATUS_OK;
}

/* As a file that is there; else as any new file. */
static mode_t mode_of(const char *path) {
    struct stat info;
    if (stat(path, &info) == 0) return info.st_mode & 07777;
    const mode_t mask = umask(0);
    (void)umask(mask);
    return 0666 & ~mask;
}

/* A link cannot replace a file: under another name first, where a file has this one. */
static bool link_target(wpi_mapped_file *f) {
    char own[32];
    (void)snprintf(own, sizeof own, "/proc/self/fd/%d", f->target);
    if (linkat(AT_FDCWD, own, AT_FDCWD, f->target_name, AT_SYMLINK_FOLLOW) == 0) return true;
    if (errno != EEXIST) return false;
    char *name = wpi_format("%s.XXXXXX", f->target_name);
    const int taken = wpi_leftover_file(name);
    bool is_done = taken >= 0;
    if (is_done) {
        (void)close(taken);
        is_done = unlink(name) == 0 &&
                  linkat(AT_FDCWD, own, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 &&
                  rename(name, f->target_name) == 0;
        const int code = errno;
        if (!is_done) (void)unlink(name);
        errno = code;
        wpi_leftover_drop(name);
    }
    wpi_free(name);
    return is_done;
}

static bool name_target(wpi_mapped_file *f) {
    if (f->temporary == NULL) return link_target(f);
    if (rename(f->temporary, f->target_name) != 0) return false;
    wpi_leftover_drop(f->temporary);
    wpi_free(f->temporary);
    f->temporary = NULL;
    return true;
}

wp_status wpi_mapped_file_finish(wpi_mapped_file *f, wp_error *err) {
    if (f->target < 0) return WP_STATUS_OK;
    if (__atomic_load_n(&f->has_failed, __ATOMIC_ACQUIRE))
        return WP_FAIL(err, IO, "%s was not written, as an earlier error says", f->target_name);
    if (f->source >= 0) WP_TRY(copy_the_rest(f, err));
    WP_TRY(sync_target(f, err));
    if (fchmod(f->target, mode_of(f->target_name)) != 0 || !name_target(f))
        return fail_errno(err, "write", f->target_name);
    return WP_STATUS_OK;
}

void wpi_mapped_file_close(wpi_mapped_file *f) {
    if (f == NULL) return;
    if (f->temporary != NULL) {
        (void)unlink(f->temporary);
        wpi_leftover_drop(f->temporary);
    }
    if (f->source >= 0) {
        (void)posix_fadvise(f->source, (off_t)f->first, (off_t)(f->outer - f->first),
                            POSIX_FADV_DONTNEED); /* what was expected, but not read */
        (void)close(f->source);
    }
    if (f->target >= 0) (void)close(f->target);
    wpi_free(f->temporary);
    wpi_free(f->is_written);
    wpi_free(f->source_name);
    wpi_free(f->target_name);
    wpi_free(f);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Files over plain POSIX calls; a write goes to a temporary file beside it first, so that readers
 * never see a part. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/leftovers.h"
#include "base/text.h"

static wp_status fail_errno(wp_error *err, const char *verb, const char *path) {
    const int code = errno;
    if (code == ENOENT) return WP_FAIL(err, NOT_FOUND, "%s: no such file or folder", path);
    return WP_FAIL(err, IO, "%s: cannot %s: %s", path, verb, strerror(code));
}

wp_status wpi_file_read(const char *path, char **data, size_t *size_bytes, wp_error *err) {
    *data = NULL;
    *size_bytes = 0;
    char *buffer = NULL;
    size_t length = 0;
    size_t capacity = 0;
    wp_status status = WP_STATUS_OK;

    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_errno(err, "open", path);
    struct stat info;
    if (fstat(fd, &info) != 0) {
        status = fail_errno(err, "read", path);
        goto done;
    }
    /* The size is a hint only: pipes and /proc report 0, and a file may grow meanwhile. */
    capacity = S_ISREG(info.st_mode) && info.st_size > 0 ? (size_t)info.st_size + 1 : 4096;
    for (;;) {
        if (buffer == NULL || length + 1 >= capacity) {
            if (buffer != NULL) capacity *= 2;
            char *larger = wpi_realloc(buffer, capacity + 1);
            if (larger == NULL) {
                status = WP_FAIL(err, NOMEM, "%s: no memory for %zu bytes", path, capacity);
                goto done;
            }
            buffer = larger;
        }
        const ssize_t count = read(fd, buffer + length, capacity - length);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            status = fail_errno(err, "read", path);
            goto done;
        }
        if (count == 0) break;
        length += (size_t)count;
    }
    buffer[length] = '\0';
    *data = buffer;
    *size_bytes = length;
    buffer = NULL;
done:
    (void)close(fd);
    wpi_free(buffer);
    return status;
}

static bool write_all(int fd, const char *data, size_t size_bytes) {
    while (size_bytes != 0) {
        const ssize_t count = write(fd, data, size_bytes);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return false;
        data += count;
        size_bytes -= (size_t)count;
    }
    return true;
}

static int create_beside(const char *path, mode_t mode, char **temporary) {
    char *made = wpi_format("%s.XXXXXX", path);
    const int fd = wpi_leftover_file(made);
    if (fd >= 0 && fchmod(fd, mode) == 0) {
        *temporary = made;
        return fd;
    }
    const int code = errno;
    if (fd >= 0) {
        (void)close(fd);
        (void)unlink(made);
        wpi_leftover_drop(made);
    }
    wpi_free(made);
    errno = code;
    return -1;
}

int wpi_file_begin(const char *path, char **temporary) {
    struct stat info;
    *temporary = NULL;
    if (stat(path, &info) == 0)
        return S_ISREG(info.st_mode) ? create_beside(path, info.st_mode & 07777, temporary)
                                     : open(path, O_WRONLY | O_CLOEXEC);
    const mode_t mask = umask(0);
    (void)umask(mask);
    return create_beside(path, 0666 & ~mask, temporary);
}

bool wpi_file_end(const char *path, char *temporary, bool is_complete) {
    if (temporary == NULL) return is_complete;
    const bool is_right = is_complete && rename(temporary, path) == 0;
    const int code = errno;
    if (!is_right) (void)unlink(temporary);
    wpi_leftover_drop(temporary);
    wpi_free(temporary);
    errno = code;
    return is_right;
}

static wp_status write_whole(const char *path, int fd, char *temporary, const void *data,
                             size_t size_bytes, wp_error *err) {
    if (fd < 0) return fail_errno(err, "create", path);
    bool is_right = write_all(fd, data, size_bytes);
    int code = errno;
    if (close(fd) != 0 && is_right) {
        is_right = false;
        code = errno;
    }
    errno = code;
    return wpi_file_end(path, temporary, is_right) ? WP_STATUS_OK : fail_errno(err, "write", path);
}

wp_status wpi_file_write(const char *path, const void *data, size_t size_bytes, wp_error *err) {
    char *temporary;
    const int fd = wpi_file_begin(path, &temporary);
    return write_whole(path, fd, temporary, data, size_bytes, err);
}

wp_status wpi_file_write_private(const char *path, const void *data, size_t size_bytes,
                                 wp_error *err) {
    char *temporary = NULL;
    const int fd = create_beside(path, 0600, &temporary);
    return write_whole(path, fd, temporary, data, size_bytes, err);
}

bool wpi_file_exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

bool wpi_file_is_executable(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

bool wpi_dir_exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

wp_status wpi_dir_create(const char *path, wp_error *err) {
    char *copy = wpi_format("%s", path);
    wp_status status = WP_STATUS_OK;
    for (char *end = copy;; end++) {
        if ((*end == '/' && end != copy) || *end == '\0') {
            const char kept = *end;
            *end = '\0';
            if (mkdir(copy, 0777) != 0 && !wpi_dir_exists(copy)) {
                status = fail_errno(err, "create the folder", copy);
                break;
            }
            *end = kept;
            if (kept == '\0') break;
        }
    }
    wpi_free(copy);
    return status;
}

wp_status wpi_temp_dir_create(char **path, wp_error *err) {
    *path = NULL;
    const char *root = getenv("TMPDIR");
    if (root == NULL || root[0] == '\0') root = "/tmp";
    char *name = wpi_path_join(root, "warpage-XXXXXX");
    if (!wpi_leftover_folder(name)) {
        const wp_status status = fail_errno(err, "create a temporary folder", root);
        wpi_free(name);
        return status;
    }
    *path = name;
    return WP_STATUS_OK;
}

void wpi_temp_dir_remove(const char *path) {
    if (path == NULL) return;
    wpi_leftover_remove(path);
    wpi_leftover_drop(path);
}

char *wpi_path_join(const char *dir, const char *name) {
    if (name[0] == '/' || dir[0] == '\0') return wpi_format("%s", name);
    const bool has_slash = dir[strlen(dir) - 1] == '/';
    return wpi_format("%s%s%s", dir, has_slash ? "" : "/", name);
}

char *wpi_path_dir(const char *path) {
    const char *slash = strrchr(path, '/');
    if (slash == NULL) return wpi_format(".");
    if (slash == path) return wpi_format("/");
    return wpi_format("%.*s", (int)(slash - path), path);
}

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The last dot of the name, or its end; a leading dot is part of the name. */
static const char *extension_of(const char *path) {
    const char *base = base_of(path);
    const char *dot = strrchr(base, '.');
    return dot != NULL && dot != base ? dot : base + strlen(base);
}

char *wpi_path_base(const char *path) {
    return wpi_format("%s", base_of(path));
}

char *wpi_path_extension(const char *path) {
    return wpi_format("%s", extension_of(path));
}

char *wpi_path_stem(const char *path) {
    const char *base = base_of(path);
    return wpi_format("%.*s", (int)(extension_of(path) - base), base);
}

wp_status wpi_self_path(char **path, wp_error *err) {
    *path = NULL;
    char buffer[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", buffer, sizeof buffer - 1);
    if (length < 0) return fail_errno(err, "read", "/proc/self/exe");
    buffer[length] = '\0';
    *path = wpi_format("%s", buffer);
    return WP_STATUS_OK;
}

char *wpi_program_find(const char *name) {
    if (strchr(name, '/') != NULL)
        return wpi_file_is_executable(name) ? wpi_format("%s", name) : NULL;
    const char *rest = getenv("PATH");
    if (rest == NULL) rest = "/usr/bin:/bin";
    for (;;) {
        const size_t length = strcspn(rest, ":");
        char *dir = length != 0 ? wpi_format("%.*s", (int)length, rest) : wpi_format(".");
        char *candidate = wpi_path_join(dir, name);
        wpi_free(dir);
        if (wpi_file_is_executable(candidate)) return candidate;
        wpi_free(candidate);
        if (rest[length] == '\0') return NULL;
        rest += length + 1;
    }
}

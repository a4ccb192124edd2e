/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cache_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"

/* ---- its path ---- */

static bool is_set(const char *value) {
    return value != NULL && value[0] != '\0';
}

/* Not usable as home folders: none, a relative one, the root folder. */
static bool is_home(const char *path) {
    return is_set(path) && path[0] == '/' && path[strspn(path, "/")] != '\0';
}

/* $HOME, else that of the user database, if it exists; NULL: none. */
static char *home_folder(void) {
    const char *home = getenv("HOME");
    if (is_home(home)) return wpi_format("%s", home);
    char buffer[4096];
    struct passwd row, *found = NULL;
    if (getpwuid_r(geteuid(), &row, buffer, sizeof buffer, &found) != 0 || found == NULL)
        return NULL;
    return is_home(found->pw_dir) && wpi_dir_exists(found->pw_dir) ? wpi_format("%s", found->pw_dir)
                                                                   : NULL;
}

char *wpi_cache_path(void) {
    const char *wanted = getenv("WARPAGE_CACHE"), *xdg = getenv("XDG_CACHE_HOME");
    if (is_set(wanted)) return wpi_format("%s", wanted);
    if (is_set(xdg) && xdg[0] == '/') return wpi_path_join(xdg, "warpage");
    char *home = home_folder();
    if (home != NULL) {
        char *path = wpi_path_join(home, ".cache/warpage");
        wpi_free(home);
        return path;
    }
    const char *temp = getenv("TMPDIR");
    return wpi_format("%s/warpage-%u", is_set(temp) ? temp : "/tmp", (unsigned)geteuid());
}

char *wpi_data_path(void) {
    const char *xdg = getenv("XDG_DATA_HOME");
    if (is_set(xdg) && xdg[0] == '/') return wpi_path_join(xdg, "warpage");
    char *home = home_folder();
    if (home == NULL) return NULL;
    char *path = wpi_path_join(home, ".local/share/warpage");
    wpi_free(home);
    return path;
}

/* ---- its owner ---- */

static wp_status check_owner(const char *what, const char *path, const struct stat *info,
                             const char *remedy, wp_error *err) {
    if (info->st_uid != geteuid())
        return WP_FAIL(err, INVALID,
                       "%s %s belongs to another user (user id %u) and is not used; %s", what, path,
                       (unsigned)info->st_uid, remedy);
    if ((info->st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return WP_FAIL(err, INVALID,
                       "%s %s can be written by other users and is not used; run: chmod go-w '%s'",
                       what, path, path);
    return WP_STATUS_OK;
}

/* Only the folder itself is created private. */
static wp_status create(const char *path, wp_error *err) {
    char *above = wpi_path_dir(path);
    wp_status status = wpi_dir_create(above, err);
    wpi_free(above);
    WP_TRY(status);
    if (mkdir(path, 0700) == 0 || errno == EEXIST) return WP_STATUS_OK;
    return WP_FAIL(err, IO, "%s: cannot create the folder: %s", path, strerror(errno));
}

/* In a folder that any user may write, a link could lead anywhere. */
static bool is_link(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode) && info.st_uid != geteuid();
}

wp_status wpi_cache_open(char **out, wp_error *err) {
    static const char remedy[] = "set WARPAGE_CACHE to a folder of your own";
    struct stat info;
    char *path = wpi_cache_path();
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        path[--length] = '\0';
    *out = NULL;
    wp_status status = wpi_dir_exists(path) ? WP_STATUS_OK : create(path, err);
    if (status == WP_STATUS_OK && (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)))
        status = WP_FAIL(err, IO, "%s: not a folder", path);
    if (status == WP_STATUS_OK && is_link(path))
        status = WP_FAIL(err, INVALID, "the cache folder %s is a link of another user; %s", path,
                         remedy);
    if (status == WP_STATUS_OK) status = check_owner("the cache folder", path, &info, remedy, err);
    if (status == WP_STATUS_OK && access(path, W_OK | X_OK) != 0)
        status = WP_FAIL(err, IO, "%s: cannot write to the folder: %s", path, strerror(errno));
    if (status == WP_STATUS_OK)
        *out = path;
    else
        wpi_free(path);
    return status;
}

wp_status wpi_cache_check_owner(const char *path, wp_error *err) {
    struct stat info;
    if (lstat(path, &info) != 0) return WP_FAIL(err, NOT_FOUND, "%s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode)) return WP_FAIL(err, INVALID, "%s: not a plain file", path);
    return check_owner("the file", path, &info, "remove it", err);
}

/* ---- its files ---- */

/* The last bytes of a file, which readers of shared libraries and of text ignore. */
#define SEAL_FORMAT "\n#warpage-seal %016" PRIx64 " %016" PRIx64 "\n"
enum { SEAL_BYTES = 1 + 13 + 1 + 16 + 1 + 16 + 1 };

static void make_seal(const void *data, size_t size_bytes, char seal[SEAL_BYTES + 1]) {
    WP_CHECK(snprintf(seal, SEAL_BYTES + 1, SEAL_FORMAT, (uint64_t)size_bytes,
                      wpi_hash64(data, size_bytes, 0)) == SEAL_BYTES);
}

wp_status wpi_cache_write(const char *path, const void *data, size_t size_bytes, wp_error *err) {
    char seal[SEAL_BYTES + 1];
    make_seal(data, size_bytes, seal);
    char *all = wpi_malloc(size_bytes + SEAL_BYTES);
    if (all == NULL) return WP_FAIL(err, NOMEM, "%s: no memory for %zu bytes", path, size_bytes);
    memcpy(all, data, size_bytes);
    memcpy(all + size_bytes, seal, SEAL_BYTES);
    const wp_status status = wpi_file_write_private(path, all, size_bytes + SEAL_BYTES, err);
    wpi_free(all);
    return status;
}

wp_status wpi_cache_read(const char *path, char **data, size_t *size_bytes, wp_error *err) {
    char seal[SEAL_BYTES + 1];
    *data = NULL;
    *size_bytes = 0;
    WP_TRY(wpi_cache_check_owner(path, err));
    WP_TRY(wpi_file_read(path, data, size_bytes, err));
    bool is_whole = *size_bytes >= SEAL_BYTES;
    if (is_whole) {
        *size_bytes -= SEAL_BYTES;
        make_seal(*data, *size_bytes, seal);
        is_whole = memcmp(*data + *size_bytes, seal, SEAL_BYTES) == 0;
        (*data)[*size_bytes] = '\0';
    }
    if (is_whole) return WP_STATUS_OK;
    wpi_free(*data);
    *data = NULL;
    *size_bytes = 0;
    return WP_FAIL(err, PARSE, "%s is damaged", path);
}

/* "x.so.k3jD9a", "x.pch.4711": a name that is renamed when the file is whole. */
static bool is_unfinished(const char *name) {
    static const char *const endings[] = {".so.", ".txt.", ".pch."};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strstr(name, endings[i]) != NULL) return true;
    return false;
}

void wpi_cache_sweep(const char *dir) {
    DIR *folder = opendir(dir);
    if (folder == NULL) return;
    const time_t now = time(NULL);
    for (const struct dirent *e = readdir(folder); e != NULL; e = readdir(folder)) {
        struct stat info;
        if (is_unfinished(e->d_name) &&
            fstatat(dirfd(folder), e->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(info.st_mode) && now - info.st_mtime > 60 * 60)
            (void)unlinkat(dirfd(folder), e->d_name, 0);
    }
    (void)closedir(folder);
}

/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* renameat2 */
#include "report/new_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"

static bool is_own(const char *name, const char *const *names) {
    for (; *names != NULL; names++)
        if (strcmp(name, *names) == 0) return true;
    return false;
}

wp_status wpi_new_folder_check(const char *dir, const char *const *names, wp_error *err) {
    DIR *stream = opendir(dir);
    if (stream == NULL && errno == ENOENT) return WP_STATUS_OK;
    if (stream == NULL) return WP_FAIL(err, INVALID, "%s: %s", dir, strerror(errno));
    wp_status status = WP_STATUS_OK;
    for (const struct dirent *e = readdir(stream); e != NULL && status == WP_STATUS_OK;
         e = readdir(stream)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || is_own(e->d_name, names))
            continue;
        status = WP_FAIL(err, INVALID,
                         "%s contains '%s', which is not part of a report: name a new folder", dir,
                         e->d_name);
    }
    (void)closedir(stream);
    return status;
}

void wpi_new_folder_put(wpi_new_folder *folder, const char *name, const char *data, size_t bytes) {
    if (folder->status != WP_STATUS_OK) return;
    char *path = wpi_path_join(folder->dir, name);
    folder->status = wpi_file_write(path, data, bytes, folder->err);
    wpi_free(path);
}

void wpi_new_folder_put_text(wpi_new_folder *folder, const char *name, wpi_text *text) {
    wpi_new_folder_put(folder, name, wpi_text_string(text), text->length);
    wpi_text_deinit(text);
}

static wp_status take_place(const char *made, const char *dir, wp_error *err) {
    if (rename(made, dir) == 0) return WP_STATUS_OK;
    if (errno != ENOTEMPTY && errno != EEXIST)
        return WP_FAIL(err, IO, "%s: cannot be created: %s", dir, strerror(errno));
    if (renameat2(AT_FDCWD, made, AT_FDCWD, dir, RENAME_EXCHANGE) != 0)
        return WP_FAIL(err, IO, "%s: the earlier report cannot be replaced: %s; remove it", dir,
                       strerror(errno));
    wpi_temp_dir_remove(made); /* the earlier one */
    return WP_STATUS_OK;
}

wp_status wpi_new_folder_write(const char *dir, void (*fill)(wpi_new_folder *folder, void *object),
                               void *object, wp_error *err) {
    size_t length = strlen(dir);
    while (length > 1 && dir[length - 1] == '/')
        length--;
    char *place = wpi_format("%.*s", (int)length, dir);
    char *above = wpi_path_dir(place);
    char *made = wpi_format("%s.XXXXXX", place);
    wp_status status = wpi_dir_create(above, err);
    bool is_made = false;
    if (status == WP_STATUS_OK) {
        is_made = mkdtemp(made) != NULL;
        if (!is_made) status = WP_FAIL(err, IO, "%s: cannot be created: %s", dir, strerror(errno));
    }
    const mode_t mask = umask(0);
    (void)umask(mask);
    if (is_made) (void)chmod(made, 0777 & ~mask);
    if (status == WP_STATUS_OK) {
        wpi_new_folder folder = {.dir = made, .err = err};
        fill(&folder, object);
        status = folder.status;
    }
    if (status == WP_STATUS_OK) status = take_place(made, place, err);
    if (status != WP_STATUS_OK && is_made) wpi_temp_dir_remove(made);
    wpi_free(place);
    wpi_free(above);
    wpi_free(made);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Whole files, temporary folders, paths. Returned strings belong to the caller (wpi_free); the
 * wp_path_… functions never return NULL. Callable from any thread.
 */
#ifndef WP_BASE_FILE_H
#define WP_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "warpage/error.h"

/** Reads all of `path`. A NUL follows the data and is not counted. NOT_FOUND, IO, NOMEM. */
WP_NODISCARD wp_status wpi_file_read(const char *path, char **data, size_t *size_bytes,
                                     wp_error *err);
/** Writes a file that appears complete or not at all: a temporary one beside it, then renamed.
 *  `size_bytes` may be 0. Something that is no plain file (/dev/null, a pipe) is written directly.
 */
WP_NODISCARD wp_status wpi_file_write(const char *path, const void *data, size_t size_bytes,
                                      wp_error *err);
/** The same, readable and writable by the user only, also if it existed with other permissions. */
WP_NODISCARD wp_status wpi_file_write_private(const char *path, const void *data, size_t size_bytes,
                                              wp_error *err);
/** To write such a file in parts: opens it, with the permissions that it will have, and keeps its
 *  name in `*temporary`, as a leftover (leftovers.h); NULL if `path` is no plain file and is opened
 *  itself. -1: errno says why. */
WP_NODISCARD int wpi_file_begin(const char *path, char **temporary);
/** After the descriptor is closed: gives the file its name, or removes it if it is not complete,
 * and frees `temporary`. False, with errno, if it is not there then. */
bool wpi_file_end(const char *path, char *temporary, bool is_complete);
bool wpi_file_exists(const char *path); /* of any kind */
bool wpi_file_is_executable(const char *path);
bool wpi_dir_exists(const char *path);
/** Creates `path` and the folders above it where they are missing. */
WP_NODISCARD wp_status wpi_dir_create(const char *path, wp_error *err);

/** A new private folder under $TMPDIR or /tmp. */
WP_NODISCARD wp_status wpi_temp_dir_create(char **path, wp_error *err);
/** Removes a folder and all in it (links are not followed); NULL allowed. Best effort. */
void wpi_temp_dir_remove(const char *path);

WP_NODISCARD char *wpi_path_join(const char *dir, const char *name); /* absolute `name`: itself */
WP_NODISCARD char *wpi_path_dir(const char *path);       /* "a/b.c" -> "a", "b.c" -> "." */
WP_NODISCARD char *wpi_path_base(const char *path);      /* "a/b.c" -> "b.c" */
WP_NODISCARD char *wpi_path_extension(const char *path); /* "a/b.c" -> ".c"; "" if none */
WP_NODISCARD char *wpi_path_stem(const char *path);      /* "a/b.c" -> "b" */

/** The running program's own file, links resolved. */
WP_NODISCARD wp_status wpi_self_path(char **path, wp_error *err);
/** The first executable `name` in $PATH (a name with a slash: itself), or NULL. */
WP_NODISCARD char *wpi_program_find(const char *name);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** The user's cache: compiled variants, precompiled headers.
 *
 * It is $WARPAGE_CACHE, else $XDG_CACHE_HOME/warpage, else .cache/warpage in $HOME or, where that
 * is not set, in the home folder of the user database; without any of these, warpage-<user id> in
 * $TMPDIR or /tmp. Code is loaded from it, so it must belong to the user, and no other user may
 * write to it. */
#ifndef WP_BASE_CACHE_H
#define WP_BASE_CACHE_H

#include <stddef.h>

#include "base/fail.h"

/** Its path, whether it exists or not. Free with wpi_free; never NULL. */
WP_NODISCARD char *wpi_cache_path(void);

/** The folder of what the user installs: $XDG_DATA_HOME/warpage, else .local/share/warpage in the
 * home folder; NULL if there is none. Free with wpi_free. */
WP_NODISCARD char *wpi_data_path(void);

/** The folder, created with mode 0700 where it is missing, in `*out` (wpi_free). IO: it cannot be
 * created; INVALID: it is not the user's own, or others may write to it. */
WP_NODISCARD wp_status wpi_cache_open(char **out, wp_error *err);

/** Writes a file of the cache, readable by the user only, complete or not at all; wpi_cache_read
 * notices when it is damaged later: the file ends in the length and a hash of `data`. */
WP_NODISCARD wp_status wpi_cache_write(const char *path, const void *data, size_t size_bytes,
                                       wp_error *err);
/** Reads what wpi_cache_write wrote, without its end. NOT_FOUND, IO; PARSE: damaged; INVALID: not
 * the user's own, or others may write to it. */
WP_NODISCARD wp_status wpi_cache_read(const char *path, char **data, size_t *size_bytes,
                                      wp_error *err);
/** Whether a file of the cache is a plain file that only the user can write: else INVALID, or
 * NOT_FOUND. */
WP_NODISCARD wp_status wpi_cache_check_owner(const char *path, wp_error *err);

/** Removes unfinished files older than an hour, which killed processes leave. */
void wpi_cache_sweep(const char *dir);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cache.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"

char *wp_cache_dir(const char *wanted) {
    char *dir = NULL;
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (wanted && wanted[0])
        dir = wp_strdup(wanted);
    else if (xdg && xdg[0] == '/')
        dir = wp_path_join(xdg, "warpage");
    else if (home && home[0] == '/')
        dir = wp_path_join(home, ".cache/warpage");
    if (dir && wp_dir_create(dir, NULL) == WP_STATUS_OK) return dir;
    wp_free(dir);
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/** The user's folder of things that can be made again: compiled variants, precompiled headers. */
#ifndef WP_BASE_CACHE_H
#define WP_BASE_CACHE_H

#include "base/fail.h"

/** `wanted` if it is not empty (NULL allowed), else $XDG_CACHE_HOME/warpage or ~/.cache/warpage;
 * created where it is missing. NULL: none that can be written. Free with wp_free. */
WP_NODISCARD char *wp_cache_dir(const char *wanted);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** "Did you mean …": the known name that is closest to a mistyped one. */
#ifndef WP_BASE_NEAREST_H
#define WP_BASE_NEAREST_H

#include <stddef.h>

/** Single-character edits (insert, delete, replace, swap neighbours) between two names. */
size_t wpi_edit_distance(const char *a, const char *b);

enum { WP_NEAREST_NAME_MAX = 128 }; /* characters of a candidate; longer ones are ignored */

/** Initialise by `{.wanted = "…"}`, add candidates one by one, then get the result. */
typedef struct wpi_nearest {
    const char *wanted;
    char best[WP_NEAREST_NAME_MAX + 1]; /* "": nothing seen */
    size_t best_distance;
} wpi_nearest;

void wpi_nearest_offer(wpi_nearest *nearest, const char *candidate);

/** The best candidate if it is close enough (at most a third of its letters differ), or NULL. */
const char *wpi_nearest_result(const wpi_nearest *nearest);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A growable vector of strings that it owns, such as a command line: once something was added,
 * `items[count]` is NULL, as exec wants it. `{0}` is valid and empty (`items` is NULL). Running out
 * of memory ends the process (base/must.h). One thread at a time.
 */
#ifndef WP_BASE_STRINGS_H
#define WP_BASE_STRINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

typedef struct wp_strings {
    char **items;
    size_t count;
    size_t capacity;
} wp_strings;

void wp_strings_add(wp_strings *strings, const char *string); /* copies */
void wp_strings_addf(wp_strings *strings, const char *format, ...) WP_PRINTF(2, 3);
void wp_strings_add_all(wp_strings *strings, const wp_strings *more);
/** Takes a wp_free-able string. */
void wp_strings_add_take(wp_strings *strings, char *string);
bool wp_strings_contains(const wp_strings *strings, const char *string);
void wp_strings_deinit(wp_strings *strings);

/** `items` as exec and wp_subprocess_run take it; valid until the next change. */
static inline const char *const *wp_strings_argv(const wp_strings *strings) {
    return (const char *const *)strings->items;
}

#endif

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

typedef struct wpi_strings {
    char **items;
    size_t count;
    size_t capacity;
} wpi_strings;

void wpi_strings_add(wpi_strings *strings, const char *string); /* copies */
void wpi_strings_addf(wpi_strings *strings, const char *format, ...) WP_PRINTF(2, 3);
void wpi_strings_add_all(wpi_strings *strings, const wpi_strings *more);
/** Takes a wpi_free-able string. */
void wpi_strings_add_take(wpi_strings *strings, char *string);
bool wpi_strings_contains(const wpi_strings *strings, const char *string);
void wpi_strings_deinit(wpi_strings *strings);

/** `items` as exec and wpi_subprocess_run take it; valid until the next change. */
static inline const char *const *wpi_strings_argv(const wpi_strings *strings) {
    return (const char *const *)strings->items;
}

#endif

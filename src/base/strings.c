/* SPDX-License-Identifier: Apache-2.0 */
/* Vector of owned strings, NULL-terminated. */
#include "base/strings.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "base/must.h"
#include "base/text.h"

void wp_strings_add_take(wp_strings *strings, char *string) {
    WP_CHECK(string != NULL);
    if (strings->count + 2 > strings->capacity) {
        WP_CHECK(strings->capacity < SIZE_MAX / 4 / sizeof *strings->items);
        const size_t capacity = strings->capacity != 0 ? strings->capacity * 2 : 8;
        strings->items = wp_must_realloc(strings->items, capacity * sizeof *strings->items);
        strings->capacity = capacity;
    }
    strings->items[strings->count++] = string;
    strings->items[strings->count] = NULL;
}

void wp_strings_add(wp_strings *strings, const char *string) {
    wp_strings_add_take(strings, wp_must_strdup(string));
}

void wp_strings_addf(wp_strings *strings, const char *format, ...) {
    wp_text text = {0};
    va_list args;
    va_start(args, format);
    wp_text_vappendf(&text, format, args);
    va_end(args);
    wp_strings_add_take(strings, wp_text_take(&text));
}

void wp_strings_add_all(wp_strings *strings, const wp_strings *more) {
    for (size_t i = 0; i < more->count; i++)
        wp_strings_add(strings, more->items[i]);
}

bool wp_strings_contains(const wp_strings *strings, const char *string) {
    for (size_t i = 0; i < strings->count; i++)
        if (strcmp(strings->items[i], string) == 0) return true;
    return false;
}

void wp_strings_deinit(wp_strings *strings) {
    for (size_t i = 0; i < strings->count; i++)
        wp_free(strings->items[i]);
    wp_free(strings->items);
    *strings = (wp_strings){0};
}

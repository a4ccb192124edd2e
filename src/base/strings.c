/* SPDX-License-Identifier: Apache-2.0 */
/* Vector of owned strings, NULL-terminated. */
#include "base/strings.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "base/must.h"
#include "base/text.h"

void wpi_strings_add_take(wpi_strings *strings, char *string) {
    WP_CHECK(string != NULL);
    if (strings->count + 2 > strings->capacity) {
        WP_CHECK(strings->capacity < SIZE_MAX / 4 / sizeof *strings->items);
        const size_t capacity = strings->capacity != 0 ? strings->capacity * 2 : 8;
        strings->items = wpi_must_realloc(strings->items, capacity * sizeof *strings->items);
        strings->capacity = capacity;
    }
    strings->items[strings->count++] = string;
    strings->items[strings->count] = NULL;
}

void wpi_strings_add(wpi_strings *strings, const char *string) {
    wpi_strings_add_take(strings, wpi_must_strdup(string));
}

void wpi_strings_addf(wpi_strings *strings, const char *format, ...) {
    wpi_text text = {0};
    va_list args;
    va_start(args, format);
    wpi_text_vappendf(&text, format, args);
    va_end(args);
    wpi_strings_add_take(strings, wpi_text_take(&text));
}

void wpi_strings_add_all(wpi_strings *strings, const wpi_strings *more) {
    for (size_t i = 0; i < more->count; i++)
        wpi_strings_add(strings, more->items[i]);
}

bool wpi_strings_contains(const wpi_strings *strings, const char *string) {
    for (size_t i = 0; i < strings->count; i++)
        if (strcmp(strings->items[i], string) == 0) return true;
    return false;
}

void wpi_strings_deinit(wpi_strings *strings) {
    for (size_t i = 0; i < strings->count; i++)
        wpi_free(strings->items[i]);
    wpi_free(strings->items);
    *strings = (wpi_strings){0};
}

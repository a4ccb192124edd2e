/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A growable string. `{0}` is valid and empty; `data` is NULL until something was appended, then
 * always NUL-terminated. Meant for messages, command lines and reports: lack of memory ends the
 * process (base/must.h). One thread at a time.
 */
#ifndef WP_BASE_TEXT_H
#define WP_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

#include "base/fail.h"

typedef struct wpi_text {
    char *data;
    size_t length; /* without the NUL */
    size_t capacity;
} wpi_text;

void wpi_text_append(wpi_text *text, const char *string);
void wpi_text_append_n(wpi_text *text, const void *data, size_t length);
void wpi_text_appendf(wpi_text *text, const char *format, ...) WP_PRINTF(2, 3);
void wpi_text_vappendf(wpi_text *text, const char *format, va_list args) WP_PRINTF(2, 0);
/** The string in a column of `width` columns: right-aligned, or (width < 0) left-aligned. A longer
 * string is appended as it is. */
void wpi_text_append_padded(wpi_text *text, const char *string, int width);
/** The string with what HTML takes as markup escaped; bytes that are not UTF-8 become U+FFFD. */
void wpi_text_append_html(wpi_text *text, const char *string);
/** The string with U+FFFD in place of each byte that is not part of a UTF-8 character. */
void wpi_text_append_utf8(wpi_text *text, const char *string);
/** The content, "" when empty; valid until the next change. */
const char *wpi_text_string(const wpi_text *text);
/** Hands the string to the caller (wpi_free), never NULL; `text` is empty afterwards. */
WP_NODISCARD char *wpi_text_take(wpi_text *text);
void wpi_text_clear(wpi_text *text); /* keeps the memory */
void wpi_text_deinit(wpi_text *text);

/** A formatted heap string (wpi_free), never NULL. */
WP_NODISCARD char *wpi_format(const char *format, ...) WP_PRINTF(1, 2);

/** The length of the UTF-8 character at the start of the `length` bytes; 0 if there is none. */
size_t wpi_utf8_bytes(const char *string, size_t length);

/** The width of a UTF-8 string on a terminal: its number of characters. */
size_t wpi_text_columns(const char *string);

#endif

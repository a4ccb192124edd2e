/* SPDX-License-Identifier: Apache-2.0 */
/* Growable string: capacity doubles, one byte is always kept for the NUL. */
#include "base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"

static void reserve(wpi_text *text, size_t extra) {
    WP_CHECK(extra < SIZE_MAX / 2 - text->length);
    const size_t need = text->length + extra + 1;
    if (need <= text->capacity) return;
    size_t capacity = text->capacity != 0 ? text->capacity : 32;
    while (capacity < need)
        capacity *= 2;
    text->data = wpi_must_realloc(text->data, capacity);
    text->capacity = capacity;
}

void wpi_text_append_n(wpi_text *text, const void *data, size_t length) {
    reserve(text, length);
    if (length != 0) memcpy(text->data + text->length, data, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void wpi_text_append(wpi_text *text, const char *string) {
    wpi_text_append_n(text, string, strlen(string));
}

void wpi_text_vappendf(wpi_text *text, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    WP_CHECK(length >= 0);
    reserve(text, (size_t)length);
    (void)vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
    va_end(again);
    text->length += (size_t)length;
}

void wpi_text_appendf(wpi_text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    wpi_text_vappendf(text, format, args);
    va_end(args);
}

size_t wpi_text_columns(const char *string) {
    size_t columns = 0;
    for (; *string != '\0'; string++)
        columns += ((unsigned char)*string & 0xc0u) != 0x80u;
    return columns;
}

void wpi_text_append_padded(wpi_text *text, const char *string, int width) {
    const size_t columns = wpi_text_columns(string), wanted = (size_t)(width < 0 ? -width : width);
    const int spaces = columns < wanted ? (int)(wanted - columns) : 0;
    if (width > 0) wpi_text_appendf(text, "%*s", spaces, "");
    wpi_text_append(text, string);
    if (width < 0) wpi_text_appendf(text, "%*s", spaces, "");
}

size_t wpi_utf8_bytes(const char *string, size_t length) {
    if (length == 0) return 0;
    const unsigned char *text = (const unsigned char *)string;
    const unsigned char c = text[0];
    const size_t size = c < 0x80                ? 1
                        : c >= 0xc2 && c < 0xe0 ? 2
                        : c >= 0xe0 && c < 0xf0 ? 3
                        : c >= 0xf0 && c < 0xf5 ? 4
                                                : 0;
    if (size == 0 || size > length) return 0;
    for (size_t i = 1; i < size; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    const bool is_long = (c == 0xe0 && text[1] < 0xa0) || (c == 0xf0 && text[1] < 0x90);
    const bool is_outside = (c == 0xed && text[1] >= 0xa0) || (c == 0xf4 && text[1] >= 0x90);
    return is_long || is_outside ? 0 : size;
}

void wpi_text_append_utf8(wpi_text *text, const char *string) {
    for (size_t left = strlen(string); left > 0;) {
        const size_t bytes = wpi_utf8_bytes(string, left), step = bytes != 0 ? bytes : 1;
        if (bytes != 0)
            wpi_text_append_n(text, string, bytes);
        else
            wpi_text_append(text, "\xef\xbf\xbd");
        string += step;
        left -= step;
    }
}

void wpi_text_append_html(wpi_text *text, const char *string) {
    wpi_text valid = {0};
    wpi_text_append_utf8(&valid, string);
    for (const char *c = wpi_text_string(&valid); *c != '\0'; c++) {
        switch (*c) {
        case '<': wpi_text_append(text, "&lt;"); break;
        case '>': wpi_text_append(text, "&gt;"); break;
        case '&': wpi_text_append(text, "&amp;"); break;
        case '"': wpi_text_append(text, "&quot;"); break;
        default: wpi_text_append_n(text, c, 1);
        }
    }
    wpi_text_deinit(&valid);
}

const char *wpi_text_string(const wpi_text *text) {
    return text->data != NULL ? text->data : "";
}

char *wpi_text_take(wpi_text *text) {
    reserve(text, 0);
    text->data[text->length] = '\0';
    char *data = text->data;
    *text = (wpi_text){0};
    return data;
}

void wpi_text_clear(wpi_text *text) {
    text->length = 0;
    if (text->data != NULL) text->data[0] = '\0';
}

void wpi_text_deinit(wpi_text *text) {
    wpi_free(text->data);
    *text = (wpi_text){0};
}

char *wpi_format(const char *format, ...) {
    wpi_text text = {0};
    va_list args;
    va_start(args, format);
    wpi_text_vappendf(&text, format, args);
    va_end(args);
    return wpi_text_take(&text);
}

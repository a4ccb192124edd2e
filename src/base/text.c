/* SPDX-License-Identifier: Apache-2.0 */
/* Growable string: capacity doubles, one byte is always kept for the NUL. */
#include "base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"

static void reserve(wp_text *text, size_t extra) {
    WP_CHECK(extra < SIZE_MAX / 2 - text->length);
    const size_t need = text->length + extra + 1;
    if (need <= text->capacity) return;
    size_t capacity = text->capacity != 0 ? text->capacity : 32;
    while (capacity < need)
        capacity *= 2;
    text->data = wp_must_realloc(text->data, capacity);
    text->capacity = capacity;
}

void wp_text_append_n(wp_text *text, const void *data, size_t length) {
    reserve(text, length);
    if (length != 0) memcpy(text->data + text->length, data, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void wp_text_append(wp_text *text, const char *string) {
    wp_text_append_n(text, string, strlen(string));
}

void wp_text_vappendf(wp_text *text, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    WP_CHECK(length >= 0);
    reserve(text, (size_t)length);
    (void)vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
    va_end(again);
    text->length += (size_t)length;
}

void wp_text_appendf(wp_text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    wp_text_vappendf(text, format, args);
    va_end(args);
}

size_t wp_text_columns(const char *string) {
    size_t columns = 0;
    for (; *string != '\0'; string++)
        columns += ((unsigned char)*string & 0xc0u) != 0x80u;
    return columns;
}

void wp_text_append_padded(wp_text *text, const char *string, int width) {
    const size_t columns = wp_text_columns(string), wanted = (size_t)(width < 0 ? -width : width);
    const int spaces = columns < wanted ? (int)(wanted - columns) : 0;
    if (width > 0) wp_text_appendf(text, "%*s", spaces, "");
    wp_text_append(text, string);
    if (width < 0) wp_text_appendf(text, "%*s", spaces, "");
}

void wp_text_append_html(wp_text *text, const char *string) {
    for (; *string != '\0'; string++) {
        switch (*string) {
        case '<': wp_text_append(text, "&lt;"); break;
        case '>': wp_text_append(text, "&gt;"); break;
        case '&': wp_text_append(text, "&amp;"); break;
        case '"': wp_text_append(text, "&quot;"); break;
        default: wp_text_append_n(text, string, 1);
        }
    }
}

const char *wp_text_string(const wp_text *text) {
    return text->data != NULL ? text->data : "";
}

char *wp_text_take(wp_text *text) {
    reserve(text, 0);
    text->data[text->length] = '\0';
    char *data = text->data;
    *text = (wp_text){0};
    return data;
}

void wp_text_clear(wp_text *text) {
    text->length = 0;
    if (text->data != NULL) text->data[0] = '\0';
}

void wp_text_deinit(wp_text *text) {
    wp_free(text->data);
    *text = (wp_text){0};
}

char *wp_format(const char *format, ...) {
    wp_text text = {0};
    va_list args;
    va_start(args, format);
    wp_text_vappendf(&text, format, args);
    va_end(args);
    return wp_text_take(&text);
}

/* SPDX-License-Identifier: Apache-2.0 */
/** Variable-length integers: seven bits per byte, lowest first. Signed ones are zigzag-encoded, so
 *  that small differences of both signs are short. */
#ifndef WP_TRACE_VARINT_H
#define WP_TRACE_VARINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

#define WPI_VARINT_BYTES_MAX 10u

static inline uint64_t wpi_zigzag(uint64_t difference) {
    return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t wpi_unzigzag(uint64_t folded) {
    return folded >> 1 ^ (0 - (folded & 1));
}

/** Writes at `to`, which has room for WPI_VARINT_BYTES_MAX; returns the end. */
static inline uint8_t *wpi_varint_put(uint8_t *to, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

static inline void wpi_varint_append(wpi_text *text, uint64_t value) {
    uint8_t bytes[WPI_VARINT_BYTES_MAX];
    wpi_text_append_n(text, bytes, (size_t)(wpi_varint_put(bytes, value) - bytes));
}

/** A sequential reader. After the end it returns 0 and sets `is_bad`, which callers need to check
 *  only once, at the end. */
typedef struct wpi_cursor {
    const uint8_t *at, *outer;
    bool is_bad;
} wpi_cursor;

static inline uint64_t wpi_cursor_varint(wpi_cursor *cursor) {
    uint64_t value = 0;
    for (uint32_t shift = 0; cursor->at != cursor->outer && shift < 64; shift += 7) {
        const uint8_t byte = *cursor->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
    cursor->is_bad = true;
    return 0;
}

/** … which must fit 32 bits. */
static inline uint32_t wpi_cursor_u32(wpi_cursor *cursor) {
    const uint64_t value = wpi_cursor_varint(cursor);
    cursor->is_bad = cursor->is_bad || value > UINT32_MAX;
    return (uint32_t)value;
}

/** The next `count` bytes; NULL: fewer are left. */
static inline const uint8_t *wpi_cursor_bytes(wpi_cursor *cursor, uint64_t count) {
    if (count > (uint64_t)(cursor->outer - cursor->at)) {
        cursor->is_bad = true;
        return NULL;
    }
    const uint8_t *bytes = cursor->at;
    cursor->at += count;
    return bytes;
}

static inline bool wpi_cursor_is_at_end(const wpi_cursor *cursor) {
    return cursor->at == cursor->outer && !cursor->is_bad;
}

#endif

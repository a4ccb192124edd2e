/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A text as 16 bytes, as in Arrow's Utf8View: one of up to 12 bytes is in the view itself, padded
 * by zeros; a longer one is elsewhere.
 *
 *     up to 12 bytes   length, 4 | bytes, 12
 *     longer           length, 4 | first 4 bytes | address, 8
 */
#ifndef WP_OPS_TEXT_VIEW_H
#define WP_OPS_TEXT_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define WPI_TEXT_INLINE 12u /* bytes */

typedef struct wpi_text_view {
    uint64_t head; /* length and the first 4 bytes */
    uint64_t tail; /* the next 8 bytes, or the address */
} wpi_text_view;

static inline uint32_t wpi_text_length(const wpi_text_view *view) {
    return (uint32_t)view->head;
}
static inline const char *wpi_text_far(const wpi_text_view *view) {
    return (const char *)(uintptr_t)view->tail;
}
static inline const char *wpi_text_bytes(const wpi_text_view *view) {
    return wpi_text_length(view) <= WPI_TEXT_INLINE ? (const char *)view + 4 : wpi_text_far(view);
}

static inline uint64_t wpi_text_load_8(const char *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}
static inline uint32_t wpi_text_load_4(const char *bytes) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/** The view of a text. `readable`: bytes from `bytes` on that may be read. */
static inline wpi_text_view wpi_text_view_of(const char *bytes, uint32_t length,
                                             uint64_t readable) {
    wpi_text_view view = {length, 0};
    if (length > WPI_TEXT_INLINE) {
        view.head |= (uint64_t)wpi_text_load_4(bytes) << 32;
        view.tail = (uintptr_t)bytes;
    } else if (readable >= WPI_TEXT_INLINE) {
        const uint32_t first = length < 4 ? length : 4, second = length - first;
        const uint64_t head = wpi_text_load_4(bytes) & ((UINT64_C(1) << 8 * first) - 1);
        const uint64_t mask = second == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * second) - 1;
        view.head |= head << 32;
        view.tail = wpi_text_load_8(bytes + 4) & mask;
    } else if (length != 0) {
        memcpy((char *)&view + 4, bytes, length); /* near the end of memory */
    }
    return view;
}

static inline uint64_t wpi_text_differ_8(const char *a, const char *b) {
    return wpi_text_load_8(a) ^ wpi_text_load_8(b);
}
/* 16 bytes. */
static inline uint64_t wpi_text_differ_16(const char *a, const char *b) {
    return wpi_text_differ_8(a, b) | wpi_text_differ_8(a + 8, b + 8);
}

/* Of more than WPI_TEXT_INLINE bytes. Few steps without loops: loads overlap. */
static inline bool wpi_text_equal_far(const char *a, const char *b, uint32_t length) {
    if (length < 16)
        return (wpi_text_differ_8(a, b) | wpi_text_differ_8(a + length - 8, b + length - 8)) == 0;
    if (length > 64) return memcmp(a, b, length) == 0;
    const uint32_t last = length - 16;
    uint64_t differing = wpi_text_differ_16(a, b) | wpi_text_differ_16(a + last, b + last);
    if (length > 32)
        differing |=
            wpi_text_differ_16(a + 16, b + 16) | wpi_text_differ_16(a + last - 16, b + last - 16);
    return differing == 0;
}

static inline bool wpi_text_equal(const wpi_text_view *a, const wpi_text_view *b) {
    if (a->head != b->head) return false;
    if (a->tail == b->tail) return true;
    return wpi_text_length(a) > WPI_TEXT_INLINE &&
           wpi_text_equal_far(wpi_text_far(a), wpi_text_far(b), wpi_text_length(a));
}

__extension__ typedef unsigned __int128 wpi_text_product;

static inline uint64_t wpi_text_mix(uint64_t a, uint64_t b) {
    const wpi_text_product product = (wpi_text_product)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/** Wang Yi's wyhash: a multiplication for 16 bytes. */
static inline uint64_t wpi_text_hash(const wpi_text_view *view) {
    const uint64_t one = UINT64_C(0xa0761d6478bd642f), two = UINT64_C(0xe7037ed1a0b428db);
    const uint64_t length = wpi_text_length(view);
    if (length <= WPI_TEXT_INLINE)
        return wpi_text_mix(wpi_text_mix(view->head ^ one, view->tail ^ two), two);
    const char *bytes = wpi_text_far(view);
    uint64_t hash = length * one, left = length;
    for (; left > 16; left -= 16, bytes += 16)
        hash = wpi_text_mix(wpi_text_load_8(bytes) ^ one, wpi_text_load_8(bytes + 8) ^ hash);
    const uint64_t first = length >= 16 ? wpi_text_load_8(bytes + left - 16)
                                        : wpi_text_load_8(bytes); /* 13 to 15 bytes overlap */
    hash = wpi_text_mix(first ^ one, wpi_text_load_8(bytes + left - 8) ^ hash);
    return wpi_text_mix(hash ^ length, two);
}

#endif

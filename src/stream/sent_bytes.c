/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/sent_bytes.h"

#include "base/alloc.h"

enum { WORD = 64 };
#define BYTES_MOST ((size_t)1 << 30)

void wpi_sent_bytes_add(wpi_sent_bytes *s, const void *first, size_t size_bytes) {
    if (s->count == WPI_SENT_RANGES || size_bytes > BYTES_MOST) return;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->ranges[i].first == (uintptr_t)first) return;
    uint64_t *bits = wpi_calloc(size_bytes / WORD + 1, sizeof *bits);
    if (bits == NULL) return;
    s->ranges[s->count++] = (wpi_sent_range){(uintptr_t)first, (uintptr_t)first + size_bytes, bits};
}

void wpi_sent_bytes_deinit(wpi_sent_bytes *s) {
    for (uint32_t i = 0; i < s->count; i++)
        wpi_free(s->ranges[i].bits);
    *s = (wpi_sent_bytes){0};
}

static uint64_t note(wpi_sent_range *r, uint64_t at, uint64_t bytes) {
    uint64_t before = 0;
    while (bytes != 0) {
        const uint64_t shift = at % WORD, count = bytes < WORD - shift ? bytes : WORD - shift;
        const uint64_t mask = (count == WORD ? UINT64_MAX : (UINT64_C(1) << count) - 1) << shift;
        const uint64_t old = __atomic_fetch_or(&r->bits[at / WORD], mask, __ATOMIC_RELAXED);
        before += (uint64_t)__builtin_popcountll(old & mask);
        at += count;
        bytes -= count;
    }
    return before;
}

uint64_t wpi_sent_bytes_note(wpi_sent_bytes *s, uint64_t address, uint64_t bytes) {
    for (uint32_t i = 0; i < s->count; i++) {
        wpi_sent_range *r = &s->ranges[i];
        if (address >= r->first && address < r->outer && bytes <= r->outer - address)
            return note(r, address - r->first, bytes);
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* 64 bytes are compared with the delimiter, the newline and the quote at once; each gives a word of
 * 64 bits. If none is a quote, which is the common case, bits become marks without reading the text
 * again. Every x86-64 has SSE2; other machines compare bytes.
 */
#include "table_io/csv_marks.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef struct seen { /* in 64 bytes: a bit each */
    uint64_t delimiters, newlines, quotes;
} seen;

#ifdef __SSE2__
static uint64_t equal(const __m128i part[4], char c) {
    const __m128i wanted = _mm_set1_epi8(c);
    uint64_t bits = 0;
    for (int i = 0; i < 4; i++)
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(part[i], wanted)) << (16 * i);
    return bits;
}

static seen look(const char *text, char delimiter) {
    __m128i part[4];
    for (int i = 0; i < 4; i++)
        part[i] = _mm_loadu_si128((const __m128i *)(const void *)(text + 16 * i));
    return (seen){equal(part, delimiter), equal(part, '\n'), equal(part, WPI_CSV_QUOTE)};
}
#else
static seen look(const char *text, char delimiter) {
    seen s = {0};
    for (int i = 0; i < 64; i++) {
        s.delimiters |= (uint64_t)(text[i] == delimiter) << i;
        s.newlines |= (uint64_t)(text[i] == '\n') << i;
        s.quotes |= (uint64_t)(text[i] == WPI_CSV_QUOTE) << i;
    }
    return s;
}
#endif

size_t wpi_csv_closing_quote(const char *text, size_t at, size_t size) {
    while (at < size) {
        const char *quote = memchr(text + at, WPI_CSV_QUOTE, size - at);
        if (quote == NULL) return size;
        at = (size_t)(quote - text);
        if (at + 1 == size || text[at + 1] != WPI_CSV_QUOTE) return at;
        at += 2;
    }
    return size;
}

/* ---- cutting ---- */

static size_t behind_last_newline(const char *text, size_t first, size_t outer, size_t otherwise) {
    for (size_t i = outer; i > first; i--)
        if (text[i - 1] == '\n') return i;
    return otherwise;
}

size_t wpi_csv_cut(const char *text, size_t size, char delimiter, size_t *open_quote) {
    size_t at = 0, cut = 0;
    *open_quote = size;
    for (;;) {
        const char *found = at < size ? memchr(text + at, WPI_CSV_QUOTE, size - at) : NULL;
        const size_t quote = found != NULL ? (size_t)(found - text) : size;
        cut = behind_last_newline(text, at, quote, cut);
        if (quote == size) return cut;
        at = quote + 1;
        const bool opens = quote == 0 || text[quote - 1] == delimiter || text[quote - 1] == '\n';
        if (!opens) continue;
        const size_t closing = wpi_csv_closing_quote(text, at, size);
        if (closing == size) {
            *open_quote = quote;
            return cut;
        }
        at = closing + 1;
    }
}

/* ---- marking ---- */

static size_t put(uint32_t *marks, size_t count, uint64_t ends, uint64_t newlines, size_t first) {
    while (ends != 0) {
        const unsigned bit = (unsigned)__builtin_ctzll(ends);
        marks[count++] = (uint32_t)(first + bit) | (uint32_t)(newlines >> bit & 1) << 31;
        ends &= ends - 1;
    }
    return count;
}

/* 64 bytes with a quote among them: one by one. Skips quoted text. */
static size_t put_quoted(wpi_csv_marker *marker, const seen *s, uint64_t inside, uint32_t *marks,
                         size_t count) {
    const size_t first = marker->at;
    uint64_t events = (s->delimiters | s->newlines | s->quotes) & inside;
    for (; events != 0; events &= events - 1) {
        const unsigned bit = (unsigned)__builtin_ctzll(events);
        const size_t at = first + bit;
        if ((s->quotes >> bit & 1) == 0) {
            marks[count++] = (uint32_t)at | (uint32_t)(s->newlines >> bit & 1) << 31;
            marker->field = at + 1;
        } else if (at == marker->field) {
            marker->at = wpi_csv_closing_quote(marker->text, at + 1, marker->size) + 1;
            return count;
        }
    }
    marker->at = first + 64;
    return count;
}

size_t wpi_csv_marks(wpi_csv_marker *marker, uint32_t *marks) {
    size_t count = 0;
    while (marker->at < marker->size && count + 64 <= WPI_CSV_MARKS_STEP) {
        const size_t left = marker->size - marker->at;
        const uint64_t inside = left >= 64 ? UINT64_MAX : ((uint64_t)1 << left) - 1;
        const seen s = look(marker->text + marker->at, marker->delimiter);
        if ((s.quotes & inside) != 0) {
            count = put_quoted(marker, &s, inside, marks, count);
            continue;
        }
        const size_t before = count;
        count = put(marks, count, (s.delimiters | s.newlines) & inside, s.newlines, marker->at);
        if (count != before) marker->field = (marks[count - 1] & ~WPI_CSV_NEWLINE) + 1;
        marker->at += 64;
    }
    return count;
}

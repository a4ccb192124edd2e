/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/fail.h"
#include "ops/key_hash.h"
#include "ops/shape.h"
#include "ops/texts/text_view.h"
#include "warpage/partials.h"

#define NULL_WORD UINT64_C(0x9e3779b97f4a7c15)

/* Equal keys have one word: -0 is 0, all NaN are one. */
static uint64_t key_word(const wp_column *column, uint64_t row) {
    const uint64_t word = wpi_value_word(column->type, column->values, row);
    if (!wpi_type_is_float(column->type)) return word;
    const double number = wpi_double_of(word);
    if (number == 0) return 0;
    return number != number ? UINT64_C(0x7ff8000000000000) : word;
}

static uint64_t mix(uint64_t hash, uint64_t word) {
    return wpi_hash_word(hash * UINT64_C(0xff51afd7ed558ccd) + word + 1);
}

void wp_rows_hash(const wp_column *column, uint64_t count, uint64_t *hashes) {
    for (uint64_t i = 0; i < count; i++)
        hashes[i] = mix(hashes[i], wpi_is_valid(column, i) ? key_word(column, i) : NULL_WORD);
}

typedef struct text {
    const char *bytes;
    uint64_t length;
} text;

/* False: offsets that decrease, or 4 GiB. */
static bool load(const wp_text_column *column, uint64_t row, text *out) {
    if (column->layout == WP_TEXT_VIEWS) {
        wpi_text_view view;
        const char *at = (const char *)column->items + row * sizeof view;
        memcpy(&view, at, sizeof view);
        out->length = wpi_text_length(&view);
        const uint32_t buffer = (uint32_t)view.tail, offset = (uint32_t)(view.tail >> 32);
        out->bytes = out->length <= WPI_TEXT_INLINE
                         ? at + 4
                         : (const char *)column->buffers[buffer] + offset;
        return true;
    }
    const bool is_wide = column->layout == WP_TEXT_OFFSETS_64;
    const int64_t *wide = column->items;
    const int32_t *narrow = column->items;
    const int64_t begin = is_wide ? wide[row] : narrow[row];
    const int64_t end = is_wide ? wide[row + 1] : narrow[row + 1];
    if (begin < 0 || end < begin || end - begin > UINT32_MAX) return false;
    *out = (text){(const char *)column->buffers[0] + begin, (uint64_t)(end - begin)};
    return true;
}

wp_status wp_rows_hash_texts(const wp_text_column *column, uint64_t count, uint64_t *hashes,
                             wp_error *err) {
    const wp_column valid = {.valid = column->valid, .valid_offset = column->valid_offset};
    for (uint64_t i = 0; i < count; i++) {
        uint64_t word = NULL_WORD;
        text it = {0};
        if (wpi_is_valid(&valid, i)) {
            if (!load(column, i, &it))
                return WP_FAIL(err, INVALID, "row %llu: its text's offsets are damaged",
                               (unsigned long long)i);
            const wpi_text_view view = wpi_text_view_of(it.bytes, (uint32_t)it.length, it.length);
            word = wpi_text_hash(&view);
        }
        hashes[i] = mix(hashes[i], word);
    }
    return WP_STATUS_OK;
}

static uint32_t bucket_of(uint64_t hash, uint32_t shift, uint32_t bucket_count) {
    return (uint32_t)((uint64_t)(uint32_t)(hash >> shift) * bucket_count >> 32);
}

void wp_rows_divide(const uint64_t *hashes, uint64_t count, uint32_t shift, uint32_t bucket_count,
                    uint32_t *rows, uint64_t *starts) {
    memset(starts, 0, (bucket_count + 1u) * sizeof *starts);
    for (uint64_t i = 0; i < count; i++)
        starts[bucket_of(hashes[i], shift, bucket_count) + 1]++;
    for (uint32_t b = 0; b < bucket_count; b++)
        starts[b + 1] += starts[b];
    for (uint64_t i = 0; i < count; i++)
        rows[starts[bucket_of(hashes[i], shift, bucket_count)]++] = (uint32_t)i;
    /* Each start has become its bucket's end. */
    memmove(starts + 1, starts, bucket_count * sizeof *starts);
    starts[0] = 0;
}

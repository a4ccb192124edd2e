/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of texts: from dictionaries, and out. */
#include "ops/shape.h"
#include "ops/texts/texts.h"

wp_status wp_texts_translate(const wp_column *indices, uint64_t row_count,
                             const uint32_t *dictionary, uint64_t text_count, uint32_t *codes,
                             wp_error *err) {
    if ((unsigned)indices->type >= WP_TYPE_COUNT || wpi_type_is_float(indices->type))
        return WP_FAIL(err, INVALID, "indices of a dictionary have type %s",
                       wp_type_name(indices->type));
    if (indices->type == WP_TYPE_INT32 && indices->valid == NULL) {
        const uint32_t *in = indices->values;
        for (uint64_t row = 0; row < row_count; row++)
            codes[row] = in[row] < text_count ? dictionary[in[row]] : 0;
        return WP_STATUS_OK;
    }
    for (uint64_t row = 0; row < row_count; row++) {
        const uint64_t index = wpi_value_word(indices->type, indices->values, row);
        codes[row] = index < text_count && wpi_is_valid(indices, row) ? dictionary[index] : 0;
    }
    return WP_STATUS_OK;
}

#define AHEAD 16u /* rows */

void wp_texts_copy(const wp_texts *texts, uint64_t *offsets, char *bytes) {
    const uint64_t count = wp_texts_count(texts);
    uint64_t at = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (i + AHEAD < count) __builtin_prefetch(wpi_texts_of_place(texts, i + AHEAD));
        const wpi_text_view *view = wpi_texts_of_place(texts, i);
        offsets[i] = at;
        memcpy(bytes + at, wpi_text_bytes(view), wpi_text_length(view));
        at += wpi_text_length(view);
    }
    offsets[count] = at;
}

/* Places of a result's key are uint32. */
static uint32_t place_at(const wp_column *column, uint64_t row) {
    return ((const uint32_t *)column->values)[row];
}

uint64_t wp_texts_gather_bytes(const wp_texts *texts, const wp_column *column, uint64_t row_count) {
    uint64_t bytes = 0;
    for (uint64_t row = 0; row < row_count; row++)
        if (wpi_is_valid(column, row))
            bytes += wpi_text_length(wpi_texts_of_place(texts, place_at(column, row)));
    return bytes;
}

void wp_texts_gather(const wp_texts *texts, const wp_column *column, uint64_t row_count,
                     void *offsets, uint32_t offset_bytes, char *bytes) {
    uint64_t at = 0;
    for (uint64_t row = 0; row <= row_count; row++) {
        if (offset_bytes == 8)
            ((uint64_t *)offsets)[row] = at;
        else
            ((uint32_t *)offsets)[row] = (uint32_t)at;
        if (row == row_count || !wpi_is_valid(column, row)) continue;
        if (row + AHEAD < row_count && wpi_is_valid(column, row + AHEAD))
            __builtin_prefetch(wpi_texts_of_place(texts, place_at(column, row + AHEAD)));
        const wpi_text_view *view = wpi_texts_of_place(texts, place_at(column, row));
        memcpy(bytes + at, wpi_text_bytes(view), wpi_text_length(view));
        at += wpi_text_length(view);
    }
}

void wp_bits_expand(const uint8_t *bits, uint64_t first, uint64_t count, uint8_t *out) {
    for (uint64_t i = 0; i < count; i++)
        out[i] = bits[(first + i) / 8] >> ((first + i) % 8) & 1;
}

void wp_bits_pack(const uint8_t *bytes, uint64_t count, uint8_t *out) {
    for (uint64_t byte = 0; byte < (count + 7) / 8; byte++) {
        uint8_t packed = 0;
        for (uint64_t i = 8 * byte; i < count && i < 8 * byte + 8; i++)
            packed = (uint8_t)(packed | (bytes[i] != 0) << (i % 8));
        out[byte] = packed;
    }
}

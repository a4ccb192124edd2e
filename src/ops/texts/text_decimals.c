/* SPDX-License-Identifier: Apache-2.0 */
/* Decimals of 128 bits as texts: the most significant byte first, its sign inverted, so that the
 * order of bytes is that of numbers. */
#include "base/alloc.h"
#include "ops/groupby_cpu/cpu_grouper_memory.h"
#include "ops/shape.h"
#include "ops/texts/texts.h"

#define DECIMAL_BYTES 16u
#define BLOCK (UINT32_C(1) << 18) /* decimals that are texts at a time */
#define SIGN (UINT64_C(1) << 63)

static void put_text(const uint64_t words[2], char *text) {
    const uint64_t turned[2] = {__builtin_bswap64(words[1] ^ SIGN), __builtin_bswap64(words[0])};
    memcpy(text, turned, sizeof turned);
}

static void put_decimal(const char *text, uint64_t words[2]) {
    words[1] = __builtin_bswap64(wpi_text_load_8(text)) ^ SIGN;
    words[0] = __builtin_bswap64(wpi_text_load_8(text + 8));
}

wp_status wp_texts_encode_decimals(wp_texts *texts, const void *decimals, const uint8_t *valid,
                                   uint64_t valid_offset, uint64_t row_count, uint32_t *codes,
                                   wp_error *err) {
    wp_status status = WP_STATUS_OK;
    const uint32_t most = row_count < BLOCK ? (uint32_t)row_count : BLOCK;
    char *bytes = wpi_cpu_memory_alloc((size_t)most * DECIMAL_BYTES + 1);
    uint32_t *offsets = wpi_cpu_memory_alloc(((size_t)most + 1) * sizeof *offsets);
    if (bytes == NULL || offsets == NULL) status = WP_FAIL(err, NOMEM, "%u decimals", most);
    for (uint32_t i = 0; offsets != NULL && i <= most; i++)
        offsets[i] = i * DECIMAL_BYTES;
    for (uint64_t first = 0; first < row_count && status == WP_STATUS_OK; first += BLOCK) {
        const uint64_t left = row_count - first, count = left < BLOCK ? left : BLOCK;
        for (uint64_t i = 0; i < count; i++)
            put_text((const uint64_t *)decimals + 2 * (first + i), bytes + i * DECIMAL_BYTES);
        const void *const buffers[] = {bytes};
        const wp_text_column column = {.layout = WP_TEXT_OFFSETS_32,
                                       .items = offsets,
                                       .buffers = buffers,
                                       .valid = valid,
                                       .valid_offset = valid_offset + first};
        status = wp_texts_encode(texts, &column, count, codes + first, err);
    }
    wpi_free(bytes);
    wpi_free(offsets);
    return status;
}

void wp_texts_gather_decimals(const wp_texts *texts, const wp_column *column, uint64_t row_count,
                              void *out) {
    uint64_t *words = out;
    memset(out, 0, row_count * DECIMAL_BYTES);
    for (uint64_t row = 0; row < row_count; row++)
        if (wpi_is_valid(column, row))
            put_decimal(
                wpi_text_bytes(wpi_texts_of_place(texts, ((const uint32_t *)column->values)[row])),
                &words[2 * row]);
}

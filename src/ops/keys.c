/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/keys.h"

#include <string.h>

#include "base/alloc.h"
#include "ops/codes.h"
#include "base/cpu_vectors.h"

/* The last two columns' numbers make the word; pairs of all columns before are numbered.
 *
 *     k0 ─► codes ─┐
 *     k1 ─► codes ─┴─► pairs ─┐
 *     k2 ─► codes ────────────┴─► word
 *
 * Codes of texts, and values of up to 16 bits, are numbers already. So is any word near 0, as most
 * integers are: it needs no look-up.
 */
struct wpi_keys {
    const wpi_shape *shape;
    wpi_key_form form;
    wpi_codes **codes; /* CODED: [key_count], of values that are far from 0 */
    wpi_codes **pairs; /* CODED: [key_count], as many as make a word of all columns */
};

static uint32_t bits_of(wp_type type) {
    return 8 * wp_type_bytes(type);
}

/* Bits of a column packed with others: NULL has a bit of its own, and then the value's bits are
 * 0. */
static uint32_t part_bits(const wp_key *key) {
    return bits_of(key->type) + key->is_nullable;
}

static uint32_t bits_together(const wpi_shape *shape) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < shape->key_count; i++)
        bits += part_bits(&shape->keys[i]);
    return bits;
}

static wpi_key_form form_of(const wpi_shape *shape) {
    if (shape->key_count == 1) return WPI_KEYS_ONE;
    return bits_together(shape) <= 64 ? WPI_KEYS_PACKED : WPI_KEYS_CODED;
}

static wp_status create_codes(wpi_keys *keys, wp_error *err) {
    const uint32_t count = keys->shape->key_count;
    keys->codes = wpi_calloc(count, sizeof(wpi_codes *));
    keys->pairs = wpi_calloc(count, sizeof(wpi_codes *));
    if (keys->codes == NULL || keys->pairs == NULL) return WP_FAIL(err, NOMEM, "keys");
    for (uint32_t i = 0; i < count; i++) {
        WP_TRY(wpi_codes_create(&keys->codes[i], err));
        if (i + 2 < count) WP_TRY(wpi_codes_create(&keys->pairs[i], err));
    }
    return WP_STATUS_OK;
}

wp_status wpi_keys_create(const wpi_shape *shape, wpi_keys **out, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    *out = NULL;
    wpi_keys *keys = wpi_calloc(1, sizeof *keys);
    if (keys == NULL) return WP_FAIL(err, NOMEM, "keys");
    keys->shape = shape;
    keys->form = form_of(shape);
    if (keys->form == WPI_KEYS_CODED) status = create_codes(keys, err);
    if (status != WP_STATUS_OK) {
        wpi_keys_destroy(keys);
        return status;
    }
    *out = keys;
    return WP_STATUS_OK;
}

void wpi_keys_destroy(wpi_keys *keys) {
    if (keys == NULL) return;
    for (uint32_t i = 0; i < keys->shape->key_count; i++) {
        if (keys->codes != NULL) wpi_codes_destroy(keys->codes[i]);
        if (keys->pairs != NULL) wpi_codes_destroy(keys->pairs[i]);
    }
    wpi_free((void *)keys->codes);
    wpi_free((void *)keys->pairs);
    wpi_free(keys);
}

wpi_key_form wpi_keys_form(const wpi_keys *keys) {
    return keys->form;
}

uint32_t wpi_keys_bits(const wpi_keys *keys) {
    if (keys->form == WPI_KEYS_ONE) return bits_of(keys->shape->keys[0].type);
    return keys->form == WPI_KEYS_CODED ? 64 : bits_together(keys->shape);
}

/* ---- packing ---- */

/* The word of a value: equal words are equal keys. An integer's word has its own bits only. */
static uint64_t word_of(const wp_column *column, uint64_t row) {
    const uint64_t word = wpi_value_word(column->type, column->values, row);
    const uint32_t bits = bits_of(column->type);
    if (!wpi_type_is_float(column->type))
        return bits == 64 ? word : word & ((UINT64_C(1) << bits) - 1);
    double number;
    memcpy(&number, &word, sizeof number);
    if (number == 0) number = 0; /* -0 is 0 */
    const float narrow = (float)number;
    uint32_t half = 0;
    uint64_t whole = 0;
    memcpy(&half, &narrow, sizeof half);
    memcpy(&whole, &number, sizeof whole);
    if (number != number) { /* all NaN are one */
        half = UINT32_C(0x7fc00000);
        whole = UINT64_C(0x7ff8000000000000);
    }
    return column->type == WP_TYPE_FLOAT32 ? half : whole;
}

#define WIDEN(bits)                                                                                \
    WPI_CPU_VECTORS static void widen_##bits(const uint##bits##_t *restrict in, uint32_t count,    \
                                             uint64_t *restrict out) {                             \
        for (uint32_t i = 0; i < count; i++)                                                       \
            out[i] = in[i];                                                                        \
    }
WIDEN(8)
WIDEN(16)
WIDEN(32)

/* word_of for many rows. */
static void words_of(const wp_column *column, uint64_t first, uint32_t count, uint64_t *words) {
    const uint32_t bits = bits_of(column->type);
    const void *in = (const uint8_t *)column->values + first * (bits / 8);
    if (wpi_type_is_float(column->type)) {
        for (uint32_t i = 0; i < count; i++)
            words[i] = word_of(column, first + i);
    } else if (bits == 8) {
        widen_8(in, count, words);
    } else if (bits == 16) {
        widen_16(in, count, words);
    } else if (bits == 32) {
        widen_32(in, count, words);
    } else if (count != 0) {
        memcpy(words, in, count * sizeof *words);
    }
}

static void pack_one(const wp_column *column, uint64_t first, uint32_t count, uint64_t *words,
                     uint8_t *nulls) {
    words_of(column, first, count, words);
    if (nulls == NULL || column->valid == NULL) return;
    for (uint32_t i = 0; i < count; i++) {
        nulls[i] = !wpi_is_valid(column, first + i);
        if (nulls[i]) words[i] = 0;
    }
}

/* Rows whose parts stay in the first cache. */
#define PART_ROWS WPI_CODES_BATCH

/* words_of, but 0 for NULL; returns whether there is a NULL. */
static bool parts_of(const wp_column *column, uint64_t first, uint32_t count, uint64_t *parts,
                     bool *nulls) {
    words_of(column, first, count, parts);
    if (column->valid == NULL) return false;
    bool is_any = false;
    for (uint32_t i = 0; i < count; i++) {
        nulls[i] = !wpi_is_valid(column, first + i);
        is_any |= nulls[i];
        if (nulls[i]) parts[i] = 0;
    }
    return is_any;
}

static void pack_side_by_side(const wpi_keys *keys, const wp_column *columns, uint64_t first,
                              uint32_t count, uint64_t *words) {
    uint64_t parts[PART_ROWS];
    bool nulls[PART_ROWS];
    for (uint32_t at = 0; at < count; at += PART_ROWS) {
        const uint32_t here = count - at < PART_ROWS ? count - at : PART_ROWS;
        for (uint32_t key = 0; key < keys->shape->key_count; key++) {
            const uint32_t bits = bits_of(keys->shape->keys[key].type);
            const uint32_t shift = part_bits(&keys->shape->keys[key]);
            uint64_t *to = key == 0 ? words + at : parts;
            const bool has_nulls = parts_of(&columns[key], first + at, here, to, nulls);
            for (uint32_t i = 0; has_nulls && i < here; i++)
                to[i] |= (uint64_t)nulls[i] << bits;
            for (uint32_t i = 0; key != 0 && i < here; i++)
                words[at + i] = words[at + i] << shift | parts[i];
        }
    }
}

/* Values that are numbers of less than 32 bits need no others. */
static bool is_numbered(const wpi_shape *shape, uint32_t key) {
    return wpi_shape_texts(shape, key) != NULL || bits_of(shape->keys[key].type) <= 16;
}

#define NEAR_WORDS (UINT64_C(1) << 30) /* on either side of 0 */
#define CODE_FAR (UINT32_C(1) << 31)   /* of codes that were looked up */

/* Whether a value's word is near 0, and its code then, which is less than CODE_FAR. */
static inline bool is_near(uint64_t word, uint32_t bits, uint32_t *code) {
    const uint64_t distance =
        (uint64_t)((int64_t)(word << (64 - bits)) >> (64 - bits)) + NEAR_WORDS;
    *code = (uint32_t)distance + 1;
    return distance < 2 * NEAR_WORDS - 1;
}

/* The word of such a code. */
static inline uint64_t near_word(uint32_t code, uint32_t bits) {
    return ((uint64_t)code - 1 - NEAR_WORDS) << (64 - bits) >> (64 - bits);
}

/* Codes of words, from 1: of those that are far from 0, by numbers, which have 31 bits. */
static wp_status number_words(const wpi_keys *keys, uint32_t key, const uint64_t *words,
                              uint32_t count, uint32_t *out, wp_error *err) {
    uint64_t far_words[PART_ROWS];
    uint32_t rows[PART_ROWS], numbers[PART_ROWS], far_count = 0;
    const uint32_t bits = bits_of(keys->shape->keys[key].type);
    for (uint32_t i = 0; i < count; i++) {
        far_words[far_count] = words[i];
        rows[far_count] = i;
        far_count += !is_near(words[i], bits, &out[i]);
    }
    if (far_count == 0) return WP_STATUS_OK;
    WP_TRY(wpi_codes_number(keys->codes[key], far_words, far_count, numbers, err));
    for (uint32_t i = 0; i < far_count; i++)
        out[rows[i]] = CODE_FAR | numbers[i];
    return WP_STATUS_OK;
}

/* Codes of a column's values, from 1, or 0 for NULL. */
static wp_status codes_of(const wpi_keys *keys, uint32_t key, const wp_column *column,
                          uint64_t first, uint32_t count, uint32_t *out, wp_error *err) {
    uint64_t parts[PART_ROWS];
    bool nulls[PART_ROWS];
    const bool has_nulls = parts_of(column, first, count, parts, nulls);
    if (is_numbered(keys->shape, key))
        for (uint32_t i = 0; i < count; i++)
            out[i] = (uint32_t)parts[i] + 1;
    else
        WP_TRY(number_words(keys, key, parts, count, out, err));
    for (uint32_t i = 0; has_nulls && i < count; i++)
        out[i] = nulls[i] ? 0 : out[i];
    return WP_STATUS_OK;
}

static wp_status pack_coded(const wpi_keys *keys, const wp_column *columns, uint64_t first,
                            uint32_t count, uint64_t *words, wp_error *err) {
    const uint32_t last = keys->shape->key_count - 1;
    uint32_t left[PART_ROWS], right[PART_ROWS];
    WP_TRY(codes_of(keys, 0, &columns[0], first, count, left, err));
    for (uint32_t key = 1; key <= last; key++) {
        WP_TRY(codes_of(keys, key, &columns[key], first, count, right, err));
        for (uint32_t i = 0; i < count; i++)
            words[i] = (uint64_t)left[i] << 32 | right[i];
        if (key < last) WP_TRY(wpi_codes_number(keys->pairs[key - 1], words, count, left, err));
    }
    return WP_STATUS_OK;
}

static wp_status pack_all_coded(const wpi_keys *keys, const wp_column *columns, uint64_t first,
                                uint32_t count, uint64_t *words, wp_error *err) {
    for (uint32_t at = 0; at < count; at += PART_ROWS) {
        const uint32_t here = count - at < PART_ROWS ? count - at : PART_ROWS;
        WP_TRY(pack_coded(keys, columns, first + at, here, words + at, err));
    }
    return WP_STATUS_OK;
}

wp_status wpi_keys_pack(wpi_keys *keys, const wp_column *columns, uint64_t first, uint32_t count,
                        uint64_t *words, uint8_t *nulls, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    if (nulls != NULL) memset(nulls, 0, count);
    switch (keys->form) {
    case WPI_KEYS_ONE: pack_one(&columns[0], first, count, words, nulls); break;
    case WPI_KEYS_PACKED: pack_side_by_side(keys, columns, first, count, words); break;
    case WPI_KEYS_CODED: status = pack_all_coded(keys, columns, first, count, words, err); break;
    }
    return status;
}

wp_status wpi_keys_words(wpi_keys *keys, const wp_column *columns, uint64_t first, uint32_t count,
                         uint64_t *scratch, uint8_t *nulls, const uint64_t **words, wp_error *err) {
    const wp_type type = columns[0].type;
    *words = scratch;
    if (keys->form != WPI_KEYS_ONE || nulls != NULL || bits_of(type) != 64 ||
        wpi_type_is_float(type))
        return wpi_keys_pack(keys, columns, first, count, scratch, nulls, err);
    *words = (const uint64_t *)columns[0].values + first;
    return WP_STATUS_OK;
}

/* ---- unpacking ---- */

/* The word of column `key`; false: NULL. */
static bool side_of(const wpi_shape *shape, uint32_t key, uint64_t word, uint64_t *out) {
    for (uint32_t i = shape->key_count - 1; i > key; i--)
        word >>= part_bits(&shape->keys[i]);
    *out = word;
    if (!shape->keys[key].is_nullable) return true;
    return (word >> bits_of(shape->keys[key].type) & 1) == 0;
}

static bool part_of(const wpi_keys *keys, uint32_t key, uint64_t word, uint64_t *out) {
    if (keys->form == WPI_KEYS_PACKED) return side_of(keys->shape, key, word, out);
    *out = word;
    if (keys->form == WPI_KEYS_ONE) return true;
    uint32_t right = (uint32_t)word;
    uint32_t left = (uint32_t)(word >> 32);
    for (uint32_t at = keys->shape->key_count - 1; at > key && at > 1; at--) {
        word = wpi_codes_word(keys->pairs[at - 2], left);
        right = (uint32_t)word;
        left = (uint32_t)(word >> 32);
    }
    const uint32_t code = key == 0 ? left : right;
    if (code == 0)
        *out = 0;
    else if (is_numbered(keys->shape, key))
        *out = code - 1;
    else if (code < CODE_FAR)
        *out = near_word(code, bits_of(keys->shape->keys[key].type));
    else
        *out = wpi_codes_word(keys->codes[key], code - CODE_FAR);
    return code != 0;
}

void wpi_keys_unpack(const wpi_keys *keys, uint32_t key, const uint64_t *words, uint32_t count,
                     void *values, uint8_t *valid) {
    const uint32_t bytes = wp_type_bytes(keys->shape->keys[key].type);
    if (keys->form == WPI_KEYS_ONE && bytes == sizeof *words) {
        memset(valid, true, count);
        if (count != 0) memcpy(values, words, count * sizeof *words);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t part = 0;
        valid[i] = part_of(keys, key, words[i], &part);
        memcpy((char *)values + (size_t)i * bytes, &part, bytes); /* little-endian */
    }
}

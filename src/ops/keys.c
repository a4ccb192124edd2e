/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/keys.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "ops/codes.h"
#include "ops/cpu_vectors.h"

/* The last two of a list of columns whose numbers make a word: pairs of all before are numbered.
 *
 *     k0 ─► codes ─┐
 *     k1 ─► codes ─┴─► pairs ─┐
 *     k2 ─► codes ────────────┴─► word
 */
struct wpi_keys {
    const wpi_shape *shape;
    wpi_key_form form;
    pthread_mutex_t lock; /* of codes and pairs */
    wpi_codes *codes;     /* CODED: [key_count]; a value's is its number + 1, that of NULL 0 */
    wpi_codes *pairs;     /* CODED: [key_count - 1], the last one unused */
};

static uint32_t bits_of(wp_type type) {
    return 8 * wp_type_bytes(type);
}

static uint32_t bits_together(const wpi_shape *shape) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < shape->key_count; i++)
        bits += bits_of(shape->keys[i].type);
    return bits;
}

static wpi_key_form form_of(const wpi_shape *shape) {
    if (shape->key_count == 1) return WPI_KEYS_ONE;
    for (uint32_t i = 0; i < shape->key_count; i++)
        if (shape->keys[i].is_nullable) return WPI_KEYS_CODED;
    return bits_together(shape) <= 64 ? WPI_KEYS_PACKED : WPI_KEYS_CODED;
}

wp_status wpi_keys_create(const wpi_shape *shape, wpi_keys **out, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    *out = NULL;
    wpi_keys *keys = wp_calloc(1, sizeof *keys);
    if (keys == NULL) return WP_FAIL(err, NOMEM, "keys");
    pthread_mutex_init(&keys->lock, NULL);
    keys->shape = shape;
    keys->form = form_of(shape);
    if (keys->form == WPI_KEYS_CODED) {
        keys->codes = wp_calloc(shape->key_count, sizeof *keys->codes);
        keys->pairs = wp_calloc(shape->key_count, sizeof *keys->pairs);
        if (keys->codes == NULL || keys->pairs == NULL) status = WP_FAIL(err, NOMEM, "keys");
    }
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
        if (keys->codes != NULL) wpi_codes_deinit(&keys->codes[i]);
        if (keys->pairs != NULL) wpi_codes_deinit(&keys->pairs[i]);
    }
    wp_free(keys->codes);
    wp_free(keys->pairs);
    pthread_mutex_destroy(&keys->lock);
    wp_free(keys);
}

wpi_key_form wpi_keys_form(const wpi_keys *keys) {
    return keys->form;
}

uint32_t wpi_keys_bits(const wpi_keys *keys) {
    return keys->form == WPI_KEYS_CODED ? 64 : bits_together(keys->shape);
}

/* ---- packing ----------------------------------------------------------------------------------
 */

/* The word of a value: equal words are equal keys. Integers have their own bits and no more. */
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

/* word_of for many. */
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
#define PART_ROWS 512u

static void pack_side_by_side(const wpi_keys *keys, const wp_column *columns, uint64_t first,
                              uint32_t count, uint64_t *words) {
    uint64_t parts[PART_ROWS];
    for (uint32_t at = 0; at < count; at += PART_ROWS) {
        const uint32_t here = count - at < PART_ROWS ? count - at : PART_ROWS;
        words_of(&columns[0], first + at, here, words + at);
        for (uint32_t key = 1; key < keys->shape->key_count; key++) {
            const uint32_t bits = bits_of(keys->shape->keys[key].type);
            words_of(&columns[key], first + at, here, parts);
            for (uint32_t i = 0; i < here; i++)
                words[at + i] = words[at + i] << bits | parts[i];
        }
    }
}

static wp_status code_of(wpi_codes *codes, const wp_column *column, uint64_t row, uint32_t *out,
                         wp_error *err) {
    *out = 0;
    if (!wpi_is_valid(column, row)) return WP_STATUS_OK;
    WP_TRY(wpi_codes_number(codes, word_of(column, row), out, err));
    ++*out;
    return WP_STATUS_OK;
}

static wp_status pack_coded(wpi_keys *keys, const wp_column *columns, uint64_t first,
                            uint32_t count, uint64_t *words, wp_error *err) {
    const uint32_t last = keys->shape->key_count - 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t left = 0, right = 0;
        WP_TRY(code_of(&keys->codes[0], &columns[0], first + i, &left, err));
        for (uint32_t key = 1; key <= last; key++) {
            WP_TRY(code_of(&keys->codes[key], &columns[key], first + i, &right, err));
            words[i] = (uint64_t)left << 32 | right;
            if (key < last) WP_TRY(wpi_codes_number(&keys->pairs[key - 1], words[i], &left, err));
        }
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
    case WPI_KEYS_CODED:
        pthread_mutex_lock(&keys->lock);
        status = pack_coded(keys, columns, first, count, words, err);
        pthread_mutex_unlock(&keys->lock);
        break;
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

/* ---- and back ---------------------------------------------------------------------------------
 */

/* The word of column `key`, or false: NULL. */
static bool part_of(const wpi_keys *keys, uint32_t key, uint64_t word, uint64_t *out) {
    const wpi_shape *shape = keys->shape;
    if (keys->form != WPI_KEYS_CODED) {
        for (uint32_t i = shape->key_count - 1; i > key; i--)
            word >>= bits_of(shape->keys[i].type);
        *out = word;
        return true;
    }
    uint32_t right = (uint32_t)word;
    uint32_t left = (uint32_t)(word >> 32);
    for (uint32_t at = shape->key_count - 1; at > key && at > 1; at--) {
        word = keys->pairs[at - 2].words[left];
        right = (uint32_t)word;
        left = (uint32_t)(word >> 32);
    }
    const uint32_t code = key == 0 ? left : right;
    *out = code == 0 ? 0 : keys->codes[key].words[code - 1];
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

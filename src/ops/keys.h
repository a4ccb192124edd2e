/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Keys as words of 64 bits, so that groupers handle one kind only.
 *
 *     ONE      a column: its bits, widened; its NULL has no word but a bit of its own
 *     PACKED   columns that together have at most 64 bits, with one more bit for each that may be
 *              NULL
 *     CODED    anything else: each column's values are numbered, NULL among them; two numbers are a
 *              word, and pairs are numbered again where there are more
 *
 * Any threads may pack at a time. Numbers of CODED depend on the order in which threads call: only
 * equality of words has a meaning.
 */
#ifndef WP_OPS_KEYS_H
#define WP_OPS_KEYS_H

#include "ops/shape.h"

typedef enum wpi_key_form { WPI_KEYS_ONE, WPI_KEYS_PACKED, WPI_KEYS_CODED } wpi_key_form;

typedef struct wpi_keys wpi_keys;

WP_NODISCARD wp_status wpi_keys_create(const wpi_shape *shape, wpi_keys **out, wp_error *err);
void wpi_keys_destroy(wpi_keys *keys); /* NULL allowed */

wpi_key_form wpi_keys_form(const wpi_keys *keys);
/** Bits of a word that may be set: 32 or less allow smaller tables. */
uint32_t wpi_keys_bits(const wpi_keys *keys);

/** Words of rows [first, first + count). `nulls`: a byte for each row, 1 where the key is NULL (ONE
 * only; its word is 0 then); may be NULL where no column is nullable. NOMEM. */
WP_NODISCARD wp_status wpi_keys_pack(wpi_keys *keys, const wp_column *columns, uint64_t first,
                                     uint32_t count, uint64_t *words, uint8_t *nulls,
                                     wp_error *err);

/** The same, but words that are in memory in that form are not copied: else they are in
 * `scratch`. */
WP_NODISCARD wp_status wpi_keys_words(wpi_keys *keys, const wp_column *columns, uint64_t first,
                                      uint32_t count, uint64_t *scratch, uint8_t *nulls,
                                      const uint64_t **words, wp_error *err);

/** Writes key column `key` of `count` words to `values` (of its type); `valid`: a byte for each, 0
 * where it is NULL. */
void wpi_keys_unpack(const wpi_keys *keys, uint32_t key, const uint64_t *words, uint32_t count,
                     void *values, uint8_t *valid);

#endif

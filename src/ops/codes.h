/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Numbers for words, for any number of threads. A word's hash selects the shard that numbers it.
 * Each shard has a lock, which a call takes once for all its words of the shard.
 *
 *     number: index in the shard | shard
 */
#ifndef WP_OPS_CODES_H
#define WP_OPS_CODES_H

#include <stdint.h>

#include "base/fail.h"

#define WPI_CODES_BATCH 512u /* words of a call, at most */

typedef struct wpi_codes wpi_codes;

WP_NODISCARD wp_status wpi_codes_create(wpi_codes **out, wp_error *err);
void wpi_codes_destroy(wpi_codes *codes); /* NULL allowed */

/** Numbers for `count` words: below 2^32 - 1, equal for equal words, in no particular order. NOMEM,
 * also when there are too many. */
WP_NODISCARD wp_status wpi_codes_number(wpi_codes *codes, const uint64_t *words, uint32_t count,
                                        uint32_t *numbers, wp_error *err);
/** The word of a number. Not while words are numbered. */
uint64_t wpi_codes_word(const wpi_codes *codes, uint32_t number);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Numbers for words, by any threads at a time. A word's hash says which of the shards numbers it;
 * each has a lock, and a call takes it once for all its words.
 *
 *     number: place in the shard | shard
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
/** What a number stands for. While no words are numbered. */
uint64_t wpi_codes_word(const wpi_codes *codes, uint32_t number);

#endif

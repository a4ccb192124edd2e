/* SPDX-License-Identifier: Apache-2.0 */
/** Random numbers of a test: the same from the same seed on every machine. */
#ifndef WP_RANDOM_H
#define WP_RANDOM_H

#include <stdint.h>

/** The next 64 bits (xorshift); `*state` is the seed, which is not 0. */
static inline uint64_t wp_random_next(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif

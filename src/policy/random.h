/* SPDX-License-Identifier: Apache-2.0 */
/** Random numbers for policies, from a state that the simulator owns: xorshift64*. */
#ifndef WP_POLICY_RANDOM_H
#define WP_POLICY_RANDOM_H

#include <stdint.h>

/** The next number; *state is never 0. */
static inline uint64_t wpi_random_next(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

#endif

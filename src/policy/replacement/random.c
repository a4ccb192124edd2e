/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/replacement.h"

/* Xorshift: Marsaglia, Xorshift RNGs, Journal of Statistical Software 8(14), 2003. */
static uint32_t victim(uint64_t *random, uint32_t ways) {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (uint32_t)((*random >> 16) % ways);
}

static const wpi_replacement_ops ops = {.victim = victim};

const wpi_policy wpi_policy_replacement_random = {.kind = "replacement",
                                                  .name = "random",
                                                  .keys = "gpu.seed",
                                                  .doc = "a random entry of the set",
                                                  .source = "",
                                                  .ops = &ops};

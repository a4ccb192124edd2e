/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Seeded random numbers: the same on every machine.
 *
 * `app_random_at` is a function of (seed, index), so item i of a generated input does not depend
 * on how many were drawn before it; `app_random` is a stream of such numbers. Kernels draw them,
 * too.
 */
#ifndef APP_RANDOM_H
#define APP_RANDOM_H

#include <stdint.h>

#ifdef __CUDACC__
#define APP_RANDOM_CALL static inline __host__ __device__
#else
#define APP_RANDOM_CALL static inline
#endif

typedef struct app_random {
    uint64_t seed;
    uint64_t index;
} app_random;

/* SplitMix64's finaliser: every bit of the result depends on every bit of x. */
APP_RANDOM_CALL uint64_t app_random_mix(uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

APP_RANDOM_CALL uint64_t app_random_at(uint64_t seed, uint64_t index) {
    return app_random_mix(app_random_mix(seed + 0x9e3779b97f4a7c15u) +
                          (index + 1) * 0x9e3779b97f4a7c15u);
}

APP_RANDOM_CALL uint64_t app_random_next(app_random *random) {
    return app_random_at(random->seed, random->index++);
}

/** A whole number in [0, bound), bound >= 1: the high half of a 32 x 32 bit product. */
APP_RANDOM_CALL uint32_t app_random_below(app_random *random, uint32_t bound) {
    return (uint32_t)(((app_random_next(random) >> 32) * bound) >> 32);
}

/** A number in [0, 1), 53 random bits. */
APP_RANDOM_CALL double app_random_unit(app_random *random) {
    return (double)(app_random_next(random) >> 11) * 0x1p-53;
}

#endif

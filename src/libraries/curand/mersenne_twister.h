/* SPDX-License-Identifier: Apache-2.0 */
/**
 * MT19937 (Matsumoto and Nishimura 1998) with the interface of curand_kernel.h's generators, a twister a stream. A stream
 * is seeded by the authors' init_by_array with the key {low word of the seed, its high word, stream}. Behind the states of
 * all streams lie their words, word by word, so that neighbouring threads access neighbouring words.
 */
#ifndef WP_LIBRARIES_MERSENNE_TWISTER_H
#define WP_LIBRARIES_MERSENNE_TWISTER_H

#include <curand_kernel.h>

#include "libraries/curand/random_shared.h"

#define MT_WORDS 624u
#define MT_MIDDLE 397u

struct mersenne_twister {
    unsigned int *words; /* of this stream, WPI_RANDOM_STREAMS apart */
    unsigned int at;     /* the word that is next */
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};

static __inline__ __device__ unsigned int *mt_word(mersenne_twister *state, unsigned int i) {
    return &state->words[(size_t)i * WPI_RANDOM_STREAMS];
}

/* The next word is made when it is asked for, in place: it needs words that are older. */
static __inline__ __device__ unsigned int curand(mersenne_twister *state) {
    const unsigned int i = state->at, after = i + 1 < MT_WORDS ? i + 1 : 0;
    const unsigned int middle = i + MT_MIDDLE < MT_WORDS ? i + MT_MIDDLE : i + MT_MIDDLE - MT_WORDS;
    unsigned int x = (*mt_word(state, i) & 0x80000000u) | (*mt_word(state, after) & 0x7fffffffu);
    x = *mt_word(state, middle) ^ (x >> 1) ^ ((x & 1u) != 0 ? 0x9908b0dfu : 0u);
    *mt_word(state, i) = x;
    state->at = after;
    x ^= x >> 11;
    x ^= x << 7 & 0x9d2c5680u;
    x ^= x << 15 & 0xefc60000u;
    return x ^ x >> 18;
}

static __inline__ __device__ void curand_init(unsigned long long seed, unsigned int stream, unsigned long long skipped,
                                              mersenne_twister *state) {
    const unsigned int key[3] = {(unsigned int)seed, (unsigned int)(seed >> 32), stream};
    mersenne_twister *all = state - stream;
    *state = mersenne_twister();
    state->words = (unsigned int *)(all + WPI_RANDOM_STREAMS) + stream;
    unsigned int x = 19650218u;
    for (unsigned int i = 0; i < MT_WORDS; i++) {
        if (i > 0) x = 1812433253u * (x ^ x >> 30) + i;
        *mt_word(state, i) = x;
    }
    unsigned int i = 1, k = 0, before = 19650218u;
    for (unsigned int turn = 0; turn < 2 * MT_WORDS - 1; turn++) {
        const unsigned int mixed = before ^ before >> 30;
        unsigned int *word = mt_word(state, i);
        before = turn < MT_WORDS ? (*word ^ mixed * 1664525u) + key[k] + k : (*word ^ mixed * 1566083941u) - i;
        *word = before;
        k = k + 1 < 3 ? k + 1 : 0;
        if (++i == MT_WORDS) {
            *mt_word(state, 0) = before;
            i = 1;
        }
    }
    *mt_word(state, 0) = 0x80000000u;
    for (; skipped > 0; skipped--) (void)curand(state);
}

static __inline__ __device__ float curand_uniform(mersenne_twister *state) {
    return wp_curand_unit(curand(state));
}
static __inline__ __device__ double curand_uniform_double(mersenne_twister *state) {
    const unsigned int x = curand(state), y = curand(state);
    return wp_curand_unit_double(x, y);
}
WP_CURAND_NORMAL(mersenne_twister)

#endif

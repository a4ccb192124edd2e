/* SPDX-License-Identifier: Apache-2.0 */
/** Murmur3's mixers of one word (section 2.2), for host and kernels alike, and their inverses. */
#ifndef WP_OPS_HASH_H
#define WP_OPS_HASH_H

#include <stdint.h>

#if defined(__CUDACC__) || defined(__CUDA__)
#define WPI_EVERYWHERE __host__ __device__ static inline
#else
#define WPI_EVERYWHERE static inline
#endif

WPI_EVERYWHERE uint64_t wpi_hash_word(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

WPI_EVERYWHERE uint32_t wpi_hash_half_word(uint32_t x) {
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    return x ^ x >> 16;
}

/* Inverts each step, last first: a shift by half the bits or more is its own inverse. */
WPI_EVERYWHERE uint64_t wpi_unhash_word(uint64_t x) {
    x ^= x >> 33;
    x *= 0x9cb4b2f8129337dbu;
    x ^= x >> 33;
    x *= 0x4f74430c22a54005u;
    return x ^ x >> 33;
}

WPI_EVERYWHERE uint32_t wpi_unhash_half_word(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7ed1b41du;
    x ^= x >> 13 ^ x >> 26;
    x *= 0xa5cb9243u;
    return x ^ x >> 16;
}

#endif

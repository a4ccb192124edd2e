/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The addresses of a chase: place i is i strides after the base. Caches are indexed by address, so
 * places at multiples of a stride would share a few sets; each is shifted by some lines, one more
 * line in each span, and never out of its stride or its span:
 *
 *     | line 0 .  .  . |  .  line 1 .  . |  .  .  line 2 . |      a span each
 *
 * Used by kernels and host code alike.
 */
#ifndef WP_PROBE_CHAIN_H
#define WP_PROBE_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define WPI_CHAIN_FUNCTION static inline __host__ __device__
#else
#define WPI_CHAIN_FUNCTION static inline
#endif

typedef struct wpi_chain {
    uint64_t stride_bytes;
    uint32_t span_bytes; /* the smallest page there may be */
    uint32_t line_bytes;
    uint32_t loads;
} wpi_chain;

/** Added to a place's number: another line of the same page, half a span on. */
#define WPI_CHAIN_SECOND 0x80000000u

WPI_CHAIN_FUNCTION uint64_t wpi_chain_place(const wpi_chain *chain, uint32_t number) {
    const uint32_t i = number & ~WPI_CHAIN_SECOND;
    const bool is_second = (number & WPI_CHAIN_SECOND) != 0;
    const bool is_within = chain->stride_bytes < chain->span_bytes;
    const uint64_t room = is_within ? chain->stride_bytes : chain->span_bytes;
    const uint32_t span = is_within ? i / (uint32_t)(chain->span_bytes / room) : i;
    const uint32_t lines = (uint32_t)(room / chain->line_bytes);
    const uint32_t line = is_second ? span + lines / 2 : span;
    const uint64_t moved = lines != 0 ? line % lines * (uint64_t)chain->line_bytes : 0;
    return i * chain->stride_bytes + moved;
}

#endif

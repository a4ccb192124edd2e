/* SPDX-License-Identifier: Apache-2.0 */
/* What both device libraries of streaming use. Compiled to nvptx64 bitcode and inlined. */
#ifndef WP_STREAM_STREAMLIB_H
#define WP_STREAM_STREAMLIB_H

#include <stddef.h>

#include "base/stream_abi.h"

#define INLINE __attribute__((always_inline, convergent))

enum { WORKED = WPI_STREAM_WORKED, WAITED = WPI_STREAM_WAITED, SINCE = WPI_STREAM_SINCE };

static INLINE uint64_t now_ns(void) {
    uint64_t ns;
    __asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

/* In a loop that only the host can end. */
void __wp_host_pause(void);

static INLINE uint32_t *word_of(uint32_t *words, uint32_t set) {
    return words + (uint64_t)set * WPI_STREAM_WORD;
}

static INLINE uint32_t block_number(void) {
    return (uint32_t)__nvvm_read_ptx_sreg_ctaid_x() +
           (uint32_t)__nvvm_read_ptx_sreg_nctaid_x() *
               ((uint32_t)__nvvm_read_ptx_sreg_ctaid_y() +
                (uint32_t)__nvvm_read_ptx_sreg_nctaid_y() *
                    (uint32_t)__nvvm_read_ptx_sreg_ctaid_z());
}

/* A set that no block has; it is this block's from now on. */
static INLINE uint32_t take_set(uint32_t *busy_words, uint32_t count, uint32_t *block_words) {
    const uint32_t block = block_number();
    uint32_t set = block % count, taken = 0;
    do {
        taken = __nvvm_atom_cas_gen_i((int *)word_of(busy_words, set), 0, 1) == 0;
        if (!taken) set = set + 1 == count ? 0 : set + 1;
    } while (!taken);
    __nvvm_membar_gl();
    *(volatile uint32_t *)word_of(block_words, set) = block;
    return set;
}

/* The range that all of these bytes are in; NULL: there is none. */
static INLINE const wpi_stream_kept *kept_at(const wpi_stream_kept *ranges, uint32_t count,
                                             uint64_t address, uint64_t bytes) {
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t offset = address - ranges[i].first;
        if (offset < ranges[i].bytes && ranges[i].bytes - offset >= bytes) return &ranges[i];
    }
    return NULL;
}

static INLINE char *kept_place(const wpi_stream_kept *ranges, uint32_t count, uint64_t address,
                               uint64_t bytes) {
    const wpi_stream_kept *range = kept_at(ranges, count, address, bytes);
    return range ? range->memory + (address - range->first) : NULL;
}

#endif

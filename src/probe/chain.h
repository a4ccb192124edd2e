/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Where the loads of a chase go: place i is i strides behind the base. Strides of a page and more
 * would put all lines into a few sets of a cache that is indexed by the address within a page; so
 * place i is moved on by some lines, never out of its 4 KiB.
 *
 *     | line 0 .  .  . |  .  line 1 .  . |  .  .  line 2 . |      a stride each
 *
 * Used by kernels and host code alike.
 */
#ifndef WP_PROBE_CHAIN_H
#define WP_PROBE_CHAIN_H

#include <stdint.h>

#ifdef __CUDACC__
#define WPI_CHAIN_FUNCTION static inline __host__ __device__
#else
#define WPI_CHAIN_FUNCTION static inline
#endif

#define WPI_CHAIN_PAGE_BYTES 4096u

typedef struct wpi_chain {
    uint64_t stride_bytes;
    uint32_t line_bytes;
    uint32_t loads;
} wpi_chain;

WPI_CHAIN_FUNCTION uint64_t wpi_chain_place(const wpi_chain *chain, uint32_t i) {
    const uint64_t start = i * chain->stride_bytes;
    if (chain->stride_bytes < WPI_CHAIN_PAGE_BYTES) return start;
    return start + i % (WPI_CHAIN_PAGE_BYTES / chain->line_bytes) * (uint64_t)chain->line_bytes;
}

#endif

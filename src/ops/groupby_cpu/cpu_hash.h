/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Hashes of keys on the processor. They are invertible: two keys have different hashes, so a row
 * carries its hash, not its key, from its first block to the result, is hashed once, and comparing
 * hashes suffices. Keys of up to 32 bits have hashes of 32 bits, which are half words where groups
 * are narrow.
 */
#ifndef WP_OPS_CPU_HASH_H
#define WP_OPS_CPU_HASH_H

#include "ops/groupby_cpu/cpu_layout.h"

/** The type of hashes: uint32_t or uint64_t. */
static inline wp_type wpi_cpu_hash_type(const wpi_cpu_layout *layout) {
    return wpi_cpu_layout_is_narrow(layout) ? WP_TYPE_UINT32 : WP_TYPE_UINT64;
}

/** Hashes of that type. */
void wpi_cpu_hash(const wpi_cpu_layout *layout, const uint64_t *keys, uint32_t count, void *hashes);

/** Converts hashes to their keys, in place. */
void wpi_cpu_unhash(const wpi_cpu_layout *layout, uint64_t *words, uint32_t count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/groupby_cpu/cpu_hash.h"

#include "base/cpu_vectors.h"

WPI_CPU_VECTORS static void hash_words(const uint64_t *restrict keys, uint32_t count,
                                       uint64_t *restrict hashes) {
    for (uint32_t i = 0; i < count; i++)
        hashes[i] = wpi_hash_word(keys[i]);
}

#define HASH_HALVES(name, type)                                                                    \
    WPI_CPU_VECTORS static void hash_halves_##name(const uint64_t *restrict keys, uint32_t count,  \
                                                   type *restrict hashes) {                        \
        for (uint32_t i = 0; i < count; i++)                                                       \
            hashes[i] = wpi_hash_half_word((uint32_t)keys[i]);                                     \
    }
HASH_HALVES(32, uint32_t)
HASH_HALVES(64, uint64_t)

void wpi_cpu_hash(const wpi_cpu_layout *layout, const uint64_t *keys, uint32_t count,
                  void *hashes) {
    if (wpi_cpu_layout_is_narrow(layout))
        hash_halves_32(keys, count, hashes);
    else if (layout->hash_bits == 32)
        hash_halves_64(keys, count, hashes);
    else
        hash_words(keys, count, hashes);
}

WPI_CPU_VECTORS static void unhash_words(uint64_t *words, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        words[i] = wpi_unhash_word(words[i]);
}

WPI_CPU_VECTORS static void unhash_halves(uint64_t *words, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        words[i] = wpi_unhash_half_word((uint32_t)words[i]);
}

void wpi_cpu_unhash(const wpi_cpu_layout *layout, uint64_t *words, uint32_t count) {
    if (layout->hash_bits == 32)
        unhash_halves(words, count);
    else
        unhash_words(words, count);
}

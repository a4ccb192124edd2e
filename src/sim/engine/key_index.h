/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A small hash table from keys (at most 44 bits: page or line numbers) to numbers of at most 20
 * bits, for tags and MSHRs: open addressing, at most half full, one word per slot. Its size follows
 * its contents, not their limit, so that random look-ups stay in the processor's cache. One thread.
 */
#ifndef WP_SIM_INDEX_H
#define WP_SIM_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#define WPI_INDEX_NONE UINT32_MAX

#define WPI_INDEX_VALUE_BITS 20u
#define WPI_INDEX_VALUE_MASK ((1u << WPI_INDEX_VALUE_BITS) - 1)
#define WPI_INDEX_FREE UINT64_MAX

typedef struct wpi_index {
    uint64_t *slots; /* key << VALUE_BITS | value, or FREE */
    uint32_t mask;   /* slots - 1 */
    uint32_t count;  /* keys in it */
} wpi_index;

/** Creates a table with room for `count` keys; it grows as needed. False: out of memory. */
bool wpi_index_init(wpi_index *index, uint32_t count);
void wpi_index_deinit(wpi_index *index); /* `{0}` is fine */
void wpi_index_clear(wpi_index *index);

static inline uint32_t wpi_index_home(const wpi_index *index, uint64_t key) {
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32) & index->mask;
}

/** The slot of the key, or the free slot in which it would be put. */
static inline uint32_t wpi_index_slot_of(const wpi_index *index, uint64_t key) {
    uint32_t at = wpi_index_home(index, key);
    while (index->slots[at] != WPI_INDEX_FREE && index->slots[at] >> WPI_INDEX_VALUE_BITS != key)
        at = (at + 1) & index->mask;
    return at;
}

/** The key's value, or NONE. */
static inline uint32_t wpi_index_find(const wpi_index *index, uint64_t key) {
    const uint64_t slot = index->slots[wpi_index_slot_of(index, key)];
    return slot == WPI_INDEX_FREE ? WPI_INDEX_NONE : (uint32_t)slot & WPI_INDEX_VALUE_MASK;
}

/** Prefetches the key's slot into the host's caches. */
static inline void wpi_index_prefetch(const wpi_index *index, uint64_t key) {
    __builtin_prefetch(&index->slots[wpi_index_home(index, key)]);
}
/** Adds a key that is not in the table. Ends the process if the table cannot grow (WP_CHECK). */
void wpi_index_add(wpi_index *index, uint64_t key, uint32_t value);
/** Removes the key, which must be in the table. Returns its value. */
uint32_t wpi_index_take(wpi_index *index, uint64_t key);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A small table from keys (at most 44 bits: numbers of pages, of lines) to numbers of at most 20
 * bits, for tags and MSHRs: open addressing, at most half full, a word a slot. It is as large as
 * what is in it, not as what might be: what is looked up at random should stay in the processor's
 * cache. One thread.
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

/** With room for `count` keys; it grows when there are more. False: no memory. */
bool wpi_index_init(wpi_index *index, uint32_t count);
void wpi_index_deinit(wpi_index *index); /* `{0}` is fine */
void wpi_index_clear(wpi_index *index);

static inline uint32_t wpi_index_home(const wpi_index *index, uint64_t key) {
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32) & index->mask;
}

/** Where the key is, or would be put. */
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

/** The key will be looked up soon. */
static inline void wpi_index_prefetch(const wpi_index *index, uint64_t key) {
    __builtin_prefetch(&index->slots[wpi_index_home(index, key)]);
}
/** The key must not be there. Ends the process when it has to grow and the host has no memory
 * (WP_CHECK). */
void wpi_index_add(wpi_index *index, uint64_t key, uint32_t value);
/** Takes the key out, which must be there. Returns its value. */
uint32_t wpi_index_take(wpi_index *index, uint64_t key);

#endif

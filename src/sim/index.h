/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A small table from 64-bit keys to numbers, for tags and MSHRs: open addressing, at most half
 * full, memory given once. One thread.
 */
#ifndef WP_SIM_INDEX_H
#define WP_SIM_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#define WPI_INDEX_NONE UINT32_MAX

typedef struct wpi_index_slot {
    uint64_t key;
    uint32_t value; /* NONE: free */
} wpi_index_slot;

typedef struct wpi_index {
    wpi_index_slot *slots;
    uint32_t mask; /* slots - 1 */
} wpi_index;

/** For at most `count` keys. False: no memory. */
bool wpi_index_init(wpi_index *index, uint32_t count);
void wpi_index_deinit(wpi_index *index); /* `{0}` is fine */
void wpi_index_clear(wpi_index *index);

static inline uint32_t wpi_index_home(const wpi_index *index, uint64_t key) {
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32) & index->mask;
}

/** Where the key is, or would be put. */
static inline uint32_t wpi_index_slot_of(const wpi_index *index, uint64_t key) {
    uint32_t at = wpi_index_home(index, key);
    while (index->slots[at].value != WPI_INDEX_NONE && index->slots[at].key != key)
        at = (at + 1) & index->mask;
    return at;
}

/** The key's value, or NONE. */
static inline uint32_t wpi_index_find(const wpi_index *index, uint64_t key) {
    return index->slots[wpi_index_slot_of(index, key)].value;
}
/** The key must not be there. */
void wpi_index_add(wpi_index *index, uint64_t key, uint32_t value);
/** The key must be there. */
void wpi_index_remove(wpi_index *index, uint64_t key);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A hash table of 64-bit keys in one piece of memory, for kernels and their twins on the host: open
 * addressing, linear probing, keys are put in by compare-and-swap and never leave.
 *
 *     entry [mask + 1]   key (0: free), count, note
 *     entry [mask + 1]   one more, which counts what found no room
 *
 * Which slot a key has depends on the order in which keys came; what is counted does not.
 */
#ifndef APP_STREAMING_TABLE_H
#define APP_STREAMING_TABLE_H

#include <stdint.h>

#include "common/random.h"
#include "streaming/atomics.h"
#include "streaming/streaming.h"

#define APP_TABLE_PROBES 1024u /* with more, there is no room */

typedef struct app_table_entry {
    unsigned long long key;
    uint32_t count;
    uint32_t note; /* the program's own */
} app_table_entry;

typedef struct app_table {
    app_table_entry *entry;
    uint64_t mask; /* entries less one; a power of two less one */
} app_table;

/** The entry of `key` (not 0), a new one if it was not there; entry [mask + 1] if there is no room.
 */
static __host__ __device__ inline app_table_entry *app_table_put(const app_table table,
                                                                 unsigned long long key) {
    uint64_t slot = app_random_mix(key);
    for (uint32_t probe = 0; probe < APP_TABLE_PROBES; probe++, slot++) {
        app_table_entry *entry = &table.entry[slot & table.mask];
        unsigned long long there = *(volatile unsigned long long *)&entry->key;
        if (there == 0) {
            there = app_swap_if(&entry->key, 0, key);
            if (there == 0) {
                return entry;
            }
        }
        if (there == key) {
            return entry;
        }
    }
    return &table.entry[table.mask + 1];
}

/** The entry of `key` (not 0); NULL: not there. */
static __host__ __device__ inline const app_table_entry *app_table_find(const app_table table,
                                                                        unsigned long long key) {
    uint64_t slot = app_random_mix(key);
    for (uint32_t probe = 0; probe < APP_TABLE_PROBES; probe++, slot++) {
        const app_table_entry *entry = &table.entry[slot & table.mask];
        if (entry->key == key) {
            return entry;
        }
        if (entry->key == 0) {
            break;
        }
    }
    return NULL;
}

/** An empty table with room for at least `keys` keys, in `state`, where the variant wants it. */
app_table app_table_create(app_state *state, int variant, uint64_t keys, const char *name);
/** The same, with the content of a table on the host, which app_table_create made for
 *  APP_STREAMING_SERIAL. */
app_table app_table_move(app_state *state, int variant, const app_table *from, const char *name);
/** The table in host memory, its entries sorted by key, `*count` of them; the caller frees them.
 *  Ends the program if keys found no room: `option` makes the table larger. */
app_table_entry *app_table_take(const app_state *state, uint64_t *count, const char *option);
/** How many entries of two such lists are not in both with the same content. */
uint64_t app_table_compare(const app_table_entry *a, uint64_t a_count, const app_table_entry *b,
                           uint64_t b_count);

#endif

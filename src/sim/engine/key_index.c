/* SPDX-License-Identifier: Apache-2.0 */
/* Linear probing, a quarter full at first; removal closes the gap. So look-ups are short, and the
 * host predicts their branches well. */
#include "sim/engine/key_index.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

static bool give_slots(wpi_index *index, uint32_t slots) {
    index->slots = wpi_malloc(slots * sizeof *index->slots);
    index->mask = slots - 1;
    if (index->slots == NULL) return false;
    wpi_index_clear(index);
    return true;
}

bool wpi_index_init(wpi_index *index, uint32_t count) {
    uint32_t slots = 8;
    while (slots < 4 * (uint64_t)count)
        slots *= 2;
    return give_slots(index, slots);
}

void wpi_index_deinit(wpi_index *index) {
    wpi_free(index->slots);
    index->slots = NULL;
}

void wpi_index_clear(wpi_index *index) {
    index->count = 0;
    for (uint32_t i = 0; i <= index->mask; i++)
        index->slots[i] = WPI_INDEX_FREE;
}

static void grow(wpi_index *index) {
    const wpi_index old = *index;
    WP_CHECK(give_slots(index, 2 * (old.mask + 1)));
    for (uint32_t i = 0; i <= old.mask; i++)
        if (old.slots[i] != WPI_INDEX_FREE)
            index->slots[wpi_index_slot_of(index, old.slots[i] >> WPI_INDEX_VALUE_BITS)] =
                old.slots[i];
    index->count = old.count;
    wpi_free(old.slots);
}

void wpi_index_add(wpi_index *index, uint64_t key, uint32_t value) {
    if (2 * ++index->count > index->mask + 1) grow(index);
    const uint32_t at = wpi_index_slot_of(index, key);
    WP_CHECK(key >> (64 - WPI_INDEX_VALUE_BITS) == 0 && value >> WPI_INDEX_VALUE_BITS == 0);
    WP_ASSERT(index->slots[at] == WPI_INDEX_FREE);
    index->slots[at] = key << WPI_INDEX_VALUE_BITS | value;
}

uint32_t wpi_index_take(wpi_index *index, uint64_t key) {
    uint32_t gap = wpi_index_slot_of(index, key);
    const uint64_t slot = index->slots[gap];
    WP_CHECK(slot != WPI_INDEX_FREE);
    for (uint32_t at = (gap + 1) & index->mask; index->slots[at] != WPI_INDEX_FREE;
         at = (at + 1) & index->mask) {
        const uint32_t home = wpi_index_home(index, index->slots[at] >> WPI_INDEX_VALUE_BITS);
        /* An entry may move into the gap unless its home lies after the gap. */
        if (((at - home) & index->mask) < ((at - gap) & index->mask)) continue;
        index->slots[gap] = index->slots[at];
        gap = at;
    }
    index->slots[gap] = WPI_INDEX_FREE;
    index->count--;
    return (uint32_t)slot & WPI_INDEX_VALUE_MASK;
}

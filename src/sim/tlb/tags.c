/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/tlb/tags.h"

#include <string.h>

#include "base/alloc.h"

#define NONE WPI_INDEX_NONE

static bool are_equal(const uint32_t *set_ways, uint32_t set_count) {
    for (uint32_t set = 1; set < set_count; set++)
        if (set_ways[set] != set_ways[0]) return false;
    return true;
}

/* Deals a seat to each set that has ways left, the largest first, until all are dealt. */
static void deal_seats(wpi_tags *tags) {
    uint32_t seat = 0, widest = 0;
    for (uint32_t set = 0; set < tags->set_count; set++)
        if (tags->sets[set].ways > widest) widest = tags->sets[set].ways;
    for (uint32_t round = 0; round < widest; round++) {
        for (uint32_t ways = widest; ways > round; ways--)
            for (uint32_t set = 0; set < tags->set_count; set++)
                if (tags->sets[set].ways == ways) tags->seats[seat++] = set;
    }
}

static uint32_t bits_of(uint32_t power_of_two) {
    uint32_t bits = 0;
    while (power_of_two >> bits > 1)
        bits++;
    return bits;
}

wp_status wpi_tags_init(wpi_tags *tags, const uint32_t *set_ways, uint32_t set_count, wpi_hash hash,
                        const wpi_policy *replacement, uint64_t seed, wp_error *err) {
    *tags = (wpi_tags){.set_count = set_count, .replacement = replacement->ops, .random = seed};
    for (uint32_t set = 0; set < set_count; set++)
        tags->entry_count += set_ways[set];
    const bool is_equal = are_equal(set_ways, set_count);
    tags->set_bits = hash == WPI_HASH_XOR ? bits_of(set_count) : 0;
    tags->entries = wpi_calloc(tags->entry_count, sizeof *tags->entries);
    tags->sets = wpi_calloc(set_count, sizeof *tags->sets);
    if (!is_equal) tags->seats = wpi_calloc(tags->entry_count, sizeof *tags->seats);
    const bool has_index = wpi_index_init(&tags->index, tags->entry_count);
    if (tags->entries == NULL || tags->sets == NULL || !has_index ||
        (!is_equal && tags->seats == NULL)) {
        const uint32_t entries = tags->entry_count;
        wpi_tags_deinit(tags);
        return WP_FAIL(err, NOMEM, "%u TLB entries", entries);
    }
    uint32_t base = 0;
    for (uint32_t set = 0; set < set_count; set++) {
        tags->sets[set] = (wpi_tag_set){.base = base, .ways = set_ways[set]};
        base += set_ways[set];
    }
    if (!is_equal) deal_seats(tags);
    wpi_tags_clear(tags);
    return WP_STATUS_OK;
}

void wpi_tags_deinit(wpi_tags *tags) {
    wpi_free(tags->entries);
    wpi_free(tags->sets);
    wpi_free(tags->seats);
    wpi_index_deinit(&tags->index);
    *tags = (wpi_tags){0};
}

void wpi_tags_clear(wpi_tags *tags) {
    wpi_index_clear(&tags->index);
    for (uint32_t number = 0; number < tags->set_count; number++) {
        wpi_tag_set *set = &tags->sets[number];
        for (uint32_t way = 0; way < set->ways; way++)
            tags->entries[set->base + way] =
                (wpi_tag_entry){.next = way + 1 < set->ways ? set->base + way + 1 : NONE,
                                .previous = way > 0 ? set->base + way - 1 : NONE,
                                .set = number};
        set->first = set->base;
        set->last = set->base + set->ways - 1;
    }
}

uint32_t wpi_tags_set_of(const wpi_tags *tags, uint64_t tag) {
    if (tags->set_count == 1) return 0;
    if (tags->seats != NULL) return tags->seats[tag % tags->entry_count];
    if (tags->set_bits == 0) return (uint32_t)(tag % tags->set_count);
    uint64_t fold = 0;
    for (; tag != 0; tag >>= tags->set_bits)
        fold ^= tag;
    return (uint32_t)fold & (tags->set_count - 1);
}

static void move_to_front(wpi_tags *tags, uint32_t number) {
    wpi_tag_entry *entry = &tags->entries[number];
    wpi_tag_set *set = &tags->sets[entry->set];
    if (set->first == number) return;
    tags->entries[entry->previous].next = entry->next;
    if (entry->next != NONE)
        tags->entries[entry->next].previous = entry->previous;
    else
        set->last = entry->previous;
    entry->previous = NONE;
    entry->next = set->first;
    tags->entries[set->first].previous = number;
    set->first = number;
}

static void move_to_back(wpi_tags *tags, uint32_t number) {
    wpi_tag_entry *entry = &tags->entries[number];
    wpi_tag_set *set = &tags->sets[entry->set];
    if (set->last == number) return;
    tags->entries[entry->next].previous = entry->previous;
    if (entry->previous != NONE)
        tags->entries[entry->previous].next = entry->next;
    else
        set->first = entry->next;
    entry->next = NONE;
    entry->previous = set->last;
    tags->entries[set->last].next = number;
    set->last = number;
}

void wpi_tags_remove(wpi_tags *tags, uint32_t entry) {
    (void)wpi_index_take(&tags->index, tags->entries[entry].tag);
    tags->entries[entry].parts = 0;
    move_to_back(tags, entry);
}

void wpi_tags_touch(wpi_tags *tags, uint32_t entry) {
    if (tags->replacement->is_moved_by_use) move_to_front(tags, entry);
}

/* Free entries are last in their set: they are never touched, and used ones go to the front. */
static uint32_t victim(wpi_tags *tags, const wpi_tag_set *set) {
    const bool is_full = tags->entries[set->last].parts != 0;
    if (tags->replacement->victim == NULL || !is_full) return set->last;
    return set->base + tags->replacement->victim(&tags->random, set->ways);
}

/* Prefetches the next victim into the host's caches: it was not used for long, and large TLBs do
 * not fit them. */
static void prefetch_victim(const wpi_tags *tags, const wpi_tag_set *set) {
    const wpi_tag_entry *last = &tags->entries[set->last];
    wpi_index_prefetch(&tags->index, last->tag);
    if (last->previous != NONE) __builtin_prefetch(&tags->entries[last->previous]);
}

uint32_t wpi_tags_insert(wpi_tags *tags, uint64_t tag, wpi_tag_entry *evicted) {
    const uint32_t set = wpi_tags_set_of(tags, tag);
    const uint32_t number = victim(tags, &tags->sets[set]);
    wpi_tag_entry *entry = &tags->entries[number];
    if (evicted != NULL) *evicted = *entry;
    if (entry->parts != 0) (void)wpi_index_take(&tags->index, entry->tag);
    entry->tag = tag;
    entry->parts = 0;
    wpi_index_add(&tags->index, tag, number);
    move_to_front(tags, number);
    prefetch_victim(tags, &tags->sets[set]);
    return number;
}

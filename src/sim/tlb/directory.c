/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/tlb/directory.h"

#include "base/alloc.h"

wp_status wpi_directory_init(wpi_directory *directory, uint32_t entries, wp_error *err) {
    *directory = (wpi_directory){0};
    /* LRU whose entries are never touched: first in, first out. */
    WP_TRY(wpi_tags_init(&directory->tags, &entries, 1, WPI_HASH_MODULO,
                         &wpi_policy_replacement_lru, 1, err));
    directory->notes = wpi_calloc(entries, sizeof *directory->notes);
    if (directory->notes == NULL) return WP_FAIL(err, NOMEM, "a directory of %u", entries);
    return WP_STATUS_OK;
}

void wpi_directory_deinit(wpi_directory *directory) {
    wpi_tags_deinit(&directory->tags);
    wpi_free(directory->notes);
    *directory = (wpi_directory){0};
}

void wpi_directory_clear(wpi_directory *directory) {
    wpi_tags_clear(&directory->tags);
    directory->used = directory->local = 0;
}

uint64_t wpi_directory_tag(uint64_t page, uint32_t tag_bits) {
    uint64_t tag = 0;
    for (uint64_t rest = page; rest != 0; rest >>= tag_bits)
        tag ^= rest;
    return tag & (((uint64_t)1 << tag_bits) - 1);
}

uint64_t wpi_directory_find(const wpi_directory *directory, uint64_t tag) {
    const uint32_t entry = wpi_tags_find(&directory->tags, tag);
    return entry == WPI_INDEX_NONE ? 0 : directory->tags.entries[entry].parts;
}

uint32_t wpi_directory_count_hit(wpi_directory *directory, uint64_t tag) {
    const uint32_t entry = wpi_tags_find(&directory->tags, tag);
    return entry == WPI_INDEX_NONE ? 0 : ++directory->notes[entry].hits;
}

static void free_entry(wpi_directory *directory, uint32_t entry) {
    directory->local -= directory->notes[entry].is_local;
    directory->used--;
    wpi_tags_remove(&directory->tags, entry);
}

/* If the directory is full, evicts the oldest entry that is held here too. If there is none,
 * wpi_tags_insert evicts the oldest. */
static void make_room(wpi_directory *directory) {
    const wpi_tags *tags = &directory->tags;
    if (directory->used < tags->entry_count) return;
    directory->eviction_count++;
    if (directory->local == 0) {
        directory->used--;
        return;
    }
    uint32_t entry = tags->sets[0].last;
    while (!directory->notes[entry].is_local)
        entry = tags->entries[entry].previous;
    free_entry(directory, entry);
}

void wpi_directory_add_new(wpi_directory *directory, uint64_t tag, uint32_t neighbour,
                           bool is_local) {
    make_room(directory);
    const uint32_t entry = wpi_tags_insert(&directory->tags, tag, NULL);
    directory->notes[entry] = (wpi_directory_note){.is_local = is_local};
    directory->used++;
    directory->local += is_local;
    directory->tags.entries[entry].parts = (uint64_t)1 << neighbour;
}

void wpi_directory_add(wpi_directory *directory, uint64_t tag, uint32_t neighbour, bool is_local) {
    const uint32_t entry = wpi_tags_find(&directory->tags, tag);
    if (entry == WPI_INDEX_NONE)
        wpi_directory_add_new(directory, tag, neighbour, is_local);
    else
        directory->tags.entries[entry].parts |= (uint64_t)1 << neighbour;
}

void wpi_directory_remove(wpi_directory *directory, uint64_t tag, uint32_t neighbour) {
    const uint32_t entry = wpi_tags_find(&directory->tags, tag);
    if (entry == WPI_INDEX_NONE) return;
    const uint64_t left = directory->tags.entries[entry].parts & ~((uint64_t)1 << neighbour);
    if (left == 0)
        free_entry(directory, entry);
    else
        directory->tags.entries[entry].parts = left;
}

void wpi_directory_set_local(wpi_directory *directory, uint64_t tag, bool is_local) {
    const uint32_t entry = wpi_tags_find(&directory->tags, tag);
    if (entry == WPI_INDEX_NONE || directory->notes[entry].is_local == is_local) return;
    directory->notes[entry].is_local = is_local;
    directory->local += is_local ? 1 : -1u;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Shoot-downs. In the first level only TLBs that are recorded as holders of a page are invalidated
 * (tlb_copies.h), in the other levels all are. */
#include "sim/tlb/tlb_parts.h"

/* The first TLB with a number >= `from` whose number modulo 64 is a bit of `tlbs`. */
static uint32_t next_of(const wpi_tlb_level *l, uint64_t tlbs, uint32_t from) {
    for (; from < l->tlb_count; from = (from / 64 + 1) * 64) {
        const uint64_t left = tlbs >> from % 64;
        if (left != 0) return from + (uint32_t)__builtin_ctzll(left);
    }
    return from;
}

/* Pages that first-level TLBs may have; up to this many are invalidated together. */
#define SUSPECT_COUNT 64u

typedef struct suspect {
    wpi_tlb_store *store;
    uint64_t address;
    uint32_t grain;
} suspect;

typedef struct suspects {
    uint32_t count;
    suspect list[SUSPECT_COUNT];
} suspects;

/* First-level TLBs exceed the host's caches: prefetches all entries before the first is used. */
static void forget_suspects(suspects *all) {
    for (uint32_t i = 0; i < all->count; i++) {
        const suspect *s = &all->list[i];
        wpi_index_prefetch(&s->store->tags.index,
                           s->address >> s->store->grains[s->grain].coverage_bits);
    }
    for (uint32_t i = 0; i < all->count; i++) {
        const suspect *s = &all->list[i];
        const wpi_tags *tags = &s->store->tags;
        const uint32_t entry =
            wpi_tags_find(tags, s->address >> s->store->grains[s->grain].coverage_bits);
        if (entry != WPI_INDEX_NONE) __builtin_prefetch(&tags->entries[entry], 1);
    }
    for (uint32_t i = 0; i < all->count; i++)
        wpi_tlb_store_forget(all->list[i].store, all->list[i].grain, all->list[i].address);
    all->count = 0;
}

/* The TLBs whose numbers modulo 64 are in `tlbs` may have the page. */
static void suspect_page(wpi_translation *t, suspects *all, uint32_t grain, uint64_t address,
                         uint64_t tlbs) {
    const wpi_tlb_level *l = &t->levels[0];
    for (uint32_t k = next_of(l, tlbs, 0); k < l->tlb_count; k = next_of(l, tlbs, k + 1)) {
        if (all->count == SUSPECT_COUNT) forget_suspects(all);
        all->list[all->count++] = (suspect){&l->tlbs[k].store, address, grain};
    }
}

static void forget_first(wpi_translation *t, const wpi_paging_shot *shot) {
    suspects all;
    all.count = 0;
    for (uint32_t word = 0; word < WPI_PAGES_WORDS; word++) {
        for (uint64_t left = shot->pages->words[word]; left != 0; left &= left - 1) {
            const uint32_t page = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (shot->tlbs[page] == 0) continue; /* true for most pages */
            suspect_page(t, &all, WPI_GRAIN_SMALL, shot->address + (uint64_t)page * WPI_PAGE_BYTES,
                         shot->tlbs[page]);
        }
    }
    suspect_page(t, &all, WPI_GRAIN_LARGE, shot->address, shot->tlbs_large);
    forget_suspects(&all);
}

void wpi_translation_forget(wpi_translation *t, const wpi_paging_shot *shot) {
    forget_first(t, shot);
    for (uint32_t i = 1; i < t->level_count; i++)
        for (uint32_t k = 0; k < t->levels[i].tlb_count; k++)
            wpi_tlb_store_forget_all(&t->levels[i].tlbs[k].store, shot);
    const wpi_tlb_level *last = &t->levels[t->level_count - 1];
    for (uint32_t k = 0; wpi_tlb_prefetch_is_on(t->profile) && k < last->tlb_count; k++)
        wpi_tlb_store_forget_ahead(&last->tlbs[k].store, shot);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Shoot-downs: TLBs of the first level that know a page are told, as who has what is noted; of the
 * others all are. */
#include "sim/tlb_parts.h"

/* The first of the level's TLBs from number `from` on of which `tlbs` has the number modulo 64. */
static uint32_t next_of(const wpi_tlb_level *l, uint64_t tlbs, uint32_t from) {
    for (; from < l->tlb_count; from = (from / 64 + 1) * 64) {
        const uint64_t left = tlbs >> from % 64;
        if (left != 0) return from + (uint32_t)__builtin_ctzll(left);
    }
    return from;
}

/* What TLBs do with a page that they may have. */
typedef void (*with_page)(wpi_tlb_store *store, uint32_t grain, uint64_t address);

static void expect_to_forget(wpi_tlb_store *store, uint32_t grain, uint64_t address) {
    wpi_index_prefetch(&store->tags.index, address >> store->grains[grain].coverage_bits);
}

static void expect_to_remove(wpi_tlb_store *store, uint32_t grain, uint64_t address) {
    const uint32_t entry =
        wpi_tags_find(&store->tags, address >> store->grains[grain].coverage_bits);
    if (entry != WPI_INDEX_NONE) __builtin_prefetch(&store->tags.entries[entry]);
}

static void for_all_known(wpi_translation *t, const wpi_paging_shot *shot, with_page with) {
    const wpi_tlb_level *l = &t->levels[0];
    for (uint32_t page = wpi_pages_next(shot->pages, 0); page < WPI_CHUNK_PAGES;
         page = wpi_pages_next(shot->pages, page + 1))
        for (uint32_t k = next_of(l, shot->tlbs[page], 0); k < l->tlb_count;
             k = next_of(l, shot->tlbs[page], k + 1))
            with(&l->tlbs[k].store, WPI_GRAIN_SMALL,
                 shot->address + (uint64_t)page * WPI_PAGE_BYTES);
    for (uint32_t k = next_of(l, shot->tlbs_large, 0); k < l->tlb_count;
         k = next_of(l, shot->tlbs_large, k + 1))
        with(&l->tlbs[k].store, WPI_GRAIN_LARGE, shot->address);
}

/* First TLBs are many and large: what is found in them is in no cache of the host's. */
void wpi_translation_forget(wpi_translation *t, const wpi_paging_shot *shot) {
    for_all_known(t, shot, expect_to_forget);
    for_all_known(t, shot, expect_to_remove);
    for_all_known(t, shot, wpi_tlb_store_forget);
    for (uint32_t i = 1; i < t->level_count; i++)
        for (uint32_t k = 0; k < t->levels[i].tlb_count; k++)
            wpi_tlb_store_forget_all(&t->levels[i].tlbs[k].store, shot);
    const wpi_tlb_level *last = &t->levels[t->level_count - 1];
    for (uint32_t k = 0; wpi_tlb_prefetch_is_on(t->profile) && k < last->tlb_count; k++)
        wpi_tlb_store_forget_ahead(&last->tlbs[k].store, shot);
}

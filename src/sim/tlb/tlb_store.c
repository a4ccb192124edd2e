/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/tlb/tlb_store.h"

#define PARTS_BITS 6 /* log2 of the parts of an entry, 64 */

/* An entry covers as many pages of managed memory, small or large, as of other pages, at least one.
 * A miss fills one: its neighbours may not be resident. */
static wpi_grain grain_of_managed(const wpi_grain *g, uint32_t page_bits, uint32_t own_bits) {
    const uint32_t more = g->coverage_bits > page_bits ? g->coverage_bits - page_bits : 0;
    return (wpi_grain){own_bits + (more < PARTS_BITS ? more : PARTS_BITS), own_bits};
}

void wpi_grains_init(wpi_grain grains[WPI_GRAIN_COUNT], const wpi_tlb_profile *profile,
                     uint64_t page_bytes) {
    const uint32_t page_bits = (uint32_t)__builtin_ctzll(page_bytes);
    const wpi_grain g = {(uint32_t)__builtin_ctzll(profile->coverage_bytes),
                         (uint32_t)__builtin_ctzll(profile->fill_bytes)};
    grains[WPI_GRAIN_MEMORY] = g;
    grains[WPI_GRAIN_SMALL] = grain_of_managed(&g, page_bits, WPI_PAGE_BITS);
    grains[WPI_GRAIN_LARGE] = grain_of_managed(&g, page_bits, page_bits);
}

wp_status wpi_tlb_store_init(wpi_tlb_store *store, const wpi_tlb_profile *profile,
                             const wpi_grain *grains, uint64_t seed, wp_error *err) {
    *store = (wpi_tlb_store){.grains = grains};
    return wpi_tags_init(&store->tags, profile->set_ways, profile->set_count, profile->hash,
                         profile->replacement, seed, err);
}

void wpi_tlb_store_deinit(wpi_tlb_store *store) {
    wpi_tags_deinit(&store->tags);
    wpi_tlb_prefetch_deinit(&store->prefetch);
    *store = (wpi_tlb_store){0};
}

void wpi_tlb_store_clear(wpi_tlb_store *store) {
    wpi_tags_clear(&store->tags);
    if (store->prefetch.profile != NULL) wpi_tlb_prefetch_flush(&store->prefetch);
}

/* Reports dropped parts of an entry to the ring, fill by fill. */
static void tell_ring(const wpi_tlb_store *store, const wpi_tag_entry *entry, uint64_t parts) {
    if (store->ring == NULL) return;
    const wpi_grain *g = &store->grains[entry->note];
    for (parts &= entry->parts; parts != 0; parts &= parts - 1) {
        const uint64_t part = (uint64_t)__builtin_ctzll(parts) << g->fill_bits;
        const uint64_t address = (entry->tag << g->coverage_bits) + part;
        wpi_tlb_ring_forgot(store->ring, store->ring_number,
                            wpi_tlb_page(store->grains, entry->note, address));
    }
}

/* A fill that is a whole entry is known to have none, so it is not searched for. */
bool wpi_tlb_store_add(wpi_tlb_store *store, uint32_t grain, uint64_t address) {
    const wpi_grain *g = &store->grains[grain];
    const uint64_t tag = address >> g->coverage_bits;
    wpi_tag_entry evicted = {0};
    uint32_t entry =
        g->fill_bits < g->coverage_bits ? wpi_tags_find(&store->tags, tag) : WPI_INDEX_NONE;
    if (entry == WPI_INDEX_NONE) {
        entry = wpi_tags_insert(&store->tags, tag, &evicted);
        tell_ring(store, &evicted, UINT64_MAX);
        store->tags.entries[entry].note = grain;
    }
    store->tags.entries[entry].parts |= wpi_tlb_part(g, address);
    if (store->ring != NULL)
        wpi_tlb_ring_learned(store->ring, store->ring_number,
                             wpi_tlb_page(store->grains, grain, address));
    return evicted.parts != 0;
}

/* ---- forgetting ---- */

static void forget_parts(wpi_tlb_store *store, uint64_t tag, uint64_t parts) {
    const uint32_t entry = wpi_tags_find(&store->tags, tag);
    if (entry == WPI_INDEX_NONE) return;
    tell_ring(store, &store->tags.entries[entry], parts);
    store->tags.entries[entry].parts &= ~parts;
    if (store->tags.entries[entry].parts == 0) wpi_tags_remove(&store->tags, entry);
}

void wpi_tlb_store_forget(wpi_tlb_store *store, uint32_t grain, uint64_t address) {
    const wpi_grain *g = &store->grains[grain];
    forget_parts(store, address >> g->coverage_bits, wpi_tlb_part(g, address));
}

/* Small pages [first, outer) of the chunk, entry by entry. */
static void forget_run(wpi_tlb_store *store, uint64_t chunk, uint32_t first, uint32_t outer) {
    const wpi_grain *g = &store->grains[WPI_GRAIN_SMALL];
    uint64_t parts = 0;
    for (uint32_t i = first; i < outer; i++) {
        const uint64_t page = chunk + (uint64_t)i * WPI_PAGE_BYTES, next = page + WPI_PAGE_BYTES;
        parts |= wpi_tlb_part(g, page);
        if (i + 1 < outer && page >> g->coverage_bits == next >> g->coverage_bits) continue;
        forget_parts(store, page >> g->coverage_bits, parts);
        parts = 0;
    }
}

void wpi_tlb_store_forget_all(wpi_tlb_store *store, const wpi_paging_shot *shot) {
    for (uint32_t first = wpi_pages_next(shot->pages, 0), outer = 0; first < WPI_CHUNK_PAGES;
         first = wpi_pages_next(shot->pages, outer)) {
        outer = wpi_pages_run_end(shot->pages, first);
        forget_run(store, shot->address, first, outer);
    }
    wpi_tlb_store_forget(store, WPI_GRAIN_LARGE, shot->address);
}

void wpi_tlb_store_forget_ahead(wpi_tlb_store *store, const wpi_paging_shot *shot) {
    for (uint32_t page = wpi_pages_next(shot->pages, 0); page < WPI_CHUNK_PAGES;
         page = wpi_pages_next(shot->pages, page + 1)) {
        const uint64_t address = shot->address + (uint64_t)page * WPI_PAGE_BYTES;
        wpi_tlb_prefetch_forget(&store->prefetch,
                                wpi_tlb_page(store->grains, WPI_GRAIN_SMALL, address));
    }
    wpi_tlb_prefetch_forget(&store->prefetch,
                            wpi_tlb_page(store->grains, WPI_GRAIN_LARGE, shot->address));
}

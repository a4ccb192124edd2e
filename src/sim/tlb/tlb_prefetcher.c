/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/tlb/tlb_prefetcher.h"

#include "base/alloc.h"

static const wpi_tlb_prefetch_ops *ops_of(const wpi_profile *profile) {
    return profile->tlb_prefetch.policy->ops;
}

bool wpi_tlb_prefetch_is_on(const wpi_profile *profile) {
    return ops_of(profile)->choose != NULL;
}

wp_status wpi_tlb_prefetch_init(wpi_tlb_prefetch *prefetch, const wpi_profile *profile,
                                wp_error *err) {
    *prefetch = (wpi_tlb_prefetch){.profile = profile};
    const uint32_t regions = profile->tlb_prefetch.table_entries;
    WP_TRY(wpi_tags_init(&prefetch->table, &regions, 1, WPI_HASH_MODULO,
                         &wpi_policy_replacement_lru, 1, err));
    WP_TRY(wpi_tags_init(&prefetch->buffer, &profile->tlb_prefetch.buffer_entries, 1,
                         WPI_HASH_MODULO, &wpi_policy_replacement_lru, 1, err));
    prefetch->regions = wpi_calloc(regions, sizeof *prefetch->regions);
    if (prefetch->regions == NULL) return WP_FAIL(err, NOMEM, "a table of %u regions", regions);
    return WP_STATUS_OK;
}

void wpi_tlb_prefetch_deinit(wpi_tlb_prefetch *prefetch) {
    wpi_tags_deinit(&prefetch->table);
    wpi_tags_deinit(&prefetch->buffer);
    wpi_free(prefetch->regions);
    *prefetch = (wpi_tlb_prefetch){0};
}

void wpi_tlb_prefetch_flush(wpi_tlb_prefetch *prefetch) {
    wpi_tags_clear(&prefetch->table);
    wpi_tags_clear(&prefetch->buffer);
}

static wpi_tlb_region *region_of(wpi_tlb_prefetch *prefetch, uint64_t page) {
    const uint64_t tag = page / prefetch->profile->tlb_prefetch.region_pages;
    uint32_t entry = wpi_tags_find(&prefetch->table, tag);
    if (entry != WPI_INDEX_NONE) {
        wpi_tags_touch(&prefetch->table, entry);
        return &prefetch->regions[entry];
    }
    entry = wpi_tags_insert(&prefetch->table, tag, NULL);
    prefetch->table.entries[entry].parts = 1;
    prefetch->regions[entry] = (wpi_tlb_region){.last = page};
    return &prefetch->regions[entry];
}

uint32_t wpi_tlb_prefetch_choose(wpi_tlb_prefetch *prefetch, uint64_t page,
                                 uint64_t pages[WPI_TLB_PREFETCH_MAX]) {
    wpi_tlb_region *region = region_of(prefetch, page);
    const wpi_tlb_prefetch_question question = {.uses = ++region->uses,
                                                .stride = (int64_t)(page - region->last),
                                                .threshold =
                                                    prefetch->profile->tlb_prefetch.threshold,
                                                .degree = prefetch->profile->tlb_prefetch.degree};
    int64_t offsets[WPI_TLB_PREFETCH_MAX];
    const uint32_t count = ops_of(prefetch->profile)->choose(&question, offsets);
    region->last = page;
    for (uint32_t i = 0; i < count; i++)
        pages[i] = page + (uint64_t)offsets[i];
    return count;
}

bool wpi_tlb_prefetch_has(const wpi_tlb_prefetch *prefetch, uint64_t page) {
    return wpi_tags_find(&prefetch->buffer, page) != WPI_INDEX_NONE;
}

void wpi_tlb_prefetch_forget(wpi_tlb_prefetch *prefetch, uint64_t page) {
    const uint32_t entry = wpi_tags_find(&prefetch->buffer, page);
    if (entry != WPI_INDEX_NONE) wpi_tags_remove(&prefetch->buffer, entry);
}

bool wpi_tlb_prefetch_use(wpi_tlb_prefetch *prefetch, uint64_t page) {
    if (!wpi_tlb_prefetch_has(prefetch, page)) return false;
    wpi_tlb_prefetch_forget(prefetch, page);
    prefetch->used++;
    return true;
}

void wpi_tlb_prefetch_keep(wpi_tlb_prefetch *prefetch, uint64_t page) {
    const uint32_t entry = wpi_tags_insert(&prefetch->buffer, page, NULL);
    prefetch->buffer.entries[entry].parts = 1;
    prefetch->fetched++;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/tlb/itlb.h"

#include "base/alloc.h"

typedef struct miss {
    uint64_t address;
    uint32_t sm;
    wpi_time_ps since;
    wpi_fetched done;
    void *object;
} miss;

static miss *miss_of(const wpi_itlb *itlb, uint64_t number) {
    return &((miss *)itlb->misses.items)[number];
}

wp_status wpi_itlb_init(wpi_itlb *itlb, wpi_engine *engine, const wpi_profile *profile,
                        wpi_itlb_ask ask, void *translation, wp_error *err) {
    *itlb = (wpi_itlb){.profile = profile,
                       .engine = engine,
                       .ask = ask,
                       .translation = translation,
                       .page_bits = (uint32_t)__builtin_ctzll(profile->page_bytes),
                       .next_place = WPI_CODE_FIRST};
    if (!profile->itlb.is_on) return WP_STATUS_OK;
    itlb->tags = wpi_calloc(profile->sm_count, sizeof *itlb->tags);
    if (itlb->tags == NULL) return WP_FAIL(err, NOMEM, "%u instruction TLBs", profile->sm_count);
    for (uint32_t i = 0; i < profile->sm_count; i++)
        WP_TRY(wpi_tags_init(&itlb->tags[i], &profile->itlb.entries, 1, WPI_HASH_MODULO,
                             &wpi_policy_replacement_lru, 1, err));
    return WP_STATUS_OK;
}

void wpi_itlb_deinit(wpi_itlb *itlb) {
    for (uint32_t i = 0; itlb->tags != NULL && i < itlb->profile->sm_count; i++)
        wpi_tags_deinit(&itlb->tags[i]);
    wpi_free(itlb->tags);
    while (itlb->codes != NULL) {
        wpi_code *code = itlb->codes;
        itlb->codes = code->next;
        wpi_free(code);
    }
    wpi_pool_deinit(&itlb->misses);
    *itlb = (wpi_itlb){0};
}

/* ---- where code lies ---- */

static uint64_t instructions_of(const wp_trace_tables *tables, const wp_trace_block *block) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < block->step_count; i++) {
        const wp_trace_step *step = &tables->steps[block->first_step + i];
        if (step->op == WP_TRACE_ISSUE) count += step->count;
        if (step->op == WP_TRACE_ACCESS) count++;
    }
    return count;
}

wp_status wpi_itlb_place(wpi_itlb *itlb, const wp_trace_tables *tables, const wpi_code **out,
                         wp_error *err) {
    *out = NULL;
    if (itlb->tags == NULL) return WP_STATUS_OK;
    for (wpi_code *code = itlb->codes; code != NULL; code = code->next) {
        if (code->tables == tables && code->block_count == tables->block_count) *out = code;
    }
    if (*out != NULL) return WP_STATUS_OK;
    const size_t count = (size_t)tables->block_count + 1;
    wpi_code *code = wpi_malloc(sizeof *code + count * sizeof code->places[0]);
    if (code == NULL) return WP_FAIL(err, NOMEM, "places of a program's code");
    code->tables = tables;
    code->block_count = tables->block_count;
    code->places[0] = itlb->next_place;
    for (uint32_t b = 0; b < tables->block_count; b++)
        code->places[b + 1] = code->places[b] + instructions_of(tables, &tables->blocks[b]) *
                                                    itlb->profile->itlb.instruction_bytes;
    const uint64_t page = itlb->profile->page_bytes;
    itlb->next_place = (code->places[tables->block_count] + page - 1) / page * page;
    code->next = itlb->codes;
    itlb->codes = code;
    *out = code;
    return WP_STATUS_OK;
}

/* ---- fetching ---- */

bool wpi_itlb_fetch(wpi_itlb *itlb, uint32_t sm, uint64_t address, wpi_time_ps now,
                    wpi_fetched done, void *object) {
    wpi_tags *tags = &itlb->tags[sm];
    const uint32_t entry = wpi_tags_find(tags, address >> itlb->page_bits);
    if (entry != WPI_INDEX_NONE) {
        wpi_tags_touch(tags, entry);
        itlb->hit_count++;
        return true;
    }
    itlb->miss_count++;
    const uint32_t number = wpi_pool_take(&itlb->misses, sizeof(miss));
    *miss_of(itlb, number) = (miss){address, sm, now, done, object};
    itlb->ask(itlb->translation, sm, address, number, now + itlb->profile->itlb.latency_ps);
    return false;
}

void wpi_itlb_translated(wpi_itlb *itlb, uint64_t token, wpi_time_ps ready) {
    const miss m = *miss_of(itlb, token);
    wpi_pool_give(&itlb->misses, (uint32_t)token);
    wpi_tags *tags = &itlb->tags[m.sm];
    const uint64_t tag = m.address >> itlb->page_bits;
    if (wpi_tags_find(tags, tag) == WPI_INDEX_NONE) /* another warp's miss may have brought it */
        tags->entries[wpi_tags_insert(tags, tag, NULL)].parts = 1;
    itlb->wait_ps += ready - m.since;
    m.done(m.object, m.address, ready);
}

void wpi_itlb_flush(wpi_itlb *itlb) {
    for (uint32_t i = 0; itlb->tags != NULL && i < itlb->profile->sm_count; i++)
        wpi_tags_clear(&itlb->tags[i]);
}

void wpi_itlb_statistics(const wpi_itlb *itlb, wpi_visit visit, void *object) {
    wpi_visit_value(visit, object, "itlb.", "hits", "fetches", itlb->hit_count);
    wpi_visit_value(visit, object, "itlb.", "misses", "fetches", itlb->miss_count);
    wpi_visit_value(visit, object, "itlb.", "wait", "ps", itlb->wait_ps);
}

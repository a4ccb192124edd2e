/* SPDX-License-Identifier: Apache-2.0 */
/* A request is one record from the SM to its answer. It is held by an MSHR or the queue of a TLB,
 * by an event on its way to the next level, or by a walk. Beyond the first level it stands for all
 * requests that wait at its MSHR in the level before, which continue when it is filled.
 * tlb_lookup.c has the way to the walkers, this file the way back. */
#include "sim/tlb/itlb.h"
#include "sim/tlb/tlb_parts.h"

#define NONE WPI_FIFO_NONE

/* ---- the way back ---- */

static void give_back(wpi_translation *t, uint32_t number, const wpi_translation_answer *answer) {
    const wpi_tlb_request *r = wpi_tlb_request_of(t, number);
    const uint64_t token = r->token;
    if (r->entry == 0 && !r->is_prefetch) {
        t->translation_ps += answer->ready - r->asked;
        wpi_utilisation_add(&t->waiting, r->asked, answer->ready);
    }
    const bool is_prefetch = r->is_prefetch;
    wpi_pool_give(&t->requests, number);
    if (is_prefetch) return;
    t->under_way--;
    t->translated(t->object, token, answer);
}

static void fill(wpi_translation *t, uint32_t level_number, uint32_t number,
                 const wpi_translation_answer *answer);

/* A request has its translation from level `from` (the walkers: level_count). Fills the level
 * before, and answers all requests that wait there. */
static void go_back(wpi_translation *t, uint32_t number, uint32_t from,
                    const wpi_translation_answer *answer) {
    if (from == wpi_tlb_request_of(t, number)->entry)
        give_back(t, number, answer);
    else
        fill(t, from - 1, number, answer);
}

/* Frees the MSHR of a request that has returned. Returns the requests that joined it. */
static wpi_fifo give_mshr(const wpi_tlb_level *l, wpi_tlb *at, const wpi_tlb_request *r) {
    at->used--;
    if (!l->profile->is_merging) return WPI_FIFO_EMPTY;
    const uint32_t own =
        wpi_index_take(&at->fills, r->address >> wpi_tlb_grain_of(l, r)->fill_bits);
    const wpi_fifo joined = *wpi_tlb_joined_of(at, own);
    wpi_pool_give(&at->joined, own);
    return joined;
}

static void fill(wpi_translation *t, uint32_t level_number, uint32_t number,
                 const wpi_translation_answer *answer) {
    wpi_tlb_level *l = &t->levels[level_number];
    const wpi_tlb_request *r = wpi_tlb_request_of(t, number);
    wpi_tlb *at = wpi_tlb_of(t, level_number, r->sm);
    wpi_fifo joined = give_mshr(l, at, r);
    const bool is_elsewhere = answer->is_remote && !t->profile->paging.fills_remote;
    if (is_elsewhere || answer->is_broken || (answer->is_passing && level_number == 0)) {
        /* not stored */
    } else if (r->is_prefetch && wpi_fifo_is_empty(&joined)) {
        wpi_tlb_prefetch_keep(&at->store.prefetch, wpi_tlb_page_of(l, r));
    } else {
        wpi_tlb_keep(l, at, r);
        if (level_number == 0 && r->grain != WPI_GRAIN_MEMORY)
            wpi_paging_known(t->paging, r->address, r->grain == WPI_GRAIN_LARGE,
                             (uint32_t)(at - l->tlbs));
    }
    go_back(t, number, level_number, answer);
    while (!wpi_fifo_is_empty(&joined))
        go_back(t, wpi_fifo_take_first(&joined, wpi_tlb_request_links(t)), level_number, answer);
    wpi_tlb_drain(t, level_number, at, answer->ready);
}

static bool is_broken(const wpi_translation *t, const wpi_tlb_request *r) {
    return r->grain == WPI_GRAIN_LARGE && !wpi_paging_is_large(t->paging, r->address);
}

/* Answers the request and all that joined it, and only then releases the page for eviction. */
static void finish(wpi_translation *t, uint32_t number, uint32_t from,
                   const wpi_translation_answer *answer) {
    const uint64_t address = wpi_tlb_request_of(t, number)->address;
    const bool is_held = wpi_tlb_request_of(t, number)->is_held;
    go_back(t, number, from, answer);
    if (is_held) wpi_paging_release(t->paging, address, answer->ready);
}

/* A hit, one latency after its look-up. */
void wpi_tlb_answer(void *object, uint64_t token, wpi_time_ps now) {
    wpi_translation *t = object;
    const uint32_t level_number = (uint32_t)token & 0xff;
    const uint32_t number = (uint32_t)(token >> 8);
    const wpi_translation_answer found = {.ready = now,
                                          .lookup_ps = t->levels[level_number].latency_sum,
                                          .is_broken = is_broken(t, wpi_tlb_request_of(t, number))};
    finish(t, number, level_number, &found);
}

/* ---- first levels that ask each other ---- */

static bool ring_has(void *object, uint32_t tlb_number, uint64_t page) {
    const wpi_translation *t = object;
    const wpi_tlb_level *l = &t->levels[0];
    return wpi_tlb_store_find(&l->tlbs[tlb_number].store, wpi_tlb_page_grain(page),
                              wpi_tlb_page_address(l->grains, page)) != WPI_INDEX_NONE;
}

static bool ring_use(void *object, uint32_t tlb_number, uint32_t number) {
    wpi_translation *t = object;
    wpi_tlb_request *r = wpi_tlb_request_of(t, number);
    if (!wpi_tlb_store_use(&t->levels[0].tlbs[tlb_number].store, r->grain, r->address))
        return false;
    wpi_tlb_hold(t, r);
    return true;
}

static void ring_answered(void *object, uint32_t number, bool is_stored, wpi_time_ps lookup_ps,
                          wpi_time_ps now) {
    wpi_translation *t = object;
    const wpi_translation_answer found = {.ready = now,
                                          .lookup_ps = lookup_ps,
                                          .is_passing = !is_stored,
                                          .is_broken = is_broken(t, wpi_tlb_request_of(t, number))};
    finish(t, number, 1, &found);
}

static void ring_passed(void *object, uint32_t number, wpi_time_ps now) {
    wpi_tlb_arrive(object, wpi_tlb_pack(number, 1), now);
}

wpi_tlb_ring_owner wpi_tlb_ring_calls(wpi_translation *t) {
    return (wpi_tlb_ring_owner){t, ring_has, ring_use, ring_answered, ring_passed};
}

/* ---- pages that are elsewhere ---- */

/* Asks paging where the page is. False: it is a far fault, and the request waits. */
static bool find_page(wpi_translation *t, uint32_t number, bool *is_remote, wpi_time_ps now) {
    wpi_tlb_request *r = wpi_tlb_request_of(t, number);
    const wpi_paging_asker asker = {r->address, number, r->sm, r->is_write, r->counts};
    const wpi_paging_answer found = wpi_paging_ask(t->paging, &asker, now);
    *is_remote = found == WPI_PAGING_REMOTE;
    if (found != WPI_PAGING_WAITS) return true;
    wpi_tlb_request_of(t, number)->stalled = now;
    wpi_tlb_of(t, 0, asker.sm)->faults++;
    return false;
}

void wpi_translation_replay(wpi_translation *t, uint64_t token, bool is_held, wpi_time_ps now) {
    const uint32_t number = (uint32_t)token;
    wpi_tlb_request *r = wpi_tlb_request_of(t, number);
    wpi_tlb *at = wpi_tlb_of(t, 0, r->sm);
    r->is_held = is_held;
    r->fault_ps += now - r->stalled;
    at->faults--;
    wpi_walkers_promise(&t->walkers);
    wpi_tlb_ask_walkers(t, number, now);
    if (t->profile->paging.on_fault != WPI_ON_FAULT_REPLAYS) wpi_tlb_drain(t, 0, at, now);
}

/* ---- walks ---- */

void wpi_tlb_walked(void *object, uint64_t token, wpi_time_ps walk_ps, wpi_time_ps now) {
    wpi_translation *t = object;
    const uint32_t number = (uint32_t)token;
    const uint64_t address = wpi_tlb_request_of(t, number)->address;
    const bool is_code =
        address - WPI_CODE_FIRST < WPI_CODE_BYTES; /* code belongs to no allocation */
    if (t->watch != NULL && !is_code) wpi_watch_walk(t->watch, address);
    wpi_line_add(wpi_tlb_request_of(t, number)->counts, WP_RUN_LINE_WALKS, 1);
    wpi_translation_answer found = {.ready = now,
                                    .lookup_ps =
                                        t->levels[t->level_count - 1].latency_sum + walk_ps,
                                    .is_broken = is_broken(t, wpi_tlb_request_of(t, number))};
    const bool is_prefetch = wpi_tlb_request_of(t, number)->is_prefetch;
    if (is_prefetch && wpi_tlb_is_managed(t, address) && !wpi_paging_is_here(t->paging, address))
        found.is_broken = true; /* it was evicted during the walk; requests that joined ask again */
    const bool is_found = found.is_broken || is_prefetch || !wpi_tlb_is_managed(t, address) ||
                          find_page(t, number, &found.is_remote, now);
    found.fault_ps = wpi_tlb_request_of(t, number)->fault_ps;
    if (is_found) finish(t, number, t->level_count, &found);
    wpi_tlb_feed_starved(t, now);
}

/* A walk ends soon: prefetches its request, then (`is_near`) the entries that it fills, into the
 * host's caches. */
void wpi_tlb_expect_walk(void *object, uint64_t token, bool is_near) {
    const wpi_translation *t = object;
    const wpi_tlb_request *r = wpi_tlb_request_of(t, (uint32_t)token);
    if (!is_near) {
        __builtin_prefetch(r);
        t->expected(t->object, token >> 32);
        return;
    }
    if (t->paging != NULL) wpi_paging_expect(t->paging, r->address, WPI_PAGING_ASK);
    for (uint32_t i = r->entry; i < t->level_count; i++) {
        const wpi_tlb_level *l = &t->levels[i];
        const wpi_grain *g = wpi_tlb_grain_of(l, r);
        const wpi_tlb *at = &l->tlbs[l->group_of[r->sm]];
        wpi_index_prefetch(&at->fills, r->address >> g->fill_bits);
        wpi_index_prefetch(&at->store.tags.index, r->address >> g->coverage_bits);
    }
}

void wpi_translation_prefetch(const wpi_translation *t, uint32_t sm, uint64_t address) {
    const wpi_tlb_level *l = &t->levels[0];
    const wpi_grain *g = &l->grains[wpi_tlb_grain_number(t, address)];
    const wpi_tlb *at = wpi_tlb_of(t, 0, sm);
    wpi_index_prefetch(&at->store.tags.index, address >> g->coverage_bits);
    wpi_index_prefetch(&at->fills, address >> g->fill_bits);
}

bool wpi_translation_ask(wpi_translation *t, const wpi_translation_asker *asker, wpi_time_ps now,
                         wpi_time_ps *ready) {
    const uint32_t number = wpi_pool_take(&t->requests, sizeof(wpi_tlb_request));
    *wpi_tlb_request_of(t, number) =
        (wpi_tlb_request){.address = asker->address,
                          .token = asker->token,
                          .sm = (uint16_t)asker->sm,
                          .grain = wpi_tlb_grain_number(t, asker->address),
                          .is_write = asker->is_write,
                          .counts = asker->counts,
                          .asked = now,
                          .next = NONE};
    wpi_time_ps looked_up = 0;
    if (wpi_tlb_offer(t, number, 0, now, &looked_up) == WPI_TLB_HIT) {
        wpi_pool_give(&t->requests, number);
        *ready = looked_up + t->levels[0].profile->latency_ps;
        t->translation_ps += *ready - now;
        return true;
    }
    t->under_way++;
    return false;
}

void wpi_translation_ask_second(wpi_translation *t, uint32_t sm, uint64_t address, uint64_t token,
                                wpi_time_ps now) {
    const uint32_t number = wpi_pool_take(&t->requests, sizeof(wpi_tlb_request));
    *wpi_tlb_request_of(t, number) = (wpi_tlb_request){
        .address = address, .token = token, .sm = (uint16_t)sm, .entry = 1, .next = NONE};
    t->under_way++;
    wpi_engine_at(t->engine, now, wpi_tlb_arrive, t, wpi_tlb_pack(number, 1));
}

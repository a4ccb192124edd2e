/* SPDX-License-Identifier: Apache-2.0 */
/* A request arrives at a TLB: it hits, joins an outstanding miss, misses, or stalls in the
 * queue. */
#include "sim/tlb/tlb_parts.h"

void wpi_tlb_keep(wpi_tlb_level *l, wpi_tlb *at, const wpi_tlb_request *r) {
    /* If misses do not merge, another miss may have stored it. */
    if (!l->profile->is_merging && wpi_tlb_store_use(&at->store, r->grain, r->address)) return;
    l->evictions += wpi_tlb_store_add(&at->store, r->grain, r->address);
}

static bool is_last(const wpi_translation *t, uint32_t level_number) {
    return level_number + 1 == t->level_count;
}

/* A walk's token also has the low half of the request's token, for wpi_expected. */
void wpi_tlb_ask_walkers(wpi_translation *t, uint32_t number, wpi_time_ps time) {
    const wpi_tlb_request *r = wpi_tlb_request_of(t, number);
    wpi_walkers_ask(&t->walkers, r->address, (uint64_t)(uint32_t)r->token << 32 | number, time);
}

/* ---- misses ---- */

/* A miss leaves for the next level. */
static void send(wpi_translation *t, uint32_t number, uint32_t level_number,
                 wpi_time_ps looked_up) {
    const wpi_time_ps there = looked_up + t->levels[level_number].profile->latency_ps;
    if (is_last(t, level_number) && wpi_walkers_are_idle(&t->walkers))
        wpi_tlb_ask_walkers(t, number, there);
    else
        wpi_engine_at(t->engine, there, wpi_tlb_arrive, t, wpi_tlb_pack(number, level_number + 1));
}

static void starve(wpi_translation *t, wpi_tlb *at) {
    const wpi_tlb_level *last = &t->levels[t->level_count - 1];
    const uint32_t number = (uint32_t)(at - last->tlbs);
    if (at->is_starved) return;
    at->is_starved = true;
    wpi_fifo_append(&t->starved, wpi_tlb_starving(t), number);
}

/* Requests of this TLB wait for far faults, and paging.on_fault restricts the TLB at least as
 * `least` does. */
static bool waits_for_pages(const wpi_translation *t, const wpi_tlb *at, wpi_on_fault least) {
    return at->faults > 0 && t->profile->paging.on_fault >= (uint32_t)least;
}

static void take_mshr(wpi_translation *t, uint32_t number, uint32_t level_number, wpi_tlb *at) {
    const wpi_tlb_level *l = &t->levels[level_number];
    const wpi_tlb_request *r = wpi_tlb_request_of(t, number);
    at->used++;
    if (l->profile->is_merging) {
        const uint32_t own = wpi_pool_take(&at->joined, sizeof(wpi_fifo));
        *wpi_tlb_joined_of(at, own) = WPI_FIFO_EMPTY;
        wpi_index_add(&at->fills, r->address >> wpi_tlb_grain_of(l, r)->fill_bits, own);
    }
    if (is_last(t, level_number)) wpi_walkers_promise(&t->walkers);
}

/* ---- prefetching ---- */

/* The page is neither stored nor outstanding, and its walk delays no other. */
static bool is_worth_fetching(const wpi_translation *t, const wpi_tlb_level *l, const wpi_tlb *at,
                              const wpi_tlb_request *r) {
    const wpi_grain *g = wpi_tlb_grain_of(l, r);
    return wpi_tlb_has_mshr(l, at) && wpi_walkers_are_free(&t->walkers) &&
           r->grain == wpi_tlb_grain_number(t, r->address) &&
           (r->grain == WPI_GRAIN_MEMORY || wpi_paging_is_here(t->paging, r->address)) &&
           wpi_tlb_store_find(&at->store, r->grain, r->address) == WPI_INDEX_NONE &&
           wpi_index_find(&at->fills, r->address >> g->fill_bits) == WPI_INDEX_NONE &&
           !wpi_tlb_prefetch_has(&at->store.prefetch, wpi_tlb_page_of(l, r));
}

static void fetch_ahead(wpi_translation *t, uint32_t number, uint32_t level_number, wpi_tlb *at,
                        wpi_time_ps looked_up) {
    const wpi_tlb_level *l = &t->levels[level_number];
    wpi_tlb_request ahead = *wpi_tlb_request_of(t, number);
    uint64_t pages[WPI_TLB_PREFETCH_MAX];
    const uint32_t count =
        wpi_tlb_prefetch_choose(&at->store.prefetch, wpi_tlb_page_of(l, &ahead), pages);
    ahead.entry = (uint8_t)level_number;
    ahead.is_prefetch = true;
    ahead.counts = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (wpi_tlb_page_grain(pages[i]) != ahead.grain)
            continue; /* beyond the first page, for example */
        ahead.address = wpi_tlb_page_address(l->grains, pages[i]);
        if (!is_worth_fetching(t, l, at, &ahead)) continue;
        const uint32_t own = wpi_pool_take(&t->requests, sizeof(wpi_tlb_request));
        *wpi_tlb_request_of(t, own) = ahead;
        take_mshr(t, own, level_number, at);
        send(t, own, level_number, looked_up);
    }
}

/* Queries another TLB of the first level before the next level. */
static bool is_asked_around(wpi_translation *t, uint32_t number, uint32_t level_number, wpi_tlb *at,
                            wpi_time_ps looked_up) {
    if (at->store.ring == NULL) return false;
    const uint64_t page = wpi_tlb_page_of(&t->levels[level_number], wpi_tlb_request_of(t, number));
    return wpi_tlb_ring_ask(at->store.ring, at->store.ring_number, page, number, looked_up);
}

static wpi_tlb_outcome miss(wpi_translation *t, uint32_t number, uint32_t level_number, wpi_tlb *at,
                            wpi_time_ps looked_up) {
    const wpi_tlb_level *l = &t->levels[level_number];
    const wpi_tlb_request *r = wpi_tlb_request_of(t, number);
    const uint32_t known =
        wpi_index_find(&at->fills, r->address >> wpi_tlb_grain_of(l, r)->fill_bits);
    if (known != WPI_INDEX_NONE) { /* never, where misses do not merge */
        wpi_fifo_append(wpi_tlb_joined_of(at, known), wpi_tlb_request_links(t), number);
        return WPI_TLB_JOINED;
    }
    if (!wpi_tlb_has_mshr(l, at) || waits_for_pages(t, at, WPI_ON_FAULT_HITS))
        return WPI_TLB_STALLED;
    if (is_last(t, level_number) && !wpi_walkers_have_room(&t->walkers)) {
        starve(t, at);
        return WPI_TLB_STALLED;
    }
    take_mshr(t, number, level_number, at);
    if (!is_asked_around(t, number, level_number, at, looked_up))
        send(t, number, level_number, looked_up);
    if (at->store.prefetch.profile != NULL) fetch_ahead(t, number, level_number, at, looked_up);
    return WPI_TLB_SENT;
}

/* ---- look-up ---- */

static bool is_blocked(const wpi_translation *t, const wpi_tlb_level *l, const wpi_tlb *at) {
    return (!l->profile->is_hit_under_miss && at->used > 0) ||
           waits_for_pages(t, at, WPI_ON_FAULT_BLOCKS);
}

/* The first use of a prefetched translation: it moves from the buffer into the TLB. */
static bool is_fetched_ahead(wpi_translation *t, uint32_t number, uint32_t level_number,
                             wpi_tlb *at, wpi_time_ps looked_up) {
    wpi_tlb_level *l = &t->levels[level_number];
    const wpi_tlb_request *r = wpi_tlb_request_of(t, number);
    if (!wpi_tlb_prefetch_use(&at->store.prefetch, wpi_tlb_page_of(l, r))) return false;
    wpi_tlb_keep(l, at, r);
    fetch_ahead(t, number, level_number, at, looked_up);
    return true;
}

/* Looks a request up; *looked_up is the time at which it got a port. */
static wpi_tlb_outcome look_up(wpi_translation *t, uint32_t number, uint32_t level_number,
                               wpi_tlb *at, wpi_time_ps now, wpi_time_ps *looked_up) {
    wpi_tlb_level *l = &t->levels[level_number];
    const wpi_tlb_request *r = wpi_tlb_request_of(t, number);
    *looked_up = now;
    if (is_blocked(t, l, at)) return WPI_TLB_STALLED;
    *looked_up = wpi_ports_take(&at->ports, now);
    wpi_histogram_add(&l->wait_ps, *looked_up - now);
    if (wpi_tlb_store_use(&at->store, r->grain, r->address)) return WPI_TLB_HIT;
    if (at->store.prefetch.profile != NULL &&
        is_fetched_ahead(t, number, level_number, at, *looked_up))
        return WPI_TLB_HIT;
    return miss(t, number, level_number, at, *looked_up);
}

static void count(wpi_translation *t, uint32_t number, uint32_t level_number, const wpi_tlb *at,
                  wpi_tlb_outcome o) {
    wpi_tlb_level *l = &t->levels[level_number];
    if (at->store.ring != NULL && o != WPI_TLB_STALLED)
        wpi_tlb_ring_note(at->store.ring, at->store.ring_number,
                          wpi_tlb_page_of(l, wpi_tlb_request_of(t, number)));
    wpi_line_count *counts = wpi_tlb_request_of(t, number)->counts;
    switch (o) {
    case WPI_TLB_HIT:
        l->hits++;
        wpi_line_add(counts, WP_RUN_LINE_TLB_HITS + level_number, 1);
        break;
    case WPI_TLB_JOINED:
        l->merges++;
        wpi_line_add(counts, WP_RUN_LINE_TLB_MERGES + level_number, 1);
        break;
    case WPI_TLB_SENT:
        l->misses++;
        wpi_line_add(counts, WP_RUN_LINE_TLB_MISSES + level_number, 1);
        break;
    case WPI_TLB_STALLED: break;
    }
}

wpi_tlb_outcome wpi_tlb_offer(wpi_translation *t, uint32_t number, uint32_t level_number,
                              wpi_time_ps now, wpi_time_ps *looked_up) {
    wpi_tlb_level *l = &t->levels[level_number];
    wpi_tlb *at = wpi_tlb_of(t, level_number, wpi_tlb_request_of(t, number)->sm);
    const wpi_tlb_outcome o = look_up(t, number, level_number, at, now, looked_up);
    count(t, number, level_number, at, o);
    if (o == WPI_TLB_STALLED) {
        l->stalls++;
        wpi_tlb_request_of(t, number)->stalled = now;
        wpi_fifo_append(&at->line, wpi_tlb_request_links(t), number);
    }
    return o;
}

void wpi_tlb_hold(wpi_translation *t, wpi_tlb_request *r) {
    r->is_held = wpi_tlb_is_managed(t, r->address) && wpi_paging_hold(t->paging, r->address, false);
}

static void hit_later(wpi_translation *t, uint32_t number, uint32_t level_number,
                      wpi_time_ps looked_up) {
    wpi_tlb_hold(t, wpi_tlb_request_of(t, number));
    wpi_engine_at(t->engine, looked_up + t->levels[level_number].profile->latency_ps,
                  wpi_tlb_answer, t, wpi_tlb_pack(number, level_number));
}

void wpi_tlb_arrive(void *object, uint64_t token, wpi_time_ps now) {
    wpi_translation *t = object;
    const uint32_t number = (uint32_t)(token >> 8), level_number = (uint32_t)token & 0xff;
    if (level_number == t->level_count) {
        wpi_tlb_ask_walkers(t, number, now);
        return;
    }
    wpi_time_ps looked_up = 0;
    if (wpi_tlb_offer(t, number, level_number, now, &looked_up) == WPI_TLB_HIT)
        hit_later(t, number, level_number, looked_up);
}

/* ---- requests in line ---- */

void wpi_tlb_drain(wpi_translation *t, uint32_t level_number, wpi_tlb *at, wpi_time_ps now) {
    wpi_tlb_level *l = &t->levels[level_number];
    /* The first request may need an MSHR, so it is not looked up before one is free. */
    while (!wpi_fifo_is_empty(&at->line) && wpi_tlb_has_mshr(l, at)) {
        wpi_time_ps looked_up = 0;
        const uint32_t number = wpi_fifo_take_first(&at->line, wpi_tlb_request_links(t));
        const wpi_tlb_outcome o = look_up(t, number, level_number, at, now, &looked_up);
        count(t, number, level_number, at, o);
        if (o == WPI_TLB_STALLED) {
            wpi_fifo_put_first(&at->line, wpi_tlb_request_links(t), number);
            return;
        }
        const wpi_time_ps since = wpi_tlb_request_of(t, number)->stalled;
        if (now > since) l->stall_wait_ps += now - since;
        if (o == WPI_TLB_HIT) hit_later(t, number, level_number, looked_up);
    }
}

void wpi_tlb_feed_starved(wpi_translation *t, wpi_time_ps now) {
    wpi_tlb_level *last = &t->levels[t->level_count - 1];
    while (!wpi_fifo_is_empty(&t->starved) && wpi_walkers_have_room(&t->walkers)) {
        wpi_tlb *at = &last->tlbs[wpi_fifo_take_first(&t->starved, wpi_tlb_starving(t))];
        at->is_starved = false;
        wpi_tlb_drain(t, t->level_count - 1, at, now);
        if (at->is_starved) return;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A request is one record from the SM to its answer. Which level it is at follows from who holds
 * it: an MSHR or the line of a TLB, an event on its way to the next level, or a walk. At a level
 * above the first it stands for all requests that wait at its MSHR in the level before: when the
 * fill comes back, these go on. */
#include "sim/tlb/itlb.h"
#include "sim/tlb/tlb_parts.h"

#define NONE WPI_FIFO_NONE

/* What a look-up ends in. */
typedef enum outcome { HIT, SENT, JOINED, STALLED } outcome;

static void arrive(void *object, uint64_t number, wp_time_ps now);
static void answer(void *object, uint64_t number, wp_time_ps now);

/* ---- requests ---------------------------------------------------------------------------------
 */

static wpi_tlb_request *request_of(const wpi_translation *t, uint32_t number) {
    return &((wpi_tlb_request *)t->requests.items)[number];
}

static wpi_fifo_links requests(const wpi_translation *t) {
    return WPI_FIFO_LINKS(t->requests.items, wpi_tlb_request, next);
}

/* Events carry request and level. */
static uint64_t pack(uint32_t number, uint32_t level_number) {
    return (uint64_t)number << 8 | level_number;
}

static wpi_tlb *tlb_of(const wpi_translation *t, uint32_t level_number, uint32_t sm) {
    const wpi_tlb_level *l = &t->levels[level_number];
    return &l->tlbs[l->group_of[sm]];
}

/* ---- look-up ----------------------------------------------------------------------------------
 */

static bool is_managed(const wpi_translation *t, uint64_t address) {
    return t->paging != NULL && wpi_paging_has(t->paging, address);
}

static uint8_t grain_number(const wpi_translation *t, uint64_t address) {
    if (!is_managed(t, address)) return WPI_GRAIN_MEMORY;
    return wpi_paging_is_large(t->paging, address) ? WPI_GRAIN_LARGE : WPI_GRAIN_SMALL;
}

static const wpi_grain *grain_of(const wpi_tlb_level *l, const wpi_tlb_request *r) {
    return &l->grains[r->grain];
}

static uint64_t page_of(const wpi_tlb_level *l, const wpi_tlb_request *r) {
    return wpi_tlb_page(l->grains, r->grain, r->address);
}

static void add(wpi_tlb_level *l, wpi_tlb *at, const wpi_tlb_request *r) {
    /* Where misses do not merge, another one may have brought it. */
    if (!l->profile->is_merging && wpi_tlb_store_use(&at->store, r->grain, r->address)) return;
    l->evictions += wpi_tlb_store_add(&at->store, r->grain, r->address);
}

static bool is_last(const wpi_translation *t, uint32_t level_number) {
    return level_number + 1 == t->level_count;
}

/* A walk's token has the low half of the request's besides: for who may fetch ahead. */
static void ask_walkers(wpi_translation *t, uint32_t number, wp_time_ps time) {
    const wpi_tlb_request *r = request_of(t, number);
    wpi_walkers_ask(&t->walkers, r->address, (uint64_t)(uint32_t)r->token << 32 | number, time);
}

/* A miss leaves for the next level. */
static void send(wpi_translation *t, uint32_t number, uint32_t level_number, wp_time_ps looked_up) {
    const wp_time_ps there = looked_up + t->levels[level_number].profile->latency_ps;
    if (is_last(t, level_number) && wpi_walkers_are_idle(&t->walkers))
        ask_walkers(t, number, there);
    else
        wpi_engine_at(t->engine, there, arrive, t, pack(number, level_number + 1));
}

static wpi_fifo_links starving(const wpi_translation *t) {
    return WPI_FIFO_LINKS(t->levels[t->level_count - 1].tlbs, wpi_tlb, next_starved);
}

static void starve(wpi_translation *t, wpi_tlb *at) {
    const wpi_tlb_level *last = &t->levels[t->level_count - 1];
    const uint32_t number = (uint32_t)(at - last->tlbs);
    if (at->is_starved) return;
    at->is_starved = true;
    wpi_fifo_append(&t->starved, starving(t), number);
}

/* Pages are waited for that keep this TLB from more than `least`. */
static bool waits_for_pages(const wpi_translation *t, const wpi_tlb *at, wpi_on_fault least) {
    return at->faults > 0 && t->profile->paging.on_fault >= (uint32_t)least;
}

static wpi_fifo *joined_of(const wpi_tlb *at, uint32_t number) {
    return &((wpi_fifo *)at->joined.items)[number];
}

static bool has_mshr(const wpi_tlb_level *l, const wpi_tlb *at) {
    return l->profile->mshrs == 0 || at->used < l->profile->mshrs;
}

static void take_mshr(wpi_translation *t, uint32_t number, uint32_t level_number, wpi_tlb *at) {
    const wpi_tlb_level *l = &t->levels[level_number];
    const wpi_tlb_request *r = request_of(t, number);
    at->used++;
    if (l->profile->is_merging) {
        const uint32_t own = wpi_pool_take(&at->joined, sizeof(wpi_fifo));
        *joined_of(at, own) = WPI_FIFO_EMPTY;
        wpi_index_add(&at->fills, r->address >> grain_of(l, r)->fill_bits, own);
    }
    if (is_last(t, level_number)) wpi_walkers_promise(&t->walkers);
}

/* ---- translations that nobody has asked for yet ---- */

/* It is not there or on the way, and its walk delays nobody. */
static bool is_worth_fetching(const wpi_translation *t, const wpi_tlb_level *l, const wpi_tlb *at,
                              const wpi_tlb_request *r) {
    const wpi_grain *g = grain_of(l, r);
    return has_mshr(l, at) && wpi_walkers_are_free(&t->walkers) &&
           r->grain == grain_number(t, r->address) &&
           (r->grain == WPI_GRAIN_MEMORY || wpi_paging_is_here(t->paging, r->address)) &&
           wpi_tlb_store_find(&at->store, r->grain, r->address) == WPI_INDEX_NONE &&
           wpi_index_find(&at->fills, r->address >> g->fill_bits) == WPI_INDEX_NONE &&
           !wpi_tlb_prefetch_has(&at->store.prefetch, page_of(l, r));
}

static void fetch_ahead(wpi_translation *t, uint32_t number, uint32_t level_number, wpi_tlb *at,
                        wp_time_ps looked_up) {
    const wpi_tlb_level *l = &t->levels[level_number];
    wpi_tlb_request ahead = *request_of(t, number);
    uint64_t pages[WPI_TLB_PREFETCH_MAX];
    const uint32_t count = wpi_tlb_prefetch_choose(&at->store.prefetch, page_of(l, &ahead), pages);
    ahead.entry = (uint8_t)level_number;
    ahead.is_prefetch = true;
    for (uint32_t i = 0; i < count; i++) {
        if (wpi_tlb_page_grain(pages[i]) != ahead.grain) continue; /* before the first, say */
        ahead.address = wpi_tlb_page_address(l->grains, pages[i]);
        if (!is_worth_fetching(t, l, at, &ahead)) continue;
        const uint32_t own = wpi_pool_take(&t->requests, sizeof(wpi_tlb_request));
        *request_of(t, own) = ahead;
        take_mshr(t, own, level_number, at);
        send(t, own, level_number, looked_up);
    }
}

/* Another first level may be asked before the next one is. */
static bool is_asked_around(wpi_translation *t, uint32_t number, uint32_t level_number, wpi_tlb *at,
                            wp_time_ps looked_up) {
    if (at->store.ring == NULL) return false;
    const uint64_t page = page_of(&t->levels[level_number], request_of(t, number));
    return wpi_tlb_ring_ask(at->store.ring, at->store.ring_number, page, number, looked_up);
}

static outcome miss(wpi_translation *t, uint32_t number, uint32_t level_number, wpi_tlb *at,
                    wp_time_ps looked_up) {
    const wpi_tlb_level *l = &t->levels[level_number];
    const wpi_tlb_request *r = request_of(t, number);
    const uint32_t known = wpi_index_find(&at->fills, r->address >> grain_of(l, r)->fill_bits);
    if (known != WPI_INDEX_NONE) { /* never, where misses do not merge */
        wpi_fifo_append(joined_of(at, known), requests(t), number);
        return JOINED;
    }
    if (!has_mshr(l, at) || waits_for_pages(t, at, WPI_ON_FAULT_HITS)) return STALLED;
    if (is_last(t, level_number) && !wpi_walkers_have_room(&t->walkers)) {
        starve(t, at);
        return STALLED;
    }
    take_mshr(t, number, level_number, at);
    if (!is_asked_around(t, number, level_number, at, looked_up))
        send(t, number, level_number, looked_up);
    if (at->store.prefetch.profile != NULL) fetch_ahead(t, number, level_number, at, looked_up);
    return SENT;
}

static bool is_blocked(const wpi_translation *t, const wpi_tlb_level *l, const wpi_tlb *at) {
    return (!l->profile->is_hit_under_miss && at->used > 0) ||
           waits_for_pages(t, at, WPI_ON_FAULT_BLOCKS);
}

/* The first use of what was fetched ahead. */
static bool is_fetched_ahead(wpi_translation *t, uint32_t number, uint32_t level_number,
                             wpi_tlb *at, wp_time_ps looked_up) {
    wpi_tlb_level *l = &t->levels[level_number];
    const wpi_tlb_request *r = request_of(t, number);
    if (!wpi_tlb_prefetch_use(&at->store.prefetch, page_of(l, r))) return false;
    add(l, at, r);
    fetch_ahead(t, number, level_number, at, looked_up);
    return true;
}

/* Looks a request up; *looked_up is when its port was free. */
static outcome look_up(wpi_translation *t, uint32_t number, uint32_t level_number, wpi_tlb *at,
                       wp_time_ps now, wp_time_ps *looked_up) {
    wpi_tlb_level *l = &t->levels[level_number];
    const wpi_tlb_request *r = request_of(t, number);
    *looked_up = now;
    if (is_blocked(t, l, at)) return STALLED;
    *looked_up = wpi_ports_take(&at->ports, now);
    wpi_histogram_add(&l->wait_ps, *looked_up - now);
    if (wpi_tlb_store_use(&at->store, r->grain, r->address)) return HIT;
    if (at->store.prefetch.profile != NULL &&
        is_fetched_ahead(t, number, level_number, at, *looked_up))
        return HIT;
    return miss(t, number, level_number, at, *looked_up);
}

static void count(wpi_translation *t, uint32_t number, uint32_t level_number, const wpi_tlb *at,
                  outcome o) {
    wpi_tlb_level *l = &t->levels[level_number];
    if (at->store.ring != NULL && o != STALLED)
        wpi_tlb_ring_note(at->store.ring, at->store.ring_number, page_of(l, request_of(t, number)));
    switch (o) {
    case HIT: l->hits++; break;
    case JOINED: l->merges++; break;
    case SENT: l->misses++; break;
    case STALLED: break;
    }
}

/* A request arrives at a TLB, in order behind those that stalled there if it stalls too. */
static outcome offer(wpi_translation *t, uint32_t number, uint32_t level_number, wp_time_ps now,
                     wp_time_ps *looked_up) {
    wpi_tlb_level *l = &t->levels[level_number];
    wpi_tlb *at = tlb_of(t, level_number, request_of(t, number)->sm);
    const outcome o = look_up(t, number, level_number, at, now, looked_up);
    count(t, number, level_number, at, o);
    if (o == STALLED) {
        l->stalls++;
        request_of(t, number)->stalled = now;
        wpi_fifo_append(&at->line, requests(t), number);
    }
    return o;
}

/* The request's page must not leave before it has its answer. */
static void hold(wpi_translation *t, wpi_tlb_request *r) {
    r->is_held = is_managed(t, r->address) && wpi_paging_hold(t->paging, r->address, false);
}

static void hit_later(wpi_translation *t, uint32_t number, uint32_t level_number,
                      wp_time_ps looked_up) {
    hold(t, request_of(t, number));
    wpi_engine_at(t->engine, looked_up + t->levels[level_number].profile->latency_ps, answer, t,
                  pack(number, level_number));
}

static void arrive(void *object, uint64_t token, wp_time_ps now) {
    wpi_translation *t = object;
    const uint32_t number = (uint32_t)(token >> 8), level_number = (uint32_t)token & 0xff;
    if (level_number == t->level_count) {
        ask_walkers(t, number, now);
        return;
    }
    wp_time_ps looked_up = 0;
    if (offer(t, number, level_number, now, &looked_up) == HIT)
        hit_later(t, number, level_number, looked_up);
}

/* ---- the way back -----------------------------------------------------------------------------
 */

static void drain(wpi_translation *t, uint32_t level_number, wpi_tlb *at, wp_time_ps now) {
    wpi_tlb_level *l = &t->levels[level_number];
    /* The first one may need an MSHR: without a free one there is no need to look. */
    while (!wpi_fifo_is_empty(&at->line) && has_mshr(l, at)) {
        wp_time_ps looked_up = 0;
        const uint32_t number = wpi_fifo_take_first(&at->line, requests(t));
        const outcome o = look_up(t, number, level_number, at, now, &looked_up);
        count(t, number, level_number, at, o);
        if (o == STALLED) {
            wpi_fifo_put_first(&at->line, requests(t), number);
            return;
        }
        const wp_time_ps since = request_of(t, number)->stalled;
        if (now > since) l->stall_wait_ps += now - since;
        if (o == HIT) hit_later(t, number, level_number, looked_up);
    }
}

static void give_back(wpi_translation *t, uint32_t number, const wpi_translation_answer *answer) {
    const wpi_tlb_request *r = request_of(t, number);
    const uint64_t token = r->token;
    if (r->entry == 0 && !r->is_prefetch) t->translation_ps += answer->ready - r->asked;
    const bool is_prefetch = r->is_prefetch;
    wpi_pool_give(&t->requests, number);
    if (is_prefetch) return;
    t->under_way--;
    t->translated(t->object, token, answer);
}

static void fill(wpi_translation *t, uint32_t level_number, uint32_t number,
                 const wpi_translation_answer *answer);

/* A request has its translation from level `from` (the walkers: level_count): the level before
 * learns it, and with it all that wait there. */
static void go_back(wpi_translation *t, uint32_t number, uint32_t from,
                    const wpi_translation_answer *answer) {
    if (from == request_of(t, number)->entry)
        give_back(t, number, answer);
    else
        fill(t, from - 1, number, answer);
}

/* The MSHR of a request that has come back; returns who has waited for it. */
static wpi_fifo give_mshr(const wpi_tlb_level *l, wpi_tlb *at, const wpi_tlb_request *r) {
    at->used--;
    if (!l->profile->is_merging) return WPI_FIFO_EMPTY;
    const uint32_t own = wpi_index_take(&at->fills, r->address >> grain_of(l, r)->fill_bits);
    const wpi_fifo joined = *joined_of(at, own);
    wpi_pool_give(&at->joined, own);
    return joined;
}

static void fill(wpi_translation *t, uint32_t level_number, uint32_t number,
                 const wpi_translation_answer *answer) {
    wpi_tlb_level *l = &t->levels[level_number];
    const wpi_tlb_request *r = request_of(t, number);
    wpi_tlb *at = tlb_of(t, level_number, r->sm);
    wpi_fifo joined = give_mshr(l, at, r);
    const bool is_elsewhere = answer->is_remote && !t->profile->paging.fills_remote;
    if (is_elsewhere || answer->is_broken || (answer->is_passing && level_number == 0)) {
        /* it is not to be kept */
    } else if (r->is_prefetch && wpi_fifo_is_empty(&joined)) {
        wpi_tlb_prefetch_keep(&at->store.prefetch, page_of(l, r));
    } else {
        add(l, at, r);
        if (level_number == 0 && r->grain != WPI_GRAIN_MEMORY)
            wpi_paging_known(t->paging, r->address, r->grain == WPI_GRAIN_LARGE,
                             (uint32_t)(at - l->tlbs));
    }
    go_back(t, number, level_number, answer);
    while (!wpi_fifo_is_empty(&joined))
        go_back(t, wpi_fifo_take_first(&joined, requests(t)), level_number, answer);
    drain(t, level_number, at, answer->ready);
}

static bool is_broken(const wpi_translation *t, const wpi_tlb_request *r) {
    return r->grain == WPI_GRAIN_LARGE && !wpi_paging_is_large(t->paging, r->address);
}

/* The request, and all that wait for the same, have their answer; only then may the page leave. */
static void finish(wpi_translation *t, uint32_t number, uint32_t from,
                   const wpi_translation_answer *answer) {
    const uint64_t address = request_of(t, number)->address;
    const bool is_held = request_of(t, number)->is_held;
    go_back(t, number, from, answer);
    if (is_held) wpi_paging_release(t->paging, address, answer->ready);
}

/* A hit, a latency after its look-up. */
static void answer(void *object, uint64_t token, wp_time_ps now) {
    wpi_translation *t = object;
    const uint32_t level_number = (uint32_t)token & 0xff;
    const uint32_t number = (uint32_t)(token >> 8);
    const wpi_translation_answer found = {.ready = now,
                                          .lookup_ps = t->levels[level_number].latency_sum,
                                          .is_broken = is_broken(t, request_of(t, number))};
    finish(t, number, level_number, &found);
}

/* ---- first levels that ask each other ---------------------------------------------------------
 */

static bool ring_has(void *object, uint32_t tlb_number, uint64_t page) {
    const wpi_translation *t = object;
    const wpi_tlb_level *l = &t->levels[0];
    return wpi_tlb_store_find(&l->tlbs[tlb_number].store, wpi_tlb_page_grain(page),
                              wpi_tlb_page_address(l->grains, page)) != WPI_INDEX_NONE;
}

static bool ring_use(void *object, uint32_t tlb_number, uint32_t number) {
    wpi_translation *t = object;
    wpi_tlb_request *r = request_of(t, number);
    if (!wpi_tlb_store_use(&t->levels[0].tlbs[tlb_number].store, r->grain, r->address))
        return false;
    hold(t, r);
    return true;
}

static void ring_answered(void *object, uint32_t number, bool is_stored, wp_time_ps lookup_ps,
                          wp_time_ps now) {
    wpi_translation *t = object;
    const wpi_translation_answer found = {.ready = now,
                                          .lookup_ps = lookup_ps,
                                          .is_passing = !is_stored,
                                          .is_broken = is_broken(t, request_of(t, number))};
    finish(t, number, 1, &found);
}

static void ring_passed(void *object, uint32_t number, wp_time_ps now) {
    arrive(object, pack(number, 1), now);
}

wpi_tlb_ring_owner wpi_tlb_ring_calls(wpi_translation *t) {
    return (wpi_tlb_ring_owner){t, ring_has, ring_use, ring_answered, ring_passed};
}

/* ---- pages that are elsewhere -----------------------------------------------------------------
 */

/* Where the page is; false: the request waits for it. */
static bool find_page(wpi_translation *t, uint32_t number, bool *is_remote, wp_time_ps now) {
    wpi_tlb_request *r = request_of(t, number);
    const wpi_paging_asker asker = {r->address, number, r->sm, r->is_write};
    const wpi_paging_answer found = wpi_paging_ask(t->paging, &asker, now);
    *is_remote = found == WPI_PAGING_REMOTE;
    if (found != WPI_PAGING_WAITS) return true;
    request_of(t, number)->stalled = now;
    tlb_of(t, 0, asker.sm)->faults++;
    return false;
}

void wpi_translation_replay(wpi_translation *t, uint64_t token, bool is_held, wp_time_ps now) {
    const uint32_t number = (uint32_t)token;
    wpi_tlb_request *r = request_of(t, number);
    wpi_tlb *at = tlb_of(t, 0, r->sm);
    r->is_held = is_held;
    r->fault_ps += now - r->stalled;
    at->faults--;
    wpi_walkers_promise(&t->walkers);
    ask_walkers(t, number, now);
    if (t->profile->paging.on_fault != WPI_ON_FAULT_REPLAYS) drain(t, 0, at, now);
}

/* ---- walks ------------------------------------------------------------------------------------
 */

static void feed_starved(wpi_translation *t, wp_time_ps now) {
    wpi_tlb_level *last = &t->levels[t->level_count - 1];
    while (!wpi_fifo_is_empty(&t->starved) && wpi_walkers_have_room(&t->walkers)) {
        wpi_tlb *at = &last->tlbs[wpi_fifo_take_first(&t->starved, starving(t))];
        at->is_starved = false;
        drain(t, t->level_count - 1, at, now);
        if (at->is_starved) return;
    }
}

void wpi_tlb_walked(void *object, uint64_t token, wp_time_ps walk_ps, wp_time_ps now) {
    wpi_translation *t = object;
    const uint32_t number = (uint32_t)token;
    const uint64_t address = request_of(t, number)->address;
    const bool is_code = address - WPI_CODE_FIRST < WPI_CODE_BYTES; /* of no allocation */
    if (t->watch != NULL && !is_code) wpi_watch_walk(t->watch, address);
    wpi_translation_answer found = {.ready = now,
                                    .lookup_ps =
                                        t->levels[t->level_count - 1].latency_sum + walk_ps,
                                    .is_broken = is_broken(t, request_of(t, number))};
    const bool is_prefetch = request_of(t, number)->is_prefetch;
    if (is_prefetch && is_managed(t, address) && !wpi_paging_is_here(t->paging, address))
        found.is_broken = true; /* it left meanwhile; who joined asks again */
    const bool is_found = found.is_broken || is_prefetch || !is_managed(t, address) ||
                          find_page(t, number, &found.is_remote, now);
    found.fault_ps = request_of(t, number)->fault_ps;
    if (is_found) finish(t, number, t->level_count, &found);
    feed_starved(t, now);
}

/* A walk ends soon: its request, then what that fills. */
void wpi_tlb_expect_walk(void *object, uint64_t token, bool is_near) {
    const wpi_translation *t = object;
    const wpi_tlb_request *r = request_of(t, (uint32_t)token);
    if (!is_near) {
        __builtin_prefetch(r);
        t->expected(t->object, token >> 32);
        return;
    }
    if (t->paging != NULL) wpi_paging_expect(t->paging, r->address, WPI_PAGING_ASK);
    for (uint32_t i = r->entry; i < t->level_count; i++) {
        const wpi_tlb_level *l = &t->levels[i];
        const wpi_grain *g = grain_of(l, r);
        const wpi_tlb *at = &l->tlbs[l->group_of[r->sm]];
        wpi_index_prefetch(&at->fills, r->address >> g->fill_bits);
        wpi_index_prefetch(&at->store.tags.index, r->address >> g->coverage_bits);
    }
}

void wpi_translation_prefetch(const wpi_translation *t, uint32_t sm, uint64_t address) {
    const wpi_tlb_level *l = &t->levels[0];
    const wpi_grain *g = &l->grains[grain_number(t, address)];
    const wpi_tlb *at = tlb_of(t, 0, sm);
    wpi_index_prefetch(&at->store.tags.index, address >> g->coverage_bits);
    wpi_index_prefetch(&at->fills, address >> g->fill_bits);
}

bool wpi_translation_ask(wpi_translation *t, uint32_t sm, uint64_t address, bool is_write,
                         uint64_t token, wp_time_ps now, wp_time_ps *ready) {
    const uint32_t number = wpi_pool_take(&t->requests, sizeof(wpi_tlb_request));
    *request_of(t, number) = (wpi_tlb_request){.address = address,
                                               .token = token,
                                               .sm = (uint16_t)sm,
                                               .grain = grain_number(t, address),
                                               .is_write = is_write,
                                               .asked = now,
                                               .next = NONE};
    wp_time_ps looked_up = 0;
    if (offer(t, number, 0, now, &looked_up) == HIT) {
        wpi_pool_give(&t->requests, number);
        *ready = looked_up + t->levels[0].profile->latency_ps;
        t->translation_ps += *ready - now;
        return true;
    }
    t->under_way++;
    return false;
}

void wpi_translation_ask_second(wpi_translation *t, uint32_t sm, uint64_t address, uint64_t token,
                                wp_time_ps now) {
    const uint32_t number = wpi_pool_take(&t->requests, sizeof(wpi_tlb_request));
    *request_of(t, number) = (wpi_tlb_request){
        .address = address, .token = token, .sm = (uint16_t)sm, .entry = 1, .next = NONE};
    t->under_way++;
    wpi_engine_at(t->engine, now, arrive, t, pack(number, 1));
}

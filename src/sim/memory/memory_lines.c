/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of an access after translation: L1 with its MSHRs, the SM's stores, and L2. */
#include "base/alloc.h"
#include "sim/memory/memory_parts.h"

#define NONE WPI_MEMORY_NONE

static void arrive_at_l2(void *object, uint64_t token, wpi_time_ps now);
static void return_to_l1(void *object, uint64_t number, wpi_time_ps now);
static void store_done(void *object, uint64_t sm_number, wpi_time_ps now);

/* The access no longer needs its page resident. */
static void release_page(wpi_memory *m, wpi_memory_part *p) {
    if (!p->is_held) return;
    p->is_held = false;
    wpi_paging_release(m->paging, p->request.line * WPI_LINE_BYTES, wpi_engine_now(m->engine));
}

static void finish_part(wpi_memory *m, uint32_t number) {
    release_page(m, wpi_part_of(m, number));
    wpi_memory_answer(m, number);
    wpi_pool_give(&m->parts, number);
}

/* ---- L2 ---- */

void wpi_memory_expect_part(void *object, uint64_t number) {
    const wpi_memory *m = object;
    const char *p = (const char *)m->parts.items + number * sizeof(wpi_memory_part);
    __builtin_prefetch(p);
    __builtin_prefetch(p + sizeof(wpi_memory_part) - 1);
}

/* Prefetches for arrive_at_l2. `token`: the part, and its place in L2. */
static void expect_at_l2(void *object, uint64_t token, bool is_near) {
    const wpi_memory *m = object;
    wpi_l2_expect(&m->l2, (uint32_t)(token >> 32), is_near);
    if (!is_near) wpi_memory_expect_part(object, (uint32_t)token);
}

/* Prefetches for return_to_l1: the part, then its line and the slot of its MSHR. */
static void expect_at_l1(void *object, uint64_t number, bool is_near) {
    const wpi_memory *m = object;
    if (!is_near) {
        wpi_memory_expect_part(object, number);
        return;
    }
    const wpi_memory_part *p = wpi_part_of(m, (uint32_t)number);
    const wpi_memory_sm *at = &m->sms[p->request.sm];
    __builtin_prefetch(&at->l1.lines[p->place]);
    wpi_index_prefetch(&at->under_way, p->request.line);
}

static void send_to_l2(wpi_memory *m, uint32_t number) {
    const wpi_memory_part *p = wpi_part_of(m, number);
    const uint64_t place = wpi_l2_place(&m->l2, p->request.line);
    wpi_engine_at_announced(m->engine, p->ledger.at + m->to_l2_ps, arrive_at_l2, expect_at_l2, m,
                            place << 32 | number);
}

static void tell_performed(const wpi_memory *m, const wpi_memory_part *p, wpi_time_ps now) {
    const wpi_memory_record *r = wpi_record_of(m, p->record);
    r->performed(r->object, p->lanes, now);
}

/* Frees the part of a store; its place among the SM's stores is free at its ledger's time. */
static void finish_store(wpi_memory *m, uint32_t number, wpi_time_ps now) {
    const wpi_time_ps end = wpi_part_of(m, number)->ledger.at;
    const uint32_t sm_number = wpi_part_of(m, number)->request.sm;
    wpi_pool_give(&m->parts, number);
    if (end > now)
        wpi_engine_at(m->engine, end, store_done, m, sm_number);
    else
        store_done(m, sm_number, now);
}

static void arrive_at_l2(void *object, uint64_t token, wpi_time_ps now) {
    wpi_memory *m = object;
    const uint32_t number = (uint32_t)token;
    wpi_memory_part *p = wpi_part_of(m, number);
    release_page(m, p);
    wpi_ledger_until(&p->ledger, WPI_SPENT_L2, now);
    wpi_l2_serve(&m->l2, &p->request, &p->ledger);
    if (p->lanes != 0) tell_performed(m, p, now);
    if (p->request.kind == WP_TRACE_STORE || p->request.kind == WP_TRACE_REDUCE) {
        finish_store(m, number, now);
        return;
    }
    wpi_ledger_until(&p->ledger, WPI_SPENT_L2, p->ledger.at + m->from_l2_ps);
    if (p->is_l1)
        wpi_engine_at_announced(m->engine, p->ledger.at, return_to_l1, expect_at_l1, m, number);
    else
        finish_part(m, number);
}

/* ---- stores ---- */

void wpi_memory_complete_fences(wpi_memory *m, wpi_memory_sm *at, wpi_time_ps now) {
    while (!wpi_fifo_is_empty(&at->fences)) {
        const uint32_t number = at->fences.first;
        wpi_memory_record *r = wpi_record_of(m, number);
        if (r->target > at->stores_performed) return;
        (void)wpi_fifo_take_first(&at->fences, wpi_memory_records(m));
        wpi_ledger_wait(&r->last, WPI_SPENT_L2, now);
        wpi_engine_at(m->engine, r->last.at, wpi_memory_complete, m, number);
    }
}

/* Sends a line of a store to L2, which answers its part. */
static void send_store(wpi_memory *m, wpi_memory_sm *at, uint32_t number) {
    at->stores_under_way++;
    if (wpi_part_of(m, number)->record != NONE) {
        at->stores_waiting--;
        wpi_memory_answer(m, number);
    }
    send_to_l2(m, number);
}

static void store_done(void *object, uint64_t sm_number, wpi_time_ps now) {
    wpi_memory *m = object;
    wpi_memory_sm *at = &m->sms[sm_number];
    at->stores_under_way--;
    at->stores_performed++;
    wpi_memory_complete_fences(m, at, now);
    if (wpi_fifo_is_empty(&at->stores)) return;
    const uint32_t next = wpi_fifo_take_first(&at->stores, wpi_memory_parts(m));
    if (!wpi_fifo_is_empty(&at->stores)) __builtin_prefetch(wpi_part_of(m, at->stores.first));
    wpi_ledger_wait(&wpi_part_of(m, next)->ledger, WPI_SPENT_ISSUE, now);
    send_store(m, at, next);
}

static void offer_store(wpi_memory *m, wpi_memory_sm *at, uint32_t number) {
    if (at->stores_under_way < m->profile->lsu_stores && wpi_fifo_is_empty(&at->stores)) {
        send_store(m, at, number);
        return;
    }
    m->counters.store_stalls++;
    wpi_fifo_append(&at->stores, wpi_memory_parts(m), number);
}

/* L1 evicts a dirty line: writes it to L2. */
static void write_victim(wpi_memory *m, uint32_t sm_number, const wpi_cache_answer *found,
                         wpi_time_ps now) {
    if (found->evicted_dirty == 0) return;
    const uint32_t number = wpi_part_take(m);
    *wpi_part_of(m, number) = (wpi_memory_part){.ledger = {.at = now},
                                                .request = {.line = found->evicted_line,
                                                            .sm = (uint16_t)sm_number,
                                                            .kind = WP_TRACE_STORE,
                                                            .sectors = found->evicted_dirty},
                                                .record = NONE};
    m->sms[sm_number].stores_issued++;
    offer_store(m, &m->sms[sm_number], number);
}

/* Updates L1 for a store or an atomic. True: L1 keeps the store (write-back), which is done. */
static bool stays_in_l1(wpi_memory *m, wpi_memory_sm *at, uint32_t number) {
    const wpi_memory_part p = *wpi_part_of(m, number);
    wpi_cache_answer found;
    if (!m->profile->l1.is_on && !at->l1.is_used) return false;
    const bool is_atomic =
        p.request.kind != WP_TRACE_STORE; /* performed in L2: L1's copy becomes stale */
    const wpi_cache_tally before = wpi_cache_tally_of(&at->l1);
    wpi_cache_store(&at->l1, is_atomic ? WPI_WRITE_EVICT : m->profile->l1.write, p.request.line,
                    p.request.sectors, p.ledger.at, &found);
    wpi_cache_tally_line(&at->l1, &before, p.request.counts, WP_RUN_LINE_L1_HITS);
    if (is_atomic || m->profile->l1.write != WPI_WRITE_BACK || !p.is_l1) return false;
    if (found.place == WPI_CACHE_NO_PLACE) return false;
    write_victim(m, p.request.sm, &found, p.ledger.at);
    return true;
}

static void go_to_stores(wpi_memory *m, wpi_memory_sm *at, uint32_t number) {
    if (!stays_in_l1(m, at, number)) {
        offer_store(m, at, number);
        return;
    }
    at->stores_waiting--;
    at->stores_performed++;
    finish_part(m, number);
}

/* ---- L1 ---- */

/* The sectors that L1 fetches for a miss on `sectors`. */
static uint8_t widen(const wpi_memory *m, uint8_t sectors) {
    if (m->profile->l1.sector_bytes == WPI_SECTOR_BYTES) return sectors;
    if (m->profile->l1.sector_bytes == WPI_LINE_BYTES) return 0xf;
    return (uint8_t)(((sectors & 3) != 0 ? 3 : 0) | ((sectors & 12) != 0 ? 12 : 0));
}

static uint32_t mshr_of(wpi_memory_sm *at, uint64_t line) {
    const uint32_t known = wpi_index_find(&at->under_way, line);
    if (known != WPI_INDEX_NONE) return known;
    const uint32_t number = at->free_mshr;
    at->free_mshr = at->mshrs[number].next_free;
    at->mshrs[number].waiting = WPI_FIFO_EMPTY;
    wpi_index_add(&at->under_way, line, number);
    return number;
}

/* Looks a load up at its ledger's time. False: it stalls, for an MSHR or a place. */
static bool load_from_l1(wpi_memory *m, wpi_memory_sm *at, uint32_t number) {
    wpi_memory_part *p = wpi_part_of(m, number);
    const uint64_t line = p->request.line;
    const wpi_time_ps now = p->ledger.at;
    const uint8_t wanted = widen(m, p->request.sectors);
    if (at->free_mshr == NONE && wpi_index_find(&at->under_way, line) == WPI_INDEX_NONE &&
        (wanted & ~wpi_cache_peek(&at->l1, line, now)) != 0)
        return false;
    wpi_cache_answer found;
    const wpi_cache_tally before = wpi_cache_tally_of(&at->l1);
    wpi_cache_load(&at->l1, line, wanted, now, &found);
    wpi_cache_tally_line(&at->l1, &before, p->request.counts, WP_RUN_LINE_L1_HITS);
    if (found.place == WPI_CACHE_NO_PLACE) return false;
    write_victim(m, p->request.sm, &found, now);
    p = wpi_part_of(m, number);
    wpi_ledger_until(&p->ledger, WPI_SPENT_L1, now + m->profile->l1.latency_ps);
    p->lacks = found.pending | found.missing;
    if (p->lacks == 0) {
        finish_part(m, number);
        return true;
    }
    p->place = found.place;
    p->request.sectors = found.missing;
    wpi_fifo_append(&at->mshrs[mshr_of(at, line)].waiting, wpi_memory_parts(m), number);
    if (found.missing != 0) send_to_l2(m, number);
    return true;
}

/* Gives the fetched sectors to waiting parts; those that lack no more are answered. */
static void wake(wpi_memory *m, wpi_fifo *waiting, uint8_t sectors, wpi_time_ps now) {
    wpi_fifo old = wpi_fifo_take_all(waiting);
    while (!wpi_fifo_is_empty(&old)) {
        const uint32_t number = wpi_fifo_take_first(&old, wpi_memory_parts(m));
        wpi_memory_part *p = wpi_part_of(m, number);
        p->lacks &= (uint8_t)~sectors;
        if (p->lacks != 0) {
            wpi_fifo_append(waiting, wpi_memory_parts(m), number);
            continue;
        }
        wpi_ledger_until(&p->ledger, WPI_SPENT_L2, now); /* may be another part's miss */
        finish_part(m, number);
    }
}

static void retry_stalled(wpi_memory *m, wpi_memory_sm *at, wpi_time_ps now) {
    /* A miss needs an MSHR, so loads are not looked up before one is free. */
    while (!wpi_fifo_is_empty(&at->stalled) && at->free_mshr != NONE) {
        const uint32_t number = wpi_fifo_take_first(&at->stalled, wpi_memory_parts(m));
        const wpi_time_ps since = wpi_part_of(m, number)->ledger.at;
        if (now > since) m->counters.l1_wait_ps += now - since;
        wpi_ledger_wait(&wpi_part_of(m, number)->ledger, WPI_SPENT_L1, now);
        if (load_from_l1(m, at, number)) continue;
        wpi_fifo_put_first(&at->stalled, wpi_memory_parts(m), number);
        return;
    }
}

static void return_to_l1(void *object, uint64_t number, wpi_time_ps now) {
    wpi_memory *m = object;
    const wpi_memory_part p = *wpi_part_of(m, number);
    wpi_memory_sm *at = &m->sms[p.request.sm];
    const uint32_t own = wpi_index_find(&at->under_way, p.request.line);
    WP_CHECK(own != WPI_INDEX_NONE);
    wpi_cache_fill(&at->l1, p.place, p.request.sectors);
    wake(m, &at->mshrs[own].waiting, p.request.sectors, now);
    if (wpi_fifo_is_empty(&at->mshrs[own].waiting)) {
        (void)wpi_index_take(&at->under_way, p.request.line);
        at->mshrs[own].next_free = at->free_mshr;
        at->free_mshr = own;
    }
    retry_stalled(m, at, now);
}

static void go_to_l1(wpi_memory *m, wpi_memory_sm *at, uint32_t number) {
    if (wpi_fifo_is_empty(&at->stalled) && load_from_l1(m, at, number)) return;
    m->counters.l1_stalls++;
    wpi_fifo_append(&at->stalled, wpi_memory_parts(m), number);
}

void wpi_memory_go_on(wpi_memory *m, uint32_t number) {
    const wpi_memory_part *p = wpi_part_of(m, number);
    wpi_memory_sm *at = &m->sms[p->request.sm];
    switch (p->request.kind) {
    case WP_TRACE_LOAD:
        if (p->is_l1)
            go_to_l1(m, at, number);
        else
            send_to_l2(m, number);
        break;
    case WP_TRACE_ATOMIC:
        (void)stays_in_l1(m, at, number);
        send_to_l2(m, number);
        break;
    default: go_to_stores(m, at, number); break;
    }
}

/* ---- building, counting ---- */

wp_status wpi_memory_sm_init(wpi_memory_sm *at, const wpi_profile *profile, wp_error *err) {
    const uint32_t mshrs = profile->l1.mshrs;
    wpi_cache_profile largest = profile->l1;
    if (largest.preferred_bytes != 0) largest.bytes = largest.preferred_bytes;
    if (profile->carveout_count != 0)
        largest.bytes += profile->shared_bytes - profile->carveouts[0];
    at->stalled = at->stores = at->fences = WPI_FIFO_EMPTY;
    WP_TRY(wpi_cache_init(&at->l1, &largest, err));
    wpi_cache_resize(&at->l1, profile->l1.bytes);
    at->mshrs = wpi_calloc(mshrs, sizeof *at->mshrs);
    if (!wpi_index_init(&at->under_way, 0) || at->mshrs == NULL)
        return WP_FAIL(err, NOMEM, "%u MSHRs of L1", mshrs);
    for (uint32_t i = 0; i < mshrs; i++)
        at->mshrs[i].next_free = i + 1 < mshrs ? i + 1 : NONE;
    return WP_STATUS_OK;
}

void wpi_memory_sm_deinit(wpi_memory_sm *at) {
    wpi_cache_deinit(&at->l1);
    wpi_index_deinit(&at->under_way);
    wpi_free(at->mshrs);
}

void wpi_memory_l1_statistics(const wpi_memory *m, wpi_visit visit, void *object) {
    uint64_t hits = 0, misses = 0, merges = 0, evictions = 0;
    for (uint32_t i = 0; i < m->profile->sm_count; i++) {
        hits += m->sms[i].l1.sector_hits;
        misses += m->sms[i].l1.sector_misses;
        merges += m->sms[i].l1.sector_merges;
        evictions += m->sms[i].l1.evictions;
    }
    wpi_visit_value(visit, object, "l1.", "hits", "sectors", hits);
    wpi_visit_value(visit, object, "l1.", "misses", "sectors", misses);
    wpi_visit_value(visit, object, "l1.", "merges", "sectors", merges);
    wpi_visit_value(visit, object, "l1.", "evictions", "lines", evictions);
    wpi_visit_value(visit, object, "l1.", "stalls", "lines", m->counters.l1_stalls);
    wpi_visit_value(visit, object, "l1.", "stall_wait", "ps", m->counters.l1_wait_ps);
}

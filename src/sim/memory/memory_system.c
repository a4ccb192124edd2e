/* SPDX-License-Identifier: Apache-2.0 */
/* The memory system of a GPU as a whole: construction, statistics, fences and copies, and the
 * records of accesses in flight with their answers. */
#include "sim/memory/memory_system.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/memory/memory_parts.h"

#define NONE WPI_MEMORY_NONE

/* ---- records and answers ---- */

uint32_t wpi_memory_make_record(wpi_memory *m, uint8_t kind, uint32_t parts, wpi_time_ps now,
                                wpi_access_done done, void *object, uint64_t token) {
    const uint32_t number = wpi_pool_take(&m->records, sizeof(wpi_memory_record));
    *wpi_record_of(m, number) = (wpi_memory_record){.done = done,
                                                    .object = object,
                                                    .token = token,
                                                    .issued = now,
                                                    .last = {.at = now},
                                                    .parts = parts,
                                                    .next = NONE,
                                                    .kind = kind};
    m->under_way++;
    return number;
}

static void account(const wpi_memory_record *r, wpi_answer *answer) {
    wpi_time_ps rest = answer->answered - answer->issued;
    for (uint32_t i = 0; i < WPI_SPENT_QUEUE; i++) {
        answer->spent_ps[i] = r->last.spent_ps[i];
        answer->queued_ps[i] = r->last.queued_ps[i];
        rest -= answer->spent_ps[i];
    }
    if (r->kind == WPI_RECORD_COPY) { /* may take longer than a ledger holds */
        answer->spent_ps[WPI_SPENT_LINK] = answer->answered - r->begun;
        rest = r->begun - answer->issued;
    }
    WP_ASSERT(rest <= answer->answered - answer->issued);
    answer->spent_ps[WPI_SPENT_QUEUE] = rest;
}

void wpi_memory_complete(void *object, uint64_t number, wpi_time_ps now) {
    wpi_memory *m = object;
    const wpi_memory_record r = *wpi_record_of(m, number);
    wpi_answer answer = {.issued = r.issued, .answered = now};
    account(&r, &answer);
    if (r.kind < WP_TRACE_ACCESS_COUNT) {
        wpi_histogram_add(&m->counters.latency_ps[r.kind], now - r.issued);
        for (uint32_t i = 0; i < WPI_SPENT_COUNT; i++)
            m->counters.spent_ps[i] += answer.spent_ps[i];
    }
    wpi_pool_give(&m->records, (uint32_t)number);
    m->under_way--;
    r.done(r.object, r.token, &answer);
}

void wpi_memory_answer(wpi_memory *m, uint32_t number) {
    const wpi_memory_part *p = wpi_part_of(m, number);
    wpi_memory_record *r = wpi_record_of(m, p->record);
    if (p->ledger.at >= r->last.at) r->last = p->ledger;
    if (--r->parts == 0) wpi_engine_at(m->engine, r->last.at, wpi_memory_complete, m, p->record);
}

/* ---- instructions ---- */

static void ask_for_code(void *object, uint32_t sm_number, uint64_t address, uint64_t token,
                         wpi_time_ps now) {
    wpi_memory *m = object;
    wpi_translation_ask_second(m->translation, sm_number, address, token | WPI_MEMORY_TOKEN_CODE,
                               now);
}

wp_status wpi_memory_place_code(wpi_memory *m, const wp_trace_tables *tables, const wpi_code **out,
                                wp_error *err) {
    return wpi_itlb_place(&m->itlb, tables, out, err);
}

bool wpi_memory_fetch(wpi_memory *m, uint32_t sm_number, uint64_t address, wpi_time_ps now,
                      wpi_fetched done, void *object) {
    return wpi_itlb_fetch(&m->itlb, sm_number, address, now, done, object);
}

/* ---- stores, fences, copies ------------------------------------------------------------------ */

bool wpi_memory_has_store_room(const wpi_memory *m, uint32_t sm_number) {
    return m->sms[sm_number].stores_waiting < m->profile->lsu_stores;
}

bool wpi_memory_is_storing(const wpi_memory *m, uint32_t sm_number) {
    const wpi_memory_sm *at = &m->sms[sm_number];
    return at->stores_performed < at->stores_issued;
}

void wpi_memory_fence(wpi_memory *m, uint32_t sm_number, wpi_time_ps now, wpi_access_done done,
                      void *object, uint64_t token) {
    wpi_memory_sm *at = &m->sms[sm_number];
    const uint32_t number =
        wpi_memory_make_record(m, WPI_RECORD_FENCE, 0, now, done, object, token);
    wpi_record_of(m, number)->target = at->stores_issued;
    wpi_fifo_append(&at->fences, wpi_memory_records(m), number);
    wpi_memory_complete_fences(m, at, now);
}

void wpi_memory_copy(wpi_memory *m, uint64_t bytes, wpi_direction direction, wpi_time_ps now,
                     wpi_access_done done, void *object, uint64_t token) {
    const uint32_t number = wpi_memory_make_record(m, WPI_RECORD_COPY, 0, now, done, object, token);
    wpi_memory_record *r = wpi_record_of(m, number);
    const wpi_time_ps end = wpi_link_copy(&m->l2.link, bytes, direction, now, &r->begun);
    wpi_engine_at(m->engine, end, wpi_memory_complete, m, number);
}

void wpi_memory_copied(wpi_memory *m, uint64_t address, uint64_t bytes) {
    if (m->profile->l2.has_copies) wpi_l2_copy(&m->l2, address, bytes, wpi_engine_now(m->engine));
}

/* ---- parts beside it ------------------------------------------------------------------------- */

void wpi_memory_set_host_range(wpi_memory *m, uint64_t first, uint64_t outer) {
    m->l2.host_first = first / WPI_LINE_BYTES;
    m->l2.host_outer = (outer + WPI_LINE_BYTES - 1) / WPI_LINE_BYTES;
}

void wpi_memory_set_own_range(wpi_memory *m, uint64_t own_first, uint64_t own_outer, uint64_t first,
                              uint64_t outer) {
    m->l2.peers.first = first / WPI_LINE_BYTES;
    m->l2.peers.outer = outer / WPI_LINE_BYTES;
    m->l2.peers.own_first = own_first / WPI_LINE_BYTES;
    m->l2.peers.own_outer = own_outer / WPI_LINE_BYTES;
}

void wpi_memory_set_peers(wpi_memory *m, uint32_t allowed, uint32_t (*gpu_of)(uint64_t address),
                          void (*denied)(void *object, uint64_t address), void *object) {
    wpi_peers *p = &m->l2.peers;
    p->allowed = allowed;
    p->gpu_of = gpu_of;
    p->denied = denied;
    p->object = object;
}

wpi_time_ps wpi_memory_copy_between(wpi_memory *from, wpi_memory *to, uint64_t bytes,
                                    wpi_time_ps now) {
    const wpi_profile *profile = from->profile;
    wpi_bus *out = &from->l2.peers.ways[WPI_DIRECTION_TO_HOST];
    wpi_bus *in = &to->l2.peers.ways[WPI_DIRECTION_TO_DEVICE];
    const wpi_time_ps transfer_ps = wpi_bytes_ps(bytes, profile->peer.bytes_per_s);
    wpi_time_ps turn = wpi_bus_take(out, now + profile->peer.latency_ps, transfer_ps);
    turn = wpi_bus_take(in, turn, transfer_ps);
    from->l2.peers.copies++;
    from->l2.peers.copied_bytes += bytes;
    return turn + transfer_ps;
}

static void replay(void *object, uint64_t token, bool is_held, wpi_time_ps now) {
    wpi_memory *m = object;
    wpi_translation_replay(m->translation, token, is_held, now);
}

static void forget(void *object, const wpi_paging_shot *shot) {
    wpi_memory *m = object;
    wpi_translation_forget(m->translation, shot);
}

wp_status wpi_memory_manage(wpi_memory *m, uint64_t first, wp_error *err) {
    WP_CHECK(m->paging == NULL);
    const wpi_paging_calls calls = {replay, forget, m};
    WP_TRY(wpi_paging_create(m->engine, m->profile, &m->l2.link, first, &calls, &m->paging, err));
    wpi_translation_set_paging(m->translation, m->paging);
    return WP_STATUS_OK;
}

wpi_paging *wpi_memory_paging(const wpi_memory *m) {
    return m->paging;
}

void wpi_memory_set_watch(wpi_memory *m, wpi_watch *watch) {
    m->watch = watch;
    wpi_translation_set_watch(m->translation, watch);
    if (m->paging != NULL) wpi_paging_set_watch(m->paging, watch);
}

void wpi_memory_set_history(wpi_memory *m, wpi_page_history *history) {
    m->history = history;
    wpi_paging_set_history(m->paging, history);
}

void wpi_memory_begin_launch(wpi_memory *m, uint64_t l1_bytes, bool is_alone) {
    for (uint32_t i = 0; i < m->profile->sm_count; i++) {
        wpi_memory_sm *at = &m->sms[i];
        wpi_cache_invalidate(&at->l1);
        if (is_alone && at->under_way.count == 0) wpi_cache_resize(&at->l1, l1_bytes);
    }
    if (m->profile->l2.is_cold && is_alone) wpi_l2_empty(&m->l2, wpi_engine_now(m->engine));
}

void wpi_memory_flush_tlbs(wpi_memory *m) {
    wpi_translation_flush(m->translation);
    wpi_itlb_flush(&m->itlb);
}

uint64_t wpi_memory_under_way(const wpi_memory *m) {
    return m->under_way;
}

/* ---- building ---- */

wp_status wpi_memory_create(wpi_engine *engine, const wpi_profile *profile, wpi_memory **out,
                            wp_error *err) {
    *out = NULL;
    wp_status status = WP_STATUS_OK;
    wpi_memory *m = wpi_calloc(1, sizeof *m);
    if (m == NULL) return WP_FAIL(err, NOMEM, "memory system");
    m->engine = engine;
    m->profile = profile;
    m->page_bits = (uint32_t)__builtin_ctzll(profile->page_bytes);
    m->to_l2_ps = profile->l2.latency_ps / 2;
    if (profile->paging.replay_lines != 0)
        m->replay_ps = profile->cycle_ps / profile->paging.replay_lines;
    m->from_l2_ps = profile->l2.latency_ps - m->to_l2_ps;
    m->sms = wpi_calloc(profile->sm_count, sizeof *m->sms);
    if (m->sms == NULL) status = WP_FAIL(err, NOMEM, "%u SMs", profile->sm_count);
    for (uint32_t i = 0; status == WP_STATUS_OK && i < profile->sm_count; i++)
        status = wpi_memory_sm_init(&m->sms[i], profile, err);
    WP_TRY_GOTO(status, done);
    WP_TRY_GOTO(wpi_itlb_init(&m->itlb, engine, profile, ask_for_code, m, err), done);
    WP_TRY_GOTO(wpi_l2_init(&m->l2, profile, err), done);
    WP_TRY_GOTO(wpi_translation_create(engine, profile, wpi_memory_translated,
                                       wpi_memory_expect_part, m, &m->translation, err),
                done);
    *out = m;
    m = NULL;
done:
    wpi_memory_destroy(m);
    return status;
}

void wpi_memory_destroy(wpi_memory *m) {
    if (m == NULL) return;
    for (uint32_t i = 0; m->sms != NULL && i < m->profile->sm_count; i++) {
        wpi_memory_sm_deinit(&m->sms[i]);
    }
    wpi_free(m->sms);
    if (m->itlb.profile != NULL) wpi_itlb_deinit(&m->itlb);
    wpi_l2_deinit(&m->l2);
    wpi_translation_destroy(m->translation);
    wpi_paging_destroy(m->paging);
    wpi_pool_deinit(&m->records);
    wpi_pool_deinit(&m->parts);
    wpi_free(m);
}

/* ---- statistics ---- */

const char *wpi_spent_name(wpi_spent spent) {
    static const char *const names[WPI_SPENT_COUNT] = {"issue", "translation", "fault", "l1",
                                                       "l2",    "dram",        "link",  "queue"};
    return (unsigned)spent < WPI_SPENT_COUNT ? names[spent] : "unknown";
}

static void visit_kind(const wpi_memory *m, uint32_t kind, wpi_visit visit, void *object) {
    static const char *const prefixes[WP_TRACE_ACCESS_COUNT] = {"memory.load.", "memory.store.",
                                                                "memory.atomic.", "memory.reduce."};
    const wpi_memory_counters *c = &m->counters;
    wpi_visit_value(visit, object, prefixes[kind], "accesses", "warp accesses", c->accesses[kind]);
    wpi_visit_value(visit, object, prefixes[kind], "lanes", "lanes", c->lanes[kind]);
    wpi_visit_value(visit, object, prefixes[kind], "lines", "lines", c->lines[kind]);
    wpi_visit_value(visit, object, prefixes[kind], "sectors", "sectors", c->sectors[kind]);
    wpi_visit_value(visit, object, prefixes[kind], "pages", "pages", c->pages[kind]);
    wpi_visit_histogram(visit, object, prefixes[kind], "latency", "ps", &c->latency_ps[kind]);
}

void wpi_memory_statistics(const wpi_memory *m, wpi_visit visit, void *object) {
    for (uint32_t kind = 0; kind < WP_TRACE_ACCESS_COUNT; kind++)
        visit_kind(m, kind, visit, object);
    for (uint32_t i = 0; i < WPI_SPENT_COUNT; i++) {
        if (i == WPI_SPENT_FAULT && m->paging == NULL) continue;
        wpi_visit_value(visit, object, "memory.spent.", wpi_spent_name((wpi_spent)i), "ps",
                        m->counters.spent_ps[i]);
    }
    wpi_visit_value(visit, object, "memory.", "store_stalls", "lines", m->counters.store_stalls);
    wpi_itlb_statistics(&m->itlb, visit, object);
    wpi_translation_statistics(m->translation, visit, object);
    if (m->paging != NULL) wpi_paging_statistics(m->paging, visit, object);
    wpi_memory_l1_statistics(m, visit, object);
    wpi_l2_statistics(&m->l2, visit, object);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses: their lines and pages, what they ask of TLBs, and their answers. */
#include "sim/memory/memory_system.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "policy/migrate.h"
#include "sim/memory/memory_parts.h"
#include "sim/sm/coalescer.h"

#define NONE WPI_MEMORY_NONE
#define TOKEN_CODE ((uint64_t)1 << 32) /* of a translation: of instructions, not of parts */

/* ---- answers ----------------------------------------------------------------------------------
 */

static void account(const wpi_memory_record *r, wpi_answer *answer) {
    wp_time_ps rest = answer->answered - answer->issued;
    for (uint32_t i = 0; i < WPI_SPENT_QUEUE; i++) {
        answer->spent_ps[i] = r->last.spent_ps[i];
        rest -= answer->spent_ps[i];
    }
    if (r->kind == WPI_RECORD_COPY) { /* may take longer than a ledger holds */
        answer->spent_ps[WPI_SPENT_LINK] = answer->answered - r->begun;
        rest = r->begun - answer->issued;
    }
    WP_ASSERT(rest <= answer->answered - answer->issued);
    answer->spent_ps[WPI_SPENT_QUEUE] = rest;
}

void wpi_memory_complete(void *object, uint64_t number, wp_time_ps now) {
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

/* The part has its answer at its ledger's time. */
void wpi_memory_answer(wpi_memory *m, uint32_t number) {
    const wpi_memory_part *p = wpi_part_of(m, number);
    wpi_memory_record *r = wpi_record_of(m, p->record);
    if (p->ledger.at >= r->last.at) r->last = p->ledger;
    if (--r->parts == 0) wpi_engine_at(m->engine, r->last.at, wpi_memory_complete, m, p->record);
}

/* ---- translation ------------------------------------------------------------------------------
 */

static bool is_write(uint8_t kind) {
    return kind != WP_TRACE_LOAD;
}

static bool is_managed(const wpi_memory *m, uint64_t address) {
    return m->paging != NULL && wpi_paging_has(m->paging, address);
}

/* Where the part's page is. */
static void place_page(wpi_memory *m, wpi_memory_part *p, bool is_remote) {
    const uint64_t address = p->request.line * WPI_LINE_BYTES;
    const uint32_t bytes = wpi_sector_count(p->request.sectors) * WPI_SECTOR_BYTES;
    if (is_remote) {
        wpi_paging_use_remote(m->paging, address, bytes, wpi_engine_now(m->engine));
        p->request.is_remote = true;
        p->is_l1 = false;
    } else if (is_managed(m, address)) {
        p->is_held = wpi_paging_hold(m->paging, address, is_write(p->request.kind));
        if (p->is_held) wpi_paging_use_local(m->paging, address, bytes);
    }
}

static void translated(void *object, uint64_t first, const wpi_translation_answer *answer);

/* The chain's first page, for all of it. `now` is not before the engine's time. */
static bool translate(wpi_memory *m, uint32_t first, wp_time_ps now) {
    const wpi_l2_request *request = &wpi_part_of(m, first)->request;
    wpi_translation_answer found = {.lookup_ps = m->profile->tlb[0].latency_ps};
    const bool is_hit =
        wpi_translation_ask(m->translation, request->sm, request->line * WPI_LINE_BYTES,
                            is_write(request->kind), first, now, &found.ready);
    if (is_hit) translated(m, first, &found);
    return is_hit;
}

/* When a line whose page has come goes on: an SM has some a cycle. */
static wp_time_ps replay_turn(wpi_memory *m, const wpi_memory_part *p, wp_time_ps ready) {
    return m->replay_ps != 0 ? wpi_bus_take(&m->sms[p->request.sm].lsu, ready, m->replay_ps)
                             : ready;
}

/* A write that joined a read's request would be remote as well, but it brings the page. */
static bool has_to_ask_again(const wpi_memory *m, uint32_t first,
                             const wpi_translation_answer *answer) {
    const wpi_l2_request *request = &wpi_part_of(m, first)->request;
    return answer->is_remote && is_write(request->kind) &&
           !wpi_paging_keeps_writes_remote(m->paging, request->line * WPI_LINE_BYTES,
                                           answer->ready);
}

/* What was one page is many. */
static void ask_one_by_one(wpi_memory *m, uint32_t first, wp_time_ps now) {
    for (uint32_t number = first; number != NONE;) {
        wpi_memory_part *p = wpi_part_of(m, number);
        const uint32_t next = p->next;
        p->next = NONE;
        (void)translate(m, number, now);
        number = next;
    }
}

/* The page of a chain of parts is known. */
static void translated(void *object, uint64_t first, const wpi_translation_answer *answer) {
    wpi_memory *m = object;
    if ((first & TOKEN_CODE) != 0) {
        wpi_itlb_translated(&m->itlb, first & ~TOKEN_CODE, answer->ready);
        return;
    }
    if (has_to_ask_again(m, (uint32_t)first, answer)) {
        (void)translate(m, (uint32_t)first, answer->ready);
        return;
    }
    if (answer->is_broken) {
        ask_one_by_one(m, (uint32_t)first, answer->ready);
        return;
    }
    for (uint32_t number = (uint32_t)first; number != NONE;) {
        wpi_memory_part *p = wpi_part_of(m, number);
        const uint32_t next = p->next;
        if (answer->fault_ps != 0)
            wpi_ledger_work(&p->ledger, WPI_SPENT_FAULT, answer->fault_ps,
                            answer->ready - answer->lookup_ps);
        wpi_ledger_work(&p->ledger, WPI_SPENT_TRANSLATION, answer->lookup_ps, answer->ready);
        if (answer->fault_ps != 0) wpi_ledger_wait(&p->ledger, replay_turn(m, p, answer->ready));
        place_page(m, p, answer->is_remote);
        wpi_memory_go_on(m, number);
        number = next;
    }
}

/* ---- instructions -----------------------------------------------------------------------------
 */

static void ask_for_code(void *object, uint32_t sm_number, uint64_t address, uint64_t token,
                         wp_time_ps now) {
    wpi_memory *m = object;
    wpi_translation_ask_second(m->translation, sm_number, address, token | TOKEN_CODE, now);
}

wp_status wpi_memory_place_code(wpi_memory *m, const wp_trace_tables *tables, const wpi_code **out,
                                wp_error *err) {
    return wpi_itlb_place(&m->itlb, tables, out, err);
}

bool wpi_memory_fetch(wpi_memory *m, uint32_t sm_number, uint64_t address, wp_time_ps now,
                      wpi_fetched done, void *object) {
    return wpi_itlb_fetch(&m->itlb, sm_number, address, now, done, object);
}

/* ---- issue ------------------------------------------------------------------------------------
 */

static bool may_use_l1(const wpi_memory *m, const wpi_access *access) {
    return m->profile->l1.is_on && access->cache != WP_TRACE_CACHE_GLOBAL &&
           access->cache != WP_TRACE_CACHE_VOLATILE && access->kind <= WP_TRACE_STORE;
}

static void count_access(wpi_memory *m, const wpi_access *access, const wpi_footprint *footprint) {
    wpi_memory_counters *c = &m->counters;
    c->accesses[access->kind]++;
    c->lanes[access->kind] += (uint32_t)__builtin_popcount(access->mask);
    c->lines[access->kind] += footprint->line_count;
    c->pages[access->kind] += footprint->page_count;
    for (uint32_t i = 0; i < footprint->line_count; i++)
        c->sectors[access->kind] += wpi_sector_count(footprint->lines[i].sectors);
}

static uint32_t lanes_on(const wpi_access *access, uint64_t line) {
    uint32_t lanes = 0;
    for (uint32_t left = access->mask; left != 0; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        lanes |= (uint32_t)(access->addresses[lane] / WPI_LINE_BYTES == line) << lane;
    }
    return lanes;
}

/* A part for each line, chained by page; `chains` has their ends, `of_lines` all. */
static void make_parts(wpi_memory *m, const wpi_access *access, const wpi_footprint *footprint,
                       uint32_t record_number, wp_time_ps issued, wp_time_ps turn, wpi_fifo *chains,
                       uint32_t *of_lines) {
    const bool is_l1 = may_use_l1(m, access);
    for (uint32_t i = 0; i < footprint->page_count; i++)
        chains[i] = WPI_FIFO_EMPTY;
    for (uint32_t i = 0; i < footprint->line_count; i++) {
        const wpi_footprint_line *line = &footprint->lines[i];
        const uint32_t number = wpi_part_take(m);
        *wpi_part_of(m, number) =
            (wpi_memory_part){.ledger = {.at = issued},
                              .request = {.line = line->line,
                                          .sm = (uint16_t)access->sm,
                                          .turns = line->turns,
                                          .kind = access->kind,
                                          .sectors = line->sectors},
                              .record = record_number,
                              .lanes = access->performed != NULL ? lanes_on(access, line->line) : 0,
                              .is_l1 = is_l1};
        wpi_ledger_until(&wpi_part_of(m, number)->ledger, WPI_SPENT_ISSUE,
                         turn + i * m->profile->cycle_ps + m->profile->lsu_latency_ps);
        wpi_fifo_append(&chains[line->page], wpi_memory_parts(m), number);
        of_lines[i] = number;
    }
}

static uint32_t make_record(wpi_memory *m, uint8_t kind, uint32_t parts, wp_time_ps now,
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

/* Pages of managed memory are small, or as large as any. */
static uint32_t page_bits_of(const wpi_memory *m, const wpi_access *access) {
    if (m->paging == NULL || m->page_bits == WPI_PAGE_BITS) return m->page_bits;
    for (uint32_t left = access->mask; left != 0; left &= left - 1) {
        const uint64_t address = access->addresses[__builtin_ctz(left)];
        if (is_managed(m, address) && !wpi_paging_is_large(m->paging, address))
            return WPI_PAGE_BITS;
    }
    return m->page_bits;
}

/* Counted once for each of its blocks, as pages are that are small. */
static void touch_pages(wpi_memory *m, uint32_t first) {
    uint64_t before = UINT64_MAX;
    for (uint32_t number = first; number != NONE; number = wpi_part_of(m, number)->next) {
        const uint64_t address = wpi_part_of(m, number)->request.line * WPI_LINE_BYTES;
        const uint64_t page = address / WPI_PAGE_BYTES;
        if (before == UINT64_MAX || page / WPI_BLOCK_PAGES != before / WPI_BLOCK_PAGES)
            wpi_paging_touch(m->paging, address);
        else if (page != before)
            wpi_paging_foresee(m->paging, address);
        before = page;
    }
}

/* Counted once for each of its pages, of which a chain has one, or those of 2 MiB. */
static void note_pages(const wpi_memory *m, uint32_t first, bool is_written, wp_time_ps now) {
    const uint64_t address = wpi_part_of(m, first)->request.line * WPI_LINE_BYTES;
    const uint64_t chunk = address - address % WPI_CHUNK_BYTES;
    wpi_pages pages = {{0}};
    for (uint32_t number = first; number != NONE; number = wpi_part_of(m, number)->next)
        wpi_pages_add(&pages, wpi_page_of(wpi_part_of(m, number)->request.line * WPI_LINE_BYTES));
    wpi_page_history_note_pages(m->history, chunk, &pages,
                                is_written ? WP_RUN_PAGE_WRITTEN : WP_RUN_PAGE_READ, now);
}

static void touch(wpi_memory *m, const wpi_access *access, uint32_t first, wp_time_ps now) {
    if (!is_managed(m, wpi_part_of(m, first)->request.line * WPI_LINE_BYTES)) return;
    touch_pages(m, first);
    if (m->history != NULL) note_pages(m, first, is_write(access->kind), now);
}

static void watch(const wpi_memory *m, const wpi_access *access, uint64_t address, bool is_hit,
                  wp_time_ps now) {
    if (m->watch != NULL)
        wpi_watch_access(m->watch, address, access->name, is_write(access->kind), !is_hit, now);
}

static void ask_by_page(wpi_memory *m, const wpi_access *access, const wpi_footprint *footprint,
                        const wpi_fifo *chains, wp_time_ps now) {
    for (uint32_t i = 0; i < footprint->page_count; i++) {
        const uint32_t first = chains[i].first;
        const uint64_t address = wpi_part_of(m, first)->request.line * WPI_LINE_BYTES;
        touch(m, access, first, now);
        watch(m, access, address, translate(m, first, wpi_part_of(m, first)->ledger.at), now);
    }
}

/* Each line on its own, in order; a page that all of its lines hit is one. */
static void ask_by_line(wpi_memory *m, const wpi_access *access, const wpi_footprint *footprint,
                        const wpi_fifo *chains, const uint32_t *of_lines, wp_time_ps now) {
    bool is_hit[WPI_FOOTPRINT_MAX];
    for (uint32_t i = 0; i < footprint->page_count; i++) {
        is_hit[i] = true;
        touch(m, access, chains[i].first, now);
    }
    for (uint32_t i = 0; i < footprint->line_count; i++)
        wpi_part_of(m, of_lines[i])->next = NONE;
    for (uint32_t i = 0; i < footprint->line_count; i++) {
        const wp_time_ps turn = wpi_part_of(m, of_lines[i])->ledger.at;
        if (!translate(m, of_lines[i], turn)) is_hit[footprint->lines[i].page] = false;
    }
    /* Pages are numbered as lines come to them. */
    for (uint32_t i = 0, page = 0; page < footprint->page_count; i++) {
        if (footprint->lines[i].page != page) continue;
        watch(m, access, footprint->lines[i].line * WPI_LINE_BYTES, is_hit[page], now);
        page++;
    }
}

uint32_t wpi_memory_access(wpi_memory *m, const wpi_access *access, wp_time_ps now,
                           wpi_access_done done, void *object, uint64_t token) {
    WP_ASSERT(access->mask != 0 && access->sm < m->profile->sm_count);
    WP_ASSERT(now >= wpi_engine_now(m->engine));
    WP_ASSERT(access->performed == NULL || wpi_is_performed_in_l2(access->kind, access->cache));
    wpi_footprint footprint;
    wpi_fifo chains[WPI_FOOTPRINT_MAX];
    uint32_t of_lines[WPI_FOOTPRINT_MAX];
    const uint32_t page_bits = page_bits_of(m, access);
    wpi_coalesce(access, page_bits, &footprint);
    for (uint32_t i = 0; i < footprint.page_count && m->paging != NULL; i++)
        wpi_paging_expect(m->paging, footprint.pages[i] << page_bits, WPI_PAGING_TOUCH);
    count_access(m, access, &footprint);
    wpi_memory_sm *at = &m->sms[access->sm];
    const uint32_t lines = footprint.line_count;
    if (access->kind == WP_TRACE_STORE || access->kind == WP_TRACE_REDUCE) {
        at->stores_issued += lines;
        at->stores_waiting += lines;
    }
    const wp_time_ps turn = wpi_bus_take(&at->lsu, now, lines * m->profile->cycle_ps);
    const uint32_t record_number = make_record(m, access->kind, lines, now, done, object, token);
    wpi_record_of(m, record_number)->performed = access->performed;
    make_parts(m, access, &footprint, record_number, now, turn, chains, of_lines);
    for (uint32_t i = 0; i < footprint.page_count; i++)
        wpi_translation_prefetch(m->translation, access->sm, footprint.pages[i] << page_bits);
    if (m->profile->tlb_requests == WPI_TLB_REQUESTS_LINE)
        ask_by_line(m, access, &footprint, chains, of_lines, now);
    else
        ask_by_page(m, access, &footprint, chains, now);
    return lines;
}

bool wpi_memory_has_store_room(const wpi_memory *m, uint32_t sm_number) {
    return m->sms[sm_number].stores_waiting < m->profile->lsu_stores;
}

bool wpi_memory_is_storing(const wpi_memory *m, uint32_t sm_number) {
    const wpi_memory_sm *at = &m->sms[sm_number];
    return at->stores_performed < at->stores_issued;
}

void wpi_memory_fence(wpi_memory *m, uint32_t sm_number, wp_time_ps now, wpi_access_done done,
                      void *object, uint64_t token) {
    wpi_memory_sm *at = &m->sms[sm_number];
    const uint32_t number = make_record(m, WPI_RECORD_FENCE, 0, now, done, object, token);
    wpi_record_of(m, number)->target = at->stores_issued;
    wpi_fifo_append(&at->fences, wpi_memory_records(m), number);
    wpi_memory_complete_fences(m, at, now);
}

void wpi_memory_copy(wpi_memory *m, uint64_t bytes, wpi_direction direction, wp_time_ps now,
                     wpi_access_done done, void *object, uint64_t token) {
    const uint32_t number = make_record(m, WPI_RECORD_COPY, 0, now, done, object, token);
    wpi_memory_record *r = wpi_record_of(m, number);
    const wp_time_ps end = wpi_link_copy(&m->l2.link, bytes, direction, now, &r->begun);
    wpi_engine_at(m->engine, end, wpi_memory_complete, m, number);
}

void wpi_memory_set_host_range(wpi_memory *m, uint64_t first, uint64_t outer) {
    m->l2.host_first = first / WPI_LINE_BYTES;
    m->l2.host_outer = (outer + WPI_LINE_BYTES - 1) / WPI_LINE_BYTES;
}

static void replay(void *object, uint64_t token, bool is_held, wp_time_ps now) {
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

void wpi_memory_begin_launch(wpi_memory *m) {
    for (uint32_t i = 0; i < m->profile->sm_count; i++)
        wpi_cache_invalidate(&m->sms[i].l1);
}

void wpi_memory_flush_tlbs(wpi_memory *m) {
    wpi_translation_flush(m->translation);
    wpi_itlb_flush(&m->itlb);
}

uint64_t wpi_memory_under_way(const wpi_memory *m) {
    return m->under_way;
}

/* ---- building ---------------------------------------------------------------------------------
 */

wp_status wpi_memory_create(wpi_engine *engine, const wpi_profile *profile, wpi_memory **out,
                            wp_error *err) {
    *out = NULL;
    wp_status status = WP_STATUS_OK;
    wpi_memory *m = wp_calloc(1, sizeof *m);
    if (m == NULL) return WP_FAIL(err, NOMEM, "memory system");
    m->engine = engine;
    m->profile = profile;
    m->page_bits = (uint32_t)__builtin_ctzll(profile->page_bytes);
    m->to_l2_ps = profile->l2.latency_ps / 2;
    if (profile->paging.replay_lines != 0)
        m->replay_ps = profile->cycle_ps / profile->paging.replay_lines;
    m->from_l2_ps = profile->l2.latency_ps - m->to_l2_ps;
    m->sms = wp_calloc(profile->sm_count, sizeof *m->sms);
    if (m->sms == NULL) status = WP_FAIL(err, NOMEM, "%u SMs", profile->sm_count);
    for (uint32_t i = 0; status == WP_STATUS_OK && i < profile->sm_count; i++)
        status = wpi_memory_sm_init(&m->sms[i], profile, err);
    WP_TRY_GOTO(status, done);
    WP_TRY_GOTO(wpi_itlb_init(&m->itlb, engine, profile, ask_for_code, m, err), done);
    WP_TRY_GOTO(wpi_l2_init(&m->l2, profile, err), done);
    WP_TRY_GOTO(wpi_translation_create(engine, profile, translated, wpi_memory_expect_part, m,
                                       &m->translation, err),
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
    wp_free(m->sms);
    if (m->itlb.profile != NULL) wpi_itlb_deinit(&m->itlb);
    wpi_l2_deinit(&m->l2);
    wpi_translation_destroy(m->translation);
    wpi_paging_destroy(m->paging);
    wpi_pool_deinit(&m->records);
    wpi_pool_deinit(&m->parts);
    wp_free(m);
}

/* ---- statistics -------------------------------------------------------------------------------
 */

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

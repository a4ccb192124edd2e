/* SPDX-License-Identifier: Apache-2.0 */
/* Issue of a warp's access: makes a part for each line, counts its pages, and looks them up in the
 * TLBs, by page or by line (tlb.requests). */
#include "sim/memory/memory_parts.h"
#include "sim/sm/coalescer.h"

#define NONE WPI_MEMORY_NONE

static bool may_use_l1(const wpi_memory *m, const wpi_access *access) {
    return (m->profile->l1.is_on || access->prefers_l1) && access->cache != WP_TRACE_CACHE_GLOBAL &&
           access->cache != WP_TRACE_CACHE_VOLATILE && access->kind <= WP_TRACE_STORE;
}

static void count_access(wpi_memory *m, const wpi_access *access, const wpi_footprint *footprint) {
    wpi_memory_counters *c = &m->counters;
    c->accesses[access->kind]++;
    c->lanes[access->kind] += (uint32_t)__builtin_popcount(access->mask);
    c->lines[access->kind] += footprint->line_count;
    c->pages[access->kind] += footprint->page_count;
    uint32_t sectors = 0;
    for (uint32_t i = 0; i < footprint->line_count; i++)
        sectors += wpi_sector_count(footprint->lines[i].sectors);
    c->sectors[access->kind] += sectors;
    wpi_line_add(access->counts, WP_RUN_LINE_ACCESSES, 1);
    wpi_line_add(access->counts, WP_RUN_LINE_LANES, (uint32_t)__builtin_popcount(access->mask));
    wpi_line_add(access->counts, WP_RUN_LINE_SECTORS, sectors);
    wpi_line_add(access->counts, WP_RUN_LINE_PAGES, footprint->page_count);
}

static uint32_t lanes_on(const wpi_access *access, uint64_t line) {
    uint32_t lanes = 0;
    for (uint32_t left = access->mask; left != 0; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        lanes |= (uint32_t)(access->addresses[lane] / WPI_LINE_BYTES == line) << lane;
    }
    return lanes;
}

/* Makes a part for each line. chains[page]: the parts of a page; of_lines[line]: the part of a
 * line. */
static void make_parts(wpi_memory *m, const wpi_access *access, const wpi_footprint *footprint,
                       uint32_t record_number, wpi_time_ps issued, wpi_time_ps turn,
                       wpi_fifo *chains, uint32_t *of_lines) {
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
                                          .sectors = line->sectors,
                                          .counts = access->counts},
                              .record = record_number,
                              .lanes = access->performed != NULL ? lanes_on(access, line->line) : 0,
                              .is_l1 = is_l1};
        wpi_ledger_until(&wpi_part_of(m, number)->ledger, WPI_SPENT_ISSUE,
                         turn + i * m->profile->cycle_ps + m->profile->lsu_latency_ps);
        wpi_fifo_append(&chains[line->page], wpi_memory_parts(m), number);
        of_lines[i] = number;
    }
}

/* Page size of the access: small if it touches managed memory that is not in large pages. */
static uint32_t page_bits_of(const wpi_memory *m, const wpi_access *access) {
    if (m->paging == NULL || m->page_bits == WPI_PAGE_BITS) return m->page_bits;
    for (uint32_t left = access->mask; left != 0; left &= left - 1) {
        const uint64_t address = access->addresses[__builtin_ctz(left)];
        if (wpi_memory_is_managed(m, address) && !wpi_paging_is_large(m->paging, address))
            return WPI_PAGE_BITS;
    }
    return m->page_bits;
}

/* Counts an access once for each 64 KiB block of the chain. */
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

/* Notes an access to each page of the chain, which has one page, or several of a chunk. */
static void note_pages(const wpi_memory *m, uint32_t first, bool is_written, wpi_time_ps now) {
    const uint64_t address = wpi_part_of(m, first)->request.line * WPI_LINE_BYTES;
    const uint64_t chunk = address - address % WPI_CHUNK_BYTES;
    wpi_pages pages = {{0}};
    for (uint32_t number = first; number != NONE; number = wpi_part_of(m, number)->next)
        wpi_pages_add(&pages, wpi_page_of(wpi_part_of(m, number)->request.line * WPI_LINE_BYTES));
    wpi_page_history_note_pages(m->history, chunk, &pages,
                                is_written ? WP_RUN_PAGE_WRITTEN : WP_RUN_PAGE_READ, now);
}

static void touch(wpi_memory *m, const wpi_access *access, uint32_t first, wpi_time_ps now) {
    if (!wpi_memory_is_managed(m, wpi_part_of(m, first)->request.line * WPI_LINE_BYTES)) return;
    touch_pages(m, first);
    if (m->history != NULL) note_pages(m, first, wpi_memory_is_write(access->kind), now);
}

static void watch(const wpi_memory *m, const wpi_access *access, uint64_t address, bool is_hit,
                  wpi_time_ps now) {
    if (m->watch != NULL)
        wpi_watch_access(m->watch, address, access->name, wpi_memory_is_write(access->kind),
                         !is_hit, now);
}

static void ask_by_page(wpi_memory *m, const wpi_access *access, const wpi_footprint *footprint,
                        const wpi_fifo *chains, wpi_time_ps now) {
    for (uint32_t i = 0; i < footprint->page_count; i++) {
        const uint32_t first = chains[i].first;
        const uint64_t address = wpi_part_of(m, first)->request.line * WPI_LINE_BYTES;
        touch(m, access, first, now);
        watch(m, access, address, wpi_memory_translate(m, first, wpi_part_of(m, first)->ledger.at),
              now);
    }
}

/* Looks each line up, in order; a page counts as a hit if all of its lines hit. */
static void ask_by_line(wpi_memory *m, const wpi_access *access, const wpi_footprint *footprint,
                        const wpi_fifo *chains, const uint32_t *of_lines, wpi_time_ps now) {
    bool is_hit[WPI_FOOTPRINT_MAX];
    for (uint32_t i = 0; i < footprint->page_count; i++) {
        is_hit[i] = true;
        touch(m, access, chains[i].first, now);
    }
    for (uint32_t i = 0; i < footprint->line_count; i++)
        wpi_part_of(m, of_lines[i])->next = NONE;
    for (uint32_t i = 0; i < footprint->line_count; i++) {
        const wpi_time_ps turn = wpi_part_of(m, of_lines[i])->ledger.at;
        if (!wpi_memory_translate(m, of_lines[i], turn)) is_hit[footprint->lines[i].page] = false;
    }
    /* Pages are numbered in order of their first lines. */
    for (uint32_t i = 0, page = 0; page < footprint->page_count; i++) {
        if (footprint->lines[i].page != page) continue;
        watch(m, access, footprint->lines[i].line * WPI_LINE_BYTES, is_hit[page], now);
        page++;
    }
}

/* The LSU passes groups of lanes, and the lines that they touch. */
static uint32_t cycles_of(const wpi_memory *m, uint32_t mask, uint32_t lines) {
    const uint32_t lanes = m->profile->lsu_lanes;
    uint32_t groups = 0;
    for (uint32_t first = 0; first < WPI_LANES; first += lanes)
        groups += (mask >> first & (uint32_t)((UINT64_C(1) << lanes) - 1)) != 0;
    return groups > lines ? groups : lines;
}

uint32_t wpi_memory_access(wpi_memory *m, const wpi_access *access, wpi_time_ps now,
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
    const uint32_t cycles = cycles_of(m, access->mask, lines);
    const wpi_time_ps turn = wpi_bus_take(&at->lsu, now, cycles * m->profile->cycle_ps);
    const uint32_t record_number =
        wpi_memory_make_record(m, access->kind, lines, now, done, object, token);
    wpi_record_of(m, record_number)->performed = access->performed;
    make_parts(m, access, &footprint, record_number, now, turn, chains, of_lines);
    for (uint32_t i = 0; i < footprint.page_count; i++)
        wpi_translation_prefetch(m->translation, access->sm, footprint.pages[i] << page_bits);
    if (m->profile->tlb_requests == WPI_TLB_REQUESTS_LINE)
        ask_by_line(m, access, &footprint, chains, of_lines, now);
    else
        ask_by_page(m, access, &footprint, chains, now);
    return cycles;
}

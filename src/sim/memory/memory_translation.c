/* SPDX-License-Identifier: Apache-2.0 */
/* Translation of an access. Its parts are chained by page; the first part of a chain asks the TLBs
 * for all of them. The answer is local, remote, or to ask again. */
#include "sim/memory/memory_parts.h"

#define NONE WPI_MEMORY_NONE

/* Sets where the part's page is, and holds it if it is local. */
static void place_page(wpi_memory *m, wpi_memory_part *p, bool is_remote) {
    const uint64_t address = p->request.line * WPI_LINE_BYTES;
    const uint32_t bytes = wpi_sector_count(p->request.sectors) * WPI_SECTOR_BYTES;
    if (is_remote) {
        wpi_paging_use_remote(m->paging, address, bytes, wpi_engine_now(m->engine));
        p->request.is_remote = true;
        p->is_l1 = false;
    } else if (wpi_memory_is_managed(m, address)) {
        p->is_held = wpi_paging_hold(m->paging, address, wpi_memory_is_write(p->request.kind));
        if (p->is_held) wpi_paging_use_local(m->paging, address, bytes);
    }
}

bool wpi_memory_translate(wpi_memory *m, uint32_t first, wpi_time_ps now) {
    const wpi_l2_request *request = &wpi_part_of(m, first)->request;
    wpi_translation_answer found = {.lookup_ps = m->profile->tlb[0].latency_ps};
    const bool is_hit =
        wpi_translation_ask(m->translation,
                            &(wpi_translation_asker){.address = request->line * WPI_LINE_BYTES,
                                                     .token = first,
                                                     .sm = request->sm,
                                                     .is_write = wpi_memory_is_write(request->kind),
                                                     .counts = request->counts},
                            now, &found.ready);
    if (is_hit) wpi_memory_translated(m, first, &found);
    return is_hit;
}

/* When a line whose page has arrived continues: an SM replays some of them a cycle. */
static wpi_time_ps replay_turn(wpi_memory *m, const wpi_memory_part *p, wpi_time_ps ready) {
    return m->replay_ps != 0 ? wpi_bus_take(&m->sms[p->request.sm].lsu, ready, m->replay_ps)
                             : ready;
}

/* A write that joined a read's request: writes may have to migrate the page where reads need not.
 */
static bool has_to_ask_again(const wpi_memory *m, uint32_t first,
                             const wpi_translation_answer *answer) {
    const wpi_l2_request *request = &wpi_part_of(m, first)->request;
    return answer->is_remote && wpi_memory_is_write(request->kind) &&
           !wpi_paging_keeps_writes_remote(m->paging, request->line * WPI_LINE_BYTES,
                                           answer->ready);
}

/* The large page was split: each part asks for its own small page. */
static void ask_one_by_one(wpi_memory *m, uint32_t first, wpi_time_ps now) {
    for (uint32_t number = first; number != NONE;) {
        wpi_memory_part *p = wpi_part_of(m, number);
        const uint32_t next = p->next;
        p->next = NONE;
        (void)wpi_memory_translate(m, number, now);
        number = next;
    }
}

void wpi_memory_translated(void *object, uint64_t first, const wpi_translation_answer *answer) {
    wpi_memory *m = object;
    if ((first & WPI_MEMORY_TOKEN_CODE) != 0) {
        wpi_itlb_translated(&m->itlb, first & ~WPI_MEMORY_TOKEN_CODE, answer->ready);
        return;
    }
    if (has_to_ask_again(m, (uint32_t)first, answer)) {
        (void)wpi_memory_translate(m, (uint32_t)first, answer->ready);
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
        if (answer->fault_ps != 0)
            wpi_ledger_wait(&p->ledger, WPI_SPENT_ISSUE, replay_turn(m, p, answer->ready));
        place_page(m, p, answer->is_remote);
        wpi_memory_go_on(m, number);
        number = next;
    }
}

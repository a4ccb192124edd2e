/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that are accessed over the link: whether to migrate one, by the policy's threshold on its
 * accesses so far (policy/migrate.h), and migrations without a waiter: those that access counters
 * start. */
#include "sim/paging/block_moves.h"

#include "base/alloc.h"
#include "sim/paging/paging_parts.h"

static uint64_t bytes_in(const wpi_profile *profile, wpi_time_ps time) {
    return (uint64_t)((double)time / WP_PS_PER_S * (double)profile->link.bytes_per_s);
}

/* How many bytes SMs could have read over the link while a block is on it, in either direction. */
static uint64_t move_bytes(const wpi_profile *profile) {
    const wpi_time_ps move_ps =
        wpi_link_transfer_ps(profile, (uint64_t)WPI_BLOCK_PAGES * WPI_PAGE_BYTES);
    return bytes_in(profile, move_ps);
}

/* A remote access occupies the link for at least its turn (link.remote_turn), as if it had so many
 * bytes. */
static uint32_t turn_bytes(const wpi_profile *profile) {
    const uint64_t bytes = bytes_in(profile, profile->link.remote_turn_ps);
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

/* What one more fault adds to a service. Faults that are drained wait together: of a service's
 * latency each has a share, as if the blocks of a chunk came with it. */
static uint64_t service_bytes(const wpi_profile *profile) {
    switch (profile->paging.service) {
    case WPI_FAULT_BATCH:
        return bytes_in(profile, profile->paging.fault_ps + profile->paging.block_ps);
    case WPI_FAULT_SERIAL: return bytes_in(profile, profile->paging.latency_ps);
    case WPI_FAULT_DRAINED: return bytes_in(profile, profile->paging.latency_ps / WPI_CHUNK_BLOCKS);
    default: return 0;
    }
}

/* Reading a block once costs more than moving it there and back: accesses that continue over the
 * link would delay the pages behind them. */
static bool is_link_slow(const wpi_block_moves *moves) {
    return moves->pass_bytes >= 2 * moves->move_bytes + moves->service_bytes;
}

/* The shortest batch, of one fault. */
static wpi_time_ps batch_ps(const wpi_profile *profile) {
    return profile->paging.interrupt_ps + profile->paging.batch_ps + profile->paging.fault_ps +
           profile->paging.block_ps;
}

void wpi_block_moves_init(wpi_block_moves *moves, const wpi_profile *profile) {
    const uint64_t lines = (uint64_t)WPI_BLOCK_PAGES * WPI_PAGE_BYTES / WPI_LINE_BYTES;
    const uint32_t turn = turn_bytes(profile);
    const wpi_time_ps move_ps =
        wpi_link_transfer_ps(profile, (uint64_t)WPI_BLOCK_PAGES * WPI_PAGE_BYTES);
    const uint64_t line_bytes = turn > WPI_LINE_BYTES ? turn : WPI_LINE_BYTES;
    *moves = (wpi_block_moves){.move_bytes = move_bytes(profile),
                               .move_ps = move_ps,
                               .turn_bytes = turn,
                               .pass_bytes = lines * line_bytes,
                               .line_ps = (wpi_time_ps)((double)line_bytes * WP_PS_PER_S /
                                                        (double)profile->link.bytes_per_s),
                               .service_bytes = service_bytes(profile),
                               .stall_ps = move_ps};
    if (profile->paging.service == WPI_FAULT_BATCH && !is_link_slow(moves))
        moves->stall_ps += batch_ps(profile);
}

void wpi_block_moves_deinit(wpi_block_moves *moves) {
    wpi_free(moves->ordered);
    *moves = (wpi_block_moves){0};
}

wp_status wpi_block_moves_grow(wpi_block_moves *moves, uint32_t before, uint32_t after,
                               wp_error *err) {
    return wpi_residency_grow_words(&moves->ordered, before, after, 1, err);
}

/* ---- is a block worth moving? ---- */

/* Advice, or thrashing: access counts do not matter. */
static bool is_kept_remote(wpi_paging *p, const wpi_chunk *chunk, uint64_t address,
                           wpi_time_ps now) {
    return wpi_pages_has(&chunk->stays_on_host, wpi_page_of(address)) ||
           wpi_thrashing_is_pinned(&p->thrashing, wpi_residency_page(&p->residency, address), now);
}

bool wpi_paging_keeps_writes_remote(wpi_paging *paging, uint64_t address, wpi_time_ps now) {
    const wpi_migrate_ops *ops = paging->profile->paging.migrate->ops;
    const wpi_chunk *chunk = wpi_residency_chunk(&paging->residency, address);
    return ops->counts_writes || is_kept_remote(paging, chunk, address, now);
}

static wpi_migrate_question question_of(const wpi_paging *p, const wpi_chunk_block *block) {
    const wpi_residency *r = &p->residency;
    const uint64_t taken = r->frames - wpi_residency_free(r);
    return (wpi_migrate_question){.accesses = wpi_counter_accesses(block->counter),
                                  .round_trips = wpi_counter_round_trips(block->counter),
                                  .frames = r->frames,
                                  .taken_frames = taken + p->moves.ordered_blocks * WPI_BLOCK_PAGES,
                                  .is_oversubscribed =
                                      wpi_evictions_is_oversubscribed(&p->evictions),
                                  .threshold = p->profile->paging.migrate_threshold,
                                  .penalty = p->profile->paging.migrate_penalty,
                                  .remote_bytes = block->remote_bytes,
                                  .local_bytes = block->local_bytes,
                                  .in_vain = block->in_vain,
                                  .move_bytes = p->moves.move_bytes,
                                  .pass_bytes = p->moves.pass_bytes,
                                  .service_bytes = p->moves.service_bytes};
}

/* By the accesses that it has had so far. */
static bool is_worth_moving(const wpi_paging *p, const wpi_chunk_block *block) {
    const wpi_migrate_ops *ops = p->profile->paging.migrate->ops;
    const wpi_migrate_question question = question_of(p, block);
    const uint64_t so_far = ops->counts_bytes ? question.remote_bytes : question.accesses;
    return so_far >= ops->threshold(&question);
}

bool wpi_block_moves_stay_remote(wpi_paging *paging, const wpi_chunk *chunk,
                                 const wpi_paging_asker *asker, wpi_time_ps now) {
    const wpi_migrate_ops *ops = paging->profile->paging.migrate->ops;
    if (is_kept_remote(paging, chunk, asker->address, now)) return true;
    if (asker->is_write && !ops->counts_writes) return false;
    if (wpi_pages_has(&chunk->prefers_device, wpi_page_of(asker->address))) return false;
    const wpi_page_number page = wpi_residency_page(&paging->residency, asker->address);
    return !is_worth_moving(paging,
                            wpi_residency_block_at(&paging->residency, wpi_page_block(page)));
}

/* ---- orders ---- */

/* Where faults are replayed, an access that stalls waits for a whole batch: it continues even over
 * a slow link. */
static bool takes_orders(const wpi_paging *p) {
    const wpi_migrate_ops *ops = p->profile->paging.migrate->ops;
    return ops->orders && (p->service->is_replaying || !is_link_slow(&p->moves));
}

void wpi_block_moves_order(wpi_paging *paging, wpi_page_number page, wpi_time_ps now) {
    uint64_t *ordered = &paging->moves.ordered[wpi_page_chunk(page).v];
    const uint64_t bit = (uint64_t)1 << wpi_block_index(wpi_page_block(page));
    if ((*ordered & bit) != 0) return;
    *ordered |= bit;
    paging->moves.ordered_blocks++;
    paging->service->order(paging, page, now);
    wpi_idle_prefetch_ask(paging, now);
}

/* Until its transfer starts, a page can be accessed on the host, and over the link that is sooner
 * than its migration. But accesses that continue delay pages: they may keep the link busy, and
 * queue there, for no longer than a block's transfer takes. The direction that counts is to the
 * device: data and pages take it. A page that has never been used has no data on the host. */
bool wpi_block_moves_may_go_on(wpi_paging *paging, const wpi_chunk *chunk,
                               const wpi_paging_asker *asker, wpi_time_ps now) {
    const uint32_t page = wpi_page_of(asker->address);
    if (!takes_orders(paging)) return false;
    if (wpi_pages_has(&chunk->coming, page) || wpi_pages_has(&chunk->untouched, page) ||
        wpi_pages_has(&chunk->prefers_device, page))
        return false;
    wpi_block_moves *moves = &paging->moves;
    const wpi_time_ps from = moves->on_until > now ? moves->on_until : now;
    if (from - now + moves->line_ps > moves->stall_ps ||
        !wpi_link_takes_access(paging->link, WPI_DIRECTION_TO_DEVICE, now + moves->stall_ps))
        return false;
    moves->on_until = from + moves->line_ps; /* it is not at the link yet */
    return true;
}

void wpi_block_moves_serve(wpi_block_moves *moves, wpi_chunk_number chunk, const wpi_pages *pages) {
    uint64_t *ordered = &moves->ordered[chunk.v];
    if (*ordered == 0) return;
    for (uint32_t block = 0; block < WPI_CHUNK_BLOCKS; block++) {
        const uint64_t bit = (uint64_t)1 << block;
        if ((*ordered & bit) == 0 || !wpi_block_has(pages, block)) continue;
        *ordered &= ~bit;
        moves->ordered_blocks--;
    }
}

/* ---- what accesses tell ---- */

void wpi_block_moves_judge(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages) {
    const wpi_migrate_ops *ops = paging->profile->paging.migrate->ops;
    wpi_chunk_block *blocks = wpi_residency_chunk_at(&paging->residency, chunk)->blocks;
    if (ops->was_in_vain == NULL) return;
    for (uint32_t i = wpi_pages_next_block(pages, 0); i < WPI_CHUNK_BLOCKS;
         i = wpi_pages_next_block(pages, i + 1)) {
        const wpi_migrate_question question = question_of(paging, &blocks[i]);
        blocks[i].in_vain = ops->was_in_vain(&question) ? blocks[i].in_vain + 1 : 0;
    }
}

/* Whether block `a` leaves before `b`: only its stay is in vain, or else it was used longer ago. */
static bool leaves_before(const wpi_paging *p, const wpi_chunk_block *a, const wpi_chunk_block *b) {
    const wpi_migrate_ops *ops = p->profile->paging.migrate->ops;
    const wpi_migrate_question of_a = question_of(p, a), of_b = question_of(p, b);
    const bool is_vain = ops->was_in_vain(&of_a);
    return is_vain != ops->was_in_vain(&of_b) ? is_vain : a->age < b->age;
}

static uint32_t first_to_leave(const wpi_paging *p, const wpi_chunk *chunk,
                               const wpi_pages *pages) {
    uint32_t first = wpi_pages_next_block(pages, 0);
    for (uint32_t i = first; i < WPI_CHUNK_BLOCKS; i = wpi_pages_next_block(pages, i + 1))
        if (leaves_before(p, &chunk->blocks[i], &chunk->blocks[first])) first = i;
    return first;
}

wpi_pages wpi_block_moves_needed(const wpi_paging *paging, wpi_chunk_number number,
                                 uint64_t missing, const wpi_pages *victims) {
    const wpi_migrate_ops *ops = paging->profile->paging.migrate->ops;
    const wpi_chunk *chunk = wpi_residency_chunk_at(&paging->residency, number);
    if (!ops->spares) return *victims;
    wpi_pages leave = {{0}}, stay = *victims;
    while (wpi_pages_count(&leave) < missing && !wpi_pages_is_empty(&stay)) {
        const wpi_pages block = wpi_pages_of_block(&stay, first_to_leave(paging, chunk, &stay));
        leave = wpi_pages_or(&leave, &block);
        stay = wpi_pages_without(&stay, &block);
    }
    return leave;
}

/* What the link charges for a remote access of `bytes` bytes: these, or its turn. */
static void charge(const wpi_paging *p, uint32_t *sum, uint32_t bytes) {
    const uint32_t charged = bytes > p->moves.turn_bytes ? bytes : p->moves.turn_bytes;
    *sum = charged > UINT32_MAX - *sum ? UINT32_MAX : *sum + charged;
}

void wpi_paging_use_local(wpi_paging *paging, uint64_t address, uint32_t bytes) {
    const wpi_residency *r = &paging->residency;
    const wpi_page_number page = wpi_residency_page(r, address);
    charge(paging, &wpi_residency_block_at(r, wpi_page_block(page))->local_bytes, bytes);
}

void wpi_paging_use_remote(wpi_paging *paging, uint64_t address, uint32_t bytes, wpi_time_ps now) {
    const wpi_residency *r = &paging->residency;
    const wpi_page_number page = wpi_residency_page(r, address);
    wpi_chunk_block *block = wpi_residency_block_at(r, wpi_page_block(page));
    charge(paging, &block->remote_bytes, bytes);
    if (!takes_orders(paging) || wpi_page_is_here(r, page)) return;
    if (is_worth_moving(paging, block) &&
        !is_kept_remote(paging, wpi_residency_chunk_of(r, page), address, now))
        wpi_block_moves_order(paging, page, now);
}

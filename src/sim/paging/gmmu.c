/* SPDX-License-Identifier: Apache-2.0 */
/* Behind a walk: where a page is. Who has to wait is in one list: a far fault's, or, where its CU
 * has no far fault left or there is no MSHR, the CU's of those that were nacked. */
#include <string.h>

#include "base/alloc.h"
#include "sim/paging/paging_parts.h"

#define NONE WPI_PAGING_NONE

static wpi_paging_waiter *waiter_at(const wpi_paging *p, uint32_t number) {
    return &((wpi_paging_waiter *)p->waiters.items)[number];
}

static wpi_fifo_links waiters_of(const wpi_paging *p) {
    return WPI_FIFO_LINKS(p->waiters.items, wpi_paging_waiter, next);
}

static void append(wpi_paging *p, wpi_fifo *queue, const wpi_paging_waiter *waiter) {
    const uint32_t number = wpi_pool_take(&p->waiters, sizeof *waiter);
    *waiter_at(p, number) = *waiter;
    wpi_fifo_append(queue, waiters_of(p), number);
}

static wpi_paging_waiter take_first(wpi_paging *p, wpi_fifo *queue) {
    const uint32_t number = wpi_fifo_take_first(queue, waiters_of(p));
    const wpi_paging_waiter waiter = *waiter_at(p, number);
    wpi_pool_give(&p->waiters, number);
    return waiter;
}

static void replay(const wpi_paging *p, const wpi_paging_waiter *waiter, bool is_held,
                   wp_time_ps now) {
    p->calls.replay(p->calls.object, waiter->token, is_held, now);
}

/* A nacked request takes the place of one that has its page. It may not need a fault any more. */
static void replay_nacked(wpi_paging *p, wpi_paging_cu *cu, wp_time_ps now) {
    if (wpi_fifo_is_empty(&cu->nacked)) return;
    const wpi_paging_waiter waiter = take_first(p, &cu->nacked);
    replay(p, &waiter, false, now);
}

/* ---- asking -----------------------------------------------------------------------------------
 */

/* How many bytes SMs could have read across the link while a block is on it, there or back. */
static uint64_t block_move_bytes(const wpi_profile *profile) {
    const wp_time_ps move_ps =
        wpi_link_transfer_ps(profile, (uint64_t)WPI_BLOCK_PAGES * WPI_PAGE_BYTES);
    return (uint64_t)((double)move_ps / WP_PS_PER_S * (double)profile->link.bytes_per_s);
}

/* Somebody said so; it does not matter how often it is used. */
static bool is_kept_remote(wpi_paging *p, const wpi_chunk *chunk, uint64_t address,
                           wp_time_ps now) {
    return wpi_pages_has(&chunk->stays_on_host, wpi_page_of(address)) ||
           wpi_thrashing_is_pinned(p, address, now);
}

bool wpi_paging_keeps_writes_remote(wpi_paging *paging, uint64_t address, wp_time_ps now) {
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
                                  .taken_frames = taken + p->ordered_blocks * WPI_BLOCK_PAGES,
                                  .is_oversubscribed = p->is_oversubscribed,
                                  .threshold = p->profile->paging.migrate_threshold,
                                  .penalty = p->profile->paging.migrate_penalty,
                                  .remote_bytes = block->remote_bytes,
                                  .local_bytes = block->local_bytes,
                                  .in_vain = block->in_vain,
                                  .move_bytes = p->block_move_bytes};
}

/* By the accesses that it has had so far. */
static bool is_worth_moving(const wpi_paging *p, const wpi_chunk_block *block) {
    const wpi_migrate_ops *ops = p->profile->paging.migrate->ops;
    const wpi_migrate_question question = question_of(p, block);
    const uint64_t so_far = ops->counts_bytes ? question.remote_bytes : question.accesses;
    return so_far >= ops->threshold(&question);
}

static bool stays_remote(wpi_paging *p, const wpi_chunk *chunk, const wpi_paging_asker *asker,
                         wp_time_ps now) {
    const wpi_migrate_ops *ops = p->profile->paging.migrate->ops;
    if (is_kept_remote(p, chunk, asker->address, now)) return true;
    if (asker->is_write && !ops->counts_writes) return false;
    if (wpi_pages_has(&chunk->prefers_device, wpi_page_of(asker->address))) return false;
    return !is_worth_moving(p, &chunk->blocks[wpi_page_of(asker->address) / WPI_BLOCK_PAGES]);
}

static bool has_fault_left(const wpi_paging *p, const wpi_paging_cu *cu) {
    const uint32_t most = p->profile->paging.cu_faults;
    return most == 0 || cu->waiting < most;
}

static bool has_mshr_left(const wpi_paging *p) {
    return p->profile->paging.mshrs == 0 || p->fault_count < p->profile->paging.mshrs;
}

/* In order, where all are replayed together. */
static void append_fault(wpi_paging *p, uint32_t number) {
    wpi_fifo_append(&p->raised, WPI_FIFO_LINKS(p->faults.items, wpi_far_fault, next), number);
}

/* The pages of the address's chunk that somebody waits for. */
static wpi_pages *waited_at(const wpi_paging *p, uint64_t address) {
    return &p->waited[(address - p->residency.first) / WPI_CHUNK_BYTES];
}

/* No SM waits for the fault, yet. */
static void clear_sms(wpi_paging *p, uint32_t fault) {
    if (p->fault_sms_count < p->faults.capacity) {
        p->fault_sms = wp_realloc(p->fault_sms, p->faults.capacity * sizeof *p->fault_sms);
        WP_CHECK(p->fault_sms != NULL);
        p->fault_sms_count = p->faults.capacity;
    }
    memset(p->fault_sms[fault], 0, sizeof p->fault_sms[fault]);
}

static uint32_t raise(wpi_paging *p, uint64_t address, const wpi_paging_waiter *waiter,
                      wp_time_ps now) {
    const uint32_t number = wpi_pool_take(&p->faults, sizeof(wpi_far_fault));
    *wpi_fault_at(p, number) = (wpi_far_fault){.address = address,
                                               .raised = now,
                                               .first = *waiter,
                                               .others = WPI_FIFO_EMPTY,
                                               .next = NONE};
    wpi_index_add(&p->fault_of, address / WPI_PAGE_BYTES, number);
    wpi_pages_add(waited_at(p, address), wpi_page_of(address));
    p->fault_count++;
    if (p->service->is_replaying) {
        append_fault(p, number);
        clear_sms(p, number);
    }
    return number;
}

/* Notes that the SM has a waiter, where a service replays. False: it had one before. */
static bool is_first_of_sm(const wpi_paging *p, uint32_t fault, uint32_t sm) {
    if (!p->service->is_replaying) return false;
    uint64_t *word = &p->fault_sms[fault][sm / 64];
    const uint64_t bit = (uint64_t)1 << sm % 64, before = *word;
    *word |= bit;
    return (before & bit) == 0;
}

static void wait_for_page(wpi_paging *p, const wpi_paging_asker *asker, bool is_coming,
                          wp_time_ps now) {
    const uint64_t address = asker->address / WPI_PAGE_BYTES * WPI_PAGE_BYTES;
    wpi_paging_cu *cu = &p->cus[asker->sm];
    uint32_t fault = wpi_index_find(&p->fault_of, address / WPI_PAGE_BYTES);
    const bool is_new = fault == WPI_INDEX_NONE;
    const bool is_counted =
        is_new || p->profile->paging.cu_counts == (uint32_t)WPI_CU_COUNTS_WAITED;
    const wpi_paging_waiter waiter = {
        .token = asker->token, .sm = asker->sm, .is_counted = is_counted};
    if ((is_counted && !has_fault_left(p, cu)) || (is_new && !has_mshr_left(p))) {
        wpi_page_events_add(&p->events, WPI_PAGE_NACKED, 1);
        append(p, &cu->nacked, &waiter);
        return;
    }
    if (is_new)
        fault = raise(p, address, &waiter, now);
    else
        append(p, &wpi_fault_at(p, fault)->others, &waiter);
    cu->waiting += is_counted;
    /* It was nacked before, and leaves the place that was to be its to another. */
    if (!is_counted && has_fault_left(p, cu)) replay_nacked(p, cu, now);
    const bool is_first = is_first_of_sm(p, fault, asker->sm);
    if (!is_new && !is_first) {
        wpi_page_events_add(&p->events, WPI_PAGE_JOINED, 1);
    } else if (!is_coming || p->service->is_replaying) {
        /* Page tables do not know what is coming. */
        const wpi_paging_asker of_page = {address, asker->token, asker->sm, asker->is_write};
        p->service->add(p, &of_page, now);
        wpi_migration_idle(p, now);
    }
}

/* Replays tell who waits, not who orders. */
static bool takes_orders(const wpi_paging *p) {
    const wpi_migrate_ops *ops = p->profile->paging.migrate->ops;
    return ops->orders && !p->service->is_replaying;
}

/* The block is to come, and nobody waits for it: a service is told once. */
static void order(wpi_paging *p, const wpi_chunk *chunk, uint64_t address, wp_time_ps now) {
    uint64_t *ordered = &p->ordered[chunk - p->residency.chunks];
    const uint64_t bit = (uint64_t)1 << wpi_page_of(address) / WPI_BLOCK_PAGES;
    if ((*ordered & bit) != 0) return;
    *ordered |= bit;
    p->ordered_blocks++;
    p->service->add(p, &(wpi_paging_asker){.address = address}, now);
    wpi_migration_idle(p, now);
}

/* A page is where it was until it is on its way, and an idle link reaches it sooner than a service
 * brings it; asked is the way that answers take, and the page will. What nobody has used is
 * nowhere. */
static bool may_go_on(const wpi_paging *p, const wpi_chunk *chunk, const wpi_paging_asker *asker,
                      wp_time_ps now) {
    const uint32_t page = wpi_page_of(asker->address);
    if (!takes_orders(p)) return false;
    if (wpi_pages_has(&chunk->coming, page) || wpi_pages_has(&chunk->untouched, page) ||
        wpi_pages_has(&chunk->prefers_device, page))
        return false;
    return wpi_link_takes_access(p->link, WPI_DIRECTION_TO_DEVICE, now);
}

wpi_paging_answer wpi_paging_ask(wpi_paging *paging, const wpi_paging_asker *asker,
                                 wp_time_ps now) {
    wpi_chunk *chunk = wpi_residency_chunk(&paging->residency, asker->address);
    const uint32_t page = wpi_page_of(asker->address);
    const bool is_local = wpi_pages_has(&chunk->resident, page);
    const bool is_coming = !is_local && wpi_page_is_here(chunk, page);
    bool is_remote = !is_local && !is_coming && stays_remote(paging, chunk, asker, now);
    if (!is_local && !is_remote && may_go_on(paging, chunk, asker, now)) {
        if (!is_coming) order(paging, chunk, asker->address, now);
        is_remote = true;
    }
    if (!is_local && !is_remote) {
        wait_for_page(paging, asker, is_coming, now);
        return WPI_PAGING_WAITS;
    }
    /* If it was nacked before, it has no use for the place that was to be its. */
    wpi_paging_cu *cu = &paging->cus[asker->sm];
    if (has_fault_left(paging, cu)) replay_nacked(paging, cu, now);
    if (is_remote) {
        wpi_pages_remove(&chunk->untouched, page); /* made where it is reached */
        wpi_page_events_report_one(&paging->events, WPI_PAGE_REMOTE, asker->address, now);
    }
    return is_remote ? WPI_PAGING_REMOTE : WPI_PAGING_LOCAL;
}

void wpi_gmmu_serve(wpi_paging *paging, uint32_t chunk, const wpi_pages *pages) {
    if (paging->ordered[chunk] == 0) return;
    for (uint32_t block = 0; block < WPI_CHUNK_BLOCKS; block++) {
        const uint64_t bit = (uint64_t)1 << block;
        if ((paging->ordered[chunk] & bit) == 0 || !wpi_block_has(pages, block)) continue;
        paging->ordered[chunk] &= ~bit;
        paging->ordered_blocks--;
    }
}

void wpi_gmmu_judge(wpi_paging *paging, uint32_t chunk, const wpi_pages *pages) {
    const wpi_migrate_ops *ops = paging->profile->paging.migrate->ops;
    wpi_chunk_block *blocks = paging->residency.chunks[chunk].blocks;
    if (ops->was_in_vain == NULL) return;
    for (uint32_t i = wpi_pages_next_block(pages, 0); i < WPI_CHUNK_BLOCKS;
         i = wpi_pages_next_block(pages, i + 1)) {
        const wpi_migrate_question question = question_of(paging, &blocks[i]);
        blocks[i].in_vain = ops->was_in_vain(&question) ? blocks[i].in_vain + 1 : 0;
    }
}

/* ---- answers ----------------------------------------------------------------------------------
 */

/* Where MSHRs are what lacks, CUs that have no page to wait for would never be told. */
static void replay_any(wpi_paging *p, wp_time_ps now) {
    for (uint32_t i = 0; i < p->profile->sm_count; i++)
        if (p->cus[i].waiting == 0) replay_nacked(p, &p->cus[i], now);
}

static bool is_resident(const wpi_paging *p, uint64_t address) {
    return wpi_pages_has(&wpi_residency_chunk(&p->residency, address)->resident,
                         wpi_page_of(address));
}

/* The waiter walks again; it holds the page if that is there. */
static void release_waiter(wpi_paging *p, const wpi_paging_waiter *waiter, uint64_t address,
                           bool is_held, wp_time_ps now) {
    wpi_paging_cu *cu = &p->cus[waiter->sm];
    cu->waiting -= waiter->is_counted;
    if (is_held) (void)wpi_paging_hold(p, address, false);
    replay(p, waiter, is_held, now);
    replay_nacked(p, cu, now);
}

static void release(wpi_paging *p, uint32_t number, wp_time_ps now) {
    const wpi_far_fault fault = *wpi_fault_at(p, number);
    const bool is_held = is_resident(p, fault.address);
    (void)wpi_index_take(&p->fault_of, fault.address / WPI_PAGE_BYTES);
    wpi_pages_remove(waited_at(p, fault.address), wpi_page_of(fault.address));
    wpi_pool_give(&p->faults, number);
    p->fault_count--;
    wpi_page_events_measure(&p->events, WPI_PAGE_WAIT_PS, now - fault.raised);
    release_waiter(p, &fault.first, fault.address, is_held, now);
    for (wpi_fifo others = fault.others; !wpi_fifo_is_empty(&others);) {
        const wpi_paging_waiter waiter = take_first(p, &others);
        release_waiter(p, &waiter, fault.address, is_held, now);
    }
}

void wpi_gmmu_expect_arrival(const wpi_paging *paging, uint32_t chunk, uint32_t first,
                             uint32_t outer) {
    const uint32_t page = wpi_pages_next(&paging->waited[chunk], first);
    if (page < outer)
        wpi_index_prefetch(&paging->fault_of,
                           wpi_page_address(paging, chunk, page) / WPI_PAGE_BYTES);
}

void wpi_gmmu_expect_release(const wpi_paging *paging, uint32_t chunk, uint32_t first,
                             uint32_t outer) {
    const uint32_t page = wpi_pages_next(&paging->waited[chunk], first);
    if (page >= outer) return;
    const uint64_t number = wpi_page_address(paging, chunk, page) / WPI_PAGE_BYTES;
    __builtin_prefetch(wpi_fault_at(paging, wpi_index_find(&paging->fault_of, number)));
}

void wpi_gmmu_arrived(wpi_paging *paging, uint32_t chunk, uint32_t first, uint32_t outer,
                      wp_time_ps now) {
    if (paging->service->is_replaying) return;
    for (uint32_t page = wpi_pages_next(&paging->waited[chunk], first); page < outer;
         page = wpi_pages_next(&paging->waited[chunk], page + 1)) {
        const uint64_t address = wpi_page_address(paging, chunk, page);
        release(paging, wpi_index_find(&paging->fault_of, address / WPI_PAGE_BYTES), now);
        if (paging->profile->paging.mshrs != 0) replay_any(paging, now);
    }
}

void wpi_gmmu_replay(wpi_paging *paging, wp_time_ps now) {
    uint32_t number = wpi_fifo_take_all(&paging->raised).first;
    while (number != NONE) {
        const uint32_t next = wpi_fault_at(paging, number)->next;
        release(paging, number, now);
        number = next;
    }
    if (paging->profile->paging.mshrs != 0) replay_any(paging, now);
}

/* ---- accesses under way -----------------------------------------------------------------------
 */

void wpi_paging_expect(const wpi_paging *paging, uint64_t address, wpi_paging_expected what) {
    const uint64_t page = (address - paging->residency.first) / WPI_PAGE_BYTES;
    const uint64_t number = page / WPI_CHUNK_PAGES;
    const uint32_t block = (uint32_t)(page % WPI_CHUNK_PAGES) / WPI_BLOCK_PAGES;
    if (number >= paging->residency.chunk_count) return;
    const wpi_chunk *chunk = &paging->residency.chunks[number];
    __builtin_prefetch(&chunk->age, 1);
    __builtin_prefetch(&chunk->blocks[block], 1);
    if (what == WPI_PAGING_TOUCH) return;
    __builtin_prefetch(&chunk->resident);
    __builtin_prefetch(&chunk->unused);
    __builtin_prefetch(&paging->known[page], 1);
}

/* A page that was to leave is used. */
static void keep_staged(wpi_paging *p, const wpi_chunk *chunk, uint64_t address) {
    const uint32_t page = wpi_page_of(address);
    wpi_pages pages = {{0}};
    if (p->staged_pages == 0 || !wpi_pages_has(&chunk->unlisted, page)) return;
    wpi_pages_add(&pages, page);
    wpi_staging_keep(p, (uint32_t)(chunk - p->residency.chunks), &pages);
}

void wpi_paging_touch(wpi_paging *paging, uint64_t address) {
    paging->was_touched = true;
    wpi_paging_foresee(paging, address);
    wpi_chunk *chunk = wpi_residency_chunk(&paging->residency, address);
    keep_staged(paging, chunk, address);
    wpi_residency_touch(&paging->residency, chunk, wpi_page_of(address));
}

static void add_bytes(uint32_t *sum, uint32_t bytes) {
    *sum = bytes > UINT32_MAX - *sum ? UINT32_MAX : *sum + bytes;
}

void wpi_paging_use_local(wpi_paging *paging, uint64_t address, uint32_t bytes) {
    wpi_chunk *chunk = wpi_residency_chunk(&paging->residency, address);
    add_bytes(&chunk->blocks[wpi_page_of(address) / WPI_BLOCK_PAGES].local_bytes, bytes);
}

void wpi_paging_use_remote(wpi_paging *paging, uint64_t address, uint32_t bytes, wp_time_ps now) {
    wpi_chunk *chunk = wpi_residency_chunk(&paging->residency, address);
    const uint32_t page = wpi_page_of(address);
    wpi_chunk_block *block = &chunk->blocks[page / WPI_BLOCK_PAGES];
    add_bytes(&block->remote_bytes, bytes);
    if (!takes_orders(paging) || wpi_page_is_here(chunk, page)) return;
    if (is_worth_moving(paging, block) && !is_kept_remote(paging, chunk, address, now))
        order(paging, chunk, address, now);
}

bool wpi_paging_hold(wpi_paging *paging, uint64_t address, bool is_write) {
    wpi_chunk *chunk = wpi_residency_chunk(&paging->residency, address);
    const uint32_t page = wpi_page_of(address);
    if (!wpi_pages_has(&chunk->resident, page)) {
        WP_ASSERT(paging->profile->paging.fills_remote);
        return false;
    }
    keep_staged(paging, chunk, address);
    wpi_residency_hold(chunk, page / WPI_BLOCK_PAGES);
    if (wpi_pages_has(&chunk->unused, page)) {
        wpi_pages_remove(&chunk->unused, page);
        wpi_page_events_add(&paging->events, WPI_PAGE_PREFETCHED_USED, 1);
    }
    if (is_write) wpi_residency_write(chunk, page);
    return true;
}

bool wpi_paging_is_here(const wpi_paging *paging, uint64_t address) {
    const wpi_chunk *chunk = wpi_residency_chunk(&paging->residency, address);
    return wpi_pages_has(&chunk->resident, wpi_page_of(address));
}

bool wpi_paging_is_large(const wpi_paging *paging, uint64_t address) {
    return paging->profile->page_bytes == WPI_CHUNK_BYTES &&
           wpi_residency_chunk(&paging->residency, address)->is_whole;
}

void wpi_paging_known(wpi_paging *paging, uint64_t address, bool is_large, uint32_t tlb) {
    const uint64_t offset = address - paging->residency.first;
    uint64_t *known = is_large ? &paging->known_large[offset / WPI_CHUNK_BYTES]
                               : &paging->known[offset / WPI_PAGE_BYTES];
    *known |= (uint64_t)1 << tlb % 64;
}

void wpi_paging_release(wpi_paging *paging, uint64_t address, wp_time_ps now) {
    wpi_chunk *chunk = wpi_residency_chunk(&paging->residency, address);
    const bool is_free = wpi_residency_let_go(chunk, wpi_page_of(address) / WPI_BLOCK_PAGES);
    if (is_free && (!wpi_fifo_is_empty(&paging->planned) || !wpi_fifo_is_empty(&paging->staged)))
        wpi_migration_pump(paging, now);
}

/* ---- life -------------------------------------------------------------------------------------
 */

wp_status wpi_paging_create(wpi_engine *engine, const wpi_profile *profile, wpi_link *link,
                            uint64_t first, const wpi_paging_calls *calls, wpi_paging **out,
                            wp_error *err) {
    *out = NULL;
    wpi_paging *p = wp_calloc(1, sizeof *p);
    if (p == NULL) return WP_FAIL(err, NOMEM, "paging");
    *p = (wpi_paging){.engine = engine,
                      .profile = profile,
                      .link = link,
                      .calls = *calls,
                      .random = profile->seed * 0x9e3779b97f4a7c15u | 1,
                      .service = profile->paging.service == WPI_FAULT_BATCH ? &wpi_fault_batches
                                                                            : &wpi_fault_rounds,
                      .raised = WPI_FIFO_EMPTY,
                      .buffer = WPI_FIFO_EMPTY,
                      .served = WPI_FIFO_EMPTY,
                      .block_move_bytes = block_move_bytes(profile),
                      .planned = WPI_FIFO_EMPTY,
                      .staged = WPI_FIFO_EMPTY};
    p->events.first = first;
    wpi_residency_init(&p->residency, first, profile->memory_bytes / WPI_PAGE_BYTES);
    wpi_thrashing_init(p);
    p->cus = wp_calloc(profile->sm_count, sizeof *p->cus);
    const bool has_index = wpi_index_init(&p->fault_of, 0);
    if (p->cus == NULL || !has_index) {
        wpi_paging_destroy(p);
        return WP_FAIL(err, NOMEM, "paging");
    }
    for (uint32_t i = 0; i < profile->sm_count; i++)
        p->cus[i].nacked = WPI_FIFO_EMPTY;
    const wp_status status = p->service->create != NULL ? p->service->create(p, err) : WP_STATUS_OK;
    if (status != WP_STATUS_OK) {
        wpi_paging_destroy(p);
        return status;
    }
    *out = p;
    return WP_STATUS_OK;
}

void wpi_paging_destroy(wpi_paging *paging) {
    if (paging == NULL) return;
    if (paging->service->destroy != NULL) paging->service->destroy(paging);
    wpi_thrashing_deinit(paging);
    wpi_residency_deinit(&paging->residency);
    wpi_index_deinit(&paging->fault_of);
    wpi_pool_deinit(&paging->faults);
    wpi_pool_deinit(&paging->waiters);
    wpi_pool_deinit(&paging->entries);
    wpi_pool_deinit(&paging->transfers);
    wpi_pool_deinit(&paging->staged_runs);
    wpi_pool_deinit(&paging->requests);
    wp_free(paging->cus);
    wp_free(paging->fault_sms);
    wp_free(paging->evict_notes);
    wp_free(paging->ordered);
    wp_free(paging->known);
    wp_free(paging->known_large);
    wp_free(paging->waited);
    wp_free(paging);
}

/* Grows an array of `each` words a chunk, new ones 0. */
static wp_status grow_words(uint64_t **words, uint64_t before, uint64_t after, uint64_t each,
                            wp_error *err) {
    uint64_t *grown = wp_realloc(*words, after * each * sizeof *grown);
    if (grown == NULL)
        return WP_FAIL(err, NOMEM, "%llu chunks of managed memory", (unsigned long long)after);
    for (uint64_t i = before * each; i < after * each; i++)
        grown[i] = 0;
    *words = grown;
    return WP_STATUS_OK;
}

static wp_status grow_waited(wpi_paging *p, uint32_t before, uint32_t after, wp_error *err) {
    wpi_pages *waited = wp_realloc(p->waited, after * sizeof *waited);
    if (waited == NULL) return WP_FAIL(err, NOMEM, "%u chunks of managed memory", after);
    for (uint32_t i = before; i < after; i++)
        waited[i] = (wpi_pages){{0}};
    p->waited = waited;
    return WP_STATUS_OK;
}

/* The arrays beside the residency's, which counts the chunks: an array that has grown when another
 * one cannot is only longer than it needs to be, and grows again with the next allocation. */
static wp_status grow_arrays(wpi_paging *p, uint32_t after, wp_error *err) {
    const wpi_evict_ops *evict = p->profile->paging.evict->ops;
    wpi_residency *r = &p->residency;
    const uint32_t before = r->chunk_count;
    WP_TRY(wpi_thrashing_grow(p, after, err));
    if (evict->needs_page_ages)
        WP_TRY(grow_words(&r->page_ages, before, after, WPI_CHUNK_PAGES, err));
    WP_TRY(grow_words(&p->ordered, before, after, 1, err));
    WP_TRY(grow_words(&p->known, before, after, WPI_CHUNK_PAGES, err));
    WP_TRY(grow_words(&p->known_large, before, after, 1, err));
    WP_TRY(grow_waited(p, before, after, err));
    WP_TRY(grow_words(&p->evict_notes, before, after, 1, err));
    return wpi_residency_reserve(r, after, err);
}

wp_status wpi_paging_add(wpi_paging *paging, uint64_t address, uint64_t bytes, wp_error *err) {
    wpi_residency *r = &paging->residency;
    const uint64_t covered =
        paging->profile->paging.rounds_up ? wpi_residency_tree_bytes(bytes) : bytes;
    uint32_t count;
    WP_TRY(wpi_residency_count(r, address, covered, &count, err));
    WP_TRY(grow_arrays(paging, count, err));
    WP_TRY(wpi_page_events_allocate(&paging->events, address, bytes,
                                    (covered + WPI_PAGE_BYTES - 1) / WPI_PAGE_BYTES, err));
    WP_TRY(wpi_residency_add(r, address, covered, err)); /* there is room for it */
    if (paging->profile->paging.makes_pages) wpi_residency_set_untouched(r, address, covered);
    return WP_STATUS_OK;
}

/* Another allocation may come to these addresses: TLBs must not know them then. */
void wpi_paging_remove(wpi_paging *paging, uint64_t address, uint64_t bytes) {
    wpi_pages all = {{0}};
    wpi_pages_add_range(&all, 0, WPI_CHUNK_PAGES);
    for (uint64_t at = address; at < address + bytes; at += WPI_CHUNK_BYTES) {
        const uint32_t chunk = (uint32_t)((at - paging->residency.first) / WPI_CHUNK_BYTES);
        wpi_gmmu_serve(paging, chunk, &all);
        wpi_staging_keep(paging, chunk, &all);
        wpi_shoot_down(paging, chunk,
                       paging->profile->paging.fills_remote
                           ? &all
                           : &paging->residency.chunks[chunk].resident);
        wpi_thrash_forget(&paging->thrash, chunk);
    }
    wpi_residency_remove(&paging->residency, address, bytes);
}

void wpi_paging_set_history(wpi_paging *paging, wpi_page_history *history) {
    paging->events.history = history;
}

void wpi_paging_set_watch(wpi_paging *paging, wpi_watch *watch) {
    paging->events.watch = watch;
}

void wpi_paging_set_frames(wpi_paging *paging, uint64_t frames) {
    wpi_residency_set_frames(&paging->residency, frames);
}

bool wpi_paging_has(const wpi_paging *paging, uint64_t address) {
    return wpi_residency_chunk(&paging->residency, address) != NULL;
}

const wpi_residency *wpi_paging_residency(const wpi_paging *paging) {
    return &paging->residency;
}

/* What faults take that are only counted, and is no part of the kernels' time. */
static uint64_t added_ns(const wpi_paging *p) {
    if (p->profile->paging.service != WPI_FAULT_ADDED) return 0;
    return p->events.counts[WPI_PAGE_FAR_FAULT] * p->profile->paging.latency_ps / WP_PS_PER_NS;
}

void wpi_paging_statistics(const wpi_paging *paging, wpi_visit visit, void *object) {
    const wpi_page_events *events = &paging->events;
    wpi_page_events_visit(events, WPI_PAGE_FAR_FAULT, WPI_PAGE_FETCHED, visit, object);
    wpi_visit_value(visit, object, "paging.", "added_ns", "ns", added_ns(paging));
    wpi_page_events_visit(events, WPI_PAGE_FETCHED, WPI_PAGE_EVENTS, visit, object);
    wpi_page_events_visit_measure(events, WPI_PAGE_WAIT_PS, visit, object);
    if (paging->service->statistics != NULL) paging->service->statistics(paging, visit, object);
}

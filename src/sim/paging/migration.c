/* SPDX-License-Identifier: Apache-2.0 */
/* Pages on their way. What comes is cut into runs, each a transfer: after every page that faults,
 * so that it comes before what was prefetched with it, and where a page is missing. Transfers start
 * in order, when there are frames; what has to leave for that goes over the other direction of the
 * link. */
#include "sim/paging/paging_parts.h"

#define NONE WPI_PAGING_NONE

static wpi_transfer *transfer_at(const wpi_paging *p, uint32_t number) {
    return &((wpi_transfer *)p->transfers.items)[number];
}

static wpi_fifo_links transfers_of(const wpi_paging *p) {
    return WPI_FIFO_LINKS(p->transfers.items, wpi_transfer, next);
}

/* Pages over the link: when they are there. */
static wp_time_ps copy(wpi_paging *p, uint32_t pages, wpi_direction direction, wp_time_ps now,
                       wp_time_ps *begun) {
    const uint64_t bytes = (uint64_t)pages * WPI_PAGE_BYTES;
    wpi_page_events_add(&p->events,
                        direction == WPI_DIRECTION_TO_DEVICE ? WPI_PAGE_LINK_TO_DEVICE
                                                             : WPI_PAGE_LINK_TO_HOST,
                        wpi_link_transfer_ps(p->profile, bytes));
    return wpi_link_copy(p->link, bytes, direction, now, begun);
}

/* ---- out --------------------------------------------------------------------------------------
 */

static void written_back(void *object, uint64_t frames, wp_time_ps now) {
    wpi_paging *p = object;
    wpi_residency_release(&p->residency, frames);
    wpi_migration_pump(p, now);
}

/* Which of the pages are not on the host as they are here. */
static wpi_pages to_write_back(const wpi_paging *p, const wpi_chunk *chunk,
                               const wpi_pages *pages) {
    if (p->profile->paging.drops_clean && !chunk->is_written) return (wpi_pages){{0}};
    const wpi_pages twice = wpi_pages_without(&chunk->read_mostly, &chunk->dirty);
    return wpi_pages_without(pages, &twice);
}

/* A run of pages over the link, whose frames are free then. */
static wp_time_ps write_back(wpi_paging *p, uint32_t pages, wp_time_ps now) {
    wp_time_ps begun = 0;
    const wp_time_ps done = copy(p, pages, WPI_DIRECTION_TO_HOST, now, &begun);
    if (done > p->last_departure) p->last_departure = done;
    const wp_time_ps free = p->profile->paging.frees_at_start ? begun : done;
    if (free > now)
        wpi_engine_at(p->engine, free, written_back, p, pages);
    else
        wpi_residency_release(&p->residency, pages);
    return done;
}

/* Of each page only the TLBs that have had it since it came last. */
void wpi_shoot_down(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages) {
    uint64_t *known = &paging->known[wpi_page_in(chunk, 0).v];
    const wpi_paging_shot shot = {.address = wpi_chunk_address(paging->residency.first, chunk),
                                  .pages = pages,
                                  .tlbs = known,
                                  .tlbs_large = paging->known_large[chunk.v]};
    if (wpi_pages_is_empty(pages)) return;
    paging->calls.shoot_down(paging->calls.object, &shot);
    paging->known_large[chunk.v] = 0;
    for (uint32_t page = 0; page < WPI_CHUNK_PAGES; page++)
        if (wpi_pages_has(pages, page)) known[page] = 0;
}

wp_time_ps wpi_migrate_out(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages,
                           const wpi_pages *copied, wp_time_ps now) {
    wp_time_ps done = now;
    wpi_staging_keep(paging, chunk, pages);
    wpi_shoot_down(paging, chunk, pages);
    wpi_residency_release(&paging->residency, wpi_pages_count(pages) - wpi_pages_count(copied));
    for (uint32_t first = wpi_pages_next(copied, 0); first < WPI_CHUNK_PAGES;) {
        const uint32_t outer = wpi_pages_run_end(copied, first);
        done = write_back(paging, outer - first, now);
        first = wpi_pages_next(copied, outer);
    }
    return done;
}

/* A block's pages leave once more. */
static void count_round_trips(wpi_paging *p, const wpi_chunk *chunk, const wpi_pages *pages) {
    for (uint32_t block = 0; block < WPI_CHUNK_BLOCKS; block++)
        if (wpi_block_has(pages, block))
            wpi_page_events_add_round_trip(&p->events, chunk->blocks[block].evictions);
}

/* Who knows the chunk's pages will be looked up. */
static void expect_shot(const wpi_paging *p, wpi_chunk_number chunk) {
    const uint64_t *known = &p->known[wpi_page_in(chunk, 0).v];
    for (uint32_t page = 0; page < WPI_CHUNK_PAGES; page += 8)
        __builtin_prefetch(&known[page], 1);
}

void wpi_migrate_evict(wpi_paging *paging, wpi_chunk_number number, const wpi_pages *pages,
                       wp_time_ps now) {
    wpi_chunk *chunk = wpi_residency_chunk_at(&paging->residency, number);
    const wpi_pages copied = to_write_back(paging, chunk, pages);
    const wpi_pages dirty = wpi_pages_and(pages, &chunk->dirty);
    expect_shot(paging, number);
    wpi_ahead_left(paging, number, pages);
    wpi_blocks_judge(paging, number, pages);
    wpi_residency_evict(&paging->residency, chunk, pages);
    paging->has_evicted = true;
    count_round_trips(paging, chunk, pages);
    wpi_page_events_report(&paging->events, WPI_PAGE_EVICTED, number, pages, now);
    wpi_page_events_add(&paging->events, WPI_PAGE_EVICTED_DIRTY, wpi_pages_count(&dirty));
    wpi_page_events_add(&paging->events, WPI_PAGE_WRITTEN_BACK, wpi_pages_count(&copied));
    (void)wpi_migrate_out(paging, number, pages, &copied, now);
}

bool wpi_migrate_choose(wpi_paging *paging, wpi_chunk_number *chunk, wpi_pages *pages) {
    const wpi_evict_ops *ops = paging->profile->paging.evict->ops;
    wpi_evict_question question = {.residency = &paging->residency,
                                   .reserve_percent = paging->profile->paging.reserve_percent,
                                   .random = &paging->random,
                                   .notes = paging->evict_notes,
                                   .future = wpi_paging_future(paging)};
    if (ops->choose(&question, &chunk->v, pages)) return true;
    question.is_pressed = true;
    return ops->choose(&question, &chunk->v, pages);
}

/* One victim; false: nothing may leave now. */
static bool evict_one(wpi_paging *p, wpi_may_leave may_leave, const void *object, wp_time_ps now) {
    wpi_chunk_number chunk = {0};
    wpi_pages pages;
    if (!wpi_migrate_choose(p, &chunk, &pages)) return false;
    if (may_leave != NULL && !may_leave(p, chunk, &pages, object)) return false;
    wpi_migrate_evict(p, chunk, &pages, now);
    return true;
}

/* Frames that are free, or will be when what leaves is gone. */
static uint64_t expected_free(const wpi_paging *p) {
    return wpi_residency_free(&p->residency) + p->residency.leaving;
}

bool wpi_migrate_make_room(wpi_paging *paging, uint64_t pages, wpi_may_leave may_leave,
                           const void *object, wp_time_ps now) {
    if (expected_free(paging) < pages) paging->is_oversubscribed = true;
    while (expected_free(paging) < pages && evict_one(paging, may_leave, object, now))
        ;
    return wpi_residency_free(&paging->residency) >= pages;
}

/* Some frames are kept free ahead of need. */
static void evict_ahead(wpi_paging *p, wp_time_ps now) {
    const uint64_t wanted = p->residency.frames * p->profile->paging.free_percent / 100;
    while (expected_free(p) < wanted && evict_one(p, NULL, NULL, now))
        ;
}

/* ---- in ---------------------------------------------------------------------------------------
 */

/* Blocks that were never here before. */
static void count_blocks(wpi_paging *p, wpi_chunk *chunk, const wpi_pages *pages) {
    if (chunk->came == UINT32_MAX) return;
    for (uint32_t block = wpi_pages_next_block(pages, 0); block < WPI_CHUNK_BLOCKS;
         block = wpi_pages_next_block(pages, block + 1)) {
        const uint32_t bit = 1u << block;
        if ((chunk->came & bit) != 0) continue;
        chunk->came |= bit;
        wpi_page_events_add(&p->events, WPI_PAGE_BLOCK_FETCHED, 1);
    }
}

static void look_for_quiet(wpi_paging *p, wp_time_ps now);

/* But for what will leave the link by itself. */
static bool is_moving(const wpi_paging *p) {
    return !wpi_fifo_is_empty(&p->planned) || p->residency.coming != 0 ||
           !wpi_fifo_is_empty(&p->staged);
}

/* Pages to the host, and accesses. */
static wp_time_ps link_busy_until(const wpi_paging *p) {
    const wp_time_ps accesses = wpi_link_accesses_until(p->link);
    return accesses > p->last_departure ? accesses : p->last_departure;
}

static void may_be_quiet(void *object, uint64_t token, wp_time_ps now) {
    wpi_paging *p = object;
    const wpi_event_fn quiet = p->quiet;
    (void)token;
    p->is_quiet_due = false;
    if (is_moving(p) || link_busy_until(p) > now) {
        look_for_quiet(p, now);
        return;
    }
    p->quiet = NULL;
    quiet(p->quiet_object, 0, now);
}

/* Looks in the next cycle without a transfer whether faults have begun others. */
static void look_for_quiet(wpi_paging *p, wp_time_ps now) {
    const wp_time_ps cycle_ps = p->profile->cycle_ps, busy = link_busy_until(p);
    if (p->quiet == NULL || p->is_quiet_due || is_moving(p)) return;
    p->is_quiet_due = true;
    wpi_engine_at(p->engine, ((busy > now ? busy : now) / cycle_ps + 1) * cycle_ps, may_be_quiet, p,
                  0);
}

bool wpi_paging_is_quiet(wpi_paging *paging, wp_time_ps now, wpi_event_fn quiet, void *object) {
    if (!is_moving(paging) && link_busy_until(paging) <= now) return true;
    paging->quiet = quiet;
    paging->quiet_object = object;
    look_for_quiet(paging, now);
    return false;
}

/* Its event has the transfer, and the chunk before it: for who may fetch ahead. */
static void expect_arrival(void *object, uint64_t token, bool is_near) {
    const wpi_paging *p = object;
    const wpi_transfer *t = transfer_at(p, (uint32_t)token);
    const wpi_chunk_number number = {(uint32_t)(token >> 32)};
    if (is_near) {
        wpi_gmmu_expect_arrival(p, t->run);
        return;
    }
    const wpi_chunk *chunk = wpi_residency_chunk_at(&p->residency, number);
    __builtin_prefetch(t);
    __builtin_prefetch(&p->waited[number.v]);
    __builtin_prefetch(&chunk->resident);
    __builtin_prefetch(&chunk->coming);
}

static void arrived(void *object, uint64_t token, wp_time_ps now) {
    wpi_paging *p = object;
    const uint32_t number = (uint32_t)token;
    const wpi_transfer t = *transfer_at(p, number);
    wpi_pool_give(&p->transfers, number);
    wpi_gmmu_expect_release(p, t.run);
    const wpi_pages pages = wpi_run_pages(t.run);
    wpi_chunk *chunk = wpi_residency_chunk_at(&p->residency, t.run.chunk);
    const uint32_t thrashed = wpi_residency_arrive(&p->residency, chunk, &pages);
    wpi_page_events_count(&p->events, WPI_PAGE_THRASHED, t.run.chunk, thrashed);
    count_blocks(p, chunk, &pages);
    if (t.is_made)
        wpi_residency_make(chunk, &pages);
    else
        wpi_page_events_note(&p->events, WPI_PAGE_FETCHED, t.run.chunk, &pages, now);
    p->transfers_arrived++;
    wpi_gmmu_arrived(p, t.run, now);
    if (t.request != NONE) wpi_request_part_ended(p, t.request, now);
    if (p->service->arrived != NULL) p->service->arrived(p, now);
    wpi_migration_pump(p, now);
    wpi_migration_idle(p, now);
    look_for_quiet(p, now);
}

/* Zeros, written as fast as memory takes them. Replays wait for so many transfers, so these come
 * behind those that began before. */
static wp_time_ps make(const wpi_paging *p, uint64_t bytes, wp_time_ps now) {
    const double seconds = (double)bytes / (double)p->profile->dram.bytes_per_s;
    const wp_time_ps done =
        now + p->profile->dram.latency_ps + (wp_time_ps)(seconds * (double)WP_PS_PER_S);
    return p->service->is_replaying && done < p->last_arrival ? p->last_arrival : done;
}

static void start(wpi_paging *p, uint32_t number, wp_time_ps now) {
    const wpi_transfer *t = transfer_at(p, number);
    const wpi_pages pages = wpi_run_pages(t->run);
    const uint32_t count = wpi_run_page_count(t->run);
    wp_time_ps begun = 0;
    wpi_residency_fetch(&p->residency, wpi_residency_chunk_at(&p->residency, t->run.chunk), &pages);
    const wp_time_ps done = t->is_made ? make(p, (uint64_t)count * WPI_PAGE_BYTES, now)
                                       : copy(p, count, WPI_DIRECTION_TO_DEVICE, now, &begun);
    if (done > p->last_arrival) p->last_arrival = done;
    wpi_engine_at_announced(p->engine, done, arrived, expect_arrival, p,
                            (uint64_t)t->run.chunk.v << 32 | number);
}

/* The next transfer has frames. */
static bool has_room(wpi_paging *p, const wpi_transfer *transfer, wp_time_ps now) {
    const uint32_t pages = wpi_run_page_count(transfer->run);
    if (p->profile->paging.stages_victims) return wpi_residency_free(&p->residency) >= pages;
    return wpi_migrate_make_room(p, pages, NULL, NULL, now);
}

void wpi_migration_pump(wpi_paging *paging, wp_time_ps now) {
    const bool is_staging = paging->profile->paging.stages_victims;
    if (is_staging) wpi_staging_pump(paging, now);
    while (!wpi_fifo_is_empty(&paging->planned)) {
        const uint32_t number = paging->planned.first;
        const wpi_transfer *t = transfer_at(paging, number);
        if (!has_room(paging, t, now)) return;
        (void)wpi_fifo_take_first(&paging->planned, transfers_of(paging));
        paging->planned_pages -= wpi_run_page_count(t->run);
        start(paging, number, now);
    }
    if (!is_staging) evict_ahead(paging, now);
}

static void plan(wpi_paging *p, const wpi_transfer *transfer) {
    const uint32_t number = wpi_pool_take(&p->transfers, sizeof(wpi_transfer));
    *transfer_at(p, number) = *transfer;
    p->transfers_planned++;
    p->planned_pages += wpi_run_page_count(transfer->run);
    wpi_fifo_append(&p->planned, transfers_of(p), number);
}

static uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* Behind each page that faults a transfer ends, where who waits goes on with the page, or behind
 * its block; and between pages that are made and others. */
static uint32_t piece_end(const wpi_paging *p, const wpi_pages *pages, const wpi_pages *made,
                          const wpi_pages *faulting, uint32_t first) {
    const uint32_t run = wpi_pages_run_end(pages, first);
    const uint32_t change =
        wpi_pages_has(made, first) ? wpi_pages_run_end(made, first) : wpi_pages_next(made, first);
    const uint32_t outer = smaller(run, change);
    if (p->service->is_replaying) return outer;
    const uint32_t fault = wpi_pages_next(faulting, first);
    if (fault >= outer) return outer;
    const wpi_migrate_ops *ops = p->profile->paging.migrate->ops;
    const uint32_t block_end = (fault / WPI_BLOCK_PAGES + 1) * WPI_BLOCK_PAGES;
    return ops->orders ? smaller(block_end, outer) : fault + 1;
}

void wpi_migrate_plan(wpi_paging *paging, wpi_chunk_number number, const wpi_pages *pages,
                      const wpi_pages *faulting, uint32_t request) {
    wpi_chunk *chunk = wpi_residency_chunk_at(&paging->residency, number);
    const wpi_pages made = wpi_pages_and(pages, &chunk->untouched);
    wpi_residency_plan(&paging->residency, chunk, pages);
    const uint32_t made_count = wpi_pages_count(&made);
    const uint32_t fetched_count = wpi_pages_count(pages) - made_count;
    wpi_page_events_count(&paging->events, WPI_PAGE_MADE, number, made_count);
    wpi_page_events_count(&paging->events, WPI_PAGE_FETCHED, number, fetched_count);
    for (uint32_t first = wpi_pages_next(pages, 0); first < WPI_CHUNK_PAGES;) {
        const uint32_t outer = piece_end(paging, pages, &made, faulting, first);
        plan(paging, &(wpi_transfer){.run = wpi_run_of(number, first, outer),
                                     .is_made = wpi_pages_has(&made, first),
                                     .next = NONE,
                                     .request = request});
        if (request != NONE) ((wpi_page_request *)paging->requests.items)[request].left++;
        first = wpi_pages_next(pages, outer);
    }
    if (paging->profile->paging.stages_victims &&
        paging->planned_pages > wpi_residency_free(&paging->residency))
        paging->is_oversubscribed = true;
}

/* Of what a prefetcher says, what exists, is missing, and is neither kept on the host nor fought
 * for. */
static wpi_pages that_may_come(const wpi_paging *p, wpi_chunk_number number,
                               const wpi_pages *pages) {
    const wpi_pages missing = wpi_prefetch_missing(wpi_residency_chunk_at(&p->residency, number));
    const wpi_pages thrashing = wpi_thrash_pages(&p->thrash, number.v);
    const wpi_pages may = wpi_pages_without(&missing, &thrashing);
    return wpi_pages_and(pages, &may);
}

/* Of a chunk that is nowhere yet those pages whose preferred location is the device. */
static wpi_pages wanted_first(const wpi_chunk *chunk) {
    const bool is_nowhere = wpi_pages_count(&chunk->untouched) == chunk->page_count;
    return is_nowhere ? chunk->prefers_device : (wpi_pages){{0}};
}

static wpi_pages choose(wpi_paging *p, wpi_chunk_number number, const wpi_pages *faulting,
                        const wpi_pages *here) {
    const wpi_chunk *chunk = wpi_residency_chunk_at(&p->residency, number);
    const wpi_policy *full = p->profile->paging.prefetch_full;
    const wpi_policy *policy =
        p->is_oversubscribed && full != NULL ? full : p->profile->paging.prefetch;
    const wpi_prefetch_question question = {.faulting = *faulting,
                                            .here = *here,
                                            .first = wanted_first(chunk),
                                            .page_count = chunk->page_count,
                                            .tree_pages = chunk->tree_pages,
                                            .threshold_percent =
                                                p->profile->paging.threshold_percent,
                                            .random = &p->random,
                                            .chunk = number.v,
                                            .frames = p->residency.frames,
                                            .future = wpi_paging_future(p)};
    wpi_pages more = {{0}};
    ((const wpi_prefetch_ops *)policy->ops)->choose(&question, &more);
    more = that_may_come(p, number, &more);
    return wpi_pages_or(&more, faulting);
}

/* Pages set off for the device, of which `faulting` were asked for. */
static void bring(wpi_paging *p, wpi_chunk_number number, const wpi_pages *pages,
                  const wpi_pages *faulting, wp_time_ps now) {
    const wpi_thrash_ops *thrash = p->profile->paging.thrash->ops;
    wpi_chunk *chunk = wpi_residency_chunk_at(&p->residency, number);
    const wpi_pages moved = wpi_pages_without(pages, &chunk->untouched); /* others are made */
    const wpi_pages more = wpi_pages_without(pages, faulting);
    const uint32_t more_count = wpi_pages_count(&more);
    wpi_page_events_add(&p->events, WPI_PAGE_PREFETCHED, more_count);
    wpi_page_events_add(&p->events, WPI_PAGE_DEMANDED, wpi_pages_count(pages) - more_count);
    chunk->unused = wpi_pages_or(&chunk->unused, &more);
    const wpi_pages waited = wpi_pages_and(faulting, &p->waited[number.v]);
    wpi_migrate_plan(p, number, pages, &waited, NONE);
    if (!wpi_pages_is_empty(&moved))
        thrash->moved(&p->thrash, number.v, &moved, WPI_PROCESSOR_DEVICE, now);
    wpi_migration_pump(p, now);
}

uint32_t wpi_migrate_in(wpi_paging *paging, wpi_chunk_number number, const wpi_pages *faulting,
                        wp_time_ps now) {
    wpi_chunk *chunk = wpi_residency_chunk_at(&paging->residency, number);
    wpi_pages here = wpi_pages_or(&chunk->resident, &chunk->coming);
    here = wpi_pages_or(&here, &chunk->planned);
    const wpi_pages wanted = wpi_pages_without(faulting, &here); /* others may have brought some */
    const wpi_pages still = wpi_thrashing_let(paging, number, &wanted, now);
    const uint32_t missing = wpi_pages_count(&still);
    if (missing == 0) return 0;
    /* Elsewhere each fault was told when it was raised. */
    if (paging->service->is_replaying)
        wpi_page_events_note(&paging->events, WPI_PAGE_FAR_FAULT, number, &still, now);
    wpi_pages pages = choose(paging, number, &still, &here);
    pages = wpi_pages_without(&pages, &chunk->stays_on_host);
    bring(paging, number, &pages, &still, now);
    return missing;
}

/* ---- meanwhile --------------------------------------------------------------------------------
 */

/* Frames that may be filled ahead of need: none has to be freed for it. */
static uint64_t spare_frames(const wpi_paging *p) {
    const uint64_t kept = p->residency.frames * p->profile->paging.free_percent / 100;
    const uint64_t free = wpi_residency_free(&p->residency);
    return free > kept ? free - kept : 0;
}

/* Kernels wait for pages or have ordered some, or have used some since it was last asked. */
static bool is_in_use(const wpi_paging *p) {
    return p->fault_count != 0 || p->ordered_blocks != 0 || p->was_touched;
}

static wpi_pages first_of(const wpi_pages *pages, uint64_t count) {
    wpi_pages out = {{0}};
    uint32_t page = wpi_pages_next(pages, 0);
    for (; page < WPI_CHUNK_PAGES && count > 0; count--) {
        wpi_pages_add(&out, page);
        page = wpi_pages_next(pages, page + 1);
    }
    return out;
}

/* Those of the pages that have frames, or get them from pages that are known to be used later. */
static wpi_pages that_have_room(wpi_paging *p, wpi_chunk_number chunk, const wpi_pages *pages,
                                bool is_future_known, wp_time_ps now) {
    if (!is_future_known) return first_of(pages, spare_frames(p));
    return wpi_ahead_make_room(p, chunk, pages, now) ? *pages : (wpi_pages){{0}};
}

/* A prefetcher that does not know the future guesses once for what is used, until memory is full.
 */
static bool may_ask(const wpi_paging *p, const wpi_prefetch_ops *ops) {
    if (ops->next == NULL) return false;
    if (ops->needs_future) return wpi_paging_future(p) != NULL;
    return !p->has_evicted && is_in_use(p);
}

void wpi_migration_idle(wpi_paging *paging, wp_time_ps now) {
    const wpi_prefetch_ops *ops = paging->profile->paging.prefetch->ops;
    if (!may_ask(paging, ops)) return;
    const bool is_idle = wpi_fifo_is_empty(&paging->planned) && paging->residency.coming == 0 &&
                         !wpi_link_is_copying(paging->link, WPI_DIRECTION_TO_DEVICE, now);
    const wpi_prefetch_idle question = {&paging->residency, wpi_paging_future(paging),
                                        &paging->prefetch_position, &paging->random};
    wpi_chunk_number chunk = {0};
    wpi_pages pages = {{0}};
    if (!is_idle || !ops->next(&question, &chunk.v, &pages)) return;
    pages = that_may_come(paging, chunk, &pages);
    pages = that_have_room(paging, chunk, &pages, ops->needs_future, now);
    paging->was_touched = false;
    if (!wpi_pages_is_empty(&pages)) bring(paging, chunk, &pages, &(wpi_pages){{0}}, now);
}

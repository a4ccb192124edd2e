/* SPDX-License-Identifier: Apache-2.0 */
/* Far faults as NVIDIA's driver services them: in batches. Waiters are not notified of single
 * pages. When the driver replays, all of them walk again, and may fault again.
 *
 *     SMs ─► fault buffer ─► fetch ─► sort ─► 2 MiB ─► 2 MiB … ─► flush ─► replay ─► fetch …
 *     first one: interrupt   coalesce          └ migrate each      └ buffer dropped: all that wait
 *                                                                    fault again anyway
 *
 * The GPU replays after the transfers that were ordered before. The driver continues meanwhile,
 * except under batch-flush, where it waits for the replay. It sees the buffer up to its copy of the
 * put pointer (`known`), which it reads again when it has fetched all of that. A flush drops that
 * part, or, after a batch of mostly duplicates, the whole buffer.
 *
 * Blocks that a migration policy orders have no waiter. They do not take room in the fault buffer,
 * as the notifications of access counters have one of their own; batches take them after faults.
 *
 * Source: NVIDIA's open driver 595, replayable faults, with its policies and defaults. */
#include "sim/paging/fault_batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/paging/paging_parts.h"

#define NONE WPI_PAGING_NONE

/** An entry of the buffer: an SM's fault. */
typedef wpi_page_fault fault;

/** A replay that waits for transfers. */
typedef struct pending_replay {
    uint64_t transfers; /* arrivals since the start after which it is due */
    uint32_t next;
} pending_replay;

/** A page that a policy ordered. */
typedef struct ordered_page {
    wpi_page_number page;
    uint32_t next;
} ordered_page;

struct wpi_fault_batch {
    fault *buffer; /* a ring buffer */
    uint32_t first, count;
    uint32_t known; /* entries up to the driver's copy of the put pointer */
    wpi_pool orders;
    wpi_fifo ordered;
    /* The batch. */
    fault *faults; /* coalesced, by page */
    uint32_t fault_count, served_count, fetched;
    uint32_t missing;            /* faults on pages that were not fetched yet */
    uint32_t blocks;             /* served */
    uint32_t *last_of_sm;        /* [sm]: its last fault of the batch, or NONE */
    uint64_t throttled, refused; /* counters of faults, before the batch */
    /* The service. */
    uint32_t batches, throttled_batches;
    bool is_serving;
    wpi_time_ps since; /* … */
    bool is_waiting;   /* continues after a replay */
    wpi_pool replays;
    wpi_fifo pending;
};

static void next_batch(wpi_paging *p, wpi_time_ps now);

/* ---- replays ---- */

static pending_replay *replay_at(const struct wpi_fault_batch *b, uint32_t number) {
    return &((pending_replay *)b->replays.items)[number];
}

static void drop(const wpi_paging *p, struct wpi_fault_batch *b, uint32_t count) {
    b->first = (b->first + count) % p->profile->paging.buffer_entries;
    b->count -= count;
    b->known -= count;
}

/* Faults of the batch on pages that another fault or an earlier batch fetched. */
static uint64_t duplicates_of(const wpi_paging *p) {
    const struct wpi_fault_batch *b = p->batch;
    return b->fetched - b->missing - (wpi_thrashing_refused(&p->thrashing) - b->refused);
}

static void flush(wpi_paging *p, struct wpi_fault_batch *b) {
    if (duplicates_of(p) * 100 > (uint64_t)b->fetched * p->profile->paging.flush_percent)
        b->known = b->count;
    wpi_page_events_add(&p->events, WPI_PAGE_BATCH_FLUSHED, b->known);
    drop(p, b, b->known);
}

/* Pending replays, in order. */
static wpi_fifo_links replays_of(const struct wpi_fault_batch *b) {
    return WPI_FIFO_LINKS(b->replays.items, pending_replay, next);
}

static bool is_due(const wpi_paging *p) {
    const struct wpi_fault_batch *b = p->batch;
    return !wpi_fifo_is_empty(&b->pending) &&
           replay_at(b, b->pending.first)->transfers <= wpi_transfers_arrived(&p->transfers);
}

static void replay_due(wpi_paging *p, wpi_time_ps now) {
    struct wpi_fault_batch *b = p->batch;
    while (is_due(p)) {
        wpi_pool_give(&b->replays, wpi_fifo_take_first(&b->pending, replays_of(b)));
        if (b->is_waiting) flush(p, b);
        wpi_page_events_add(&p->events, WPI_PAGE_BATCH_REPLAY, 1);
        wpi_gmmu_replay(p, now);
        if (!b->is_waiting) continue;
        b->is_waiting = false;
        next_batch(p, now);
    }
}

/* Orders a replay after all transfers that are planned so far. */
static void order_replay(wpi_paging *p, wpi_time_ps now) {
    struct wpi_fault_batch *b = p->batch;
    const uint32_t number = wpi_pool_take(&b->replays, sizeof(pending_replay));
    *replay_at(b, number) = (pending_replay){wpi_transfers_planned(&p->transfers), NONE};
    wpi_fifo_append(&b->pending, replays_of(b), number);
    replay_due(p, now);
}

/* ---- a batch ---- */

/* Merges a fault with its SM's last one, or with the last one of any SM if that is a write too or
 * this one is a read. */
static bool coalesce(struct wpi_fault_batch *b, const fault *own) {
    const uint32_t of_sm = b->last_of_sm[own->sm];
    if (of_sm != NONE && b->faults[of_sm].page.v == own->page.v) {
        b->faults[of_sm].is_write |= own->is_write;
        return true;
    }
    if (b->fault_count == 0) return false;
    const fault *last = &b->faults[b->fault_count - 1];
    return last->page.v == own->page.v && last->is_write >= own->is_write;
}

static int by_page(const void *a, const void *b) {
    const fault *one = a, *other = b;
    if (one->page.v != other->page.v) return one->page.v < other->page.v ? -1 : 1;
    return (int)other->is_write - (int)one->is_write;
}

static wpi_fifo_links ordered_of(const struct wpi_fault_batch *b) {
    return WPI_FIFO_LINKS(b->orders.items, ordered_page, next);
}

/* As many ordered pages as the batch has room for. */
static void fetch_ordered(const wpi_paging *p, struct wpi_fault_batch *b) {
    while (!wpi_fifo_is_empty(&b->ordered) && b->fault_count < p->profile->paging.batch_entries) {
        const uint32_t number = wpi_fifo_take_first(&b->ordered, ordered_of(b));
        const ordered_page *order = &((ordered_page *)b->orders.items)[number];
        b->faults[b->fault_count++] = (fault){.page = order->page};
        b->fetched++;
        wpi_pool_give(&b->orders, number);
    }
}

/* Fetches a batch from the buffer, and ordered pages. False: there are none. */
static bool fetch(wpi_paging *p, struct wpi_fault_batch *b) {
    const uint32_t most = p->profile->paging.batch_entries;
    if (b->known == 0) b->known = b->count;
    b->fetched = b->known < most ? b->known : most;
    b->fault_count = b->served_count = b->missing = b->blocks = 0;
    memset(b->last_of_sm, 0xff, p->profile->sm_count * sizeof *b->last_of_sm); /* NONE */
    for (uint32_t i = 0; i < b->fetched; i++) {
        const fault *own = &b->buffer[(b->first + i) % p->profile->paging.buffer_entries];
        if (p->profile->paging.is_coalescing && coalesce(b, own)) continue;
        b->last_of_sm[own->sm] = b->fault_count;
        b->faults[b->fault_count++] = *own;
    }
    drop(p, b, b->fetched);
    wpi_page_events_add(&p->events, WPI_PAGE_BATCH_FETCHED, b->fetched);
    wpi_page_events_add(&p->events, WPI_PAGE_BATCH_COALESCED, b->fetched - b->fault_count);
    fetch_ordered(p, b);
    qsort(b->faults, b->fault_count, sizeof *b->faults, by_page);
    return b->fetched > 0;
}

/* Takes the next faults that lie in one chunk. Their memory may have been freed meanwhile. */
static wpi_chunk_number take_block(const wpi_paging *p, struct wpi_fault_batch *b,
                                   wpi_pages *faulting) {
    const wpi_chunk_number chunk = wpi_page_chunk(b->faults[b->served_count].page);
    const uint32_t page_count = wpi_residency_chunk_at(&p->residency, chunk)->page_count;
    *faulting = (wpi_pages){{0}};
    for (; b->served_count < b->fault_count; b->served_count++) {
        const wpi_page_number page = b->faults[b->served_count].page;
        if (wpi_page_chunk(page).v != chunk.v) break;
        if (wpi_page_index(page) < page_count) wpi_pages_add(faulting, wpi_page_index(page));
    }
    return chunk;
}

static void end_batch(wpi_paging *p, wpi_time_ps now) {
    struct wpi_fault_batch *b = p->batch;
    wpi_page_events_add(&p->events, WPI_PAGE_BATCH_DUPLICATE, duplicates_of(p));
    wpi_page_events_measure(&p->events, WPI_PAGE_BATCH_SIZE, b->fetched);
    wpi_page_events_measure(&p->events, WPI_PAGE_BATCH_BLOCKS, b->blocks);
    if (wpi_thrashing_throttled(&p->thrashing) != b->throttled) b->throttled_batches++;
    const uint32_t policy = p->profile->paging.replay;
    b->is_waiting = policy == WPI_REPLAY_BATCH_FLUSH; /* continues after the replay */
    const bool goes_on = !b->is_waiting;
    if (policy == WPI_REPLAY_BATCH || policy == WPI_REPLAY_BATCH_FLUSH) order_replay(p, now);
    if (goes_on) next_batch(p, now);
}

/* Counts the missing pages at the lines of their first faults, which are in the batch from `first`
 * on. */
static void count_lines(const wpi_paging *p, const struct wpi_fault_batch *b, uint32_t first,
                        wpi_pages missing) {
    for (uint32_t i = first; i < b->served_count; i++) {
        const uint32_t index = wpi_page_index(b->faults[i].page);
        if (!wpi_pages_has(&missing, index)) continue;
        wpi_pages_remove(&missing, index);
        wpi_paging_count_fault(p, &b->faults[i]);
    }
}

static void serve_block(void *object, uint64_t token, wpi_time_ps now) {
    wpi_paging *p = object;
    struct wpi_fault_batch *b = p->batch;
    wpi_pages faulting;
    (void)token;
    const uint32_t first = b->served_count;
    const wpi_chunk_number chunk = take_block(p, b, &faulting);
    wpi_block_moves_serve(&p->moves, chunk, &faulting);
    const wpi_pages missing = wpi_page_fetch_faulting(p, chunk, &faulting, now);
    const uint32_t count = wpi_pages_count(&missing);
    b->missing += count;
    b->blocks++;
    wpi_page_events_count(&p->events, WPI_PAGE_FAR_FAULT, chunk, count);
    count_lines(p, b, first, missing);
    if (p->profile->paging.replay == WPI_REPLAY_BLOCK) order_replay(p, now);
    if (b->served_count < b->fault_count)
        wpi_engine_at(p->engine, now + p->profile->paging.block_ps, serve_block, p, 0);
    else
        end_batch(p, now);
}

/* ---- a service ---- */

static void begin(void *object, uint64_t token, wpi_time_ps now) {
    wpi_paging *p = object;
    (void)token;
    wpi_page_events_add(&p->events, WPI_PAGE_SERVICE, 1);
    p->batch->batches = p->batch->throttled_batches = 0;
    next_batch(p, now);
}

static void interrupt(wpi_paging *p, wpi_time_ps now) {
    p->batch->is_serving = true;
    p->batch->since = now;
    wpi_engine_at(p->engine, now + p->profile->paging.interrupt_ps, begin, p, 0);
}

static void end_service(wpi_paging *p, wpi_time_ps now) {
    struct wpi_fault_batch *b = p->batch;
    b->is_serving = false;
    wpi_utilisation_add(&p->handler, b->since, now);
    if (p->profile->paging.replay == WPI_REPLAY_ONCE) order_replay(p, now);
    if (b->count > 0 || !wpi_fifo_is_empty(&b->ordered)) interrupt(p, now);
}

static void next_batch(wpi_paging *p, wpi_time_ps now) {
    struct wpi_fault_batch *b = p->batch;
    if (b->batches == p->profile->paging.service_batches ||
        b->throttled_batches == p->profile->paging.service_throttles || !fetch(p, b)) {
        end_service(p, now);
        return;
    }
    b->batches++;
    b->throttled = wpi_thrashing_throttled(&p->thrashing);
    b->refused = wpi_thrashing_refused(&p->thrashing);
    const wpi_time_ps took =
        p->profile->paging.batch_ps + b->fault_count * p->profile->paging.fault_ps;
    wpi_engine_at(p->engine, now + took + p->profile->paging.block_ps, serve_block, p, 0);
}

static void add(wpi_paging *p, const wpi_page_fault *raised, wpi_time_ps now) {
    struct wpi_fault_batch *b = p->batch;
    const uint32_t capacity = p->profile->paging.buffer_entries;
    wpi_page_events_add(&p->events, WPI_PAGE_BATCH_RAISED, 1);
    if (b->count == capacity) { /* dropped: its request faults again after the next replay */
        wpi_page_events_add(&p->events, WPI_PAGE_BATCH_OVERFLOW, 1);
        return;
    }
    b->buffer[(b->first + b->count++) % capacity] = *raised;
    if (!b->is_serving) interrupt(p, now);
}

static void order(wpi_paging *p, wpi_page_number page, wpi_time_ps now) {
    struct wpi_fault_batch *b = p->batch;
    const uint32_t number = wpi_pool_take(&b->orders, sizeof(ordered_page));
    ((ordered_page *)b->orders.items)[number] = (ordered_page){page, NONE};
    wpi_fifo_append(&b->ordered, ordered_of(b), number);
    if (!b->is_serving) interrupt(p, now);
}

/* ---- life ---- */

static void destroy(wpi_paging *p) {
    struct wpi_fault_batch *b = p->batch;
    if (b == NULL) return;
    wpi_free(b->buffer);
    wpi_free(b->faults);
    wpi_free(b->last_of_sm);
    wpi_pool_deinit(&b->replays);
    wpi_pool_deinit(&b->orders);
    wpi_free(b);
    p->batch = NULL;
}

static wp_status create(wpi_paging *p, wp_error *err) {
    struct wpi_fault_batch *b = p->batch = wpi_calloc(1, sizeof *b);
    if (b == NULL) return WP_FAIL(err, NOMEM, "the fault buffer");
    b->buffer = wpi_calloc(p->profile->paging.buffer_entries, sizeof *b->buffer);
    b->faults = wpi_calloc(p->profile->paging.batch_entries, sizeof *b->faults);
    b->last_of_sm = wpi_calloc(p->profile->sm_count, sizeof *b->last_of_sm);
    b->pending = b->ordered = WPI_FIFO_EMPTY;
    if (b->buffer == NULL || b->faults == NULL || b->last_of_sm == NULL)
        return WP_FAIL(err, NOMEM, "a fault buffer of %u", p->profile->paging.buffer_entries);
    return WP_STATUS_OK;
}

static void statistics(const wpi_paging *p, wpi_visit visit, void *object) {
    wpi_page_events_visit(&p->events, WPI_PAGE_BATCH_RAISED, WPI_PAGE_EVENTS_ALL, visit, object);
    wpi_page_events_visit_measure(&p->events, WPI_PAGE_BATCH_SIZE, visit, object);
    wpi_page_events_visit_measure(&p->events, WPI_PAGE_BATCH_BLOCKS, visit, object);
}

const wpi_fault_service_ops wpi_fault_batches = {.create = create,
                                                 .destroy = destroy,
                                                 .add = add,
                                                 .order = order,
                                                 .is_replaying = true,
                                                 .arrived = replay_due,
                                                 .statistics = statistics};

/* SPDX-License-Identifier: Apache-2.0 */
/* While nothing is copied to the device, a prefetcher may name pages to fetch next (its operation
 * `next`). One piece is in flight at a time, so a fault waits behind one at most. A prefetcher that
 * knows the future may evict pages for it that are used later; others fill free frames until the
 * first eviction. */
#include "sim/paging/idle_prefetch.h"

#include "sim/paging/paging_parts.h"

/* Free frames beyond those that are kept free. */
static uint64_t spare_frames(const wpi_paging *p) {
    const uint64_t kept = wpi_evictions_kept_frames(p);
    const uint64_t free = wpi_residency_free(&p->residency);
    return free > kept ? free - kept : 0;
}

/* Kernels wait for pages, have ordered some, or have used some since the prefetcher was asked. */
static bool is_in_use(const wpi_paging *p) {
    return wpi_gmmu_has_faults(&p->gmmu) || wpi_block_moves_has_orders(&p->moves) ||
           p->idle.was_touched;
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

/* Those of the pages that have frames, or get them from pages that are used later. */
static wpi_pages that_have_room(wpi_paging *p, wpi_chunk_number chunk, const wpi_pages *pages,
                                bool is_future_known, wpi_time_ps now) {
    if (!is_future_known) return first_of(pages, spare_frames(p));
    return wpi_look_ahead_make_room(p, chunk, pages, now) ? *pages : (wpi_pages){{0}};
}

static bool may_ask(const wpi_paging *p, const wpi_prefetch_ops *ops) {
    if (ops->next == NULL) return false;
    if (ops->needs_future) return wpi_look_ahead_future(&p->ahead) != NULL;
    return !wpi_evictions_have_begun(&p->evictions) && is_in_use(p);
}

static bool is_idle(const wpi_paging *p, wpi_time_ps now) {
    return !wpi_transfers_are_waiting(&p->transfers) && p->residency.coming == 0 &&
           !wpi_link_is_copying(p->link, WPI_DIRECTION_TO_DEVICE, now);
}

void wpi_idle_prefetch_ask(wpi_paging *paging, wpi_time_ps now) {
    const wpi_prefetch_ops *ops = paging->profile->paging.prefetch->ops;
    if (!may_ask(paging, ops)) return;
    const wpi_prefetch_idle question = {&paging->residency, wpi_look_ahead_future(&paging->ahead),
                                        &paging->idle.position, &paging->random};
    wpi_chunk_number chunk = {0};
    wpi_pages pages = {{0}};
    if (!is_idle(paging, now) || !ops->next(&question, &chunk.v, &pages)) return;
    pages = wpi_page_fetch_allowed(paging, chunk, &pages);
    pages = that_have_room(paging, chunk, &pages, ops->needs_future, now);
    paging->idle.was_touched = false;
    if (!wpi_pages_is_empty(&pages))
        wpi_page_fetch_start(paging, chunk, &pages, &(wpi_pages){{0}}, now);
}

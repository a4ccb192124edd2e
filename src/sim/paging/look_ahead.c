/* SPDX-License-Identifier: Apache-2.0 */
/* Policies that know the future: records page uses, and while the link to the device is idle asks
 * the prefetcher for the pages to fetch next. Only pages that are used later are evicted for
 * them. */
#include "sim/paging/look_ahead.h"

#include "sim/paging/paging_parts.h"

#define TOUCHES 16u /* notes between two questions to the prefetcher */

void wpi_paging_set_foresight(wpi_paging *paging, wpi_foresight *foresight) {
    paging->ahead.foresight = foresight->is_noting || foresight->has_future ? foresight : NULL;
}

const wpi_future *wpi_look_ahead_future(const wpi_look_ahead *ahead) {
    const wpi_foresight *f = ahead->foresight;
    return f != NULL && f->has_future ? &f->future : NULL;
}

static const wpi_prefetch_ops *prefetcher(const wpi_paging *p) {
    return p->profile->paging.prefetch->ops;
}

/* When the first of the pages is used. */
static uint32_t first_use(const wpi_future *future, wpi_chunk_number chunk,
                          const wpi_pages *pages) {
    uint32_t first = WPI_FUTURE_NEVER;
    for (uint32_t page = wpi_pages_next(pages, 0); page < WPI_CHUNK_PAGES;
         page = wpi_pages_next(pages, page + 1)) {
        const uint32_t next = wpi_future_next(future, (uint32_t)wpi_page_in(chunk, page).v);
        if (next < first) first = next;
    }
    return first;
}

static bool is_used_later(const wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages,
                          const void *last) {
    return first_use(wpi_look_ahead_future(&paging->ahead), chunk, pages) > *(const uint32_t *)last;
}

/* When the last of the pages is used. */
static uint32_t last_use(const wpi_future *future, wpi_chunk_number chunk, const wpi_pages *pages) {
    uint32_t last = 0;
    for (uint32_t page = wpi_pages_next(pages, 0); page < WPI_CHUNK_PAGES;
         page = wpi_pages_next(pages, page + 1)) {
        const uint32_t next = wpi_future_next(future, (uint32_t)wpi_page_in(chunk, page).v);
        if (next > last) last = next;
    }
    return last;
}

/* Room beyond the frames that are kept free: otherwise pages would be evicted for these at once,
 * prefetched again, and so on without end. */
bool wpi_look_ahead_make_room(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages,
                              wpi_time_ps now) {
    const uint32_t last = last_use(wpi_look_ahead_future(&paging->ahead), chunk, pages);
    const uint64_t frames = wpi_pages_count(pages) + wpi_evictions_kept_frames(paging);
    return wpi_evictions_make_room(paging, frames, is_used_later, &last, now);
}

static void look_ahead(void *object, uint64_t token, wpi_time_ps now) {
    wpi_paging *p = object;
    (void)token;
    p->ahead.is_due = false;
    wpi_idle_prefetch_ask(p, now);
}

/* As time advances, more resident pages are used later than the pages to fetch, and can be
 * evicted. */
void wpi_paging_foresee(wpi_paging *paging, uint64_t address) {
    if (paging->ahead.foresight == NULL) return;
    const wpi_page_number page = wpi_residency_page(&paging->residency, address);
    if (!wpi_foresight_touch(paging->ahead.foresight, page) || paging->ahead.is_due) return;
    if (!prefetcher(paging)->needs_future || paging->ahead.foresight->count % TOUCHES != 0) return;
    paging->ahead.is_due = true;
    wpi_engine_at(paging->engine, wpi_engine_now(paging->engine), look_ahead, paging, 0);
}

void wpi_look_ahead_left(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages) {
    const wpi_future *future = wpi_look_ahead_future(&paging->ahead);
    if (future == NULL) return;
    const uint32_t next = first_use(future, chunk, pages);
    if (prefetcher(paging)->needs_future) wpi_idle_prefetch_go_back(&paging->idle, next);
}

/* Checks that the pages that the recorded launch used are allocated: the program or its arguments
 * may differ. */
static wp_status check_pages(const wpi_paging *p, const wpi_foresight *f, wp_error *err) {
    const wpi_future *future = &f->future;
    const uint32_t outer =
        f->launch_count < f->earlier_launches ? f->launches[f->launch_count] : future->count;
    for (uint32_t i = f->launches[f->launch_count - 1]; i < outer; i++) {
        const wpi_page_number page = {future->pages[i]};
        if (wpi_page_chunk(page).v < p->residency.chunk_count &&
            wpi_page_index(page) < wpi_residency_chunk_of(&p->residency, page)->page_count)
            continue;
        return WP_FAIL(err, INVALID,
                       "in the recorded run, launch %u used memory that is not allocated "
                       "now: record its pages again, with the same program and arguments",
                       f->launch_count);
    }
    return WP_STATUS_OK;
}

static bool needs_future(const wpi_paging *p) {
    return ((const wpi_evict_ops *)p->profile->paging.evict->ops)->needs_future ||
           prefetcher(p)->needs_future;
}

wp_status wpi_paging_launch(wpi_paging *paging, wpi_time_ps now, wp_error *err) {
    wpi_foresight *f = paging->ahead.foresight;
    if (needs_future(paging) && wpi_look_ahead_future(&paging->ahead) == NULL)
        return WP_FAIL(
            err, INVALID,
            "an oracle policy needs the page accesses of an earlier run: use `warpage run`, or "
            "set WARPAGE_FUTURE to a file that WARPAGE_NOTE_FUTURE=FILE recorded");
    if (f == NULL) return WP_STATUS_OK;
    WP_TRY(wpi_foresight_launch(f, err));
    if (f->has_future) WP_TRY(check_pages(paging, f, err));
    wpi_idle_prefetch_ask(paging, now);
    return WP_STATUS_OK;
}

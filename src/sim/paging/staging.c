/* SPDX-License-Identifier: Apache-2.0 */
/* Victims that are chosen early (paging.stage_victims), as in UVMSmart: as soon as pages are
 * requested for which frames will lack. They are queued for the link, one run at a time, and stay
 * resident until it takes their run; a use of one of its pages keeps the run, and other victims are
 * chosen. The run on the link still counts as expected room although its frames are free already,
 * so a shortage hidden by it is met when it has left.
 *
 *     resident ── chosen: unlisted ──┬─ the link takes it ─► evicted, frames free
 *                                    └─ used ─► listed again, as just used */
#include "sim/paging/staging.h"

#include "sim/paging/paging_parts.h"

#define NONE WPI_PAGING_NONE

/** Pages that are evicted together. */
typedef struct staged_run {
    wpi_page_run run;
    uint32_t next;
} staged_run;

void wpi_staging_init(wpi_staging *staging) {
    *staging = (wpi_staging){.runs = WPI_FIFO_EMPTY};
}

void wpi_staging_deinit(wpi_staging *staging) {
    wpi_pool_deinit(&staging->pool);
}

static staged_run *run_at(const wpi_paging *p, uint32_t number) {
    return &((staged_run *)p->staging.pool.items)[number];
}

static wpi_fifo_links runs_of(const wpi_paging *p) {
    return WPI_FIFO_LINKS(p->staging.pool.items, staged_run, next);
}

/* Removes the run behind `before` (NONE: the first) from the queue. CTAs that end when paging is
 * quiet (paging.cta_ends) may be able to end now. */
static wpi_page_run take(wpi_paging *p, uint32_t before) {
    const uint32_t number = wpi_fifo_take_behind(&p->staging.runs, runs_of(p), before);
    const wpi_page_run run = run_at(p, number)->run;
    p->staging.page_count -= wpi_run_page_count(run);
    wpi_pool_give(&p->staging.pool, number);
    if (wpi_staging_is_empty(&p->staging)) wpi_page_quiet_check(p, wpi_engine_now(p->engine));
    return run;
}

static void append(wpi_paging *p, wpi_page_run run) {
    const uint32_t number = wpi_pool_take(&p->staging.pool, sizeof(staged_run));
    run_at(p, number)->run = run;
    wpi_fifo_append(&p->staging.runs, runs_of(p), number);
    p->staging.page_count += wpi_run_page_count(run);
}

/* The pages that are not queued yet. */
static wpi_pages that_stay_so_far(const wpi_paging *p, wpi_chunk_number chunk,
                                  const wpi_pages *pages) {
    wpi_pages rest = *pages;
    for (uint32_t number = p->staging.runs.first; number != NONE;
         number = run_at(p, number)->next) {
        const wpi_page_run run = run_at(p, number)->run;
        if (run.chunk.v != chunk.v) continue;
        const wpi_pages staged = wpi_run_pages(run);
        rest = wpi_pages_without(&rest, &staged);
    }
    return rest;
}

static void stage(wpi_paging *p, wpi_chunk_number number, const wpi_pages *pages) {
    wpi_chunk *chunk = wpi_residency_chunk_at(&p->residency, number);
    const wpi_pages chosen = that_stay_so_far(p, number, pages);
    const wpi_pages unlisted = wpi_pages_or(&chunk->unlisted, &chosen);
    wpi_residency_set_unlisted(&p->residency, chunk, &unlisted);
    for (uint32_t first = wpi_pages_next(&chosen, 0); first < WPI_CHUNK_PAGES;) {
        const uint32_t outer = wpi_pages_run_end(&chosen, first);
        append(p, wpi_run_of(number, first, outer));
        first = wpi_pages_next(&chosen, outer);
    }
}

void wpi_staging_keep(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages) {
    for (uint32_t before = NONE, number = paging->staging.runs.first; number != NONE;) {
        const wpi_page_run run = run_at(paging, number)->run;
        const uint32_t next = run_at(paging, number)->next;
        if (run.chunk.v != chunk.v || wpi_pages_next(pages, run.first) >= run.outer) {
            before = number;
        } else {
            const wpi_pages kept = wpi_run_pages(run);
            (void)take(paging, before);
            wpi_residency_use(&paging->residency, wpi_residency_chunk_at(&paging->residency, chunk),
                              &kept);
        }
        number = next;
    }
}

/* Whether transfers that wait, and frames to keep free, need more than will be free. */
static bool is_short(const wpi_paging *p) {
    const wpi_residency *r = &p->residency;
    const uint64_t kept = wpi_evictions_kept_frames(p);
    return wpi_transfers_waiting_pages(&p->transfers) + kept >
           wpi_residency_free(r) + p->staging.page_count + p->staging.leaving_pages;
}

static bool is_in_use(const wpi_paging *p, wpi_page_run run) {
    const wpi_chunk *chunk = wpi_residency_chunk_at(&p->residency, run.chunk);
    for (uint32_t block = run.first / WPI_BLOCK_PAGES;
         block <= (uint32_t)(run.outer - 1) / WPI_BLOCK_PAGES; block++)
        if (wpi_block_is_busy(chunk, block)) return true;
    return false;
}

static void left(void *object, uint64_t token, wpi_time_ps now) {
    wpi_paging *p = object;
    (void)token;
    p->staging.leaving_pages = 0;
    wpi_transfers_pump(p, now);
}

/* Evicts the runs in order, one on the link at a time. Waits while a block of the first is in
 * use. */
static void set_off(wpi_paging *p, wpi_time_ps now) {
    while (!wpi_fifo_is_empty(&p->staging.runs) && p->staging.leaving_pages == 0) {
        if (is_in_use(p, run_at(p, p->staging.runs.first)->run)) return;
        const wpi_page_run run = take(p, NONE);
        const wpi_pages pages = wpi_run_pages(run);
        wpi_evictions_start(p, run.chunk, &pages, now);
        const wpi_time_ps departed = wpi_departures_until(&p->departures);
        if (departed <= now) continue;
        p->staging.leaving_pages = wpi_run_page_count(run);
        wpi_engine_at(p->engine, departed, left, p, 0);
    }
}

void wpi_staging_pump(wpi_paging *paging, wpi_time_ps now) {
    wpi_chunk_number chunk = {0};
    wpi_pages pages;
    while (is_short(paging) && wpi_evictions_choose(paging, &chunk, &pages))
        stage(paging, chunk, &pages);
    set_off(paging, now);
}

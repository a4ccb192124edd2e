/* SPDX-License-Identifier: Apache-2.0 */
/* Thrashing detection and prevention as in NVIDIA's driver 595:
 *
 *     moves within a lapse ─► events: 3 ─► the page thrashes
 *         ─► periods of a nap, which throttle all processors but one, the exempt; they alternate
 *         ─► 10 throttles ─► pinned for 300 lapses: on the exempt processor that faults, or where
 *                            both can access it, which is the host
 *
 * A chunk is tracked from the time when two processors in turn moved pages of it within a lapse. A
 * chunk of which no page was ever pinned is reset after an epoch without thrashing, at most
 * thrash_resets times.
 *
 * The lapse adapts by votes. Each fault on a thrashing page votes for a longer lapse if the last
 * move was at least a lapse ago, and for a shorter one otherwise. In the driver's code as written,
 * the sum of votes is compared without its sign, so votes for a shorter lapse lengthen it too, and
 * it is shortened only by votes for a longer one when it is at its maximum. */
#include "base/alloc.h"
#include "policy/thrash.h"

#define EVENTS_MAX 7u
#define THROTTLES_MAX 255u
#define LAPSE_MAX_PS (500000 * WP_PS_PER_US)
#define LAPSE_MIN_PS (5 * WP_PS_PER_US)
#define LAPSE_STEP_MAX_PS (LAPSE_MAX_PS / 10)

static uint8_t bit_of(wpi_processor processor) {
    return (uint8_t)(1u << processor);
}

static bool thrashes(const wpi_thrash *thrash, const wpi_thrash_page *page) {
    return page->events >= thrash->threshold;
}

/* ---- moves ---- */

/* Whether another processor moved pages of the chunk within a lapse. */
static bool is_fight(const wpi_thrash *thrash, const wpi_thrash_chunk *chunk, wpi_processor to,
                     wpi_time_ps now) {
    return chunk->mover != WPI_PROCESSOR_NONE && chunk->mover != (uint8_t)to &&
           now - chunk->moved <= thrash->lapse_ps;
}

/* Starts tracking the chunk's pages. Out of memory: nothing thrashes. */
static void begin(wpi_thrash_chunk *chunk) {
    chunk->pages = wpi_calloc(WPI_CHUNK_PAGES, sizeof *chunk->pages);
    for (uint32_t page = 0; chunk->pages != NULL && page < WPI_CHUNK_PAGES; page++)
        wpi_thrash_reset(&chunk->pages[page]);
}

static void page_moved(const wpi_thrash *thrash, wpi_thrash_chunk *chunk, wpi_thrash_page *page,
                       wpi_processor to, wpi_time_ps now) {
    const wpi_time_ps before = page->moved;
    page->processors |= bit_of(to);
    page->moved = now;
    if (before == WPI_THRASH_NEVER) return;
    if (now - before <= thrash->lapse_ps) {
        if (page->events < EVENTS_MAX) page->events++;
        if (!thrashes(thrash, page)) return;
        chunk->has_thrashed = true;
        chunk->thrashed = now;
    } else if (thrashes(thrash, page) && page->pinned_on == WPI_PROCESSOR_NONE) {
        wpi_thrash_reset(page);
    }
}

static bool are_all_pinned(const wpi_thrash_chunk *chunk, const wpi_pages *pages) {
    for (uint32_t page = wpi_pages_next(pages, 0); page < WPI_CHUNK_PAGES;
         page = wpi_pages_next(pages, page + 1))
        if (chunk->pages[page].pinned_on == WPI_PROCESSOR_NONE) return false;
    return true;
}

static void moved(wpi_thrash *thrash, uint32_t number, const wpi_pages *pages, wpi_processor to,
                  wpi_time_ps now) {
    wpi_thrash_chunk *chunk = &thrash->chunks[number];
    if (chunk->pages != NULL && are_all_pinned(chunk, pages)) return; /* to their pins' location */
    if (chunk->pages == NULL && is_fight(thrash, chunk, to, now)) begin(chunk);
    for (uint32_t page = wpi_pages_next(pages, 0); chunk->pages != NULL && page < WPI_CHUNK_PAGES;
         page = wpi_pages_next(pages, page + 1))
        page_moved(thrash, chunk, &chunk->pages[page], to, now);
    chunk->moved = now;
    chunk->mover = (uint8_t)to;
}

/* ---- the lapse ---- */

static wpi_time_ps smaller(wpi_time_ps a, wpi_time_ps b) {
    return a < b ? a : b;
}

static wpi_time_ps larger(wpi_time_ps a, wpi_time_ps b) {
    return a > b ? a : b;
}

static void vote(wpi_thrash *thrash, wpi_time_ps gap) {
    if (thrash->votes == WPI_LAPSE_FIXED) return;
    const bool is_written = thrash->votes == WPI_LAPSE_AS_WRITTEN;
    const int needed = (int)thrash->votes_needed;
    thrash->vote = (int8_t)(thrash->vote + (gap < thrash->lapse_ps ? -1 : 1));
    const bool has_more = thrash->vote >= needed;
    const bool has_less = thrash->vote <= -needed;
    const bool grows = has_more || (is_written && thrash->vote < 0);
    const bool shrinks = is_written ? has_more : has_less;
    if (grows && thrash->lapse_ps < LAPSE_MAX_PS)
        thrash->lapse_ps += smaller(thrash->lapse_ps / 8, LAPSE_STEP_MAX_PS);
    else if (shrinks && thrash->lapse_ps > LAPSE_MIN_PS)
        thrash->lapse_ps -= larger(thrash->lapse_ps / 8, LAPSE_MIN_PS);
    else
        return;
    thrash->vote /= 2;
}

/* ---- hints ---- */

/* Ends the throttling of these processors; without a throttled one the period ends. */
static void end_throttles(wpi_thrash_page *page, uint8_t processors) {
    if ((page->throttled & processors) == 0) return;
    page->throttled &= (uint8_t)~processors;
    if (page->throttled == 0) page->throttled_to = 0;
}

/* Starts a new period if the last one is over, with the exempt processor alternating. */
static void update_period(const wpi_thrash *thrash, wpi_thrash_page *page, wpi_processor own,
                          wpi_time_ps now) {
    if (now > page->throttled_to) {
        page->throttled_to = now + thrash->nap_ps;
        page->exempt = page->exempt == (uint8_t)own ? WPI_PROCESSOR_NONE : (uint8_t)own;
    } else if (page->exempt == WPI_PROCESSOR_NONE) {
        page->exempt = (uint8_t)own;
    }
}

static wpi_thrash_hint throttle(wpi_thrash_page *page, wpi_processor own) {
    if ((page->throttled & bit_of(own)) == 0) {
        page->throttled |= bit_of(own);
        if (page->pinned_on == WPI_PROCESSOR_NONE && page->throttles < THROTTLES_MAX)
            page->throttles++;
    }
    return (wpi_thrash_hint){.answer = WPI_THRASH_THROTTLE, .until = page->throttled_to};
}

static wpi_thrash_hint pin(const wpi_thrash *thrash, wpi_thrash_chunk *chunk, wpi_thrash_page *page,
                           wpi_processor location, wpi_time_ps now) {
    if (page->pinned_on != (uint8_t)location) end_throttles(page, page->throttled);
    if (page->pinned_on == WPI_PROCESSOR_NONE) {
        page->pinned_to = thrash->pin_ps == 0 ? WP_TIME_NEVER : now + thrash->pin_ps;
        page->throttles = 0;
        chunk->was_pinned = true;
    }
    page->pinned_on = (uint8_t)location;
    return (wpi_thrash_hint){.answer = WPI_THRASH_PIN, .location = location};
}

/* A location that all processors using the page can access; the asker's own if it is the only
 * one. */
static wpi_processor common_location(const wpi_thrash_page *page, wpi_processor own) {
    return page->processors == bit_of(own) ? own : WPI_PROCESSOR_HOST;
}

static wpi_thrash_hint hint_for(const wpi_thrash *thrash, wpi_thrash_chunk *chunk,
                                wpi_thrash_page *page, const wpi_thrash_question *q) {
    const wpi_processor own = q->processor;
    const wpi_time_ps now = q->now;
    const bool is_exempt = page->exempt == (uint8_t)own;
    if (page->pinned_on != WPI_PROCESSOR_NONE) {
        const wpi_processor there = (wpi_processor)page->pinned_on;
        if (is_exempt) return pin(thrash, chunk, page, common_location(page, own), now);
        if (there == WPI_PROCESSOR_HOST || there == own)
            return pin(thrash, chunk, page, there, now);
        return throttle(page, own);
    }
    if (!is_exempt) return throttle(page, own);
    if (page->throttles >= thrash->pin_threshold && !q->prefers_device)
        return pin(thrash, chunk, page, own, now);
    return (wpi_thrash_hint){.answer = WPI_THRASH_MIGRATE};
}

static bool is_quiet(const wpi_thrash *thrash, const wpi_thrash_chunk *chunk, wpi_time_ps now) {
    return chunk->has_thrashed && now - chunk->thrashed > thrash->epoch_ps && !chunk->was_pinned &&
           chunk->resets < thrash->max_resets;
}

static void reset_chunk(wpi_thrash *thrash, uint32_t number) {
    const uint8_t resets = thrash->chunks[number].resets;
    wpi_thrash_forget(thrash, number);
    thrash->chunks[number].resets = (uint8_t)(resets + 1);
}

static wpi_thrash_hint ask(wpi_thrash *thrash, const wpi_thrash_question *q) {
    static const wpi_thrash_hint migrate = {.answer = WPI_THRASH_MIGRATE};
    wpi_thrash_chunk *chunk = &thrash->chunks[q->chunk];
    if (chunk->pages == NULL) return migrate;
    if (is_quiet(thrash, chunk, q->now)) {
        reset_chunk(thrash, q->chunk);
        return migrate;
    }
    wpi_thrash_page *page = &chunk->pages[q->page];
    (void)wpi_thrash_pinned(thrash, q->chunk, q->page, q->now); /* the pin may have expired */
    if (!thrashes(thrash, page)) return migrate;
    if ((page->throttled & bit_of(q->processor)) != 0) {
        if (q->now < page->throttled_to && page->exempt != (uint8_t)q->processor)
            return throttle(page, q->processor);
        end_throttles(page, bit_of(q->processor));
    }
    vote(thrash, q->now - page->moved);
    const bool is_pinned = page->pinned_on != WPI_PROCESSOR_NONE;
    if (!is_pinned && q->now - page->moved > thrash->lapse_ps) return migrate;
    page->processors |= bit_of(q->processor);
    update_period(thrash, page, q->processor, q->now);
    return hint_for(thrash, chunk, page, q);
}

static const wpi_thrash_ops ops = {moved, ask};

const wpi_policy wpi_policy_thrash_driver = {
    .kind = "thrash",
    .name = "driver",
    .keys = "paging.thrash_threshold paging.thrash_pin_threshold paging.thrash_lapse "
            "paging.thrash_votes paging.thrash_adapt paging.thrash_nap paging.thrash_epoch "
            "paging.thrash_pin paging.thrash_resets",
    .doc = "for pages that thrash between host and device: throttle one of them for a while, "
           "then pin the page",
    .source = "NVIDIA's open driver 595: uvm_perf_thrashing",
    .ops = &ops};

/* SPDX-License-Identifier: Apache-2.0 */
/* Three timing wheels: a list for each ps of the current bucket; 2^14 buckets of 1024 ps; 2^16
 * windows of 2^13 buckets each. Bitmaps skip empty places. The buckets cover two windows, the
 * current and the next; when the next one begins, the window after it is opened: its events move to
 * their buckets. So a distant event, such as a page on a busy link, costs as much as a near one.
 * Events beyond 2^16 windows, half a second, are kept in a heap.
 *
 * Only the heap needs sequence numbers. A window is a queue. A bucket is a stack: of two events at
 * the same time the younger one is nearer to its top. Dealing a bucket pushes its events to the
 * front of the near lists, which are empty then, so the older one ends up first. Events scheduled
 * into the current bucket are younger than all of these and are appended. Windows and the heap move
 * events on, in order, as soon as a finer wheel covers their time, before any younger event can get
 * there.
 *
 * Links are stored apart from the events' contents, so that walking through a bucket stays in the
 * processor's cache. The data of an event mostly are not cached: with tens of thousands of requests
 * in flight, each was last used long ago. So events are announced to their handlers, which
 * prefetch: when their bucket is the next one, and when it is dealt. */
#include "sim/engine/engine.h"

#include <string.h>

#include "base/alloc.h"
#include "sim/engine/far_events.h"
#include "sim/engine/place_set.h"

#define BUCKET_BITS 10u
#define BUCKET_PS (1u << BUCKET_BITS)
#define WHEEL_BITS 14u
#define BUCKET_COUNT (1u << WHEEL_BITS)
#define WINDOW_BITS (WHEEL_BITS - 1) /* log2 of a window's buckets */
#define WINDOW_COUNT WPI_PLACES_MAX
#define NEAR_WORD_COUNT (BUCKET_PS / 64)
#define NO_EVENT UINT32_MAX
#define NO_BUCKET UINT64_MAX

/* Rare work, kept out of the path of each event. */
#define RARE __attribute__((noinline, cold))

typedef struct event {
    wpi_event_fn fn;
    wpi_announce_fn announce; /* or NULL */
    void *object;
    uint64_t token;
} event;

typedef struct link {
    uint32_t next;
    uint32_t offset_ps; /* in its bucket, or window */
} link;

struct wpi_engine {
    wpi_time_ps now;
    uint64_t cursor; /* number (time >> BUCKET_BITS) of the current bucket */
    uint64_t window; /* number (bucket >> WINDOW_BITS) of the first window in buckets */
    uint64_t run_count;
    uint64_t pending;
    bool is_stopped;
    event *events;
    link *links;
    uint32_t event_capacity;
    uint32_t free;      /* list */
    wpi_far_events far; /* beyond the wheels */
    uint64_t upcoming;  /* number of the first bucket after the cursor with events; or NO_BUCKET */
    uint32_t near_summary;                /* a bit for each word that is not 0 */
    uint64_t near_words[NEAR_WORD_COUNT]; /* a bit for each list that is not empty */
    uint32_t near_first[BUCKET_PS], near_last[BUCKET_PS];
    wpi_place_set full_buckets, full_windows;
    uint32_t buckets[BUCKET_COUNT];
    uint32_t window_first[WINDOW_COUNT], window_last[WINDOW_COUNT]; /* if it is not empty */
};

/* ---- scheduling ---- */

RARE static void grow_events(wpi_engine *engine) {
    WP_CHECK(engine->event_capacity < NO_EVENT / 2);
    const uint32_t capacity = engine->event_capacity == 0 ? 4096 : 2 * engine->event_capacity;
    event *events = wpi_realloc(engine->events, capacity * sizeof *events);
    link *links = wpi_realloc(engine->links, capacity * sizeof *links);
    WP_CHECK(events != NULL && links != NULL);
    for (uint32_t i = engine->event_capacity; i < capacity; i++)
        links[i].next = i + 1 < capacity ? i + 1 : NO_EVENT;
    engine->free = engine->event_capacity;
    engine->events = events;
    engine->links = links;
    engine->event_capacity = capacity;
}

static uint64_t window_of(wpi_time_ps time) {
    return time >> (BUCKET_BITS + WINDOW_BITS);
}

static void put_in_window(wpi_engine *engine, wpi_time_ps time, uint32_t number) {
    const uint32_t at = (uint32_t)window_of(time) & (WINDOW_COUNT - 1);
    const uint32_t offset_ps = (uint32_t)time & ((1u << (BUCKET_BITS + WINDOW_BITS)) - 1);
    engine->links[number] = (link){NO_EVENT, offset_ps};
    if (wpi_place_set_has(&engine->full_windows, at))
        engine->links[engine->window_last[at]].next = number;
    else
        engine->window_first[at] = number;
    engine->window_last[at] = number;
    wpi_place_set_add(&engine->full_windows, at);
}

static void put_in_bucket(wpi_engine *engine, wpi_time_ps time, uint32_t number) {
    const uint64_t bucket = time >> BUCKET_BITS;
    const uint32_t at = (uint32_t)bucket & (BUCKET_COUNT - 1);
    engine->links[number] = (link){engine->buckets[at], (uint32_t)time & (BUCKET_PS - 1)};
    engine->buckets[at] = number;
    wpi_place_set_add(&engine->full_buckets, at);
    if (bucket < engine->upcoming) engine->upcoming = bucket;
}

/* Schedules an event outside the current bucket. */
static void put_away(wpi_engine *engine, wpi_time_ps time, uint32_t number) {
    const uint64_t ahead = window_of(time) - engine->window;
    if (ahead < 2)
        put_in_bucket(engine, time, number);
    else if (ahead < WINDOW_COUNT)
        put_in_window(engine, time, number);
    else
        wpi_far_events_add(&engine->far, time, number);
}

static void set_near(wpi_engine *engine, uint32_t offset_ps) {
    engine->near_words[offset_ps / 64] |= (uint64_t)1 << (offset_ps % 64);
    engine->near_summary |= 1u << (offset_ps / 64);
}

static void near_append(wpi_engine *engine, uint32_t offset_ps, uint32_t number) {
    engine->links[number].next = NO_EVENT;
    if (engine->near_first[offset_ps] == NO_EVENT) {
        engine->near_first[offset_ps] = number;
        set_near(engine, offset_ps);
    } else {
        engine->links[engine->near_last[offset_ps]].next = number;
    }
    engine->near_last[offset_ps] = number;
}

static void near_prepend(wpi_engine *engine, uint32_t offset_ps, uint32_t number) {
    if (engine->near_first[offset_ps] == NO_EVENT) {
        engine->near_last[offset_ps] = number;
        set_near(engine, offset_ps);
    }
    engine->links[number].next = engine->near_first[offset_ps];
    engine->near_first[offset_ps] = number;
}

void wpi_engine_at(wpi_engine *engine, wpi_time_ps time, wpi_event_fn fn, void *object,
                   uint64_t token) {
    wpi_engine_at_announced(engine, time, fn, NULL, object, token);
}

void wpi_engine_at_announced(wpi_engine *engine, wpi_time_ps time, wpi_event_fn fn,
                             wpi_announce_fn announce, void *object, uint64_t token) {
    WP_ASSERT(time >= engine->now);
    if (engine->free == NO_EVENT) grow_events(engine);
    const uint32_t number = engine->free;
    engine->free = engine->links[number].next;
    engine->events[number] = (event){fn, announce, object, token};
    engine->pending++;
    if (time >> BUCKET_BITS == engine->cursor)
        near_append(engine, (uint32_t)time & (BUCKET_PS - 1), number);
    else
        put_away(engine, time, number);
}

/* ---- running ---- */

/* The number of the first bucket after the cursor that holds events. */
static uint64_t next_bucket(const wpi_engine *engine) {
    const uint32_t at = (uint32_t)(engine->cursor + 1) & (BUCKET_COUNT - 1);
    const uint32_t position = wpi_place_set_next(&engine->full_buckets, at);
    if (position == WPI_NO_PLACE) return NO_BUCKET;
    return engine->cursor + 1 + ((position - at) & (BUCKET_COUNT - 1));
}

/* The number of the first window that has events and no buckets; UINT64_MAX: none. */
static uint64_t next_window(const wpi_engine *engine) {
    const uint32_t at = (uint32_t)(engine->window + 2) & (WINDOW_COUNT - 1);
    const uint32_t position = wpi_place_set_next(&engine->full_windows, at);
    if (position != WPI_NO_PLACE)
        return engine->window + 2 + ((position - at) & (WINDOW_COUNT - 1));
    return engine->far.count > 0 ? window_of(engine->far.items[0].time) : UINT64_MAX;
}

static void announce(const wpi_engine *engine, uint32_t number, bool is_near) {
    const event *e = &engine->events[number];
    if (e->announce != NULL) e->announce(e->object, e->token, is_near);
}

/* Announces the events of the next bucket. */
static void announce_next(const wpi_engine *engine) {
    if (engine->upcoming == NO_BUCKET) return;
    for (uint32_t number = engine->buckets[engine->upcoming & (BUCKET_COUNT - 1)];
         number != NO_EVENT; number = engine->links[number].next)
        announce(engine, number, false);
}

static void deal_bucket(wpi_engine *engine, uint64_t bucket) {
    const uint32_t at = (uint32_t)bucket & (BUCKET_COUNT - 1);
    for (uint32_t number = engine->buckets[at]; number != NO_EVENT;) {
        const link l = engine->links[number];
        announce(engine, number, true);
        near_prepend(engine, l.offset_ps, number);
        number = l.next;
    }
    engine->buckets[at] = NO_EVENT;
    wpi_place_set_remove(&engine->full_buckets, at);
    engine->upcoming = next_bucket(engine);
}

/* Moves the window's events to their buckets. */
static void open_window(wpi_engine *engine, uint64_t window) {
    const uint32_t at = (uint32_t)window & (WINDOW_COUNT - 1);
    const wpi_time_ps start = window << (BUCKET_BITS + WINDOW_BITS);
    if (!wpi_place_set_has(&engine->full_windows, at)) return;
    wpi_place_set_remove(&engine->full_windows, at);
    for (uint32_t number = engine->window_first[at]; number != NO_EVENT;) {
        const link l = engine->links[number];
        put_in_bucket(engine, start + l.offset_ps, number);
        number = l.next;
    }
}

/* Makes the buckets cover `window`, before which no event is left, and the next one. */
static void turn_to(wpi_engine *engine, uint64_t window) {
    const uint64_t before = engine->window;
    engine->window = window;
    if (window > before + 1) open_window(engine, window);
    open_window(engine, window + 1);
    while (engine->far.count > 0 && window_of(engine->far.items[0].time) - window < WINDOW_COUNT) {
        const wpi_far_event k = wpi_far_events_take(&engine->far);
        put_away(engine, k.time, k.event);
    }
}

/* Moves to the next bucket with events, when the near lists are empty. False: there is none at or
 * before `limit`. */
static bool advance(wpi_engine *engine, wpi_time_ps limit) {
    if (engine->upcoming == NO_BUCKET) {
        const uint64_t window = next_window(engine);
        if (window > window_of(limit)) return false;
        engine->cursor = (window << WINDOW_BITS) - 1;
        turn_to(engine, window);
    }
    const uint64_t bucket = engine->upcoming;
    if (bucket > limit >> BUCKET_BITS) return false;
    engine->cursor = bucket;
    if (bucket >> WINDOW_BITS != engine->window) turn_to(engine, bucket >> WINDOW_BITS);
    deal_bucket(engine, bucket);
    announce_next(engine);
    return true;
}

/* The first ps of the bucket being run that has an event, or BUCKET_PS. */
static uint32_t near_offset(const wpi_engine *engine) {
    if (engine->near_summary == 0) return BUCKET_PS;
    const uint32_t word = (uint32_t)__builtin_ctz(engine->near_summary);
    return word * 64 + (uint32_t)__builtin_ctzll(engine->near_words[word]);
}

static void set_near_empty(wpi_engine *engine, uint32_t offset_ps) {
    uint64_t *word = &engine->near_words[offset_ps / 64];
    *word &= ~((uint64_t)1 << (offset_ps % 64));
    if (*word == 0) engine->near_summary &= ~(1u << (offset_ps / 64));
}

/* Removes the first event of a near list and frees its place. */
static event near_take(wpi_engine *engine, uint32_t offset_ps) {
    const uint32_t number = engine->near_first[offset_ps];
    link *l = &engine->links[number];
    engine->near_first[offset_ps] = l->next;
    if (l->next == NO_EVENT) set_near_empty(engine, offset_ps);
    l->next = engine->free;
    engine->free = number;
    return engine->events[number];
}

static void run(wpi_engine *engine, wpi_time_ps limit) {
    engine->is_stopped = false;
    while (!engine->is_stopped) {
        const uint32_t offset_ps = near_offset(engine);
        if (offset_ps == BUCKET_PS) {
            if (!advance(engine, limit)) break;
            continue;
        }
        const wpi_time_ps time = (engine->cursor << BUCKET_BITS) + offset_ps;
        if (time > limit) break;
        const event e = near_take(engine, offset_ps);
        engine->now = time;
        engine->pending--;
        engine->run_count++;
        e.fn(e.object, e.token, time);
    }
}

void wpi_engine_run(wpi_engine *engine) {
    run(engine, WP_TIME_NEVER);
}

void wpi_engine_run_until(wpi_engine *engine, wpi_time_ps time) {
    run(engine, time);
    if (!engine->is_stopped && engine->now < time) engine->now = time;
}

void wpi_engine_stop(wpi_engine *engine) {
    engine->is_stopped = true;
}

wpi_time_ps wpi_engine_now(const wpi_engine *engine) {
    return engine->now;
}

uint64_t wpi_engine_pending(const wpi_engine *engine) {
    return engine->pending;
}

uint64_t wpi_engine_events_run(const wpi_engine *engine) {
    return engine->run_count;
}

wp_status wpi_engine_create(wpi_engine **out, wp_error *err) {
    *out = NULL;
    wpi_engine *engine = wpi_calloc(1, sizeof *engine);
    if (engine == NULL) return WP_FAIL(err, NOMEM, "engine: %zu bytes", sizeof *engine);
    engine->free = NO_EVENT;
    engine->upcoming = NO_BUCKET;
    memset(engine->near_first, 0xff, sizeof engine->near_first);
    memset(engine->buckets, 0xff, sizeof engine->buckets);
    *out = engine;
    return WP_STATUS_OK;
}

void wpi_engine_destroy(wpi_engine *engine) {
    if (engine == NULL) return;
    wpi_free(engine->far.items);
    wpi_free(engine->links);
    wpi_free(engine->events);
    wpi_free(engine);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/tlb/walker.h"

#include "base/alloc.h"

static wpi_walk *walk_of(const wpi_walkers *walkers, uint64_t number) {
    return &((wpi_walk *)walkers->walks.items)[number];
}

static wpi_fifo_links walks(const wpi_walkers *walkers) {
    return WPI_FIFO_LINKS(walkers->walks.items, wpi_walk, next);
}

static bool has_cache(const wpi_walkers *walkers) {
    return walkers->cache.entry_count > 0;
}

/* The tag of the page table that covers the address, `depth` levels below the root. */
static uint64_t tag_of(const wpi_walkers *walkers, uint64_t address, uint32_t depth) {
    const uint32_t below = walkers->profile->walker.levels - depth;
    const uint32_t bits = walkers->page_bits + below * walkers->profile->walker.level_bits;
    return (bits >= 64 ? 0 : address >> bits) * 8 + depth;
}

/* How many levels a walk has to read, given the walk cache. */
static uint32_t levels_left(wpi_walkers *walkers, uint64_t address) {
    const uint32_t levels = walkers->profile->walker.levels;
    for (uint32_t depth = levels - 1; depth > 0 && has_cache(walkers); depth--) {
        const uint32_t entry = wpi_tags_find(&walkers->cache, tag_of(walkers, address, depth));
        if (entry == WPI_INDEX_NONE) continue;
        wpi_tags_touch(&walkers->cache, entry);
        walkers->cache_hit_count++;
        return levels - depth;
    }
    return levels;
}

static void remember(wpi_walkers *walkers, uint64_t address) {
    for (uint32_t depth = 1; depth < walkers->profile->walker.levels; depth++) {
        const uint64_t tag = tag_of(walkers, address, depth);
        uint32_t entry = wpi_tags_find(&walkers->cache, tag);
        if (entry == WPI_INDEX_NONE) {
            entry = wpi_tags_insert(&walkers->cache, tag, NULL);
            walkers->cache.entries[entry].parts = 1;
        }
    }
}

static void grow_starts(wpi_walk_starts *s) {
    const uint32_t capacity = s->capacity == 0 ? 256 : 2 * s->capacity;
    wpi_time_ps *times = wpi_malloc(capacity * sizeof *times);
    WP_CHECK(times != NULL);
    for (uint32_t i = 0; i < s->count; i++)
        times[i] = s->times[(s->first + i) & (s->capacity - 1)];
    wpi_free(s->times);
    *s = (wpi_walk_starts){.times = times, .capacity = capacity, .count = s->count};
}

/* Walks of unlimited walkers all take the same time, so they end in the order in which they began.
 * Updates busy_max with the number that overlap at `begun`. */
static void note_overlap(wpi_walkers *walkers, wpi_time_ps begun, wpi_time_ps walk_ps) {
    wpi_walk_starts *s = &walkers->starts;
    while (s->count > 0 && s->times[s->first] + walk_ps <= begun) {
        s->first = (s->first + 1) & (s->capacity - 1);
        s->count--;
    }
    if (s->count == s->capacity) grow_starts(s);
    s->times[(s->first + s->count++) & (s->capacity - 1)] = begun;
    if (s->count > walkers->busy_max) walkers->busy_max = s->count;
}

static void finish(void *object, uint64_t number, wpi_time_ps now);

static void count_walk(wpi_walkers *walkers, uint32_t levels, wpi_time_ps waited_ps,
                       wpi_time_ps first, wpi_time_ps outer) {
    walkers->walk_count++;
    walkers->level_count += levels;
    wpi_histogram_add(&walkers->queue_ps, waited_ps);
    wpi_utilisation_add(&walkers->utilisation, first, outer);
}

static void begin(wpi_walkers *walkers, uint32_t number, wpi_time_ps now) {
    wpi_walk *walk = walk_of(walkers, number);
    const uint32_t levels = levels_left(walkers, walk->address);
    walk->walk_ps = levels * walkers->profile->walker.level_ps;
    if (has_cache(walkers)) walk->walk_ps += walkers->profile->walker.cache_ps;
    if (++walkers->busy > walkers->busy_max) walkers->busy_max = walkers->busy;
    count_walk(walkers, levels, now - walk->asked, now, now + walk->walk_ps);
    wpi_engine_at(walkers->engine, now + walk->walk_ps, finish, walkers, number);
}

static void finish(void *object, uint64_t number, wpi_time_ps now) {
    wpi_walkers *walkers = object;
    const wpi_walk walk = *walk_of(walkers, number);
    wpi_pool_give(&walkers->walks, (uint32_t)number);
    wpi_histogram_add(&walkers->latency_ps, now - walk.asked);
    walkers->busy--;
    if (has_cache(walkers)) remember(walkers, walk.address);
    if (!wpi_fifo_is_empty(&walkers->queue)) {
        walkers->waiting--;
        begin(walkers, wpi_fifo_take_first(&walkers->queue, walks(walkers)), now);
    }
    walkers->done(walkers->object, walk.token, walk.walk_ps, now);
}

/* ---- idle walkers: a walk is its end ---- */

static wpi_time_ps idle_walk_ps(const wpi_walkers *walkers) {
    return walkers->profile->walker.levels * walkers->profile->walker.level_ps;
}

static void finish_idle(void *object, uint64_t token, wpi_time_ps now) {
    wpi_walkers *walkers = object;
    const wpi_time_ps walk_ps = idle_walk_ps(walkers);
    wpi_histogram_add(&walkers->latency_ps, walk_ps);
    note_overlap(walkers, now - walk_ps, walk_ps);
    walkers->done(walkers->object, token, walk_ps, now);
}

static void announce(void *object, uint64_t token, bool is_near) {
    const wpi_walkers *walkers = object;
    walkers->announce(walkers->object, token, is_near);
}

static void ask_idle(wpi_walkers *walkers, uint64_t token, wpi_time_ps time) {
    const wpi_time_ps end = time + idle_walk_ps(walkers);
    count_walk(walkers, walkers->profile->walker.levels, 0, time, end);
    wpi_engine_at_announced(walkers->engine, end, finish_idle, announce, walkers, token);
}

static bool is_free(const wpi_walkers *walkers) {
    const uint32_t count = walkers->profile->walker.count;
    return count == 0 || walkers->busy < count;
}

bool wpi_walkers_are_idle(const wpi_walkers *walkers) {
    return walkers->profile->walker.count == 0 && !has_cache(walkers);
}

bool wpi_walkers_have_room(const wpi_walkers *walkers) {
    const uint64_t count = walkers->profile->walker.count;
    const uint64_t taken = (uint64_t)walkers->busy + walkers->waiting + walkers->promised;
    return count == 0 || taken < count + walkers->profile->walker.queue;
}

bool wpi_walkers_are_free(const wpi_walkers *walkers) {
    const uint32_t count = walkers->profile->walker.count;
    return count == 0 || walkers->busy + walkers->waiting + walkers->promised < count;
}

void wpi_walkers_promise(wpi_walkers *walkers) {
    walkers->promised++;
}

void wpi_walkers_ask(wpi_walkers *walkers, uint64_t address, uint64_t token, wpi_time_ps time) {
    walkers->promised--;
    if (wpi_walkers_are_idle(walkers)) {
        ask_idle(walkers, token, time);
        return;
    }
    const uint32_t number = wpi_pool_take(&walkers->walks, sizeof(wpi_walk));
    *walk_of(walkers, number) =
        (wpi_walk){.address = address, .token = token, .asked = time, .next = WPI_FIFO_NONE};
    if (is_free(walkers)) {
        begin(walkers, number, time);
        return;
    }
    wpi_fifo_append(&walkers->queue, walks(walkers), number);
    walkers->waiting++;
}

wp_status wpi_walkers_init(wpi_walkers *walkers, wpi_engine *engine, const wpi_profile *profile,
                           wpi_walk_done done, wpi_announce_fn announced, void *object,
                           wp_error *err) {
    *walkers = (wpi_walkers){.engine = engine,
                             .profile = profile,
                             .done = done,
                             .announce = announced,
                             .object = object,
                             .page_bits = (uint32_t)__builtin_ctzll(profile->page_bytes),
                             .queue = WPI_FIFO_EMPTY};
    wpi_utilisation_init(&walkers->utilisation, profile->slice_ps, profile->walker.count);
    if (profile->walker.cache_entries == 0) return WP_STATUS_OK;
    return wpi_tags_init(&walkers->cache, &profile->walker.cache_entries, 1, WPI_HASH_MODULO,
                         &wpi_policy_replacement_lru, 1, err);
}

void wpi_walkers_deinit(wpi_walkers *walkers) {
    wpi_tags_deinit(&walkers->cache);
    wpi_pool_deinit(&walkers->walks);
    wpi_free(walkers->starts.times);
}

void wpi_walkers_flush(wpi_walkers *walkers) {
    if (has_cache(walkers)) wpi_tags_clear(&walkers->cache);
}

void wpi_walkers_statistics(const wpi_walkers *walkers, wpi_visit visit, void *object) {
    const char *prefix = "walker.";
    wpi_visit_value(visit, object, prefix, "walks", "walks", walkers->walk_count);
    wpi_visit_value(visit, object, prefix, "levels_read", "reads", walkers->level_count);
    wpi_visit_value(visit, object, prefix, "cache_hits", "walks", walkers->cache_hit_count);
    wpi_visit_maximum(visit, object, prefix, "busy_max", "walkers", walkers->busy_max);
    wpi_visit_histogram(visit, object, prefix, "queue", "ps", &walkers->queue_ps);
    wpi_visit_histogram(visit, object, prefix, "latency", "ps", &walkers->latency_ps);
    wpi_visit_utilisation(visit, object, prefix, "utilisation", &walkers->utilisation);
}

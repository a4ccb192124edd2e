/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/cache.h"

#include <string.h>

#include "base/alloc.h"

/* Spreads power-of-two strides; neighbours stay neighbours within aligned groups of 128. */
static uint64_t fold(wpi_hash hash, uint64_t line) {
    if (hash == WPI_HASH_MODULO) return line;
    return line ^ line >> 7 ^ line >> 13 ^ line >> 20 ^ line >> 27;
}

uint32_t wpi_cache_slice(wpi_hash hash, uint32_t slices, uint64_t line) {
    return slices == 1 ? 0 : (uint32_t)(fold(hash, line) % slices);
}

static uint32_t set_of(const wpi_cache *cache, uint64_t line) {
    const uint64_t in_slice = cache->slices == 1 ? line : line / cache->slices;
    return (uint32_t)(fold(cache->hash, in_slice) % cache->sets);
}

wp_status wpi_cache_init(wpi_cache *cache, const wpi_cache_profile *profile, wp_error *err) {
    const uint64_t lines = profile->bytes / WPI_LINE_BYTES / profile->slices;
    *cache = (wpi_cache){.sets = (uint32_t)(lines / profile->ways),
                         .ways = profile->ways,
                         .slices = profile->slices,
                         .hash = profile->hash};
    cache->lines = wp_calloc(lines, sizeof *cache->lines);
    cache->state = wp_calloc(lines, sizeof *cache->state);
    cache->order = wp_calloc(lines, sizeof *cache->order);
    if (cache->lines != NULL && cache->state != NULL && cache->order != NULL) {
        for (uint64_t place = 0; place < lines; place++)
            cache->order[place] = (uint16_t)(profile->ways - 1 - place % profile->ways);
        return WP_STATUS_OK;
    }
    wpi_cache_deinit(cache);
    return WP_FAIL(err, NOMEM, "cache of %llu lines", (unsigned long long)lines);
}

void wpi_cache_deinit(wpi_cache *cache) {
    wp_free(cache->lines);
    wp_free(cache->state);
    wp_free(cache->order);
    *cache = (wpi_cache){0};
}

/* A way was used: it comes first in its set. */
static void touch(uint16_t *order, uint16_t way) {
    uint16_t moved = way;
    for (uint32_t at = 0;; at++) {
        const uint16_t here = order[at];
        order[at] = moved;
        if (here == way) return;
        moved = here;
    }
}

static bool is_pending(const wpi_cache_line *state, wp_time_ps now) {
    return state->pending != 0 && state->ready > now;
}

/* What was expected has come. */
static void settle(wpi_cache_line *state, wp_time_ps now) {
    if (state->pending == 0 || state->ready > now) return;
    state->valid |= state->pending;
    state->pending = 0;
}

static uint32_t find(const wpi_cache *cache, uint32_t first, uint64_t line) {
    for (uint32_t place = first; place < first + cache->ways; place++)
        if (cache->lines[place] == line + 1) return place;
    return WPI_CACHE_NO_PLACE;
}

/* The place a new line takes: of those that may leave the one not used for longest; a free one
 * first. */
static uint32_t choose(const wpi_cache *cache, uint32_t first, wp_time_ps now,
                       wp_time_ps *blocked_until) {
    *blocked_until = WP_TIME_NEVER;
    for (uint32_t i = cache->ways; i > 0; i--) {
        const uint32_t place = first + cache->order[first + i - 1];
        const wpi_cache_line *state = &cache->state[place];
        if (!is_pending(state, now)) return place;
        if (state->ready < *blocked_until) *blocked_until = state->ready;
    }
    return WPI_CACHE_NO_PLACE;
}

/* Gives the line a place; false: it has to wait. */
static bool make_place(wpi_cache *cache, uint32_t first, uint64_t line, wp_time_ps now,
                       wpi_cache_answer *out) {
    out->place = choose(cache, first, now, &out->blocked_until);
    if (out->place == WPI_CACHE_NO_PLACE) return false;
    wpi_cache_line *state = &cache->state[out->place];
    if (cache->lines[out->place] != 0) {
        cache->evictions++;
        cache->dirty_evictions += state->dirty != 0;
        out->evicted_line = cache->lines[out->place] - 1;
        out->evicted_dirty = state->dirty;
    }
    cache->lines[out->place] = line + 1;
    *state = (wpi_cache_line){0};
    return true;
}

uint8_t wpi_cache_peek(const wpi_cache *cache, uint64_t line, wp_time_ps now) {
    const uint32_t place = find(cache, set_of(cache, line) * cache->ways, line);
    if (place == WPI_CACHE_NO_PLACE) return 0;
    const wpi_cache_line *state = &cache->state[place];
    return is_pending(state, now) ? state->valid : state->valid | state->pending;
}

void wpi_cache_load(wpi_cache *cache, uint64_t line, uint8_t sectors, wp_time_ps now,
                    wpi_cache_answer *out) {
    const uint32_t first = set_of(cache, line) * cache->ways;
    *out = (wpi_cache_answer){.place = find(cache, first, line)};
    if (out->place == WPI_CACHE_NO_PLACE && !make_place(cache, first, line, now, out)) return;
    wpi_cache_line *state = &cache->state[out->place];
    settle(state, now);
    touch(&cache->order[first], (uint16_t)(out->place - first));
    out->valid = sectors & state->valid;
    out->pending = (uint8_t)(sectors & state->pending & ~state->valid);
    out->missing = (uint8_t)(sectors & ~(state->valid | state->pending));
    out->ready = state->ready;
    cache->sector_hits += wpi_sector_count(out->valid);
    cache->sector_merges += wpi_sector_count(out->pending);
    cache->sector_misses += wpi_sector_count(out->missing);
    if (out->missing == 0) return;
    state->pending |= out->missing;
    state->ready = WP_TIME_NEVER; /* until told otherwise */
}

void wpi_cache_expect(wpi_cache *cache, uint32_t place, wp_time_ps ready) {
    cache->state[place].ready = ready;
}

void wpi_cache_fill(wpi_cache *cache, uint32_t place, uint8_t sectors) {
    wpi_cache_line *state = &cache->state[place];
    state->valid |= sectors;
    state->pending &= (uint8_t)~sectors;
}

/* Data of a line that stays: dirty, whatever was under way for these sectors. */
static void write_back(wpi_cache *cache, uint64_t line, uint8_t sectors, wp_time_ps now,
                       uint32_t first, wpi_cache_answer *out) {
    if (out->place == WPI_CACHE_NO_PLACE && !make_place(cache, first, line, now, out)) return;
    wpi_cache_line *state = &cache->state[out->place];
    settle(state, now);
    touch(&cache->order[first], (uint16_t)(out->place - first));
    out->valid = sectors & state->valid;
    state->valid |= sectors;
    state->dirty |= sectors;
}

void wpi_cache_store(wpi_cache *cache, wpi_write policy, uint64_t line, uint8_t sectors,
                     wp_time_ps now, wpi_cache_answer *out) {
    const uint32_t first = set_of(cache, line) * cache->ways;
    *out = (wpi_cache_answer){.place = find(cache, first, line)};
    if (policy == WPI_WRITE_BACK) {
        write_back(cache, line, sectors, now, first, out);
        return;
    }
    if (out->place == WPI_CACHE_NO_PLACE) return;
    wpi_cache_line *state = &cache->state[out->place];
    settle(state, now);
    out->valid = sectors & state->valid;
    if (policy == WPI_WRITE_EVICT)
        state->valid &= (uint8_t)~sectors;
    else
        touch(&cache->order[first], (uint16_t)(out->place - first));
}

/* The set's free ways move behind the others. */
static void free_last(wpi_cache *cache, uint32_t first) {
    uint16_t *order = &cache->order[first];
    for (uint32_t done = 0, i = 0; i < cache->ways; i++) {
        if (cache->lines[first + order[i]] == 0) continue;
        const uint16_t way = order[i];
        memmove(&order[done + 1], &order[done], (i - done) * sizeof *order);
        order[done++] = way;
    }
}

void wpi_cache_invalidate(wpi_cache *cache) {
    for (uint32_t place = 0; place < cache->sets * cache->ways; place++) {
        wpi_cache_line *state = &cache->state[place];
        state->valid &= state->dirty;
        if (state->pending == 0 && state->dirty == 0) cache->lines[place] = 0;
    }
    for (uint32_t set = 0; set < cache->sets; set++)
        free_last(cache, set * cache->ways);
}

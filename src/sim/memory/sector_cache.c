/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/memory/sector_cache.h"

#include <emmintrin.h>
#include <string.h>

#include "base/alloc.h"

#define GROUP 8u /* marks or ways that are compared at once */
#define NO_WAY UINT16_MAX
#define SECTORS 15u /* all of a line */
#define NUMBERS (((uint64_t)1 << 52) - 1)

/* Spreads power-of-two strides; neighbours stay neighbours within aligned groups of 128. */
static uint64_t fold(wpi_hash hash, uint64_t line) {
    if (hash == WPI_HASH_MODULO) return line;
    return line ^ line >> 7 ^ line >> 13 ^ line >> 20 ^ line >> 27;
}

uint32_t wpi_cache_slice(wpi_hash hash, const wpi_divider *slices, uint64_t line) {
    return wpi_remainder(slices, fold(hash, line));
}

/* A set: its first line; its ways, most recently used first; a hash of each way's line. */
typedef struct set {
    uint32_t first;
    uint16_t *order, *marks;
} set;

static set set_at(const wpi_cache *cache, uint32_t number) {
    uint16_t *order = &cache->ways_of[2 * (size_t)number * cache->row];
    return (set){number * cache->ways, order, order + cache->row};
}

uint32_t wpi_cache_set(const wpi_cache *cache, uint64_t line) {
    const uint64_t in_slice = wpi_divide(&cache->slices, line);
    return wpi_remainder(&cache->sets, fold(cache->hash, in_slice));
}

static set set_of(const wpi_cache *cache, uint64_t line) {
    return set_at(cache, wpi_cache_set(cache, line));
}

/* An L1 has no limit. */
static uint32_t dirty_ways_of(const wpi_cache_profile *profile) {
    const uint32_t ways = profile->ways * profile->dirty_percent / 100;
    if (profile->dirty_percent == 0) return profile->ways;
    return ways != 0 ? ways : 1;
}

wp_status wpi_cache_init(wpi_cache *cache, const wpi_cache_profile *profile, wp_error *err) {
    const uint64_t sets = profile->bytes / WPI_LINE_BYTES / profile->slices / profile->ways;
    *cache = (wpi_cache){.ways = profile->ways,
                         .row = (profile->ways + GROUP - 1) / GROUP * GROUP,
                         .dirty_ways = dirty_ways_of(profile),
                         .sets = wpi_divider_of(sets),
                         .slices = wpi_divider_of(profile->slices),
                         .hash = profile->hash};
    const uint64_t lines = sets * cache->ways;
    cache->lines = wpi_calloc(lines, sizeof *cache->lines);
    cache->ways_of = wpi_calloc(2 * sets * cache->row, sizeof *cache->ways_of);
    if (cache->lines == NULL || cache->ways_of == NULL) {
        wpi_cache_deinit(cache);
        return WP_FAIL(err, NOMEM, "cache of %llu lines", (unsigned long long)lines);
    }
    for (uint32_t number = 0; number < sets; number++) {
        const set at = set_at(cache, number);
        for (uint32_t i = 0; i < cache->row; i++)
            at.order[i] = i < cache->ways ? (uint16_t)(cache->ways - 1 - i) : NO_WAY;
    }
    return WP_STATUS_OK;
}

void wpi_cache_deinit(wpi_cache *cache) {
    wpi_free(cache->lines);
    wpi_free(cache->ways_of);
    *cache = (wpi_cache){0};
}

/* Compares eight numbers with `number`: two bits for each, set if equal. */
static uint32_t equal_ones(const uint16_t *numbers, uint16_t number) {
    const __m128i here = _mm_loadu_si128((const __m128i *)(const void *)numbers);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi16(here, _mm_set1_epi16((short)number)));
}

/* Moves the first `count` ways one place back. */
static void shift(uint16_t *order, uint32_t count) {
    for (; count >= GROUP; count -= GROUP) {
        const __m128i some =
            _mm_loadu_si128((const __m128i *)(const void *)(order + count - GROUP));
        _mm_storeu_si128((__m128i *)(void *)(order + count - GROUP + 1), some);
    }
    for (; count > 0; count--)
        order[count] = order[count - 1];
}

/* Moves a used way to the front of its set. */
static void touch(uint16_t *order, uint16_t way) {
    if (order[0] == way) return;
    uint32_t group = 0, equal = 0;
    while ((equal = equal_ones(order + group, way)) == 0)
        group += GROUP;
    const uint32_t at = group + (uint32_t)__builtin_ctz(equal) / 2;
    shift(order, at);
    order[0] = way;
}

static bool is_pending(const wpi_cache_line *line, wpi_time_ps now) {
    return line->pending != 0 && line->ready > now;
}

static void become_valid(wpi_cache_line *line, uint8_t sectors) {
    line->valid = (line->valid | sectors) & SECTORS;
    line->pending = line->pending & ~sectors & SECTORS;
}

/* Makes pending sectors valid whose time has come. */
static void settle(wpi_cache_line *line, wpi_time_ps now) {
    if (line->pending != 0 && line->ready <= now) become_valid(line, line->pending);
}

static uint16_t mark_of(uint64_t line) {
    return (uint16_t)(line * 0x9e3779b97f4a7c15u >> 48);
}

/* Finds the line's place, comparing only lines whose marks match. */
static uint32_t find(const wpi_cache *cache, set at, uint64_t line) {
    const uint16_t mark = mark_of(line);
    for (uint32_t group = 0; group < cache->row; group += GROUP) {
        uint32_t equal = equal_ones(at.marks + group, mark);
        for (; equal != 0; equal &= equal - 1, equal &= equal - 1) {
            const uint32_t way = group + (uint32_t)__builtin_ctz(equal) / 2;
            if (way < cache->ways && cache->lines[at.first + way].number == line + 1)
                return at.first + way;
        }
    }
    return WPI_CACHE_NO_PLACE;
}

/* Chooses the place for a new line: a free one, or else the least recently used that is not
 * pending. */
static uint32_t choose(const wpi_cache *cache, set at, wpi_time_ps now,
                       wpi_time_ps *blocked_until) {
    *blocked_until = WP_TIME_NEVER;
    for (uint32_t i = cache->ways; i > 0; i--) {
        const uint32_t place = at.first + at.order[i - 1];
        const wpi_cache_line *line = &cache->lines[place];
        if (!is_pending(line, now)) return place;
        if (line->ready < *blocked_until) *blocked_until = line->ready;
    }
    return WPI_CACHE_NO_PLACE;
}

/* Allocates a place for the line; false: all are pending. */
static bool make_place(wpi_cache *cache, set at, uint64_t number, wpi_time_ps now,
                       wpi_cache_answer *out) {
    out->place = choose(cache, at, now, &out->blocked_until);
    if (out->place == WPI_CACHE_NO_PLACE) return false;
    wpi_cache_line *line = &cache->lines[out->place];
    if (line->number != 0) {
        cache->evictions++;
        cache->dirty_evictions += line->dirty != 0;
        out->evicted_line = line->number - 1;
        out->evicted_dirty = line->dirty;
    }
    *line = (wpi_cache_line){.number = (number + 1) & NUMBERS};
    at.marks[out->place - at.first] = mark_of(number);
    return true;
}

void wpi_cache_expect_set(const wpi_cache *cache, uint32_t number, bool is_near) {
    const set at = set_at(cache, number);
    if (is_near) /* the line that a miss evicts */
        __builtin_prefetch(&cache->lines[at.first + at.order[cache->ways - 1]]);
    else
        __builtin_prefetch(at.order);
}

uint8_t wpi_cache_peek(const wpi_cache *cache, uint64_t number, wpi_time_ps now) {
    const uint32_t place = find(cache, set_of(cache, number), number);
    if (place == WPI_CACHE_NO_PLACE) return 0;
    const wpi_cache_line *line = &cache->lines[place];
    return is_pending(line, now) ? line->valid : line->valid | line->pending;
}

void wpi_cache_load(wpi_cache *cache, uint64_t number, uint8_t sectors, wpi_time_ps now,
                    wpi_cache_answer *out) {
    const set at = set_of(cache, number);
    cache->is_used = true;
    *out = (wpi_cache_answer){.place = find(cache, at, number)};
    if (out->place == WPI_CACHE_NO_PLACE && !make_place(cache, at, number, now, out)) return;
    wpi_cache_line *line = &cache->lines[out->place];
    settle(line, now);
    touch(at.order, (uint16_t)(out->place - at.first));
    out->valid = sectors & line->valid;
    out->pending = (uint8_t)(sectors & line->pending & ~line->valid);
    out->missing = (uint8_t)(sectors & ~(line->valid | line->pending));
    out->ready = line->ready;
    cache->sector_hits += wpi_sector_count(out->valid);
    cache->sector_merges += wpi_sector_count(out->pending);
    cache->sector_misses += wpi_sector_count(out->missing);
    if (out->missing == 0) return;
    line->pending = (line->pending | out->missing) & SECTORS;
    line->ready = WP_TIME_NEVER; /* until wpi_cache_expect or _fill */
}

void wpi_cache_expect(wpi_cache *cache, uint32_t place, wpi_time_ps ready) {
    cache->lines[place].ready = ready;
}

void wpi_cache_fill(wpi_cache *cache, uint32_t place, uint8_t sectors) {
    cache->is_used = true;
    become_valid(&cache->lines[place], sectors);
}

void wpi_cache_write_at(wpi_cache *cache, uint32_t place, uint8_t sectors, wpi_time_ps now) {
    wpi_cache_line *line = &cache->lines[place];
    settle(line, now);
    line->valid = (line->valid | sectors) & SECTORS;
    line->dirty = (line->dirty | sectors) & SECTORS;
}

/* If more of the set's lines are dirty than may be, the least recently used of them becomes clean.
 */
static void limit_dirty(wpi_cache *cache, set at, wpi_cache_answer *out) {
    uint32_t dirty = 0;
    wpi_cache_line *oldest = NULL;
    for (uint32_t i = 0; i < cache->ways; i++) {
        wpi_cache_line *line = &cache->lines[at.first + at.order[i]];
        if (line->dirty == 0) continue;
        dirty++;
        oldest = line;
    }
    if (dirty <= cache->dirty_ways) return;
    out->evicted_line = oldest->number - 1;
    out->evicted_dirty = oldest->dirty;
    oldest->dirty = 0;
}

/* Writes sectors of a line, and makes them valid and dirty even if they were pending. */
static void write_back(wpi_cache *cache, set at, uint64_t number, uint8_t sectors, wpi_time_ps now,
                       wpi_cache_answer *out) {
    if (out->place == WPI_CACHE_NO_PLACE && !make_place(cache, at, number, now, out)) return;
    touch(at.order, (uint16_t)(out->place - at.first));
    settle(&cache->lines[out->place], now);
    out->valid = sectors & cache->lines[out->place].valid;
    const bool was_dirty = cache->lines[out->place].dirty != 0;
    wpi_cache_write_at(cache, out->place, sectors, now);
    if (!was_dirty && out->evicted_dirty == 0 && cache->dirty_ways < cache->ways)
        limit_dirty(cache, at, out);
}

void wpi_cache_store(wpi_cache *cache, wpi_write policy, uint64_t number, uint8_t sectors,
                     wpi_time_ps now, wpi_cache_answer *out) {
    const set at = set_of(cache, number);
    cache->is_used = true;
    *out = (wpi_cache_answer){.place = find(cache, at, number)};
    if (policy == WPI_WRITE_BACK) {
        write_back(cache, at, number, sectors, now, out);
        return;
    }
    if (out->place == WPI_CACHE_NO_PLACE) return;
    wpi_cache_line *line = &cache->lines[out->place];
    settle(line, now);
    out->valid = sectors & line->valid;
    if (policy == WPI_WRITE_EVICT)
        line->valid = line->valid & ~sectors & SECTORS;
    else
        touch(at.order, (uint16_t)(out->place - at.first));
}

/* Moves the set's free ways behind the others. */
static void free_last(wpi_cache *cache, set at) {
    for (uint32_t done = 0, i = 0; i < cache->ways; i++) {
        if (cache->lines[at.first + at.order[i]].number == 0) continue;
        const uint16_t way = at.order[i];
        memmove(&at.order[done + 1], &at.order[done], (i - done) * sizeof *at.order);
        at.order[done++] = way;
    }
}

void wpi_cache_resize(wpi_cache *cache, uint64_t bytes) {
    const uint64_t sets = bytes / WPI_LINE_BYTES / cache->ways;
    if (sets != cache->sets.by) cache->sets = wpi_divider_of(sets);
}

void wpi_cache_empty(wpi_cache *cache, wpi_time_ps now) {
    for (uint32_t place = 0; place < cache->sets.by * cache->ways; place++) {
        settle(&cache->lines[place], now);
        cache->lines[place].dirty = 0;
    }
    wpi_cache_invalidate(cache);
}

void wpi_cache_invalidate(wpi_cache *cache) {
    if (!cache->is_used) return; /* common: many launches use few SMs */
    cache->is_used = false;
    for (uint32_t place = 0; place < cache->sets.by * cache->ways; place++) {
        wpi_cache_line *line = &cache->lines[place];
        line->valid = line->valid & line->dirty;
        if (line->pending == 0 && line->dirty == 0) line->number = 0;
    }
    for (uint32_t number = 0; number < cache->sets.by; number++)
        free_last(cache, set_at(cache, number));
}

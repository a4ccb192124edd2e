/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cpu/check/race_table.h"

#include <string.h>

#include "base/abi.h"
#include "base/alloc.h"

#define GRANULE_BYTES 4u
#define RELEASES 4u /* the last ones of a thread that are remembered */
#define LINE 16u
#define PROBES 16u /* entries in which a word may be */
#define GRANULES_MIN ((size_t)1 << 12)
#define GRANULES_MAX ((size_t)1 << 18)

typedef struct event {
    uint64_t clock;
    wpi_race_access access;
    uint8_t bytes; /* mask of the granule's bytes; 0: no event */
} event;

typedef struct granule {
    uint64_t word;       /* address / GRANULE_BYTES */
    uint32_t generation; /* the table's when it was filled */
    uint32_t value;      /* written */
    event write, reads[2];
} granule;

typedef struct thread_clock {
    uint64_t acquired;
    uint64_t released[RELEASES]; /* the newest first; 0: none */
} thread_clock;

struct wpi_race_table {
    uint64_t clock;
    uint32_t generation; /* since the last barrier of all threads */
    thread_clock *threads;
    size_t thread_capacity;
    uint64_t shared_first, shared_count; /* granules */
    granule *shared;
    size_t shared_capacity;
    granule *others;
    size_t other_capacity; /* a power of two */
};

/* ---- storage ---- */

wpi_race_table *wpi_race_table_new(void) {
    wpi_race_table *t = wpi_calloc(1, sizeof *t);
    if (t == NULL) return NULL;
    t->generation = 1;
    t->others = wpi_calloc(GRANULES_MIN, sizeof *t->others);
    t->other_capacity = GRANULES_MIN;
    if (t->others != NULL) return t;
    wpi_free(t);
    return NULL;
}

void wpi_race_table_free(wpi_race_table *t) {
    if (t == NULL) return;
    wpi_free(t->threads);
    wpi_free(t->shared);
    wpi_free(t->others);
    wpi_free(t);
}

bool wpi_race_table_prepare(wpi_race_table *t, uint32_t threads, size_t shared_bytes) {
    const size_t granules = shared_bytes / GRANULE_BYTES + 1;
    t->shared_count = granules;
    if (t->thread_capacity < threads) {
        wpi_free(t->threads);
        t->threads = wpi_calloc(threads, sizeof *t->threads);
        t->thread_capacity = t->threads != NULL ? threads : 0;
    }
    if (t->shared_capacity < granules) {
        wpi_free(t->shared);
        t->shared = wpi_calloc(granules, sizeof *t->shared);
        t->shared_capacity = t->shared != NULL ? granules : 0;
    }
    return t->threads != NULL && t->shared != NULL;
}

void wpi_race_table_begin(wpi_race_table *t, const void *shared) {
    t->shared_first = (uintptr_t)shared / GRANULE_BYTES;
    t->generation++;
}

void wpi_race_table_barrier(wpi_race_table *t) {
    t->generation++;
}

/* ---- words ---- */

/* Words that follow each other lie in one line of entries; where in it depends on the line, for
 * words that are a line apart. */
static size_t place_of(const wpi_race_table *t, uint64_t word, size_t probe) {
    const uint64_t hash = word / LINE * UINT64_C(0x9e3779b97f4a7c15);
    const uint64_t line = (hash >> 32) + probe, in_line = (word ^ hash >> 59) % LINE;
    return (line * LINE + in_line) & (t->other_capacity - 1);
}

static granule *take(const wpi_race_table *t, granule *g, uint64_t word) {
    if (g->word != word || g->generation != t->generation)
        *g = (granule){.word = word, .generation = t->generation};
    return g;
}

/* The word's entry, made if there is none; NULL: all that it may have are taken. Nothing is removed
 * within a generation, so that a free entry ends the search. */
static granule *probe(const wpi_race_table *t, uint64_t word) {
    for (size_t p = 0; p < PROBES; p++) {
        granule *g = &t->others[place_of(t, word, p)];
        if (g->generation != t->generation || g->word == word) return take(t, g, word);
    }
    return NULL;
}

/* Doubles the table of other words; false: it stays as it is. */
static bool double_others(wpi_race_table *t) {
    const size_t count = t->other_capacity;
    granule *old = t->others;
    granule *made = count < GRANULES_MAX ? wpi_calloc(2 * count, sizeof *made) : NULL;
    if (made == NULL) return false;
    t->others = made;
    t->other_capacity = 2 * count;
    for (size_t i = 0; i < count; i++) {
        granule *to = old[i].generation == t->generation ? probe(t, old[i].word) : NULL;
        if (to != NULL) *to = old[i];
    }
    wpi_free(old);
    return true;
}

static granule *find(wpi_race_table *t, uint64_t word) {
    const uint64_t in_shared = word - t->shared_first;
    if (in_shared < t->shared_count) return take(t, &t->shared[in_shared], word);
    granule *g = probe(t, word);
    while (g == NULL && double_others(t))
        g = probe(t, word);
    return g != NULL ? g : take(t, &t->others[place_of(t, word, 0)], word);
}

/* ---- order ---- */

void wpi_race_table_sync(wpi_race_table *t, uint32_t thread) {
    thread_clock *c = &t->threads[thread];
    memmove(&c->released[1], &c->released[0], (RELEASES - 1) * sizeof c->released[0]);
    c->released[0] = ++t->clock;
    c->acquired = ++t->clock;
}

static bool are_ordered(const wpi_race_table *t, const event *earlier, uint32_t thread) {
    const thread_clock *a = &t->threads[earlier->access.thread];
    const uint64_t acquired = t->threads[thread].acquired;
    uint64_t first = 0; /* release after the access */
    for (uint32_t i = 0; i < RELEASES && a->released[i] > earlier->clock; i++)
        first = a->released[i];
    const bool may_be_older = first != 0 && first == a->released[RELEASES - 1];
    if (may_be_older) return acquired > earlier->clock;
    return first != 0 && first < acquired;
}

/* Pairs that programs mean: two atomic ones; a flag that is set and read by volatile accesses, but
 * not within a warp, where that is how lanes exchanged values while GPUs kept them in step; and
 * outside shared memory, where threads of other blocks update at any time, a read that spares an
 * atomic. */
static bool is_meant(uint32_t a, uint32_t b, bool is_warp, bool is_shared) {
    const uint32_t ordered = WPI_RACE_ATOMIC | WPI_RACE_VOLATILE;
    if (((a | b) & WPI_RACE_ATOMIC) == 0)
        return !is_warp && (a & ordered) != 0 && (b & ordered) != 0;
    const bool is_hint = !is_shared && (a & b & WPI_RACE_WRITE) == 0;
    return is_hint || ((a & ordered) != 0 && (b & ordered) != 0);
}

static bool is_shared_word(const wpi_race_table *t, uint64_t word) {
    return word - t->shared_first < t->shared_count;
}

static bool races(const wpi_race_table *t, uint64_t word, const event *earlier, const event *now) {
    const wpi_race_access *a = &earlier->access, *b = &now->access;
    if ((earlier->bytes & now->bytes) == 0 || a->thread == b->thread) return false;
    const bool is_warp = a->thread / WP_WARP_LANES == b->thread / WP_WARP_LANES;
    return !is_meant(a->flags, b->flags, is_warp, is_shared_word(t, word)) &&
           !are_ordered(t, earlier, b->thread);
}

/* ---- accesses ---- */

/* The earlier access that one of a granule races with; NULL: none. */
static const event *conflict(const wpi_race_table *t, const granule *g, const event *now,
                             uint32_t value) {
    const bool is_write = (now->access.flags & WPI_RACE_WRITE) != 0;
    const uint32_t both = now->access.flags & g->write.access.flags;
    const bool is_same = (both & WPI_RACE_VALUE) != 0 && g->value == value;
    if (!is_same && races(t, g->word, &g->write, now)) return &g->write;
    for (uint32_t i = 0; is_write && i < 2; i++)
        if (races(t, g->word, &g->reads[i], now)) return &g->reads[i];
    return NULL;
}

static bool is_as_new(const event *e, const event *now) {
    return e->clock == now->clock && (e->bytes & now->bytes) == now->bytes;
}

/* Keeps two readers, of two warps where there are: another writer races with one of them. */
static void keep_read(granule *g, const event *now) {
    event *r = g->reads;
    const uint32_t a = r[0].access.thread, b = r[1].access.thread, thread = now->access.thread;
    const bool is_third_warp =
        a / WP_WARP_LANES == b / WP_WARP_LANES && a / WP_WARP_LANES != thread / WP_WARP_LANES;
    if (r[0].bytes == 0 || a == thread)
        r[0] = *now;
    else if (r[1].bytes == 0 || b == thread || is_third_warp)
        r[1] = *now;
    else if (!is_as_new(&r[0], now) || !is_as_new(&r[1], now))
        r[r[0].clock <= r[1].clock ? 0 : 1] = *now;
}

bool wpi_race_table_access(wpi_race_table *t, const wpi_race_access *now, uintptr_t address,
                           uint64_t size_bytes, uint64_t value, wpi_race_access *earlier) {
    bool is_race = false;
    const uint32_t kind = now->flags & (WPI_RACE_WRITE | WPI_RACE_VOLATILE);
    if (kind == WPI_RACE_VOLATILE) t->threads[now->thread].acquired = ++t->clock;
    event e = {.clock = t->clock, .access = *now};
    const uint64_t last = (address + size_bytes - 1) / GRANULE_BYTES;
    for (uint64_t word = address / GRANULE_BYTES; word <= last; word++) {
        const uint64_t base = word * GRANULE_BYTES, left = address + size_bytes - base;
        const uint32_t from = address > base ? (uint32_t)(address - base) : 0;
        const uint32_t to = left < GRANULE_BYTES ? (uint32_t)left : GRANULE_BYTES;
        granule *g = find(t, word);
        e.bytes = (uint8_t)(((1u << to) - 1) & ~((1u << from) - 1));
        const event *other = is_race ? NULL : conflict(t, g, &e, (uint32_t)value);
        if (other != NULL) {
            *earlier = other->access;
            is_race = true;
        }
        if ((now->flags & WPI_RACE_WRITE) != 0) {
            g->write = e;
            g->value = (uint32_t)value;
        } else {
            keep_read(g, &e);
        }
        value >>= 32;
    }
    return is_race;
}

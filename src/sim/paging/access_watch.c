/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/paging/access_watch.h"

#include <string.h>

#include "base/alloc.h"

#define CHUNK_BITS 12u
#define CHUNKS 1024u   /* remembered */
#define SLICE_BITS 17u /* of the first slices: 131 ns */
#define NAMES 64u      /* remembered */
#define RANGES 16u     /* remembered */
#define NO_CHUNK UINT64_MAX

/* Rare work, kept out of the path of each access. */
#define RARE __attribute__((noinline, cold))

/* The allocation of an address, and its position on the map. */
typedef struct spot {
    uint64_t shift_bytes; /* address + shift = place */
    uint32_t allocation;
    bool has_place;
} spot;

typedef struct chunk {
    uint64_t number;
    spot at;
} chunk;

/* An allocation with a place. */
typedef struct range {
    uint64_t base, bytes;
    spot at;
} range;

/* Each access increments a small counter, so that the counters stay in the host's caches; one that
 * is about to overflow is added to the full count. */
enum { READS, WRITES, TLB_MISSES, WALKS, COUNTERS };

typedef struct few {
    uint16_t counts[COUNTERS];
} few;

struct wpi_watch {
    wpi_watch_locate locate;
    void *object;
    wpi_time_ps base_ps;
    uint32_t page_bits, row_bits, slice_bits; /* grow */
    uint32_t page_count, row_count, slice_count;
    chunk chunks[CHUNKS];
    range ranges[RANGES]; /* found by earlier look-ups */
    uint32_t range_count, next_range, last_range;
    struct {
        const char *name;
        uint32_t allocation;
    } names[NAMES];
    wpi_touches allocations[WPI_WATCH_ALLOCATIONS];
    uint64_t moves[WPI_WATCH_ALLOCATIONS][WP_RUN_MOVES];
    few recent[WPI_WATCH_PAGES];
    wpi_touches pages[WPI_WATCH_PAGES]; /* `recent` not included */
    uint32_t map[WPI_WATCH_SLICES][WPI_WATCH_ROWS];
};

/* ---- two become one ---- */

static void carry(wpi_touches *sum, few *recent) {
    sum->reads += recent->counts[READS];
    sum->writes += recent->counts[WRITES];
    sum->tlb_misses += recent->counts[TLB_MISSES];
    sum->walks += recent->counts[WALKS];
    *recent = (few){0};
}

static void carry_all(wpi_watch *w) {
    for (uint32_t i = 0; i < w->page_count; i++)
        carry(&w->pages[i], &w->recent[i]);
}

static void add(wpi_touches *sum, const wpi_touches *more) {
    sum->reads += more->reads;
    sum->writes += more->writes;
    sum->tlb_misses += more->tlb_misses;
    sum->walks += more->walks;
}

RARE static void halve_pages(wpi_watch *w) {
    carry_all(w);
    for (uint32_t i = 0; i < WPI_WATCH_PAGES / 2; i++) {
        w->pages[i] = w->pages[2 * i];
        add(&w->pages[i], &w->pages[2 * i + 1]);
    }
    memset(&w->pages[WPI_WATCH_PAGES / 2], 0, sizeof w->pages / 2);
    w->page_count = (w->page_count + 1) / 2;
    w->page_bits++;
}

static uint32_t saturated(uint64_t sum) {
    return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

RARE static void halve_rows(wpi_watch *w) {
    for (uint32_t s = 0; s < WPI_WATCH_SLICES; s++) {
        uint32_t *row = w->map[s];
        for (uint32_t i = 0; i < WPI_WATCH_ROWS / 2; i++)
            row[i] = saturated((uint64_t)row[2 * i] + row[2 * i + 1]);
        memset(&row[WPI_WATCH_ROWS / 2], 0, WPI_WATCH_ROWS / 2 * sizeof row[0]);
    }
    w->row_count = (w->row_count + 1) / 2;
    w->row_bits++;
}

RARE static void halve_slices(wpi_watch *w) {
    for (uint32_t s = 0; s < WPI_WATCH_SLICES / 2; s++)
        for (uint32_t i = 0; i < WPI_WATCH_ROWS; i++)
            w->map[s][i] = saturated((uint64_t)w->map[2 * s][i] + w->map[2 * s + 1][i]);
    memset(&w->map[WPI_WATCH_SLICES / 2], 0, sizeof w->map / 2);
    w->slice_count = (w->slice_count + 1) / 2;
    w->slice_bits++;
}

/* ---- counting ---- */

static bool is_in(const range *r, uint64_t address) {
    return address - r->base < r->bytes;
}

/* Also searches the last allocations found: a program may have more chunks than CHUNKS, but it has
 * few allocations. */
static spot find_spot(wpi_watch *w, uint64_t address, const char *name) {
    for (uint32_t i = 0; i < w->range_count; i++) {
        if (!is_in(&w->ranges[i], address)) continue;
        w->last_range = i;
        return w->ranges[i].at;
    }
    wpi_watch_range found = {0};
    w->locate(w->object, address, name, &found);
    const spot at = {found.place - found.first, found.allocation, found.has_place};
    if (!found.has_place) return at;
    w->ranges[w->next_range] = (range){found.base, found.bytes, at};
    w->last_range = w->next_range;
    w->next_range = (w->next_range + 1) % RANGES;
    if (w->range_count < RANGES) w->range_count++;
    return at;
}

RARE static void find_chunk(wpi_watch *w, chunk *c, uint64_t address, const char *name) {
    *c = (chunk){address >> CHUNK_BITS, find_spot(w, address, name)};
}

/* Tries the last allocation first: consecutive accesses are often to the same one. */
static const spot *spot_of(wpi_watch *w, uint64_t address, const char *name) {
    const range *last = &w->ranges[w->last_range];
    if (is_in(last, address)) return &last->at;
    chunk *c = &w->chunks[(address >> CHUNK_BITS) % CHUNKS];
    if (c->number != address >> CHUNK_BITS) find_chunk(w, c, address, name);
    return &c->at;
}

/* The allocation of an address that has no place, looked up by name. */
static uint32_t named_allocation(wpi_watch *w, uint64_t address, const char *name) {
    const size_t at = ((uintptr_t)name >> 3) % NAMES;
    if (w->names[at].name != name || name == NULL) {
        wpi_watch_range found = {0};
        w->locate(w->object, address, name, &found);
        w->names[at].name = name;
        w->names[at].allocation = found.allocation;
    }
    return w->names[at].allocation;
}

static uint32_t page_at(wpi_watch *w, uint64_t place) {
    while (place >> w->page_bits >= WPI_WATCH_PAGES)
        halve_pages(w);
    const uint32_t page = (uint32_t)(place >> w->page_bits);
    if (page >= w->page_count) w->page_count = page + 1;
    return page;
}

static void count_one(wpi_watch *w, uint32_t page, uint32_t counter) {
    few *recent = &w->recent[page];
    if (++recent->counts[counter] == UINT16_MAX) carry(&w->pages[page], recent);
}

static void note_on_map(wpi_watch *w, uint64_t place, wpi_time_ps time) {
    while (place >> w->row_bits >= WPI_WATCH_ROWS)
        halve_rows(w);
    while (time >> w->slice_bits >= WPI_WATCH_SLICES)
        halve_slices(w);
    const uint32_t row = (uint32_t)(place >> w->row_bits);
    const uint32_t slice = (uint32_t)(time >> w->slice_bits);
    if (row >= w->row_count) w->row_count = row + 1;
    if (slice >= w->slice_count) w->slice_count = slice + 1;
    w->map[slice][row] += w->map[slice][row] != UINT32_MAX;
}

static void note_access(wpi_touches *t, bool is_write, bool is_miss) {
    ++*(is_write ? &t->writes : &t->reads);
    if (is_miss) t->tlb_misses++;
}

void wpi_watch_access(wpi_watch *w, uint64_t address, const char *name, bool is_write, bool is_miss,
                      wpi_time_ps now) {
    const spot *at = spot_of(w, address, name);
    if (!at->has_place) {
        note_access(&w->allocations[named_allocation(w, address, name)], is_write, is_miss);
        return;
    }
    note_access(&w->allocations[at->allocation], is_write, is_miss);
    const uint64_t place = address + at->shift_bytes;
    const uint32_t page = page_at(w, place);
    count_one(w, page, is_write ? WRITES : READS);
    if (is_miss) count_one(w, page, TLB_MISSES);
    note_on_map(w, place, w->base_ps + now);
}

void wpi_watch_walk(wpi_watch *w, uint64_t address) {
    const spot *at = spot_of(w, address, NULL);
    w->allocations[at->allocation].walks++;
    if (at->has_place) count_one(w, page_at(w, address + at->shift_bytes), WALKS);
}

void wpi_watch_move(wpi_watch *w, uint64_t address, wp_run_move move, uint64_t pages) {
    const spot *at = spot_of(w, address, NULL);
    const uint32_t allocation =
        at->has_place ? at->allocation : named_allocation(w, address, WPI_WATCH_VARIABLES);
    w->moves[allocation][move] += pages;
}

/* ---- the rest ---- */

wp_status wpi_watch_create(uint64_t page_bytes, wpi_watch_locate locate, void *object,
                           wpi_watch **out, wp_error *err) {
    *out = NULL;
    wpi_watch *w = wpi_calloc(1, sizeof *w);
    if (w == NULL) return WP_FAIL(err, NOMEM, "counts of pages: %zu bytes", sizeof *w);
    w->locate = locate;
    w->object = object;
    w->page_bits = w->row_bits = (uint32_t)__builtin_ctzll(page_bytes);
    w->slice_bits = SLICE_BITS;
    wpi_watch_forget(w);
    *out = w;
    return WP_STATUS_OK;
}

void wpi_watch_destroy(wpi_watch *watch) {
    wpi_free(watch);
}

void wpi_watch_set_base(wpi_watch *watch, wpi_time_ps base_ps) {
    watch->base_ps = base_ps;
}

void wpi_watch_forget(wpi_watch *watch) {
    for (uint32_t i = 0; i < CHUNKS; i++)
        watch->chunks[i].number = NO_CHUNK;
    memset(watch->names, 0, sizeof watch->names);
    memset(watch->ranges, 0, sizeof watch->ranges);
    watch->range_count = watch->next_range = watch->last_range = 0;
}

void wpi_watch_get(wpi_watch *w, wpi_watch_counts *out) {
    carry_all(w);
    *out = (wpi_watch_counts){.allocations = w->allocations,
                              .moves = (const uint64_t(*)[WP_RUN_MOVES])w->moves,
                              .pages = w->pages,
                              .page_count = w->page_count,
                              .page_bytes = (uint64_t)1 << w->page_bits,
                              .map = (const uint32_t(*)[WPI_WATCH_ROWS])w->map,
                              .slice_count = w->slice_count,
                              .row_count = w->row_count,
                              .slice_ps = (wpi_time_ps)1 << w->slice_bits,
                              .row_bytes = (uint64_t)1 << w->row_bits};
}

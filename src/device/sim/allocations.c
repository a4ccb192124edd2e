/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim/allocations.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "device/device.h"
#include "device/memory_map.h"
#include "device/sim/symbol.h"

#define HOTTEST_PAGES 32u
#define LINE_BYTES 128u
#define OTHERS (WPI_WATCH_ALLOCATIONS - 1) /* allocations beyond the last row */

typedef struct row {
    wpi_memory_entry entry; /* of the last allocation; all 0: not in the map */
    char *name;             /* or NULL */
    uint64_t count;
    uint64_t place_bytes, place_outer; /* empty: no place */
    uint64_t first;                    /* address of its first page */
    uint64_t address;                  /* simulated */
} row;

struct wpi_allocations {
    const wpi_addresses *addresses; /* NULL: those of the program */
    uint64_t page_bytes;
    uint64_t outer; /* of all places */
    row rows[WPI_WATCH_ALLOCATIONS];
    uint32_t row_count;
};

wp_status wpi_allocations_create(uint64_t page_bytes, wpi_allocations **out, wp_error *err) {
    *out = wpi_calloc(1, sizeof **out);
    if (*out == NULL) return WP_FAIL(err, NOMEM, "list of allocations");
    (*out)->page_bytes = page_bytes;
    return WP_STATUS_OK;
}

void wpi_allocations_translate(wpi_allocations *a, const wpi_addresses *addresses) {
    a->addresses = addresses;
}

void wpi_allocations_destroy(wpi_allocations *a) {
    if (a == NULL) return;
    for (uint32_t i = 0; i < a->row_count; i++)
        wpi_free(a->rows[i].name);
    wpi_free(a);
}

/* ---- rows ---- */

static bool is_same(const wpi_memory_entry *a, const wpi_memory_entry *b) {
    return a->number == b->number && a->allocation.base == b->allocation.base &&
           a->allocation.size_bytes == b->allocation.size_bytes;
}

static bool is_alive(const row *r) {
    wpi_memory_entry now;
    return wpi_memory_map_find(wpi_memory_map_global(), r->entry.allocation.base, &now) &&
           is_same(&now, &r->entry);
}

static bool can_take_over(const row *r, const wpi_memory_entry *entry) {
    return r->entry.allocation.kind == entry->allocation.kind && r->entry.caller == entry->caller &&
           r->entry.allocation.size_bytes == entry->allocation.size_bytes &&
           r->entry.caller != NULL && !is_alive(r);
}

static uint64_t first_page(const wpi_allocations *a, const wpi_memory_entry *entry) {
    return (uint64_t)(uintptr_t)entry->allocation.base & ~(a->page_bytes - 1);
}

static void give_place(wpi_allocations *a, row *r) {
    const uint64_t bytes =
        (uint64_t)(uintptr_t)r->entry.allocation.base - r->first + r->entry.allocation.size_bytes;
    r->place_bytes = a->outer;
    a->outer += (bytes + a->page_bytes - 1) & ~(a->page_bytes - 1);
    r->place_outer = a->outer;
}

static row *new_row(wpi_allocations *a, const char *name) {
    if (a->row_count >= OTHERS) {
        row *others = &a->rows[OTHERS];
        a->row_count = WPI_WATCH_ALLOCATIONS;
        if (others->name == NULL) others->name = wpi_strdup("others");
        others->count++;
        return others;
    }
    row *r = &a->rows[a->row_count++];
    if (name != NULL) r->name = wpi_strdup(name);
    r->count = 1;
    return r;
}

/* The row of a live allocation. */
static row *row_of(wpi_allocations *a, const wpi_memory_entry *entry, const char *name) {
    row *free = NULL;
    for (uint32_t i = 0; i < a->row_count && i < OTHERS; i++) {
        row *r = &a->rows[i];
        if (is_same(&r->entry, entry)) return r;
        if (free == NULL && can_take_over(r, entry)) free = r;
    }
    row *r = free != NULL ? free : new_row(a, name);
    if (r == &a->rows[OTHERS]) return r;
    if (free != NULL) r->count++;
    r->entry = *entry;
    r->first = first_page(a, entry);
    if (free == NULL) give_place(a, r);
    return r;
}

/* The row of a variable, which is in no map. */
static row *row_of_variable(wpi_allocations *a, const char *name) {
    if (name == NULL) name = WPI_WATCH_VARIABLES;
    for (uint32_t i = 0; i < a->row_count && i < OTHERS; i++) {
        row *r = &a->rows[i];
        if (r->place_outer == 0 && r->name != NULL && strcmp(r->name, name) == 0) return r;
    }
    return new_row(a, name);
}

/* Finds an allocation by the address of a line; registered memory may begin within the line. */
static bool find_entry(uint64_t line_address, wpi_memory_entry *out) {
    wpi_memory_map *map = wpi_memory_map_global();
    if (wpi_memory_map_find(map, (const void *)(uintptr_t)line_address, out)) return true;
    return wpi_memory_map_next(map, (const void *)(uintptr_t)line_address, out) &&
           (uintptr_t)out->allocation.base - line_address < LINE_BYTES;
}

void wpi_allocations_locate(void *object, uint64_t address, const char *name,
                            wpi_watch_range *out) {
    wpi_allocations *a = object;
    wpi_memory_entry entry;
    const uint64_t original = wpi_addresses_original(a->addresses, address);
    const bool is_known =
        find_entry(original, &entry) && entry.allocation.kind != WP_MEMORY_VARIABLE;
    row *r = is_known ? row_of(a, &entry, name) : row_of_variable(a, name);
    if (is_known && r->name == NULL && name != NULL) r->name = wpi_strdup(name);
    if (is_known) r->address = (uintptr_t)r->entry.allocation.base + (address - original);
    *out = (wpi_watch_range){.allocation = (uint32_t)(r - a->rows),
                             .has_place = r->place_outer != 0,
                             .first = r->first + (address - original),
                             .place = r->place_bytes,
                             .base = (uintptr_t)r->entry.allocation.base + (address - original),
                             .bytes = r->entry.allocation.size_bytes};
}

const char *wpi_allocations_name(const wpi_allocations *a, uint64_t address) {
    const uint64_t original = wpi_addresses_original(a->addresses, address);
    for (uint32_t i = 0; i < a->row_count && i < OTHERS; i++) {
        const row *r = &a->rows[i];
        if ((uintptr_t)r->entry.allocation.base == original && r->name != NULL) return r->name;
    }
    return "";
}

/* ---- the report ---- */

static wp_run_touches touches_of(const wpi_touches *t) {
    return (wp_run_touches){t->reads, t->writes, t->tlb_misses, t->walks};
}

static uint64_t accesses_of(const wp_run_touches *t) {
    return t->reads + t->writes;
}

static const char *kind_of(const row *r) {
    if (r->place_outer == 0) return r->entry.device == NULL ? "variable" : "other";
    switch (r->entry.allocation.kind) {
    case WP_MEMORY_DEVICE: return "device";
    case WP_MEMORY_MANAGED: return "managed";
    case WP_MEMORY_PINNED: return "pinned";
    case WP_MEMORY_REGISTERED: return "registered";
    default: return "other";
    }
}

static bool is_managed(const row *r) {
    return r->place_outer != 0 && r->entry.allocation.kind == WP_MEMORY_MANAGED;
}

static char *text_of(const char *text) {
    char *copy = wpi_strdup(text != NULL ? text : "");
    WP_CHECK(copy != NULL);
    return copy;
}

static void fill_allocation(const row *r, const wpi_touches *touches, const uint64_t *moves,
                            wp_run_allocation *out) {
    char *site = r->entry.caller != NULL ? wpi_symbol_describe(r->entry.caller) : NULL;
    *out = (wp_run_allocation){.name = text_of(r->name),
                               .site = text_of(site),
                               .kind = text_of(kind_of(r)),
                               .count = r->count,
                               .bytes = r->entry.allocation.size_bytes,
                               .address = is_managed(r) ? r->address : 0,
                               .place_bytes = r->place_bytes,
                               .has_place = r->place_outer != 0,
                               .touches = touches_of(touches)};
    memcpy(out->moves, moves, sizeof out->moves);
    wpi_free(site);
}

static int by_accesses(const void *a, const void *b) {
    const wp_run_allocation *x = a, *y = b;
    const uint64_t left = accesses_of(&x->touches), right = accesses_of(&y->touches);
    if (left != right) return left > right ? -1 : 1;
    if (x->place_bytes != y->place_bytes) return x->place_bytes < y->place_bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void fill_allocations(const wpi_allocations *a, const wpi_watch_counts *counts,
                             wp_run_simulation *out) {
    out->allocations = wpi_calloc(a->row_count + 1, sizeof *out->allocations);
    for (uint32_t i = 0; out->allocations != NULL && i < a->row_count; i++) {
        if (a->rows[i].count == 0) continue; /* unused rows */
        fill_allocation(&a->rows[i], &counts->allocations[i], counts->moves[i],
                        &out->allocations[out->allocation_count++]);
    }
    if (out->allocation_count != 0)
        qsort(out->allocations, out->allocation_count, sizeof *out->allocations, by_accesses);
}

/* The allocation whose place contains the page's start. */
static uint32_t owner_of(const wp_run_simulation *s, uint64_t place) {
    uint32_t best = 0;
    for (uint32_t i = 0; i < s->allocation_count; i++) {
        const wp_run_allocation *a = &s->allocations[i];
        const bool is_before = a->has_place && a->place_bytes <= place;
        const bool is_best = !s->allocations[best].has_place ||
                             s->allocations[best].place_bytes > place ||
                             a->place_bytes > s->allocations[best].place_bytes;
        if (is_before && is_best) best = i;
    }
    return best;
}

/* Inserts a page in order, hottest first; the last one is dropped if there is no room. */
static void insert_page(wp_run_simulation *s, const wp_run_page *page) {
    size_t at = s->page_count;
    while (at > 0 && accesses_of(&s->pages[at - 1].touches) < accesses_of(&page->touches))
        at--;
    if (at == HOTTEST_PAGES) return;
    if (s->page_count < HOTTEST_PAGES) s->page_count++;
    memmove(&s->pages[at + 1], &s->pages[at], (s->page_count - at - 1) * sizeof *s->pages);
    s->pages[at] = *page;
}

static void fill_pages(const wpi_watch_counts *counts, wp_run_simulation *out) {
    out->page_bytes = counts->page_bytes;
    out->pages = wpi_calloc(HOTTEST_PAGES + 1, sizeof *out->pages);
    for (uint32_t i = 0; out->pages != NULL && i < counts->page_count; i++) {
        wp_run_page page = {.touches = touches_of(&counts->pages[i])};
        if (accesses_of(&page.touches) == 0) continue;
        const uint64_t place = i * counts->page_bytes;
        page.allocation = owner_of(out, place);
        const uint64_t first = out->allocations[page.allocation].place_bytes;
        page.offset_bytes = place > first ? place - first : 0;
        insert_page(out, &page);
    }
}

typedef struct page_accesses {
    uint32_t allocation;
    uint64_t count;
} page_accesses;

static int hottest_first(const void *a, const void *b) {
    const page_accesses *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return 0;
}

static int by_allocation(const void *a, const void *b) {
    const page_accesses *x = a, *y = b;
    if (x->allocation != y->allocation) return x->allocation < y->allocation ? -1 : 1;
    return hottest_first(a, b);
}

/* Of pages that are sorted, hottest first. */
static wp_run_spread spread_of(const page_accesses *pages, size_t count) {
    wp_run_spread spread = {.pages = count};
    if (count == 0) return spread;
    spread.most_accesses = pages[0].count;
    const uint64_t median = spread.median_accesses = pages[count / 2].count;
    for (size_t i = 0; i < count; i++) {
        const uint64_t apart =
            pages[i].count > median ? pages[i].count - median : median - pages[i].count;
        if (10 * apart <= median) spread.near_median++;
        if (i < (count + 9) / 10) spread.hottest_tenth_accesses += pages[i].count;
    }
    return spread;
}

static void fill_spreads(const wpi_watch_counts *counts, wp_run_simulation *out) {
    page_accesses *pages = wpi_calloc((size_t)counts->page_count + 1, sizeof *pages);
    size_t count = 0;
    for (uint32_t i = 0; pages != NULL && i < counts->page_count; i++) {
        const wp_run_touches touches = touches_of(&counts->pages[i]);
        if (accesses_of(&touches) != 0)
            pages[count++] =
                (page_accesses){owner_of(out, i * counts->page_bytes), accesses_of(&touches)};
    }
    if (count != 0) {
        qsort(pages, count, sizeof *pages, hottest_first);
        out->spread = spread_of(pages, count);
        qsort(pages, count, sizeof *pages, by_allocation);
    }
    for (size_t first = 0, outer; first < count; first = outer) {
        for (outer = first + 1; outer < count; outer++)
            if (pages[outer].allocation != pages[first].allocation) break;
        out->allocations[pages[first].allocation].spread = spread_of(pages + first, outer - first);
    }
    wpi_free(pages);
}

static void add_touches(wp_run_touches *sum, const wpi_touches *more) {
    sum->reads += more->reads;
    sum->writes += more->writes;
    sum->tlb_misses += more->tlb_misses;
    sum->walks += more->walks;
}

static void fill_map(const wpi_watch_counts *counts, wp_run_simulation *out) {
    wp_run_map *map = &out->map;
    const size_t rows = counts->row_count, slices = counts->slice_count;
    map->row_bytes = counts->row_bytes;
    map->slice_ps = counts->slice_ps;
    map->accesses = wpi_calloc(rows * slices + 1, sizeof *map->accesses);
    out->footprint = wpi_calloc(rows + 1, sizeof *out->footprint);
    if (map->accesses == NULL || out->footprint == NULL) return;
    map->row_count = rows;
    map->slice_count = slices;
    for (size_t i = 0; i < slices; i++)
        memcpy(&map->accesses[i * rows], counts->map[i], rows * sizeof *map->accesses);
    for (uint32_t i = 0; i < counts->page_count; i++) {
        const uint64_t at = i * counts->page_bytes / counts->row_bytes;
        if (at < rows) add_touches(&out->footprint[at], &counts->pages[i]);
    }
}

void wpi_allocations_fill(const wpi_allocations *a, const wpi_watch_counts *counts,
                          wp_run_simulation *out) {
    fill_allocations(a, counts, out);
    if (out->allocation_count != 0) {
        fill_pages(counts, out);
        fill_spreads(counts, out);
    }
    fill_map(counts, out);
}

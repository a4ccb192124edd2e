/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim/addresses.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "device/device.h"

#define VARIABLES_FIRST UINT64_C(0x700000000000)
#define DEVICE_FIRST UINT64_C(0x780000000000)
#define HOST_FIRST UINT64_C(0x500000000000)
#define PAGES_FIRST UINT64_C(0x680000000000)
#define WHOLE_UNIT_BYTES UINT64_C(0x200000)
#define VARIABLE_UNIT_BYTES UINT64_C(256)
#define PAGE_BYTES UINT64_C(4096)

typedef struct range {
    uint64_t first, bytes;
    uint64_t simulated;
    bool is_known; /* in the memory map; otherwise a page */
} range;

struct wpi_addresses {
    range *ranges; /* by address */
    uint32_t count, capacity;
    uint32_t last;     /* last one found */
    uint64_t removals; /* of the memory map, at the last update from it */
    uint64_t next_host, next_page, next_variable, next_device;
};

static bool contains(const range *r, uint64_t address) {
    return address - r->first < r->bytes;
}

/* The first range that ends after `address`. */
static uint32_t place_of(const wpi_addresses *a, uint64_t address) {
    uint32_t first = 0, outer = a->count;
    while (first < outer) {
        const uint32_t middle = first + (outer - first) / 2;
        if (a->ranges[middle].first + a->ranges[middle].bytes <= address)
            first = middle + 1;
        else
            outer = middle;
    }
    return first;
}

/* False: out of memory; nothing has changed. */
static bool insert(wpi_addresses *a, uint32_t place, const range *new) {
    if (a->count == a->capacity) {
        const uint32_t capacity = a->capacity == 0 ? 64 : 2 * a->capacity;
        range *ranges = wpi_realloc(a->ranges, capacity * sizeof *ranges);
        if (ranges == NULL) return false;
        a->ranges = ranges;
        a->capacity = capacity;
    }
    memmove(&a->ranges[place + 1], &a->ranges[place], (a->count - place) * sizeof *a->ranges);
    a->ranges[place] = *new;
    a->count++;
    return true;
}

static uint64_t take(uint64_t *next, uint64_t bytes, uint64_t unit) {
    const uint64_t first = *next;
    *next += (bytes + unit - 1) / unit * unit;
    return first;
}

static uint64_t give_place(wpi_addresses *a, wp_memory_kind kind, const range *r) {
    if (kind == WP_MEMORY_VARIABLE) return take(&a->next_variable, r->bytes, VARIABLE_UNIT_BYTES);
    uint64_t *next = kind == WP_MEMORY_DEVICE ? &a->next_device : &a->next_host;
    return take(next, r->bytes + PAGE_BYTES, WHOLE_UNIT_BYTES) + r->first % PAGE_BYTES;
}

/* The address's range in the memory map, or else its page. */
static range describe(wpi_addresses *a, uint64_t address) {
    wpi_memory_entry entry;
    if (!wpi_memory_map_find(wpi_memory_map_global(), (const void *)(uintptr_t)address, &entry)) {
        return (range){.first = address / PAGE_BYTES * PAGE_BYTES,
                       .bytes = PAGE_BYTES,
                       .simulated = take(&a->next_page, PAGE_BYTES, PAGE_BYTES)};
    }
    range r = {.first = (uintptr_t)entry.allocation.base,
               .bytes = entry.allocation.size_bytes,
               .is_known = true};
    r.simulated = give_place(a, entry.allocation.kind, &r);
    return r;
}

/* Clips a page to the part around `address` that no other range covers. */
static void clip(const wpi_addresses *a, range *page, uint64_t address) {
    const uint32_t behind = place_of(a, address);
    uint64_t first = page->first, outer = page->first + page->bytes;
    if (behind < a->count && a->ranges[behind].first < outer) outer = a->ranges[behind].first;
    if (behind != 0) {
        const range *before = &a->ranges[behind - 1];
        if (before->first + before->bytes > first) first = before->first + before->bytes;
    }
    page->simulated += first - page->first;
    page->first = first;
    page->bytes = outer - first;
}

/* Adds the range of `address`. It replaces pages that were added before their memory was
 * registered. */
static void add(wpi_addresses *a, uint64_t address) {
    range new = describe(a, address);
    if (!new.is_known) clip(a, &new, address);
    const uint32_t place = place_of(a, new.first);
    uint32_t outer = place;
    while (outer < a->count && a->ranges[outer].first < new.first + new.bytes)
        outer++;
    if (outer > place) {
        memmove(&a->ranges[place], &a->ranges[outer], (a->count - outer) * sizeof *a->ranges);
        a->count -= outer - place;
    }
    WP_CHECK(insert(a, place, &new)); /* a running simulation cannot be undone */
}

static bool is_still_there(const range *r) {
    wpi_memory_entry entry;
    if (!r->is_known) return true;
    return wpi_memory_map_find(wpi_memory_map_global(), (const void *)(uintptr_t)r->first,
                               &entry) &&
           (uintptr_t)entry.allocation.base == r->first && entry.allocation.size_bytes == r->bytes;
}

static void forget_removed(wpi_addresses *a) {
    const uint64_t removals = wpi_memory_map_removals(wpi_memory_map_global());
    if (removals == a->removals) return;
    a->removals = removals;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        if (is_still_there(&a->ranges[i])) a->ranges[kept++] = a->ranges[i];
    }
    a->count = kept;
}

wp_status wpi_addresses_set(wpi_addresses *a, uint64_t first, uint64_t bytes, uint64_t simulated,
                            wp_error *err) {
    const range new = {.first = first, .bytes = bytes, .simulated = simulated};
    if (!insert(a, place_of(a, first), &new)) return WP_FAIL(err, NOMEM, "simulated addresses");
    return WP_STATUS_OK;
}

uint64_t wpi_addresses_find(wpi_addresses *a, uint64_t address) {
    forget_removed(a);
    if (a->last >= a->count || !contains(&a->ranges[a->last], address)) {
        a->last = place_of(a, address);
        if (a->last == a->count || !contains(&a->ranges[a->last], address)) {
            add(a, address);
            a->last = place_of(a, address);
        }
    }
    const range *r = &a->ranges[a->last];
    return r->simulated + (address - r->first);
}

uint64_t wpi_addresses_original(const wpi_addresses *a, uint64_t simulated) {
    if (a == NULL || wpi_arena_has(simulated)) return simulated;
    for (uint32_t i = 0; i < a->count; i++) {
        const range *r = &a->ranges[i];
        if (simulated - r->simulated < r->bytes) return r->first + (simulated - r->simulated);
    }
    return simulated;
}

wpi_addresses *wpi_addresses_create(void) {
    wpi_addresses *a = wpi_calloc(1, sizeof *a);
    if (a == NULL) return NULL;
    a->next_host = HOST_FIRST;
    a->next_page = PAGES_FIRST;
    a->next_variable = VARIABLES_FIRST;
    a->next_device = DEVICE_FIRST;
    return a;
}

void wpi_addresses_destroy(wpi_addresses *a) {
    if (a == NULL) return;
    wpi_free(a->ranges);
    wpi_free(a);
}

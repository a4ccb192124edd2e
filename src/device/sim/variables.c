/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* mremap */
#include "device/sim/variables.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"

/* Entries are never removed: variables exist until the program ends. */
static struct {
    pthread_mutex_t lock;
    wpi_managed_range *runs;
    size_t count, capacity;
} placed = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The run that contains the address; NULL: none. */
static const wpi_managed_range *find(uint64_t address) {
    for (size_t i = 0; i < placed.count; i++)
        if (address - placed.runs[i].host < placed.runs[i].bytes) return &placed.runs[i];
    return NULL;
}

static bool reserve(void) {
    if (placed.count < placed.capacity) return true;
    const size_t capacity = placed.capacity == 0 ? 8 : 2 * placed.capacity;
    wpi_managed_range *runs = wpi_realloc(placed.runs, capacity * sizeof *runs);
    if (runs == NULL) return false;
    placed.runs = runs;
    placed.capacity = capacity;
    return true;
}

static bool is_zero(const char *page) {
    return page[0] == 0 && memcmp(page, page + 1, WPI_PAGE_BYTES - 1) == 0;
}

/* Maps shared memory both at the pages' address and at their place, with their contents. Pages of
 * zeros use no memory. */
static bool share(char *pages, size_t bytes, char *place) {
    for (size_t at = 0; at < bytes; at += WPI_PAGE_BYTES)
        if (!is_zero(pages + at)) memcpy(place + at, pages + at, WPI_PAGE_BYTES);
    return mremap(place, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, pages) == pages;
}

static void place_run(uint64_t first, uint64_t bytes) {
    void *const pages = (void *)(uintptr_t)first;
    void *const place = reserve() ? wpi_arena_map(WPI_ARENA_MANAGED, bytes, 0) : NULL;
    if (place == NULL) return;
    if (!share(pages, bytes, place)) {
        (void)wpi_arena_unmap(place, bytes);
        return;
    }
    placed.runs[placed.count++] =
        (wpi_managed_range){.address = (uintptr_t)place, .bytes = bytes, .host = first};
}

void wpi_variables_place(void *address, size_t size_bytes) {
    const uint64_t first = (uintptr_t)address / WPI_PAGE_BYTES * WPI_PAGE_BYTES;
    const uint64_t outer =
        ((uintptr_t)address + size_bytes + WPI_PAGE_BYTES - 1) / WPI_PAGE_BYTES * WPI_PAGE_BYTES;
    pthread_mutex_lock(&placed.lock);
    for (uint64_t at = first; at < outer;) {
        uint64_t end = at;
        while (end < outer && find(end) == NULL)
            end += WPI_PAGE_BYTES;
        if (end > at) place_run(at, end - at);
        at = end > at ? end : at + WPI_PAGE_BYTES;
    }
    pthread_mutex_unlock(&placed.lock);
}

bool wpi_variables_at(size_t number, wpi_managed_range *out) {
    pthread_mutex_lock(&placed.lock);
    const bool is_there = number < placed.count;
    if (is_there) *out = placed.runs[number];
    pthread_mutex_unlock(&placed.lock);
    return is_there;
}

uint64_t wpi_variables_find(uint64_t address) {
    pthread_mutex_lock(&placed.lock);
    const wpi_managed_range *run = find(address);
    const uint64_t place = run != NULL ? run->address + (address - run->host) : address;
    pthread_mutex_unlock(&placed.lock);
    return place;
}

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The checker's view of memory: callers of allocations, freed ranges, places of addresses. A freed
 * range keeps its addresses, without access, until QUARANTINE_MAX later ones were freed.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE, dladdr */
#include <dlfcn.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "device/cpu/check/access_check.h"

#define QUARANTINE_MAX 1024u
#define GAP_BYTES ((size_t)64 * 1024)
#define CALLERS_MAX 16

static struct {
    pthread_mutex_t lock;
    wpi_memory_map *freed;
    const void *ring[QUARANTINE_MAX]; /* bases, the oldest at `next` once it is full */
    size_t next;
    _Atomic uint64_t number;
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

size_t wpi_check_gap_bytes(void) {
    return wpi_check_is_on() ? GAP_BYTES : 0;
}

/* The first caller that is not in this library. */
static const void *find_caller(void) {
    void *frames[CALLERS_MAX];
    Dl_info here, there;
    const int count = backtrace(frames, CALLERS_MAX);
    if (dladdr((const void *)&memory, &here) == 0) return NULL;
    for (int i = 0; i < count; i++) {
        if (dladdr(frames[i], &there) != 0 && there.dli_fbase != here.dli_fbase) return frames[i];
    }
    return NULL;
}

void wpi_check_allocated(wpi_memory_entry *entry) {
    entry->number = atomic_fetch_add(&memory.number, 1) + 1;
    entry->caller = find_caller();
}

wpi_memory_map *wpi_check_freed_map(void) {
    pthread_mutex_lock(&memory.lock);
    if (memory.freed == NULL) WP_CHECK(wpi_memory_map_create(&memory.freed, NULL) == WP_STATUS_OK);
    wpi_memory_map *map = memory.freed;
    pthread_mutex_unlock(&memory.lock);
    return map;
}

void wpi_check_freed(const wpi_memory_entry *entry) {
    wpi_memory_map *map = wpi_check_freed_map();
    const void *oldest;
    wpi_memory_entry gone;
    void *const base = entry->allocation.base;
    if (mmap(base, entry->mapped_bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED ||
        wpi_memory_map_add(map, entry, NULL) != WP_STATUS_OK) {
        munmap(base, entry->mapped_bytes);
        return;
    }
    pthread_mutex_lock(&memory.lock);
    oldest = memory.ring[memory.next];
    memory.ring[memory.next] = base;
    memory.next = (memory.next + 1) % QUARANTINE_MAX;
    pthread_mutex_unlock(&memory.lock);
    if (oldest != NULL && wpi_memory_map_remove(map, oldest, &gone))
        munmap(gone.allocation.base, gone.mapped_bytes);
}

static uint64_t distance(int64_t bytes) {
    return bytes < 0 ? (uint64_t)-bytes : (uint64_t)bytes;
}

wpi_check_place wpi_check_locate(wpi_memory_map *live, wpi_memory_map *freed, const void *address,
                                 uint64_t size_bytes) {
    wpi_check_place place = {0};
    wpi_memory_entry gone;
    int64_t gone_bytes;
    place.is_known =
        wpi_memory_map_nearest(live, address, NULL, &place.entry, &place.distance_bytes);
    if (place.is_known && place.distance_bytes == 0) {
        const wp_allocation *a = &place.entry.allocation;
        const uint64_t offset = (uintptr_t)address - (uintptr_t)a->base;
        place.is_good = size_bytes <= a->size_bytes - offset;
        return place;
    }
    if (wpi_memory_map_nearest(freed, address, NULL, &gone, &gone_bytes) &&
        (!place.is_known || distance(gone_bytes) < distance(place.distance_bytes))) {
        place = (wpi_check_place){
            .is_known = true, .is_freed = true, .distance_bytes = gone_bytes, .entry = gone};
    }
    return place;
}

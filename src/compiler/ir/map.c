/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/ir/map.h"

#include <uthash.h>

#include "base/must.h"

struct wpi_map_entry {
    const void *key;
    void *value;
    UT_hash_handle hh;
};

/* uthash's macros convert freely between widths. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"

void wpi_map_set(wpi_map *map, const void *key, void *value) {
    wpi_map_entry *entry;
    HASH_FIND_PTR(map->entries, &key, entry);
    if (!entry) {
        entry = wpi_must_calloc(1, sizeof *entry);
        entry->key = key;
        HASH_ADD_PTR(map->entries, key, entry);
    }
    entry->value = value;
}

static wpi_map_entry *find(const wpi_map *map, const void *key) {
    wpi_map_entry *entry;
    HASH_FIND_PTR(map->entries, &key, entry);
    return entry;
}

void wpi_map_deinit(wpi_map *map) {
    wpi_map_entry *entry, *next;
    HASH_ITER(hh, map->entries, entry, next) {
        HASH_DEL(map->entries, entry);
        wpi_free(entry);
    }
    map->entries = NULL;
}
#pragma GCC diagnostic pop

void *wpi_map_get(const wpi_map *map, const void *key) {
    wpi_map_entry *entry = find(map, key);
    return entry ? entry->value : NULL;
}

bool wpi_map_has(const wpi_map *map, const void *key) {
    return find(map, key) != NULL;
}

void wpi_map_set_index(wpi_map *map, const void *key, uint32_t index) {
    wpi_map_set(map, key, (void *)(uintptr_t)((uint64_t)index + 1));
}

uint32_t wpi_map_index(const wpi_map *map, const void *key) {
    wpi_map_entry *entry = find(map, key);
    return entry ? (uint32_t)((uintptr_t)entry->value - 1) : UINT32_MAX;
}

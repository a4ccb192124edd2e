/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A treap: a search tree by base address that is also a heap by a pseudo-random priority, which
 * keeps it balanced without rotations. The priority is a hash of the address, so the shape depends
 * only on the contents. Insertion splits, removal joins.
 */
#include "device/memory_map.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/fail.h"

typedef struct node {
    struct node *low, *high;
    uint64_t priority;
    wpi_memory_entry entry;
} node;

struct wpi_memory_map {
    pthread_rwlock_t lock;
    node *root;
    _Atomic uint64_t removals;
    _Atomic uint64_t counts[WP_MEMORY_COUNT];
};

static _Atomic(wpi_reserved_find) find_reserved;

static uintptr_t base_of(const node *n) {
    return (uintptr_t)n->entry.allocation.base;
}

static uintptr_t outer_of(const node *n) {
    return base_of(n) + n->entry.allocation.size_bytes;
}

/* A bijection that scatters neighbouring addresses (the finaliser of splitmix64). */
static uint64_t scatter(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Splits a tree: keys below `key` to *low, the rest to *high. */
static void split(node *tree, uintptr_t key, node **low, node **high) {
    while (tree != NULL) {
        if (base_of(tree) < key) {
            *low = tree;
            low = &tree->high;
            tree = tree->high;
        } else {
            *high = tree;
            high = &tree->low;
            tree = tree->low;
        }
    }
    *low = NULL;
    *high = NULL;
}

/* All keys of `low` are below all of `high`. */
static node *join(node *low, node *high) {
    node *root = NULL;
    node **slot = &root;
    while (low != NULL && high != NULL) {
        if (low->priority > high->priority) {
            *slot = low;
            slot = &low->high;
            low = low->high;
        } else {
            *slot = high;
            slot = &high->low;
            high = high->low;
        }
    }
    *slot = low != NULL ? low : high;
    return root;
}

/* The node with the highest base at or below `address`. */
static node *floor_of(node *tree, uintptr_t address) {
    node *best = NULL;
    while (tree != NULL) {
        if (base_of(tree) <= address) {
            best = tree;
            tree = tree->high;
        } else {
            tree = tree->low;
        }
    }
    return best;
}

/* The node with the lowest base at or above `address`. */
static node *ceiling_of(node *tree, uintptr_t address) {
    node *best = NULL;
    while (tree != NULL) {
        if (base_of(tree) >= address) {
            best = tree;
            tree = tree->low;
        } else {
            tree = tree->high;
        }
    }
    return best;
}

wp_status wpi_memory_map_create(wpi_memory_map **out, wp_error *err) {
    *out = NULL;
    wpi_memory_map *map = wpi_calloc(1, sizeof *map);
    if (map == NULL) return WP_FAIL(err, NOMEM, "memory map");
    WP_CHECK(pthread_rwlock_init(&map->lock, NULL) == 0);
    *out = map;
    return WP_STATUS_OK;
}

void wpi_memory_map_destroy(wpi_memory_map *map) {
    if (map == NULL) return;
    while (map->root != NULL) {
        node *n = map->root;
        map->root = join(n->low, n->high);
        wpi_free(n);
    }
    pthread_rwlock_destroy(&map->lock);
    wpi_free(map);
}

wp_status wpi_memory_map_add(wpi_memory_map *map, const wpi_memory_entry *entry, wp_error *err) {
    const uintptr_t first = (uintptr_t)entry->allocation.base;
    const size_t size_bytes = entry->allocation.size_bytes;
    if (size_bytes == 0 || first + size_bytes < first) {
        return WP_FAIL(err, INVALID, "memory map: %zu bytes at %p are not a valid range",
                       size_bytes, entry->allocation.base);
    }
    node *n = wpi_malloc(sizeof *n);
    if (n == NULL) return WP_FAIL(err, NOMEM, "memory map entry");
    *n = (node){.priority = scatter(first), .entry = *entry};

    pthread_rwlock_wrlock(&map->lock);
    const node *below = floor_of(map->root, first + size_bytes - 1);
    if (below != NULL && outer_of(below) > first) {
        const wp_allocation other = below->entry.allocation;
        pthread_rwlock_unlock(&map->lock);
        wpi_free(n);
        return WP_FAIL(err, INVALID,
                       "the %zu bytes at %p overlap the allocation of %zu bytes at %p", size_bytes,
                       entry->allocation.base, other.size_bytes, other.base);
    }
    node **slot = &map->root;
    while (*slot != NULL && (*slot)->priority >= n->priority) {
        slot = first < base_of(*slot) ? &(*slot)->low : &(*slot)->high;
    }
    split(*slot, first, &n->low, &n->high);
    *slot = n;
    atomic_fetch_add(&map->counts[entry->allocation.kind], 1);
    pthread_rwlock_unlock(&map->lock);
    return WP_STATUS_OK;
}

uint64_t wpi_memory_map_removals(const wpi_memory_map *map) {
    return atomic_load(&map->removals);
}

uint64_t wpi_memory_map_count(const wpi_memory_map *map, wp_memory_kind kind) {
    return atomic_load(&map->counts[kind]);
}

bool wpi_memory_map_remove(wpi_memory_map *map, const void *base, wpi_memory_entry *out) {
    const uintptr_t key = (uintptr_t)base;
    pthread_rwlock_wrlock(&map->lock);
    node **slot = &map->root;
    while (*slot != NULL && base_of(*slot) != key) {
        slot = key < base_of(*slot) ? &(*slot)->low : &(*slot)->high;
    }
    node *n = *slot;
    if (n != NULL) {
        *slot = join(n->low, n->high);
        atomic_fetch_add(&map->removals, 1);
        atomic_fetch_sub(&map->counts[n->entry.allocation.kind], 1);
    }
    pthread_rwlock_unlock(&map->lock);
    if (n == NULL) return false;
    if (out != NULL) *out = n->entry;
    wpi_free(n);
    return true;
}

bool wpi_memory_map_find(wpi_memory_map *map, const void *address, wpi_memory_entry *out) {
    pthread_rwlock_rdlock(&map->lock);
    const node *n = floor_of(map->root, (uintptr_t)address);
    const bool is_inside = n != NULL && (uintptr_t)address < outer_of(n);
    if (is_inside && out != NULL) *out = n->entry;
    pthread_rwlock_unlock(&map->lock);
    return is_inside;
}

bool wpi_memory_map_nearest(wpi_memory_map *map, const void *address, const wp_device *device,
                            wpi_memory_entry *out, int64_t *distance_bytes) {
    const uintptr_t key = (uintptr_t)address;
    pthread_rwlock_rdlock(&map->lock);
    const node *below = floor_of(map->root, key);
    while (below != NULL && device != NULL && below->entry.device != device) {
        below = base_of(below) == 0 ? NULL : floor_of(map->root, base_of(below) - 1);
    }
    const node *above = key == UINTPTR_MAX ? NULL : ceiling_of(map->root, key + 1);
    while (above != NULL && device != NULL && above->entry.device != device) {
        above = ceiling_of(map->root, base_of(above) + 1);
    }
    uint64_t after = UINT64_MAX; /* distance from the end of `below` */
    if (below != NULL) after = key < outer_of(below) ? 0 : (uint64_t)(key - outer_of(below)) + 1;
    const uint64_t before = above != NULL ? (uint64_t)(base_of(above) - key) : UINT64_MAX;
    const bool is_found = below != NULL || above != NULL;
    if (is_found) {
        *out = after <= before ? below->entry : above->entry;
        *distance_bytes = after <= before ? (int64_t)after : -(int64_t)before;
    }
    pthread_rwlock_unlock(&map->lock);
    return is_found;
}

bool wpi_memory_map_next(wpi_memory_map *map, const void *from, wpi_memory_entry *out) {
    pthread_rwlock_rdlock(&map->lock);
    const node *n = ceiling_of(map->root, (uintptr_t)from);
    if (n != NULL) *out = n->entry;
    pthread_rwlock_unlock(&map->lock);
    return n != NULL;
}

void wpi_memory_map_set_reserved(wpi_reserved_find find) {
    atomic_store(&find_reserved, find);
}

bool wpi_memory_map_find_reserved(const void *address, void **base, size_t *size_bytes) {
    const wpi_reserved_find find = atomic_load(&find_reserved);
    return find != NULL && find(address, base, size_bytes);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/engine/slab.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

#define CACHE_LINE_BYTES 64u
#define FIRST_COUNT 256u

void wpi_pool_grow(wpi_pool *pool, size_t item_bytes) {
    WP_CHECK(pool->capacity < UINT32_MAX / 4);
    const uint32_t capacity = pool->capacity == 0 ? FIRST_COUNT : 2 * pool->capacity;
    void *memory = wpi_malloc(capacity * item_bytes + CACHE_LINE_BYTES);
    uint32_t *free = wpi_realloc(pool->free, capacity * sizeof *free);
    WP_CHECK(memory != NULL && free != NULL);
    const uintptr_t start =
        ((uintptr_t)memory + CACHE_LINE_BYTES - 1) & ~(uintptr_t)(CACHE_LINE_BYTES - 1);
    if (pool->capacity > 0) memcpy((void *)start, pool->items, pool->capacity * item_bytes);
    wpi_free(pool->memory);
    for (uint32_t number = capacity; number > pool->capacity; number--)
        free[pool->free_count++] = number - 1;
    pool->items = (void *)start;
    pool->memory = memory;
    pool->free = free;
    pool->capacity = capacity;
}

void wpi_pool_deinit(wpi_pool *pool) {
    wpi_free(pool->memory);
    wpi_free(pool->free);
    *pool = (wpi_pool){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A pool of numbered items of one size: requests, parts, walks. Items start at cache lines; the one
 * freed last is taken first. The pool doubles when it is empty, which moves the items: keep numbers
 * across a `take`, never pointers. One thread.
 */
#ifndef WP_SIM_POOL_H
#define WP_SIM_POOL_H

#include <stddef.h>
#include <stdint.h>

typedef struct wpi_pool {
    void *items; /* aligned, in `memory` */
    void *memory;
    uint32_t *free; /* stack */
    uint32_t free_count, capacity;
} wpi_pool;

void wpi_pool_deinit(wpi_pool *pool); /* `{0}` is a valid empty pool */
/** Doubles the pool; ends the process if memory is exhausted (WP_CHECK). */
void wpi_pool_grow(wpi_pool *pool, size_t item_bytes);

static inline uint32_t wpi_pool_take(wpi_pool *pool, size_t item_bytes) {
    if (pool->free_count == 0) wpi_pool_grow(pool, item_bytes);
    return pool->free[--pool->free_count];
}

static inline void wpi_pool_give(wpi_pool *pool, uint32_t number) {
    pool->free[pool->free_count++] = number;
}

#endif

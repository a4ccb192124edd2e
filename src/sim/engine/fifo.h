/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A first-in, first-out queue of numbered items of a pool, or of any array. An item is in at most
 * one queue and is linked by its own member `next`, so a queue allocates nothing and has no limit.
 *
 *     fifo {first, last}          items[first].next ─► … ─► items[last].next = NONE
 *
 * The items may move between two calls, as a pool's do when it grows, so each call names the array.
 * One thread.
 */
#ifndef WP_SIM_FIFO_H
#define WP_SIM_FIFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WPI_FIFO_NONE UINT32_MAX

typedef struct wpi_fifo {
    uint32_t first; /* NONE: the queue is empty */
    uint32_t last;  /* valid if the queue is not empty */
} wpi_fifo;

/** Also usable as an initialiser. */
#define WPI_FIFO_EMPTY ((wpi_fifo){WPI_FIFO_NONE, WPI_FIFO_NONE})

/** The array of a queue's items, and the place of the member `next`, a uint32_t. */
typedef struct wpi_fifo_links {
    void *items;
    size_t item_bytes, next_bytes;
} wpi_fifo_links;

#define WPI_FIFO_LINKS(array, type, member)                                                        \
    ((wpi_fifo_links){(array), sizeof(type), offsetof(type, member)})

/** The number after `number`; NONE: it is the last one. */
static inline uint32_t *wpi_fifo_next(wpi_fifo_links links, uint32_t number) {
    char *item = (char *)links.items + (size_t)number * links.item_bytes;
    return (uint32_t *)(void *)(item + links.next_bytes);
}

static inline bool wpi_fifo_is_empty(const wpi_fifo *fifo) {
    return fifo->first == WPI_FIFO_NONE;
}

static inline void wpi_fifo_append(wpi_fifo *fifo, wpi_fifo_links links, uint32_t number) {
    *wpi_fifo_next(links, number) = WPI_FIFO_NONE;
    if (fifo->first == WPI_FIFO_NONE)
        fifo->first = number;
    else
        *wpi_fifo_next(links, fifo->last) = number;
    fifo->last = number;
}

/** Puts an item before all others. */
static inline void wpi_fifo_put_first(wpi_fifo *fifo, wpi_fifo_links links, uint32_t number) {
    *wpi_fifo_next(links, number) = fifo->first;
    if (fifo->first == WPI_FIFO_NONE) fifo->last = number;
    fifo->first = number;
}

/** Removes the first item; the queue must not be empty. */
static inline uint32_t wpi_fifo_take_first(wpi_fifo *fifo, wpi_fifo_links links) {
    const uint32_t number = fifo->first;
    fifo->first = *wpi_fifo_next(links, number);
    return number;
}

/** Removes the item after `before`; NONE: the first one. It must exist. */
static inline uint32_t wpi_fifo_take_behind(wpi_fifo *fifo, wpi_fifo_links links, uint32_t before) {
    if (before == WPI_FIFO_NONE) return wpi_fifo_take_first(fifo, links);
    uint32_t *link = wpi_fifo_next(links, before);
    const uint32_t number = *link;
    *link = *wpi_fifo_next(links, number);
    if (fifo->last == number) fifo->last = before;
    return number;
}

/** Removes all items from the first to `last`, which must be in the queue. */
static inline wpi_fifo wpi_fifo_take_until(wpi_fifo *fifo, wpi_fifo_links links, uint32_t last) {
    const wpi_fifo taken = {fifo->first, last};
    fifo->first = *wpi_fifo_next(links, last);
    *wpi_fifo_next(links, last) = WPI_FIFO_NONE;
    return taken;
}

/** Removes all items. */
static inline wpi_fifo wpi_fifo_take_all(wpi_fifo *fifo) {
    const wpi_fifo taken = *fifo;
    fifo->first = WPI_FIFO_NONE;
    return taken;
}

#endif

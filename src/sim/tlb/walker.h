/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Page-table walkers: a pool for the whole GPU. A walk reads one entry of each level of the table;
 * the walk cache holds tables that were found, so that a walk begins below the deepest cached one.
 *
 *     asked ─► (queue) ─► walking: cache look-up, then a read for each level left ─► done
 *
 * The number of walkers is what bounds random access beyond the reach of the TLBs: count / walk
 * time.
 */
#ifndef WP_SIM_WALKER_H
#define WP_SIM_WALKER_H

#include "sim/engine/engine.h"
#include "sim/engine/fifo.h"
#include "sim/engine/slab.h"
#include "sim/engine/statistics.h"
#include "sim/profile/profile.h"
#include "sim/tlb/tags.h"

/** The walk for `token` is done. `walk_ps`: its duration, without the queue. */
typedef void (*wpi_walk_done)(void *object, uint64_t token, wpi_time_ps walk_ps, wpi_time_ps now);

typedef struct wpi_walk {
    uint64_t address;
    uint64_t token;
    wpi_time_ps asked, walk_ps;
    uint32_t next; /* in the queue */
} wpi_walk;

/* A ring buffer: start times of the walks in progress. */
typedef struct wpi_walk_starts {
    wpi_time_ps *times;
    uint32_t capacity, first, count; /* capacity: a power of two */
} wpi_walk_starts;

typedef struct wpi_walkers {
    wpi_engine *engine;
    const wpi_profile *profile;
    wpi_walk_done done;
    wpi_announce_fn announce;
    void *object;
    uint32_t page_bits;
    wpi_pool walks;
    wpi_fifo queue; /* of walks */
    uint32_t busy, waiting, promised;
    wpi_walk_starts starts; /* if walkers are unlimited, which then use no field above */
    wpi_tags cache;         /* tag: prefix of the address * 8 + depth of the table */
    uint64_t walk_count, level_count, cache_hit_count, busy_max;
    wpi_histogram queue_ps, latency_ps; /* before the walk; the walk included */
    wpi_utilisation utilisation;
} wpi_walkers;

/** `done` is called from events; `announced` may be called before such an event. NOMEM. */
WP_NODISCARD wp_status wpi_walkers_init(wpi_walkers *walkers, wpi_engine *engine,
                                        const wpi_profile *profile, wpi_walk_done done,
                                        wpi_announce_fn announced, void *object, wp_error *err);
void wpi_walkers_deinit(wpi_walkers *walkers); /* `{0}` is fine */
/** Another walk can be promised: a walker or a place in the queue is free for it. */
bool wpi_walkers_have_room(const wpi_walkers *walkers);
/** A walk that is promised now delays no other. */
bool wpi_walkers_are_free(const wpi_walkers *walkers);
/** Reserves a walker or a place in the queue; wpi_walkers_ask follows. */
void wpi_walkers_promise(wpi_walkers *walkers);
/** Requests the walk at `time`: now, or later if walkers are unlimited (wpi_walkers_are_idle). */
void wpi_walkers_ask(wpi_walkers *walkers, uint64_t address, uint64_t token, wpi_time_ps time);
/** The number of walkers is unlimited and there is no walk cache, so walks are independent. */
bool wpi_walkers_are_idle(const wpi_walkers *walkers);
void wpi_walkers_flush(wpi_walkers *walkers); /* the cache */
void wpi_walkers_statistics(const wpi_walkers *walkers, wpi_visit visit, void *object);

#endif

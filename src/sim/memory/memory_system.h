/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The memory system of a simulated GPU: a warp's global accesses, from the LSU to DRAM or the host.
 * Addresses are the program's; their contents are never accessed here.
 *
 *     access ─► coalescer ─► one request a page, or a line:  TLB 1 ─► TLB 2 … ─► walkers
 *                   │                                           └────────┬─────────┘
 *                   └► one request a line (its sectors):                 ▼ translated
 *                                                         L1 ─► L2 slice ─► DRAM channel
 *                                                                   └─────► link (host memory)
 *
 * Order of state changes: the SM's own TLB and L1 are looked up in issue order; shared state
 * changes in events, in order of simulated time. Ports, buses, banks and walkers are reserved by
 * timestamps, so an access costs a few events per line and none per cycle.
 *
 * When parts answer, and `done` is called:
 *     LOAD, ATOMIC    when the last sector's data or result is back at the SM
 *     STORE, REDUCE   when the SM could hand over the last line: translated, and no more than
 *                     lsu.stores lines of the SM are under way. wpi_memory_fence waits for the rest
 *
 * One thread; no call is made from inside `wpi_memory_access` itself: `done` comes from an event.
 */
#ifndef WP_SIM_MEMORY_H
#define WP_SIM_MEMORY_H

#include "base/trace_abi.h"
#include "sim/engine/engine.h"
#include "sim/engine/line_counts.h"
#include "sim/engine/statistics.h"
#include "sim/paging/access_watch.h"
#include "sim/paging/page_history.h"
#include "sim/profile/profile.h"
#include "sim/sm/warp_source.h"
#include "sim/tlb/itlb.h"

/** `lanes` of a warp's access have reached L2: their loads and atomics take effect now. */
typedef void (*wpi_access_performed)(void *object, uint32_t lanes, wpi_time_ps now);

/** A warp's memory instruction. */
typedef struct wpi_access {
    uint32_t sm;
    uint8_t kind;              /* wp_trace_access */
    uint8_t cache;             /* wp_trace_cache */
    bool prefers_l1;           /* its launch does */
    uint8_t size_bytes;        /* of each lane: 1 to 16 */
    uint32_t mask;             /* not 0 */
    const uint64_t *addresses; /* [WPI_LANES]; read during the call */
    const char *name; /* of the variable or parameter that the addresses start from, or NULL */
    wpi_line_count *counts;         /* or NULL */
    wpi_access_performed performed; /* NULL, or called for each line, with the object of `done`; for
                                       loads that bypass L1 and atomics (wpi_is_performed_in_l2) */
} wpi_access;

/** Whether such an access is performed in L2 under any profile: atomics, and loads that bypass
 * L1. */
static inline bool wpi_is_performed_in_l2(uint8_t kind, uint8_t cache) {
    return kind == WP_TRACE_ATOMIC || (kind == WP_TRACE_LOAD && (cache == WP_TRACE_CACHE_GLOBAL ||
                                                                 cache == WP_TRACE_CACHE_VOLATILE));
}

/** Breakdown of an access's time, for the line that answered last. The parts add up to `answered -
 *  issued`. */
typedef enum wpi_spent {
    WPI_SPENT_ISSUE = 0,   /* the LSU: its latency, lines before this one */
    WPI_SPENT_TRANSLATION, /* look-ups, walks */
    WPI_SPENT_FAULT,       /* waiting for a far fault */
    WPI_SPENT_L1,
    WPI_SPENT_L2, /* including the way there and back */
    WPI_SPENT_DRAM,
    WPI_SPENT_LINK,
    WPI_SPENT_QUEUE, /* for ports, MSHRs, walkers, banks, buses of these */
    WPI_SPENT_COUNT  /* must be last */
} wpi_spent;

typedef struct wpi_answer {
    wpi_time_ps issued, answered; /* `answered` is now */
    wpi_time_ps spent_ps[WPI_SPENT_COUNT];
    wpi_time_ps queued_ps[WPI_SPENT_QUEUE]; /* of QUEUE: for what; at most 4 ms each */
} wpi_answer;

typedef void (*wpi_access_done)(void *object, uint64_t token, const wpi_answer *answer);

typedef struct wpi_memory wpi_memory;

/** `engine` and `profile` must outlive it. NOMEM. */
WP_NODISCARD wp_status wpi_memory_create(wpi_engine *engine, const wpi_profile *profile,
                                         wpi_memory **out, wp_error *err);
void wpi_memory_destroy(wpi_memory *memory); /* NULL allowed; open accesses are dropped */

/**
 * Issues an access at `now`, which is not before the engine's time; it may be later (a reserved
 * issue slot), but an SM's accesses come in order of `now`. Returns the cycles for which the LSU is
 * occupied: one for each 128-byte line, or for each group of lanes. `done` is called exactly once.
 */
uint32_t wpi_memory_access(wpi_memory *memory, const wpi_access *access, wpi_time_ps now,
                           wpi_access_done done, void *object, uint64_t token);

/** Whether the LSU can take another store or reduction: fewer than lsu.stores lines wait in it for
 * translation or for L2. May change whenever one answers. wpi_memory_access does not check it. */
bool wpi_memory_has_store_room(const wpi_memory *memory, uint32_t sm);

/** Returns the addresses of a program's code; NULL: this GPU has no instruction TLBs. NOMEM. */
WP_NODISCARD wp_status wpi_memory_place_code(wpi_memory *memory, const wp_trace_tables *tables,
                                             const wpi_code **out, wp_error *err);
/** Returns whether the SM's instruction TLB has the page of `address`; if not, `done` is called
 * when it does. */
bool wpi_memory_fetch(wpi_memory *memory, uint32_t sm, uint64_t address, wpi_time_ps now,
                      wpi_fetched done, void *object);

/** Calls `done` (spent_ps: all QUEUE) when as many stores and reductions of the SM have reached L2
 * as it has issued so far; if none is in flight, in an event at `now`. For fences and the end of a
 * launch. */
void wpi_memory_fence(wpi_memory *memory, uint32_t sm, wpi_time_ps now, wpi_access_done done,
                      void *object, uint64_t token);

/** Whether a fence of the SM would have to wait. */
bool wpi_memory_is_storing(const wpi_memory *memory, uint32_t sm);

typedef enum wpi_direction {
    WPI_DIRECTION_TO_DEVICE = 0,
    WPI_DIRECTION_TO_HOST,
    WPI_DIRECTION_COUNT /* must be last */
} wpi_direction;

/** Copies over the link, by the first free engine of the direction. */
void wpi_memory_copy(wpi_memory *memory, uint64_t bytes, wpi_direction direction, wpi_time_ps now,
                     wpi_access_done done, void *object, uint64_t token);

/** Addresses in [first, outer) are host memory, which SMs access through the link; one range. */
void wpi_memory_set_host_range(wpi_memory *memory, uint64_t first, uint64_t outer);

/** Several GPUs: of the addresses in [first, outer), those in [own_first, own_outer) are this one's
 * memory, the others that of others, which SMs access through the link between GPUs. */
void wpi_memory_set_own_range(wpi_memory *memory, uint64_t own_first, uint64_t own_outer,
                              uint64_t first, uint64_t outer);
/** Whose memory SMs may use: a bit for each GPU, whose number `gpu_of` returns. `denied` is called
 * for other accesses, in an event. */
void wpi_memory_set_peers(wpi_memory *memory, uint32_t allowed,
                          uint32_t (*gpu_of)(uint64_t address),
                          void (*denied)(void *object, uint64_t address), void *object);
/** Copies from one GPU's memory to another's through the link between them; returns when it is
 * done. */
wpi_time_ps wpi_memory_copy_between(wpi_memory *from, wpi_memory *to, uint64_t bytes,
                                    wpi_time_ps now);

/** Creates managed memory, at addresses from `first` on (sim/paging/paging.h); call it once, before
 * any access. NOMEM. */
WP_NODISCARD wp_status wpi_memory_manage(wpi_memory *memory, uint64_t first, wp_error *err);
/** NULL: there is none. */
struct wpi_paging *wpi_memory_paging(const wpi_memory *memory);

/** Counts accesses in `watch` from now on (NULL: not counted), which must outlive them. */
void wpi_memory_set_watch(wpi_memory *memory, wpi_watch *watch);

/** Notes events of pages in `history` (NULL: not noted), which must outlive the memory system.
 * There must be managed memory. */
void wpi_memory_set_history(wpi_memory *memory, wpi_page_history *history);

/** A copy or fill has written device memory: with `l2.copies` its last lines are in L2, dirty; what
 * they evict is written to DRAM beside the copy, in no time. */
void wpi_memory_copied(wpi_memory *memory, uint64_t address, uint64_t bytes);

/** A launch begins: invalidates L1 caches (other SMs and the host may have written). If no other is
 * running, they get the size that it prefers, and a cold L2 is emptied; else they keep theirs. */
void wpi_memory_begin_launch(wpi_memory *memory, uint64_t l1_bytes, bool is_alone);
/** Invalidates TLBs and the walk cache. No access may be in flight. */
void wpi_memory_flush_tlbs(wpi_memory *memory);

uint64_t wpi_memory_under_way(const wpi_memory *memory); /* accesses without an answer */

/** Every counter, by name, in a fixed order; `visit` is called for each (statistics.h). */
void wpi_memory_statistics(const wpi_memory *memory, wpi_visit visit, void *object);

const char *wpi_spent_name(wpi_spent spent);

#endif

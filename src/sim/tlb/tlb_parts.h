/* SPDX-License-Identifier: Apache-2.0 */
/** Internals of the TLBs: tlb.c (answers), tlb_lookup.c (the way to the walkers), tlb_build.c
 * (creation), tlb_shootdown.c (invalidation). */
#ifndef WP_SIM_TLB_PARTS_H
#define WP_SIM_TLB_PARTS_H

#include "sim/engine/fifo.h"
#include "sim/engine/reserve.h"
#include "sim/engine/slab.h"
#include "sim/tlb/tlb.h"
#include "sim/tlb/tlb_store.h"

typedef struct wpi_tlb_request {
    uint64_t address;
    uint64_t token;
    uint16_t sm;
    uint8_t entry; /* the level at which it entered; 1 for instruction fetches */
    uint8_t grain; /* WPI_GRAIN_…, when it was made */
    bool is_write;
    bool is_prefetch;       /* of the last level, without a requester */
    bool is_held;           /* its page is held (wpi_paging_hold) until it is answered */
    uint32_t next;          /* at the same MSHR or in the same queue */
    wpi_line_count *counts; /* or NULL */
    wpi_time_ps asked;
    wpi_time_ps stalled;  /* since when: in the queue, or waiting for a far fault */
    wpi_time_ps fault_ps; /* time spent waiting for far faults */
} wpi_tlb_request;

typedef struct wpi_tlb {
    wpi_tlb_store store;
    wpi_ports ports;
    uint32_t used; /* MSHRs */
    /* If misses merge: for each outstanding fill, the requests that joined. */
    wpi_index fills; /* address / fill_bytes -> number in … */
    wpi_pool joined; /* wpi_fifo, of requests */
    wpi_fifo line;   /* of requests */
    uint32_t faults; /* of the first level: requests that wait for far faults */
    bool is_starved; /* in `starved`: waits for room at the walkers */
    uint32_t next_starved;
} wpi_tlb;

typedef struct wpi_tlb_level {
    const wpi_tlb_profile *profile;
    wpi_tlb *tlbs;
    uint32_t tlb_count;
    uint32_t group_of[WPI_SMS_MAX];
    wpi_grain grains[WPI_GRAIN_COUNT];
    wpi_time_ps latency_sum; /* latencies of this level and those before, summed */
    uint64_t hits, misses, merges, stalls, evictions;
    wpi_time_ps stall_wait_ps;
    wpi_histogram wait_ps; /* for a port */
} wpi_tlb_level;

struct wpi_translation {
    wpi_engine *engine;
    const wpi_profile *profile;
    wpi_translated translated;
    wpi_expected expected;
    void *object;
    wpi_watch *watch; /* or NULL */
    wpi_tlb_level levels[WPI_TLB_LEVELS_MAX];
    uint32_t level_count;
    wpi_walkers walkers;
    wpi_paging *paging; /* or NULL */
    wpi_fifo starved;   /* TLBs of the last level */
    wpi_tlb_ring *ring; /* first levels that ask each other; or NULL */
    wpi_pool requests;
    uint64_t under_way;
    wpi_time_ps translation_ps; /* of all requests that entered at the first level, summed */
    wpi_utilisation waiting;    /* those that missed it, until they have their translation */
};

/* ---- requests ---- */

static inline wpi_tlb_request *wpi_tlb_request_of(const wpi_translation *t, uint32_t number) {
    return &((wpi_tlb_request *)t->requests.items)[number];
}

static inline wpi_fifo_links wpi_tlb_request_links(const wpi_translation *t) {
    return WPI_FIFO_LINKS(t->requests.items, wpi_tlb_request, next);
}

/* Events carry request and level. */
static inline uint64_t wpi_tlb_pack(uint32_t number, uint32_t level_number) {
    return (uint64_t)number << 8 | level_number;
}

static inline wpi_tlb *wpi_tlb_of(const wpi_translation *t, uint32_t level_number, uint32_t sm) {
    const wpi_tlb_level *l = &t->levels[level_number];
    return &l->tlbs[l->group_of[sm]];
}

static inline bool wpi_tlb_is_managed(const wpi_translation *t, uint64_t address) {
    return t->paging != NULL && wpi_paging_has(t->paging, address);
}

static inline uint8_t wpi_tlb_grain_number(const wpi_translation *t, uint64_t address) {
    if (!wpi_tlb_is_managed(t, address)) return WPI_GRAIN_MEMORY;
    return wpi_paging_is_large(t->paging, address) ? WPI_GRAIN_LARGE : WPI_GRAIN_SMALL;
}

static inline const wpi_grain *wpi_tlb_grain_of(const wpi_tlb_level *l, const wpi_tlb_request *r) {
    return &l->grains[r->grain];
}

static inline uint64_t wpi_tlb_page_of(const wpi_tlb_level *l, const wpi_tlb_request *r) {
    return wpi_tlb_page(l->grains, r->grain, r->address);
}

static inline wpi_fifo *wpi_tlb_joined_of(const wpi_tlb *at, uint32_t number) {
    return &((wpi_fifo *)at->joined.items)[number];
}

static inline bool wpi_tlb_has_mshr(const wpi_tlb_level *l, const wpi_tlb *at) {
    return l->profile->mshrs == 0 || at->used < l->profile->mshrs;
}

static inline wpi_fifo_links wpi_tlb_starving(const wpi_translation *t) {
    return WPI_FIFO_LINKS(t->levels[t->level_count - 1].tlbs, wpi_tlb, next_starved);
}

/* ---- tlb_lookup.c ---- */

/** The result of a look-up. */
typedef enum wpi_tlb_outcome {
    WPI_TLB_HIT,
    WPI_TLB_SENT,
    WPI_TLB_JOINED,
    WPI_TLB_STALLED
} wpi_tlb_outcome;

/** A request arrives at a TLB. If it stalls, it is appended to the TLB's queue. `*looked_up` is the
 * time at which it got a port. */
wpi_tlb_outcome wpi_tlb_offer(wpi_translation *t, uint32_t number, uint32_t level_number,
                              wpi_time_ps now, wpi_time_ps *looked_up);
/** An event: a request arrives at the next level, or at the walkers. */
void wpi_tlb_arrive(void *object, uint64_t token, wpi_time_ps now);
void wpi_tlb_ask_walkers(wpi_translation *t, uint32_t number, wpi_time_ps time);
/** Stores the translation of an answered request. */
void wpi_tlb_keep(wpi_tlb_level *l, wpi_tlb *at, const wpi_tlb_request *r);
/** Holds the request's page until it is answered, if it is of managed memory. */
void wpi_tlb_hold(wpi_translation *t, wpi_tlb_request *r);
/** Looks up the queued requests, while MSHRs are free. */
void wpi_tlb_drain(wpi_translation *t, uint32_t level_number, wpi_tlb *at, wpi_time_ps now);
/** The walkers have room: TLBs that stalled for it continue. */
void wpi_tlb_feed_starved(wpi_translation *t, wpi_time_ps now);

/* ---- tlb.c ---- */

/** An event: a hit, one latency after its look-up. */
void wpi_tlb_answer(void *object, uint64_t token, wpi_time_ps now);
/** Called by walkers and rings; `object` is the translation. */
void wpi_tlb_walked(void *object, uint64_t token, wpi_time_ps walk_ps, wpi_time_ps now);
void wpi_tlb_expect_walk(void *object, uint64_t token, bool is_near);
wpi_tlb_ring_owner wpi_tlb_ring_calls(wpi_translation *translation);

#endif

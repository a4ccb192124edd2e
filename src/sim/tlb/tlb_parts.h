/* SPDX-License-Identifier: Apache-2.0 */
/** The inside of the TLBs: tlb.c (what becomes of a request), tlb_build.c (how they are made),
 * tlb_shootdown.c (pages that leave). */
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
    uint8_t entry; /* the level that was asked first, and answers */
    uint8_t grain; /* its page's, when it was asked for; if that breaks, it is asked again */
    bool is_write;
    bool is_prefetch; /* of the last level: nobody has asked */
    bool is_held;     /* its page is, until it has its answer */
    uint32_t next;    /* at the same MSHR or in the same line */
    wp_time_ps asked;
    wp_time_ps stalled;  /* since: in the line, or for a page */
    wp_time_ps fault_ps; /* for which it waited for a page */
} wpi_tlb_request;

typedef struct wpi_tlb {
    wpi_tlb_store store;
    wpi_ports ports;
    uint32_t used; /* MSHRs */
    /* Where misses merge: of each fill under way, who joined the request that brings it. */
    wpi_index fills; /* address / fill_bytes -> number in … */
    wpi_pool joined; /* wpi_fifo, of requests */
    wpi_fifo line;   /* of requests */
    uint32_t faults; /* requests that came by here first and wait for a page */
    bool is_starved; /* in the list of those that wait for room at the walkers */
    uint32_t next_starved;
} wpi_tlb;

typedef struct wpi_tlb_level {
    const wpi_tlb_profile *profile;
    wpi_tlb *tlbs;
    uint32_t tlb_count;
    uint32_t group_of[WPI_SMS_MAX];
    wpi_grain grains[WPI_GRAIN_COUNT];
    wp_time_ps latency_sum; /* of this level and those before */
    uint64_t hits, misses, merges, stalls, evictions;
    wp_time_ps stall_wait_ps;
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
    wp_time_ps translation_ps; /* of all that asked the first level */
};

/* tlb.c */
/** What walkers and rings call; `object` is the translation. */
void wpi_tlb_walked(void *object, uint64_t token, wp_time_ps walk_ps, wp_time_ps now);
void wpi_tlb_expect_walk(void *object, uint64_t token, bool is_near);
wpi_tlb_ring_owner wpi_tlb_ring_calls(wpi_translation *translation);

#endif

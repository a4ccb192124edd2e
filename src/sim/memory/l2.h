/* SPDX-License-Identifier: Apache-2.0 */
/**
 * L2: slices, each with a port, a part of the cache, MSHRs, and a unit for atomic operations;
 * behind them DRAM and the link to host memory. Requests are served in order of arrival at the
 * slices. The end of each is known at once, because all resources behind L2 are reserved by
 * timestamps.
 */
#ifndef WP_SIM_L2_H
#define WP_SIM_L2_H

#include "sim/engine/ledger.h"
#include "sim/engine/line_counts.h"
#include "sim/engine/reserve.h"
#include "sim/memory/dram.h"
#include "sim/memory/link.h"
#include "sim/memory/sector_cache.h"

/** Sectors of a line, for an SM. */
typedef struct wpi_l2_request {
    uint64_t line;
    uint16_t sm;
    uint16_t turns; /* of an atomic (coalescer.h) */
    uint8_t kind;   /* wp_trace_access */
    uint8_t sectors;
    bool is_remote;         /* the page, of managed memory, is on the host */
    wpi_line_count *counts; /* or NULL */
} wpi_l2_request;

typedef struct wpi_l2_slice {
    wpi_cache cache;
    wpi_bus port;
    wpi_bus atomics;
    wpi_slots mshrs;
} wpi_l2_slice;

/** Memory of other GPUs: the lines of an area outside of this one's. */
typedef struct wpi_peers {
    uint64_t first, outer;         /* lines of the area; both 0: there are no others */
    uint64_t own_first, own_outer; /* … in which these are this GPU's */
    uint32_t allowed;              /* a bit for each GPU whose memory may be used */
    uint32_t (*gpu_of)(uint64_t address);
    void (*denied)(void *object, uint64_t address); /* an access that may not be made */
    void *object;
    wpi_bus ways[WPI_DIRECTION_COUNT]; /* TO_DEVICE: what comes in */
    uint64_t accesses, accessed_bytes, copies, copied_bytes;
} wpi_peers;

typedef struct wpi_l2 {
    const wpi_profile *profile;
    wpi_l2_slice *slices;
    wpi_divider slice_count;
    wpi_bus *sm_ports;     /* the return path to each SM */
    wpi_time_ps sector_ps; /* of a slice's port */
    wpi_time_ps sm_sector_ps;
    wpi_dram dram;
    wpi_link link;
    uint64_t host_first, host_outer; /* lines in host memory */
    wpi_peers peers;
    uint64_t requests[WP_TRACE_ACCESS_COUNT];
    uint64_t read_bytes, written_bytes, atomic_turns;
    uint64_t mshr_waits;
    wpi_time_ps mshr_wait_ps;
    wpi_utilisation utilisation;
} wpi_l2;

WP_NODISCARD wp_status wpi_l2_init(wpi_l2 *l2, const wpi_profile *profile, wp_error *err);
void wpi_l2_deinit(wpi_l2 *l2); /* `{0}` is fine */

/** The place of a line, for wpi_l2_expect. */
uint32_t wpi_l2_place(const wpi_l2 *l2, uint64_t line);
void wpi_l2_expect(const wpi_l2 *l2, uint32_t place, bool is_near);

/** Empties its cache; what is dirty is written in no time. */
void wpi_l2_empty(wpi_l2 *l2, wpi_time_ps now);
/** Stores what a copy wrote, its end if it is larger than L2; dirty lines that it evicts are
 * written in no time. */
void wpi_l2_copy(wpi_l2 *l2, uint64_t address, uint64_t bytes, wpi_time_ps now);

/** Serves a request that arrives at ledger->at. The ledger then ends when data or result leave L2
 * for the SM (LOAD, ATOMIC), or when the write is done (STORE, REDUCE). */
void wpi_l2_serve(wpi_l2 *l2, const wpi_l2_request *request, wpi_ledger *ledger);
void wpi_l2_statistics(const wpi_l2 *l2, wpi_visit visit, void *object);

#endif

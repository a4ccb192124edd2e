/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Far faults and their waiters. A far fault is a page that is not on the device and has at least
 * one waiter; it takes an MSHR. A request that finds no MSHR, or whose SM has as many far faults as
 * it may, is nacked: it queues at its CU and walks again when one of the CU's pages has arrived.
 */
#ifndef WP_SIM_GMMU_H
#define WP_SIM_GMMU_H

#include "sim/engine/fifo.h"
#include "sim/engine/key_index.h"
#include "sim/engine/slab.h"
#include "sim/paging/paging.h"

/** A request that waits for a page. */
typedef struct wpi_paging_waiter {
    uint64_t token;
    uint32_t sm;
    bool is_counted; /* against paging.cu_faults */
    uint32_t next;   /* of the same MSHR, or nacked */
} wpi_paging_waiter;

/** Most have one waiter, and tens of thousands are in flight: each is one line of the host's cache.
 */
typedef struct wpi_far_fault {
    _Alignas(64) wpi_page_number page;
    wpi_time_ps raised;
    wpi_paging_waiter first;
    wpi_fifo others;
    uint32_t next; /* raised after it, where a service replays */
} wpi_far_fault;

/** Which SMs have a waiter of a far fault, a bit each. */
typedef uint64_t wpi_fault_sms[WPI_SMS_MAX / 64];

typedef struct wpi_paging_cu {
    uint32_t waiting; /* for pages that count against paging.cu_faults */
    wpi_fifo nacked;
} wpi_paging_cu;

typedef struct wpi_gmmu {
    wpi_index fault_of; /* number of a page -> far fault */
    wpi_pages *waited;  /* [chunk]: pages with a far fault */
    wpi_pool faults, waiters;
    wpi_fifo raised;          /* far faults, where a service replays, and … */
    wpi_fault_sms *fault_sms; /* … [fault] */
    uint32_t fault_sms_count;
    uint32_t fault_count;
    uint32_t vain_replays; /* latest consecutive ones that found no waiter's page resident */
    wpi_paging_cu *cus;
} wpi_gmmu;

WP_NODISCARD wp_status wpi_gmmu_init(wpi_gmmu *gmmu, uint32_t sm_count, wp_error *err);
void wpi_gmmu_deinit(wpi_gmmu *gmmu); /* `{0}` is fine */
/** There will be `after` chunks instead of `before`. NOMEM. */
WP_NODISCARD wp_status wpi_gmmu_grow(wpi_gmmu *gmmu, uint32_t before, uint32_t after,
                                     wp_error *err);

/** A page is waited for. */
static inline bool wpi_gmmu_has_faults(const wpi_gmmu *gmmu) {
    return gmmu->fault_count != 0;
}

/** The pages of the chunk that have a far fault. */
static inline const wpi_pages *wpi_gmmu_waited(const wpi_gmmu *gmmu, wpi_chunk_number chunk) {
    return &gmmu->waited[chunk.v];
}

/** Waiters of the run's pages walk again: the pages are resident, or will not arrive. */
void wpi_gmmu_arrived(wpi_paging *paging, wpi_page_run run, wpi_time_ps now);
/** The pages will arrive soon: what their waiters need is fetched into the host's caches. */
void wpi_gmmu_expect_arrival(const wpi_gmmu *gmmu, wpi_page_run run);
/** The same, closer to the arrival. */
void wpi_gmmu_expect_release(const wpi_gmmu *gmmu, wpi_page_run run);
/** All waiters walk again; those of resident pages hold them. */
void wpi_gmmu_replay(wpi_paging *paging, wpi_time_ps now);

#endif

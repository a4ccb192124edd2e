/* SPDX-License-Identifier: Apache-2.0 */
/** Internals of paging. Each part belongs to the file of its header, and only that file changes it;
 * other files call its functions. */
#ifndef WP_SIM_PAGING_PARTS_H
#define WP_SIM_PAGING_PARTS_H

#include "policy/evict.h"
#include "policy/migrate.h"
#include "policy/prefetch.h"
#include "sim/paging/block_moves.h"
#include "sim/paging/fault_batch.h"
#include "sim/paging/fault_service.h"
#include "sim/paging/gmmu.h"
#include "sim/paging/idle_prefetch.h"
#include "sim/paging/look_ahead.h"
#include "sim/paging/page_advice.h"
#include "sim/paging/page_departures.h"
#include "sim/paging/page_events.h"
#include "sim/paging/page_eviction.h"
#include "sim/paging/page_fetch.h"
#include "sim/paging/page_quiet.h"
#include "sim/paging/page_transfers.h"
#include "sim/paging/staging.h"
#include "sim/paging/thrashing.h"
#include "sim/paging/tlb_copies.h"

#define WPI_PAGING_NONE WPI_FIFO_NONE

struct wpi_paging {
    /* Set once, when it is created. */
    wpi_engine *engine;
    const wpi_profile *profile;
    wpi_link *link;
    wpi_paging_calls calls;
    const wpi_fault_service_ops *service;
    uint64_t random; /* the state of the policies' random numbers */
    /* State of pages. */
    wpi_residency residency;
    wpi_page_events events;
    wpi_tlb_copies tlb_copies;
    wpi_thrashing thrashing;
    wpi_look_ahead ahead;
    /* Stages of a far fault: its waiters, its service, … */
    wpi_gmmu gmmu;
    wpi_block_moves moves;
    wpi_fault_queue queue;  /* of fault_service.c */
    wpi_fault_batch *batch; /* of fault_batch.c; NULL: another service is used */
    wpi_utilisation handler; /* a service is in progress */
    /* … the page's transfer, … */
    wpi_transfers transfers;
    wpi_page_requests requests;
    wpi_idle_prefetch idle;
    /* … and the frames for it. */
    wpi_evictions evictions;
    wpi_staging staging;
    wpi_departures departures;
    wpi_page_quiet quiet;
};

#endif

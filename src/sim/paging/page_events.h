/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Events of pages and of requests for them. All files of this folder report them through this
 * interface.
 *
 *     report ─┬─ count ─┬─ counter of the run
 *             │         └─ counter of the allocation (access_watch.h), for some events
 *             └─ note ─── page by page and over time (page_history.h), for some events
 *
 * Most events are reported. Some are counted and noted at different times: a page counts as fetched
 * when its transfer is planned, and its history shows when it arrived. The table in page_events.c
 * says which allocation's counter and which entry of the history an event has. One thread.
 */
#ifndef WP_SIM_PAGE_EVENTS_H
#define WP_SIM_PAGE_EVENTS_H

#include "sim/engine/statistics.h"
#include "sim/paging/access_watch.h"
#include "sim/paging/page_history.h"
#include "sim/paging/page_number.h"

/** In the order in which the statistics show them. */
typedef enum wpi_page_event {
    WPI_PAGE_FAR_FAULT = 0, /* faults */
    WPI_PAGE_JOINED,        /* requests that joined another one's far fault */
    WPI_PAGE_NACKED,        /* requests */
    WPI_PAGE_REMOTE,        /* translations to the host */
    WPI_PAGE_SERVICE,       /* services of far faults */
    WPI_PAGE_FETCHED,       /* pages over the link to the device */
    WPI_PAGE_MADE,          /* pages zero-filled there */
    WPI_PAGE_DEMANDED,      /* pages with a waiter when they set off */
    WPI_PAGE_PREFETCHED,    /* pages that the prefetcher added */
    WPI_PAGE_PREFETCHED_USED,
    WPI_PAGE_EVICTED,
    WPI_PAGE_EVICTED_DIRTY,
    WPI_PAGE_WRITTEN_BACK,
    WPI_PAGE_THRASHED,      /* pages that arrived again after an eviction */
    WPI_PAGE_BLOCK_FETCHED, /* blocks that arrived for the first time */
    WPI_PAGE_ROUND_TRIPS,   /* blocks that were evicted once, and … */
    WPI_PAGE_ROUND_TRIPS_32 = WPI_PAGE_ROUND_TRIPS + 6, /* … 2, 3, 4, 8, 16 and 32 times */
    WPI_PAGE_HOST_FAULT,                                /* faults of the host */
    WPI_PAGE_HOST_FETCHED,                              /* pages */
    WPI_PAGE_RETURNED,                                  /* pages, when the host synchronised */
    WPI_PAGE_REQUESTED,                                 /* pages to the device, by the program */
    WPI_PAGE_SENT_BACK,                                 /* pages to the host, by the program */
    WPI_PAGE_THROTTLED,                                 /* faults */
    WPI_PAGE_PINNED,                                    /* faults */
    WPI_PAGE_LINK_TO_DEVICE,                            /* ps for which pages took the link */
    WPI_PAGE_LINK_TO_HOST,
    WPI_PAGE_EVENTS, /* behind the last one that every run counts */
    /* Of batches: entries of the fault buffer, … */
    WPI_PAGE_BATCH_RAISED = WPI_PAGE_EVENTS,
    WPI_PAGE_BATCH_OVERFLOW,
    WPI_PAGE_BATCH_FETCHED,
    WPI_PAGE_BATCH_COALESCED,
    WPI_PAGE_BATCH_DUPLICATE,
    WPI_PAGE_BATCH_FLUSHED,
    WPI_PAGE_BATCH_REPLAY, /* … and replays */
    WPI_PAGE_EVENTS_ALL    /* must be last */
} wpi_page_event;

typedef enum wpi_page_measure {
    WPI_PAGE_WAIT_PS = 0,  /* from a far fault to its page, or to the replay */
    WPI_PAGE_BATCH_SIZE,   /* entries that a batch fetched */
    WPI_PAGE_BATCH_BLOCKS, /* chunks that a batch served */
    WPI_PAGE_MEASURES      /* must be last */
} wpi_page_measure;

typedef struct wpi_page_events {
    uint64_t first;            /* the address where managed memory begins */
    wpi_page_history *history; /* or NULL */
    wpi_watch *watch;          /* or NULL */
    uint64_t counts[WPI_PAGE_EVENTS_ALL];
    wpi_histogram measures[WPI_PAGE_MEASURES];
} wpi_page_events;

/** Managed memory begins at `first`. */
void wpi_page_events_init(wpi_page_events *events, uint64_t first);
/** Events are noted there from now on; NULL: nowhere. */
void wpi_page_events_set_history(wpi_page_events *events, wpi_page_history *history);
void wpi_page_events_set_watch(wpi_page_events *events, wpi_watch *watch);

/** Counts `count` of an event in the chunk. The allocation at the start of the chunk counts it:
 * where allocations are rounded up to full trees, pages may lie behind its end. */
void wpi_page_events_count(wpi_page_events *events, wpi_page_event event, wpi_chunk_number chunk,
                           uint64_t count);
/** Enters the event of each page of the chunk into the history. */
void wpi_page_events_note(const wpi_page_events *events, wpi_page_event event,
                          wpi_chunk_number chunk, const wpi_pages *pages, wpi_time_ps now);
/** Counts an event of each page of the chunk, and notes it. */
void wpi_page_events_report(wpi_page_events *events, wpi_page_event event, wpi_chunk_number chunk,
                            const wpi_pages *pages, wpi_time_ps now);
/** The same for one page. */
void wpi_page_events_report_one(wpi_page_events *events, wpi_page_event event, wpi_page_number page,
                                wpi_time_ps now);
void wpi_page_events_measure(wpi_page_events *events, wpi_page_measure measure, uint64_t value);

/** How many of the event have been counted. */
static inline uint64_t wpi_page_events_counted(const wpi_page_events *events,
                                               wpi_page_event event) {
    return events->counts[event];
}

/** Counts events that have no place. */
static inline void wpi_page_events_add(wpi_page_events *events, wpi_page_event event,
                                       uint64_t count) {
    events->counts[event] += count;
}

/** A block has been evicted, for the time number `evictions`. */
void wpi_page_events_add_round_trip(wpi_page_events *events, uint32_t evictions);

/** An allocation begins at `address`, where another one may have been. NOMEM. */
WP_NODISCARD wp_status wpi_page_events_allocate(const wpi_page_events *events, uint64_t address,
                                                uint64_t bytes, uint64_t page_count, wp_error *err);

/** Visits the counters [first, outer), a measure. */
void wpi_page_events_visit(const wpi_page_events *events, wpi_page_event first,
                           wpi_page_event outer, wpi_visit visit, void *object);
void wpi_page_events_visit_measure(const wpi_page_events *events, wpi_page_measure measure,
                                   wpi_visit visit, void *object);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/paging/page_events.h"

#define NO_MOVE WP_RUN_MOVES
#define NO_ENTRY WP_RUN_PAGE_EVENTS

#define PAGING "paging."
#define BLOCKS "paging.blocks."
#define BATCH "paging.batch."

typedef struct row {
    const char *prefix, *name, *unit;
    wp_run_move move;        /* NO_MOVE: allocations do not count it */
    wp_run_page_event entry; /* NO_ENTRY: the history does not have it */
} row;

static const row rows[WPI_PAGE_EVENTS_ALL] = {
    [WPI_PAGE_FAR_FAULT] = {PAGING, "far_faults", "faults", WP_RUN_MOVE_FAR_FAULTS,
                            WP_RUN_PAGE_FAULTED},
    [WPI_PAGE_JOINED] = {PAGING, "joined", "requests", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_NACKED] = {PAGING, "nacks", "requests", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_REMOTE] = {PAGING, "remote", "requests", WP_RUN_MOVE_REMOTE, WP_RUN_PAGE_REMOTE},
    [WPI_PAGE_SERVICE] = {PAGING, "services", "services", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_FETCHED] = {PAGING, "fetched", "pages", WP_RUN_MOVE_FETCHED, WP_RUN_PAGE_FETCHED},
    [WPI_PAGE_MADE] = {PAGING, "made", "pages", WP_RUN_MOVE_MADE, NO_ENTRY},
    [WPI_PAGE_DEMANDED] = {PAGING, "demanded", "pages", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_PREFETCHED] = {PAGING, "prefetched", "pages", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_PREFETCHED_USED] = {PAGING, "prefetched_used", "pages", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_EVICTED] = {PAGING, "evicted", "pages", WP_RUN_MOVE_EVICTED, WP_RUN_PAGE_EVICTED},
    [WPI_PAGE_EVICTED_DIRTY] = {PAGING, "evicted_dirty", "pages", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_WRITTEN_BACK] = {PAGING, "written_back", "pages", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_THRASHED] = {PAGING, "thrashed", "pages", WP_RUN_MOVE_THRASHED, NO_ENTRY},
    [WPI_PAGE_BLOCK_FETCHED] = {BLOCKS, "fetched", "blocks", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_ROUND_TRIPS] = {BLOCKS, "round_trips_1", "blocks", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_ROUND_TRIPS + 1] = {BLOCKS, "round_trips_2", "blocks", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_ROUND_TRIPS + 2] = {BLOCKS, "round_trips_3", "blocks", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_ROUND_TRIPS + 3] = {BLOCKS, "round_trips_4", "blocks", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_ROUND_TRIPS + 4] = {BLOCKS, "round_trips_8", "blocks", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_ROUND_TRIPS + 5] = {BLOCKS, "round_trips_16", "blocks", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_ROUND_TRIPS_32] = {BLOCKS, "round_trips_32", "blocks", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_HOST_FAULT] = {PAGING, "host_faults", "faults", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_HOST_FETCHED] = {PAGING, "host_fetched", "pages", WP_RUN_MOVE_HOST_FETCHED,
                               WP_RUN_PAGE_RETURNED},
    [WPI_PAGE_RETURNED] = {PAGING, "returned", "pages", WP_RUN_MOVE_RETURNED, WP_RUN_PAGE_RETURNED},
    [WPI_PAGE_REQUESTED] = {PAGING, "requested", "pages", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_SENT_BACK] = {PAGING, "sent_back", "pages", WP_RUN_MOVE_SENT_BACK,
                            WP_RUN_PAGE_RETURNED},
    [WPI_PAGE_THROTTLED] = {PAGING, "throttled", "faults", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_PINNED] = {PAGING, "pinned", "faults", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_LINK_TO_DEVICE] = {PAGING, "link_to_device", "ps", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_LINK_TO_HOST] = {PAGING, "link_to_host", "ps", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_BATCH_RAISED] = {BATCH, "raised", "faults", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_BATCH_OVERFLOW] = {BATCH, "overflows", "faults", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_BATCH_FETCHED] = {BATCH, "fetched", "faults", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_BATCH_COALESCED] = {BATCH, "coalesced", "faults", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_BATCH_DUPLICATE] = {BATCH, "duplicates", "faults", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_BATCH_FLUSHED] = {BATCH, "flushed", "faults", NO_MOVE, NO_ENTRY},
    [WPI_PAGE_BATCH_REPLAY] = {BATCH, "replays", "replays", NO_MOVE, NO_ENTRY},
};

static const struct {
    const char *prefix, *name, *unit;
} measures[WPI_PAGE_MEASURES] = {[WPI_PAGE_WAIT_PS] = {PAGING, "wait", "ps"},
                                 [WPI_PAGE_BATCH_SIZE] = {BATCH, "size", "faults"},
                                 [WPI_PAGE_BATCH_BLOCKS] = {BATCH, "blocks", "blocks"}};

void wpi_page_events_init(wpi_page_events *events, uint64_t first) {
    *events = (wpi_page_events){.first = first};
}

void wpi_page_events_set_history(wpi_page_events *events, wpi_page_history *history) {
    events->history = history;
}

void wpi_page_events_set_watch(wpi_page_events *events, wpi_watch *watch) {
    events->watch = watch;
}

void wpi_page_events_count(wpi_page_events *events, wpi_page_event event, wpi_chunk_number chunk,
                           uint64_t count) {
    events->counts[event] += count;
    if (events->watch == NULL || rows[event].move == NO_MOVE || count == 0) return;
    wpi_watch_move(events->watch, wpi_chunk_address(events->first, chunk), rows[event].move, count);
}

void wpi_page_events_note(const wpi_page_events *events, wpi_page_event event,
                          wpi_chunk_number chunk, const wpi_pages *pages, wpi_time_ps now) {
    if (events->history == NULL || rows[event].entry == NO_ENTRY) return;
    wpi_page_history_note_pages(events->history, wpi_chunk_address(events->first, chunk), pages,
                                rows[event].entry, now);
}

void wpi_page_events_report(wpi_page_events *events, wpi_page_event event, wpi_chunk_number chunk,
                            const wpi_pages *pages, wpi_time_ps now) {
    wpi_page_events_count(events, event, chunk, wpi_pages_count(pages));
    wpi_page_events_note(events, event, chunk, pages, now);
}

void wpi_page_events_report_one(wpi_page_events *events, wpi_page_event event, wpi_page_number page,
                                wpi_time_ps now) {
    wpi_page_events_count(events, event, wpi_page_chunk(page), 1);
    if (events->history != NULL && rows[event].entry != NO_ENTRY)
        wpi_page_history_note(events->history, wpi_page_address(events->first, page),
                              rows[event].entry, now);
}

void wpi_page_events_measure(wpi_page_events *events, wpi_page_measure measure, uint64_t value) {
    wpi_histogram_add(&events->measures[measure], value);
}

void wpi_page_events_add_round_trip(wpi_page_events *events, uint32_t evictions) {
    static const uint32_t times[] = {1, 2, 3, 4, 8, 16, 32};
    for (uint32_t i = 0; i < sizeof times / sizeof times[0]; i++)
        events->counts[WPI_PAGE_ROUND_TRIPS + i] += evictions == times[i];
}

wp_status wpi_page_events_allocate(const wpi_page_events *events, uint64_t address, uint64_t bytes,
                                   uint64_t page_count, wp_error *err) {
    if (events->watch != NULL) wpi_watch_forget(events->watch);
    if (events->history == NULL) return WP_STATUS_OK;
    return wpi_page_history_add(events->history, address, bytes, page_count, err);
}

void wpi_page_events_visit(const wpi_page_events *events, wpi_page_event first,
                           wpi_page_event outer, wpi_visit visit, void *object) {
    for (uint32_t i = first; i < outer; i++)
        wpi_visit_value(visit, object, rows[i].prefix, rows[i].name, rows[i].unit,
                        events->counts[i]);
}

void wpi_page_events_visit_measure(const wpi_page_events *events, wpi_page_measure measure,
                                   wpi_visit visit, void *object) {
    wpi_visit_histogram(visit, object, measures[measure].prefix, measures[measure].name,
                        measures[measure].unit, &events->measures[measure]);
}

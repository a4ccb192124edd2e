/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/paging/page_events.h"

#include "wp_test.h"

#define FIRST ((uint64_t)1 << 40)
#define CHUNKS 4u

/* One allocation, which begins at FIRST. */
static void locate(void *object, uint64_t address, const char *name, wpi_watch_range *out) {
    (void)object;
    (void)address;
    (void)name;
    *out = (wpi_watch_range){
        .has_place = true, .first = FIRST, .base = FIRST, .bytes = CHUNKS * WPI_CHUNK_BYTES};
}

typedef struct bench {
    wpi_page_events events;
    wpi_watch *watch;
    wpi_page_history *history;
} bench;

static void open_bench(bench *b) {
    wp_error err = {0};
    *b = (bench){.events.first = FIRST};
    assert_status_ok(wpi_watch_create(WPI_PAGE_BYTES, locate, NULL, &b->watch, &err), &err);
    assert_status_ok(wpi_page_history_create(FIRST, &b->history, &err), &err);
    wpi_page_history_count(b->history, true);
    b->events.watch = b->watch;
    b->events.history = b->history;
    assert_status_ok(wpi_page_events_allocate(&b->events, FIRST, CHUNKS * WPI_CHUNK_BYTES,
                                              CHUNKS * WPI_CHUNK_PAGES, &err),
                     &err);
}

static void close_bench(bench *b) {
    wpi_watch_destroy(b->watch);
    wpi_page_history_destroy(b->history);
}

static uint64_t moves(const bench *b, wp_run_move move) {
    wpi_watch_counts counts;
    wpi_watch_get(b->watch, &counts);
    return counts.moves[0][move];
}

static uint64_t entries(const bench *b, uint32_t chunk, uint32_t page, wp_run_page_event entry) {
    return b->history->allocations[0].counts[(size_t)chunk * WPI_CHUNK_PAGES + page][entry];
}

static void a_report_reaches_the_run_the_allocation_and_the_history(void **state) {
    bench b;
    wpi_pages pages = {{0}};
    (void)state;
    open_bench(&b);
    wpi_pages_add_range(&pages, 7, 10);
    wpi_page_events_report(&b.events, WPI_PAGE_EVICTED, (wpi_chunk_number){2}, &pages, 1000);
    wpi_page_events_report_one(&b.events, WPI_PAGE_REMOTE, (wpi_page_number){5}, 2000);
    assert_u64(b.events.counts[WPI_PAGE_EVICTED], 3);
    assert_u64(b.events.counts[WPI_PAGE_REMOTE], 1);
    assert_u64(moves(&b, WP_RUN_MOVE_EVICTED), 3);
    assert_u64(moves(&b, WP_RUN_MOVE_REMOTE), 1);
    for (uint32_t page = 6; page <= 10; page++)
        assert_u64(entries(&b, 2, page, WP_RUN_PAGE_EVICTED), page >= 7 && page < 10);
    assert_u64(entries(&b, 0, 5, WP_RUN_PAGE_REMOTE), 1);
    close_bench(&b);
}

static void count_and_note_are_two_halves_of_a_report(void **state) {
    bench b;
    wpi_pages pages = {{0}};
    (void)state;
    open_bench(&b);
    wpi_pages_add(&pages, 3);
    wpi_page_events_count(&b.events, WPI_PAGE_FETCHED, (wpi_chunk_number){1}, 5);
    assert_u64(b.events.counts[WPI_PAGE_FETCHED], 5);
    assert_u64(moves(&b, WP_RUN_MOVE_FETCHED), 5);
    assert_u64(entries(&b, 1, 3, WP_RUN_PAGE_FETCHED), 0);
    wpi_page_events_note(&b.events, WPI_PAGE_FETCHED, (wpi_chunk_number){1}, &pages, 1000);
    assert_u64(b.events.counts[WPI_PAGE_FETCHED], 5);
    assert_u64(moves(&b, WP_RUN_MOVE_FETCHED), 5);
    assert_u64(entries(&b, 1, 3, WP_RUN_PAGE_FETCHED), 1);
    close_bench(&b);
}

static void without_watch_and_history_the_run_still_counts(void **state) {
    wpi_page_events events = {.first = FIRST};
    wpi_pages pages = {{0}};
    wp_error err = {0};
    (void)state;
    assert_status_ok(wpi_page_events_allocate(&events, FIRST, 4096, 1, &err), &err);
    wpi_pages_add(&pages, 0);
    wpi_page_events_report(&events, WPI_PAGE_RETURNED, (wpi_chunk_number){0}, &pages, 0);
    wpi_page_events_report_one(&events, WPI_PAGE_FAR_FAULT, (wpi_page_number){0}, 0);
    assert_u64(events.counts[WPI_PAGE_RETURNED], 1);
    assert_u64(events.counts[WPI_PAGE_FAR_FAULT], 1);
}

static void round_trips_are_counted_at_some_numbers_of_evictions(void **state) {
    wpi_page_events events = {.first = FIRST};
    (void)state;
    for (uint32_t evictions = 1; evictions <= 40; evictions++)
        wpi_page_events_add_round_trip(&events, evictions);
    for (uint32_t i = WPI_PAGE_ROUND_TRIPS; i <= WPI_PAGE_ROUND_TRIPS_32; i++)
        assert_u64(events.counts[i], 1);
}

typedef struct seen {
    uint32_t count;
} seen;

static void see(void *object, const wpi_statistic *statistic) {
    seen *s = object;
    s->count++;
    assert_true(strncmp(statistic->name, "paging.", 7) == 0);
    assert_true(statistic->unit != NULL);
    assert_true(statistic->value == s->count || statistic->histogram != NULL);
}

/* Every event has a row, in order. */
static void every_event_has_a_name(void **state) {
    wpi_page_events events = {.first = FIRST};
    seen s = {0};
    (void)state;
    for (uint32_t i = 0; i < WPI_PAGE_EVENTS_ALL; i++)
        wpi_page_events_add(&events, (wpi_page_event)i, i + 1);
    wpi_page_events_visit(&events, WPI_PAGE_FAR_FAULT, WPI_PAGE_EVENTS_ALL, see, &s);
    assert_u64(s.count, WPI_PAGE_EVENTS_ALL);
    for (uint32_t i = 0; i < WPI_PAGE_MEASURES; i++)
        wpi_page_events_visit_measure(&events, (wpi_page_measure)i, see, &s);
    assert_u64(s.count, WPI_PAGE_EVENTS_ALL + WPI_PAGE_MEASURES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_reaches_the_run_the_allocation_and_the_history),
        cmocka_unit_test(count_and_note_are_two_halves_of_a_report),
        cmocka_unit_test(without_watch_and_history_the_run_still_counts),
        cmocka_unit_test(round_trips_are_counted_at_some_numbers_of_evictions),
        cmocka_unit_test(every_event_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

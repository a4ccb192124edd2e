/* SPDX-License-Identifier: Apache-2.0 */
/* What happened to pages, against a list of all of it: exact by page whatever the number of pages,
 * and in the map by its rows and slices at the end. */
#include "sim/paging/page_history.h"

#include "base/alloc.h"
#include "wp_random.h"
#include "wp_test.h"

#define FIRST ((uint64_t)1 << 40)
#define EVENTS 20000u

typedef struct happened {
    uint32_t allocation, page;
    wp_run_page_event event;
    wpi_time_ps time;
} happened;

static wpi_page_history *history_with(void) {
    wpi_page_history *h;
    wp_error err = {0};
    assert_status_ok(wpi_page_history_create(FIRST, &h, &err), &err);
    wpi_page_history_count(h, true);
    return h;
}

/* Behind the last one, from a multiple of 2 MiB. */
static uint64_t add(wpi_page_history *h, uint64_t page_count) {
    wp_error err = {0};
    uint64_t address = FIRST;
    if (h->allocation_count != 0) {
        const wpi_history_allocation *last = &h->allocations[h->allocation_count - 1];
        const uint64_t chunks = (last->page_count + WPI_CHUNK_PAGES - 1) / WPI_CHUNK_PAGES;
        address = last->address + chunks * WPI_CHUNK_BYTES;
    }
    assert_status_ok(
        wpi_page_history_add(h, address, page_count * WPI_PAGE_BYTES, page_count, &err), &err);
    return address;
}

static void note_random(wpi_page_history *h, uint64_t *random, wpi_time_ps before_ps,
                        happened *out) {
    const uint64_t r = wp_random_next(random);
    out->allocation = (uint32_t)(r % h->allocation_count);
    const wpi_history_allocation *a = &h->allocations[out->allocation];
    out->page = (uint32_t)((r >> 8) % a->page_count);
    out->event = (wp_run_page_event)((r >> 40) % WP_RUN_PAGE_EVENTS);
    out->time = wp_random_next(random) % before_ps;
    wpi_page_history_note(h, a->address + (uint64_t)out->page * WPI_PAGE_BYTES + (r >> 60) * 128,
                          out->event, out->time);
}

static void check_pages(const wpi_page_history *h, const happened *list, uint32_t count) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < h->allocation_count; i++) {
        const wpi_history_allocation *a = &h->allocations[i];
        uint64_t(*wanted)[WP_RUN_PAGE_EVENTS] = wpi_calloc(a->page_count, sizeof *wanted);
        assert_non_null(wanted);
        for (uint32_t k = 0; k < count; k++)
            if (list[k].allocation == i) wanted[list[k].page][list[k].event]++;
        assert_memory_equal(wanted, a->counts, a->page_count * sizeof *wanted);
        for (uint64_t page = 0; page < a->page_count; page++)
            for (uint32_t event = 0; event < WP_RUN_PAGE_EVENTS; event++)
                sum += wanted[page][event];
        wpi_free(wanted);
    }
    assert_u64(sum, count);
}

static void check_map(const wpi_page_history *h, const happened *list, uint32_t count) {
    uint32_t(*wanted)[WPI_HISTORY_ROWS][WP_RUN_PAGE_EVENTS] = wpi_calloc(1, sizeof h->map);
    assert_non_null(wanted);
    for (uint32_t k = 0; k < count; k++) {
        const wpi_history_allocation *a = &h->allocations[list[k].allocation];
        const uint32_t row = a->first_row + (list[k].page >> h->row_bits);
        assert_true(row < a->first_row + a->row_count);
        wanted[list[k].time >> h->slice_bits][row][list[k].event]++;
    }
    assert_memory_equal(wanted, h->map, sizeof h->map);
    wpi_free(wanted);
}

/* Allocations come while things happen, so rows are halved with something in them; times grow, so
 * slices are as well. */
static void the_map_is_what_happened_by_its_rows_and_slices(void **state) {
    (void)state;
    static const uint64_t sizes[] = {700, 1, 3, 900, 17, 5000, 1, 513};
    wpi_page_history *h = history_with();
    happened *list = wpi_calloc(EVENTS, sizeof *list);
    uint64_t random = 4711;
    assert_non_null(list);
    for (uint32_t i = 0; i < EVENTS; i++) {
        if (i % (EVENTS / 8) == 0) (void)add(h, sizes[i / (EVENTS / 8)]);
        note_random(h, &random, (wpi_time_ps)1 << (20 + i / 1000), &list[i]);
    }
    assert_true(h->row_bits >= 3 && h->row_count <= WPI_HISTORY_ROWS);
    assert_true(h->slice_bits > 20 && h->slice_count <= WPI_HISTORY_SLICES);
    check_pages(h, list, EVENTS);
    check_map(h, list, EVENTS);
    wpi_free(list);
    wpi_page_history_destroy(h);
}

static void what_is_made_again_at_an_address_goes_on(void **state) {
    (void)state;
    wp_error err = {0};
    wpi_page_history *h = history_with();
    const uint64_t address = add(h, 10);
    wpi_page_history_note(h, address, WP_RUN_PAGE_READ, 0);
    assert_status_ok(wpi_page_history_add(h, address, 10 * WPI_PAGE_BYTES, 10, &err), &err);
    wpi_page_history_note(h, address, WP_RUN_PAGE_READ, 0);
    assert_u64(h->allocation_count, 1);
    assert_u64(h->allocations[0].counts[0][WP_RUN_PAGE_READ], 2);
    /* Of another size it is another one. */
    assert_status_ok(wpi_page_history_add(h, address, 20 * WPI_PAGE_BYTES, 20, &err), &err);
    wpi_page_history_note(h, address + 19 * WPI_PAGE_BYTES, WP_RUN_PAGE_WRITTEN, 0);
    assert_u64(h->allocation_count, 2);
    assert_u64(h->allocations[1].counts[19][WP_RUN_PAGE_WRITTEN], 1);
    wpi_page_history_destroy(h);
}

static void what_has_no_room_is_counted_as_left_out(void **state) {
    (void)state;
    wpi_page_history *h = history_with();
    uint64_t address = 0;
    for (uint32_t i = 0; i < WPI_HISTORY_ALLOCATIONS; i++)
        address = add(h, 600);
    assert_u64(h->allocations_left_out, 0);
    (void)add(h, 600);
    assert_u64(h->allocations_left_out, 1);
    wpi_page_history_note(h, address + 2 * WPI_CHUNK_BYTES, WP_RUN_PAGE_READ, 0);
    assert_u64(h->allocations[WPI_HISTORY_ALLOCATIONS - 1].counts[0][WP_RUN_PAGE_READ], 0);
    for (uint32_t i = 0; i < WPI_HISTORY_LAUNCHES + 2; i++)
        wpi_page_history_ended(h, wpi_page_history_began(h, "k", i), i + 1);
    assert_u64(h->launch_count, WPI_HISTORY_LAUNCHES);
    assert_u64(h->launches_left_out, 2);
    assert_u64(h->launches[7].end_ps - h->launches[7].start_ps, 1);
    wpi_page_history_destroy(h);
}

static void nothing_counts_outside_of_what_is_reported(void **state) {
    (void)state;
    wpi_page_history *h = history_with();
    const uint64_t address = add(h, 4);
    wpi_page_history_count(h, false);
    wpi_page_history_note(h, address, WP_RUN_PAGE_READ, 0);
    wpi_page_history_count(h, true);
    wpi_page_history_note(h, address + WPI_CHUNK_BYTES, WP_RUN_PAGE_READ, 0); /* nothing is there */
    wpi_page_history_set_base(h, 1 << 20);
    wpi_page_history_note(h, address, WP_RUN_PAGE_WRITTEN, 5);
    assert_u64(h->allocations[0].counts[0][WP_RUN_PAGE_READ], 0);
    assert_u64(h->map[8][0][WP_RUN_PAGE_WRITTEN], 1);
    wpi_page_history_destroy(h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_map_is_what_happened_by_its_rows_and_slices),
        cmocka_unit_test(what_is_made_again_at_an_address_goes_on),
        cmocka_unit_test(what_has_no_room_is_counted_as_left_out),
        cmocka_unit_test(nothing_counts_outside_of_what_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

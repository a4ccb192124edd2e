/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim/allocations.h"

#include "base/alloc.h"
#include "device/device.h"
#include "device/memory_map.h"
#include "report/simulation.h"
#include "wp_test.h"

#define PAGE ((uint64_t)4096)

static const char callers[2] = {0}; /* their addresses stand for code */

/* "Allocates" at an unused address. */
static void add(uint64_t base, size_t size_bytes, uint64_t number, const void *caller) {
    const wpi_memory_entry entry = {.allocation = {.base = (void *)(uintptr_t)base,
                                                   .size_bytes = size_bytes,
                                                   .kind = WP_MEMORY_DEVICE},
                                    .number = number,
                                    .caller = caller};
    wp_error err = {0};
    assert_status_ok(wpi_memory_map_add(wpi_memory_map_global(), &entry, &err), &err);
}

static void take(uint64_t base) {
    assert_true(wpi_memory_map_remove(wpi_memory_map_global(), (void *)(uintptr_t)base, NULL));
}

static wpi_allocations *create(void) {
    wpi_allocations *a;
    wp_error err = {0};
    assert_status_ok(wpi_allocations_create(PAGE, &a, &err), &err);
    return a;
}

static wpi_watch_range locate(wpi_allocations *a, uint64_t address, const char *name) {
    wpi_watch_range range;
    wpi_allocations_locate(a, address, name, &range);
    return range;
}

static wp_run_simulation *fill(const wpi_allocations *a, wpi_watch *watch) {
    wp_run_simulation *out = wpi_calloc(1, sizeof *out);
    wpi_watch_counts counts;
    wpi_watch_get(watch, &counts);
    wpi_allocations_fill(a, &counts, out);
    return out;
}

static void places_lie_one_after_the_other(void **state) {
    (void)state;
    wpi_allocations *a = create();
    add(0x10000, 5 * PAGE + 1, 1, &callers[0]);
    add(0x900010, 16, 2, &callers[0]); /* within a page */
    add(0xa00000, PAGE, 3, &callers[0]);
    const wpi_watch_range first = locate(a, 0x10000 + 3 * PAGE, "p");
    const wpi_watch_range second = locate(a, 0x900000, "q"); /* its line begins before it */
    const wpi_watch_range third = locate(a, 0xa00000, NULL);
    assert_true(first.has_place && second.has_place && third.has_place);
    assert_u64(first.place, 0);
    assert_u64(first.first, 0x10000);
    assert_u64(second.place, 6 * PAGE);
    assert_u64(second.first, 0x900000);
    assert_u64(third.place, 7 * PAGE);
    take(0x10000);
    take(0x900010);
    take(0xa00000);
    wpi_allocations_destroy(a);
}

static void what_the_same_code_makes_again_has_the_same_row(void **state) {
    (void)state;
    wpi_allocations *a = create();
    add(0x10000, PAGE, 1, &callers[0]);
    const wpi_watch_range first = locate(a, 0x10000, "p");
    take(0x10000);
    add(0x50000, PAGE, 2, &callers[0]); /* elsewhere */
    add(0x10000, PAGE, 3, &callers[0]); /* the other one still lives */
    add(0x90000, PAGE, 4, &callers[1]); /* by other code */
    const wpi_watch_range again = locate(a, 0x50000, "p");
    assert_u64(again.allocation, first.allocation);
    assert_u64(again.place, first.place);
    assert_u64(again.first, 0x50000);
    assert_true(locate(a, 0x10000, "p").allocation != first.allocation);
    assert_true(locate(a, 0x90000, "p").allocation != first.allocation);
    take(0x10000);
    take(0x50000);
    take(0x90000);
    wpi_allocations_destroy(a);
}

static void more_allocations_than_rows_are_others(void **state) {
    (void)state;
    wpi_allocations *a = create();
    for (uint64_t i = 0; i < 2 * WPI_WATCH_ALLOCATIONS; i++) {
        add(0x100000 + i * PAGE, PAGE, i + 1, &callers[0]);
        (void)locate(a, 0x100000 + i * PAGE, "p");
    }
    const wpi_watch_range last = locate(a, 0x100000 + (2 * WPI_WATCH_ALLOCATIONS - 1) * PAGE, "p");
    assert_u64(last.allocation, WPI_WATCH_ALLOCATIONS - 1);
    assert_false(last.has_place);
    for (uint64_t i = 0; i < 2 * WPI_WATCH_ALLOCATIONS; i++)
        take(0x100000 + i * PAGE);
    wpi_allocations_destroy(a);
}

static void the_hottest_come_first(void **state) {
    (void)state;
    wpi_allocations *a = create();
    wpi_watch *watch;
    wp_error err = {0};
    assert_status_ok(wpi_watch_create(PAGE, wpi_allocations_locate, a, &watch, &err), &err);
    add(0x100000, 64 * PAGE, 1, &callers[0]);
    add(0x800000, 64 * PAGE, 2, &callers[1]);
    /* Page i of the second is read i times, each of the first once; a variable 5 times. */
    for (uint64_t i = 0; i < 64; i++) {
        wpi_watch_access(watch, 0x100000 + i * PAGE, "cold", false, false, i * 1000000);
        for (uint64_t k = 0; k < i; k++)
            wpi_watch_access(watch, 0x800000 + i * PAGE, "hot", false, k == 0, i * 1000000);
    }
    for (int i = 0; i < 5; i++)
        wpi_watch_access(watch, 0x40, "counter", true, false, 0);
    wp_run_simulation *s = fill(a, watch);
    assert_u64(s->allocation_count, 3);
    assert_string_equal(s->allocations[0].name, "hot");
    assert_u64(s->allocations[0].touches.reads, 63 * 64 / 2);
    assert_u64(s->allocations[0].touches.tlb_misses, 63);
    assert_string_equal(s->allocations[1].name, "cold");
    assert_string_equal(s->allocations[2].name, "counter");
    assert_string_equal(s->allocations[2].kind, "variable");
    assert_u64(s->allocations[2].touches.writes, 5);
    assert_u64(s->page_count, 32);
    for (size_t i = 0; i < s->page_count; i++) {
        assert_int_equal(s->pages[i].allocation, 0);
        assert_u64(s->pages[i].offset_bytes, (63 - i) * PAGE);
        assert_u64(s->pages[i].touches.reads, 63 - i);
    }
    assert_u64(s->allocations[0].spread.pages, 63); /* page 0 is not read */
    assert_u64(s->allocations[0].spread.most_accesses, 63);
    assert_u64(s->allocations[0].spread.median_accesses, 32);
    assert_u64(s->allocations[0].spread.near_median, 7); /* 29 to 35 */
    assert_u64(s->allocations[0].spread.hottest_tenth_accesses, 63 + 62 + 61 + 60 + 59 + 58 + 57);
    assert_u64(s->allocations[1].spread.near_median, 64);
    assert_u64(s->allocations[1].spread.hottest_tenth_accesses, 7);
    assert_u64(s->allocations[2].spread.pages, 0); /* a variable has no place */
    assert_u64(s->spread.pages, 64 + 63);
    assert_u64(s->spread.hottest_tenth_accesses, (63 + 51) * 13 / 2);
    uint64_t footprint = 0, map = 0;
    for (size_t i = 0; i < s->map.row_count; i++)
        footprint += s->footprint[i].reads + s->footprint[i].writes;
    for (size_t i = 0; i < s->map.row_count * s->map.slice_count; i++)
        map += s->map.accesses[i];
    assert_u64(footprint, 64 + 63 * 64 / 2);
    assert_u64(map, footprint);
    wpi_simulation_destroy(s);
    take(0x100000);
    take(0x800000);
    wpi_watch_destroy(watch);
    wpi_allocations_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_lie_one_after_the_other),
        cmocka_unit_test(what_the_same_code_makes_again_has_the_same_row),
        cmocka_unit_test(more_allocations_than_rows_are_others),
        cmocka_unit_test(the_hottest_come_first),
    };
    return wp_test_main(tests);
}

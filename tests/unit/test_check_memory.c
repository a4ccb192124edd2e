/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of src/device/cpu/check/check_memory.c: where an address lies among live and freed
 * allocations.
 */
#include "device/cpu/check/access_check.h"
#include "wp_test.h"

typedef struct maps {
    wpi_memory_map *live, *freed;
} maps;

static void add(wpi_memory_map *map, uintptr_t base, size_t size_bytes) {
    wp_error err = {0};
    const wpi_memory_entry entry = {
        .allocation = {.base = (void *)base, .size_bytes = size_bytes, .kind = WP_MEMORY_DEVICE}};
    assert_status_ok(wpi_memory_map_add(map, &entry, &err), &err);
}

/* Live: 0x10000 + 0x100 and 0x30000 + 0x80. Freed: 0x20000 + 0x40. */
static int set_up(void **state) {
    static maps m;
    if (wpi_memory_map_create(&m.live, NULL) != WP_STATUS_OK ||
        wpi_memory_map_create(&m.freed, NULL) != WP_STATUS_OK)
        return -1;
    add(m.live, 0x10000, 0x100);
    add(m.live, 0x30000, 0x80);
    add(m.freed, 0x20000, 0x40);
    *state = &m;
    return 0;
}

static int tear_down(void **state) {
    maps *m = *state;
    wpi_memory_map_destroy(m->live);
    wpi_memory_map_destroy(m->freed);
    return 0;
}

static wpi_check_place locate(void **state, uintptr_t address, uint64_t size_bytes) {
    const maps *m = *state;
    return wpi_check_locate(m->live, m->freed, (const void *)address, size_bytes);
}

static uintptr_t base_of(const wpi_check_place *place) {
    return (uintptr_t)place->entry.allocation.base;
}

static void access_inside_is_good(void **state) {
    const wpi_check_place first = locate(state, 0x10000, 4), last = locate(state, 0x100fc, 4);
    assert_true(first.is_good && last.is_good);
    assert_false(first.is_freed);
    assert_u64(base_of(&last), 0x10000);
}

static void access_that_leaves_its_allocation_is_not_good(void **state) {
    const wpi_check_place place = locate(state, 0x100fc, 8);
    assert_true(place.is_known);
    assert_false(place.is_good);
    assert_false(place.is_freed);
    assert_int_equal(place.distance_bytes, 0);
}

static void byte_behind_the_end_is_at_distance_1(void **state) {
    const wpi_check_place place = locate(state, 0x10100, 4);
    assert_false(place.is_good);
    assert_int_equal(place.distance_bytes, 1);
    assert_u64(base_of(&place), 0x10000);
}

static void address_before_an_allocation_has_a_negative_distance(void **state) {
    const wpi_check_place place = locate(state, 0x2fffc, 4);
    assert_int_equal(place.distance_bytes, -4);
    assert_u64(base_of(&place), 0x30000);
    assert_false(place.is_freed);
}

static void address_in_freed_memory_is_told_as_freed(void **state) {
    const wpi_check_place place = locate(state, 0x20010, 4);
    assert_true(place.is_known && place.is_freed);
    assert_false(place.is_good);
    assert_int_equal(place.distance_bytes, 0);
    assert_u64(base_of(&place), 0x20000);
}

static void freed_allocation_counts_only_when_it_is_nearest(void **state) {
    const wpi_check_place near_freed = locate(state, 0x20050, 4),
                          near_live = locate(state, 0x12000, 4);
    assert_true(near_freed.is_freed);
    assert_int_equal(near_freed.distance_bytes, 0x11);
    assert_false(near_live.is_freed);
    assert_u64(base_of(&near_live), 0x10000);
}

static void nothing_is_near_when_there_is_nothing(void **state) {
    maps empty;
    (void)state;
    assert_int_equal(wpi_memory_map_create(&empty.live, NULL), WP_STATUS_OK);
    assert_int_equal(wpi_memory_map_create(&empty.freed, NULL), WP_STATUS_OK);
    const wpi_check_place place =
        wpi_check_locate(empty.live, empty.freed, (const void *)(uintptr_t)0x5000, 1);
    assert_false(place.is_known);
    assert_false(place.is_good);
    wpi_memory_map_destroy(empty.live);
    wpi_memory_map_destroy(empty.freed);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(access_inside_is_good),
        TEST(access_that_leaves_its_allocation_is_not_good),
        TEST(byte_behind_the_end_is_at_distance_1),
        TEST(address_before_an_allocation_has_a_negative_distance),
        TEST(address_in_freed_memory_is_told_as_freed),
        TEST(freed_allocation_counts_only_when_it_is_nearest),
        TEST(nothing_is_near_when_there_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/** The map of allocations: what lies where, what is nearest, overlaps; a random run against a list.
 */
#include "device/memory_map.h"

#include "wp_test.h"

static wpi_memory_map *map;

static int set_up(void **state) {
    (void)state;
    return wpi_memory_map_create(&map, NULL) == WP_STATUS_OK ? 0 : 1;
}

static int tear_down(void **state) {
    (void)state;
    wpi_memory_map_destroy(map);
    return 0;
}

static void *at(uintptr_t address) {
    return (void *)address;
}

static wpi_memory_entry entry_of(uintptr_t base, size_t size_bytes) {
    return (wpi_memory_entry){
        .allocation = {.base = at(base), .size_bytes = size_bytes, .kind = WP_MEMORY_DEVICE}};
}

static void add(uintptr_t base, size_t size_bytes) {
    wp_error err = {0};
    const wpi_memory_entry entry = entry_of(base, size_bytes);
    assert_status_ok(wpi_memory_map_add(map, &entry, &err), &err);
}

static void every_byte_inside_is_found_and_the_one_behind_is_not(void **state) {
    (void)state;
    wpi_memory_entry found;
    add(1000, 100);
    assert_true(wpi_memory_map_find(map, at(1000), &found));
    assert_true(wpi_memory_map_find(map, at(1099), &found));
    assert_ptr_equal(found.allocation.base, at(1000));
    assert_false(wpi_memory_map_find(map, at(999), &found));
    assert_false(wpi_memory_map_find(map, at(1100), &found));
}

static void overlapping_ranges_are_refused(void **state) {
    (void)state;
    wp_error err = {0};
    add(1000, 100);
    const wpi_memory_entry overlaps[] = {entry_of(950, 51), entry_of(1099, 1), entry_of(1010, 10),
                                         entry_of(900, 1000), entry_of(1000, 100)};
    for (size_t i = 0; i < 5; i++) {
        assert_status_fails(wpi_memory_map_add(map, &overlaps[i], &err), WP_STATUS_INVALID, &err,
                            "overlap the allocation of 100 bytes");
    }
    add(900, 100);
    add(1100, 1);
}

static void empty_and_endless_ranges_are_refused(void **state) {
    (void)state;
    wp_error err = {0};
    const wpi_memory_entry bad[] = {entry_of(1000, 0), entry_of(UINTPTR_MAX - 5, 10)};
    for (size_t i = 0; i < 2; i++) {
        assert_status_fails(wpi_memory_map_add(map, &bad[i], &err), WP_STATUS_INVALID, &err,
                            "not a valid range");
    }
}

static void removal_needs_the_base(void **state) {
    (void)state;
    wpi_memory_entry removed;
    add(1000, 100);
    assert_false(wpi_memory_map_remove(map, at(1001), NULL));
    assert_true(wpi_memory_map_remove(map, at(1000), &removed));
    assert_int_equal(removed.allocation.size_bytes, 100);
    assert_false(wpi_memory_map_find(map, at(1000), NULL));
}

static void the_nearest_range_and_its_distance_are_told(void **state) {
    (void)state;
    wpi_memory_entry near;
    int64_t distance_bytes;
    assert_false(wpi_memory_map_nearest(map, at(5), NULL, &near, &distance_bytes));
    add(1000, 100);
    add(2000, 100);
    const struct {
        uintptr_t address, base;
        int64_t distance_bytes;
    } cases[] = {{1050, 1000, 0},    {1100, 1000, 1},  {1500, 1000, 401},
                 {1900, 2000, -100}, {10, 1000, -990}, {2100, 2000, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(
            wpi_memory_map_nearest(map, at(cases[i].address), NULL, &near, &distance_bytes));
        assert_ptr_equal(near.allocation.base, at(cases[i].base));
        assert_int_equal(distance_bytes, cases[i].distance_bytes);
    }
}

static void nearest_can_be_asked_for_one_device(void **state) {
    (void)state;
    wpi_memory_entry near = entry_of(3000, 10);
    int64_t distance_bytes;
    int device;
    near.device = (const wp_device *)(const void *)&device;
    wp_error err = {0};
    add(1000, 100);
    add(2000, 100);
    assert_status_ok(wpi_memory_map_add(map, &near, &err), &err);
    assert_true(wpi_memory_map_nearest(map, at(1001), near.device, &near, &distance_bytes));
    assert_ptr_equal(near.allocation.base, at(3000));
    assert_int_equal(distance_bytes, -1999);
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Slots of 64 bytes; slot i is used when sizes[i] != 0. */
static void it_agrees_with_a_plain_table(void **state) {
    (void)state;
    enum { SLOTS = 300 };
    size_t sizes[SLOTS] = {0};
    uint64_t random = 0x9e3779b97f4a7c15u; /* fixed: the same run each time */
    for (int step = 0; step < 20000; step++) {
        const size_t slot = next_random(&random) % SLOTS;
        const uintptr_t base = 4096 + slot * 64;
        if (sizes[slot] == 0) {
            sizes[slot] = 1 + next_random(&random) % 64;
            add(base, sizes[slot]);
        } else if (next_random(&random) % 2 == 0) {
            assert_true(wpi_memory_map_remove(map, at(base), NULL));
            sizes[slot] = 0;
        }
        const uintptr_t address = 4096 + next_random(&random) % (SLOTS * 64);
        const size_t in = (address - 4096) / 64;
        assert_int_equal(wpi_memory_map_find(map, at(address), NULL),
                         (address - 4096) % 64 < sizes[in]);
    }
    wpi_memory_entry entry;
    const char *from = NULL;
    for (size_t slot = 0; slot < SLOTS; slot++) {
        if (sizes[slot] == 0) continue;
        assert_true(wpi_memory_map_next(map, from, &entry));
        assert_ptr_equal(entry.allocation.base, at(4096 + slot * 64));
        from = (const char *)entry.allocation.base + 1;
    }
    assert_false(wpi_memory_map_next(map, from, &entry));
}

int main(void) {
#define MAP_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        MAP_TEST(every_byte_inside_is_found_and_the_one_behind_is_not),
        MAP_TEST(overlapping_ranges_are_refused),
        MAP_TEST(empty_and_endless_ranges_are_refused),
        MAP_TEST(removal_needs_the_base),
        MAP_TEST(the_nearest_range_and_its_distance_are_told),
        MAP_TEST(nearest_can_be_asked_for_one_device),
        MAP_TEST(it_agrees_with_a_plain_table),
    };
    return wp_test_main(tests);
}

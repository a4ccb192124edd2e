/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/engine/statistics.h"

#include "sim/engine/reserve.h"
#include "sim/engine/slab.h"
#include "wp_random.h"
#include "wp_test.h"

static void histograms_count_by_powers_of_two(void **state) {
    (void)state;
    wpi_histogram h = {0};
    const uint64_t values[] = {0, 1, 2, 3, 4, 1023, 1024, UINT64_MAX};
    const uint32_t classes[] = {0, 1, 2, 2, 3, 10, 11, 64};
    for (size_t i = 0; i < 8; i++) {
        const uint64_t before = h.classes[classes[i]];
        wpi_histogram_add(&h, values[i]);
        assert_u64(h.classes[classes[i]], before + 1);
    }
    assert_u64(h.count, 8);
    assert_u64(h.max, UINT64_MAX);
}

static void utilisation_keeps_its_sum_however_long_the_run(void **state) {
    (void)state;
    static wpi_utilisation u;
    uint64_t random = 5, sum = 0, time = 0;
    wpi_utilisation_init(&u, 1000, 2);
    for (int i = 0; i < 20000; i++) {
        const uint64_t length = wp_random_next(&random) % 5000;
        wpi_utilisation_add(&u, time, time + length);
        sum += length;
        time += wp_random_next(&random) % 3000;
    }
    uint64_t busy = 0;
    for (uint32_t i = 0; i < u.slice_count; i++)
        busy += u.busy_ps[i];
    assert_u64(busy, sum);
    assert_true(u.slice_count <= WPI_UTILISATION_SLICES && u.slice_ps > 1000);
    assert_true(u.slice_count * u.slice_ps >= time);
}

static void a_busy_time_is_split_over_slices(void **state) {
    (void)state;
    static wpi_utilisation u;
    wpi_utilisation_init(&u, 1000, 1);
    wpi_utilisation_add(&u, 500, 2200);
    assert_u64(u.slice_count, 3);
    assert_u64(u.busy_ps[0], 500);
    assert_u64(u.busy_ps[1], 1000);
    assert_u64(u.busy_ps[2], 200);
}

static void a_bus_hands_out_turns_in_order(void **state) {
    (void)state;
    wpi_bus bus = {0};
    assert_u64(wpi_bus_take(&bus, 100, 10), 100);
    assert_u64(wpi_bus_take(&bus, 100, 10), 110);
    assert_u64(wpi_bus_take(&bus, 50, 10), 120);
    assert_u64(wpi_bus_take(&bus, 500, 10), 500);
}

static void ports_take_so_many_a_cycle(void **state) {
    (void)state;
    wpi_ports ports = {.cycle_ps = 1000, .count = 2};
    const wpi_time_ps expected[] = {5000, 5000, 6000, 6000, 7000};
    for (int i = 0; i < 5; i++)
        assert_u64(wpi_ports_take(&ports, 5000), expected[i]);
    assert_u64(wpi_ports_take(&ports, 20000), 20000);
}

static void slots_are_free_when_the_first_work_ends(void **state) {
    (void)state;
    wpi_slots slots;
    assert_true(wpi_slots_init(&slots, 3));
    const wpi_time_ps ends[] = {300, 100, 200};
    for (int i = 0; i < 3; i++) {
        assert_u64(wpi_slots_begin(&slots, 0), 0);
        wpi_slots_end(&slots, ends[i]);
    }
    assert_u64(wpi_slots_begin(&slots, 10), 100);
    wpi_slots_end(&slots, 150);
    assert_u64(wpi_slots_begin(&slots, 10), 150);
    wpi_slots_end(&slots, 1000);
    assert_u64(wpi_slots_begin(&slots, 400), 400);
    wpi_slots_deinit(&slots);
}

static void bytes_take_their_time_rounded_up(void **state) {
    (void)state;
    assert_u64(wpi_bytes_ps(32, 32000000000), 1000);
    assert_u64(wpi_bytes_ps(32, 22875000000), 1399);
    assert_u64(wpi_bytes_ps(1, 3), 333333333334);
    assert_u64(wpi_bytes_ps((uint64_t)1 << 40, 1 << 20), ((uint64_t)1 << 20) * WP_PS_PER_S);
}

static void a_pool_keeps_items_while_it_grows(void **state) {
    (void)state;
    wpi_pool pool = {0};
    uint64_t numbers[1000];
    for (uint64_t i = 0; i < 1000; i++) {
        numbers[i] = wpi_pool_take(&pool, 64);
        assert_u64((uintptr_t)pool.items % 64, 0);
        ((uint64_t(*)[8])pool.items)[numbers[i]][0] = i;
    }
    for (uint64_t i = 0; i < 1000; i++)
        assert_u64(((uint64_t(*)[8])pool.items)[numbers[i]][0], i);
    wpi_pool_give(&pool, 5);
    assert_u64(wpi_pool_take(&pool, 64), 5);
    wpi_pool_deinit(&pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(histograms_count_by_powers_of_two),
        cmocka_unit_test(utilisation_keeps_its_sum_however_long_the_run),
        cmocka_unit_test(a_busy_time_is_split_over_slices),
        cmocka_unit_test(a_bus_hands_out_turns_in_order),
        cmocka_unit_test(ports_take_so_many_a_cycle),
        cmocka_unit_test(slots_are_free_when_the_first_work_ends),
        cmocka_unit_test(bytes_take_their_time_rounded_up),
        cmocka_unit_test(a_pool_keeps_items_while_it_grows),
    };
    return wp_test_main(tests);
}

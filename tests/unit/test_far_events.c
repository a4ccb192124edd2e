/* SPDX-License-Identifier: Apache-2.0 */
/* Events beyond the wheels of the engine, and the places of a wheel that are not empty. */
#include "sim/engine/far_events.h"

#include "base/alloc.h"
#include "sim/engine/place_set.h"
#include "wp_random.h"
#include "wp_test.h"

static void events_leave_by_time_and_then_by_age(void **state) {
    (void)state;
    enum { COUNT = 5000, TIMES = 97 };
    uint64_t seed = 20;
    wpi_far_events far = {0};
    for (uint32_t i = 0; i < COUNT; i++)
        wpi_far_events_add(&far, wp_random_next(&seed) % TIMES, i);
    wpi_far_event last = {0};
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_u64(far.count, COUNT - i);
        const wpi_far_event e = wpi_far_events_take(&far);
        assert_true(i == 0 || e.time > last.time || (e.time == last.time && e.event > last.event));
        last = e;
    }
    wpi_free(far.items);
}

static void the_next_place_is_found_around_the_end(void **state) {
    (void)state;
    wpi_place_set *places = wpi_calloc(1, sizeof *places);
    assert_non_null(places);
    assert_u64(wpi_place_set_next(places, 77), WPI_NO_PLACE);
    static const uint32_t at[] = {3, 64, 4095, 4096, WPI_PLACES_MAX - 1};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        wpi_place_set_add(places, at[i]);
    assert_u64(wpi_place_set_next(places, 0), 3);
    assert_u64(wpi_place_set_next(places, 4), 64);
    assert_u64(wpi_place_set_next(places, 65), 4095);
    assert_u64(wpi_place_set_next(places, 4096), 4096);
    assert_u64(wpi_place_set_next(places, 4097), WPI_PLACES_MAX - 1);
    wpi_place_set_remove(places, WPI_PLACES_MAX - 1);
    assert_false(wpi_place_set_has(places, WPI_PLACES_MAX - 1));
    assert_true(wpi_place_set_has(places, 4095));
    assert_u64(wpi_place_set_next(places, 4097), 3);
    wpi_free(places);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_leave_by_time_and_then_by_age),
        cmocka_unit_test(the_next_place_is_found_around_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

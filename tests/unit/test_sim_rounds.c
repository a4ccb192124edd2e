/* SPDX-License-Identifier: Apache-2.0 */
/** Rounds of loops that wait: idle if way, addresses and values are those of the round before. */
#include "device/sim/spin_rounds.h"

#include "wp_test.h"

static const wp_trace_site sites[] = {{.access = WP_TRACE_LOAD, .size_bytes = 4},
                                      {.access = WP_TRACE_STORE, .size_bytes = 4},
                                      {.access = WP_TRACE_ATOMIC, .size_bytes = 4},
                                      {.access = WP_TRACE_REDUCE, .size_bytes = 4}};
static const wp_trace_step steps[] = {{.op = WP_TRACE_ACCESS, .value = 0},
                                      {.op = WP_TRACE_ACCESS, .value = 1},
                                      {.op = WP_TRACE_ACCESS, .value = 2},
                                      {.op = WP_TRACE_ACCESS, .value = 3}};
static const wp_trace_block blocks[] = {{.step_count = 1, .access_count = 1},
                                        {.step_count = 0},
                                        {.first_step = 1, .step_count = 1, .access_count = 1},
                                        {.first_step = 2, .step_count = 1, .access_count = 1},
                                        {.first_step = 3, .step_count = 1, .access_count = 1}};
static const wp_trace_tables tables = {.block_count = 5,
                                       .step_count = 4,
                                       .site_count = 4,
                                       .blocks = blocks,
                                       .steps = steps,
                                       .sites = sites};

static int32_t flag, other;
static wpi_spin_round lanes[32];

static int set_up(void **state) {
    (void)state;
    memset(lanes, 0, sizeof lanes);
    flag = other = 0;
    return 0;
}

/* Lanes of `mask` read *place and come round. */
static bool turn(uint32_t mask, const int32_t *place) {
    uint64_t addresses[32];
    for (int i = 0; i < 32; i++)
        addresses[i] = (uintptr_t)place;
    wpi_spin_round_add(lanes, mask, &tables, 0, 1, addresses);
    return wpi_spin_round_end(lanes, mask);
}

static void the_same_again_is_idle(void **state) {
    (void)state;
    assert_false(turn(3, &flag));
    assert_true(turn(3, &flag));
    assert_true(turn(3, &flag));
    assert_true(turn(1, &flag)); /* lanes count by themselves */
}

static void a_changed_value_is_progress(void **state) {
    (void)state;
    (void)turn(1, &flag);
    flag = 1;
    assert_false(turn(1, &flag));
    assert_true(turn(1, &flag));
}

static void another_place_is_progress(void **state) {
    (void)state;
    (void)turn(1, &flag);
    assert_false(turn(1, &other));
    assert_true(turn(1, &other));
}

static void another_way_is_progress(void **state) {
    (void)state;
    (void)turn(1, &flag);
    wpi_spin_round_add(lanes, 1, &tables, 1, 0, NULL);
    assert_false(turn(1, &flag));
    assert_false(turn(1, &flag));
    assert_true(turn(1, &flag));
}

static void one_lane_that_gets_on_is_progress(void **state) {
    (void)state;
    (void)turn(3, &flag);
    wpi_spin_round_add(lanes, 2, &tables, 1, 0, NULL);
    assert_false(turn(3, &flag));
}

static void stores_are_progress(void **state) {
    (void)state;
    uint64_t addresses[32] = {(uintptr_t)&flag};
    const bool stores[] = {false, false, true, false,
                           true}; /* load, nothing, store, atomic, reduction */
    for (uint32_t block = 0; block < 5; block++)
        assert_int_equal(wpi_spin_round_add(lanes, 1, &tables, block, block != 1, addresses),
                         stores[block]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_same_again_is_idle, set_up),
        cmocka_unit_test_setup(a_changed_value_is_progress, set_up),
        cmocka_unit_test_setup(another_place_is_progress, set_up),
        cmocka_unit_test_setup(another_way_is_progress, set_up),
        cmocka_unit_test_setup(stores_are_progress, set_up),
        cmocka_unit_test_setup(one_lane_that_gets_on_is_progress, set_up),
    };
    return wp_test_main(tests);
}

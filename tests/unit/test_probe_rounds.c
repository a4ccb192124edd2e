/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/measure/timed_rounds.h"

#include "wp_test.h"

static void a_round_that_was_disturbed_moves_the_mean_only(void **state) {
    (void)state;
    double cycles[] = {1010, 1010, 1010, 9010, 1010};
    wpi_timing timing;
    wpi_rounds_sum_up(cycles, 5, 10, 10, &timing);
    assert_within(timing.median_cycles, 100, 1e-9);
    assert_within(timing.mean_cycles, 260, 1e-9);
    assert_within(timing.spread_cycles, 0, 1e-9);
    assert_int_equal(timing.rounds, 5);
}

static void the_spread_is_that_of_a_normal_distribution(void **state) {
    (void)state;
    double cycles[] = {98, 99, 100, 101, 102};
    wpi_timing timing;
    wpi_rounds_sum_up(cycles, 5, 1, 0, &timing);
    assert_within(timing.spread_cycles, 1.4826, 1e-9);
    double even[] = {4, 1, 2, 3};
    wpi_rounds_sum_up(even, 4, 1, 0, &timing);
    assert_within(timing.median_cycles, 2.5, 1e-9);
}

static void a_shuffle_is_a_permutation_that_its_seed_decides(void **state) {
    (void)state;
    enum { COUNT = 1000 };
    uint32_t a[COUNT], b[COUNT], seen[COUNT] = {0}, fixed = 0;
    wpi_rounds_shuffle(a, COUNT, 7);
    wpi_rounds_shuffle(b, COUNT, 7);
    assert_memory_equal(a, b, sizeof a);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(a[i] < COUNT);
        seen[a[i]]++;
        fixed += a[i] == i;
    }
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(seen[i], 1);
    assert_true(fixed < 10); /* one is expected */
    wpi_rounds_shuffle(b, COUNT, 8);
    assert_memory_not_equal(a, b, sizeof a);
}

static void halves_are_first_ones_then_second_ones(void **state) {
    (void)state;
    uint32_t even[6] = {0, 1, 2}, odd[5] = {2, 0, 1};
    const uint32_t even_halved[] = {0, 2, 4, 1, 3, 5}, odd_halved[] = {4, 0, 2, 1, 3};
    wpi_rounds_halve(even, 6);
    wpi_rounds_halve(odd, 5);
    assert_memory_equal(even, even_halved, sizeof even);
    assert_memory_equal(odd, odd_halved, sizeof odd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_that_was_disturbed_moves_the_mean_only),
        cmocka_unit_test(the_spread_is_that_of_a_normal_distribution),
        cmocka_unit_test(a_shuffle_is_a_permutation_that_its_seed_decides),
        cmocka_unit_test(halves_are_first_ones_then_second_ones),
    };
    return wp_test_main(tests);
}

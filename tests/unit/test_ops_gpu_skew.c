/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/groupby_gpu/gpu_skew.h"

#include "wp_random.h"
#include "wp_test.h"

#define ROWS 400000u
#define AT_ONCE 26000u

static uint32_t keys[ROWS];
static uint64_t buffer[WPI_GPU_SKEW_ROWS];

static wpi_gpu_skew skew_of(uint32_t count) {
    return wpi_gpu_skew_of(keys, sizeof *keys, count, AT_ONCE, buffer);
}

static void different_keys_have_none(void **state) {
    (void)state;
    for (uint32_t i = 0; i < ROWS; i++)
        keys[i] = i * 2654435761u;
    const wpi_gpu_skew s = skew_of(ROWS);
    assert_true(s.hot_share == 0 && s.hottest_share < 0.01);
    assert_near(s.warp_share, 1.0 / 32, 0.001);
}

static void one_key_has_all(void **state) {
    (void)state;
    memset(keys, 7, sizeof keys);
    for (uint32_t count = 32; count <= ROWS; count = count * 5 + 1) {
        const wpi_gpu_skew s = skew_of(count);
        assert_true(s.hot_share == 1 && s.hottest_share == 1 && s.warp_share == 1);
    }
}

static void a_hot_key_has_its_share(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (uint32_t i = 0; i < ROWS; i++)
        keys[i] = wp_random_next(&seed) % 10 < 4 ? 5 : (uint32_t)wp_random_next(&seed);
    const wpi_gpu_skew s = skew_of(ROWS);
    assert_near(s.hot_share, 0.4, 0.1);
    assert_near(s.hottest_share, 0.4, 0.1);
    assert_near(s.warp_share, 0.4, 0.1);
}

/* In order of keys: a warp sees one, the rows under way see several. */
static void runs_are_hot_in_a_warp_only(void **state) {
    (void)state;
    for (uint32_t i = 0; i < ROWS; i++)
        keys[i] = i / 2600;
    const wpi_gpu_skew s = skew_of(ROWS);
    assert_true(s.warp_share > 0.95);
    assert_true(s.hottest_share > 0.05 && s.hottest_share < 0.2);
}

static void too_few_rows_have_none(void **state) {
    (void)state;
    memset(keys, 7, sizeof keys);
    assert_true(skew_of(0).hottest_share == 0 && skew_of(31).hottest_share == 0);
}

static void words_of_eight_bytes_are_keys_too(void **state) {
    (void)state;
    static uint64_t wide[256];
    for (uint32_t i = 0; i < 256; i++)
        wide[i] = (uint64_t)(i % 2) << 40;
    const wpi_gpu_skew s = wpi_gpu_skew_of(wide, sizeof *wide, 256, AT_ONCE, buffer);
    assert_true(s.warp_share == 0.5 && s.hottest_share == 0.5 && s.hot_share == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(different_keys_have_none),
        cmocka_unit_test(one_key_has_all),
        cmocka_unit_test(a_hot_key_has_its_share),
        cmocka_unit_test(runs_are_hot_in_a_warp_only),
        cmocka_unit_test(too_few_rows_have_none),
        cmocka_unit_test(words_of_eight_bytes_are_keys_too),
    };
    return wp_test_main(tests);
}

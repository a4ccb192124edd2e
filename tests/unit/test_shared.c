/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sm/shared_banks.h"

#include "sim/sm/warp_source.h"
#include "wp_random.h"
#include "wp_test.h"

static const wpi_shared four = {32, 4}, eight = {32, 8};

static uint32_t strided(const wpi_shared *shared, uint32_t mask, uint64_t stride, uint32_t size,
                        bool is_atomic) {
    uint64_t addresses[WPI_LANES];
    for (uint32_t i = 0; i < WPI_LANES; i++)
        addresses[i] = 0x1000 + i * stride;
    return wpi_shared_cycles(shared, mask, addresses, size, is_atomic);
}

static void a_stride_of_words_conflicts_by_its_power_of_two(void **state) {
    (void)state;
    for (uint32_t words = 1; words <= 64; words++) {
        uint32_t expected = words & -words;
        if (expected > 32) expected = 32;
        assert_u64(strided(&four, UINT32_MAX, 4 * words, 4, false), expected);
    }
}

static void one_word_is_broadcast_but_not_to_atomics(void **state) {
    (void)state;
    assert_u64(strided(&four, UINT32_MAX, 0, 4, false), 1);
    assert_u64(strided(&four, UINT32_MAX, 1, 1, false), 1);
    assert_u64(strided(&four, UINT32_MAX, 0, 4, true), 32);
    assert_u64(strided(&four, UINT32_MAX, 4, 4, true), 1);
    assert_u64(strided(&four, 0x80000001, 0, 4, true), 2);
}

static void wide_lanes_take_turns(void **state) {
    (void)state;
    assert_u64(strided(&four, UINT32_MAX, 8, 8, false), 2);
    assert_u64(strided(&four, UINT32_MAX, 16, 16, false), 4);
    assert_u64(strided(&four, 0xffff, 8, 8, false), 1);
    assert_u64(strided(&four, 0xff000000, 16, 16, false), 1);
    assert_u64(strided(&eight, UINT32_MAX, 8, 8, false), 1);
    assert_u64(strided(&eight, UINT32_MAX, 4, 4, false), 1);
    assert_u64(strided(&eight, UINT32_MAX, 16, 16, false), 2);
}

/* By the definition: the most distinct words that any bank has to give. */
static uint32_t by_definition(const uint64_t *addresses, uint32_t mask) {
    uint32_t most = 0;
    for (uint32_t bank = 0; bank < 32; bank++) {
        uint32_t words = 0;
        for (uint32_t i = 0; i < WPI_LANES; i++) {
            bool is_new = (mask >> i & 1) != 0 && addresses[i] / 4 % 32 == bank;
            for (uint32_t k = 0; k < i && is_new; k++)
                if ((mask >> k & 1) != 0 && addresses[k] / 4 == addresses[i] / 4) is_new = false;
            words += is_new;
        }
        if (words > most) most = words;
    }
    return most;
}

static void random_addresses_agree_with_the_definition(void **state) {
    (void)state;
    uint64_t random = 4711;
    for (int round = 0; round < 2000; round++) {
        uint64_t addresses[WPI_LANES];
        const uint32_t mask = (uint32_t)wp_random_next(&random) | 1;
        for (uint32_t i = 0; i < WPI_LANES; i++)
            addresses[i] = wp_random_next(&random) % 256 * 4;
        assert_u64(wpi_shared_cycles(&four, mask, addresses, 4, false),
                   by_definition(addresses, mask));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stride_of_words_conflicts_by_its_power_of_two),
        cmocka_unit_test(one_word_is_broadcast_but_not_to_atomics),
        cmocka_unit_test(wide_lanes_take_turns),
        cmocka_unit_test(random_addresses_agree_with_the_definition),
    };
    return wp_test_main(tests);
}

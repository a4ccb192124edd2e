/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sm/coalescer.h"

#include "wp_test.h"

static wpi_footprint of(uint32_t mask, uint64_t first, uint64_t stride, uint8_t size,
                        uint8_t kind) {
    uint64_t addresses[WPI_LANES];
    for (uint32_t i = 0; i < WPI_LANES; i++)
        addresses[i] = first + i * stride;
    const wpi_access access = {
        .kind = kind, .size_bytes = size, .mask = mask, .addresses = addresses};
    wpi_footprint out;
    wpi_coalesce(&access, 12, &out);
    return out;
}

static void neighbouring_words_are_one_line(void **state) {
    (void)state;
    const wpi_footprint f = of(UINT32_MAX, 0x1000, 4, 4, WP_TRACE_LOAD);
    assert_u64(f.line_count, 1);
    assert_u64(f.page_count, 1);
    assert_u64(f.lines[0].line, 0x1000 / 128);
    assert_u64(f.lines[0].sectors, 0xf);
    assert_u64(f.pages[0], 1);
}

static void a_shifted_warp_touches_five_sectors(void **state) {
    (void)state;
    const wpi_footprint f = of(UINT32_MAX, 0x1010, 4, 4, WP_TRACE_LOAD);
    assert_u64(f.line_count, 2);
    assert_u64(f.lines[0].sectors, 0xf);
    assert_u64(f.lines[1].sectors, 0x1);
}

static void lanes_that_are_off_touch_nothing(void **state) {
    (void)state;
    const wpi_footprint f = of(0x00000100, 0x1000, 4096, 4, WP_TRACE_LOAD);
    assert_u64(f.line_count, 1);
    assert_u64(f.pages[0], 9);
}

static void divergent_lanes_have_a_line_and_a_page_each(void **state) {
    (void)state;
    const wpi_footprint f = of(UINT32_MAX, 0, 8192, 8, WP_TRACE_LOAD);
    assert_u64(f.line_count, 32);
    assert_u64(f.page_count, 32);
    for (uint32_t i = 0; i < 32; i++) {
        assert_u64(f.lines[i].page, i); /* in order of the lanes */
        assert_u64(f.lines[i].sectors, 1);
        assert_u64(f.pages[i], 2 * i);
    }
}

static void a_lane_across_a_sector_touches_both(void **state) {
    (void)state;
    const wpi_footprint f = of(1, 0x107e, 0, 4, WP_TRACE_LOAD);
    assert_u64(f.line_count, 2);
    assert_u64(f.lines[0].sectors, 0x8);
    assert_u64(f.lines[1].sectors, 0x1);
}

static void atomics_take_turns_on_an_address_and_on_sectors(void **state) {
    (void)state;
    assert_u64(of(UINT32_MAX, 0x1000, 0, 4, WP_TRACE_ATOMIC).lines[0].turns, 32);
    assert_u64(of(0xff, 0x1000, 0, 4, WP_TRACE_REDUCE).lines[0].turns, 8);
    /* Different words of a sector go together; four sectors. */
    assert_u64(of(UINT32_MAX, 0x1000, 4, 4, WP_TRACE_ATOMIC).lines[0].turns, 4);
    assert_u64(of(UINT32_MAX, 0x1000, 0, 4, WP_TRACE_LOAD).lines[0].turns, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbouring_words_are_one_line),
        cmocka_unit_test(a_shifted_warp_touches_five_sectors),
        cmocka_unit_test(lanes_that_are_off_touch_nothing),
        cmocka_unit_test(divergent_lanes_have_a_line_and_a_page_each),
        cmocka_unit_test(a_lane_across_a_sector_touches_both),
        cmocka_unit_test(atomics_take_turns_on_an_address_and_on_sectors),
    };
    return wp_test_main(tests);
}

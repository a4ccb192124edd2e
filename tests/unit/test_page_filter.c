/* SPDX-License-Identifier: Apache-2.0 */
/* What a filter says of pages, against who has them. */
#include "sim/tlb/page_filter.h"

#include "wp_random.h"
#include "wp_test.h"

#define TLBS 5u
#define PAGES (8u << WPI_PAGE_FILTER_BITS) /* many of each hash */
#define HELD 2000u

static void no_is_certain(void **state) {
    (void)state;
    static wpi_page_filter filter;
    static uint8_t held[PAGES]; /* a bit a TLB */
    uint64_t random = 1;
    for (uint32_t i = 0; i < 20 * HELD; i++) {
        const uint32_t page = (uint32_t)(wp_random_next(&random) % HELD) * (PAGES / HELD);
        const uint32_t tlb = (uint32_t)(wp_random_next(&random) % TLBS);
        if ((held[page] >> tlb & 1) == 0)
            wpi_page_filter_add(&filter, page, tlb);
        else
            wpi_page_filter_remove(&filter, page, tlb);
        held[page] ^= (uint8_t)(1u << tlb);
    }
    uint32_t nobody = 0, only = 0;
    for (uint32_t page = 0; page < PAGES; page++) {
        const uint32_t count = wpi_page_filter_count(&filter, page);
        assert_true(count >= (uint32_t)__builtin_popcount(held[page]));
        nobody += count == 0;
        if (count != 1) continue;
        assert_int_equal(held[page] & ~(1u << wpi_page_filter_one(&filter, page)), 0);
        only++;
    }
    assert_true(nobody > 0 && only > 0); /* or nothing was tested */
    wpi_page_filter_clear(&filter);
    assert_int_equal(wpi_page_filter_count(&filter, 0), 0);
}

static void who_leaves_last_leaves_nothing(void **state) {
    (void)state;
    static wpi_page_filter filter;
    for (uint32_t tlb = 0; tlb < TLBS; tlb++)
        wpi_page_filter_add(&filter, 7, tlb);
    assert_int_equal(wpi_page_filter_count(&filter, 7), TLBS);
    for (uint32_t tlb = 0; tlb + 1 < TLBS; tlb++)
        wpi_page_filter_remove(&filter, 7, tlb);
    assert_int_equal(wpi_page_filter_one(&filter, 7), TLBS - 1);
    wpi_page_filter_remove(&filter, 7, TLBS - 1);
    assert_true(filter.slots[wpi_page_filter_slot(7)] == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_is_certain),
        cmocka_unit_test(who_leaves_last_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

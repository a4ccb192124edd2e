/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/paging/page_number.h"

#include "wp_random.h"
#include "wp_test.h"

#define FIRST ((uint64_t)3 << 40)

static void an_address_has_a_page_a_block_and_a_chunk(void **state) {
    uint64_t random = 99;
    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        const uint64_t offset = wp_random_next(&random) >> 16; /* below 256 TiB */
        const wpi_page_number page = wpi_page_at(FIRST, FIRST + offset);
        assert_u64(page.v, offset >> 12);
        assert_u64(wpi_page_block(page).v, offset >> 16);
        assert_u64(wpi_page_chunk(page).v, offset >> 21);
        assert_u64(wpi_chunk_at(FIRST, FIRST + offset).v, offset >> 21);
        assert_u64(wpi_block_chunk(wpi_page_block(page)).v, offset >> 21);
        assert_u64(wpi_page_address(FIRST, page), FIRST + (offset & ~(uint64_t)0xfff));
        assert_u64(wpi_chunk_address(FIRST, wpi_page_chunk(page)),
                   FIRST + (offset & ~(uint64_t)0x1fffff));
    }
}

static void an_index_leads_back_to_the_number(void **state) {
    uint64_t random = 100;
    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        const wpi_page_number page = {wp_random_next(&random) >> 28};
        const wpi_block_number block = wpi_page_block(page);
        assert_true(wpi_page_index(page) < WPI_CHUNK_PAGES);
        assert_u64(wpi_page_index(page) / WPI_BLOCK_PAGES, wpi_block_index(block));
        assert_u64(wpi_page_in(wpi_page_chunk(page), wpi_page_index(page)).v, page.v);
        assert_u64(wpi_block_in(wpi_page_chunk(page), wpi_block_index(block)).v, block.v);
    }
}

static void a_run_is_the_set_of_its_pages(void **state) {
    (void)state;
    const wpi_page_run run = wpi_run_of((wpi_chunk_number){7}, 60, 512);
    const wpi_pages pages = wpi_run_pages(run);
    assert_u64(run.chunk.v, 7);
    assert_u64(wpi_run_page_count(run), 452);
    assert_u64(wpi_pages_count(&pages), 452);
    assert_u64(wpi_pages_next(&pages, 0), 60);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_has_a_page_a_block_and_a_chunk),
        cmocka_unit_test(an_index_leads_back_to_the_number),
        cmocka_unit_test(a_run_is_the_set_of_its_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

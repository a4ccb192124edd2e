/* SPDX-License-Identifier: Apache-2.0 */
/* Coding of warps and tables: what goes in comes out; what was never written is refused. */
#include "base/alloc.h"
#include "trace/trace_tables.h"
#include "trace/warp_code.h"
#include "trace_program.h"
#include "wp_test.h"

static uint8_t coded[4u << 20];

static void numbers_come_back(void **state) {
    (void)state;
    const uint64_t values[] = {0, 1, 127, 128, 1u << 14, UINT32_MAX, 1ull << 63, UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        wpi_cursor from = {.at = coded, .outer = wpi_varint_put(coded, values[i])};
        assert_u64(wpi_cursor_varint(&from), values[i]);
        assert_true(wpi_cursor_is_at_end(&from));
        assert_u64(wpi_unzigzag(wpi_zigzag(values[i])), values[i]);
    }
    assert_u64(wpi_zigzag(0 - (uint64_t)3), 5);
}

static void a_number_that_was_cut_is_bad(void **state) {
    (void)state;
    uint8_t *outer = wpi_varint_put(coded, UINT64_MAX);
    wpi_cursor from = {.at = coded, .outer = outer - 1};
    assert_u64(wpi_cursor_varint(&from), 0);
    assert_true(from.is_bad);
}

/* Everything that a warp of the program does, coded, then decoded beside a second run. */
static void walk_and_compare(uint64_t seed) {
    static program_source out, in;
    uint32_t slot;
    wpi_windows windows;
    wpi_warp_block block, back;
    wpi_warp_code code = {0};
    uint8_t *outer = coded;
    program_init(&out, seed, 1, 500);
    (void)program_start(&out.base, 0, 0, &slot, &windows, NULL);
    while (program_next(&out.base, 0, 1, 0, &block) == WPI_SOURCE_BLOCK)
        outer = wpi_warp_encode_block(&code, &program_tables, &block, outer);

    wpi_cursor from = {.at = coded, .outer = outer};
    uint64_t addresses[WP_TRACE_BLOCK_WORDS_MAX * WPI_LANES];
    code = (wpi_warp_code){0};
    program_init(&in, seed, 1, 500);
    (void)program_start(&in.base, 0, 0, &slot, &windows, NULL);
    while (program_next(&in.base, 0, 1, 0, &block) == WPI_SOURCE_BLOCK) {
        assert_int_equal(
            wpi_warp_decode(&code, &program_tables, &from, &back.block, &back.mask, addresses),
            WPI_WARP_BLOCK);
        assert_int_equal(back.block, block.block);
        assert_int_equal(back.mask, block.mask);
        const uint32_t count = program_blocks[block.block].access_count;
        for (uint32_t i = 0; i < count * WPI_LANES; i++) {
            if ((block.mask >> i % WPI_LANES & 1u) != 0)
                assert_u64(addresses[i], block.addresses[i]);
        }
    }
    assert_true(wpi_cursor_is_at_end(&from));
}

static void what_warps_do_comes_back(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++)
        walk_and_compare(seed);
}

static void two_rows_of_words_take_five_bytes(void **state) {
    (void)state;
    uint64_t addresses[2 * WPI_LANES];
    wpi_warp_code code = {0};
    wpi_warp_block block = {.block = 0, .mask = ~0u, .addresses = addresses};
    size_t bytes = 0;
    for (uint64_t turn = 0; turn < 10; turn++) {
        for (uint64_t lane = 0; lane < WPI_LANES; lane++) {
            addresses[lane] = 0x7f0012345000 + turn * 4096 + lane * 4;
            addresses[WPI_LANES + lane] = WPI_LANES * 4 + lane * 4;
        }
        bytes = (size_t)(wpi_warp_encode_block(&code, &program_tables, &block, coded) - coded);
    }
    /* The head; a tag and 2 for a row 4096 bytes further (zigzag: 14 bits, 4 in the tag, then 10 =
     * 2 bytes); 1 for a row at the same place. */
    assert_u64(bytes, 1 + 3 + 1);
}

static void bytes_that_are_no_warp_are_refused(void **state) {
    (void)state;
    uint64_t random = 12345, addresses[WP_TRACE_BLOCK_WORDS_MAX * WPI_LANES];
    for (int round = 0; round < 20000; round++) {
        uint32_t block, mask;
        for (int i = 0; i < 64; i++)
            coded[i] = (uint8_t)(wp_random_next(&random) & (round % 2 != 0 ? 0xff : 0x0f));
        wpi_warp_code code = {0};
        wpi_cursor from = {.at = coded, .outer = coded + wp_random_next(&random) % 64};
        while (from.at != from.outer) {
            const wpi_warp_entry entry =
                wpi_warp_decode(&code, &program_tables, &from, &block, &mask, addresses);
            if (entry == WPI_WARP_BAD) break;
            if (entry == WPI_WARP_BLOCK) assert_true(block < 3 && mask != 0);
        }
    }
}

/* ---- tables --------------------------------------------------------------------------------- */

static void tables_come_back(void **state) {
    (void)state;
    wpi_text text = {0};
    wpi_tables back;
    wp_error err = {0};
    wpi_tables_append(&text, &program_tables);
    assert_status_ok(wpi_tables_parse(text.data, text.length, "here", &back, &err), &err);
    const wp_trace_tables *t = &back.tables;
    assert_int_equal(t->block_count, 3);
    assert_memory_equal(t->blocks, program_blocks, sizeof program_blocks);
    assert_memory_equal(t->steps, program_steps, sizeof program_steps);
    assert_string_equal(t->sites[1].name, "tile");
    assert_null(t->sites[2].file);
    assert_int_equal(t->sites[1].parameter, -1);
    assert_int_equal(t->sites[2].size_bytes, 8);
    assert_string_equal(t->kernels[1].name, "spin");
    assert_int_equal(t->kernels[1].flags, WP_TRACE_KERNEL_SPINS);
    assert_string_equal(t->functions[0], "walk");
    assert_memory_equal(t->shares, program_shares, sizeof program_shares);
    assert_string_equal(t->places[1].file, "app.cuh");
    assert_string_equal(t->places[1].calls, "app.cu:10, app.cu:4");
    assert_null(t->places[0].calls);
    assert_int_equal(t->places[1].line, 3);
    assert_int_equal(t->sites[1].place, 1);
    wpi_text again = {0};
    wpi_tables_append(&again, t);
    assert_int_equal(again.length, text.length);
    assert_memory_equal(again.data, text.data, text.length);
    wpi_tables_deinit(&back);
    wpi_text_deinit(&text);
    wpi_text_deinit(&again);
}

static void tables_that_were_cut_or_changed_are_refused_or_sound(void **state) {
    (void)state;
    wpi_text text = {0};
    wpi_tables_append(&text, &program_tables);
    for (size_t at = 0; at < text.length; at++) {
        for (int value = 0; value < 256; value += 5) {
            wpi_tables back;
            wp_error err = {0};
            const char kept = text.data[at];
            text.data[at] = (char)value;
            if (wpi_tables_parse(text.data, text.length, "here", &back, &err) == WP_STATUS_OK) {
                assert_null(wpi_tables_find_fault(&back.tables));
            } else {
                assert_contains(err.message, "here: ");
            }
            wpi_tables_deinit(&back);
            text.data[at] = kept;
        }
        wpi_tables back;
        wp_error err = {0};
        assert_status_fails(wpi_tables_parse(text.data, at, "here", &back, &err), WP_STATUS_PARSE,
                            &err, "damaged");
    }
    wpi_text_deinit(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_back),
        cmocka_unit_test(a_number_that_was_cut_is_bad),
        cmocka_unit_test(what_warps_do_comes_back),
        cmocka_unit_test(two_rows_of_words_take_five_bytes),
        cmocka_unit_test(bytes_that_are_no_warp_are_refused),
        cmocka_unit_test(tables_come_back),
        cmocka_unit_test(tables_that_were_cut_or_changed_are_refused_or_sound),
    };
    return wp_test_main(tests);
}

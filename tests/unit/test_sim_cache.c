/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/memory/sector_cache.h"

#include "wp_test.h"

static wpi_cache cache;

/* `sets` sets of two lines. */
static void open_cache(uint32_t sets) {
    wp_error err = {0};
    const wpi_cache_profile profile = {
        .bytes = (uint64_t)sets * 2 * WPI_LINE_BYTES, .ways = 2, .slices = 1};
    assert_status_ok(wpi_cache_init(&cache, &profile, &err), &err);
}

static wpi_cache_answer load(uint64_t line, uint8_t sectors, wpi_time_ps now) {
    wpi_cache_answer out;
    wpi_cache_load(&cache, line, sectors, now, &out);
    return out;
}

static wpi_cache_answer store(wpi_write policy, uint64_t line, uint8_t sectors, wpi_time_ps now) {
    wpi_cache_answer out;
    wpi_cache_store(&cache, policy, line, sectors, now, &out);
    return out;
}

static void sectors_are_missed_one_by_one(void **state) {
    (void)state;
    open_cache(1);
    wpi_cache_answer a = load(7, 0x3, 0);
    assert_u64(a.missing, 0x3);
    wpi_cache_expect(&cache, a.place, 100);
    a = load(7, 0x5, 50);
    assert_u64(a.pending, 0x1);
    assert_u64(a.ready, 100);
    assert_u64(a.missing, 0x4);
    wpi_cache_expect(&cache, a.place, 150);
    a = load(7, 0xf, 150);
    assert_u64(a.valid, 0x7);
    assert_u64(a.missing, 0x8);
    assert_u64(cache.sector_hits, 3);
    assert_u64(cache.sector_merges, 1);
    assert_u64(cache.sector_misses, 4);
    wpi_cache_deinit(&cache);
}

static void the_least_recently_used_line_leaves(void **state) {
    (void)state;
    open_cache(1);
    for (uint64_t line = 0; line < 2; line++)
        wpi_cache_expect(&cache, load(line, 1, 0).place, 10);
    (void)load(0, 1, 20);
    const wpi_cache_answer a = load(2, 1, 30);
    assert_u64(a.evicted_line, 1);
    assert_u64(a.evicted_dirty, 0);
    assert_u64(wpi_cache_peek(&cache, 0, 30), 1);
    assert_u64(wpi_cache_peek(&cache, 1, 30), 0);
    wpi_cache_deinit(&cache);
}

static void pending_lines_stay_and_block_others(void **state) {
    (void)state;
    open_cache(1);
    wpi_cache_expect(&cache, load(0, 1, 0).place, 300);
    wpi_cache_expect(&cache, load(1, 1, 0).place, 200);
    wpi_cache_answer a = load(2, 1, 100);
    assert_u64(a.place, WPI_CACHE_NO_PLACE);
    assert_u64(a.blocked_until, 200);
    a = load(2, 1, 200);
    assert_u64(a.evicted_line, 1);
    wpi_cache_deinit(&cache);
}

static void a_fill_without_a_known_time_ends_the_wait(void **state) {
    (void)state;
    open_cache(1);
    const wpi_cache_answer a = load(0, 0x3, 0);
    assert_u64(load(0, 0x1, 1000000).pending, 0x1);
    wpi_cache_fill(&cache, a.place, 0x3);
    assert_u64(load(0, 0x3, 1000000).valid, 0x3);
    wpi_cache_deinit(&cache);
}

static void written_back_lines_leave_with_their_dirty_sectors(void **state) {
    (void)state;
    open_cache(1);
    (void)store(WPI_WRITE_BACK, 0, 0x6, 0);
    assert_u64(load(0, 0x6, 0).valid, 0x6);
    (void)store(WPI_WRITE_BACK, 1, 0x1, 1);
    const wpi_cache_answer a = store(WPI_WRITE_BACK, 2, 0x1, 2);
    assert_u64(a.evicted_line, 0);
    assert_u64(a.evicted_dirty, 0x6);
    assert_u64(cache.dirty_evictions, 1);
    wpi_cache_deinit(&cache);
}

static void a_store_cleans_the_oldest_of_too_many_dirty_lines(void **state) {
    (void)state;
    wp_error err = {0};
    const wpi_cache_profile profile = {
        .bytes = 4 * WPI_LINE_BYTES, .ways = 4, .slices = 1, .dirty_percent = 50};
    assert_status_ok(wpi_cache_init(&cache, &profile, &err), &err);
    for (uint64_t line = 0; line < 2; line++)
        assert_u64(store(WPI_WRITE_BACK, line, 0x6, 0).evicted_dirty, 0);
    assert_u64(store(WPI_WRITE_BACK, 0, 0x1, 0).evicted_dirty, 0); /* no more lines */
    const wpi_cache_answer a = store(WPI_WRITE_BACK, 2, 0x1, 0);
    assert_u64(a.evicted_line, 1);
    assert_u64(a.evicted_dirty, 0x6);
    assert_u64(wpi_cache_peek(&cache, 1, 0), 0x6);
    assert_u64(cache.evictions, 0);
    /* A dirty line that leaves makes room for another one. */
    wpi_cache_expect(&cache, load(3, 1, 0).place, 0);
    wpi_cache_expect(&cache, load(4, 1, 0).place, 0); /* evicts 1 */
    const wpi_cache_answer b = store(WPI_WRITE_BACK, 5, 0x1, 1);
    assert_u64(b.evicted_line, 0);
    assert_u64(b.evicted_dirty, 0x7);
    wpi_cache_deinit(&cache);
}

static void writing_through_keeps_and_evicting_drops_the_sector(void **state) {
    (void)state;
    open_cache(1);
    wpi_cache_expect(&cache, load(0, 0xf, 0).place, 10);
    assert_u64(store(WPI_WRITE_THROUGH, 0, 0x1, 20).valid, 0x1);
    assert_u64(wpi_cache_peek(&cache, 0, 20), 0xf);
    (void)store(WPI_WRITE_EVICT, 0, 0x1, 20);
    assert_u64(wpi_cache_peek(&cache, 0, 20), 0xe);
    /* A line that is not there is not made. */
    assert_u64(store(WPI_WRITE_THROUGH, 5, 0x1, 20).place, WPI_CACHE_NO_PLACE);
    assert_u64(wpi_cache_peek(&cache, 5, 20), 0);
    wpi_cache_deinit(&cache);
}

static void invalidation_spares_what_is_dirty_or_pending(void **state) {
    (void)state;
    open_cache(2);
    wpi_cache_expect(&cache, load(0, 0x1, 0).place, 10);
    (void)store(WPI_WRITE_BACK, 1, 0x2, 0);
    const wpi_cache_answer pending = load(2, 0x1, 0);
    assert_u64(load(0, 1, 20).valid, 1);
    wpi_cache_invalidate(&cache);
    assert_u64(wpi_cache_peek(&cache, 0, 20), 0);
    assert_u64(wpi_cache_peek(&cache, 1, 20), 0x2);
    wpi_cache_fill(&cache, pending.place, 0x1);
    assert_u64(wpi_cache_peek(&cache, 2, 20), 0x1);
    wpi_cache_deinit(&cache);
}

static void lines_spread_over_slices(void **state) {
    (void)state;
    const uint64_t strides[] = {1, 2, 64, 128, 1024, 8192};
    const wpi_divider slices = wpi_divider_of(32);
    for (size_t i = 0; i < sizeof strides / sizeof strides[0]; i++) {
        uint32_t count[32] = {0};
        for (uint64_t k = 0; k < 3200; k++)
            count[wpi_cache_slice(WPI_HASH_XOR, &slices, k * strides[i])]++;
        for (uint32_t slice = 0; slice < 32; slice++)
            assert_in_range(count[slice], 50, 200); /* 100 are fair */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sectors_are_missed_one_by_one),
        cmocka_unit_test(the_least_recently_used_line_leaves),
        cmocka_unit_test(pending_lines_stay_and_block_others),
        cmocka_unit_test(a_fill_without_a_known_time_ends_the_wait),
        cmocka_unit_test(written_back_lines_leave_with_their_dirty_sectors),
        cmocka_unit_test(a_store_cleans_the_oldest_of_too_many_dirty_lines),
        cmocka_unit_test(writing_through_keeps_and_evicting_drops_the_sector),
        cmocka_unit_test(invalidation_spares_what_is_dirty_or_pending),
        cmocka_unit_test(lines_spread_over_slices),
    };
    return wp_test_main(tests);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The host waits for the device, and written pages go back (paging.synchronize), against counts and
 * times made by hand, and in the middle of random traffic. */
#include "sim_paging_bench.h"

static void touch(bench *b, uint64_t first, uint64_t bytes, bool is_write) {
    for (uint64_t at = first; at < first + bytes; at += WPI_PAGE_BYTES) {
        bench_issue(b, 0, 0, BENCH_FIRST + at, is_write, wpi_engine_now(b->engine));
        wpi_engine_run(b->engine);
    }
}

/* The host goes on when what goes back is there. */
static wpi_time_ps synchronize(bench *b) {
    const wpi_time_ps now = wpi_engine_now(b->engine);
    const wpi_time_ps done = wpi_paging_synchronize(b->paging, now);
    wpi_engine_run_until(b->engine, done);
    return done - now;
}

static void pages_stay_unless_told_otherwise(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 4 * MIB, "paging.prefetch=none");
    touch(&b, 0, MIB, true);
    assert_u64(synchronize(&b), 0);
    touch(&b, 0, MIB, true);
    assert_u64(bench_count_of(&b, "paging.far_faults"), 256);
    assert_u64(bench_count_of(&b, "paging.returned"), 0);
    bench_close(&b);
}

static void written_pages_go_back_and_clean_ones_stay(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 4 * MIB, "paging.prefetch=none", "paging.synchronize=return");
    touch(&b, 0, MIB, true);
    touch(&b, 2 * MIB, MIB, false);
    (void)synchronize(&b);
    assert_u64(bench_count_of(&b, "paging.returned"), 256);
    assert_u64(b.shot_down_bytes, MIB);
    bench_check_residency(&b);
    touch(&b, 2 * MIB, MIB, false);
    assert_u64(bench_count_of(&b, "paging.far_faults"), 512);
    touch(&b, 0, MIB, false);
    assert_u64(bench_count_of(&b, "paging.far_faults"), 512 + 256);
    assert_u64(bench_count_of(&b, "paging.thrashed"), 0); /* nothing was evicted */
    /* They were only read since. */
    assert_u64(synchronize(&b), 0);
    assert_u64(bench_count_of(&b, "paging.returned"), 256);
    bench_close(&b);
}

/* Cycles that UVMSmart's published logs give hotspot, whose 8 MiB go back, and backprop, 9 MiB and
 * then 17. They are rounded down to whole cycles, piece by piece. */
static void what_goes_back_takes_as_long_as_published(void **state) {
    (void)state;
    const struct {
        uint64_t mib[2];
        double cycles;
    } cases[] = {{{8, 0}, 1041812}, {{9, 17}, 3398954}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bench b;
        double took_ps = 0;
        BENCH_OPEN(&b, 17 * MIB, "paging.prefetch=tree", "paging.synchronize=return");
        for (uint32_t k = 0; k < 2; k++) {
            touch(&b, 0, cases[i].mib[k] * MIB, true);
            took_ps += (double)synchronize(&b);
        }
        assert_near(took_ps * 1481e6 / 1e12, cases[i].cycles, 1e-4);
        assert_u64(bench_count_of(&b, "paging.link_to_host"), (uint64_t)took_ps);
        bench_close(&b);
    }
}

/* Room for 3 MiB, of which 1 MiB stayed and counts for nothing: there is room for 3 MiB more. The
 * page that comes then takes the place of what was used since, though that is younger. */
static void clean_pages_that_stayed_take_no_room_and_are_not_evicted(void **state) {
    (void)state;
    static const char *const evict[] = {"paging.evict=lru-4k", "paging.evict=random",
                                        "paging.evict=sequential-local", "paging.evict=lru-2m"};
    for (uint32_t i = 0; i < 4; i++) {
        bench b;
        BENCH_OPEN(&b, 8 * MIB, "paging.prefetch=none", evict[i], "gpu.memory=3MiB",
                   "paging.synchronize=return");
        wpi_paging_set_frames(b.paging, 768);
        touch(&b, 0, MIB, false);
        (void)synchronize(&b);
        wpi_paging_set_frames(b.paging, 768); /* a launch */
        touch(&b, 2 * MIB, 3 * MIB, true);
        assert_u64(bench_count_of(&b, "paging.evicted"), 0);
        touch(&b, 6 * MIB, 4096, true);
        assert_true(bench_count_of(&b, "paging.evicted") > 0);
        assert_u64(wpi_pages_count(&wpi_paging_residency(b.paging)->chunks[0].resident), 256);
        bench_check_residency(&b);
        /* Used again they are like others; a page at random, and 2 MiB that are whole, may be
         * others. */
        touch(&b, 0, MIB, false);
        touch(&b, 2 * MIB, 6 * MIB, true);
        if (i % 2 == 0) assert_u64(wpi_paging_residency(b.paging)->chunks[0].resident.words[0], 0);
        bench_close(&b);
    }
}

/* A prefetcher that memory was full for is asked again. */
static void memory_is_as_good_as_empty(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 4 * MIB, "paging.prefetch=tree", "paging.prefetch_full=none", "gpu.memory=2MiB",
               "paging.synchronize=return");
    wpi_paging_set_frames(b.paging, 512);
    touch(&b, 0, 2 * MIB, true);
    touch(&b, 2 * MIB, 2 * 65536, true); /* that there is no room is seen with the first block */
    assert_u64(bench_count_of(&b, "paging.far_faults"), 6 + 1 + 16);
    (void)synchronize(&b);
    touch(&b, 2 * MIB, 2 * MIB, true);
    assert_u64(bench_count_of(&b, "paging.far_faults"), 6 + 1 + 16 + 6);
    bench_close(&b);
}

/* Some accesses are under way when the host waits: other host threads may have made them. */
static void it_may_come_in_the_middle_of_anything(void **state) {
    (void)state;
    static const char *const evict[] = {"paging.evict=lru-4k", "paging.evict=lru-2m",
                                        "paging.evict=tree", "paging.evict=random"};
    for (uint32_t i = 0; i < 8; i++) {
        bench b;
        BENCH_OPEN(&b, 20 * MIB, evict[i % 4], "paging.prefetch=tree", "gpu.memory=4MiB",
                   "paging.synchronize=return",
                   i < 4 ? "paging.stage_victims=off" : "paging.stage_victims=on");
        wpi_paging_set_frames(b.paging, 1024);
        b.random = 7 + i;
        b.span_bytes = 20 * MIB;
        b.ended = bench_issue_random;
        for (uint32_t round = 0; round < 40; round++) {
            b.left = 500;
            const uint32_t before = b.open;
            for (uint32_t k = 0; k < 64 && before == 0; k++)
                bench_issue_random(&b, k);
            wpi_engine_run_until(b.engine, wpi_engine_now(b.engine) + 300 * WP_PS_PER_US);
            (void)synchronize(&b);
            wpi_paging_set_frames(b.paging, 1024);
        }
        wpi_engine_run(b.engine);
        assert_true(bench_count_of(&b, "paging.returned") > 0);
        assert_true(bench_count_of(&b, "paging.evicted") > 0);
        bench_check_residency(&b);
        bench_close(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_stay_unless_told_otherwise),
        cmocka_unit_test(written_pages_go_back_and_clean_ones_stay),
        cmocka_unit_test(what_goes_back_takes_as_long_as_published),
        cmocka_unit_test(clean_pages_that_stayed_take_no_room_and_are_not_evicted),
        cmocka_unit_test(memory_is_as_good_as_empty),
        cmocka_unit_test(it_may_come_in_the_middle_of_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

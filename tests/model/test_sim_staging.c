/* SPDX-License-Identifier: Apache-2.0 */
/* Victims that are chosen when pages are asked for (paging.stage_victims): who leaves, when, and
 * who stays because it was used. 4 KiB take the link 1 us here, and faults no time. */
#include "sim_paging_bench.h"

#define PAGES 512u /* of memory */

#define STAGING                                                                                    \
    "gpu.memory=2MiB", "paging.prefetch=none", "paging.service=added", "paging.free_at_start=on",  \
        "link.curve=0", "link.bandwidth=4096MB/s", "paging.stage_victims=on"

static uint64_t page_address(uint32_t page) {
    return BENCH_FIRST + (uint64_t)page * WPI_PAGE_BYTES;
}

static bool is_here(const bench *b, uint32_t page) {
    return wpi_paging_is_here(b->paging, page_address(page));
}

/* One after the other, from the first on: that was used longest ago. */
static void fill(bench *b) {
    for (uint32_t page = 0; page < PAGES; page++) {
        bench_issue(b, 0, 0, page_address(page), true, wpi_engine_now(b->engine));
        wpi_engine_run(b->engine);
    }
}

/* `count` pages more, at once. */
static void ask_for_more(bench *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        bench_issue(b, i, 0, page_address(PAGES + i), false, wpi_engine_now(b->engine));
}

/* 40 pages more than memory has, of which the first few have come. */
static void ask_until_some_leave(bench *b) {
    fill(b);
    const wpi_time_ps later = wpi_engine_now(b->engine) + 3 * WP_PS_PER_US;
    ask_for_more(b, 40);
    wpi_engine_run_until(b->engine, later);
}

static void those_used_longest_ago_leave(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 4 * MIB, STAGING, "paging.evict=lru-4k");
    fill(&b);
    ask_for_more(&b, 40);
    wpi_engine_run(b.engine);
    for (uint32_t page = 0; page < PAGES + 40; page++)
        assert_int_equal(is_here(&b, page), page >= 40);
    assert_u64(bench_count_of(&b, "paging.evicted"), 40);
    bench_check_residency(&b);
    bench_close(&b);
}

/* The first page's write-back has begun when page 20 is used; it and 21 to 40 are in line. */
static void who_is_used_in_time_stays(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 4 * MIB, STAGING, "paging.evict=lru-4k");
    ask_until_some_leave(&b);
    assert_false(is_here(&b, 0));
    assert_true(is_here(&b, 20));
    bench_issue(&b, 100, 1, page_address(20), false, wpi_engine_now(b.engine));
    wpi_engine_run(b.engine);
    for (uint32_t page = 0; page < PAGES + 40; page++)
        assert_int_equal(is_here(&b, page), page > 40 || page == 20);
    assert_u64(bench_count_of(&b, "paging.evicted"), 40);
    assert_u64(bench_count_of(&b, "paging.far_faults"), PAGES + 40);
    bench_close(&b);
}

/* A block is one run: who uses a page of it keeps all 16. */
static void a_run_stays_as_a_whole(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 4 * MIB, STAGING, "paging.evict=sequential-local");
    ask_until_some_leave(&b);
    bench_issue(&b, 100, 1, page_address(20), false, wpi_engine_now(b.engine));
    wpi_engine_run(b.engine);
    for (uint32_t page = 0; page < 64; page++)
        assert_int_equal(is_here(&b, page), page / 16 == 1);
    bench_close(&b);
}

/* The prefetcher changes when what was asked for does not fit, not when it comes. */
static void memory_is_full_when_it_is_asked_for(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 4 * MIB, "gpu.memory=2MiB", "paging.service=added", "paging.free_at_start=on",
               "paging.prefetch=sequential-local", "paging.prefetch_full=none",
               "paging.stage_victims=on", "paging.evict=lru-4k");
    for (uint32_t block = 0; block < 40; block++)
        bench_issue(&b, block, 0, page_address(16 * block), false, 1000 * block);
    wpi_engine_run(b.engine);
    /* The 33rd block's pages are the first for which there is no room, and come; behind it single
     * pages do. */
    assert_u64(bench_count_of(&b, "paging.fetched"), 33 * 16 + 7);
    bench_close(&b);
}

/* Pages that are in line when the host touches them go back once. */
static void what_the_host_takes_leaves_once(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 4 * MIB, STAGING, "paging.evict=lru-4k");
    ask_until_some_leave(&b);
    wpi_pages touched = {{0}};
    wpi_pages_add_range(&touched, 30, 34);
    wpi_time_ps now = wpi_engine_now(b.engine), done = now;
    while (wpi_paging_host_fault(b.paging, BENCH_FIRST, &touched, now, &done))
        now = done;
    wpi_engine_run(b.engine);
    assert_u64(bench_count_of(&b, "paging.host_fetched"), 4);
    assert_u64(bench_count_of(&b, "paging.evicted"), 36);
    assert_false(is_here(&b, 30));
    bench_check_residency(&b);
    bench_close(&b);
}

/* ---- no page on its way ---- */

static void note_time(void *object, uint64_t token, wpi_time_ps now) {
    (void)token;
    *(wpi_time_ps *)object = now;
}

static void quiet_is_told_behind_the_last_page(void **state) {
    (void)state;
    bench b;
    wpi_time_ps told = 0;
    BENCH_OPEN(&b, 4 * MIB, STAGING, "paging.evict=lru-4k");
    assert_true(wpi_paging_is_quiet(b.paging, 0, note_time, &told));
    fill(&b);
    const wpi_time_ps start = wpi_engine_now(b.engine);
    assert_true(wpi_paging_is_quiet(b.paging, start, note_time, &told));
    ask_for_more(&b, 40);
    wpi_engine_run_until(b.engine, start + 3 * WP_PS_PER_US);
    assert_false(wpi_paging_is_quiet(b.paging, start + 3 * WP_PS_PER_US, note_time, &told));
    wpi_engine_run(b.engine);
    /* 40 pages there and 40 back, at the same time, behind a walk and the end of its cycle. */
    const wpi_time_ps link_ps = 40 * WP_PS_PER_US, cycle_ps = b.profile->cycle_ps;
    assert_true(told >= start + BENCH_WALK_PS + link_ps);
    assert_true(told <= start + BENCH_WALK_PS + link_ps + WP_PS_PER_US + 3 * cycle_ps);
    assert_u64(told % cycle_ps, 0);
    bench_close(&b);
}

/* A chunk with a hole leaves in two runs; the second is still in line when the only page comes. */
static void quiet_is_told_behind_pages_that_only_leave(void **state) {
    (void)state;
    bench b;
    wpi_time_ps told = 0;
    BENCH_OPEN(&b, 4 * MIB, STAGING, "paging.evict=lru-2m");
    for (uint32_t page = 0; page <= PAGES; page++) {
        if (page == 10) continue;
        bench_issue(&b, 0, 0, page_address(page), true, wpi_engine_now(b.engine));
        wpi_engine_run(b.engine);
    }
    const wpi_time_ps start = wpi_engine_now(b.engine);
    bench_issue(&b, 0, 0, page_address(PAGES + 1), true, start);
    wpi_engine_run_until(b.engine, start + BENCH_WALK_PS + WP_PS_PER_US / 2);
    assert_false(wpi_paging_is_quiet(b.paging, wpi_engine_now(b.engine), note_time, &told));
    wpi_engine_run(b.engine);
    assert_u64(bench_count_of(&b, "paging.evicted"), PAGES - 1);
    assert_true(told >= start + (PAGES - 1) * WP_PS_PER_US);
    bench_close(&b);
}

/* A MiB read across the link takes 256 us of it. */
static void quiet_waits_for_accesses_across_the_link(void **state) {
    (void)state;
    bench b;
    wpi_time_ps told = 0;
    BENCH_OPEN(&b, 4 * MIB, STAGING, "paging.evict=lru-4k");
    (void)wpi_link_remote(&b.link, MIB, WPI_DIRECTION_TO_DEVICE, 0);
    assert_false(wpi_paging_is_quiet(b.paging, 0, note_time, &told));
    wpi_engine_run(b.engine);
    assert_true(told >= 256 * WP_PS_PER_US);
    assert_true(told <= 256 * WP_PS_PER_US + 2 * b.profile->cycle_ps);
    bench_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_used_longest_ago_leave),
        cmocka_unit_test(who_is_used_in_time_stays),
        cmocka_unit_test(a_run_stays_as_a_whole),
        cmocka_unit_test(memory_is_full_when_it_is_asked_for),
        cmocka_unit_test(what_the_host_takes_leaves_once),
        cmocka_unit_test(quiet_is_told_behind_the_last_page),
        cmocka_unit_test(quiet_is_told_behind_pages_that_only_leave),
        cmocka_unit_test(quiet_waits_for_accesses_across_the_link),
    };
    return wp_test_main(tests);
}

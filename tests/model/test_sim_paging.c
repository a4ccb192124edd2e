/* SPDX-License-Identifier: Apache-2.0 */
/* Far faults, prefetching and eviction against counts made by hand, and under random traffic with
 * every pair of policies: nothing is lost, frames are never exceeded (which residency checks). */
#include "base/alloc.h"
#include "sim_traffic.h"
#include "wp_random.h"

/* Of each run under random traffic: several times the pages of its memory. */
#define RANDOM_ACCESSES 6000u
#define WARP_ACCESSES 1000u

static void a_fault_each_page_without_prefetching(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 4 * MIB, "paging.prefetch=none");
    bench_touch_pages(&b, 4 * MIB, 1);
    assert_u64(bench_count_of(&b, "paging.far_faults"), 1024);
    assert_u64(bench_count_of(&b, "paging.fetched"), 1024);
    bench_close(&b);
}

static void a_fault_each_block_with_sequential_local(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 4 * MIB, "paging.prefetch=sequential-local");
    bench_touch_pages(&b, 4 * MIB, 1);
    assert_u64(bench_count_of(&b, "paging.far_faults"), 64);
    assert_u64(bench_count_of(&b, "paging.prefetched"), 960);
    bench_close(&b);
}

/* Leaves 0, 1, 2, 4, 8, 16 of each chunk; of a rest of 512 KiB: 0, 1, 2, 4. */
static void six_faults_a_chunk_with_the_tree(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 4 * MIB + MIB / 2, "paging.prefetch=tree");
    bench_touch_pages(&b, 4 * MIB + MIB / 2, 1);
    assert_u64(bench_count_of(&b, "paging.far_faults"), 2 * 6 + 4);
    assert_u64(bench_count_of(&b, "paging.fetched"), 1024 + 128);
    bench_close(&b);
}

/* Of a rest of 5 blocks a tree has 8: the fifth makes it more than half full. */
static void a_rounded_allocation_is_as_large_as_its_trees(void **state) {
    (void)state;
    const struct {
        uint64_t bytes, pages;
    } cases[] = {{1, 16},
                 {65536, 16},
                 {65537, 32},
                 {2 * MIB, 512},
                 {2 * MIB + 5 * 65536, 512 + 128},
                 {4 * MIB - 1, 1024}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_u64(wpi_residency_tree_bytes(cases[i].bytes), cases[i].pages * WPI_PAGE_BYTES);
    for (uint32_t is_rounded = 0; is_rounded < 2; is_rounded++) {
        bench b;
        BENCH_OPEN(&b, 5 * 65536, is_rounded != 0 ? "paging.round_up=on" : "paging.round_up=off");
        bench_touch_pages(&b, 5 * 65536, 1);
        assert_u64(bench_count_of(&b, "paging.fetched"), is_rounded != 0 ? 128 : 80);
        bench_close(&b);
    }
}

/* Unused pages are created on the device: as many faults, and only pages that the host has used are
 * transferred. */
static void untouched_pages_are_made(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 4 * MIB, "paging.prefetch=none", "paging.zero_fill=on");
    wpi_paging_use_on_host(
        b.paging, (wpi_paging_range){BENCH_FIRST + 480 * WPI_PAGE_BYTES + 5, 100 * WPI_PAGE_BYTES});
    bench_touch_pages(&b, 4 * MIB, 1);
    assert_u64(bench_count_of(&b, "paging.far_faults"), 1024);
    assert_u64(bench_count_of(&b, "paging.fetched"), 101);
    assert_u64(bench_count_of(&b, "paging.made"), 923);
    bench_close(&b);
    BENCH_OPEN(&b, 4 * MIB + MIB / 2, "paging.prefetch=tree", "paging.zero_fill=on");
    bench_touch_pages(&b, 4 * MIB + MIB / 2, 1);
    assert_u64(bench_count_of(&b, "paging.far_faults"), 2 * 6 + 4);
    assert_u64(bench_count_of(&b, "paging.made"), 1024 + 128);
    assert_u64(bench_count_of(&b, "paging.fetched"), 0);
    bench_close(&b);
}

/* A service, and 4 KiB of zeros into DRAM. */
static void making_a_page_takes_as_long_as_writing_it(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 2 * MIB, "paging.prefetch=none", "paging.zero_fill=on");
    bench_issue(&b, 0, 0, BENCH_FIRST, false, 0);
    wpi_engine_run(b.engine);
    const double writing_ps =
        (double)WPI_PAGE_BYTES / (double)b.profile->dram.bytes_per_s * (double)WP_PS_PER_S;
    const wpi_time_ps expected = 2 * (wpi_time_ps)BENCH_WALK_PS + 45 * WP_PS_PER_US +
                                 b.profile->dram.latency_ps + (wpi_time_ps)writing_ps +
                                 BENCH_ACCESS_PS;
    assert_u64(wpi_engine_now(b.engine), expected);
    bench_close(&b);
}

/* 2,605 cycles for 4 KiB and 8,240 for 60 KiB, which UVMSmart has; behind a walk and the service.
 */
static void transfers_take_what_the_curve_says(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 2 * MIB, "paging.prefetch=sequential-local");
    bench_issue(&b, 0, 0, BENCH_FIRST, false, 0);
    wpi_engine_run(b.engine);
    const wpi_time_ps service_ps = 45 * WP_PS_PER_US;
    const wpi_time_ps walks_ps = (wpi_time_ps)2 * BENCH_WALK_PS;
    const double cycle_ps = 1e6 / 1481;
    const double took = (double)(wpi_engine_now(b.engine) - service_ps);
    /* The rest of the block arrives last: the access was over before. */
    assert_near(took / cycle_ps, ((double)BENCH_WALK_PS / cycle_ps) + 2605 + 8240, 0.001);
    assert_u64(b.local, 1);
    assert_true(walks_ps > 0);
    bench_close(&b);
}

/* 16 GB/s: 256 ns a page. 1,024 pages come where 512 have room, all of them written. */
static void pages_take_the_link_for_their_bytes(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 4 * MIB, "paging.prefetch=none", "paging.evict=lru-4k", "link.curve=0",
               "link.bandwidth=16GB/s", "gpu.memory=2MiB");
    for (uint32_t i = 0; i < 1024; i++) {
        bench_issue(&b, 0, 0, BENCH_FIRST + (uint64_t)i * WPI_PAGE_BYTES, true,
                    wpi_engine_now(b.engine));
        wpi_engine_run(b.engine);
    }
    const uint64_t evicted = bench_count_of(&b, "paging.evicted");
    assert_true(evicted >= 512);
    assert_u64(bench_count_of(&b, "paging.written_back"), evicted);
    assert_u64(bench_count_of(&b, "paging.link_to_device"), 1024 * 256000);
    assert_u64(bench_count_of(&b, "paging.link_to_host"), evicted * 256000);
    bench_close(&b);
}

/* All faults of a round take one latency: 16 pages of 16 blocks, of as many SMs' requests. */
static void a_service_drains_the_buffer(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 2 * MIB, "paging.prefetch=none", "link.curve=0", "link.bandwidth=16GB/s");
    for (uint32_t i = 0; i < 16; i++)
        bench_issue(&b, i, i % 4, BENCH_FIRST + (uint64_t)i * 65536, false, 0);
    wpi_engine_run(b.engine);
    /* The first fault starts a service alone; the other fifteen are the next one. */
    assert_u64(bench_count_of(&b, "paging.services"), 2);
    const double transfer_ps = 4096 / 16e9 * 1e12;
    assert_near((double)wpi_engine_now(b.engine),
                90e6 + 15 * transfer_ps + 2.0 * BENCH_WALK_PS + BENCH_ACCESS_PS, 0.001);
    bench_close(&b);
}

/* Cycles of 675 ps, walks end at 70,000: two pages of a block are two faults if the second is asked
 * for before the end of the first one's cycle, at 70,200. */
static void faults_of_a_cycle_are_served_together(void **state) {
    (void)state;
    const struct {
        wpi_time_ps later_ps;
        uint64_t faults, services;
    } cases[] = {{0, 2, 1}, {199, 2, 1}, {201, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bench b;
        BENCH_OPEN(&b, 2 * MIB, "paging.prefetch=sequential-local", "paging.service=added");
        bench_issue(&b, 0, 0, BENCH_FIRST, false, 0);
        bench_issue(&b, 1, 1, BENCH_FIRST + WPI_PAGE_BYTES, false, cases[i].later_ps);
        wpi_engine_run(b.engine);
        assert_u64(bench_count_of(&b, "paging.far_faults"), cases[i].faults);
        assert_u64(bench_count_of(&b, "paging.services"), cases[i].services);
        assert_u64(bench_count_of(&b, "paging.fetched"), 16);
        bench_close(&b);
    }
}

static void an_sm_waits_for_no_more_pages_than_it_may(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 2 * MIB, "paging.prefetch=none", "paging.cu_faults=2");
    for (uint32_t i = 0; i < 10; i++)
        bench_issue(&b, i, 0, BENCH_FIRST + (uint64_t)i * WPI_PAGE_BYTES, false, 0);
    wpi_engine_run(b.engine);
    assert_u64(b.local, 10);
    assert_u64(bench_count_of(&b, "paging.far_faults"), 10);
    assert_true(bench_count_of(&b, "paging.nacks") >= 8);
    assert_true(wpi_engine_now(b.engine) > 5 * 45 * WP_PS_PER_US);
    bench_close(&b);
}

/* Pages asked for 0, 30 and 31 us from the start: each comes 45 us after its fault. In rounds the
 * last two would come with the second one, after 90. */
static void a_fault_takes_its_own_time_where_services_are_pipelined(void **state) {
    (void)state;
    static const wpi_time_ps asked_us[] = {0, 30, 31};
    for (uint32_t count = 1; count <= 3; count++) {
        bench b;
        BENCH_OPEN(&b, 2 * MIB, "paging.prefetch=none", "paging.service=pipelined", "link.curve=0",
                   "link.bandwidth=16GB/s");
        for (uint32_t i = 0; i < count; i++)
            bench_issue(&b, i, i, BENCH_FIRST + (uint64_t)i * MIB / 4, false,
                        asked_us[i] * WP_PS_PER_US);
        wpi_engine_run(b.engine);
        assert_u64(bench_count_of(&b, "paging.services"), count);
        assert_near((double)wpi_engine_now(b.engine),
                    (double)asked_us[count - 1] * 1e6 + 45e6 + 0.256e6 + 2.0 * BENCH_WALK_PS +
                        BENCH_ACCESS_PS,
                    1e-9);
        bench_close(&b);
    }
}

/* SM 0 may have a fault, and asks for two pages of which SM 1 has asked for one. */
static void what_another_sm_asked_for_may_not_count(void **state) {
    (void)state;
    static const struct {
        const char *counts;
        uint64_t nacks, latencies;
    } cases[] = {{"paging.cu_counts=waited", 1, 2}, {"paging.cu_counts=raised", 0, 1}};
    for (uint32_t i = 0; i < 2; i++) {
        bench b;
        BENCH_OPEN(&b, 2 * MIB, "paging.prefetch=none", "paging.service=pipelined",
                   "paging.cu_faults=1", cases[i].counts);
        bench_issue(&b, 0, 1, BENCH_FIRST, false, 0);
        bench_issue(&b, 1, 0, BENCH_FIRST, false, 1000);
        bench_issue(&b, 2, 0, BENCH_FIRST + WPI_PAGE_BYTES, false, 2000);
        wpi_engine_run(b.engine);
        assert_u64(b.local, 3);
        assert_u64(bench_count_of(&b, "paging.nacks"), cases[i].nacks);
        assert_u64(wpi_engine_now(b.engine) / (45 * WP_PS_PER_US), cases[i].latencies);
        bench_close(&b);
    }
}

static void counters_delay_migration(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 2 * MIB, "paging.migrate=always", "paging.migrate_threshold=8");
    for (uint32_t i = 0; i < 8; i++) {
        bench_issue(&b, 0, 0, BENCH_FIRST + (uint64_t)(i % 16) * WPI_PAGE_BYTES, false,
                    wpi_engine_now(b.engine));
        wpi_engine_run(b.engine);
    }
    assert_u64(b.remote, 7);
    assert_u64(b.local, 1);
    bench_issue(&b, 0, 0, BENCH_FIRST + MIB, true,
                wpi_engine_now(b.engine)); /* a write comes at once */
    wpi_engine_run(b.engine);
    assert_u64(b.local, 2);
    bench_close(&b);
}

/* The first page of a block faults and 15 come with it, of which 3 are used, one of them twice. */
static void prefetched_pages_count_as_used_once(void **state) {
    (void)state;
    static const uint32_t touched[] = {0, 3, 3, 7, 15, 0};
    bench b;
    BENCH_OPEN(&b, 2 * MIB, "paging.prefetch=sequential-local");
    for (uint32_t i = 0; i < sizeof touched / sizeof touched[0]; i++) {
        bench_issue(&b, 0, 0, BENCH_FIRST + (uint64_t)touched[i] * WPI_PAGE_BYTES, false,
                    wpi_engine_now(b.engine));
        wpi_engine_run(b.engine);
    }
    assert_u64(bench_count_of(&b, "paging.far_faults"), 1);
    assert_u64(bench_count_of(&b, "paging.prefetched"), 15);
    assert_u64(bench_count_of(&b, "paging.demanded"), 1);
    assert_u64(bench_count_of(&b, "paging.prefetched_used"), 3);
    bench_close(&b);
}

/* Room for 2 MiB, and two chunks in turn, one page of each: so each touch evicts the other chunk's
 * block of 16 pages. The first of its pages is written in every second round. */
static void blocks_are_counted_by_round_trips(void **state) {
    (void)state;
    enum { ROUNDS = 5 };
    bench b;
    BENCH_OPEN(&b, 4 * MIB, "paging.prefetch=sequential-local", "paging.evict=lru-2m",
               "gpu.memory=2MiB");
    wpi_paging_set_frames(b.paging, WPI_BLOCK_PAGES);
    for (uint32_t i = 0; i < 2 * ROUNDS; i++) {
        bench_issue(&b, 0, 0, BENCH_FIRST + i % 2 * 2 * MIB, i / 2 % 2 == 1,
                    wpi_engine_now(b.engine));
        wpi_engine_run(b.engine);
    }
    /* The first chunk's block left 5 times, the second one's 4: it is there at the end. */
    assert_u64(bench_count_of(&b, "paging.blocks.fetched"), 2);
    assert_u64(bench_count_of(&b, "paging.blocks.round_trips_1"), 2);
    assert_u64(bench_count_of(&b, "paging.blocks.round_trips_4"), 2);
    assert_u64(bench_count_of(&b, "paging.blocks.round_trips_8"), 0);
    assert_u64(bench_count_of(&b, "paging.evicted"), 9 * 16);
    assert_u64(bench_count_of(&b, "paging.evicted_dirty"), 4); /* of rounds 1 and 3 */
    assert_u64(bench_count_of(&b, "paging.thrashed"), 8 * 16);
    assert_u64(bench_count_of(&b, "paging.prefetched"), 10 * 15);
    assert_u64(bench_count_of(&b, "paging.prefetched_used"), 0);
    bench_close(&b);
}

/* ---- while the link is idle ---- */

/* A far fault waits for its service for 45 us, in which ten blocks come, of 4.096 us each, and most
 * of another one, after which the page is transferred. Then no accesses are made, and no more
 * blocks are transferred. */
static void an_idle_link_brings_blocks_until_nobody_waits(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 4 * MIB, "paging.prefetch=idle-sequential", "link.curve=0",
               "link.bandwidth=16GB/s");
    bench_issue(&b, 0, 0, BENCH_FIRST + 3 * MIB, false, 0);
    wpi_engine_run(b.engine);
    assert_u64(bench_count_of(&b, "paging.far_faults"), 1);
    assert_u64(bench_count_of(&b, "paging.prefetched"), 11 * WPI_BLOCK_PAGES);
    assert_u64(wpi_pages_next(&wpi_paging_residency(b.paging)->chunks[0].resident, 0), 0);
    assert_near((double)wpi_engine_now(b.engine),
                11 * 4.096e6 + 0.256e6 + 2.0 * BENCH_WALK_PS + BENCH_ACCESS_PS, 1e-9);
    bench_close(&b);
}

/* It comes at once, not when its fault is served. */
static void a_page_that_is_on_its_way_is_waited_for(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 4 * MIB, "paging.prefetch=idle-sequential", "link.curve=0",
               "link.bandwidth=16GB/s");
    bench_issue(&b, 0, 0, BENCH_FIRST, false, 0);
    bench_issue(&b, 1, 1, BENCH_FIRST + 3 * WPI_PAGE_BYTES, false, 0);
    wpi_engine_run(b.engine);
    assert_u64(b.local, 2);
    assert_u64(bench_count_of(&b, "paging.far_faults"), 1);
    assert_u64(bench_count_of(&b, "paging.fetched"), WPI_BLOCK_PAGES);
    bench_close(&b);
}

/* All of its pages at once, and then for long enough to fill memory. */
static void use_the_first_mib(bench *b) {
    b->random = 7;
    b->left = 300000;
    b->span_bytes = MIB;
    b->ended = bench_issue_random;
    for (uint32_t i = 0; i < MIB / WPI_PAGE_BYTES; i++)
        bench_issue(b, i, i % 4, BENCH_FIRST + (uint64_t)i * WPI_PAGE_BYTES, false, 0);
    wpi_engine_run(b->engine);
    b->ended = NULL;
}

static void nothing_is_evicted_to_prefetch(void **state) {
    (void)state;
    static const char *const names[] = {"paging.prefetch=idle-sequential",
                                        "paging.prefetch=idle-random"};
    static const struct {
        const char *kept;
        uint64_t used;
    } cases[] = {{"paging.free=0", 512}, {"paging.free=10", 512 - 51}};
    for (uint32_t i = 0; i < 4; i++) {
        bench b;
        BENCH_OPEN(&b, 8 * MIB, names[i / 2], cases[i % 2].kept, "gpu.memory=2MiB");
        use_the_first_mib(&b);
        assert_u64(bench_count_of(&b, "paging.evicted"), 0);
        assert_u64(wpi_paging_residency(b.paging)->used, cases[i % 2].used);
        bench_check_residency(&b);

        /* Memory that was full once is the faults' alone. */
        const uint64_t before = bench_count_of(&b, "paging.prefetched");
        bench_touch_pages(&b, 8 * MIB, 16);
        assert_true(bench_count_of(&b, "paging.evicted") > 0);
        assert_u64(bench_count_of(&b, "paging.prefetched"), before);
        bench_close(&b);
    }
}

/* ---- random traffic ---- */

static void run_on(const char *prefetch, const char *evict, const char *migrate, const char *more,
                   wpi_foresight *foresight) {
    char texts[3][64];
    bench b;
    wp_error err = {0};
    snprintf(texts[0], sizeof texts[0], "paging.prefetch=%s", prefetch);
    snprintf(texts[1], sizeof texts[1], "paging.evict=%s", evict);
    snprintf(texts[2], sizeof texts[2], "paging.migrate=%s", migrate);
    BENCH_OPEN(&b, 20 * MIB - 300000, texts[0], texts[1], texts[2], more, "gpu.memory=4MiB");
    wpi_paging_set_foresight(b.paging, foresight);
    assert_status_ok(wpi_paging_launch(b.paging, 0, &err), &err);
    b.random = 1 + strlen(prefetch) + 100 * strlen(evict) + 10000 * strlen(migrate);
    b.left = RANDOM_ACCESSES;
    b.span_bytes = 20 * MIB - 300000;
    bench_run_random(&b, 500);
    if (b.open != 0)
        fail_msg("%s, %s, %s, %s: %u accesses wait for ever", prefetch, evict, migrate, more,
                 b.open);
    assert_u64(b.local + b.remote, RANDOM_ACCESSES);
    bench_check_residency(&b);
    bench_close(&b);
}

/* Policies that look ahead know another run's traffic: what they expect is often wrong. */
static void run_random(const char *prefetch, const char *evict, const char *migrate,
                       const char *more) {
    wpi_foresight first, later;
    wp_error err = {0};
    wpi_foresight_init(&first, WPI_FORESIGHT_WINDOW);
    wpi_foresight_init(&later, WPI_FORESIGHT_WINDOW);
    if (strcmp(prefetch, "oracle") == 0 || strcmp(evict, "oracle") == 0) {
        wpi_foresight_note(&first);
        run_on("tree", "lru-2m", migrate, more, &first);
        assert_status_ok(wpi_foresight_take(&later, first.pages, first.count, first.launches,
                                            first.launch_count, &err),
                         &err);
        first.pages = first.launches = NULL;
    }
    run_on(prefetch, evict, migrate, more, &later);
    wpi_foresight_deinit(&first);
    wpi_foresight_deinit(&later);
}

static void random_traffic_ends_under_all_policies(void **state) {
    (void)state;
    const char *const more[] = {
        "paging.cu_faults=0",     "paging.cu_faults=1",   "paging.mshrs=3",
        "paging.service=serial",  "paging.service=added", "paging.service=pipelined",
        "paging.free=10",         "paging.reserve=20",    "paging.free_at_start=on",
        "paging.drop_clean=on",   "paging.round_up=on",   "paging.zero_fill=on",
        "paging.stage_victims=on"};
    uint32_t runs = 0;
    for (const wpi_policy *const *p = wpi_policies; *p != NULL; p++) {
        for (const wpi_policy *const *e = wpi_policies; *e != NULL; e++) {
            if (strcmp((*p)->kind, "prefetch") != 0 || strcmp((*e)->kind, "evict") != 0) continue;
            run_random((*p)->name, (*e)->name, "first-touch",
                       more[runs++ % (sizeof more / sizeof more[0])]);
        }
    }
    for (const wpi_policy *const *e = wpi_policies; *e != NULL; e++)
        if (strcmp((*e)->kind, "evict") == 0)
            run_random("tree", (*e)->name, "first-touch", "paging.stage_victims=on");
    for (const wpi_policy *const *m = wpi_policies; *m != NULL; m++)
        if (strcmp((*m)->kind, "migrate") == 0)
            run_random(strcmp((*m)->name, "zero-copy") == 0 ? "none" : "tree", "lfu-2m", (*m)->name,
                       more[0]);
    assert_true(runs >= 36);
}

/* ---- behind TLBs, in front of caches ---- */

/* Lanes in a row, or all over; loads, stores and atomics. */
static void choose(traffic *t, wpi_access *access) {
    static const uint8_t kinds[] = {WP_TRACE_LOAD, WP_TRACE_LOAD, WP_TRACE_STORE, WP_TRACE_ATOMIC};
    const uint64_t r = wp_random_next(&t->random);
    const uint64_t base = BENCH_FIRST + (r >> 8) % (16 * MIB - 4096);
    for (uint32_t lane = 0; lane < WPI_LANES; lane++)
        t->addresses[lane] = (r & 4) != 0
                                 ? base / 4 * 4 + lane * 4
                                 : BENCH_FIRST + wp_random_next(&t->random) % (4 * MIB) / 4 * 4;
    access->kind = kinds[r % 4];
}

static void run_traffic(const char *on_fault, const char *migrate, const char *evict,
                        const char *more, const char *service, const char *replay) {
    traffic t = {.choose = choose, .random = 99, .left = WARP_ACCESSES};
    RIG_OPEN(&t.rig, on_fault, migrate, evict, more, service, replay, "gpu.memory=3MiB",
             "walker.queue=8", "paging.migrate_threshold=3", );
    traffic_manage(&t, 16 * MIB);
    if (!traffic_run(&t, 64))
        fail_msg("%s, %s, %s, %s, %s, %s: %llu of %u accesses", on_fault, migrate, evict, more,
                 service, replay, (unsigned long long)t.rig.answers, WARP_ACCESSES);
    traffic_check_quiet(&t);
    rig_close(&t.rig);
}

static void warps_over_more_than_memory_end(void **state) {
    (void)state;
    static const char *const on_fault[] = {
        "paging.on_fault=replay", "paging.on_fault=hit-under-fault", "paging.on_fault=block"};
    static const char *const migrate[] = {"paging.migrate=first-touch", "paging.migrate=adaptive",
                                          "paging.migrate=zero-copy", "paging.migrate=always",
                                          "paging.migrate=payback"};
    static const char *const evict[] = {"paging.evict=lru-2m", "paging.evict=tree",
                                        "paging.evict=lru-4k", "paging.evict=random"};
    static const char *const more[] = {"paging.cu_faults=0", "paging.cu_faults=4", "paging.mshrs=2",
                                       "tlb.levels=1"};
    static const char *const replay[] = {"paging.replay=block", "paging.replay=batch",
                                         "paging.replay=batch-flush", "paging.replay=once"};
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t k = 0; k < 20; k++) {
            const char *const own = more[(i + k + k / 4) % 4];
            run_traffic(on_fault[i], migrate[k / 4], evict[k % 4], own, "paging.service=drained",
                        replay[0]);
            if (k % 3 != i) continue;
            run_traffic(on_fault[i], migrate[k / 4], evict[k % 4], "paging.cu_faults=1",
                        "paging.service=pipelined", "paging.cu_counts=raised");
            run_traffic(on_fault[i], migrate[k / 4], evict[k % 4], own, "paging.service=batch",
                        replay[(k + k / 4) % 4]);
        }
    }
}

/* 32 lines of one page, when the last one is there. */
static wpi_time_ps time_of_lines(const char *replays) {
    rig r;
    wp_error err = {0};
    uint64_t addresses[WPI_LANES];
    for (uint32_t lane = 0; lane < WPI_LANES; lane++)
        addresses[lane] = BENCH_FIRST + (uint64_t)lane * WPI_LINE_BYTES;
    RIG_OPEN(&r, replays, "l2.bandwidth=10000B/cycle", "l2.sm_bandwidth=10000B/cycle",
             "dram.bandwidth=10000B/cycle", "dram.row_miss=0ns", );
    assert_status_ok(wpi_memory_manage(r.memory, BENCH_FIRST, &err), &err);
    assert_status_ok(wpi_paging_add(wpi_memory_paging(r.memory), BENCH_FIRST, MIB, &err), &err);
    const wpi_access access = {.kind = WP_TRACE_LOAD,
                               .cache = WP_TRACE_CACHE_GLOBAL,
                               .size_bytes = 4,
                               .mask = ~0u,
                               .addresses = addresses};
    (void)wpi_memory_access(r.memory, &access, 0, rig_note, &r, 0);
    wpi_engine_run(r.engine);
    const wpi_time_ps took = r.last.answered;
    rig_close(&r);
    return took;
}

static void so_many_lines_a_cycle_go_on_when_their_page_has_come(void **state) {
    (void)state;
    const wpi_time_ps at_once = time_of_lines("paging.replay_lines=0");
    const double one = (double)(time_of_lines("paging.replay_lines=1") - at_once);
    const double two = (double)(time_of_lines("paging.replay_lines=2") - at_once);
    assert_near(one, 31e3, 0.01); /* cycles of 1 ns */
    assert_near(two, 15.5e3, 0.02);
}

/* ---- what happened to pages ------------------------------------------------------------------ */

static wpi_page_history *follow(wpi_paging *paging, uint64_t bytes) {
    wp_error err = {0};
    wpi_page_history *h;
    assert_status_ok(wpi_page_history_create(BENCH_FIRST, &h, &err), &err);
    assert_status_ok(wpi_page_history_add(h, BENCH_FIRST, bytes, bytes / WPI_PAGE_BYTES, &err),
                     &err);
    wpi_page_history_count(h, true);
    if (paging != NULL) wpi_paging_set_history(paging, h);
    return h;
}

static uint64_t sum_of(const wpi_page_history *h, wp_run_page_event event) {
    uint64_t sum = 0;
    for (uint64_t page = 0; page < h->allocations[0].page_count; page++)
        sum += h->allocations[0].counts[page][event];
    return sum;
}

/* The same traffic as counters and as history. */
static void the_history_adds_up_to_the_counters(void **state) {
    (void)state;
    static const char *const services[] = {"paging.service=drained", "paging.service=serial",
                                           "paging.service=added", "paging.service=batch",
                                           "paging.service=pipelined"};
    static const char *const migrate[] = {"paging.migrate=first-touch", "paging.migrate=adaptive"};
    for (uint32_t i = 0; i < 10; i++) {
        bench b;
        BENCH_OPEN(&b, 20 * MIB, services[i % 5], migrate[i / 5], "paging.prefetch=tree",
                   "gpu.memory=4MiB");
        wpi_page_history *h = follow(b.paging, 20 * MIB);
        b.random = 77 + i;
        b.left = RANDOM_ACCESSES;
        b.span_bytes = 20 * MIB;
        bench_run_random(&b, 500);
        assert_u64(sum_of(h, WP_RUN_PAGE_FAULTED), bench_count_of(&b, "paging.far_faults"));
        assert_u64(sum_of(h, WP_RUN_PAGE_FETCHED), bench_count_of(&b, "paging.fetched"));
        assert_u64(bench_count_of(&b, "paging.fetched"),
                   bench_count_of(&b, "paging.demanded") + bench_count_of(&b, "paging.prefetched"));
        assert_true(bench_count_of(&b, "paging.prefetched_used") > 0 &&
                    bench_count_of(&b, "paging.prefetched_used") <=
                        bench_count_of(&b, "paging.prefetched"));
        assert_u64(sum_of(h, WP_RUN_PAGE_EVICTED), bench_count_of(&b, "paging.evicted"));
        assert_u64(sum_of(h, WP_RUN_PAGE_REMOTE), bench_count_of(&b, "paging.remote"));
        assert_true(sum_of(h, WP_RUN_PAGE_EVICTED) > 0);
        bench_close(&b);
        wpi_page_history_destroy(h);
    }
}

/* A warp's lanes, `step_bytes` apart. */
static void issue_lanes(rig *r, uint8_t kind, uint64_t first, uint64_t step_bytes) {
    uint64_t addresses[WPI_LANES];
    for (uint32_t lane = 0; lane < WPI_LANES; lane++)
        addresses[lane] = first + lane * step_bytes;
    const wpi_access access = {.kind = kind,
                               .cache = WP_TRACE_CACHE_ALL,
                               .size_bytes = 4,
                               .mask = ~0u,
                               .addresses = addresses};
    (void)wpi_memory_access(r->memory, &access, wpi_engine_now(r->engine), rig_note, r, 0);
    wpi_engine_run(r->engine);
}

/* Once a page for each warp instruction: of 32 lanes in a row, of 32 lines, of a warp across a
 * border, of a page each; whether the page table's pages have 4 KiB or 2 MiB, before they are whole
 * and afterwards. */
static void an_access_counts_once_for_each_page(void **state) {
    (void)state;
    static const char *const pages[] = {"page.bytes=4KiB", "page.bytes=2MiB"};
    for (uint32_t i = 0; i < 2; i++) {
        rig r;
        wp_error err = {0};
        RIG_OPEN(&r, pages[i], "paging.prefetch=tree", );
        assert_status_ok(wpi_memory_manage(r.memory, BENCH_FIRST, &err), &err);
        wpi_page_history *h = follow(NULL, 2 * MIB);
        wpi_memory_set_history(r.memory, h);
        assert_status_ok(wpi_paging_add(wpi_memory_paging(r.memory), BENCH_FIRST, 2 * MIB, &err),
                         &err);
        const uint64_t page_3 = BENCH_FIRST + 3 * WPI_PAGE_BYTES;
        for (uint32_t round = 1; round <= 2; round++) {
            issue_lanes(&r, WP_TRACE_LOAD, page_3, 4);                /* a line of page 3 */
            issue_lanes(&r, WP_TRACE_LOAD, page_3, 128);              /* all of its lines */
            issue_lanes(&r, WP_TRACE_STORE, page_3 - 64, 4);          /* pages 2 and 3 */
            issue_lanes(&r, WP_TRACE_ATOMIC, page_3, WPI_PAGE_BYTES); /* pages 3 to 34 */
            const uint64_t(*counts)[WP_RUN_PAGE_EVENTS] =
                (const uint64_t(*)[WP_RUN_PAGE_EVENTS])h->allocations[0].counts;
            assert_u64(counts[3][WP_RUN_PAGE_READ], 2 * round);
            assert_u64(counts[2][WP_RUN_PAGE_WRITTEN], round);
            assert_u64(counts[3][WP_RUN_PAGE_WRITTEN], 2 * round);
            assert_u64(counts[34][WP_RUN_PAGE_WRITTEN], round);
            assert_u64(sum_of(h, WP_RUN_PAGE_READ), 2 * round);
            assert_u64(sum_of(h, WP_RUN_PAGE_WRITTEN), 34 * round);
            /* Then all of the 2 MiB comes, a page at a time. */
            for (uint64_t at = 0; round == 1 && at < 2 * MIB; at += 32 * WPI_PAGE_BYTES)
                issue_lanes(&r, WP_TRACE_LOAD, BENCH_FIRST + at, WPI_PAGE_BYTES);
            if (round == 1) {
                assert_u64(sum_of(h, WP_RUN_PAGE_READ), 2 + 512);
                for (uint64_t page = 0; page < 512; page++)
                    h->allocations[0].counts[page][WP_RUN_PAGE_READ]--;
            }
        }
        assert_u64(wpi_paging_is_large(wpi_memory_paging(r.memory), BENCH_FIRST), i == 1);
        rig_close(&r);
        wpi_page_history_destroy(h);
    }
}

/* Fails each allocation of wpi_paging_add in turn; the next add of the same memory works, and so do
 * its pages. A smaller allocation may come first. */
static void a_failed_add_leaves_the_next_one_to_work(void **state) {
    (void)state;
    static const char *const evict[] = {"paging.evict=lru-2m", "paging.evict=lru-4k"};
    for (uint32_t i = 0; i < 4; i++) {
        bool is_added = false;
        for (uint64_t n = 1; !is_added; n++) {
            bench b;
            wp_error err = {0};
            BENCH_OPEN(&b, 2 * MIB, evict[i % 2], "paging.prefetch=none", "gpu.memory=64MiB");
            wpi_page_history *h = follow(b.paging, 2 * MIB);
            wpi_alloc_fail_at(n);
            is_added =
                wpi_paging_add(b.paging, BENCH_FIRST + 4 * MIB, 28 * MIB, &err) == WP_STATUS_OK;
            wpi_alloc_fail_at(0);
            assert_true(is_added || err.status == WP_STATUS_NOMEM);
            assert_int_equal(wpi_paging_has(b.paging, BENCH_FIRST + 4 * MIB), is_added);
            assert_u64(h->allocation_count, is_added ? 2 : 1);
            if (i / 2 != 0)
                assert_status_ok(wpi_paging_add(b.paging, BENCH_FIRST + 2 * MIB, MIB, &err), &err);
            if (!is_added)
                assert_status_ok(wpi_paging_add(b.paging, BENCH_FIRST + 4 * MIB, 28 * MIB, &err),
                                 &err);
            for (uint64_t at = 4 * MIB; at < 32 * MIB; at += MIB) {
                bench_issue(&b, 0, 0, BENCH_FIRST + at, true, wpi_engine_now(b.engine));
                wpi_engine_run(b.engine);
            }
            assert_u64(bench_count_of(&b, "paging.far_faults"), 28);
            bench_close(&b);
            wpi_page_history_destroy(h);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fault_each_page_without_prefetching),
        cmocka_unit_test(a_fault_each_block_with_sequential_local),
        cmocka_unit_test(six_faults_a_chunk_with_the_tree),
        cmocka_unit_test(a_rounded_allocation_is_as_large_as_its_trees),
        cmocka_unit_test(untouched_pages_are_made),
        cmocka_unit_test(making_a_page_takes_as_long_as_writing_it),
        cmocka_unit_test(transfers_take_what_the_curve_says),
        cmocka_unit_test(pages_take_the_link_for_their_bytes),
        cmocka_unit_test(a_service_drains_the_buffer),
        cmocka_unit_test(faults_of_a_cycle_are_served_together),
        cmocka_unit_test(an_sm_waits_for_no_more_pages_than_it_may),
        cmocka_unit_test(a_fault_takes_its_own_time_where_services_are_pipelined),
        cmocka_unit_test(what_another_sm_asked_for_may_not_count),
        cmocka_unit_test(counters_delay_migration),
        cmocka_unit_test(an_idle_link_brings_blocks_until_nobody_waits),
        cmocka_unit_test(a_page_that_is_on_its_way_is_waited_for),
        cmocka_unit_test(nothing_is_evicted_to_prefetch),
        cmocka_unit_test(prefetched_pages_count_as_used_once),
        cmocka_unit_test(blocks_are_counted_by_round_trips),
        cmocka_unit_test(random_traffic_ends_under_all_policies),
        cmocka_unit_test(warps_over_more_than_memory_end),
        cmocka_unit_test(so_many_lines_a_cycle_go_on_when_their_page_has_come),
        cmocka_unit_test(a_failed_add_leaves_the_next_one_to_work),
        cmocka_unit_test(the_history_adds_up_to_the_counters),
        cmocka_unit_test(an_access_counts_once_for_each_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

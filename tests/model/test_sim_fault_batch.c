/* SPDX-License-Identifier: Apache-2.0 */
/* Far faults in batches against counts and times made by hand: what is fetched, merged, dropped and
 * asked for again under each replay policy. Without prefetching; a page takes 256 ns on the link.
 */
#include "sim_paging_bench.h"

#define PAGE_PS 256000
#define US WP_PS_PER_US
#define ROUND                                                                                      \
    "paging.service=batch", "paging.prefetch=none", "link.curve=0", "link.bandwidth=16GB/s",       \
        "paging.interrupt=10us", "paging.batch_latency=5us", "paging.fault_latency=1us",           \
        "paging.block_latency=3us"

static void page_faults(bench *b, uint32_t number, uint32_t sm, uint32_t page, bool is_write,
                        wpi_time_ps now) {
    bench_issue(b, number, sm, BENCH_FIRST + (uint64_t)page * WPI_PAGE_BYTES, is_write, now);
}

static void assert_count(const bench *b, const char *name, uint64_t expected) {
    const uint64_t value = bench_count_of(b, name);
    if (value != expected)
        fail_msg("%s is %llu, expected %llu", name, (unsigned long long)value,
                 (unsigned long long)expected);
}

typedef struct expected {
    uint64_t services, batches, far_faults, raised, fetched, duplicates, flushed, replays;
} expected;

static const wpi_histogram *sizes;

static void look_for_sizes(void *object, const wpi_statistic *statistic) {
    (void)object;
    if (strcmp(statistic->name, "paging.batch.size") == 0) sizes = statistic->histogram;
}

/* What happened; each fault raised was fetched, flushed or had no room. */
static void assert_counts(const bench *b, const expected *e) {
    assert_count(b, "paging.services", e->services);
    assert_count(b, "paging.far_faults", e->far_faults);
    assert_count(b, "paging.batch.raised", e->raised);
    assert_count(b, "paging.batch.fetched", e->fetched);
    assert_count(b, "paging.batch.duplicates", e->duplicates);
    assert_count(b, "paging.batch.flushed", e->flushed);
    assert_count(b, "paging.batch.replays", e->replays);
    sizes = NULL;
    wpi_paging_statistics(b->paging, look_for_sizes, NULL);
    assert_non_null(sizes);
    assert_u64(sizes->count, e->batches);
    assert_u64(sizes->sum, e->fetched);
    assert_u64(e->raised, e->fetched + e->flushed + bench_count_of(b, "paging.batch.overflows"));
}

static void a_fault_alone_takes_what_its_parts_take(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 2 * MIB, ROUND);
    page_faults(&b, 0, 0, 0, false, 0);
    wpi_engine_run(b.engine);
    assert_u64(wpi_link_transfer_ps(b.profile, WPI_PAGE_BYTES), PAGE_PS);
    assert_u64(wpi_engine_now(b.engine),
               BENCH_WALK_PS + (10 + 5 + 1 + 3) * US + PAGE_PS + BENCH_WALK_PS + BENCH_ACCESS_PS);
    assert_counts(
        &b,
        &(expected){
            .services = 1, .batches = 1, .far_faults = 1, .raised = 1, .fetched = 1, .replays = 1});
    bench_close(&b);
}

/* ---- replay policies ---- */

/* 600 pages, of four SMs; all fault before the driver looks. */
static void open_600(bench *b, const char *replay) {
    BENCH_OPEN(b, 4 * MIB, ROUND, replay);
    for (uint32_t i = 0; i < 600; i++)
        page_faults(b, i, i % 4, i, false, 0);
}

#define FIRST_FETCH_PS (BENCH_WALK_PS + 10 * US)
#define FULL_BATCH_PS ((5 + 256 + 3) * US) /* its pages are of one block */

/* Batches of 256, 256 and 88; then all try again, for the first time. */
static void once_replays_when_all_is_served(void **state) {
    (void)state;
    bench b;
    open_600(&b, "paging.replay=once");
    const wpi_time_ps served_ps = FIRST_FETCH_PS + 2 * FULL_BATCH_PS + (5 + 88 + 3) * US;
    wpi_engine_run_until(b.engine, served_ps + 88 * PAGE_PS - 1);
    assert_u64(b.local, 0);
    wpi_engine_run(b.engine);
    assert_u64(wpi_engine_now(b.engine),
               served_ps + 88 * PAGE_PS + BENCH_WALK_PS + BENCH_ACCESS_PS);
    assert_u64(b.local, 600);
    assert_counts(&b, &(expected){.services = 1,
                                  .batches = 3,
                                  .far_faults = 600,
                                  .raised = 600,
                                  .fetched = 600,
                                  .replays = 1});
    bench_close(&b);
}

/* After the first batch 344 fault again, and their first entries are still in the buffer; after the
 * second 88. All these are fetched, in a batch of 256 and one of 176, and were served before. */
static void batch_fetches_again_what_was_replayed_too_early(void **state) {
    (void)state;
    bench b;
    open_600(&b, "paging.replay=batch");
    const wpi_time_ps replayed_ps = FIRST_FETCH_PS + FULL_BATCH_PS + 256 * PAGE_PS;
    wpi_engine_run_until(b.engine, replayed_ps + BENCH_WALK_PS - 1);
    assert_u64(b.local, 0);
    wpi_engine_run_until(b.engine, replayed_ps + BENCH_WALK_PS);
    assert_u64(b.local, 256);
    wpi_engine_run(b.engine);
    assert_u64(b.local, 600);
    assert_counts(&b, &(expected){.services = 1,
                                  .batches = 5,
                                  .far_faults = 600,
                                  .raised = 600 + 344 + 88,
                                  .fetched = 600 + 344 + 88,
                                  .duplicates = 344 + 88,
                                  .replays = 5});
    /* 256, 256, the last 88 of which the driver knew, and then 256 and 176. */
    assert_u64(sizes->classes[9], 3);
    assert_u64(sizes->classes[8], 1);
    assert_u64(sizes->classes[7], 1);
    bench_close(&b);
}

/* The same faults twice, but none is served twice: what was behind the batch is dropped. The buffer
 * is empty when they come again, so each batch has an interrupt. */
static void batch_flush_drops_what_will_come_again(void **state) {
    (void)state;
    bench b;
    open_600(&b, "paging.replay=batch-flush");
    wpi_engine_run(b.engine);
    assert_u64(b.local, 600);
    assert_counts(&b, &(expected){.services = 3,
                                  .batches = 3,
                                  .far_faults = 600,
                                  .raised = 600 + 344 + 88,
                                  .fetched = 600,
                                  .flushed = 344 + 88,
                                  .replays = 3});
    const wpi_time_ps replayed_ps = (600 * 1 + 3 * (10 + 5 + 3)) * US + 600 * PAGE_PS;
    assert_u64(wpi_engine_now(b.engine), replayed_ps + 4 * BENCH_WALK_PS + BENCH_ACCESS_PS);
    bench_close(&b);
}

/* Four blocks, of an SM each. After each of them all SMs are replayed: 3 fault again, then 2,
 * then 1. These 6 are a batch of 3 faults, as each is merged with the same SM's last; 3 more
 * replays have no waiting SM. */
static void block_replays_behind_each_block(void **state) {
    (void)state;
    for (uint32_t coalesces = 0; coalesces < 2; coalesces++) {
        bench b;
        BENCH_OPEN(&b, 8 * MIB, ROUND, "paging.replay=block",
                   coalesces != 0 ? "paging.coalesce=on" : "paging.coalesce=off");
        for (uint32_t i = 0; i < 4; i++)
            page_faults(&b, i, i, i * WPI_CHUNK_PAGES, false, 0);
        for (uint32_t i = 0; i < 4; i++) { /* one more each 3 us */
            const wpi_time_ps served_ps = FIRST_FETCH_PS + (5 + 4 + (i + 1) * 3) * US;
            wpi_engine_run_until(b.engine, served_ps + PAGE_PS + BENCH_WALK_PS);
            assert_u64(b.local, i + 1);
        }
        wpi_engine_run(b.engine);
        assert_counts(&b, &(expected){.services = 1,
                                      .batches = 2,
                                      .far_faults = 4,
                                      .raised = 4 + 3 + 2 + 1,
                                      .fetched = 4 + 3 + 2 + 1,
                                      .duplicates = 3 + 2 + 1,
                                      .replays = 4 + 3});
        assert_count(&b, "paging.batch.coalesced", coalesces != 0 ? 3 : 0);
        bench_close(&b);
    }
}

/* ---- the buffer ---- */

/* 8 of 20 find room, then 8 of 12, then 4. */
static void what_finds_no_room_faults_again(void **state) {
    (void)state;
    static const char *const replay[] = {"paging.replay=block", "paging.replay=batch",
                                         "paging.replay=batch-flush", "paging.replay=once"};
    for (uint32_t i = 0; i < 4; i++) {
        bench b;
        BENCH_OPEN(&b, 2 * MIB, ROUND, "paging.fault_buffer=8", replay[i]);
        for (uint32_t k = 0; k < 20; k++)
            page_faults(&b, k, k % 4, k, false, 0);
        wpi_engine_run(b.engine);
        assert_u64(b.local, 20);
        assert_count(&b, "paging.batch.overflows", 12 + 4);
        assert_counts(&b, &(expected){.services = 3,
                                      .batches = 3,
                                      .far_faults = 20,
                                      .raised = 20 + 12 + 4,
                                      .fetched = 20,
                                      .replays = 3});
        bench_close(&b);
    }
}

/* An SM has an entry for a page, however many of its accesses wait. */
static void an_sm_faults_once_on_a_page(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 2 * MIB, ROUND);
    for (uint32_t i = 0; i < 12; i++)
        page_faults(&b, i, i % 3, 5, false, 0);
    wpi_engine_run(b.engine);
    assert_u64(b.local, 12);
    assert_count(&b, "paging.joined", 9);
    assert_count(&b, "paging.batch.coalesced", 2);
    assert_counts(&b, &(expected){.services = 1,
                                  .batches = 1,
                                  .far_faults = 1,
                                  .raised = 3,
                                  .fetched = 3,
                                  .duplicates = 2,
                                  .replays = 1});
    bench_close(&b);
}

/* A read is one with a write before it, of another SM; a write is more than the read before it. */
static void only_what_asks_for_no_more_is_merged(void **state) {
    (void)state;
    for (uint32_t is_write_first = 0; is_write_first < 2; is_write_first++) {
        bench b;
        BENCH_OPEN(&b, 2 * MIB, ROUND);
        page_faults(&b, 0, 0, 9, is_write_first != 0, 0);
        page_faults(&b, 1, 1, 9, is_write_first == 0, 0);
        wpi_engine_run(b.engine);
        assert_count(&b, "paging.batch.coalesced", is_write_first);
        assert_count(&b, "paging.batch.duplicates", 1);
        const wpi_time_ps faults_ps = (is_write_first != 0 ? 1 : 2) * US;
        assert_u64(wpi_engine_now(b.engine), FIRST_FETCH_PS + (5 + 3) * US + faults_ps + PAGE_PS +
                                                 BENCH_WALK_PS + BENCH_ACCESS_PS);
        bench_close(&b);
    }
}

/* Four SMs on a page: 75 percent are duplicates. Another page faults while they are served: its
 * entry is dropped with the flush if that looks for new entries, else it is served, and once more.
 */
static void a_flush_looks_for_new_entries_behind_duplicates(void **state) {
    (void)state;
    for (uint32_t looks = 0; looks < 2; looks++) {
        bench b;
        BENCH_OPEN(&b, 2 * MIB, ROUND,
                   looks != 0 ? "paging.flush_update=74%" : "paging.flush_update=75%");
        for (uint32_t i = 0; i < 4; i++)
            page_faults(&b, i, i, 0, false, 0);
        page_faults(&b, 4, 0, 1, false, FIRST_FETCH_PS);
        wpi_engine_run(b.engine);
        assert_u64(b.local, 5);
        assert_counts(&b, looks != 0 ? &(expected){.services = 2,
                                                   .batches = 2,
                                                   .far_faults = 2,
                                                   .raised = 6,
                                                   .fetched = 5,
                                                   .duplicates = 3,
                                                   .flushed = 1,
                                                   .replays = 2}
                                     : &(expected){.services = 1,
                                                   .batches = 3,
                                                   .far_faults = 2,
                                                   .raised = 6,
                                                   .fetched = 6,
                                                   .duplicates = 4,
                                                   .replays = 3});
        bench_close(&b);
    }
}

/* Batches of 2, three of them an interrupt: of 8 pages 2 are left, and fault again behind the
 * replay that ends the service. */
static void a_service_ends_after_so_many_batches(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 2 * MIB, ROUND, "paging.replay=once", "paging.batch=2",
               "paging.service_batches=3");
    for (uint32_t i = 0; i < 8; i++)
        page_faults(&b, i, 0, i, false, 0);
    wpi_engine_run(b.engine);
    assert_counts(&b, &(expected){.services = 2,
                                  .batches = 3 + 2,
                                  .far_faults = 8,
                                  .raised = 10,
                                  .fetched = 10,
                                  .duplicates = 2,
                                  .replays = 2});
    bench_close(&b);
}

/* Blocks are served by address, whatever the order of faults: pages come in that order. */
static void blocks_are_served_by_address(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 8 * MIB, ROUND, "paging.replay=block");
    for (uint32_t i = 0; i < 4; i++)
        page_faults(&b, i, i, (3 - i) * WPI_CHUNK_PAGES, false, 0);
    const wpi_residency *r = wpi_paging_residency(b.paging);
    for (uint32_t i = 0; i < 4; i++) {
        wpi_engine_run_until(b.engine, FIRST_FETCH_PS + (5 + 4 + (i + 1) * 3) * US + PAGE_PS);
        for (uint32_t chunk = 0; chunk < 4; chunk++)
            assert_u64(wpi_pages_count(&r->chunks[chunk].resident), chunk <= i);
    }
    wpi_engine_run(b.engine);
    bench_close(&b);
}

/* Adjacent pages are one transfer, though each was requested: no warp continues before all are
 * resident. On a link with a curve that takes less time than 8 transfers. */
static void pages_side_by_side_come_together(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 2 * MIB, ROUND, "link.curve=14043B");
    for (uint32_t i = 0; i < 8; i++)
        page_faults(&b, i, 0, i, false, 0);
    wpi_engine_run(b.engine);
    assert_u64(wpi_engine_now(b.engine), FIRST_FETCH_PS + (5 + 8 + 3) * US +
                                             wpi_link_transfer_ps(b.profile, 8 * WPI_PAGE_BYTES) +
                                             BENCH_WALK_PS + BENCH_ACCESS_PS);
    bench_close(&b);
}

static void read_on(bench *b, uint32_t number) {
    const uint64_t address = b->accesses[number].address + b->span_bytes;
    if (address < BENCH_FIRST + 64 * MIB)
        bench_issue(b, number, number % 28, address, false, wpi_engine_now(b->engine));
}

/* A kernel that reads 64 MiB in order, 448 KiB at a time: what the P100's times are set for. */
static void reading_in_order_gets_5_gb_a_second(void **state) {
    (void)state;
    bench b;
    wp_error err = {0};
    wpi_profile *profile = NULL;
    assert_status_ok(wpi_profile_load("p100", NULL, 0, &profile, &err), &err);
    bench_open_with(&b, profile, 64 * MIB);
    wpi_paging_use_on_host(b.paging, (wpi_paging_range){BENCH_FIRST, 64 * MIB});
    b.ended = read_on;
    b.span_bytes = 112 * WPI_PAGE_BYTES;
    for (uint32_t i = 0; i < 112; i++)
        page_faults(&b, i, i % 28, i, false, 0);
    wpi_engine_run(b.engine);
    assert_near((double)(64 * MIB) / (double)wpi_engine_now(b.engine) * 1e12, 5e9, 0.1);
    bench_close(&b);
}

/* ---- with less memory than pages ---- */

/* One frame: of two pages that come one after the other the first is gone at the replay, and faults
 * again. */
static void what_was_evicted_before_the_replay_faults_again(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 2 * MIB, ROUND, "paging.evict=lru-4k", "paging.prefetch_full=none");
    wpi_paging_set_frames(b.paging, 1);
    page_faults(&b, 0, 0, 0, false, 0);
    page_faults(&b, 1, 1, 2, false, 0);
    wpi_engine_run(b.engine);
    assert_u64(b.local, 2);
    assert_counts(
        &b,
        &(expected){
            .services = 2, .batches = 2, .far_faults = 3, .raised = 3, .fetched = 3, .replays = 2});
    assert_count(&b, "paging.evicted", 2);
    bench_close(&b);
}

static void random_traffic_ends_under_all_replay_policies(void **state) {
    (void)state;
    static const char *const replay[] = {"paging.replay=block", "paging.replay=batch",
                                         "paging.replay=batch-flush", "paging.replay=once"};
    static const char *const more[] = {"paging.batch=7",         "paging.fault_buffer=16",
                                       "paging.cu_faults=3",     "paging.mshrs=5",
                                       "paging.coalesce=off",    "paging.service_batches=1",
                                       "paging.flush_update=0%", "link.engines_to_device=3",
                                       "paging.migrate=always",  "paging.prefetch_full=none"};
    static const char *const evict[] = {"paging.evict=lru-2m", "paging.evict=driver",
                                        "paging.evict=lru-4k"};
    for (uint32_t i = 0; i < 40; i++) {
        bench b;
        BENCH_OPEN(&b, 20 * MIB - 300000, "paging.service=batch", replay[i % 4], more[i / 4],
                   evict[i % 3], "paging.prefetch=driver", "gpu.memory=4MiB");
        b.random = 7 + i;
        b.left = 8000;
        b.span_bytes = 20 * MIB - 300000;
        bench_run_random(&b, 500);
        if (b.open != 0) fail_msg("%s, %s: %u wait for ever", replay[i % 4], more[i / 4], b.open);
        assert_u64(b.local + b.remote, 8000);
        bench_check_residency(&b);
        assert_u64(bench_count_of(&b, "paging.batch.raised"),
                   bench_count_of(&b, "paging.batch.fetched") +
                       bench_count_of(&b, "paging.batch.flushed") +
                       bench_count_of(&b, "paging.batch.overflows"));
        assert_true(bench_count_of(&b, "paging.evicted") > 1000);
        bench_close(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fault_alone_takes_what_its_parts_take),
        cmocka_unit_test(once_replays_when_all_is_served),
        cmocka_unit_test(batch_fetches_again_what_was_replayed_too_early),
        cmocka_unit_test(batch_flush_drops_what_will_come_again),
        cmocka_unit_test(block_replays_behind_each_block),
        cmocka_unit_test(what_finds_no_room_faults_again),
        cmocka_unit_test(an_sm_faults_once_on_a_page),
        cmocka_unit_test(only_what_asks_for_no_more_is_merged),
        cmocka_unit_test(a_flush_looks_for_new_entries_behind_duplicates),
        cmocka_unit_test(a_service_ends_after_so_many_batches),
        cmocka_unit_test(blocks_are_served_by_address),
        cmocka_unit_test(pages_side_by_side_come_together),
        cmocka_unit_test(reading_in_order_gets_5_gb_a_second),
        cmocka_unit_test(what_was_evicted_before_the_replay_faults_again),
        cmocka_unit_test(random_traffic_ends_under_all_replay_policies),
    };
    return wp_test_main(tests);
}

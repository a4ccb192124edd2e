/* SPDX-License-Identifier: Apache-2.0 */
/* Host and device want a page in turn: what moves, what waits, and where it ends, by count. */
#include "sim_traffic.h"

#define US WP_PS_PER_US
#define FIGHT                                                                                      \
    "paging.thrash=driver", "paging.prefetch=none", "link.curve=0", "link.bandwidth=16GB/s",       \
        "paging.latency=45us", "paging.host_latency=0"

static void assert_count(const bench *b, const char *name, uint64_t expected) {
    const uint64_t value = bench_count_of(b, name);
    if (value != expected)
        fail_msg("%s is %llu, expected %llu", name, (unsigned long long)value,
                 (unsigned long long)expected);
}

static void device_accesses(bench *b, bool is_write) {
    bench_issue(b, 0, 0, BENCH_FIRST, is_write, wpi_engine_now(b->engine));
    wpi_engine_run(b->engine);
    assert_u64(b->open, 0);
}

/* Until it is over: how often the host had to wait for something. */
static uint32_t host_touches(bench *b, uint32_t page) {
    wpi_pages touched = {{0}};
    wpi_time_ps done = 0;
    uint32_t waits = 0;
    wpi_pages_add(&touched, page);
    for (;
         wpi_paging_host_fault(b->paging, BENCH_FIRST, &touched, wpi_engine_now(b->engine), &done);
         waits++)
        wpi_engine_run_until(b->engine, done);
    return waits;
}

static void a_page_goes_to_the_host_and_back(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 2 * MIB, FIGHT, "paging.thrash=none", "paging.host_latency=7us");
    assert_u64(host_touches(&b, 0), 0); /* it is there */
    device_accesses(&b, true);
    const wpi_time_ps asked = wpi_engine_now(b.engine);
    assert_u64(host_touches(&b, 0), 1);
    assert_u64(wpi_engine_now(b.engine),
               asked + 7 * US + wpi_link_transfer_ps(b.profile, WPI_PAGE_BYTES));
    assert_u64(b.shot_down_bytes, WPI_PAGE_BYTES);
    bench_check_residency(&b);
    assert_u64(wpi_paging_residency(b.paging)->used, 0);
    device_accesses(&b, false);
    assert_count(&b, "paging.fetched", 2);
    assert_count(&b, "paging.host_fetched", 1);
    assert_count(&b, "paging.evicted", 0);
    assert_count(&b, "paging.thrashed", 0); /* no memory was lacking */
    const uint32_t counter = wpi_paging_residency(b.paging)->chunks[0].blocks[0].counter;
    assert_u64(wpi_counter_round_trips(counter), 0);
    bench_close(&b);
}

/* Not while an access to it is under way: that takes 300 ns from its walk's end. */
static void a_page_in_use_stays(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 2 * MIB, FIGHT);
    device_accesses(&b, false);
    const wpi_time_ps now = wpi_engine_now(b.engine);
    bench_issue(&b, 0, 0, BENCH_FIRST, false, now);
    wpi_engine_run_until(b.engine, now + BENCH_WALK_PS);
    assert_u64(host_touches(&b, 0), 0);
    assert_u64(wpi_paging_residency(b.paging)->used, 1);
    wpi_engine_run_until(b.engine, now + BENCH_WALK_PS + BENCH_ACCESS_PS);
    assert_u64(host_touches(&b, 0), 1);
    assert_u64(wpi_paging_residency(b.paging)->used, 0);
    wpi_engine_run(b.engine);
    bench_close(&b);
}

/* In turn, within lapses: 3 moves to the device make it thrash, with 2 to the host between. From
 * then on each has to wait for its turn, once: 10 times; then it is the host's turn, and the page
 * stays there. So 8 moves each way; the device's last accesses go across the link. */
static void fight(const char *service, const char *replay, uint64_t throttled) {
    bench b;
    uint32_t waits = 0;
    BENCH_OPEN(&b, 2 * MIB, FIGHT, service, replay);
    for (uint32_t i = 0; i < 8; i++) {
        device_accesses(&b, i % 2 == 0);
        waits += host_touches(&b, 0);
    }
    assert_u64(waits, 8 + 5); /* each time for the page; and 5 of 10 throttles */
    const wpi_time_ps pinned = wpi_engine_now(b.engine);
    assert_u64(b.local, 8);
    assert_u64(b.remote, 0);
    for (uint32_t i = 0; i < 6; i++)
        device_accesses(&b, i % 2 == 0); /* writes, too */
    assert_u64(b.remote, 6);
    assert_u64(host_touches(&b, 0), 0);
    assert_count(&b, "paging.fetched", 8);
    assert_count(&b, "paging.host_fetched", 8);
    assert_count(&b, "paging.pinned", 1);
    assert_true(bench_count_of(&b, "paging.throttled") >= throttled);
    if (throttled == 10) {
        assert_count(&b, "paging.throttled", 10);
    } else { /* only waiting SMs fault, and throttled pages were not served before */
        assert_count(&b, "paging.batch.raised", b.waits);
        assert_count(&b, "paging.batch.duplicates", 0);
    }
    wpi_engine_run_until(b.engine, pinned + 150000 * US);
    device_accesses(&b, false); /* its time is over */
    assert_u64(b.local, 9);
    bench_close(&b);
}

static void a_fight_ends_on_the_host(void **state) {
    (void)state;
    fight("paging.service=drained", "paging.replay=once", 10);
    fight("paging.service=serial", "paging.replay=once", 10);
}

/* Who is throttled faults again after each replay, all the time: 5 times some 500 us, with a batch
 * in no more than 25. */
static void in_batches_the_throttled_keep_faulting(void **state) {
    (void)state;
    fight("paging.service=batch", "paging.replay=batch-flush", 10 + 5 * 15);
    fight("paging.service=batch", "paging.replay=batch", 10 + 5 * 15);
    fight("paging.service=batch", "paging.replay=block", 10 + 5 * 15);
    fight("paging.service=batch", "paging.replay=once", 10 + 5 * 15);
}

static const wpi_histogram *sizes;

static void look_for_sizes(void *object, const wpi_statistic *statistic) {
    (void)object;
    if (strcmp(statistic->name, "paging.batch.size") == 0) sizes = statistic->histogram;
}

static uint64_t batches_of(const bench *b) {
    wpi_paging_statistics(b->paging, look_for_sizes, NULL);
    return sizes->count;
}

/* It is the host's turn on page 0; it and three others fault. With batches of one fault, of 9 us
 * each, the first has a throttled one, and is the interrupt's last if one such batch is enough. */
static void batches_with_throttled_faults_end_a_service(void **state) {
    (void)state;
    for (uint32_t most = 1; most <= 2; most++) {
        bench b;
        BENCH_OPEN(&b, 2 * MIB, FIGHT, "paging.service=batch", "paging.replay=once",
                   "paging.batch=1", "paging.interrupt=10us", "paging.batch_latency=5us",
                   "paging.fault_latency=1us", "paging.block_latency=3us",
                   most == 1 ? "paging.service_throttles=1" : "paging.service_throttles=2");
        for (uint32_t i = 0; i < 3; i++) {
            device_accesses(&b, false);
            (void)host_touches(&b, 0);
        }
        const uint64_t batches = batches_of(&b);
        const wpi_time_ps now = wpi_engine_now(b.engine);
        for (uint32_t i = 0; i < 4; i++)
            bench_issue(&b, i, 0, BENCH_FIRST + (uint64_t)i * WPI_PAGE_BYTES, false, now);
        wpi_engine_run_until(b.engine, now + BENCH_WALK_PS + (10 + 2 * 9) * US);
        assert_count(&b, "paging.throttled", 1);
        assert_u64(batches_of(&b), batches + most);
        wpi_engine_run(b.engine);
        assert_u64(b.open, 0);
        bench_close(&b);
    }
}

/* Without the policy the page goes back and forth. */
static void without_it_the_fight_goes_on(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 2 * MIB, FIGHT, "paging.thrash=none");
    for (uint32_t i = 0; i < 50; i++) {
        device_accesses(&b, false);
        assert_u64(host_touches(&b, 0), 1);
    }
    assert_count(&b, "paging.fetched", 50);
    assert_count(&b, "paging.host_fetched", 50);
    assert_count(&b, "paging.throttled", 0);
    assert_u64(b.remote, 0);
    bench_close(&b);
}

/* The device faults on page 0 and gets the block, the host wants page 0 back and gets the block.
 * The third time all 16 pages thrash: the host gets no more than it touches, and so does the
 * device. */
static void pages_that_thrash_are_not_prefetched(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 2 * MIB, FIGHT, "paging.prefetch=sequential-local");
    const wpi_chunk *chunk = &wpi_paging_residency(b.paging)->chunks[0];
    for (uint32_t i = 0; i < 3; i++) {
        device_accesses(&b, false);
        assert_u64(wpi_pages_count(&chunk->resident), 16);
        assert_u64(host_touches(&b, 0), 1);
        assert_u64(wpi_pages_count(&chunk->resident), i < 2 ? 0 : 15);
    }
    assert_u64(host_touches(&b, 5), 1);
    assert_u64(wpi_pages_count(&chunk->resident), 14);
    bench_issue(&b, 1, 0, BENCH_FIRST + 5 * WPI_PAGE_BYTES, false, wpi_engine_now(b.engine));
    wpi_engine_run(b.engine);
    assert_true(wpi_pages_has(&chunk->resident, 5));
    assert_u64(wpi_pages_count(&chunk->resident), 15);
    bench_close(&b);
}

/* ---- behind TLBs, in front of caches ---- */

#define TRAFFIC_PAGES 12u

static uint64_t random_page(traffic *t) {
    return BENCH_FIRST + wp_random_next(&t->random) % TRAFFIC_PAGES * WPI_PAGE_BYTES;
}

static void choose(traffic *t, wpi_access *access) {
    static const uint8_t kinds[] = {WP_TRACE_LOAD, WP_TRACE_STORE, WP_TRACE_ATOMIC};
    for (uint32_t lane = 0; lane < WPI_LANES; lane++)
        t->addresses[lane] = random_page(t) + lane * 4;
    access->kind = kinds[wp_random_next(&t->random) % 3];
}

/* The host touches a page each 3 us, or as soon as it may, while there are accesses. */
static void touch(void *object, uint64_t address, wpi_time_ps now) {
    traffic *t = object;
    wpi_pages touched = {{0}};
    wpi_time_ps done = now;
    wpi_pages_add(&touched, wpi_page_of(address));
    const bool waits = wpi_paging_host_fault(t->paging, BENCH_FIRST, &touched, now, &done);
    if (t->left == 0) return;
    const bool is_throttled = waits && !wpi_pages_is_empty(&touched);
    wpi_engine_at(t->rig.engine, done + 3 * US, touch, t, is_throttled ? address : random_page(t));
}

static void warps_and_the_host_come_to_an_end(void **state) {
    (void)state;
    static const char *const service[] = {"paging.service=drained", "paging.service=batch"};
    static const char *const adapt[] = {"paging.thrash_adapt=as-written",
                                        "paging.thrash_adapt=as-intended"};
    for (uint32_t i = 0; i < 4; i++) {
        traffic t = {.choose = choose, .random = 5 + i, .left = 2000, .pause_ps = 10 * US};
        bench b = {0};
        RIG_OPEN(&t.rig, service[i % 2], adapt[i / 2], "paging.thrash=driver",
                 "paging.thrash_pin_threshold=2", "paging.thrash_lapse=500us",
                 "paging.thrash_pin=2", "paging.latency=5us", "paging.batch_latency=1us",
                 "paging.block_latency=1us", "paging.host_latency=0", "paging.prefetch=none", );
        traffic_manage(&t, 2 * MIB);
        b.paging = t.paging;
        wpi_engine_at(t.rig.engine, 20 * US, touch, &t, BENCH_FIRST);
        assert_true(traffic_run(&t, 8));
        bench_check_residency(&b);
        assert_true(bench_count_of(&b, "paging.host_fetched") > 10);
        assert_true(bench_count_of(&b, "paging.throttled") > 10);
        /* As intended, the lapse shrinks until hardly anything is a fight. */
        const bool is_written = i / 2 == 0;
        assert_u64(is_written, bench_count_of(&b, "paging.pinned") > 20);
        assert_u64(is_written, bench_count_of(&b, "paging.remote") > 500);
        rig_close(&t.rig);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_goes_to_the_host_and_back),
        cmocka_unit_test(a_page_in_use_stays),
        cmocka_unit_test(a_fight_ends_on_the_host),
        cmocka_unit_test(in_batches_the_throttled_keep_faulting),
        cmocka_unit_test(batches_with_throttled_faults_end_a_service),
        cmocka_unit_test(without_it_the_fight_goes_on),
        cmocka_unit_test(pages_that_thrash_are_not_prefetched),
        cmocka_unit_test(warps_and_the_host_come_to_an_end),
    };
    return wp_test_main(tests);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Translations fetched ahead by the last TLB level, against arithmetic. A walk takes 200 cycles of
 * 1 ns, the second level 9, the first 1. */
#include "sim_traffic.h"

#define PAGE ((uint64_t)64 * 1024)
#define LOCALITY "tlb_prefetch.policy=locality"

/* Pages from `first` on, `stride` apart: the number of walks that an access waited for. */
static uint64_t waits(rig *r, uint64_t first, uint64_t stride, uint64_t count) {
    const uint64_t before = rig_count(r, "tlb.l2.misses");
    for (uint64_t i = 0; i < count; i++)
        (void)rig_time(r, (uint32_t)(i % 8), WP_TRACE_LOAD, (first + i * stride) * PAGE);
    return rig_count(r, "tlb.l2.misses") - before;
}

static void pages_in_a_row_are_there_from_the_third_on(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, LOCALITY, );
    assert_u64(waits(&r, 32, 1, 16), 2);
    assert_u64(rig_count(&r, "tlb_prefetch.fetched"), 15); /* one too many */
    assert_u64(rig_count(&r, "tlb_prefetch.used"), 14);
    assert_u64(rig_count(&r, "walker.walks"), 17);
    rig_close(&r);
    RIG_OPEN(&r, LOCALITY, "tlb_prefetch.threshold=4", );
    assert_u64(waits(&r, 32, 1, 16), 4);
    rig_close(&r);
    RIG_OPEN(&r, LOCALITY, "tlb_prefetch.degree=3", );
    assert_u64(waits(&r, 32, 1, 16), 2);
    assert_u64(rig_count(&r, "tlb_prefetch.fetched"), 17);
    rig_close(&r);
}

static void the_distance_is_that_of_the_last_two(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, LOCALITY, );
    assert_u64(waits(&r, 32, 4, 4), 2);
    assert_u64(waits(&r, 127, (uint64_t)-3, 5), 2);
    assert_u64(waits(&r, 5, (uint64_t)-2, 3), 2); /* there is no page -1 */
    assert_u64(waits(&r, 1000, 16, 10), 10);      /* each in a region of its own */
    rig_close(&r);
}

static void what_was_fetched_ahead_is_a_hit_of_the_second_level(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, LOCALITY, );
    const wpi_time_ps walked = rig_time(&r, 0, WP_TRACE_LOAD, 32 * PAGE);
    assert_u64(rig_time(&r, 0, WP_TRACE_LOAD, 33 * PAGE), walked);
    assert_u64(walked - rig_time(&r, 0, WP_TRACE_LOAD, 34 * PAGE), 200 * WP_PS_PER_NS);
    rig_close(&r);
}

static void a_miss_of_what_is_on_its_way_joins_it(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, LOCALITY, );
    (void)waits(&r, 32, 1, 1);
    const wpi_time_ps now = wpi_engine_now(r.engine);
    rig_issue(&r, 0, WP_TRACE_LOAD, 1, 33 * PAGE, 0, now);
    rig_issue(&r, 1, WP_TRACE_LOAD, 1, 34 * PAGE, 0, now + 50 * WP_PS_PER_NS);
    wpi_engine_run(r.engine);
    assert_u64(rig_count(&r, "tlb.l2.misses"), 2);
    assert_u64(rig_count(&r, "tlb.l2.merges"), 1);
    assert_u64(rig_count(&r, "walker.walks"), 3);
    rig_close(&r);
}

static void walks_that_somebody_waits_for_come_first(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, LOCALITY, "walker.count=1", );
    for (uint64_t i = 0; i < 8; i++)
        rig_issue(&r, 0, WP_TRACE_LOAD, 1, (32 + 2 * i) * PAGE, 0, 0);
    wpi_engine_run(r.engine);
    assert_u64(rig_count(&r, "walker.walks"), 8);
    rig_close(&r);
}

static void the_buffer_forgets_the_oldest(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, LOCALITY, "tlb_prefetch.buffer=2", );
    for (uint64_t region = 2; region < 5; region++)
        (void)waits(&r, region * 16, 1, 2);
    assert_u64(waits(&r, 2 * 16 + 2, 1, 1), 1);
    assert_u64(waits(&r, 4 * 16 + 2, 1, 1), 0);
    rig_close(&r);
}

/* Four lanes, 8 KiB apart. */
static void choose(traffic *t, wpi_access *access) {
    const uint64_t base = wp_random_next(&t->random) % (80 * PAGE);
    for (uint32_t lane = 0; lane < WPI_LANES; lane++)
        t->addresses[lane] = BENCH_FIRST + base / 4 * 4 + lane * PAGE / 64;
    access->mask = 0x01010101;
}

/* No far fault is anybody's who did not ask, and all who joined a walk ahead get their page. */
static void pages_that_come_and_go(void **state) {
    (void)state;
    static const char *const pages[] = {"page.bytes=4KiB", "page.bytes=2MiB"};
    static const char *const sharing[] = {"tlb_sharing.policy=private",
                                          "tlb_sharing.policy=neidty"};
    for (uint32_t i = 0; i < 4; i++) {
        traffic t = {.choose = choose, .random = 21 + i, .left = 3000};
        RIG_OPEN(&t.rig, LOCALITY, "tlb_prefetch.degree=4", "walker.count=64", pages[i % 2],
                 sharing[i / 2], "gpu.memory=4MiB", "paging.prefetch=tree", );
        traffic_manage(&t, 84 * PAGE);
        assert_true(traffic_run(&t, 8));
        assert_true(rig_count(&t.rig, "tlb_prefetch.used") > 0);
        rig_close(&t.rig);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_in_a_row_are_there_from_the_third_on),
        cmocka_unit_test(the_distance_is_that_of_the_last_two),
        cmocka_unit_test(what_was_fetched_ahead_is_a_hit_of_the_second_level),
        cmocka_unit_test(a_miss_of_what_is_on_its_way_joins_it),
        cmocka_unit_test(walks_that_somebody_waits_for_come_first),
        cmocka_unit_test(the_buffer_forgets_the_oldest),
        cmocka_unit_test(pages_that_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

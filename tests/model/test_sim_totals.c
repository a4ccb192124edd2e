/* SPDX-License-Identifier: Apache-2.0 */
/* Counters that say the same thing in two ways agree, whatever was accessed. */
#include "sim_rig.h"
#include "wp_random.h"

typedef struct sums {
    uint64_t latency_ps, spent_ps, accesses, answers;
} sums;

static void add(void *object, const wpi_statistic *statistic) {
    sums *s = object;
    const char *name = statistic->name;
    if (strncmp(name, "memory.spent.", 13) == 0) s->spent_ps += statistic->value;
    if (strncmp(name, "memory.", 7) != 0) return;
    if (strstr(name, ".accesses") != NULL) s->accesses += statistic->value;
    if (strstr(name, ".latency") == NULL) return;
    s->latency_ps += statistic->histogram->sum;
    s->answers += statistic->histogram->count;
}

/* Loads, stores, atomics and reductions at random places, more than all queues hold. */
static void issue_many(rig *r, uint64_t count) {
    uint64_t random = 7;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t place = wp_random_next(&random) % ((uint64_t)1 << 28) / 4 * 4;
        const uint32_t mask = (uint32_t)wp_random_next(&random) | 1;
        const uint64_t stride = 4u << wp_random_next(&random) % 12;
        rig_issue(r, (uint32_t)(i % 8), (uint8_t)(i % WP_TRACE_ACCESS_COUNT), mask, place, stride,
                  wpi_engine_now(r->engine));
        if (i % 64 == 0) wpi_engine_run_until(r->engine, wpi_engine_now(r->engine) + 1000000);
    }
    wpi_engine_run(r->engine);
}

static void where_time_went_adds_up_to_the_time_of_all_accesses(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, "l1.mshrs=4", "tlb.l1.mshrs=2", "l2.mshrs=8", "walker.queue=4", "lsu.stores=8", );
    issue_many(&r, 5000);
    wpi_memory_set_host_range(r.memory, 0,
                              (uint64_t)1 << 27); /* half of all places: across the link */
    issue_many(&r, 5000);
    sums s = {0};
    wpi_memory_statistics(r.memory, add, &s);
    assert_u64(s.accesses, 10000);
    assert_u64(s.answers, 10000);
    assert_true(s.latency_ps > 0);
    assert_u64(s.spent_ps, s.latency_ps);
    rig_close(&r);
}

static void stalls_take_time_and_no_stall_takes_none(void **state) {
    (void)state;
    const char *const names[] = {"l1.stall", "tlb.l1.stall", "l2.mshr"};
    for (int is_narrow = 0; is_narrow <= 1; is_narrow++) {
        rig r;
        if (is_narrow)
            RIG_OPEN(&r, "l1.mshrs=4", "tlb.l1.mshrs=2", "l2.mshrs=8", );
        else
            RIG_OPEN(&r, "l1.bytes=8MiB", "l1.ways=64", "l1.mshrs=4096", "tlb.l1.mshrs=4096",
                     "l2.mshrs=65536", "walker.queue=100000", );
        issue_many(&r, 2000);
        for (size_t i = 0; i < 3; i++) {
            char count[32], wait[32];
            (void)snprintf(count, sizeof count, "%s%s", names[i], i == 2 ? "_waits" : "s");
            (void)snprintf(wait, sizeof wait, "%s_wait", names[i]);
            print_message("%s\n", names[i]);
            if (is_narrow) {
                assert_true(rig_count(&r, count) > 0 && rig_count(&r, wait) > 0);
            } else {
                assert_u64(rig_count(&r, count), 0);
                assert_u64(rig_count(&r, wait), 0);
            }
        }
        rig_close(&r);
    }
}

static void every_walk_has_a_latency(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, );
    issue_many(&r, 500);
    assert_true(rig_count(&r, "walker.walks") > 0);
    assert_u64(rig_count(&r, "walker.latency"), rig_count(&r, "walker.walks"));
    assert_u64(rig_count(&r, "tlb.l2.misses"), rig_count(&r, "walker.walks"));
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_time_went_adds_up_to_the_time_of_all_accesses),
        cmocka_unit_test(stalls_take_time_and_no_stall_takes_none),
        cmocka_unit_test(every_walk_has_a_latency),
    };
    return wp_test_main(tests);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Host work against arithmetic: a core's rate, the bus that cores share, misses, fair shares. */
#include "sim/host/host_model.h"

#include <time.h>

#include "wp_random.h"
#include "wp_test.h"

#define MIB ((uint64_t)1 << 20)
#define GB_PER_S UINT64_C(1000000000)

typedef struct rig {
    wpi_engine *engine;
    wpi_host_profile profile;
    wpi_host_model *model;
    wpi_time_ps ends[64];
} rig;

static void set_up(rig *r) {
    wp_error err = {0};
    r->profile = (wpi_host_profile){.cores = 4,
                                    .bytes_per_s = 40 * GB_PER_S,
                                    .core_bytes_per_s = 16 * GB_PER_S,
                                    .random_latency_ps = 80 * WP_PS_PER_NS,
                                    .random_in_flight = 10};
    assert_status_ok(wpi_engine_create(&r->engine, &err), &err);
    assert_status_ok(wpi_host_model_create(r->engine, &r->profile, &r->model, &err), &err);
}

static void tear_down(rig *r) {
    wpi_host_model_destroy(r->model);
    wpi_engine_destroy(r->engine);
}

static void ended(void *object, uint64_t token, wpi_time_ps now) {
    ((rig *)object)->ends[token] = now;
}

/* Seconds that `work` takes on an idle host. */
static double seconds_of(wp_host_work work) {
    rig r = {0};
    set_up(&r);
    wpi_host_model_work(r.model, &work, ended, &r, 0);
    wpi_engine_run(r.engine);
    tear_down(&r);
    return (double)r.ends[0] / 1e12;
}

static void one_core_reads_at_its_own_rate(void **state) {
    (void)state;
    assert_near(seconds_of((wp_host_work){.read_bytes = 160 * MIB}), 160.0 * MIB / 16e9, 1e-6);
    assert_near(seconds_of((wp_host_work){.read_bytes = 100}), 100 / 16e9, 0.02);
}

static void two_cores_take_half_the_time_and_the_bus_is_the_limit_of_four(void **state) {
    (void)state;
    const double bytes = 160.0 * MIB;
    assert_near(seconds_of((wp_host_work){.read_bytes = 160 * MIB, .threads = 2}), bytes / 32e9,
                1e-3);
    assert_near(seconds_of((wp_host_work){.read_bytes = 160 * MIB, .threads = 4}), bytes / 40e9,
                1e-2);
    assert_near(seconds_of((wp_host_work){.read_bytes = 160 * MIB, .threads = 8}), bytes / 40e9,
                1e-2);
}

static void written_bytes_count_twice(void **state) {
    (void)state;
    const wp_host_work copy = {.read_bytes = 64 * MIB, .written_bytes = 64 * MIB};
    assert_near(seconds_of(copy), 3 * 64.0 * MIB / 16e9, 1e-3);
    assert_near(seconds_of((wp_host_work){.written_bytes = 64 * MIB}), 2 * 64.0 * MIB / 16e9, 1e-3);
}

static void random_words_cost_a_miss_each(void **state) {
    (void)state;
    const wp_host_work gather = {
        .read_bytes = 8 * MIB, .pattern = WP_HOST_RANDOM, .access_bytes = 8};
    assert_near(seconds_of(gather), (double)MIB * 8e-9, 1e-3);
}

static void random_records_add_their_further_lines_in_order(void **state) {
    (void)state;
    const wp_host_work gather = {
        .read_bytes = 64 * MIB, .pattern = WP_HOST_RANDOM, .access_bytes = 256};
    const double pieces = 64.0 * MIB / 256;
    assert_near(seconds_of(gather), pieces * (8e-9 + 192 / 16e9), 1e-3);
}

static void random_reads_of_many_cores_wait_for_the_bus(void **state) {
    (void)state;
    rig r = {0};
    set_up(&r);
    r.profile.bytes_per_s = 10 * GB_PER_S;
    const wp_host_work gather = {
        .read_bytes = 32 * MIB, .pattern = WP_HOST_RANDOM, .access_bytes = 8, .threads = 4};
    wpi_host_model_work(r.model, &gather, ended, &r, 0);
    wpi_engine_run(r.engine);
    assert_near((double)r.ends[0] / 1e12, 4.0 * MIB * 64 / 10e9, 1e-2);
    tear_down(&r);
}

static void small_work_beside_large_work_does_not_wait_for_its_end(void **state) {
    (void)state;
    rig r = {0};
    set_up(&r);
    const wp_host_work large = {.read_bytes = 400 * MIB, .threads = 8};
    const wp_host_work small = {.read_bytes = 4096};
    wpi_host_model_work(r.model, &large, ended, &r, 0);
    wpi_host_model_work(r.model, &small, ended, &r, 1);
    wpi_engine_run(r.engine);
    assert_true(r.ends[1] < r.ends[0] / 50);
    tear_down(&r);
}

static void work_without_bytes_takes_no_time(void **state) {
    (void)state;
    assert_true(seconds_of((wp_host_work){.threads = 3}) == 0);
}

/* Whatever is asked for: all of it ends, cores are never more than there are, and the bus carries
 * no more than it can. */
static void any_mixture_ends_and_stays_within_the_machine(void **state) {
    (void)state;
    uint64_t random = (uint64_t)time(NULL) | 1;
    print_message("seed %llu\n", (unsigned long long)random);
    for (int round = 0; round < 200; round++) {
        rig r = {0};
        set_up(&r);
        double bus_bytes = 0;
        const uint32_t count = 1 + (uint32_t)(wp_random_next(&random) % 20);
        for (uint32_t i = 0; i < count; i++) {
            const wp_host_work work = {.read_bytes = (wp_random_next(&random) % (4 * MIB)),
                                       .written_bytes = (wp_random_next(&random) % (2 * MIB)),
                                       .pattern = (wp_host_pattern)(wp_random_next(&random) % (2)),
                                       .access_bytes = (uint32_t)(wp_random_next(&random) % (300)),
                                       .threads = (uint32_t)(wp_random_next(&random) % (9))};
            bus_bytes += (double)work.read_bytes + 2.0 * (double)work.written_bytes;
            wpi_host_model_work(r.model, &work, ended, &r, i);
        }
        wpi_engine_run(r.engine);
        wpi_time_ps last = 0;
        for (uint32_t i = 0; i < count; i++)
            if (r.ends[i] > last) last = r.ends[i];
        const wpi_host_numbers *n = wpi_host_model_numbers(r.model);
        assert_true((double)last * 1e-12 * 40e9 >= bus_bytes * 0.999);
        assert_true(n->core_ps <= 4 * last);
        assert_true(n->bus_ps <= last);
        tear_down(&r);
    }
}

static void work_under_way_goes_with_the_model(void **state) {
    (void)state;
    rig r = {0};
    set_up(&r);
    const wp_host_work large = {.read_bytes = 400 * MIB, .threads = 8};
    wpi_host_model_work(r.model, &large, ended, &r, 0);
    wpi_engine_run_until(r.engine, WP_PS_PER_US);
    assert_int_equal(r.ends[0], 0);
    tear_down(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_core_reads_at_its_own_rate),
        cmocka_unit_test(two_cores_take_half_the_time_and_the_bus_is_the_limit_of_four),
        cmocka_unit_test(written_bytes_count_twice),
        cmocka_unit_test(random_words_cost_a_miss_each),
        cmocka_unit_test(random_records_add_their_further_lines_in_order),
        cmocka_unit_test(random_reads_of_many_cores_wait_for_the_bus),
        cmocka_unit_test(small_work_beside_large_work_does_not_wait_for_its_end),
        cmocka_unit_test(work_without_bytes_takes_no_time),
        cmocka_unit_test(any_mixture_ends_and_stays_within_the_machine),
        cmocka_unit_test(work_under_way_goes_with_the_model),
    };
    return wp_test_main(tests);
}

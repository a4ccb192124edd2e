/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/engine/engine.h"

#include "wp_random.h"
#include "wp_test.h"

/* The reference: all events in one array, the next one found by search. */
#define EVENT_COUNT_MAX 20000

typedef struct model_event {
    wpi_time_ps time;
    bool is_pending;
} model_event;

typedef struct model {
    wpi_engine *engine;
    model_event events[EVENT_COUNT_MAX];
    uint32_t count; /* its index is the event's sequence and token */
    uint32_t run;
    uint32_t first; /* no event before it is pending */
    uint64_t random;
    uint64_t announced;
} model;

static model m;

static void happen(void *object, uint64_t token, wpi_time_ps now);

static wpi_time_ps random_delay(void) {
    const uint64_t r = wp_random_next(&m.random);
    const wpi_time_ps window_ps = (wpi_time_ps)1 << 23, windows_ps = window_ps << 16;
    switch (r % 8) {
    case 0: return 0;
    case 1: return (r >> 8) % 1200;    /* the bucket being run and its neighbours */
    case 2: return (r >> 8) % 2000000; /* the wheel */
    case 3: return 2 * window_ps - 2048 + (r >> 8) % 4096;                          /* its rim */
    case 4: return window_ps - wpi_engine_now(m.engine) % window_ps + (r >> 8) % 2; /* a window's */
    case 5: return (r >> 8) % 100000000;                                /* some windows */
    case 6: return windows_ps - window_ps + (r >> 8) % (3 * window_ps); /* the rim of them all */
    default: return (r >> 8) % (4 * windows_ps);                        /* beyond */
    }
}

/* What is announced is still to come. */
static void announce(void *object, uint64_t token, bool is_near) {
    assert_ptr_equal(object, &m);
    assert_true(m.events[token].is_pending);
    assert_true(m.events[token].time >= wpi_engine_now(m.engine));
    m.announced += is_near;
}

static void schedule(wpi_time_ps time) {
    if (m.count == EVENT_COUNT_MAX) return;
    m.events[m.count] = (model_event){time, true};
    wpi_engine_at_announced(m.engine, time, happen, m.count % 3 == 0 ? NULL : announce, &m,
                            m.count);
    m.count++;
}

static uint32_t next_of_model(void) {
    while (m.first < m.count && !m.events[m.first].is_pending)
        m.first++;
    uint32_t best = UINT32_MAX;
    for (uint32_t i = m.first; i < m.count; i++)
        if (m.events[i].is_pending &&
            (best == UINT32_MAX || m.events[i].time < m.events[best].time))
            best = i;
    return best;
}

static void happen(void *object, uint64_t token, wpi_time_ps now) {
    assert_ptr_equal(object, &m);
    assert_u64(token, next_of_model());
    assert_u64(now, m.events[token].time);
    assert_u64(now, wpi_engine_now(m.engine));
    m.events[token].is_pending = false;
    m.run++;
    const uint64_t children =
        wp_random_next(&m.random) % 16 < 9 ? 1 : wp_random_next(&m.random) % 3;
    for (uint64_t i = 0; i < children; i++)
        schedule(now + random_delay());
}

/* In one run, or in short ones, between which events are scheduled from outside. */
static void order_is_that_of_a_search(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        wp_error err;
        memset(&m, 0, sizeof m);
        m.random = seed * 0x9e3779b97f4a7c15u;
        print_message("seed %llu\n", (unsigned long long)seed);
        assert_status_ok(wpi_engine_create(&m.engine, &err), &err);
        for (int i = 0; i < 200; i++)
            schedule(random_delay());
        while (seed % 2 == 0 && wpi_engine_pending(m.engine) != 0) {
            const wpi_time_ps most_ps =
                wp_random_next(&m.random) % 8 == 0 ? (wpi_time_ps)1 << 36 : 3000;
            wpi_engine_run_until(m.engine,
                                 wpi_engine_now(m.engine) + wp_random_next(&m.random) % most_ps);
            schedule(wpi_engine_now(m.engine) + random_delay() % 2000);
            if (m.run > EVENT_COUNT_MAX / 2) break;
        }
        wpi_engine_run(m.engine);
        assert_true(m.announced > m.count / 8); /* not those of the bucket being run */
        assert_u64(m.run, m.count);
        assert_u64(wpi_engine_events_run(m.engine), m.count);
        assert_u64(wpi_engine_pending(m.engine), 0);
        wpi_engine_destroy(m.engine);
    }
}

static uint64_t log_of_tokens[16];
static uint32_t log_count;
static wpi_engine *log_engine;

static void note(void *object, uint64_t token, wpi_time_ps now) {
    (void)object, (void)now;
    log_of_tokens[log_count++] = token;
    if (token == 7) wpi_engine_stop(log_engine);
}

static void setup_log(void) {
    wp_error err;
    log_count = 0;
    assert_status_ok(wpi_engine_create(&log_engine, &err), &err);
}

static void equal_times_keep_the_order_of_scheduling(void **state) {
    (void)state;
    setup_log();
    for (uint64_t token = 0; token < 6; token++)
        wpi_engine_at(log_engine, 5000, note, NULL, token);
    wpi_engine_run(log_engine);
    for (uint64_t token = 0; token < 6; token++)
        assert_u64(log_of_tokens[token], token);
    wpi_engine_destroy(log_engine);
}

static void an_event_that_waited_far_away_comes_before_a_younger_one_at_its_time(void **state) {
    (void)state;
    setup_log();
    const wpi_time_ps late = 50 * WP_PS_PER_US;
    wpi_engine_at(log_engine, late, note, NULL, 1);
    wpi_engine_run_until(log_engine, late - 100);
    wpi_engine_at(log_engine, late, note, NULL, 2);
    wpi_engine_run(log_engine);
    assert_u64(log_count, 2);
    assert_u64(log_of_tokens[0], 1);
    assert_u64(log_of_tokens[1], 2);
    wpi_engine_destroy(log_engine);
}

static void run_until_stops_in_time_and_sets_the_clock(void **state) {
    (void)state;
    setup_log();
    wpi_engine_at(log_engine, 100, note, NULL, 1);
    wpi_engine_at(log_engine, 200, note, NULL, 2);
    wpi_engine_at(log_engine, 201, note, NULL, 3);
    wpi_engine_run_until(log_engine, 200);
    assert_u64(log_count, 2);
    assert_u64(wpi_engine_now(log_engine), 200);
    wpi_engine_at(log_engine, 200, note, NULL, 4);
    wpi_engine_run_until(log_engine, 1000000);
    assert_u64(log_of_tokens[2], 4);
    assert_u64(log_of_tokens[3], 3);
    assert_u64(wpi_engine_now(log_engine), 1000000);
    wpi_engine_destroy(log_engine);
}

static void a_stopped_run_goes_on_later(void **state) {
    (void)state;
    setup_log();
    wpi_engine_at(log_engine, 10, note, NULL, 7);
    wpi_engine_at(log_engine, 10, note, NULL, 8);
    wpi_engine_run(log_engine);
    assert_u64(log_count, 1);
    assert_u64(wpi_engine_pending(log_engine), 1);
    wpi_engine_run(log_engine);
    assert_u64(log_count, 2);
    wpi_engine_destroy(log_engine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_that_of_a_search),
        cmocka_unit_test(equal_times_keep_the_order_of_scheduling),
        cmocka_unit_test(an_event_that_waited_far_away_comes_before_a_younger_one_at_its_time),
        cmocka_unit_test(run_until_stops_in_time_and_sets_the_clock),
        cmocka_unit_test(a_stopped_run_goes_on_later),
    };
    return wp_test_main(tests);
}

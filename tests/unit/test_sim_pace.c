/* SPDX-License-Identifier: Apache-2.0 */
/* Which thread does rounds: one at a time, any that waits, and the pace's own if no other can. */
#include "device/sim/pace.h"

#include <time.h>

#include "wp_test.h"

#define THREADS 6
#define WAITS 200

/* A clock that advances only in rounds. */
typedef struct clock_model {
    pthread_mutex_t lock;
    pthread_cond_t turned;
    wpi_pace pace;
    uint64_t now, outer; /* it can be turned so far */
    uint64_t targets[THREADS + 1];
    uint64_t unguarded; /* touched in rounds only, without the lock */
    uint64_t host_call; /* due at that time; 0: none */
    uint32_t host_calls, own_rounds;
    bool is_visible;
    void (*meanwhile)(struct clock_model *model); /* of a round, without the lock; NULL: nothing */
} clock_model;

static bool is_own(const clock_model *m) {
    return pthread_equal(pthread_self(), m->pace.thread) != 0;
}

static void turn(void *object, bool calls_host) {
    clock_model *m = object;
    const bool calls = calls_host && m->host_call != 0 && m->now >= m->host_call;
    assert_true(wpi_pace_is_mine(&m->pace));
    m->own_rounds += is_own(m);
    if (calls) {
        assert_true(is_own(m));
        m->host_call = 0;
        wpi_pace_host_call(&m->pace, true);
    }
    pthread_mutex_unlock(&m->lock);
    m->unguarded++;
    if (m->meanwhile != NULL) m->meanwhile(m);
    pthread_mutex_lock(&m->lock);
    if (calls) {
        wpi_pace_host_call(&m->pace, false);
        m->host_calls++;
    }
    if (m->now < m->outer) m->now++;
    pthread_cond_broadcast(&m->turned);
}

static bool has_work(const void *object) {
    const clock_model *m = object;
    return m->now < m->outer;
}

static bool has_host_call(const void *object) {
    const clock_model *m = object;
    return m->host_call != 0 && m->now >= m->host_call;
}

static bool is_awaited(const void *object) {
    const clock_model *m = object;
    for (size_t i = 0; i < THREADS + 1; i++)
        if (m->targets[i] > m->now) return true;
    return false;
}

static bool is_visible(const void *object) {
    return ((const clock_model *)object)->is_visible;
}

static wpi_time_ps time_of(const void *object) {
    return ((const clock_model *)object)->now;
}

static const wpi_paced ops = {turn, has_work, has_host_call, is_awaited, is_visible, time_of};

/* One thread's place among those that wait. */
typedef struct place {
    clock_model *model;
    uint32_t number;
    bool may_drive;
} place;

static bool has_come(const void *object) {
    const place *p = object;
    return p->model->now >= p->model->targets[p->number];
}

static void wait_ticks(const place *p, uint64_t ticks) {
    clock_model *m = p->model;
    pthread_mutex_lock(&m->lock);
    m->targets[p->number] = m->now + ticks;
    if (m->outer < m->now + ticks) m->outer = m->now + ticks;
    wpi_pace_queued(&m->pace);
    wpi_pace_wait(&m->pace, has_come, p, p->may_drive);
    while (!has_come(p))
        pthread_cond_wait(&m->turned, &m->lock);
    pthread_mutex_unlock(&m->lock);
}

static void open_model(clock_model *m) {
    *m = (clock_model){.outer = 0};
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->turned, NULL);
    wpi_pace_init(&m->pace, &m->lock, &ops, m);
    assert_true(wpi_pace_start(&m->pace));
}

static void close_model(clock_model *m) {
    wpi_pace_stop(&m->pace);
    wpi_pace_deinit(&m->pace);
    pthread_cond_destroy(&m->turned);
    pthread_mutex_destroy(&m->lock);
}

static void who_waits_does_the_rounds(void **state) {
    (void)state;
    clock_model m;
    open_model(&m);
    wait_ticks(&(place){&m, 0, true}, 100);
    assert_u64(m.now, 100);
    assert_int_equal(m.own_rounds, 0);
    wait_ticks(&(place){&m, 0, false}, 100); /* it may not: the thread does them */
    assert_u64(m.now, 200);
    assert_int_equal(m.own_rounds, 100);
    close_model(&m);
}

static void *wait_often(void *object) {
    const place *p = object;
    for (uint32_t i = 0; i < WAITS; i++) {
        wait_ticks(p, 1 + (i * 7 + p->number) % 13);
        if (i % 5 != p->number % 5) continue;
        pthread_mutex_lock(&p->model->lock);
        const uint64_t before = p->model->pace.polls_asked;
        wpi_pace_poll(&p->model->pace, p->may_drive);
        assert_true(p->model->pace.polls_done > before || p->model->pace.is_in_host_call);
        if (p->model->host_call == 0) p->model->host_call = p->model->now + 3;
        pthread_mutex_unlock(&p->model->lock);
    }
    return NULL;
}

/* That rounds exclude each other is for the thread sanitizer to see: `unguarded`. */
static void threads_take_turns(void **state) {
    (void)state;
    clock_model m;
    pthread_t threads[THREADS];
    place places[THREADS];
    open_model(&m);
    for (uint32_t t = 0; t < THREADS; t++) {
        places[t] = (place){&m, t, t % 3 != 2};
        assert_int_equal(pthread_create(&threads[t], NULL, wait_often, &places[t]), 0);
    }
    for (uint32_t t = 0; t < THREADS; t++)
        assert_int_equal(pthread_join(threads[t], NULL), 0);
    wait_ticks(&(place){&m, THREADS, true}, 20); /* past the last call of a host function */
    assert_true(m.host_calls > 0);
    assert_u64(m.host_call, 0);
    close_model(&m);
}

static void host_functions_are_left_to_the_thread(void **state) {
    (void)state;
    clock_model m;
    open_model(&m);
    m.host_call = 5;
    wait_ticks(&(place){&m, 0, true}, 50);
    assert_int_equal(m.host_calls, 1);
    assert_true(m.own_rounds >= 1);
    close_model(&m);
}

static pthread_t other_thread;
static place other_place;

static void *wait_for_ten(void *object) {
    wait_ticks(object, 10);
    return NULL;
}

/* Returns when the other thread waits: it holds the lock from its target to there. */
static void let_other_wait(clock_model *m) {
    bool waits = false;
    m->meanwhile = NULL;
    other_place = (place){m, 1, true};
    assert_int_equal(pthread_create(&other_thread, NULL, wait_for_ten, &other_place), 0);
    while (!waits) {
        pthread_mutex_lock(&m->lock);
        waits = m->targets[1] != 0;
        pthread_mutex_unlock(&m->lock);
    }
}

/* Who asks does one round and goes; who began to wait in it must not wait for ever. */
static void who_waits_beside_one_that_asks_is_not_forgotten(void **state) {
    (void)state;
    clock_model m;
    open_model(&m);
    m.outer = 1;
    m.meanwhile = let_other_wait;
    pthread_mutex_lock(&m.lock);
    wpi_pace_poll(&m.pace, true);
    pthread_mutex_unlock(&m.lock);
    assert_int_equal(pthread_join(other_thread, NULL), 0);
    assert_true(m.now >= 10);
    close_model(&m);
}

/* While a thread has taken the pace, without the lock, no thread does a round; requested times are
 * reached after it is given back. */
static void nobody_does_a_round_while_it_is_taken(void **state) {
    (void)state;
    clock_model m;
    open_model(&m);
    const struct timespec moment = {.tv_nsec = 20000000};
    pthread_mutex_lock(&m.lock);
    wpi_pace_take(&m.pace);
    pthread_mutex_unlock(&m.lock);
    let_other_wait(&m);
    nanosleep(&moment, NULL);
    m.unguarded++; /* as in a round */
    pthread_mutex_lock(&m.lock);
    assert_u64(m.now, 0);
    wpi_pace_give(&m.pace);
    pthread_mutex_unlock(&m.lock);
    assert_int_equal(pthread_join(other_thread, NULL), 0);
    assert_u64(m.now, 10);
    close_model(&m);
}

/* Real time: without a waiting thread, simulated time advances after a second if the host may see
 * the effect, else never. */
static void what_is_looked_at_happens_unasked(void **state) {
    (void)state;
    clock_model m;
    open_model(&m);
    const struct timespec longer = {.tv_sec = 1, .tv_nsec = 200000000};
    for (int visible = 0; visible < 2; visible++) {
        pthread_mutex_lock(&m.lock);
        m.is_visible = visible != 0;
        m.outer = m.now + 10;
        wpi_pace_queued(&m.pace);
        pthread_mutex_unlock(&m.lock);
        nanosleep(&longer, NULL);
        pthread_mutex_lock(&m.lock);
        if (visible == 0) assert_u64(m.now, 0);
        while (visible != 0 && m.now < 10)
            pthread_cond_wait(&m.turned, &m.lock);
        pthread_mutex_unlock(&m.lock);
    }
    assert_u64(m.now, 10);
    close_model(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_does_the_rounds),
        cmocka_unit_test(threads_take_turns),
        cmocka_unit_test(host_functions_are_left_to_the_thread),
        cmocka_unit_test(who_waits_beside_one_that_asks_is_not_forgotten),
        cmocka_unit_test(nobody_does_a_round_while_it_is_taken),
        cmocka_unit_test(what_is_looked_at_happens_unasked),
    };
    return wp_test_main(tests);
}

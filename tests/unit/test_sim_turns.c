/* SPDX-License-Identifier: Apache-2.0 */
/* Host threads that take turns: in which order they go on, and who is waited for. */
#include "device/sim/host/turns.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "wp_test.h"

#define THREADS 4
#define QUESTIONS 30

/* Simulated time, which passes as turns allow. */
typedef struct clock_model {
    pthread_mutex_t lock;
    pthread_cond_t work;
    wpi_turns turns;
    pthread_t thread;
    bool is_stopping;
    wpi_time_ps now;
    char log[THREADS * QUESTIONS * 16]; /* "thread@time ", in order of turns */
    size_t log_length;
} clock_model;

static void *give(void *object) {
    clock_model *m = object;
    const struct timespec moment = {.tv_nsec = 20000};
    wpi_tasks_enlist();
    pthread_mutex_lock(&m->lock);
    while (!m->is_stopping) {
        wpi_time_ps until;
        const wpi_turns_state state = wpi_turns_next(&m->turns, m->now, &until);
        if (state == WPI_TURNS_PASS && until != WP_TIME_NEVER) m->now = until;
        if (state == WPI_TURNS_GIVEN) continue;
        pthread_mutex_unlock(&m->lock);
        nanosleep(&moment, NULL);
        pthread_mutex_lock(&m->lock);
    }
    wpi_turns_close(&m->turns);
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

static void open_model(clock_model *m) {
    memset(m, 0, sizeof *m);
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->work, NULL);
    wpi_turns_init(&m->turns, &m->lock, &m->work);
    assert_non_null(m->turns.tasks);
    assert_int_equal(pthread_create(&m->thread, NULL, give, m), 0);
}

static void close_model(clock_model *m) {
    pthread_mutex_lock(&m->lock);
    m->is_stopping = true;
    pthread_mutex_unlock(&m->lock);
    pthread_join(m->thread, NULL);
    wpi_turns_deinit(&m->turns);
    pthread_cond_destroy(&m->work);
    pthread_mutex_destroy(&m->lock);
}

typedef struct place {
    clock_model *model;
    uint32_t number;
} place;

static void note(clock_model *m, uint32_t number) {
    m->log_length += (size_t)snprintf(m->log + m->log_length, sizeof m->log - m->log_length,
                                      "%u@%llu ", number, (unsigned long long)m->now);
}

/* Without an order, threads would come as the machine runs them. */
static void *ask_often(void *object) {
    const place *p = object;
    clock_model *m = p->model;
    pthread_mutex_lock(&m->lock);
    wpi_turns_arrive(&m->turns);
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        note(m, p->number);
        if (m->turns.is_on) wpi_turns_ask(&m->turns, m->now + 1 + (i * 7 + p->number) % 5);
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

/* The thread that creates the others has called, too; the log of one run. */
static void run_threads(char *log, size_t bytes) {
    static clock_model m;
    pthread_t threads[THREADS];
    place places[THREADS];
    open_model(&m);
    pthread_mutex_lock(&m.lock);
    wpi_turns_arrive(&m.turns);
    pthread_mutex_unlock(&m.lock);
    for (uint32_t t = 0; t < THREADS; t++) {
        places[t] = (place){&m, t};
        assert_int_equal(pthread_create(&threads[t], NULL, ask_often, &places[t]), 0);
    }
    for (uint32_t t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    (void)snprintf(log, bytes, "%s", m.log);
    close_model(&m);
}

static void threads_go_on_in_the_same_order_every_time(void **state) {
    static char first[sizeof((clock_model *)NULL)->log], again[sizeof first];
    (void)state;
    run_threads(first, sizeof first);
    assert_non_null(strstr(first, "0@0 1@0 2@0 3@0 ")); /* by age */
    for (int i = 0; i < 5; i++) {
        run_threads(again, sizeof again);
        assert_string_equal(again, first);
    }
}

static atomic_bool stops_computing;

static void *compute(void *unused) {
    (void)unused;
    while (!atomic_load(&stops_computing))
        ;
    return NULL;
}

/* … which another thread has awaited for the first second. */
static void a_thread_that_only_computes_is_given_up(void **state) {
    static clock_model m;
    pthread_t computing, asking;
    place p = {&m, 7};
    (void)state;
    open_model(&m);
    pthread_mutex_lock(&m.lock);
    wpi_turns_arrive(&m.turns);
    pthread_mutex_unlock(&m.lock);
    assert_int_equal(pthread_create(&computing, NULL, compute, NULL), 0);
    assert_int_equal(pthread_create(&asking, NULL, ask_often, &p), 0);
    pthread_join(asking, NULL);
    assert_non_null(strstr(m.log, "7@0 "));
    atomic_store(&stops_computing, true);
    pthread_join(computing, NULL);
    close_model(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_go_on_in_the_same_order_every_time),
        cmocka_unit_test(a_thread_that_only_computes_is_given_up),
    };
    return wp_test_main(tests);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Actors on real-time devices: one thread each. A thread that waits for words polls them, yields,
 * and after a while sleeps in between, as kernels of the CPU device need the processors. */
#include "device/device.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fail.h"
#include "device/watched_words.h"

#define YIELDS 2000u         /* polls before it sleeps in between */
#define SLEEP_NS 20000       /* as little as a timer gives */
#define LOOKS_PER_ERROR 256u /* polls between checks of the device's error */

typedef struct thread_actor {
    wp_actor base; /* first */
    pthread_t thread;
    pthread_mutex_t lock;
    bool is_joined; /* under the lock */
    atomic_bool is_stopping;
    wpi_watched_words words;
} thread_actor;

static bool must_end(const thread_actor *a) {
    return atomic_load(&a->is_stopping) ||
           wp_device_sticky_error(a->base.device, NULL) != WP_STATUS_OK;
}

/* Waits until a word changes. False: the actor must end. */
static bool await_change(const thread_actor *a) {
    const struct timespec moment = {.tv_nsec = SLEEP_NS};
    for (uint32_t looks = 1; !wpi_watched_words_are_due(&a->words); looks++) {
        if (looks % LOOKS_PER_ERROR == 0 && must_end(a)) return false;
        if (looks < YIELDS)
            sched_yield();
        else
            nanosleep(&moment, NULL);
    }
    return true;
}

static void *run(void *arg) {
    thread_actor *a = arg;
    while (!must_end(a)) {
        wpi_watched_words_clear(&a->words);
        if (a->base.step(&a->base, a->base.object) == WP_ACTOR_ENDS) break;
        if (a->words.count == 0)
            sched_yield();
        else if (!await_change(a))
            break;
    }
    return NULL;
}

static wp_status do_work(wp_device *device, const wp_host_work *work, wp_error *err) {
    (void)device;
    (void)work;
    (void)err;
    return WP_STATUS_OK;
}

static wp_status queue_work(wp_queue *queue, const wp_host_work *work, wp_error *err) {
    (void)queue;
    (void)work;
    (void)err;
    return WP_STATUS_OK;
}

static wp_status start(const wp_actor *actor, wp_actor **out, wp_error *err) {
    thread_actor *a = wpi_calloc(1, sizeof *a);
    if (a == NULL) return WP_FAIL(err, NOMEM, "host actor '%s'", actor->name);
    a->base = *actor;
    pthread_mutex_init(&a->lock, NULL);
    const int failure = pthread_create(&a->thread, NULL, run, a);
    if (failure != 0) {
        pthread_mutex_destroy(&a->lock);
        wpi_free(a);
        return WP_FAIL(err, NOMEM, "the thread of host actor '%s' could not be started: %s",
                       actor->name, strerror(failure));
    }
    *out = &a->base;
    return WP_STATUS_OK;
}

static void watch(wp_actor *actor, const volatile uint32_t *word, uint32_t value) {
    wpi_watched_words_add(&((thread_actor *)(void *)actor)->words, word, value);
}

static void join(thread_actor *a) {
    pthread_mutex_lock(&a->lock);
    if (!a->is_joined) pthread_join(a->thread, NULL);
    a->is_joined = true;
    pthread_mutex_unlock(&a->lock);
}

static wp_status wait(wp_actor *actor, wp_error *err) {
    join((thread_actor *)(void *)actor);
    return wp_device_sticky_error(actor->device, err);
}

static void destroy(wp_actor *actor) {
    thread_actor *a = (thread_actor *)(void *)actor;
    atomic_store(&a->is_stopping, true);
    join(a);
    pthread_mutex_destroy(&a->lock);
    wpi_watched_words_deinit(&a->words);
    wpi_free(a);
}

static uint64_t now_ns(wp_device *device) {
    (void)device;
    return wpi_clock_ns();
}

static void arrive(wp_device *device) {
    (void)device;
}

const wpi_host_ops wpi_host_threads = {do_work, queue_work, start,  watch,
                                       wait,    destroy,    now_ns, arrive};

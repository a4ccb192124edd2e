/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds run on the host thread that waits, or on the pace's own thread if none can. */
#include "device/sim/pace.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "device/cpu/cpu.h"
#include "device/made_library.h"
#include "report/recorder.h"

#define NS_PER_S UINT64_C(1000000000)
/* Time without a call of the host: this much real time, and then as much in which the host could
 * run. */
#define UNASKED_NS (NS_PER_S / 2)
#define AWAY_NS 4000     /* less than creating a thread takes */
#define MOMENT_NS 100000 /* polling interval for threads that may still act */

static void do_round(wpi_pace *pace, bool calls_host) {
    pace->is_driven = true;
    pace->driver = pthread_self();
    pace->ops->go_on(pace->object, calls_host);
    pace->is_driven = false;
    pace->polls_done = pace->polls_asked;
    pthread_cond_broadcast(&pace->polled);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Whether the host can see results in memory without a call: then time passes after a second
 * without one. */
static bool is_watched(const wpi_pace *pace) {
    return pace->ops->has_work(pace->object) && pace->ops->is_visible(pace->object);
}

/* The time for which the process's first thread was runnable but did not run; 0 if the system does
 * not report it.
 */
static uint64_t delay_ns(void) {
    unsigned long long ran = 0, delayed = 0;
    FILE *file = fopen("/proc/self/schedstat", "re");
    if (file == NULL) return 0;
    if (fscanf(file, "%llu %llu", &ran, &delayed) != 2) delayed = 0;
    (void)fclose(file);
    return delayed;
}

/* How long the host has made no call, without the time in which a busy machine kept it from
 * running.
 */
static uint64_t unasked_ns(wpi_pace *pace) {
    const uint64_t now_ns = wpi_clock_ns();
    if (pace->watched_asked_ns != pace->asked_ns) {
        if (now_ns - pace->asked_ns < UNASKED_NS) return now_ns - pace->asked_ns;
        pace->watched_asked_ns = pace->asked_ns;
        pace->watched_ns = now_ns;
        pace->watched_delay_ns = delay_ns();
        pace->is_found_unasked = false;
    }
    const uint64_t all_ns = now_ns - pace->watched_ns;
    const uint64_t delayed_ns = delay_ns() - pace->watched_delay_ns;
    return UNASKED_NS + (delayed_ns < all_ns ? all_ns - delayed_ns : 0);
}

static bool is_unasked(wpi_pace *pace) {
    if (!is_watched(pace)) return false;
    if (wpi_made_library_is_being_made()) { /* a library is being compiled for the host */
        pace->asked_ns = wpi_clock_ns();
        return false;
    }
    const bool is_found = pace->is_found_unasked && pace->watched_asked_ns == pace->asked_ns;
    if (!is_found && unasked_ns(pace) < 2 * UNASKED_NS) return false;
    pace->is_found_unasked = true;
    if (!pace->has_said_unasked) {
        wpi_log(WP_LOG_WARN, "device.sim",
                "the program neither synchronises with the device nor queries it: simulated time "
                "advances with "
                "real time, and results may differ between runs");
    }
    pace->has_said_unasked = true;
    wpi_report_host_threads(WP_RUN_HOST_THREADS_DECIDED);
    return true;
}

static bool is_called(const wpi_pace *pace) {
    return pace->polls_done != pace->polls_asked || pace->ops->is_awaited(pace->object);
}

static void rest_for(wpi_pace *pace, uint64_t ns) {
    const uint64_t until_ns = wpi_clock_ns() + ns;
    const struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S),
                                   .tv_nsec = (long)(until_ns % NS_PER_S)};
    (void)pthread_cond_timedwait(&pace->work, pace->lock, &until);
}

static void rest(wpi_pace *pace) {
    if (pace->is_driven || !is_watched(pace)) {
        pace->is_resting = true;
        pthread_cond_wait(&pace->work, pace->lock);
        pace->is_resting = false;
        return;
    }
    rest_for(pace, UNASKED_NS - unasked_ns(pace) % UNASKED_NS);
}

/* Gives the next host thread its turn, if several have called. False: none waits for a turn. */
static bool give_turns(wpi_pace *pace) {
    wpi_time_ps until;
    if (!pace->turns.is_on) return false;
    switch (wpi_turns_next(&pace->turns, pace->ops->now(pace->object), &until)) {
    case WPI_TURNS_NONE: return false;
    case WPI_TURNS_GIVEN: return true;
    case WPI_TURNS_PASS:
        if (!pace->is_driven && (until != WP_TIME_NEVER || pace->ops->has_work(pace->object) ||
                                 pace->ops->is_awaited(pace->object))) {
            pace->until = until;
            do_round(pace, true);
            pace->until = WP_TIME_NEVER;
            return true;
        }
        break;
    default: break;
    }
    rest_for(pace, MOMENT_NS);
    return true;
}

static void *run(void *object) {
    wpi_pace *pace = object;
    wpi_fault_prepare_thread();
    wpi_tasks_enlist();
    pthread_mutex_lock(pace->lock);
    while (!pace->is_stopping) {
        if (give_turns(pace)) continue;
        if (!pace->is_driven && !pace->turns.is_expecting && (is_called(pace) || is_unasked(pace)))
            do_round(pace, true);
        else
            rest(pace);
    }
    wpi_turns_close(&pace->turns);
    pthread_mutex_unlock(pace->lock);
    return NULL;
}

/* ---- host threads ---------------------------------------------------------------------------- */

void wpi_pace_arrive(wpi_pace *pace) {
    wpi_turns_arrive(&pace->turns);
}

static void note_asked(wpi_pace *pace) {
    const uint64_t now_ns = wpi_clock_ns();
    pace->has_been_away = pace->has_been_away || now_ns - pace->asked_ns >= AWAY_NS;
    pace->asked_ns = now_ns;
}

/* Checks for new threads before the only one that has called lets time pass. The check is a system
 * call, so it is made only if there was time to create a thread since the last one. */
static void expect_new(wpi_pace *pace) {
    note_asked(pace);
    if (pace->turns.is_on || !pace->has_been_away) return;
    pace->has_been_away = false;
    wpi_turns_expect_new(&pace->turns);
}

void wpi_pace_queued(wpi_pace *pace) {
    note_asked(pace);
    if (pace->is_resting && !pace->is_driven && pace->ops->is_visible(pace->object))
        pthread_cond_signal(&pace->work);
}

static bool can_drive(const wpi_pace *pace) {
    return !pace->is_driven && !pace->is_stopping && !pace->turns.is_on &&
           !pace->ops->has_host_call(pace->object);
}

/* A host thread continues: the pace's thread takes over for other threads that wait. */
static void hand_over(wpi_pace *pace) {
    if (pace->is_driven) return;
    if (is_called(pace) || (pace->is_resting && is_watched(pace))) pthread_cond_signal(&pace->work);
}

void wpi_pace_wait(wpi_pace *pace, bool (*is_done)(const void *), const void *arg, bool may_drive) {
    expect_new(pace);
    while (!is_done(arg) && may_drive && can_drive(pace))
        do_round(pace, false);
    if (pace->turns.is_on && !is_done(arg)) wpi_turns_wait(&pace->turns, is_done, arg);
    pace->asked_ns = wpi_clock_ns();
    hand_over(pace);
}

void wpi_pace_poll(wpi_pace *pace, bool may_drive) {
    expect_new(pace);
    if (pace->turns.is_on) {
        wpi_turns_ask(&pace->turns, pace->ops->now(pace->object) + WPI_POLL_PS);
        pace->asked_ns = wpi_clock_ns();
        return;
    }
    const uint64_t number = ++pace->polls_asked;
    if (may_drive && can_drive(pace)) {
        do_round(pace, false);
        pace->asked_ns = wpi_clock_ns();
        hand_over(pace);
        return;
    }
    pthread_cond_signal(&pace->work);
    while (pace->polls_done < number && !pace->is_in_host_call)
        pthread_cond_wait(&pace->polled, pace->lock);
}

void wpi_pace_settle(wpi_pace *pace) {
    while (pace->is_driven && !wpi_pace_is_mine(pace))
        pthread_cond_wait(&pace->polled, pace->lock);
}

void wpi_pace_take(wpi_pace *pace) {
    wpi_pace_settle(pace);
    pace->is_driven = true;
    pace->driver = pthread_self();
}

void wpi_pace_give(wpi_pace *pace) {
    pace->is_driven = false;
    pthread_cond_broadcast(&pace->polled);
    hand_over(pace);
}

void wpi_pace_host_call(wpi_pace *pace, bool begins) {
    pace->is_in_host_call = begins;
    pace->has_called_host = pace->has_called_host || begins;
    wpi_turns_host_call(&pace->turns, begins);
    if (begins) pthread_cond_broadcast(&pace->polled);
}

bool wpi_pace_is_mine(const wpi_pace *pace) {
    return pace->is_driven && pthread_equal(pthread_self(), pace->driver);
}

/* ---- life ------------------------------------------------------------------------------------ */

void wpi_pace_init(wpi_pace *pace, pthread_mutex_t *lock, const wpi_paced *ops, void *object) {
    pthread_condattr_t monotonic;
    *pace = (wpi_pace){.ops = ops, .object = object, .lock = lock, .until = WP_TIME_NEVER};
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&pace->work, &monotonic);
    pthread_cond_init(&pace->polled, NULL);
    pthread_condattr_destroy(&monotonic);
    wpi_turns_init(&pace->turns, lock, &pace->work);
}

bool wpi_pace_start(wpi_pace *pace) {
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, WPI_WORKER_STACK_BYTES);
    errno = pthread_create(&pace->thread, &attr, run, pace);
    pthread_attr_destroy(&attr);
    pace->has_thread = errno == 0;
    return pace->has_thread;
}

void wpi_pace_stop(wpi_pace *pace) {
    if (!pace->has_thread) return;
    pthread_mutex_lock(pace->lock);
    pace->is_stopping = true;
    pthread_cond_signal(&pace->work);
    pthread_mutex_unlock(pace->lock);
    pthread_join(pace->thread, NULL);
    pace->has_thread = false;
}

void wpi_pace_deinit(wpi_pace *pace) {
    wpi_turns_deinit(&pace->turns);
    pthread_cond_destroy(&pace->work);
    pthread_cond_destroy(&pace->polled);
}

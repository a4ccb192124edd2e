/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim/host/turns.h"

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "device/made_library.h"
#include "report/recorder.h"

#define NS_PER_S UINT64_C(1000000000)
#define LOOK_NS 20000000 /* polling interval for a host function that may wait for this thread */
#define MOMENT_NS 100000

typedef enum wpi_turn_kind { ARRIVES, WAITS, ASKS } wpi_turn_kind; /* in order of precedence */

/* A thread that waits; on its stack. */
struct wpi_turn {
    wpi_turn *next;
    pid_t id;
    uint64_t order;
    wpi_turn_kind kind;
    wpi_time_ps time;              /* ASKS */
    bool (*is_done)(const void *); /* WAITS */
    const void *arg;
    pthread_mutex_t own; /* not `lock`, for which only threads that can continue may queue */
    pthread_cond_t given;
    bool is_given;
};

static void note_decided(const char *why) {
    static bool is_said;
    if (!is_said)
        wpi_log(WP_LOG_WARN, "device.sim",
                "a host thread %s: simulated times may differ between runs", why);
    is_said = true;
    wpi_report_host_threads(WP_RUN_HOST_THREADS_DECIDED);
}

static struct timespec after(uint64_t ns) {
    const uint64_t until_ns = wpi_clock_ns() + ns;
    return (struct timespec){.tv_sec = (time_t)(until_ns / NS_PER_S),
                             .tv_nsec = (long)(until_ns % NS_PER_S)};
}

/* ---- threads --------------------------------------------------------------------------------- */

static void unlink_turn(wpi_turns *turns, const wpi_turn *t) {
    wpi_turn **link = &turns->first;
    while (*link != t)
        link = &(*link)->next;
    *link = t->next;
}

static void give(wpi_turns *turns, wpi_turn *t) {
    unlink_turn(turns, t);
    turns->starting++;
    turns->runner = t->id;
    turns->is_settled = false;
    pthread_mutex_lock(&t->own);
    t->is_given = true;
    pthread_cond_signal(&t->given);
    pthread_mutex_unlock(&t->own);
}

/* Whether a host function has blocked, so that it may wait for this thread. */
static bool is_needed(const wpi_turns *turns) {
    return atomic_load(&turns->is_in_host_call) && wpi_task_is_blocked(atomic_load(&turns->giver));
}

/* Called without the lock. */
static void await_given(const wpi_turns *turns, wpi_turn *t) {
    uint32_t needs = 0;
    pthread_mutex_lock(&t->own);
    while (!t->is_given && needs < 2) {
        const struct timespec until = after(LOOK_NS);
        if (pthread_cond_timedwait(&t->given, &t->own, &until) == 0) continue;
        needs = t->kind != WAITS && is_needed(turns) ? needs + 1 : 0;
    }
    pthread_mutex_unlock(&t->own);
}

static void await_turn(wpi_turns *turns, wpi_turn *t) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&t->given, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&t->own, NULL);
    t->id = wpi_tasks_own();
    t->order = wpi_tasks_order(t->id);
    t->next = turns->first;
    turns->first = t;
    turns->arrivals++;
    if (turns->is_settled) note_decided("woke while simulated time passed");
    if (turns->runner == t->id) turns->runner = 0;
    pthread_cond_signal(turns->work);
    pthread_mutex_unlock(turns->lock);
    await_given(turns, t);
    pthread_mutex_lock(turns->lock);
    if (t->is_given) {
        turns->starting--;
    } else {
        unlink_turn(turns, t);
        note_decided("was needed by a host function that has blocked");
    }
    pthread_cond_destroy(&t->given);
    pthread_mutex_destroy(&t->own);
}

static _Thread_local uint64_t called; /* number of the turns that this thread last called */

bool wpi_turns_is_alone(const wpi_turns *turns) {
    return called == turns->number && !atomic_load(&turns->is_on);
}

static void note_caller(wpi_turns *turns) {
    if (called == turns->number) return;
    called = turns->number;
    turns->callers++;
    turns->is_on = turns->callers > 1 && turns->tasks != NULL && !turns->is_closed;
}

void wpi_turns_arrive(wpi_turns *turns) {
    note_caller(turns);
    if (!turns->is_on || turns->runner == wpi_tasks_own()) return;
    wpi_turn t = {.kind = ARRIVES};
    await_turn(turns, &t);
}

void wpi_turns_ask(wpi_turns *turns, wpi_time_ps time) {
    wpi_turn t = {.kind = ASKS, .time = time};
    await_turn(turns, &t);
}

void wpi_turns_wait(wpi_turns *turns, bool (*is_done)(const void *), const void *arg) {
    wpi_turn t = {.kind = WAITS, .is_done = is_done, .arg = arg};
    await_turn(turns, &t);
}

void wpi_turns_expect_new(wpi_turns *turns) {
    const struct timespec moment = {.tv_nsec = MOMENT_NS};
    const pid_t own = wpi_tasks_own();
    if (turns->tasks == NULL || turns->is_expecting) return;
    bool is_asleep = !wpi_tasks_have_changed(turns->tasks);
    turns->is_expecting = true;
    while (!is_asleep && !turns->is_on) {
        wpi_tasks_found found = {0};
        pthread_mutex_unlock(turns->lock);
        is_asleep = wpi_tasks_are_asleep(turns->tasks, &own, 1, true, &found);
        if (!is_asleep) nanosleep(&moment, NULL);
        pthread_mutex_lock(turns->lock);
        if (found.gives_up) wpi_report_host_threads(WP_RUN_HOST_THREADS_RAN_UNASKED);
    }
    turns->is_expecting = false;
}

/* ---- the next turn ---- */

static bool list_awaiting(wpi_turns *turns, size_t *count) {
    *count = 0;
    for (const wpi_turn *t = turns->first; t != NULL; t = t->next) {
        if (*count == turns->awaiting_capacity) {
            const size_t capacity = *count == 0 ? 16 : 2 * *count;
            pid_t *more = wpi_realloc(turns->awaiting, capacity * sizeof *more);
            if (more == NULL) return false;
            turns->awaiting = more;
            turns->awaiting_capacity = capacity;
        }
        turns->awaiting[(*count)++] = t->id;
    }
    return true;
}

/* Observes threads without the lock: one that waits for it would seem asleep. */
static bool settle(wpi_turns *turns) {
    size_t count;
    wpi_tasks_found found = {0};
    const uint64_t arrivals = turns->arrivals;
    if (turns->is_expecting || turns->starting != 0 || wpi_made_library_is_being_made() ||
        !list_awaiting(turns, &count))
        return false;
    pthread_mutex_unlock(turns->lock);
    const bool is_asleep =
        wpi_tasks_are_asleep(turns->tasks, turns->awaiting, count, false, &found);
    pthread_mutex_lock(turns->lock);
    if (found.gives_up) wpi_report_host_threads(WP_RUN_HOST_THREADS_RAN_UNASKED);
    if (found.was_woken_aside) note_decided("woke by a timer, or for a reason outside the program");
    if (!is_asleep || turns->arrivals != arrivals) return false;
    wpi_tasks_judge(turns->tasks, turns->awaiting, count);
    return true;
}

static bool can_go_on(const wpi_turn *t, wpi_time_ps now) {
    switch (t->kind) {
    case WAITS: return t->is_done(t->arg);
    case ASKS: return t->time <= now;
    default: return true;
    }
}

static bool comes_before(const wpi_turn *a, const wpi_turn *b) {
    if (b == NULL) return true;
    if (a->kind != b->kind) return a->kind < b->kind;
    if (a->kind == ASKS && a->time != b->time) return a->time < b->time;
    return a->order < b->order;
}

wpi_turns_state wpi_turns_next(wpi_turns *turns, wpi_time_ps now, wpi_time_ps *until) {
    wpi_turn *next = NULL;
    if (turns->first == NULL) return WPI_TURNS_NONE;
    if (!turns->is_settled && !settle(turns)) return WPI_TURNS_BUSY;
    *until = UINT64_MAX;
    for (wpi_turn *t = turns->first; t != NULL; t = t->next) {
        if (t->kind == ASKS && t->time < *until) *until = t->time;
        if (can_go_on(t, now) && comes_before(t, next)) next = t;
    }
    if (next != NULL) {
        give(turns, next);
        return WPI_TURNS_GIVEN;
    }
    turns->is_settled = true;
    return WPI_TURNS_PASS;
}

void wpi_turns_unsettle(wpi_turns *turns) {
    turns->is_settled = false;
}

void wpi_turns_host_call(wpi_turns *turns, bool begins) {
    atomic_store(&turns->is_in_host_call, begins);
    atomic_store(&turns->giver, wpi_tasks_own());
    turns->is_settled = false;
}

/* ---- life ------------------------------------------------------------------------------------ */

void wpi_turns_init(wpi_turns *turns, pthread_mutex_t *lock, pthread_cond_t *work) {
    static _Atomic uint64_t count;
    *turns = (wpi_turns){.lock = lock,
                         .work = work,
                         .tasks = wpi_tasks_create(),
                         .number = atomic_fetch_add(&count, 1) + 1};
}

void wpi_turns_close(wpi_turns *turns) {
    turns->is_closed = true;
    turns->is_on = false;
    while (turns->first != NULL)
        give(turns, turns->first);
}

void wpi_turns_deinit(wpi_turns *turns) {
    wpi_tasks_destroy(turns->tasks);
    wpi_free(turns->awaiting);
}

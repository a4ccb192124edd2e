/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Several host threads take turns, so that simulated times are reproducible: while one runs,
 * simulated time does not pass and the others wait in their next call.
 *
 *     host thread ── call ──► ARRIVES, ASKS (a microsecond later), WAITS (for something)
 *                                  │
 *        all other threads of the program wait like this, or are asleep
 *                                  │
 *     the executor's thread ───────┴─► lets one go on, or lets time pass
 *
 * Arriving threads come first, then those whose wait is over, then the earliest poll; ties go to
 * the oldest thread. If none can continue, time passes until the earliest poll.
 *
 * A thread keeps its turn until it polls, waits, sleeps or ends. Each thread's clock is that of its
 * last turn. Times are not reproducible if a thread wakes for a reason outside the program (a
 * timer, input), or computes for long without a call, after which it is no longer waited for.
 *
 * Thread rule: with `lock` held, which functions that wait release meanwhile.
 */
#ifndef WP_DEVICE_SIM_TURNS_H
#define WP_DEVICE_SIM_TURNS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/time.h"
#include "device/sim/host/tasks.h"

typedef struct wpi_turn wpi_turn;

typedef struct wpi_turns {
    pthread_mutex_t *lock;
    pthread_cond_t *work; /* of the thread that calls wpi_turns_next */
    wpi_tasks *tasks;     /* NULL: there are no turns */
    uint64_t number;      /* among all turns of this process, from 1 */
    atomic_bool is_on;    /* more than one host thread has called */
    bool is_closed;       /* closed: threads no longer wait for turns */
    uint32_t callers;
    wpi_turn *first;   /* threads that wait */
    pid_t runner;      /* the thread whose turn it is; 0: none */
    bool is_settled;   /* no thread can run until one gets its turn */
    uint32_t starting; /* threads that have their turn, but not the lock yet */
    atomic_bool is_in_host_call;
    bool is_expecting;   /* a thread observes new ones */
    _Atomic pid_t giver; /* the thread that calls wpi_turns_next */
    uint64_t arrivals;
    pid_t *awaiting; /* scratch */
    size_t awaiting_capacity;
} wpi_turns;

void wpi_turns_init(wpi_turns *turns, pthread_mutex_t *lock, pthread_cond_t *work);
void wpi_turns_deinit(wpi_turns *turns);

/** Called without the lock. Whether the calling thread is the only one that has called so far, and
 * not for the first time. Then it need not arrive. */
bool wpi_turns_is_alone(const wpi_turns *turns);
/** A host thread begins a call: it has its turn when this returns. */
void wpi_turns_arrive(wpi_turns *turns);
/** Before the only thread that has called lets time pass: waits until threads that the program has
 * created meanwhile are asleep, or have called. */
void wpi_turns_expect_new(wpi_turns *turns);
/** Waits until `time`; only if turns->is_on. */
void wpi_turns_ask(wpi_turns *turns, wpi_time_ps time);
/** Waits until `is_done(arg)`; only if turns->is_on. */
void wpi_turns_wait(wpi_turns *turns, bool (*is_done)(const void *), const void *arg);

typedef enum wpi_turns_state {
    WPI_TURNS_NONE,  /* no thread waits for a turn */
    WPI_TURNS_BUSY,  /* a thread could still act: ask again */
    WPI_TURNS_GIVEN, /* a thread continues */
    WPI_TURNS_PASS   /* simulated time can pass up to *until */
} wpi_turns_state;

wpi_turns_state wpi_turns_next(wpi_turns *turns, wpi_time_ps now, wpi_time_ps *until);
/** A host function begins or ends: it may wake threads, or wait for them. */
void wpi_turns_host_call(wpi_turns *turns, bool begins);
/** Something other than a turn may have woken a thread. */
void wpi_turns_unsettle(wpi_turns *turns);
/** Releases all threads, now and later. */
void wpi_turns_close(wpi_turns *turns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * When simulated time passes, and on which thread: while a host thread waits, on that thread; a
 * moment of it when one polls. A thread of its own goes on where that is not possible: for threads
 * with small stacks or that wait beside one that drives, for host functions, and when a program
 * polls memory without a call. Once several host threads have called, they take turns
 * (host/turns.h), and that thread does all rounds.
 *
 * Thread rule: everything is called with the lock held, but for init, start, stop and deinit; it
 * is released meanwhile by all that wait.
 */
#ifndef WP_DEVICE_SIM_PACE_H
#define WP_DEVICE_SIM_PACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "device/sim/host/turns.h"

#define WPI_POLL_PS WP_PS_PER_US /* what passes when the host asks whether something is done */

/** What has a pace. Called with the lock held. */
typedef struct wpi_paced {
    /* A round: starts what can start, host functions only if so told, and lets a moment pass. */
    void (*go_on)(void *object, bool calls_host);
    bool (*has_work)(const void *object);      /* a round would do something */
    bool (*has_host_call)(const void *object); /* … call a host function */
    bool (*is_awaited)(const void *object);    /* a host thread waits for what is not done */
    bool (*is_visible)(const void *object);    /* the host may see in memory what is done */
    wpi_time_ps (*now)(const void *object);    /* simulated time */
} wpi_paced;

typedef struct wpi_pace {
    const wpi_paced *ops;
    void *object;
    pthread_mutex_t *lock;
    pthread_t thread, driver;
    pthread_cond_t work;   /* for the thread */
    pthread_cond_t polled; /* for host threads that poll, and at the end of each round */
    bool has_thread, is_stopping, has_said_unasked;
    bool is_driven;       /* a round is under way, on the thread `driver` */
    bool is_resting;      /* the thread waits until it is called, however long that takes */
    bool is_in_host_call; /* which may wait for a host thread that polls */
    bool has_called_host; /* in the round under way */
    bool has_been_away;   /* a host thread: long enough to create another one */
    wpi_turns turns;      /* of several host threads: then the pace's thread does all rounds */
    wpi_time_ps until;    /* simulated time that the round under way must not pass */
    uint64_t polls_asked, polls_done;
    uint64_t asked_ns; /* when the host last did something with the device; real time */
    /* Since when it is looked at how long the host does nothing with it, after the `asked_ns` of
     * that moment, and how long it had been kept from running by then. */
    uint64_t watched_asked_ns, watched_ns, watched_delay_ns;
    bool is_found_unasked;
} wpi_pace;

void wpi_pace_init(wpi_pace *pace, pthread_mutex_t *lock, const wpi_paced *ops, void *object);
/** Starts the thread. False: errno says why there is none. */
bool wpi_pace_start(wpi_pace *pace);
/** Ends the thread; no other thread may use the pace. */
void wpi_pace_stop(wpi_pace *pace);
void wpi_pace_deinit(wpi_pace *pace);

/** A host thread begins a call. */
void wpi_pace_arrive(wpi_pace *pace);
/** The host has queued something. */
void wpi_pace_queued(wpi_pace *pace);
/** A host thread waits for `is_done(arg)`: rounds on it until then, if `may_drive` and no other
 * thread does them. Where it returns before, the pace's thread goes on. */
void wpi_pace_wait(wpi_pace *pace, bool (*is_done)(const void *), const void *arg, bool may_drive);
/** A host thread polls: one round more, then it looks. */
void wpi_pace_poll(wpi_pace *pace, bool may_drive);

/** Waits until no other thread does a round: what is paced may be changed then. */
void wpi_pace_settle(wpi_pace *pace);

/** … and none begins before the caller gives it back; the caller may release the lock meanwhile.
 * Not within a round. */
void wpi_pace_take(wpi_pace *pace);
void wpi_pace_give(wpi_pace *pace);

/** A host function begins or ends, in a round. */
void wpi_pace_host_call(wpi_pace *pace, bool begins);
/** Whether the round under way is on the calling thread. */
bool wpi_pace_is_mine(const wpi_pace *pace);

#endif

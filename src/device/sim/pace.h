/* SPDX-License-Identifier: Apache-2.0 */
/**
 * When simulated time passes, and on which thread: on a host thread while it waits; for one round
 * when it polls. The pace's own thread runs rounds where that is not possible: for threads with
 * small stacks or that wait while another one runs a round, for host functions, and when a program
 * polls memory without a call. Once several host threads have called, they take turns
 * (host/turns.h), and the pace's thread runs all rounds.
 *
 * Thread rule: call everything with the lock held, except init, start, stop and deinit; functions
 * that wait release it meanwhile.
 */
#ifndef WP_DEVICE_SIM_PACE_H
#define WP_DEVICE_SIM_PACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "device/sim/host/turns.h"

/* Simulated time of a poll by a host thread, and of the model's slice while no host thread waits.
 */
#define WPI_POLL_PS WP_PS_PER_US

/** The paced object's operations. Called with the lock held. */
typedef struct wpi_paced {
    /* A round: starts the commands that can start, host functions only if `calls_host`, and
     * advances simulated time. */
    void (*go_on)(void *object, bool calls_host);
    bool (*has_work)(const void *object);      /* a round would do something */
    bool (*has_host_call)(const void *object); /* … call a host function */
    bool (*is_awaited)(const void *object);    /* a host thread waits for something not done yet */
    bool (*is_visible)(const void *object);    /* the host may see results in memory */
    wpi_time_ps (*now)(const void *object);    /* simulated time */
} wpi_paced;

typedef struct wpi_pace {
    const wpi_paced *ops;
    void *object;
    pthread_mutex_t *lock;
    pthread_t thread, driver;
    pthread_cond_t work;   /* for the pace's thread */
    pthread_cond_t polled; /* for host threads that poll, and at the end of each round */
    bool has_thread, is_stopping, has_said_unasked;
    bool is_driven;       /* a round is in progress, on the thread `driver` */
    bool is_resting;      /* the pace's thread waits until it is signalled */
    bool is_in_host_call; /* in a host function, which may wait for a polling thread */
    bool has_called_host; /* in the current round */
    bool has_been_away;   /* a host thread, long enough to create another one */
    wpi_turns turns;      /* of several host threads; the pace's thread then runs all rounds */
    wpi_time_ps until;    /* simulated time that the current round must not pass */
    uint64_t polls_asked, polls_done;
    uint64_t asked_ns; /* real time of the host's last call */
    /* For the time without a call: `asked_ns` when the measurement started, its start, and the time
     * kept from running by then. */
    uint64_t watched_asked_ns, watched_ns, watched_delay_ns;
    bool is_found_unasked;
} wpi_pace;

void wpi_pace_init(wpi_pace *pace, pthread_mutex_t *lock, const wpi_paced *ops, void *object);
/** Starts the pace's thread. False: failed, see errno. */
bool wpi_pace_start(wpi_pace *pace);
/** Ends the thread; no other thread may use the pace. */
void wpi_pace_stop(wpi_pace *pace);
void wpi_pace_deinit(wpi_pace *pace);

/** A host thread begins a call. */
void wpi_pace_arrive(wpi_pace *pace);
/** The host has queued a command. */
void wpi_pace_queued(wpi_pace *pace);
/** A host thread waits for `is_done(arg)`: runs rounds on it until then, if `may_drive` and no
 * other thread runs them. If it returns before, the pace's thread continues. */
void wpi_pace_wait(wpi_pace *pace, bool (*is_done)(const void *), const void *arg, bool may_drive);
/** A host thread polls: runs one round first. */
void wpi_pace_poll(wpi_pace *pace, bool may_drive);

/** Waits until no other thread runs a round; the paced object may be changed then. */
void wpi_pace_settle(wpi_pace *pace);

/** … and prevents rounds until wpi_pace_give; the caller may release the lock meanwhile. Not within
 * a round. */
void wpi_pace_take(wpi_pace *pace);
void wpi_pace_give(wpi_pace *pace);

/** A host function begins or ends, in a round. */
void wpi_pace_host_call(wpi_pace *pace, bool begins);
/** Whether the current round is on the calling thread. */
bool wpi_pace_is_mine(const wpi_pace *pace);

#endif

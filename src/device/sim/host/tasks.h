/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The threads of this process as the system shows them (/proc/self/task): whether one of the
 * program's could still do something before simulated time passes.
 *
 * A thread is asleep if it has blocked and nothing has run it between two looks. It is given up,
 * and not waited for, once it has used a second of processor time without sleeping and without
 * calling the device; processor time is the same on a busy machine.
 *
 * Thread rule: one thread at a time, but for enlist and own.
 */
#ifndef WP_DEVICE_SIM_TASKS_H
#define WP_DEVICE_SIM_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct wpi_tasks wpi_tasks;

/** NULL: no memory, or the system does not show threads. */
wpi_tasks *wpi_tasks_create(void);
void wpi_tasks_destroy(wpi_tasks *tasks); /* NULL allowed */

/** The calling thread belongs to the library: it is not observed. */
void wpi_tasks_enlist(void);
pid_t wpi_tasks_own(void);
/** Threads by their age: the order in which the program created them. */
uint64_t wpi_tasks_order(pid_t task);

/** What a look has found; members are only set. */
typedef struct wpi_tasks_found {
    bool gives_up;        /* a thread has just been given up */
    bool was_woken_aside; /* one that calls had waited for a timer, or for something outside */
} wpi_tasks_found;

/** Whether threads were created or have ended since it was last asked. One system call. */
bool wpi_tasks_have_changed(wpi_tasks *tasks);
/** Whether all threads but the library's and those `awaiting` (which call the device, and cannot
 * go on by themselves) are asleep. `only_new`: but for those that were asleep once before.
 */
bool wpi_tasks_are_asleep(wpi_tasks *tasks, const pid_t *awaiting, size_t count, bool only_new,
                          wpi_tasks_found *found);
/** All but those are asleep: finds out what for. */
void wpi_tasks_judge(wpi_tasks *tasks, const pid_t *awaiting, size_t count);
/** Whether one thread has blocked. */
bool wpi_task_is_blocked(pid_t task);

#endif

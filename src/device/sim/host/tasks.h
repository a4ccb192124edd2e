/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The threads of this process, observed by /proc/self/task: whether a thread of the program could
 * still act before simulated time passes.
 *
 * A thread is asleep if it has blocked and did not run between two observations. It is given up,
 * and no longer waited for, once it has used a second of processor time without sleeping and
 * without calling the device; processor time does not depend on the machine's load.
 *
 * Thread rule: one thread at a time, except enlist and own.
 */
#ifndef WP_DEVICE_SIM_TASKS_H
#define WP_DEVICE_SIM_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct wpi_tasks wpi_tasks;

/** NULL: out of memory, or the system does not show threads. */
wpi_tasks *wpi_tasks_create(void);
void wpi_tasks_destroy(wpi_tasks *tasks); /* NULL allowed */

/** The calling thread belongs to the library: it is not observed. */
void wpi_tasks_enlist(void);
pid_t wpi_tasks_own(void);
/** The thread's place in the order in which the program created threads. */
uint64_t wpi_tasks_order(pid_t task);

/** Findings of an observation; members are only set. */
typedef struct wpi_tasks_found {
    bool gives_up;        /* a thread has just been given up */
    bool was_woken_aside; /* a caller had waited for a timer, or something outside */
} wpi_tasks_found;

/** Whether threads were created or have ended since the last call. One system call. */
bool wpi_tasks_have_changed(wpi_tasks *tasks);
/** Whether all threads are asleep except the library's and those `awaiting` (which call the device,
 * and cannot continue by themselves). `only_new`: ignores those that were asleep once before.
 */
bool wpi_tasks_are_asleep(wpi_tasks *tasks, const pid_t *awaiting, size_t count, bool only_new,
                          wpi_tasks_found *found);
/** All but those are asleep: determines what they wait for. */
void wpi_tasks_judge(wpi_tasks *tasks, const pid_t *awaiting, size_t count);
/** Whether the thread has blocked. */
bool wpi_task_is_blocked(pid_t task);

#endif

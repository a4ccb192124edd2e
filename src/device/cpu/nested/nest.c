/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cpu/nested/nest.h"

#include "base/alloc.h"

/* Grids that run at once, as on GPUs of compute capability 3.5 to 9.0 (CUDA C++ Programming Guide,
 * table of technical specifications: 16 to 128 resident grids). */
#define RUNNING_MAX 128u

static bool is_on_cpu(const wpi_nest *nest) {
    return nest->device->executor == NULL;
}

static bool is_empty(const wpi_nest *nest) {
    return nest->waiting == NULL && nest->tails == NULL && nest->running == NULL;
}

wpi_nest *wpi_nest_of(wpi_block *block) {
    wpi_launch *launch = block->launch;
    if (launch->nest != NULL) return launch->nest;
    wpi_nest *nest = wpi_calloc(1, sizeof *nest);
    if (nest == NULL) return NULL;
    nest->device = launch->device;
    nest->launch = launch;
    nest->waiting_last = &nest->waiting;
    nest->tails_last = &nest->tails;
    pthread_cond_init(&nest->changed, NULL);
    nest->next = nest->device->nests;
    nest->device->nests = nest;
    launch->nest = nest;
    return nest;
}

static void destroy(wpi_nest *nest) {
    wpi_nest **link = &nest->device->nests;
    while (*link != nest)
        link = &(*link)->next;
    *link = nest->next;
    if (nest->launch != NULL) nest->launch->nest = NULL;
    pthread_cond_destroy(&nest->changed);
    wpi_free(nest->events);
    wpi_free(nest->waits);
    wpi_free(nest->blocks.buckets);
    wpi_free(nest);
}

bool wpi_nest_add(wpi_nest *nest, wpi_command *command, bool is_tail) {
    if (!is_tail && !wpi_nest_blocks_add(&nest->blocks, command)) return false;
    wpi_command ***last = is_tail ? &nest->tails_last : &nest->waiting_last;
    command->nest = nest;
    command->next = NULL;
    **last = command;
    *last = &command->next;
    if (!is_tail) atomic_fetch_add(&nest->launch->nest_waiting, 1);
    pthread_cond_broadcast(&nest->changed);
    return true;
}

/* ---- order ---- */

static bool is_in(const wpi_command *list, uint64_t stream, uint64_t number) {
    for (const wpi_command *c = list; c != NULL; c = c->next)
        if (c->stream == stream && c->number <= number) return true;
    return false;
}

/* Whether an event that the command waits for has not happened. */
static bool waits_for_event(const wpi_nest *nest, const wpi_command *command) {
    for (uint32_t i = 0; i < nest->wait_count; i++) {
        const wpi_nest_wait *w = &nest->waits[i];
        if (w->stream == command->stream && command->number >= w->first &&
            (is_in(nest->running, w->after_stream, w->after) ||
             is_in(nest->waiting, w->after_stream, w->after)))
            return true;
    }
    return false;
}

/* Whether an earlier command of its stream is not done. Those that wait are before it in the list;
 * they wait for a running one, unless there are events. */
static bool is_behind(const wpi_nest *nest, const wpi_command *command) {
    if (is_in(nest->running, command->stream, UINT64_MAX)) return true;
    return nest->wait_count != 0 && is_in(nest->waiting, command->stream, command->number - 1);
}

static wpi_command **find_startable(wpi_nest *nest) {
    for (wpi_command **link = &nest->waiting; *link != NULL; link = &(*link)->next)
        if (!is_behind(nest, *link) && !waits_for_event(nest, *link)) return link;
    const bool is_tails_turn = nest->is_ended && nest->waiting == NULL && nest->running == NULL;
    return is_tails_turn && nest->tails != NULL ? &nest->tails : NULL;
}

wpi_command *wpi_nest_take(wpi_nest *nest) {
    wpi_command **link = find_startable(nest);
    if (link == NULL) return NULL;
    wpi_command *command = *link;
    const bool is_tail = command == nest->tails;
    *link = command->next;
    if (is_tail && nest->tails == NULL) nest->tails_last = &nest->tails;
    if (!is_tail && command->next == NULL) nest->waiting_last = link;
    if (!is_tail) atomic_fetch_sub(&nest->launch->nest_waiting, 1);
    command->next = nest->running;
    nest->running = command;
    nest->device->nested_running++;
    return command;
}

wpi_command *wpi_nest_take_any(wpi_cpu_device *device) {
    for (wpi_nest *nest = device->nests; nest != NULL; nest = nest->next) {
        /* One command of each nest may always run: a grid may wait for it. */
        if (nest->launch == NULL ||
            (nest->running != NULL && device->nested_running >= RUNNING_MAX))
            continue;
        wpi_command *command = wpi_nest_take(nest);
        if (command != NULL) return command;
    }
    return NULL;
}

/* ---- ends ---- */

void *wpi_nest_done(wpi_command *command) {
    wpi_nest *nest = command->nest;
    wpi_command **link = &nest->running;
    while (*link != command)
        link = &(*link)->next;
    *link = command->next;
    nest->device->nested_running--;
    wpi_nest_blocks_remove(&nest->blocks, command);
    wpi_command_free(command);
    pthread_cond_broadcast(&nest->changed);
    const bool is_complete = is_empty(nest) && (nest->is_ended || nest->launch == NULL);
    if (is_on_cpu(nest) || !is_complete) return NULL;
    void *owner = nest->launch != NULL ? nest->owner : NULL;
    destroy(nest);
    return owner;
}

bool wpi_nest_end(wpi_launch *launch, void *owner) {
    pthread_mutex_lock(launch->device->lock);
    wpi_nest *nest = launch->nest;
    const bool is_complete = nest == NULL || is_empty(nest);
    if (nest != NULL) {
        nest->is_ended = true;
        nest->owner = owner;
        if (is_complete) destroy(nest);
    }
    pthread_mutex_unlock(launch->device->lock);
    return is_complete;
}

static void drop(wpi_nest *nest, wpi_command *list) {
    while (list != NULL) {
        wpi_command *next = list->next;
        wpi_nest_blocks_remove(&nest->blocks, list);
        wpi_command_free(list);
        list = next;
    }
}

void wpi_nest_abandon(wpi_launch *launch) {
    wpi_nest *nest = launch->nest;
    if (nest == NULL) return;
    wpi_nest_blocks_forget_waiting(&nest->blocks);
    drop(nest, nest->waiting);
    drop(nest, nest->tails);
    nest->waiting = nest->tails = NULL;
    if (nest->running == NULL) {
        destroy(nest);
        return;
    }
    launch->nest = NULL;
    nest->launch = NULL;
}

/* ---- on the CPU ---- */

/* Executes one command, if one can start. Called with the lock held, which is released meanwhile.
 */
static bool run_one(wpi_nest *nest) {
    wpi_command *command = wpi_nest_take(nest);
    if (command == NULL) return false;
    pthread_mutex_unlock(nest->device->lock);
    wpi_command_execute_nested(nest->device, command);
    pthread_mutex_lock(nest->device->lock);
    (void)wpi_nest_done(command);
    return true;
}

void wpi_nest_run(wpi_launch *launch) {
    wpi_cpu_device *device = launch->device;
    pthread_mutex_lock(device->lock);
    wpi_nest *nest = launch->nest;
    nest->is_ended = true;
    pthread_cond_broadcast(&nest->changed);
    while (!is_empty(nest)) {
        if (!run_one(nest)) pthread_cond_wait(&nest->changed, device->lock);
    }
    if (nest->has_thread) {
        pthread_mutex_unlock(device->lock);
        pthread_join(nest->thread, NULL);
        pthread_mutex_lock(device->lock);
    }
    destroy(nest);
    pthread_mutex_unlock(device->lock);
}

void wpi_nest_relieve(wpi_launch *launch) {
    pthread_mutex_lock(launch->device->lock);
    while (atomic_load(&launch->nest_waiting) != 0) {
        if (!run_one(launch->nest)) pthread_cond_wait(&launch->nest->changed, launch->device->lock);
    }
    pthread_mutex_unlock(launch->device->lock);
}

static void *run_thread(void *arg) {
    wpi_nest *nest = arg;
    wpi_fault_prepare_thread();
    pthread_mutex_lock(nest->device->lock);
    while (!nest->is_ended) {
        if (!run_one(nest)) pthread_cond_wait(&nest->changed, nest->device->lock);
    }
    pthread_mutex_unlock(nest->device->lock);
    return NULL;
}

bool wpi_nest_start_thread(wpi_nest *nest) {
    if (nest->has_thread || !is_on_cpu(nest)) return true;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, WPI_WORKER_STACK_BYTES);
    nest->has_thread = pthread_create(&nest->thread, &attr, run_thread, nest) == 0;
    pthread_attr_destroy(&attr);
    return nest->has_thread;
}

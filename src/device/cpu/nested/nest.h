/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Work that kernels queue: launches, copies and fills by the threads of a grid (CUDA's dynamic
 * parallelism). A grid whose threads queued any has a nest, which lists them; it is complete when
 * its blocks have ended and the nest is empty.
 *
 *     a thread's launch ──► waiting ──► running ──► done          streams: in the order of the
 * calls tails ──────┘  once the blocks have ended and all others are done
 *
 * On the CPU the thread that executes the grid runs the commands after its blocks, one after the
 * other; before that where many wait (wpi_nest_relieve), or where a block waits for its own: then
 * a thread of the nest does. An executor (queue.h) takes them as soon as they can start.
 *
 * Thread rule: guarded by device->lock unless it says otherwise.
 */
#ifndef WP_DEVICE_CPU_NESTED_NEST_H
#define WP_DEVICE_CPU_NESTED_NEST_H

#include "device/cpu/queue.h"

typedef struct wpi_nest_event {
    uint64_t event, stream, number; /* what the event marks: commands of the stream up to number */
} wpi_nest_event;

typedef struct wpi_nest_wait {
    uint64_t stream, first; /* commands of the stream from number `first` on … */
    uint64_t after_stream, after;
} wpi_nest_wait;

/** Commands of one block that wait or run, other than tails: nest_blocks.c. */
typedef struct wpi_nest_block {
    struct wpi_nest_block *next; /* in its bucket */
    uint64_t number;
    wpi_command *first, *last; /* in the order of their numbers */
    wpi_block *dormant;        /* it waits for some of them, and only for them; under an executor,
                                  threads of it are held for some of them; NULL: no */
} wpi_nest_block;

typedef struct wpi_nest_blocks {
    wpi_nest_block **buckets;
    uint32_t bucket_count, count;
} wpi_nest_blocks;

typedef struct wpi_nest {
    struct wpi_nest *next; /* of the device */
    wpi_cpu_device *device;
    wpi_launch *launch; /* NULL: it was given up while commands ran */
    void *owner;        /* the executor's, returned by wpi_nest_done */
    bool is_ended;      /* all blocks of the grid have ended */
    bool has_thread;
    pthread_t thread;
    pthread_cond_t changed;
    wpi_command *waiting, **waiting_last; /* in the order of the calls */
    wpi_command *tails, **tails_last;
    wpi_command *running;
    wpi_nest_blocks blocks; /* that queued those which wait or run */
    uint64_t queued;        /* commands so far */
    wpi_nest_event *events;
    uint32_t event_count;
    wpi_nest_wait *waits;
    uint32_t wait_count;
} wpi_nest;

/** The nest of the block's grid, made if absent; NULL: out of memory. */
wpi_nest *wpi_nest_of(wpi_block *block);
/** Takes a command whose stream, number and block are set. False: out of memory. */
bool wpi_nest_add(wpi_nest *nest, wpi_command *command, bool is_tail);
/** Whether commands of `block` up to `number` are done. */
bool wpi_nest_has_done(const wpi_nest *nest, uint64_t block, uint64_t number);

/** Adds an open command of a block. False: out of memory. */
bool wpi_nest_blocks_add(wpi_nest_blocks *blocks, wpi_command *command);
/** The command is done: wakes its block if that is dormant and may go on. */
void wpi_nest_blocks_remove(wpi_nest_blocks *blocks, const wpi_command *command);

/** Without the lock, on the CPU: a block whose threads all wait for commands of its own
 * (awaits_nested) becomes one of its worker's dormant ones. False: some are done. */
bool wpi_nest_sleep(wpi_block *block);
/** Under an executor: its `nested_done` is to be called when commands of the block up to `number`
 * are done. False: they are. */
bool wpi_nest_await(wpi_block *block, uint64_t number);
/** The blocks of the nest's grid are gone: nothing waits for its commands. */
void wpi_nest_blocks_forget_waiting(wpi_nest_blocks *blocks);
/** Without the lock, on the thread that holds the worker: takes the dormant blocks that may go on,
 * or all; a list. */
wpi_block *wpi_nest_wake_up(wpi_worker *worker, bool all);

/** The next command that can start, which then runs; NULL: none. */
wpi_command *wpi_nest_take(wpi_nest *nest);
/** The same of any nest of the device, if not too many run at once. */
wpi_command *wpi_nest_take_any(wpi_cpu_device *device);
/** The command is done, and freed. Returns the owner of the nest if that is now complete, else
 * NULL. */
void *wpi_nest_done(wpi_command *command);
/** For executors, without the lock: the blocks of the launch have ended. True: it is complete;
 * false: wpi_nest_done will return `owner`. */
bool wpi_nest_end(wpi_launch *launch, void *owner);
/** The launch is given up: its commands do not start any more. */
void wpi_nest_abandon(wpi_launch *launch);

/** Without the lock, on the CPU: runs all commands of a launch whose blocks have ended. */
void wpi_nest_run(wpi_launch *launch);
/** Without the lock, on the CPU: runs commands until few wait. */
void wpi_nest_relieve(wpi_launch *launch);
/** On the CPU: a block waits for commands, so a thread is to run them. False: there is none. */
bool wpi_nest_start_thread(wpi_nest *nest);

#endif

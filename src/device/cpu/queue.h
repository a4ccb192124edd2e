/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Command queues of the CPU device, as used by its events and executors.
 *
 * A queue is a list of commands that are executed in order, one at a time, by the queue's own
 * thread, or by a host thread that waits for the queue while it is not running. Commands are
 * numbered from 1; `completed` is the number of the last completed one.
 *
 * Thread rule: everything here is guarded by device->lock unless it says otherwise.
 */
#ifndef WP_DEVICE_CPU_QUEUE_H
#define WP_DEVICE_CPU_QUEUE_H

#include "device/cpu/cpu.h"
#include "report/recorder.h"

/** A place in a queue: after its command `number`. The owner of a dependency holds a reference. */
typedef struct wpi_dependency {
    wpi_cpu_queue *queue; /* NULL: nothing to wait for */
    uint64_t number;
} wpi_dependency;

typedef struct wpi_cpu_event {
    wp_event base;
    uint32_t refs;       /* the user's, and one for each pending record */
    wpi_dependency last; /* the last record queued; earlier ones no longer count */
    uint64_t time_ns;    /* of `last`, once it is done */
} wpi_cpu_event;

typedef enum wpi_command_kind {
    WPI_COMMAND_COPY = 0,
    WPI_COMMAND_FILL,
    WPI_COMMAND_LAUNCH,
    WPI_COMMAND_HOST_CALL,
    WPI_COMMAND_RECORD,
    WPI_COMMAND_WAIT_EVENT,
    WPI_COMMAND_WAIT_WORD, /* can run when the word passes its test */
    WPI_COMMAND_PREFETCH,
    WPI_COMMAND_HOST_WORK, /* for an executor; without one the work takes real time */
    WPI_COMMAND_COUNT      /* must be last */
} wpi_command_kind;

typedef struct wpi_command {
    struct wpi_command *next;
    wpi_command_kind kind;
    wpi_dependency *dependencies; /* places that other queues must reach first; NULL: none */
    size_t dependency_count;
    bool is_replayed; /* from a trace; only an executor handles it */
    /* Of a command that a kernel's thread queued (nested/nest.h): */
    struct wpi_nest *nest; /* NULL: the host queued it */
    uint64_t stream, number, block;
    struct wpi_nest_block *of_block;     /* … other than a tail, until it is done */
    struct wpi_command *earlier, *later; /* of that block */
    union {
        struct {
            wp_copy_kind kind; /* of a replayed copy, whose memory does not exist */
            void *dst;
            const void *src;
            size_t dst_pitch_bytes, src_pitch_bytes, width_bytes, height;
        } copy;
        struct {
            void *dst;
            uint32_t value, value_bytes;
            size_t count;
        } fill;
        wpi_launch launch;
        struct {
            void (*call)(void *);
            void *arg;
        } host_call;
        struct {
            uint64_t address, size_bytes;
            bool to_device;
        } prefetch; /* for an executor; the CPU device does not migrate memory */
        wp_host_work host_work;
        wpi_cpu_event *record; /* holds a reference */
        wpi_dependency wait;   /* for the event's last record when it was queued */
        wpi_word word;         /* of WAIT_WORD */
    } u;
    /* a launch's arguments follow */
} wpi_command;

/** Executes a device's commands in place of its queues' own threads, with its own clock. Called
 * with device->lock held, which it may release meanwhile. */
typedef struct wpi_executor {
    void (*queued)(struct wpi_executor *executor); /* a command was queued */
    /* A thread of a kernel queued one, on the thread that executes the kernel */
    void (*nested)(struct wpi_executor *executor);
    /* Threads of a block are held for such commands (wpi_nest_await), and some of these are done */
    void (*nested_done)(struct wpi_executor *executor, struct wpi_block *block);
    /* A host thread waits: the executor may run on it until `is_done(arg)`, or return before. */
    void (*wait_until)(struct wpi_executor *executor, bool (*is_done)(const void *),
                       const void *arg);
    void (*waited)(struct wpi_executor *executor); /* … the thread continues */
    /* A host thread polls: some time passes */
    void (*poll)(struct wpi_executor *executor);
    uint64_t (*now_ns)(const struct wpi_executor *executor);
} wpi_executor;

/** Whether commands may be executed on the calling thread: its stack is large enough, and it is not
 * executing one. */
bool wpi_queue_may_execute(void);
/** Whether the calling thread may wait for queues: it is in no host function, and in no step. */
bool wpi_queue_may_wait(void);
/** With true, the calling thread queues commands without waiting for room, and executes none, as in
 * a host function, until called with false. Returns the previous setting. */
bool wpi_queue_forbid_waiting(bool forbids);
/** The next queue after `after` in the lists of the device's group (NULL: from their start) whose
 * first command can start; NULL: none. */
wpi_cpu_queue *wpi_queue_find_startable(wpi_cpu_device *device, wpi_cpu_queue *after);
/** Whether a queue's first command waits for a word of memory, which no call may announce. */
bool wpi_queue_any_polls(const wpi_cpu_device *device);
/** Releases the lock for the time between two looks at such words. */
void wpi_queue_poll_pause(wpi_cpu_device *device);
/** The first command of such a queue. */
const wpi_command *wpi_queue_first(const wpi_cpu_queue *queue);
/** Marks the queue's first command as running. */
wpi_command *wpi_queue_start(wpi_cpu_queue *queue);
/** … and as done. */
void wpi_queue_finish(wpi_cpu_queue *queue);
/** Executes a command other than a launch. Called without the lock. */
void wpi_command_execute(wpi_cpu_device *device, wpi_command *command);
/** Wakes threads in wpi_device_wait_until whose condition holds now, for reasons other than a
 * command's end. */
void wpi_device_announce(wpi_cpu_device *device);
/** Whether a host thread waits for something that has not happened. */
bool wpi_device_is_awaited(const wpi_cpu_device *device);
wp_copy_kind wpi_copy_kind(const void *dst, const void *src);

/** Makes the command of a launch. LAUNCH: it needs more than the device has. */
WP_NODISCARD wp_status wpi_launch_command(const wp_launch *from, wpi_command **out, wp_error *err);
/** Executes a command that a kernel queued, on a thread of this device. Called without the lock. */
void wpi_command_execute_nested(wpi_cpu_device *device, wpi_command *command);
void wpi_command_free(wpi_command *command);

/** Takes `command` (NULL: fails with NOMEM). A RECORD becomes its event's last one. */
wp_status wpi_queue_submit(wpi_cpu_queue *queue, wpi_command *command, wp_error *err);
wpi_command *wpi_command_create(wpi_command_kind kind, size_t extra_bytes);

/** Waits until `is_done(arg)`, which is called with device->lock held; the caller holds it too.
 *  Meanwhile executes commands of `helps` (NULL: none) while no other thread does. */
void wpi_device_wait_until(wpi_cpu_device *device, bool (*is_done)(const void *), const void *arg,
                           wpi_cpu_queue *helps);

/** Whether the queue has reached the place (a wpi_dependency). */
bool wpi_queue_has_come_to(const void *dependency);

void wpi_queue_ref(wpi_cpu_queue *queue);
void wpi_queue_unref(wpi_cpu_queue *queue);
void wpi_event_unref(wpi_cpu_event *event);

wp_status wpi_cpu_device_wait(wp_device *device, wp_error *err);
bool wpi_cpu_device_is_idle(wp_device *device); /* takes the lock */
/** Frees the device's queues, whose work is done. Called without the lock. */
void wpi_cpu_queues_close(wpi_cpu_device *device);

#endif

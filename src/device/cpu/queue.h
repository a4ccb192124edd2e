/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Command queues of the CPU device, as its events see them.
 *
 * A queue is a list of commands that are executed in order, one at a time, by the queue's own
 * thread, or by a host thread that waits for the queue anyway and finds it not running. Commands
 * are numbered from 1; `completed` is the number of the last one that is done.
 *
 * Thread rule: everything here is guarded by device->lock unless it says otherwise.
 */
#ifndef WP_DEVICE_CPU_QUEUE_H
#define WP_DEVICE_CPU_QUEUE_H

#include "device/cpu/cpu.h"
#include "report/recorder.h"

/** A place in a queue: behind its command `number`. Whoever keeps it holds a reference. */
typedef struct wpi_dependency {
    wpi_cpu_queue *queue; /* NULL: nothing to wait for */
    uint64_t number;
} wpi_dependency;

typedef struct wpi_cpu_event {
    wp_event base;
    uint32_t refs;       /* the user's, and one for each record under way */
    wpi_dependency last; /* the last record asked for; earlier ones no longer count */
    uint64_t time_ns;    /* of `last`, once it is done */
} wpi_cpu_event;

typedef enum wpi_command_kind {
    WPI_COMMAND_COPY = 0,
    WPI_COMMAND_FILL,
    WPI_COMMAND_LAUNCH,
    WPI_COMMAND_HOST_CALL,
    WPI_COMMAND_RECORD,
    WPI_COMMAND_WAIT_EVENT,
    WPI_COMMAND_PREFETCH,
    WPI_COMMAND_HOST_WORK, /* for an executor: in real time the work itself takes its time */
    WPI_COMMAND_COUNT      /* must be last */
} wpi_command_kind;

typedef struct wpi_command {
    struct wpi_command *next;
    wpi_command_kind kind;
    wpi_dependency *dependencies; /* where other queues must be before it may start; NULL: none */
    size_t dependency_count;
    bool is_replayed; /* of a trace: only the executor knows what to do with it */
    union {
        struct {
            wp_copy_kind kind; /* of a replayed one, whose addresses are not there */
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
        } prefetch; /* for an executor: here memory is where it is */
        wp_host_work host_work;
        wpi_cpu_event *record; /* holds a reference */
        wpi_dependency wait;   /* for the record that was the event's last one at that time */
    } u;
    /* a launch's arguments follow */
} wpi_command;

/** Who executes a device's commands in place of its queues' own threads: a clock of its own goes
 * with it. Called with device->lock held, and may let go of it meanwhile. */
typedef struct wpi_executor {
    void (*queued)(struct wpi_executor *executor); /* a command was */
    /* A host thread waits: the executor may use it until `is_done(arg)`, or come back before. */
    void (*wait_until)(struct wpi_executor *executor, bool (*is_done)(const void *),
                       const void *arg);
    void (*waited)(struct wpi_executor *executor); /* … it goes its way */
    /* … asks and does not wait: time passes, a little */
    void (*poll)(struct wpi_executor *executor);
    uint64_t (*now_ns)(const struct wpi_executor *executor);
} wpi_executor;

/** Whether commands may be executed on the calling thread: its stack is large enough, and it
 * executes none yet. */
bool wpi_queue_may_execute(void);
/** Whether the calling thread may wait for queues: it is in no host function, and in no step. */
bool wpi_queue_may_wait(void);
/** Until it is called with false, the calling thread queues commands without waiting for room, and
 * executes none, as in a host function. What was in force before. */
bool wpi_queue_forbid_waiting(bool forbids);
/** A queue whose first command can start, behind `after` in the device's list (NULL: from its
 * beginning); NULL: there is none. */
wpi_cpu_queue *wpi_queue_find_startable(wpi_cpu_device *device, wpi_cpu_queue *after);
/** What such a queue would start. */
const wpi_command *wpi_queue_first(const wpi_cpu_queue *queue);
/** The queue's first command is under way from now on. */
wpi_command *wpi_queue_start(wpi_cpu_queue *queue);
/** … and is done. */
void wpi_queue_finish(wpi_cpu_queue *queue);
/** What a command other than a launch does, at once. Without the lock. */
void wpi_command_execute(wpi_cpu_device *device, wpi_command *command);
/** Wakes threads in wpi_device_wait_until whose condition holds now, for reasons other than a
 * command's end. */
void wpi_device_announce(wpi_cpu_device *device);
/** Whether a host thread waits for something that has not happened. */
bool wpi_device_is_awaited(const wpi_cpu_device *device);
wp_copy_kind wpi_copy_kind(const void *dst, const void *src);

/** Takes `command` (NULL: says that memory is out). A RECORD becomes its event's last one. */
wp_status wpi_queue_submit(wpi_cpu_queue *queue, wpi_command *command, wp_error *err);
wpi_command *wpi_command_create(wpi_command_kind kind, size_t extra_bytes);

/** Waits until `is_done(arg)`, which is asked with device->lock held; the caller holds it, too.
 *  Meanwhile executes commands of `helps` (NULL: of none) as long as nobody else does. */
void wpi_device_wait_until(wpi_cpu_device *device, bool (*is_done)(const void *), const void *arg,
                           wpi_cpu_queue *helps);

/** Whether the queue has come to that place (a wpi_dependency). */
bool wpi_queue_has_come_to(const void *dependency);

void wpi_queue_ref(wpi_cpu_queue *queue);
void wpi_queue_unref(wpi_cpu_queue *queue);
void wpi_event_unref(wpi_cpu_event *event);

wp_status wpi_cpu_device_wait(wp_device *device, wp_error *err);
bool wpi_cpu_device_is_idle(wp_device *device); /* takes the lock */
/** Frees the device's queues, whose work is done. Not under the lock. */
void wpi_cpu_queues_close(wpi_cpu_device *device);

#endif

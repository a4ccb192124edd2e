/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Internals of the executor of a simulated GPU:
 *
 *     executor.c            rounds: commands start, the engine runs until one has ended
 *     executor_jobs.c       commands: how each kind starts and ends
 *     executor_memory.c     managed memory, and what of it the host touches
 *     executor_host_work.c  declared host work, host actors
 *     executor_deadlock.c   kernels and actors that would wait for ever
 *
 * Thread rule: with device->lock held, or on the thread that does a round.
 */
#ifndef WP_DEVICE_SIM_EXECUTOR_PARTS_H
#define WP_DEVICE_SIM_EXECUTOR_PARTS_H

#include "device/sim/host_actors.h"
#include "device/sim/managed_pages.h"
#include "device/sim/observer.h"
#include "device/sim/pace.h"
#include "device/sim/progress.h"
#include "device/sim/sim_device.h"
#include "device/sim/threads.h"
#include "trace/tee.h"
#include "trace/trace_source.h"

/* A command in progress. */
typedef struct wpi_job {
    struct wpi_job *next; /* in the list of jobs in progress, or of ended ones */
    wpi_sim_executor *executor;
    wpi_cpu_queue *queue;
    wpi_command *command;
    wpi_threads *threads;       /* of a launch, … */
    wpi_trace_source *replayed; /* … or of a launch in a trace */
    wpi_tee *tee;               /* NULL: not recorded */
    wpi_warp_source *source;    /* of one of these */
    wpi_observed *observed;
    uint64_t number; /* of a launch, from 1 */
    bool is_good;    /* the launch has completed */
    bool has_ended;
    wpi_time_ps start_ps;
    wp_host_work
        *works; /* [work_count]: declared by a host function; the first `works_done` are done */
    size_t work_count, works_done;
} wpi_job;

/* Devices that were opened together have an executor each and share the first one's engine and
 * pace: one clock. All that the executors share is in `lead`. */
struct wpi_sim_executor {
    wpi_executor base;      /* first; of the lead: the queues' executor */
    wpi_sim_executor *lead; /* itself, or the first device's */
    wpi_sim_executor *next; /* of the lead: the further devices' */
    wpi_cpu_device *device;
    uint32_t peers;          /* bit p: kernels may use memory of device p */
    uint64_t denied_address; /* 0: none; an access that they may not make */
    const wpi_profile *profile;
    wpi_engine *engine;
    wpi_memory *memory;
    wpi_gpu *gpu;
    wpi_observer *observer; /* NULL: no report is requested */
    wpi_progress progress;
    uint64_t launch_count;
    uint64_t instructions_max; /* at which the run ends; 0: unlimited */
    wpi_addresses *addresses;
    wpi_worker *worker;
    wpi_job *running;
    wpi_job *ended, **ended_last;
    wpi_time_ps base_ps;     /* when the engine was at 0 */
    _Atomic uint64_t now_ps; /* a copy for other threads */
    wpi_pace pace;
    wpi_activity activity;
    uint64_t progress_seen, seen_ns; /* last progress of `activity`, and its real time */
    uint64_t patience_ns;
    wpi_managed managed;
    uint32_t host_threads; /* that wait or poll, and so touch no memory */
    bool host_was_here;    /* may have touched managed memory since the last check */
    bool is_blurred;       /* kernels may have too */
    uint64_t condense_ns, condense_after_ns; /* real time: next, and interval after that */
    bool is_working;                         /* a thread uses the model without the lock */
    bool has_nested;                         /* kernels queued commands in this round */
    wpi_actors actors;
    wpi_job *calling; /* job whose host function runs */
    uint64_t models;  /* models replaced after errors; their work is dropped */
    uint64_t idle_ns; /* real time since when only the host can cause events; 0: not so */
};

/** The executor of the queue's device. */
static inline wpi_sim_executor *wpi_executor_of_queue(const wpi_cpu_queue *queue) {
    const wp_queue *base = (const wp_queue *)(const void *)queue;
    return ((wpi_sim_device *)(void *)base->device)->executor;
}

static inline wpi_sim_device *wpi_executor_device(const wpi_sim_executor *x) {
    return (wpi_sim_device *)(void *)x->device;
}

/** Whether the next command of the queue, which can start, calls a host function. */
static inline bool wpi_queue_starts_host_call(const wpi_cpu_queue *queue) {
    return wpi_queue_first(queue)->kind == WPI_COMMAND_HOST_CALL;
}

/** Other threads, and the program's clocks, see the model's time. */
void wpi_executor_publish_time(wpi_sim_executor *x);
/** The device has failed. */
void wpi_executor_fail(wpi_sim_executor *x, const wp_error *error);

/* ---- executor_jobs.c ---- */

/** A command has ended: its queue continues when the round is over. */
void wpi_job_end(wpi_job *j);
/** Starts the first command of each queue that can start; host functions only if `calls_host`. The
 * lock is released meanwhile. */
void wpi_executor_start_all(wpi_sim_executor *x, bool calls_host);
/** Notifies the queues of ended commands. */
void wpi_executor_finish_ended(wpi_sim_executor *x);

/* ---- executor_memory.c ---- */

/** Host code continues: it may touch managed memory from now on. */
void wpi_executor_let_host_in(wpi_sim_executor *x);
/** Migrates what the host has touched since then. */
void wpi_executor_ask_what_host_did(wpi_sim_executor *x);
/** The same, if the simulator is at rest. */
void wpi_executor_ask_at_rest(wpi_sim_executor *x);
/** Adds the program's managed variables to managed memory. NOMEM. */
WP_NODISCARD wp_status wpi_executor_manage_variables(wpi_sim_executor *x, wp_error *err);

/* ---- executor_deadlock.c ---- */

/** Reads the parameter `patience`. */
WP_NODISCARD wp_status wpi_executor_load_patience(wpi_sim_executor *x, wp_error *err);
/** Fails the device; the message is `why` and what the oldest warp or actor waits for. */
void wpi_executor_fail_deadlocked(wpi_sim_executor *x, const char *why);
/** No event is left, and actors watch words that only a host thread can store to: waits a moment
 * for it; fails when `patience` is over and a host thread waits for the device (`is_awaited`). */
void wpi_executor_wait_for_host(wpi_sim_executor *x, bool is_awaited);
/** All warps have polled words for longer than `patience`, no warp has stored, and a host thread
 * waits for them. */
bool wpi_executor_waits_in_vain(wpi_sim_executor *x, bool is_awaited);

/* ---- executor_host_work.c ---- */

/** Events: a queue's host work has ended; the next piece that a host function declared, or its end.
 */
void wpi_job_host_work_ended(void *object, uint64_t token, wpi_time_ps now);
void wpi_job_continue_host_call(void *object, uint64_t token, wpi_time_ps now);
/** The job has called a host function: adds the bytes that it copied and did not declare as
 * work. */
void wpi_job_add_copies(wpi_job *j);
/** A copy starts: counts bytes that come from host memory that nothing declared has filled. */
void wpi_executor_note_copy_begin(const wpi_sim_executor *x, const wpi_command *c,
                                  wp_copy_kind kind);
/** A copy or fill has ended: it may have filled host memory. */
void wpi_executor_note_copy_end(const wpi_sim_executor *x, const wpi_command *c, wp_copy_kind kind);
/** Kernels report stores to host memory while actors are alive. */
void wpi_executor_watch_stores(wpi_sim_executor *x);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Starts what can start, lets the engine run until something has ended, tells the queues: in
 * rounds, on one thread at a time (advance.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/param.h"
#include "device/sim/functional.h"
#include "device/sim/host_actors.h"
#include "device/sim/future_file.h"
#include "device/sim/managed_pages.h"
#include "device/sim/observer.h"
#include "device/sim/advance.h"
#include "device/sim/progress.h"
#include "device/sim/trace_recorder.h"
#include "device/sim/threads.h"
#include "device/sim/variables.h"
#include "report/recorder.h"
#include "trace/trace_source.h"

#define POLL_PS WP_PS_PER_US         /* what passes when the host asks whether something is done */
#define SLICE_PS (16 * WP_PS_PER_US) /* … before the queues are looked at again */
#define CONDENSE_FIRST_NS UINT64_C(4000000000)
#define COLLECT_WAIT_S 10

const wp_param wpi_executor_params[] = {{"max-instructions", WP_UNIT_NUMBER, "0", 0, UINT64_MAX,
                                         "end the program after this number of simulated "
                                         "thread instructions; 0: no limit"},
                                        {0}};
#define IDLE_ROUNDS 1000u /* of each warp, before all of them may be said to wait for ever */

const wp_param wpi_patience_params[] = {
    {"patience", WP_UNIT_NS, "10s", 1000000, UINT64_MAX,
     "time after which a simulated kernel whose threads all wait is reported as deadlocked"},
    {0}};

/* A command under way. */
typedef struct job {
    struct job *next; /* among those under way, or those that have ended */
    wpi_sim_executor *executor;
    wpi_cpu_queue *queue;
    wpi_command *command;
    wpi_threads *threads;       /* of a launch, or … */
    wpi_trace_source *replayed; /* … of one of a trace */
    wpi_tee *tee;               /* NULL: it is not recorded */
    wpi_observed *observed;
    uint64_t number; /* of a launch, from 1 */
    bool is_good;    /* the launch came to its end */
    wp_time_ps start_ps;
    wp_host_work *works; /* that a host function declared, [work_count]; the first `works_done` are */
    size_t work_count, works_done;
} job;

struct wpi_sim_executor {
    wpi_executor base; /* first */
    wpi_cpu_device *device;
    const wpi_profile *profile;
    wpi_engine *engine;
    wpi_memory *memory;
    wpi_gpu *gpu;
    wpi_observer *observer; /* NULL: nobody wants a report */
    wpi_progress progress;
    uint64_t launch_count;
    uint64_t instructions_max; /* the run ends there; 0: it does not */
    wpi_addresses *addresses;
    wpi_worker *worker;
    job *running;
    job *ended, **ended_last;
    wp_time_ps base_ps;      /* when the engine was at 0 */
    _Atomic uint64_t now_ps; /* a copy for other threads */
    wpi_pace pace;
    wpi_activity activity;
    uint64_t progress_seen, seen_ns; /* of `activity`, and when (real time) */
    uint64_t patience_ns;
    wpi_managed managed;
    uint32_t host_threads; /* that wait, or ask: they touch no memory */
    bool host_was_here;    /* and may have touched managed memory since it was last forgotten */
    bool is_blurred;       /* kernels may have done so as well */
    uint64_t condense_ns, condense_after_ns; /* real time: when again, and how long after that */
    bool is_working; /* a thread has let go of the lock, and uses the model */
    wpi_actors actors;
    job *calling;     /* whose host function runs */
    uint64_t idle_ns; /* since when nothing can happen but by the host (real time); 0: it can */
};

static uint64_t now_ns(const wpi_executor *base) {
    return atomic_load(&((const wpi_sim_executor *)(const void *)base)->now_ps) / WP_PS_PER_NS;
}

/* ---- ends
 * ----------------------------------------------------------------------------------------- */

static void end_job(job *j) {
    wpi_sim_executor *x = j->executor;
    job **link = &x->running;
    while (*link != j)
        link = &(*link)->next;
    *link = j->next;
    j->next = NULL;
    *x->ended_last = j;
    x->ended_last = &j->next;
    wpi_engine_stop(x->engine);
}

static void log_launch(const wpi_cpu_kernel *kernel, const wpi_launch_numbers *n) {
    wp_log(WP_LOG_INFO, "device.sim",
           "%s: %" PRIu64 " ns, %s, %" PRIu64 " thread instructions, warp accesses: %" PRIu64
           " loads %" PRIu64 " stores %" PRIu64 " atomics %" PRIu64 " reductions",
           kernel->display_name, (n->end_ps - n->start_ps) / WP_PS_PER_NS,
           kernel->tables->is_in_step ? "in step" : "ahead", n->thread_instructions,
           n->accesses[WP_TRACE_LOAD], n->accesses[WP_TRACE_STORE], n->accesses[WP_TRACE_ATOMIC],
           n->accesses[WP_TRACE_REDUCE]);
}

static void launch_ended(void *object, const wpi_launch_numbers *numbers, bool is_good) {
    job *j = object;
    const wpi_launch *launch = &j->command->u.launch;
    const wp_time_ps base_ps = j->executor->base_ps;
    const uint32_t grid[3] = {launch->grid.x, launch->grid.y, launch->grid.z};
    const uint32_t block[3] = {launch->block.x, launch->block.y, launch->block.z};
    if (is_good) log_launch(launch->kernel, numbers);
    const bool is_selected = j->executor->observer != NULL &&
                             wpi_observer_end(j->executor->observer, j->observed,
                                              launch->kernel->code->name, is_good ? numbers : NULL);
    if (is_good && is_selected) {
        wpi_report_kernel(j->queue, launch->kernel->code->name, grid, block,
                          (base_ps + numbers->start_ps) / WP_PS_PER_NS,
                          (base_ps + numbers->end_ps) / WP_PS_PER_NS);
    }
    j->is_good = is_good;
    wpi_actors_look(&j->executor->actors);
    end_job(j);
}

/* What a copy or fill moves. */
typedef struct transfer {
    wp_copy_kind kind;
    uint64_t bytes;
} transfer;

static transfer transfer_of(const wpi_command *c) {
    if (c->kind == WPI_COMMAND_FILL)
        return (transfer){WP_COPY_FILL, (uint64_t)c->u.fill.count * c->u.fill.value_bytes};
    return (transfer){c->is_replayed ? c->u.copy.kind : wpi_copy_kind(c->u.copy.dst, c->u.copy.src),
                      (uint64_t)c->u.copy.width_bytes * c->u.copy.height};
}

/* Copies and fills leave pages where they are; those that are nowhere come to be on the host. */
static void note_written(wpi_sim_executor *x, const wpi_command *c) {
    const void *first = c->kind == WPI_COMMAND_FILL ? c->u.fill.dst : c->u.copy.dst;
    const wpi_managed_range range = {.address = wpi_variables_find((uintptr_t)first),
                                     .bytes = transfer_of(c).bytes};
    if (x->profile->paging.is_on) wpi_managed_use_on_host(x->memory, range);
}

/* The bytes move when the transfer ends. */
static void transfer_ended(void *object, uint64_t token, wp_time_ps now) {
    job *j = object;
    (void)token;
    note_written(j->executor, j->command);
    if (!j->command->is_replayed) wpi_command_execute(j->executor->device, j->command);
    const transfer moved = transfer_of(j->command);
    const wp_time_ps base_ps = j->executor->base_ps;
    if (wpi_report_is_on())
        wpi_report_copy(j->queue, moved.kind, moved.bytes, (base_ps + j->start_ps) / WP_PS_PER_NS,
                        (base_ps + now) / WP_PS_PER_NS);
    wpi_actors_look(&j->executor->actors);
    end_job(j);
}

/* ---- starts
 * --------------------------------------------------------------------------------------- */

static void fail(wpi_sim_executor *x, const wp_error *error) {
    wpi_cpu_device_fail(x->device, error);
}

static wp_status choose_variant(const wpi_sim_executor *x, wpi_launch *launch, wp_error *err) {
    const wpi_cpu_kernel *kernel = launch->kernel;
    const wpi_in_step in_step = ((const wpi_sim_device *)(const void *)x->device)->in_step;
    const bool is_needed = wpi_in_step_is_needed(kernel->trace) || x->actors.live != 0;
    if (in_step != WPI_IN_STEP_AUTO || kernel->tables->is_in_step || !is_needed)
        return WP_STATUS_OK;
    return wpi_cpu_kernel_as(kernel, WPI_VARIANT_IN_STEP, &launch->kernel, err);
}

static wpi_sim_device *device_of(const wpi_sim_executor *x) {
    return (wpi_sim_device *)(void *)x->device;
}

static void trace_failed(void *executor, const wp_error *error) {
    fail(executor, error);
}

/* Where the launch's warps come from; recorded on the way, if something is recorded. */
static wp_status open_source(job *j, wpi_warp_source **out, wp_error *err) {
    wpi_sim_device *device = device_of(j->executor);
    wpi_launch *launch = &j->command->u.launch;
    if (j->command->is_replayed) {
        WP_TRY(wpi_trace_source_create(device->trace, launch->id, trace_failed, j->executor,
                                       &j->replayed, err));
        *out = wpi_trace_source_base(j->replayed);
        return WP_STATUS_OK;
    }
    wpi_sim_executor *x = j->executor;
    WP_TRY(choose_variant(x, launch, err));
    WP_TRY(wpi_threads_create(x->worker, launch, x->addresses, &x->activity, &j->threads, err));
    *out = wpi_threads_source(j->threads);
    if (device->recorder == NULL) return WP_STATUS_OK;
    WP_TRY(wpi_recorder_launch(device->recorder, launch, *out, &j->tee, err));
    if (j->tee != NULL) *out = wpi_tee_source(j->tee);
    return WP_STATUS_OK;
}

static wp_status launch_functionally(job *j, wpi_warp_source *source, wp_error *err) {
    WP_TRY(wpi_functional_run(source, err));
    const wp_time_ps now = wpi_engine_now(j->executor->engine);
    launch_ended(j, &(wpi_launch_numbers){.start_ps = now, .end_ps = now}, true);
    return WP_STATUS_OK;
}

/* The source must not outlive what it reads, nor the SMs the source. */
static void close_source(job *j) {
    if (j->is_good && j->tee != NULL) {
        wpi_recorder_launch_ended(device_of(j->executor)->recorder, j->tee);
    } else {
        wpi_tee_abandon(j->tee);
    }
    wpi_trace_source_destroy(j->replayed);
    wpi_threads_destroy(j->threads);
}

static wp_status make_room(wpi_sim_executor *x, wp_error *err) {
    uint64_t free_bytes, total_bytes;
    wpi_cpu_memory_info(&x->device->base, &free_bytes, &total_bytes);
    return wpi_managed_make_room(&x->managed, x->memory, x->profile, total_bytes - free_bytes, err);
}

/* Managed memory has room, and what is known of the launch is looked at. */
static wp_status begin_paging(wpi_sim_executor *x, wp_time_ps now, wp_error *err) {
    WP_TRY(make_room(x, err));
    if (x->managed.count == 0 || wpi_recorder_is_functional(device_of(x)->recorder))
        return WP_STATUS_OK;
    return wpi_paging_launch(wpi_memory_paging(x->memory), now, err);
}

static void start_launch(void *object, uint64_t token, wp_time_ps now) {
    job *j = object;
    wpi_sim_executor *x = j->executor;
    const wpi_launch *launch = &j->command->u.launch;
    wpi_warp_source *source;
    wp_error error = {0};
    (void)token;
    j->number = ++x->launch_count;
    wp_status status = open_source(j, &source, &error);
    if (x->observer != NULL)
        j->observed = wpi_observer_begin(x->observer, launch->kernel->code->name);
    if (status == WP_STATUS_OK && x->profile->paging.is_on) status = begin_paging(x, now, &error);
    if (status == WP_STATUS_OK && wpi_recorder_is_functional(device_of(x)->recorder)) {
        status = launch_functionally(j, source, &error);
    } else if (status == WP_STATUS_OK) {
        status = wpi_gpu_launch(x->gpu, source, launch_ended, j, &error);
    }
    if (status == WP_STATUS_OK) return;
    if (x->observer != NULL)
        (void)wpi_observer_end(x->observer, j->observed, launch->kernel->code->name, NULL);
    fail(x, &error);
    end_job(j);
}

static void copy_answered(void *object, uint64_t token, const wpi_answer *answer) {
    transfer_ended(object, token, answer->answered);
}

/* Within device memory: at the bandwidth of DRAM, each byte read and written. */
static wp_time_ps within_device_ps(const wpi_profile *profile, uint64_t bytes, uint32_t passes) {
    const double seconds = (double)bytes * passes / (double)profile->dram.bytes_per_s;
    return profile->dram.latency_ps + (wp_time_ps)(seconds * (double)WP_PS_PER_S);
}

static void start_transfer(wpi_sim_executor *x, job *j) {
    const wp_time_ps now = wpi_engine_now(x->engine);
    const transfer moved = transfer_of(j->command);
    const uint64_t bytes = moved.bytes;
    switch (moved.kind) {
    case WP_COPY_FILL:
        wpi_engine_at(x->engine, now + within_device_ps(x->profile, bytes, 1), transfer_ended, j,
                      0);
        break;
    case WP_COPY_H2D:
        wpi_memory_copy(x->memory, bytes, WPI_DIRECTION_TO_DEVICE, now, copy_answered, j, 0);
        break;
    case WP_COPY_D2H:
        wpi_memory_copy(x->memory, bytes, WPI_DIRECTION_TO_HOST, now, copy_answered, j, 0);
        break;
    case WP_COPY_D2D:
        wpi_engine_at(x->engine, now + within_device_ps(x->profile, bytes, 2), transfer_ended, j,
                      0);
        break;
    default:
        wpi_engine_at(x->engine, now, transfer_ended, j, 0);
        break; /* host memory: not the GPU's */
    }
}

static void prefetched(void *object, uint64_t token, wp_time_ps now) {
    (void)token;
    (void)now;
    end_job(object);
}

static void start_prefetch(wpi_sim_executor *x, job *j) {
    const wpi_paging_range range = {wpi_variables_find(j->command->u.prefetch.address),
                                    j->command->u.prefetch.size_bytes};
    wp_error error = {0};
    if (!x->profile->paging.is_on) {
        end_job(j);
    } else if (make_room(x, &error) != WP_STATUS_OK) { /* no launch need have said how much */
        fail(x, &error);
        end_job(j);
    } else {
        wpi_paging_prefetch(wpi_memory_paging(x->memory), range, j->command->u.prefetch.to_device,
                            wpi_engine_now(x->engine), prefetched, j);
    }
}

/* ---- what the host touches ------------------------------------------------------------------- */

static bool watches_host(const wpi_sim_executor *x) {
    const wpi_sim_device *device = device_of((wpi_sim_executor *)x);
    if (device->trace != NULL || x->managed.count == 0) return false;
    return x->profile->paging.is_on || device->recorder != NULL;
}

/* Kernels have touched these pages, or the host. Where the model knows of no kernel, it was the
 * host. */
static void note_unclear(void *object, uint64_t chunk, const wpi_pages *touched) {
    wpi_sim_executor *x = object;
    for (uint32_t first = wpi_pages_next(touched, 0); first < WPI_CHUNK_PAGES;) {
        const uint32_t outer = wpi_pages_run_end(touched, first);
        const wpi_managed_range run = {.address = chunk + (uint64_t)first * WPI_PAGE_BYTES,
                                       .bytes = (uint64_t)(outer - first) * WPI_PAGE_BYTES};
        wpi_managed_use_on_host(x->memory, run);
        first = wpi_pages_next(touched, outer);
    }
}

/* The host goes on: what it touches from now on is its. */
static void let_host_in(wpi_sim_executor *x) {
    if (!watches_host(x)) return;
    if (x->host_was_here && x->is_blurred) wpi_managed_visit_touched(&x->managed, note_unclear, x);
    wpi_managed_forget_touched(&x->managed);
    x->host_was_here = true;
    x->is_blurred = false;
}

/* Commands that have not started wait; what runs goes on. With the lock held; released meanwhile.
 */
static void pass_until(wpi_sim_executor *x, wp_time_ps time) {
    x->is_working = true;
    pthread_mutex_unlock(&x->device->lock);
    while (wpi_engine_now(x->engine) < time && !atomic_load(&x->device->has_failed))
        wpi_engine_run_until(x->engine, time);
    atomic_store(&x->now_ps, x->base_ps + wpi_engine_now(x->engine));
    pthread_mutex_lock(&x->device->lock);
    x->is_working = false;
    pthread_cond_broadcast(&x->pace.polled);
}

static void bring_back(wpi_sim_executor *x, uint64_t chunk, const wpi_pages *pages) {
    wpi_pages touched = *pages;
    wp_time_ps done = 0;
    while (x->profile->paging.is_on &&
           wpi_paging_host_fault(wpi_memory_paging(x->memory), chunk, &touched,
                                 wpi_engine_now(x->engine), &done))
        pass_until(x, done);
}

static void note_touched(void *object, uint64_t chunk, const wpi_pages *touched) {
    wpi_sim_executor *x = object;
    wpi_recorder_host_touched(device_of(x)->recorder, chunk, touched);
    bring_back(x, chunk, touched);
}

void wpi_sim_executor_host_touched(wpi_sim_executor *x, uint64_t chunk, const wpi_pages *pages) {
    pthread_mutex_lock(&x->device->lock);
    wpi_pace_take(&x->pace);
    bring_back(x, chunk, pages);
    wpi_pace_give(&x->pace);
    pthread_mutex_unlock(&x->device->lock);
}

/* Before anything else happens. */
static void ask_what_host_did(wpi_sim_executor *x) {
    if (!x->host_was_here || !watches_host(x)) return;
    if (x->is_blurred && x->host_threads == 0) return; /* it is still at it */
    x->host_was_here = false;
    wpi_managed_visit_touched(&x->managed, x->is_blurred ? note_unclear : note_touched, x);
}

static bool returns_pages(const wpi_sim_executor *x) {
    return x->profile->paging.is_on && x->profile->paging.synchronize != WPI_SYNCHRONIZE_KEEP;
}

/* What the host touched before it waited comes first; so it does in a trace. */
void wpi_sim_executor_waited(wpi_sim_executor *x) {
    if (x->managed.count == 0 || !(returns_pages(x) || device_of(x)->recorder != NULL)) return;
    pthread_mutex_lock(&x->device->lock);
    if (!wpi_pace_is_mine(&x->pace)) { /* a host function has not waited */
        wpi_pace_take(&x->pace);
        ask_what_host_did(x);
        if (returns_pages(x))
            pass_until(
                x, wpi_paging_synchronize(wpi_memory_paging(x->memory), wpi_engine_now(x->engine)));
        let_host_in(x);
        wpi_pace_give(&x->pace);
    }
    pthread_mutex_unlock(&x->device->lock);
}

/* If the simulator is at rest. */
static void ask_at_rest(wpi_sim_executor *x) {
    if (x->is_working || x->pace.is_driven) return;
    wpi_pace_take(&x->pace);
    ask_what_host_did(x);
    wpi_pace_give(&x->pace);
}

void wpi_sim_executor_ask_host(wpi_sim_executor *x) {
    pthread_mutex_lock(&x->device->lock);
    ask_at_rest(x);
    pthread_mutex_unlock(&x->device->lock);
}

/* ---- host work ------------------------------------------------------------------------------- */

static void host_work_ended(void *object, uint64_t token, wp_time_ps now) {
    (void)token;
    (void)now;
    end_job(object);
}

/* What a host function declared, piece by piece. */
static void continue_host_call(void *object, uint64_t token, wp_time_ps now) {
    job *j = object;
    (void)token;
    (void)now;
    if (j->works_done == j->work_count)
        end_job(j);
    else
        wpi_actors_work(&j->executor->actors, &j->works[j->works_done++], continue_host_call, j);
}

static wp_status add_host_work(job *j, const wp_host_work *work, wp_error *err) {
    wp_host_work *works = wp_realloc(j->works, (j->work_count + 1) * sizeof *works);
    if (works == NULL) return WP_FAIL(err, NOMEM, "host work");
    works[j->work_count++] = *work;
    j->works = works;
    return WP_STATUS_OK;
}

static void note_done(void *object, uint64_t token, wp_time_ps now) {
    (void)token;
    (void)now;
    *(bool *)object = true;
}

static bool is_set(const void *flag) {
    return *(const bool *)flag;
}

/* In a step, in a host function, or in a host thread, which waits. */
wp_status wpi_sim_executor_host_work(wpi_sim_executor *x, const wp_host_work *work, wp_error *err) {
    if (wpi_actors_declare(&x->actors, work)) return WP_STATUS_OK;
    wp_status status = WP_STATUS_OK;
    pthread_mutex_lock(&x->device->lock);
    if (wpi_pace_is_mine(&x->pace)) {
        if (x->calling != NULL) status = add_host_work(x->calling, work, err);
    } else {
        bool is_done = false;
        wpi_pace_settle(&x->pace);
        wpi_actors_work(&x->actors, work, note_done, &is_done);
        wpi_device_wait_until(x->device, is_set, &is_done, NULL);
    }
    pthread_mutex_unlock(&x->device->lock);
    return status;
}

bool wpi_sim_executor_calls_host(wpi_sim_executor *x) {
    if (wpi_actors_is_stepping(&x->actors)) return true;
    pthread_mutex_lock(&x->device->lock);
    const bool is_mine = wpi_pace_is_mine(&x->pace);
    pthread_mutex_unlock(&x->device->lock);
    return is_mine;
}

static void memory_stored(void *object) {
    wpi_actors_look(&((wpi_sim_executor *)object)->actors);
}

/* Stores to host memory are reported only while actors are alive. */
static void watch_stores(wpi_sim_executor *x) {
    x->activity.stored = x->actors.live != 0 ? memory_stored : NULL;
    x->activity.object = x;
}

wp_status wpi_sim_executor_start_actor(wpi_sim_executor *x, const wp_actor *actor, wp_actor **out,
                                       wp_error *err) {
    pthread_mutex_lock(&x->device->lock);
    wpi_pace_settle(&x->pace);
    const wp_status status = wpi_actors_start(&x->actors, actor, out, err);
    watch_stores(x);
    wpi_pace_queued(&x->pace);
    pthread_mutex_unlock(&x->device->lock);
    return status;
}

void wpi_sim_executor_await_actor(wpi_sim_executor *x, const wp_actor *actor) {
    pthread_mutex_lock(&x->device->lock);
    wpi_device_wait_until(x->device, wpi_actor_has_ended, actor, NULL);
    pthread_mutex_unlock(&x->device->lock);
}

void wpi_sim_executor_free_actor(wpi_sim_executor *x, wp_actor *actor) {
    pthread_mutex_lock(&x->device->lock);
    wpi_pace_settle(&x->pace);
    wpi_actors_free(&x->actors, actor);
    watch_stores(x);
    pthread_mutex_unlock(&x->device->lock);
}

/* With the lock held; released meanwhile. */
static void start_command(wpi_sim_executor *x, wpi_cpu_queue *queue) {
    wpi_command *command = wpi_queue_start(queue);
    wpi_pace_host_call(&x->pace, command->kind == WPI_COMMAND_HOST_CALL);
    x->is_working = true;
    pthread_mutex_unlock(&x->device->lock);
    job *j = wp_calloc(1, sizeof *j);
    WP_CHECK(j != NULL);
    *j = (job){.next = x->running,
               .executor = x,
               .queue = queue,
               .command = command,
               .start_ps = wpi_engine_now(x->engine)};
    x->running = j;
    if (atomic_load(&x->device->has_failed)) {
        wpi_command_execute(x->device, command); /* host functions are called even so */
        end_job(j);
    } else if (command->kind == WPI_COMMAND_LAUNCH) {
        wpi_engine_at(x->engine, j->start_ps + x->profile->launch_ps, start_launch, j, 0);
    } else if (command->kind == WPI_COMMAND_COPY || command->kind == WPI_COMMAND_FILL) {
        start_transfer(x, j);
    } else if (command->kind == WPI_COMMAND_PREFETCH) {
        start_prefetch(x, j);
    } else if (command->kind == WPI_COMMAND_HOST_WORK) {
        wpi_actors_work(&x->actors, &command->u.host_work, host_work_ended, j);
    } else {
        if (command->kind == WPI_COMMAND_HOST_CALL) let_host_in(x);
        x->calling = j;
        wpi_command_execute(x->device, command);
        x->calling = NULL;
        wpi_actors_look(&x->actors);
        continue_host_call(j, 0, 0);
    }
    pthread_mutex_lock(&x->device->lock);
    wpi_pace_host_call(&x->pace, false);
    x->is_working = false;
    ask_what_host_did(x); /* a host function, that is */
}

/* ---- the loop
 * ------------------------------------------------------------------------------------- */

static bool is_host_call(const wpi_cpu_queue *queue) {
    return wpi_queue_first(queue)->kind == WPI_COMMAND_HOST_CALL;
}

/* The next queue with something to start. */
static wpi_cpu_queue *find_startable(const wpi_sim_executor *x, bool calls_host) {
    wpi_cpu_queue *q = wpi_queue_find_startable(x->device, NULL);
    while (q != NULL && !calls_host && is_host_call(q))
        q = wpi_queue_find_startable(x->device, q);
    return q;
}

static void start_all(wpi_sim_executor *x, bool calls_host) {
    wpi_cpu_queue *q;
    while ((q = find_startable(x, calls_host)) != NULL)
        start_command(x, q);
}

/* With the lock held. */
static void finish_ended(wpi_sim_executor *x) {
    while (x->ended != NULL) {
        job *j = x->ended;
        x->ended = j->next;
        if (x->ended == NULL) x->ended_last = &x->ended;
        wpi_queue_finish(j->queue);
        close_source(j);
        wp_free(j->works);
        wp_free(j);
    }
}

static void destroy_model(wpi_sim_executor *x) {
    if (x->observer != NULL) wpi_observer_detach(x->observer);
    wpi_actors_detach(&x->actors);
    wpi_gpu_destroy(x->gpu);
    wpi_memory_destroy(x->memory);
    wpi_engine_destroy(x->engine);
    x->gpu = NULL;
    x->memory = NULL;
    x->engine = NULL;
}

static wp_status make_model(wpi_sim_executor *x, wp_error *err) {
    WP_TRY(wpi_engine_create(&x->engine, err));
    WP_TRY(wpi_actors_attach(&x->actors, x->engine, &x->profile->host, err));
    WP_TRY(wpi_memory_create(x->engine, x->profile, &x->memory, err));
    wpi_memory_set_host_range(x->memory,
                              x->profile->paging.is_on ? WPI_HOST_FIRST : WPI_ARENA_MANAGED_FIRST,
                              WPI_HOST_OUTER);
    WP_TRY(wpi_gpu_create(x->profile, x->engine, x->memory, &x->gpu, err));
    if (x->profile->paging.is_on) WP_TRY(wpi_managed_begin(&x->managed, x->memory, err));
    if (x->observer != NULL)
        wpi_observer_attach(x->observer, x->engine, x->gpu, x->memory, x->base_ps);
    return WP_STATUS_OK;
}

/* After an error nothing that is under way can end by itself: a GPU at rest takes its place. */
static void give_up(wpi_sim_executor *x) {
    while (x->running != NULL)
        end_job(x->running);
    x->base_ps += wpi_engine_now(x->engine);
    destroy_model(x);
    x->activity.warps = 0;
    WP_CHECK(make_model(x, NULL) == WP_STATUS_OK);
}

static void say_deadlock(wpi_sim_executor *x, const char *why) {
    char waits[400], actor[200];
    wp_error error = {0};
    wpi_gpu_describe_wait(x->gpu, waits, sizeof waits);
    const bool has_actor = wpi_actors_describe_wait(&x->actors, actor, sizeof actor);
    (void)WP_FAIL(&error, KERNEL_DEADLOCK, "%s: %s%s%s", why, waits, has_actor ? "; " : "",
                  has_actor ? actor : "");
    fail(x, &error);
}

/* All actors watch words and no event is left. A host thread may still store to one, so the wait is
 * bounded in real time. */
static void wait_for_host(wpi_sim_executor *x, bool is_awaited) {
    const struct timespec moment = {.tv_nsec = 100000};
    const uint64_t now_ns = wpi_now_ns();
    char actor[200];
    wp_error error = {0};
    if (x->idle_ns == 0) x->idle_ns = now_ns;
    if (!is_awaited || now_ns - x->idle_ns < x->patience_ns) {
        nanosleep(&moment, NULL);
    } else if (x->running != NULL) {
        say_deadlock(x, "the kernel on the simulated GPU is deadlocked");
    } else if (wpi_actors_describe_wait(&x->actors, actor, sizeof actor)) {
        (void)WP_FAIL(&error, KERNEL_DEADLOCK, "%s, and nothing runs that could change it", actor);
        fail(x, &error);
    }
}

static uint64_t host_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void show_progress(wpi_sim_executor *x) {
    wpi_gpu_progress oldest;
    wpi_progress_state state = {0};
    char line[200];
    if (!x->progress.is_on) return;
    const bool is_running = wpi_gpu_get_progress(x->gpu, &oldest);
    if (is_running) {
        const job *j = oldest.object;
        state = (wpi_progress_state){.kernel = j->command->u.launch.kernel->display_name,
                                     .launch = j->number,
                                     .ctas_ended = oldest.ctas_ended,
                                     .ctas = oldest.ctas,
                                     .thread_instructions = wpi_gpu_thread_instructions(x->gpu)};
    }
    wpi_progress_update(&x->progress, is_running ? &state : NULL, host_ns(), line, sizeof line);
    if (line[0] != '\0') (void)fputs(line, stderr);
}

/* What was asked for is simulated: the process ends here, and its report is of that. */
static void end_early(wpi_sim_executor *x) {
    wpi_gpu_cut(x->gpu);
    show_progress(x);
    (void)fflush(NULL);
    (void)fprintf(stderr,
                  "warpage: %" PRIu64 " thread instructions were simulated; the program is stopped "
                  "(--max-instructions)\n",
                  wpi_observer_instructions(x->observer));
    wpi_report_write_at_exit();
    _exit(0);
}

static bool runs_only_launches(const wpi_sim_executor *x) {
    for (const job *j = x->running; j != NULL; j = j->next)
        if (j->threads == NULL) return false;
    return true;
}

/* All that warps do is wait for stores that no warp makes, and a host thread waits for them, for
 * longer than one should have to. Another host thread may still make them; hence the real time. */
static bool waits_in_vain(wpi_sim_executor *x, bool is_awaited) {
    if (x->activity.progress != x->progress_seen || !is_awaited || !runs_only_launches(x)) {
        x->progress_seen = x->activity.progress;
        x->seen_ns = wpi_now_ns();
        return false;
    }
    return x->activity.quiet > IDLE_ROUNDS * x->activity.warps && x->activity.warps != 0 &&
           x->actors.under_way == 0 &&
           wpi_now_ns() - x->seen_ns > x->patience_ns;
}

/* What a long run touches, it touches for long; it is looked at less and less often. */
static void condense_memory(wpi_sim_executor *x) {
    const uint64_t now_ns = wpi_now_ns();
    if (now_ns < x->condense_ns) return;
    if (x->condense_ns != 0) wpi_arena_condense();
    x->condense_after_ns = x->condense_after_ns == 0 ? CONDENSE_FIRST_NS : 2 * x->condense_after_ns;
    x->condense_ns = now_ns + x->condense_after_ns;
}

/* Until something ends, or other host threads may have queued what this waits for; for a moment
 * only if nobody waits. With the lock held; released meanwhile. */
static void run_model(wpi_sim_executor *x) {
    const bool is_awaited = wpi_device_is_awaited(x->device);
    const wp_time_ps length_ps = is_awaited ? SLICE_PS : POLL_PS;
    x->is_working = true;
    pthread_mutex_unlock(&x->device->lock);
    if (x->ended == NULL && !x->actors.has_queued && !x->actors.has_ended)
        wpi_engine_run_until(x->engine, wpi_engine_now(x->engine) + length_ps);
    show_progress(x);
    condense_memory(x);
    if (x->instructions_max != 0 && wpi_observer_instructions(x->observer) >= x->instructions_max)
        end_early(x);
    const bool has_failed = atomic_load(&x->device->has_failed);
    const bool is_idle = x->ended == NULL && !x->actors.has_queued && !x->actors.has_ended &&
                         !has_failed && wpi_engine_pending(x->engine) == 0;
    if (!is_idle)
        x->idle_ns = 0;
    else if (x->actors.live != 0)
        wait_for_host(x, is_awaited);
    else if (x->running != NULL)
        say_deadlock(x, "the kernel on the simulated GPU is deadlocked");
    if (x->ended == NULL && !has_failed && waits_in_vain(x, is_awaited))
        say_deadlock(x, "kernels on the simulated GPU wait for each other without progress");
    const bool is_at_rest =
        x->running == NULL && x->actors.live == 0 && wpi_engine_pending(x->engine) == 0;
    if (!is_at_rest && atomic_load(&x->device->has_failed)) give_up(x);
    atomic_store(&x->now_ps, x->base_ps + wpi_engine_now(x->engine));
    pthread_mutex_lock(&x->device->lock);
    x->is_working = false;
    pthread_cond_broadcast(&x->pace.polled);
}

/* The host is at work, or actors wait and a host thread for them. */
static bool hosts_work(const wpi_sim_executor *x) {
    return x->actors.under_way != 0 ||
           (x->actors.live != 0 && wpi_device_is_awaited(x->device));
}

static void go_on(void *object, bool calls_host) {
    wpi_sim_executor *x = object;
    if (x->host_threads == 0) x->is_blurred = true;
    ask_what_host_did(x);
    wpi_actors_look(&x->actors);
    x->actors.has_queued = false;
    start_all(x, calls_host);
    if (x->running != NULL || x->ended != NULL || hosts_work(x)) run_model(x);
    finish_ended(x);
    watch_stores(x);
    x->actors.has_ended = false;
    wpi_device_announce(x->device);
}

static bool has_work(const void *object) {
    const wpi_sim_executor *x = object;
    return x->running != NULL || x->actors.under_way != 0 ||
           wpi_queue_find_startable(x->device, NULL) != NULL;
}

static bool has_host_call(const void *object) {
    const wpi_sim_executor *x = object;
    wpi_cpu_queue *q = wpi_queue_find_startable(x->device, NULL);
    while (q != NULL && !is_host_call(q))
        q = wpi_queue_find_startable(x->device, q);
    return q != NULL;
}

static bool is_awaited(const void *object) {
    return wpi_device_is_awaited(((const wpi_sim_executor *)object)->device);
}

static bool is_visible(const void *object) {
    const wpi_memory_map *map = wpi_memory_map_global();
    (void)object;
    return wpi_memory_map_count(map, WP_MEMORY_MANAGED) != 0 ||
           wpi_memory_map_count(map, WP_MEMORY_PINNED) != 0 ||
           wpi_memory_map_count(map, WP_MEMORY_REGISTERED) != 0;
}

static const wpi_paced paced = {go_on, has_work, has_host_call, is_awaited, is_visible};

static wpi_pace *pace_of(wpi_executor *base) {
    return &((wpi_sim_executor *)(void *)base)->pace;
}

static void queued(wpi_executor *base) {
    wpi_actors_note_queued(&((wpi_sim_executor *)(void *)base)->actors);
    wpi_pace_queued(pace_of(base));
}

static void wait_until(wpi_executor *base, bool (*is_done)(const void *), const void *arg) {
    wpi_sim_executor *x = (wpi_sim_executor *)(void *)base;
    x->host_threads++;
    wpi_pace_wait(&x->pace, is_done, arg, wpi_queue_may_execute());
}

static void waited(wpi_executor *base) {
    wpi_sim_executor *x = (wpi_sim_executor *)(void *)base;
    x->host_threads--;
    let_host_in(x);
}

static void poll(wpi_executor *base) {
    wpi_sim_executor *x = (wpi_sim_executor *)(void *)base;
    x->host_threads++;
    wpi_pace_poll(&x->pace, wpi_queue_may_execute());
    x->host_threads--;
    let_host_in(x);
}

wp_status wpi_sim_executor_manage(wpi_sim_executor *x, wpi_managed_range range, wp_error *err) {
    const wpi_sim_device *device = device_of(x);
    if (!x->profile->paging.is_on && device->recorder == NULL) return WP_STATUS_OK;
    if (!wpi_managed_has_place(range)) return WP_STATUS_OK;
    pthread_mutex_lock(&x->device->lock);
    wpi_pace_settle(&x->pace);
    const wp_status status = wpi_managed_add(&x->managed, x->memory, range, err);
    if (status == WP_STATUS_OK && !x->host_was_here) { /* who allocates it may use it at once */
        let_host_in(x);
        x->is_blurred = x->host_threads != 0;
    }
    pthread_mutex_unlock(&x->device->lock);
    return status;
}

/* Of the program's variables, which the host may have used before. */
static wp_status manage_variables(wpi_sim_executor *x, wp_error *err) {
    wpi_managed_range run;
    for (size_t i = 0; wpi_variables_at(i, &run); i++) {
        WP_TRY(wpi_managed_add(&x->managed, x->memory, run, err));
        x->host_was_here = true;
    }
    return WP_STATUS_OK;
}

static wp_status know_variables(wpi_sim_executor *x, wp_error *err) {
    wpi_managed_range run;
    for (size_t i = 0; wpi_variables_at(i, &run); i++)
        WP_TRY(wpi_addresses_set(x->addresses, run.host, run.bytes, run.address, err));
    return WP_STATUS_OK;
}

bool wpi_sim_executor_has_managed(wpi_sim_executor *x, uint64_t address) {
    pthread_mutex_lock(&x->device->lock);
    const bool has = wpi_managed_has(&x->managed, address);
    pthread_mutex_unlock(&x->device->lock);
    return has;
}

bool wpi_sim_executor_sees_host(const wpi_sim_executor *x) {
    return wpi_touch_is_seen(&x->managed.touch);
}

void wpi_sim_executor_use_on_host(wpi_sim_executor *x, wpi_managed_range range) {
    pthread_mutex_lock(&x->device->lock);
    wpi_pace_settle(&x->pace);
    wpi_managed_use_on_host(x->memory, range);
    pthread_mutex_unlock(&x->device->lock);
}

void wpi_sim_executor_advise(wpi_sim_executor *x, wpi_managed_range range,
                             const wpi_advice *advice) {
    const wpi_paging_range pages = {wpi_variables_find(range.address), range.bytes};
    const bool is_mapped = advice->is_accessed_by_device && !advice->prefers_device;
    const wpi_paging_advice said = {.is_read_mostly = advice->is_read_mostly,
                                    .stays_on_host = advice->prefers_host || is_mapped,
                                    .prefers_device = advice->prefers_device};
    if (!x->profile->paging.is_on) return;
    pthread_mutex_lock(&x->device->lock);
    wpi_pace_settle(&x->pace);
    wpi_paging_advise(wpi_memory_paging(x->memory), pages, said);
    pthread_mutex_unlock(&x->device->lock);
}

/* It may still be moving: that ends first. */
void wpi_sim_executor_unmanage(wpi_sim_executor *x, uint64_t address) {
    if (x->managed.count == 0) return;
    pthread_mutex_lock(&x->device->lock);
    const bool is_mine = wpi_pace_is_mine(&x->pace); /* a host function frees memory */
    if (!is_mine) {
        wpi_pace_take(&x->pace);
        ask_what_host_did(x);
        let_host_in(x); /* it does not wait */
    }
    if (x->running == NULL) wpi_engine_run(x->engine);
    if (address == 0) {
        wpi_managed_remove_all(&x->managed, x->memory);
        WP_CHECK(manage_variables(x, NULL) == WP_STATUS_OK); /* there is room: there was */
        for (size_t i = 0; i < x->managed.count; i++)
            wpi_managed_use_on_host(x->memory, x->managed.ranges[i]);
    } else {
        wpi_managed_remove(&x->managed, x->memory, address);
    }
    if (!is_mine) wpi_pace_give(&x->pace);
    pthread_mutex_unlock(&x->device->lock);
}

/* ---- the report
 * ----------------------------------------------------------------------------------- */

/* The process ends. A model at work on another thread is given a moment to come to rest; the caller
 * may also be a host function, or the end of a run that was long enough. */
static void collect(void *object) {
    wpi_sim_executor *x = object;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += COLLECT_WAIT_S;
    pthread_mutex_lock(&x->device->lock);
    const bool is_mine = wpi_pace_is_mine(&x->pace);
    x->pace.is_stopping = x->pace.is_stopping || x->is_working;
    while (x->is_working && !is_mine &&
           pthread_cond_timedwait(&x->pace.polled, &x->device->lock, &until) == 0)
        ;
    ask_at_rest(x);
    if (!x->is_working || is_mine)
        wpi_observer_collect(x->observer);
    else
        wp_log(
            WP_LOG_WARN, "device.sim",
            "the process exits while kernels are running: the report lacks the totals of the run");
    wp_error error = {0};
    if (wpi_future_store(&x->managed.foresight, &error) != WP_STATUS_OK)
        wp_log(WP_LOG_ERROR, "device.sim", "%s", error.message);
    pthread_mutex_unlock(&x->device->lock);
}

/* ---- life
 * ----------------------------------------------------------------------------------------- */

wp_status wpi_sim_executor_create(wpi_cpu_device *device, const wpi_profile *profile,
                                  wpi_sim_executor **out, wp_error *err) {
    *out = NULL;
    wpi_sim_executor *x = wp_calloc(1, sizeof *x);
    if (x == NULL) return WP_FAIL(err, NOMEM, "simulator");
    x->base = (wpi_executor){queued, wait_until, waited, poll, now_ns};
    x->device = device;
    x->profile = profile;
    x->ended_last = &x->ended;
    wpi_pace_init(&x->pace, &device->lock, &paced, x);
    wpi_managed_init(&x->managed);
    wp_status status = wpi_future_load(&x->managed.foresight, err);
    if (status != WP_STATUS_OK) goto failed;
    x->worker = wpi_pool_borrow(device->pool);
    x->addresses = wpi_addresses_create();
    if (x->worker == NULL || x->addresses == NULL)
        WP_TRY_GOTO(WP_FAIL(err, NOMEM, "simulator"), failed);
    wpi_progress_init(&x->progress);
    if (wpi_report_is_on()) {
        wp_param_value limit;
        WP_TRY_GOTO(wp_param_load(&wpi_executor_params[0], &limit, err), failed);
        x->instructions_max = limit.number;
        WP_TRY_GOTO(wpi_observer_create(profile, x->addresses, &x->observer, err), failed);
    }
    wp_param_value patience;
    WP_TRY_GOTO(wp_param_load(&wpi_patience_params[0], &patience, err), failed);
    x->patience_ns = patience.number;
    WP_TRY_GOTO(know_variables(x, err), failed);
    WP_TRY_GOTO(make_model(x, err), failed);
    WP_TRY_GOTO(manage_variables(x, err), failed);
    x->worker->place = wpi_threads_place;
    x->worker->block_max = UINT32_MAX;
    x->worker->has_guards = false;
    if (!wpi_pace_start(&x->pace))
        WP_TRY_GOTO(WP_FAIL(err, NOMEM, "the simulator's thread: %s", strerror(errno)), failed);
    if (x->observer != NULL) wpi_report_set_collector(collect, x);
    *out = x;
    return WP_STATUS_OK;

failed:
    wpi_sim_executor_destroy(x);
    return status;
}

void wpi_sim_executor_destroy(wpi_sim_executor *x) {
    if (x == NULL) return;
    wpi_pace_stop(&x->pace);
    destroy_model(x);
    if (x->observer != NULL) {
        wpi_report_set_collector(NULL, NULL);
        wpi_observer_collect(x->observer);
        wpi_observer_destroy(x->observer);
    }
    wpi_managed_deinit(&x->managed);
    wpi_addresses_destroy(x->addresses);
    if (x->worker != NULL) wpi_pool_return(x->device->pool, x->worker);
    wpi_pace_deinit(&x->pace);
    wp_free(x);
}

wpi_executor *wpi_sim_executor_base(wpi_sim_executor *x) {
    return &x->base;
}

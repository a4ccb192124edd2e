/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of queues as jobs: a launch, a copy, a prefetch, a host function. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "device/cpu/nested/nest.h"
#include "device/host_copies.h"
#include "device/sim/executor_parts.h"
#include "device/sim/functional.h"
#include "device/sim/trace_recorder.h"
#include "device/sim/variables.h"
#include "report/recorder.h"

/* ---- ends ---- */

void wpi_job_end(wpi_job *j) {
    wpi_sim_executor *x = j->executor;
    wpi_job **link = &x->lead->running;
    while (*link != j)
        link = &(*link)->next;
    *link = j->next;
    j->next = NULL;
    j->has_ended = true;
    *x->lead->ended_last = j;
    x->lead->ended_last = &j->next;
    wpi_engine_stop(x->engine);
}

static void log_launch(const wpi_cpu_kernel *kernel, const wpi_launch_numbers *n) {
    wpi_log(WP_LOG_INFO, "device.sim",
            "%s: %" PRIu64 " ns, %s, %" PRIu64 " thread instructions, warp accesses: %" PRIu64
            " loads %" PRIu64 " stores %" PRIu64 " atomics %" PRIu64 " reductions",
            kernel->display_name, (n->end_ps - n->start_ps) / WP_PS_PER_NS,
            kernel->tables->is_in_step ? "in step" : "ahead", n->thread_instructions,
            n->accesses[WP_TRACE_LOAD], n->accesses[WP_TRACE_STORE], n->accesses[WP_TRACE_ATOMIC],
            n->accesses[WP_TRACE_REDUCE]);
}

/* The nest of a command lives as long as its commands; its launch, as long as it is not given up.
 */
static void note_parent(const wpi_job *j, const char *name) {
    const wpi_nest *nest = j->command->nest;
    if (nest != NULL && nest->launch != NULL)
        wpi_report_launched_by(name, nest->launch->kernel->code->name);
}

static void launch_ended(void *object, const wpi_launch_numbers *numbers, bool is_good) {
    wpi_job *j = object;
    const wpi_launch *launch = &j->command->u.launch;
    const wpi_time_ps base_ps = j->executor->lead->base_ps;
    const uint32_t grid[3] = {launch->grid.x, launch->grid.y, launch->grid.z};
    const uint32_t block[3] = {launch->block.x, launch->block.y, launch->block.z};
    const wp_device *device = &j->executor->device->base;
    const char *name = launch->kernel->code->name;
    wpi_text own = {0};
    if (device->is_one_of_several) name = wpi_report_name_on(name, device->number, &own);
    if (is_good) log_launch(launch->kernel, numbers);
    const bool is_selected =
        j->executor->observer != NULL &&
        wpi_observer_end(j->executor->observer, j->observed, name, is_good ? numbers : NULL);
    if (is_good && is_selected) {
        wpi_report_kernel(j->queue, name, grid, block, (base_ps + numbers->start_ps) / WP_PS_PER_NS,
                          (base_ps + numbers->end_ps) / WP_PS_PER_NS);
        note_parent(j, name);
        wpi_report_swapped(name, numbers->swapped_ctas);
    }
    wpi_text_deinit(&own);
    j->is_good = is_good;
    wpi_actors_look(&j->executor->lead->actors);
    if (wpi_nest_end(&j->command->u.launch, j)) {
        wpi_job_end(j);
    } else { /* its last commands may start now */
        j->executor->lead->has_nested = true;
        wpi_engine_stop(j->executor->engine);
    }
}

/* The bytes that a copy or fill moves. */
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

/* The executor of the GPU whose memory the address is in; NULL: it is in no GPU's. */
static wpi_sim_executor *owner_of(const wpi_sim_executor *x, const void *address) {
    wpi_memory_entry entry;
    if (!wpi_memory_map_find(wpi_memory_map_global(), address, &entry)) return NULL;
    const bool is_device = entry.allocation.kind == WP_MEMORY_DEVICE ||
                           entry.allocation.kind == WP_MEMORY_VARIABLE ||
                           entry.allocation.kind == WP_MEMORY_ARRAY;
    wpi_sim_executor *m = is_device ? x->lead : NULL;
    while (m != NULL && &m->device->base != entry.device)
        m = m->next;
    return m;
}

/* Whose link and DRAM a transfer uses: the GPU's whose memory it is, not the queue's. */
static wpi_sim_executor *find_place(wpi_sim_executor *x, const wpi_command *c,
                                    wpi_sim_executor **other) {
    *other = NULL;
    if (x->lead->next == NULL || c->is_replayed) return x;
    const bool is_fill = c->kind == WPI_COMMAND_FILL;
    wpi_sim_executor *to = owner_of(x, is_fill ? c->u.fill.dst : c->u.copy.dst);
    wpi_sim_executor *from = is_fill ? to : owner_of(x, c->u.copy.src);
    if (from == NULL) return to != NULL ? to : x;
    if (to != NULL && to != from) *other = to;
    return from;
}

/* Copies and fills do not migrate pages; pages that are nowhere are populated on the host. */
static void note_written(wpi_sim_executor *x, const wpi_command *c) {
    const void *first = c->kind == WPI_COMMAND_FILL ? c->u.fill.dst : c->u.copy.dst;
    const wpi_managed_range range = {.address = wpi_variables_find((uintptr_t)first),
                                     .bytes = transfer_of(c).bytes};
    if (x->profile->paging.is_on) wpi_managed_use_on_host(x->memory, range);
}

static void note_copied(wpi_sim_executor *x, const wpi_command *c) {
    const transfer moved = transfer_of(c);
    wpi_sim_executor *other;
    if (moved.kind != WP_COPY_H2D && moved.kind != WP_COPY_FILL) return;
    x = find_place(x, c, &other);
    if (c->kind == WPI_COMMAND_FILL) {
        wpi_memory_copied(x->memory, wpi_variables_find((uintptr_t)c->u.fill.dst), moved.bytes);
        return;
    }
    const uint64_t dst = wpi_variables_find((uintptr_t)c->u.copy.dst);
    for (size_t row = 0; row < c->u.copy.height; row++)
        wpi_memory_copied(x->memory, dst + row * c->u.copy.dst_pitch_bytes, c->u.copy.width_bytes);
}

/* The bytes move when the transfer ends. */
static void transfer_ended(void *object, uint64_t token, wpi_time_ps now) {
    wpi_job *j = object;
    (void)token;
    note_written(j->executor, j->command);
    if (!j->command->is_replayed) wpi_command_execute(j->executor->device, j->command);
    note_copied(j->executor, j->command);
    const transfer moved = transfer_of(j->command);
    wpi_executor_note_copy_end(j->executor, j->command, moved.kind);
    const wpi_time_ps base_ps = j->executor->lead->base_ps;
    if (wpi_report_is_on())
        wpi_report_copy(j->queue, moved.kind, moved.bytes, (base_ps + j->start_ps) / WP_PS_PER_NS,
                        (base_ps + now) / WP_PS_PER_NS);
    wpi_actors_look(&j->executor->lead->actors);
    wpi_job_end(j);
}

/* ---- starts ---- */

static wp_status choose_variant(const wpi_sim_executor *x, wpi_launch *launch, wp_error *err) {
    const wpi_cpu_kernel *kernel = launch->kernel;
    const wpi_sim_device *device = (const wpi_sim_device *)(const void *)x->device;
    const bool is_needed = wpi_in_step_is_needed(kernel->trace) || x->lead->actors.live != 0;
    if (device->in_step != WP_IN_STEP_AUTO || kernel->tables->is_in_step || !is_needed)
        return WP_STATUS_OK;
    return wpi_cpu_kernel_as(kernel, &device->stepped, &launch->kernel, err);
}

/* GPUs before Volta have no tensor cores: the program would not load there. */
static wp_status check_tensor(const wpi_sim_executor *x, const wpi_launch *launch, wp_error *err) {
    const wp_trace_kernel *trace = launch->kernel->trace;
    if (trace == NULL || (trace->flags & WP_TRACE_KERNEL_TENSOR) == 0 ||
        x->profile->capability >= 70)
        return WP_STATUS_OK;
    return WP_FAIL(err, UNSUPPORTED,
                   "sim: kernel %s multiplies matrices by tensor cores, which GPUs of compute "
                   "capability %u.%u lack; simulate v100 or later",
                   launch->kernel->code->name, x->profile->capability / 10,
                   x->profile->capability % 10);
}

static void trace_failed(void *executor, const wp_error *error) {
    wpi_executor_fail(executor, error);
}

/* Opens the source of the launch's warps; it records them if a trace is recorded. */
static wp_status open_source(wpi_job *j, wpi_warp_source **out, wp_error *err) {
    wpi_sim_device *device = wpi_executor_device(j->executor);
    wpi_launch *launch = &j->command->u.launch;
    if (j->command->is_replayed) {
        WP_TRY(wpi_trace_source_create(device->trace, launch->id, trace_failed, j->executor,
                                       &j->replayed, err));
        *out = wpi_trace_source_base(j->replayed);
        return WP_STATUS_OK;
    }
    wpi_sim_executor *x = j->executor;
    if (j->command->nest != NULL && device->recorder != NULL)
        return WP_FAIL(err, UNSUPPORTED,
                       "trace: kernel %s was launched by a kernel; a trace holds launches by the "
                       "host only",
                       launch->kernel->display_name);
    WP_TRY(check_tensor(x, launch, err));
    WP_TRY(choose_variant(x, launch, err));
    WP_TRY(
        wpi_threads_create(x->worker, launch, x->addresses, &x->lead->activity, &j->threads, err));
    *out = wpi_threads_source(j->threads);
    if (device->recorder == NULL) return WP_STATUS_OK;
    WP_TRY(wpi_recorder_launch(device->recorder, launch, *out, &j->tee, err));
    if (j->tee != NULL) *out = wpi_tee_source(j->tee);
    return WP_STATUS_OK;
}

static wp_status launch_functionally(wpi_job *j, wpi_warp_source *source, wp_error *err) {
    WP_TRY(wpi_functional_run(source, err));
    const wpi_time_ps now = wpi_engine_now(j->executor->engine);
    launch_ended(j, &(wpi_launch_numbers){.start_ps = now, .end_ps = now}, true);
    return WP_STATUS_OK;
}

/* Closes the source before the data that it reads. No SM uses it any more. */
static void close_source(wpi_job *j) {
    if (j->is_good && j->tee != NULL) {
        wpi_recorder_launch_ended(wpi_executor_device(j->executor)->recorder, j->tee);
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

/* Sizes device memory for managed pages, and begins the launch for policies. */
static wp_status begin_paging(wpi_sim_executor *x, wpi_time_ps now, wp_error *err) {
    WP_TRY(make_room(x, err));
    if (x->managed.count == 0 || wpi_recorder_is_functional(wpi_executor_device(x)->recorder))
        return WP_STATUS_OK;
    return wpi_paging_launch(wpi_memory_paging(x->memory), now, err);
}

static void start_launch(void *object, uint64_t token, wpi_time_ps now) {
    wpi_job *j = object;
    wpi_sim_executor *x = j->executor;
    const wpi_launch *launch = &j->command->u.launch;
    wpi_warp_source *source = NULL;
    wp_error error = {0};
    (void)token;
    j->number = ++x->launch_count;
    wp_status status = open_source(j, &source, &error);
    if (x->observer != NULL)
        j->observed = wpi_observer_begin(x->observer, launch->kernel->code->name);
    j->source = source;
    if (source != NULL) source->is_nested = j->command->nest != NULL;
    if (x->observer != NULL && status == WP_STATUS_OK)
        source->lines = wpi_observer_lines(x->observer, j->observed, launch->kernel->code->name,
                                           source->tables);
    if (status == WP_STATUS_OK && x->profile->paging.is_on) status = begin_paging(x, now, &error);
    if (status == WP_STATUS_OK && wpi_recorder_is_functional(wpi_executor_device(x)->recorder)) {
        status = launch_functionally(j, source, &error);
    } else if (status == WP_STATUS_OK) {
        status = wpi_gpu_launch(x->gpu, source, launch_ended, j, &error);
    }
    if (status == WP_STATUS_OK) return;
    if (x->observer != NULL)
        (void)wpi_observer_end(x->observer, j->observed, launch->kernel->code->name, NULL);
    wpi_executor_fail(x, &error);
    wpi_job_end(j);
}

static void copy_answered(void *object, uint64_t token, const wpi_answer *answer) {
    transfer_ended(object, token, answer->answered);
}

/* Time of a copy within device memory: `passes` passes at the bandwidth of DRAM. */
static wpi_time_ps within_device_ps(const wpi_profile *profile, uint64_t bytes, uint32_t passes) {
    const double seconds = (double)bytes * passes / (double)profile->dram.bytes_per_s;
    return profile->dram.latency_ps + (wpi_time_ps)(seconds * (double)WP_PS_PER_S);
}

/* The first half of a copy through the host has ended. */
static void copy_onwards(void *object, uint64_t token, const wpi_answer *answer) {
    wpi_job *j = object;
    const wpi_sim_executor *to = owner_of(j->executor, j->command->u.copy.dst);
    (void)token;
    wpi_memory_copy(to->memory, transfer_of(j->command).bytes, WPI_DIRECTION_TO_DEVICE,
                    answer->answered, copy_answered, j, 0);
}

/* Between two GPUs: through their link, or through the host if neither has access to the other. */
static void start_between(wpi_sim_executor *from, wpi_sim_executor *to, wpi_job *j,
                          wpi_time_ps now) {
    const uint64_t bytes = transfer_of(j->command).bytes;
    const bool has_access = (from->peers >> to->device->base.number & 1) != 0 ||
                            (to->peers >> from->device->base.number & 1) != 0;
    if (has_access)
        wpi_engine_at(from->engine, wpi_memory_copy_between(from->memory, to->memory, bytes, now),
                      transfer_ended, j, 0);
    else
        wpi_memory_copy(from->memory, bytes, WPI_DIRECTION_TO_HOST, now, copy_onwards, j, 0);
}

static void start_transfer(wpi_sim_executor *x, wpi_job *j) {
    const wpi_time_ps now = wpi_engine_now(x->engine);
    const transfer moved = transfer_of(j->command);
    const uint64_t bytes = moved.bytes;
    wpi_sim_executor *other;
    x = find_place(x, j->command, &other);
    wpi_executor_note_copy_begin(x, j->command, moved.kind);
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
        if (other != NULL) {
            start_between(x, other, j, now);
            break;
        }
        wpi_engine_at(x->engine, now + within_device_ps(x->profile, bytes, 2), transfer_ended, j,
                      0);
        break;
    default:
        wpi_engine_at(x->engine, now, transfer_ended, j, 0);
        break; /* within host memory: takes no GPU time */
    }
}

static void prefetched(void *object, uint64_t token, wpi_time_ps now) {
    (void)token;
    (void)now;
    wpi_job_end(object);
}

static void start_prefetch(wpi_sim_executor *x, wpi_job *j) {
    const wpi_paging_range range = {wpi_variables_find(j->command->u.prefetch.address),
                                    j->command->u.prefetch.size_bytes};
    wp_error error = {0};
    if (!x->profile->paging.is_on) {
        wpi_job_end(j);
    } else if (make_room(x, &error) != WP_STATUS_OK) { /* there may have been no launch yet */
        wpi_executor_fail(x, &error);
        wpi_job_end(j);
    } else {
        wpi_paging_prefetch(wpi_memory_paging(x->memory), range, j->command->u.prefetch.to_device,
                            wpi_engine_now(x->engine), prefetched, j);
    }
}

/* Starts a command of the queue, or of a grid that came from it. Called with the lock held, which
 * is released meanwhile. */
static void start_command(wpi_sim_executor *x, wpi_cpu_queue *queue, wpi_command *command) {
    wpi_pace_host_call(&x->lead->pace, command->kind == WPI_COMMAND_HOST_CALL);
    x->lead->is_working = true;
    pthread_mutex_unlock(x->device->lock);
    wpi_job *j = wpi_calloc(1, sizeof *j);
    WP_CHECK(j != NULL);
    *j = (wpi_job){.next = x->lead->running,
                   .executor = x,
                   .queue = queue,
                   .command = command,
                   .start_ps = wpi_engine_now(x->engine)};
    x->lead->running = j;
    if (atomic_load(&x->device->has_failed)) {
        wpi_command_execute(x->device, command); /* host functions are called nonetheless */
        wpi_job_end(j);
    } else if (command->kind == WPI_COMMAND_LAUNCH) {
        const wpi_time_ps latency_ps =
            command->nest != NULL ? x->profile->nested_launch_ps : x->profile->launch_ps;
        wpi_engine_at(x->engine, j->start_ps + latency_ps, start_launch, j, 0);
    } else if (command->kind == WPI_COMMAND_COPY || command->kind == WPI_COMMAND_FILL) {
        start_transfer(x, j);
    } else if (command->kind == WPI_COMMAND_PREFETCH) {
        start_prefetch(x, j);
    } else if (command->kind == WPI_COMMAND_HOST_WORK) {
        wpi_actors_work(&x->lead->actors, &command->u.host_work, wpi_job_host_work_ended, j);
    } else {
        if (command->kind == WPI_COMMAND_HOST_CALL) wpi_executor_let_host_in(x);
        const wpi_host_account outer = wpi_host_copies_exchange((wpi_host_account){0});
        x->lead->calling = j;
        wpi_command_execute(x->device, command);
        x->lead->calling = NULL;
        wpi_job_add_copies(j);
        (void)wpi_host_copies_exchange(outer);
        wpi_actors_look(&x->lead->actors);
        wpi_job_continue_host_call(j, 0, 0);
    }
    pthread_mutex_lock(x->device->lock);
    wpi_pace_host_call(&x->lead->pace, false);
    x->lead->is_working = false;
    wpi_executor_ask_what_host_did(x); /* by host functions */
}

/* The next queue with a command that can start. */
static wpi_cpu_queue *find_startable(const wpi_sim_executor *x, bool calls_host) {
    wpi_cpu_queue *q = wpi_queue_find_startable(x->device, NULL);
    while (q != NULL && !calls_host && wpi_queue_starts_host_call(q))
        q = wpi_queue_find_startable(x->device, q);
    return q;
}

void wpi_executor_start_all(wpi_sim_executor *x, bool calls_host) {
    wpi_cpu_queue *q;
    while ((q = find_startable(x, calls_host)) != NULL)
        start_command(wpi_executor_of_queue(q), q, wpi_queue_start(q));
    for (wpi_sim_executor *m = x->lead; m != NULL; m = m->next) {
        wpi_command *command;
        while ((command = wpi_nest_take_any(m->device)) != NULL)
            start_command(m, command->nest->launch->queue, command);
    }
}

/* A launch that failed leaves commands of its threads behind. A grid is complete when those are. */
static void finish_command(wpi_job *j) {
    wpi_command *command = j->command;
    if (command->kind == WPI_COMMAND_LAUNCH) wpi_nest_abandon(&command->u.launch);
    if (command->nest == NULL) {
        wpi_queue_finish(j->queue);
        return;
    }
    wpi_job *owner = wpi_nest_done(command);
    if (owner != NULL && !owner->has_ended) wpi_job_end(owner);
}

void wpi_executor_finish_ended(wpi_sim_executor *x) {
    while (x->lead->ended != NULL) {
        wpi_job *j = x->lead->ended;
        x->lead->ended = j->next;
        if (x->lead->ended == NULL) x->lead->ended_last = &x->lead->ended;
        finish_command(j);
        close_source(j);
        wpi_free(j->works);
        wpi_free(j);
    }
}

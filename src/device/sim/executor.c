/* SPDX-License-Identifier: Apache-2.0 */
/* The executor of a simulated GPU: creates the model, and runs rounds. A round starts the commands
 * that can start (executor_jobs.c), runs the engine until one has ended, and notifies its queue; on
 * one thread at a time (pace.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/param.h"
#include "device/sim/executor_parts.h"
#include "device/sim/future_file.h"
#include "device/sim/variables.h"
#include "report/recorder.h"

#define SLICE_PS (16 * WP_PS_PER_US) /* … before the queues are checked again */
#define CONDENSE_FIRST_NS UINT64_C(4000000000)
#define COLLECT_WAIT_S 10

const wpi_param wpi_executor_params[] = {{"max-instructions", WP_UNIT_NUMBER, "0", 0, UINT64_MAX,
                                          "end the program after this number of simulated "
                                          "thread instructions; 0: no limit"},
                                         {0}};

static uint64_t now_ns(const wpi_executor *base) {
    return atomic_load(&((const wpi_sim_executor *)(const void *)base)->now_ps) / WP_PS_PER_NS;
}

void wpi_executor_fail(wpi_sim_executor *x, const wp_error *error) {
    wpi_cpu_device_fail(x->device, error);
}

/* ---- the model ------------------------------------------------------------------------------- */

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

/* After an error no command in progress can end by itself: a new, idle GPU replaces the model. */
static void give_up(wpi_sim_executor *x) {
    while (x->running != NULL)
        wpi_job_end(x->running);
    x->base_ps += wpi_engine_now(x->engine);
    x->models++;
    destroy_model(x);
    x->activity.warps = 0;
    WP_CHECK(make_model(x, NULL) == WP_STATUS_OK);
}

static void show_progress(wpi_sim_executor *x) {
    wpi_gpu_progress oldest;
    wpi_progress_state state = {0};
    char line[200];
    if (!x->progress.is_on) return;
    const bool is_running = wpi_gpu_get_progress(x->gpu, &oldest);
    if (is_running) {
        const wpi_job *j = oldest.object;
        state = (wpi_progress_state){.kernel = j->command->u.launch.kernel->display_name,
                                     .launch = j->number,
                                     .ctas_ended = oldest.ctas_ended,
                                     .ctas = oldest.ctas,
                                     .thread_instructions = wpi_gpu_thread_instructions(x->gpu)};
    }
    wpi_progress_update(&x->progress, is_running ? &state : NULL, wpi_clock_ns(), line,
                        sizeof line);
    if (line[0] != '\0') (void)fputs(line, stderr);
}

/* The requested number of instructions is simulated: the process ends, and its report covers that.
 */
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

/* Condenses memory at growing intervals: the memory use of a long run changes little. */
static void condense_memory(wpi_sim_executor *x) {
    const uint64_t now_ns = wpi_clock_ns();
    if (now_ns < x->condense_ns) return;
    if (x->condense_ns != 0) wpi_arena_condense();
    x->condense_after_ns = x->condense_after_ns == 0 ? CONDENSE_FIRST_NS : 2 * x->condense_after_ns;
    x->condense_ns = now_ns + x->condense_after_ns;
}

/* Limits a slice to the time at which a host thread polls. */
static wpi_time_ps end_of_slice(const wpi_sim_executor *x, wpi_time_ps length_ps) {
    const wpi_time_ps end = wpi_engine_now(x->engine) + length_ps;
    const wpi_time_ps until = x->pace.until;
    if (until == WP_TIME_NEVER || until - x->base_ps > end) return end;
    return until - x->base_ps;
}

/* Runs the engine until a command ends, or for a slice of time, after which the queues are checked
 * for new commands; for a shorter one if no host thread waits. Called with the lock held, which is
 * released meanwhile. */
static void run_model(wpi_sim_executor *x) {
    const bool is_awaited = wpi_device_is_awaited(x->device);
    const wpi_time_ps length_ps = is_awaited ? SLICE_PS : WPI_POLL_PS;
    x->is_working = true;
    pthread_mutex_unlock(x->device->lock);
    if (x->ended == NULL && !x->actors.has_queued && !x->actors.has_ended)
        wpi_engine_run_until(x->engine, end_of_slice(x, length_ps));
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
        wpi_executor_wait_for_host(x, is_awaited);
    else if (x->running != NULL)
        wpi_executor_fail_deadlocked(x, "the kernel on the simulated GPU is deadlocked");
    if (x->ended == NULL && !has_failed && wpi_executor_waits_in_vain(x, is_awaited))
        wpi_executor_fail_deadlocked(
            x, "kernels on the simulated GPU wait for each other without progress");
    const bool is_at_rest =
        x->running == NULL && x->actors.live == 0 && wpi_engine_pending(x->engine) == 0;
    if (!is_at_rest && atomic_load(&x->device->has_failed)) give_up(x);
    atomic_store(&x->now_ps, x->base_ps + wpi_engine_now(x->engine));
    pthread_mutex_lock(x->device->lock);
    x->is_working = false;
    pthread_cond_broadcast(&x->pace.polled);
}

/* Host work is in progress, or a host thread waits for actors that wait. */
static bool hosts_work(const wpi_sim_executor *x) {
    return x->actors.under_way != 0 || (x->actors.live != 0 && wpi_device_is_awaited(x->device));
}

static void go_on(void *object, bool calls_host) {
    wpi_sim_executor *x = object;
    if (x->host_threads == 0) x->is_blurred = true;
    wpi_executor_ask_what_host_did(x);
    wpi_actors_look(&x->actors);
    x->actors.has_queued = false;
    x->pace.has_called_host = false;
    wpi_executor_start_all(x, calls_host);
    /* A host function may have woken a host thread, which runs before time passes. */
    const bool is_due = !x->pace.has_called_host || !x->pace.turns.is_on;
    if (is_due &&
        (x->running != NULL || x->ended != NULL || hosts_work(x) || x->pace.until != WP_TIME_NEVER))
        run_model(x);
    if (x->actors.live != 0) wpi_turns_unsettle(&x->pace.turns);
    wpi_executor_finish_ended(x);
    wpi_executor_watch_stores(x);
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
    while (q != NULL && !wpi_queue_starts_host_call(q))
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

static wpi_time_ps now_ps(const void *object) {
    return atomic_load(&((const wpi_sim_executor *)object)->now_ps);
}

static const wpi_paced paced = {go_on, has_work, has_host_call, is_awaited, is_visible, now_ps};

static wpi_pace *pace_of(wpi_executor *base) {
    return &((wpi_sim_executor *)(void *)base)->pace;
}

void wpi_sim_executor_arrive(wpi_sim_executor *x) {
    if (wpi_turns_is_alone(&x->pace.turns)) return;
    pthread_mutex_lock(x->device->lock);
    wpi_pace_arrive(&x->pace);
    pthread_mutex_unlock(x->device->lock);
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
    wpi_executor_let_host_in(x);
}

static void poll(wpi_executor *base) {
    wpi_sim_executor *x = (wpi_sim_executor *)(void *)base;
    x->host_threads++;
    wpi_pace_poll(&x->pace, wpi_queue_may_execute());
    x->host_threads--;
    wpi_executor_let_host_in(x);
}

static wp_status know_variables(wpi_sim_executor *x, wp_error *err) {
    wpi_managed_range run;
    for (size_t i = 0; wpi_variables_at(i, &run); i++)
        WP_TRY(wpi_addresses_set(x->addresses, run.host, run.bytes, run.address, err));
    return WP_STATUS_OK;
}

/* ---- the report ------------------------------------------------------------------------------ */

/* The process exits. A model that another thread runs has COLLECT_WAIT_S to stop. Also called in a
 * host function, and at the end of a run that reached its number of instructions. */
static void collect(void *object) {
    wpi_sim_executor *x = object;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += COLLECT_WAIT_S;
    pthread_mutex_lock(x->device->lock);
    const bool is_mine = wpi_pace_is_mine(&x->pace);
    x->pace.is_stopping = x->pace.is_stopping || x->is_working;
    while (x->is_working && !is_mine &&
           pthread_cond_timedwait(&x->pace.polled, x->device->lock, &until) == 0)
        ;
    wpi_executor_ask_at_rest(x);
    if (!x->is_working || is_mine)
        wpi_observer_collect(x->observer);
    else
        wpi_log(
            WP_LOG_WARN, "device.sim",
            "the process exits while kernels are running: the report lacks the totals of the run");
    wp_error error = {0};
    if (wpi_future_store(&x->managed.foresight, &error) != WP_STATUS_OK)
        wpi_log(WP_LOG_ERROR, "device.sim", "%s", error.message);
    pthread_mutex_unlock(x->device->lock);
}

/* ---- life ------------------------------------------------------------------------------------ */

wp_status wpi_sim_executor_create(wpi_cpu_device *device, const wpi_profile *profile,
                                  wpi_sim_executor **out, wp_error *err) {
    *out = NULL;
    wpi_sim_executor *x = wpi_calloc(1, sizeof *x);
    if (x == NULL) return WP_FAIL(err, NOMEM, "simulator");
    x->base = (wpi_executor){queued, wait_until, waited, poll, now_ns};
    x->device = device;
    x->profile = profile;
    x->ended_last = &x->ended;
    wpi_pace_init(&x->pace, device->lock, &paced, x);
    wpi_managed_init(&x->managed);
    wp_status status = wpi_future_load(&x->managed.foresight, err);
    if (status != WP_STATUS_OK) goto failed;
    x->worker = wpi_pool_borrow(device->pool);
    x->addresses = wpi_addresses_create();
    if (x->worker == NULL || x->addresses == NULL)
        WP_TRY_GOTO(WP_FAIL(err, NOMEM, "simulator"), failed);
    wpi_progress_init(&x->progress);
    if (wpi_report_is_on()) {
        wpi_param_value limit;
        WP_TRY_GOTO(wpi_param_load(&wpi_executor_params[0], &limit, err), failed);
        x->instructions_max = limit.number;
        WP_TRY_GOTO(wpi_observer_create(profile, x->addresses, &x->observer, err), failed);
    }
    WP_TRY_GOTO(wpi_executor_load_patience(x, err), failed);
    WP_TRY_GOTO(know_variables(x, err), failed);
    WP_TRY_GOTO(make_model(x, err), failed);
    WP_TRY_GOTO(wpi_executor_manage_variables(x, err), failed);
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
    wpi_free(x);
}

wpi_executor *wpi_sim_executor_base(wpi_sim_executor *x) {
    return &x->base;
}

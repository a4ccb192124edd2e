/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds: start what can start (executor_jobs.c), run the engine until something has ended, tell
 * the queues; on one thread at a time (advance.h). */
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
#include "device/sim/in_step.h"
#include "device/sim/variables.h"
#include "report/recorder.h"

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

/* After an error nothing that is under way can end by itself: a GPU at rest takes its place. */
static void give_up(wpi_sim_executor *x) {
    while (x->running != NULL)
        wpi_job_end(x->running);
    x->base_ps += wpi_engine_now(x->engine);
    destroy_model(x);
    x->activity.warps = 0;
    WP_CHECK(make_model(x, NULL) == WP_STATUS_OK);
}

static void say_deadlock(wpi_sim_executor *x, const char *why) {
    char waits[400], actor[200];
    wp_error error = {0};
    wpi_in_step in_step = WPI_IN_STEP_AUTO;
    const wp_status status = wpi_in_step_load(&in_step, NULL);
    const bool is_never = status == WP_STATUS_OK && in_step == WPI_IN_STEP_NEVER;
    wpi_gpu_describe_wait(x->gpu, waits, sizeof waits);
    const bool has_actor = wpi_actors_describe_wait(&x->actors, actor, sizeof actor);
    (void)WP_FAIL(&error, KERNEL_DEADLOCK, "%s: %s%s%s%s", why, waits, has_actor ? "; " : "",
                  has_actor ? actor : "",
                  is_never ? "; with --in-step never, kernels that take locks may wait for ever: "
                             "leave the option out"
                           : "");
    wpi_executor_fail(x, &error);
}

/* All actors watch words and no event is left. A host thread may still store to one, so the wait is
 * bounded in real time. */
static void wait_for_host(wpi_sim_executor *x, bool is_awaited) {
    const struct timespec moment = {.tv_nsec = 100000};
    const uint64_t now_ns = wp_clock_ns();
    char actor[200];
    wp_error error = {0};
    if (x->idle_ns == 0) x->idle_ns = now_ns;
    if (!is_awaited || now_ns - x->idle_ns < x->patience_ns) {
        nanosleep(&moment, NULL);
    } else if (x->running != NULL) {
        say_deadlock(x, "the kernel on the simulated GPU is deadlocked");
    } else if (wpi_actors_describe_wait(&x->actors, actor, sizeof actor)) {
        (void)WP_FAIL(&error, KERNEL_DEADLOCK, "%s, and nothing runs that could change it", actor);
        wpi_executor_fail(x, &error);
    }
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
    wpi_progress_update(&x->progress, is_running ? &state : NULL, wp_clock_ns(), line, sizeof line);
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
    for (const wpi_job *j = x->running; j != NULL; j = j->next)
        if (j->threads == NULL) return false;
    return true;
}

/* All that warps do is wait for stores that no warp makes, and a host thread waits for them, for
 * longer than one should have to. Another host thread may still make them; hence the real time. */
static bool waits_in_vain(wpi_sim_executor *x, bool is_awaited) {
    if (x->activity.progress != x->progress_seen || !is_awaited || !runs_only_launches(x)) {
        x->progress_seen = x->activity.progress;
        x->seen_ns = wp_clock_ns();
        return false;
    }
    return x->activity.quiet > IDLE_ROUNDS * x->activity.warps && x->activity.warps != 0 &&
           x->actors.under_way == 0 && wp_clock_ns() - x->seen_ns > x->patience_ns;
}

/* What a long run touches, it touches for long; it is looked at less and less often. */
static void condense_memory(wpi_sim_executor *x) {
    const uint64_t now_ns = wp_clock_ns();
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
    return x->actors.under_way != 0 || (x->actors.live != 0 && wpi_device_is_awaited(x->device));
}

static void go_on(void *object, bool calls_host) {
    wpi_sim_executor *x = object;
    if (x->host_threads == 0) x->is_blurred = true;
    wpi_executor_ask_what_host_did(x);
    wpi_actors_look(&x->actors);
    x->actors.has_queued = false;
    wpi_executor_start_all(x, calls_host);
    if (x->running != NULL || x->ended != NULL || hosts_work(x)) run_model(x);
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
    wpi_executor_ask_at_rest(x);
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
    wp_free(x);
}

wpi_executor *wpi_sim_executor_base(wpi_sim_executor *x) {
    return &x->base;
}

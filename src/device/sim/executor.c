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

/* The clock of the process's simulated GPUs, which libraries/program_clock finds by its name. */
static _Atomic uint64_t process_ps;

WP_API uint64_t wpi_simulated_ns(void);
WP_API uint64_t wpi_simulated_ns(void) {
    return atomic_load(&process_ps) / WP_PS_PER_NS;
}

void wpi_executor_publish_time(wpi_sim_executor *x) {
    const uint64_t now = x->lead->base_ps + wpi_engine_now(x->engine);
    atomic_store(&x->lead->now_ps, now);
    if (now > atomic_load(&process_ps)) atomic_store(&process_ps, now);
}

void wpi_executor_fail(wpi_sim_executor *x, const wp_error *error) {
    wpi_cpu_device_fail(x->device, error);
}

/* ---- the model ------------------------------------------------------------------------------- */

/* The part of the model that belongs to this device. */
static void destroy_gpu(wpi_sim_executor *x) {
    if (x->observer != NULL) wpi_observer_detach(x->observer);
    wpi_gpu_destroy(x->gpu);
    wpi_memory_destroy(x->memory);
    x->gpu = NULL;
    x->memory = NULL;
    x->engine = NULL;
}

static void destroy_model(wpi_sim_executor *x) {
    wpi_engine *engine = x->engine;
    destroy_gpu(x);
    if (x != x->lead) return;
    wpi_actors_detach(&x->actors);
    for (wpi_sim_executor *m = x->next; m != NULL; m = m->next)
        destroy_gpu(m);
    wpi_engine_destroy(engine);
}

static void access_denied(void *object, uint64_t address) {
    wpi_sim_executor *x = object;
    if (x->denied_address == 0) x->denied_address = address;
    wpi_engine_stop(x->engine);
}

static wp_status make_gpu(wpi_sim_executor *x, wp_error *err) {
    x->engine = x->lead->engine;
    WP_TRY(wpi_memory_create(x->engine, x->profile, &x->memory, err));
    wpi_memory_set_host_range(x->memory,
                              x->profile->paging.is_on ? WPI_HOST_FIRST : WPI_ARENA_MANAGED_FIRST,
                              WPI_HOST_OUTER);
    if (x->device->base.is_one_of_several) {
        wpi_memory_set_own_range(x->memory, wpi_arena_device_first(x->device->base.number),
                                 wpi_arena_device_first(x->device->base.number + 1),
                                 WPI_ARENA_FIRST, WPI_ARENA_MANAGED_FIRST);
        wpi_memory_set_peers(x->memory, x->peers, wpi_arena_device_of, access_denied, x);
    }
    WP_TRY(wpi_gpu_create(x->profile, x->engine, x->memory, &x->gpu, err));
    if (x->profile->paging.is_on) WP_TRY(wpi_managed_begin(&x->managed, x->memory, err));
    if (x->observer != NULL)
        wpi_observer_attach(x->observer, x->engine, x->gpu, x->memory, x->lead->base_ps);
    return WP_STATUS_OK;
}

static wp_status make_model(wpi_sim_executor *x, wp_error *err) {
    if (x == x->lead) {
        WP_TRY(wpi_engine_create(&x->engine, err));
        WP_TRY(wpi_actors_attach(&x->actors, x->engine, &x->profile->host, err));
    }
    WP_TRY(make_gpu(x, err));
    for (wpi_sim_executor *m = x->next; m != NULL && x == x->lead; m = m->next)
        WP_TRY(make_gpu(m, err));
    return WP_STATUS_OK;
}

void wpi_sim_executor_set_peer(wpi_sim_executor *x, uint32_t peer, bool is_on) {
    pthread_mutex_lock(x->device->lock);
    wpi_pace_settle(&x->lead->pace);
    x->peers = is_on ? x->peers | 1u << peer : x->peers & ~(1u << peer);
    wpi_memory_set_peers(x->memory, x->peers, wpi_arena_device_of, access_denied, x);
    pthread_mutex_unlock(x->device->lock);
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

static void fail_denied(wpi_sim_executor *x) {
    const void *address = (const void *)(uintptr_t)x->denied_address;
    const uint32_t owner = wpi_arena_device_of(x->denied_address);
    wp_error error = {0};
    (void)WP_FAIL(&error, KERNEL_ADDRESS,
                  "a kernel of device %u reached address %p, which is memory of device %u: "
                  "cudaDeviceEnablePeerAccess(%u) on device %u allows it",
                  x->device->base.number, address, owner, owner, x->device->base.number);
    x->denied_address = 0;
    wpi_executor_fail(x, &error);
}

/* An error on one device ends the work of all: they share the model's time. */
static bool spread_failure(wpi_sim_executor *lead) {
    wpi_sim_executor *failed = NULL;
    for (wpi_sim_executor *m = lead; m != NULL; m = m->next) {
        if (m->denied_address != 0) fail_denied(m);
        if (failed == NULL && atomic_load(&m->device->has_failed)) failed = m;
    }
    for (wpi_sim_executor *m = lead; m != NULL && failed != NULL; m = m->next)
        wpi_cpu_device_fail_with(m->device, failed->device);
    return failed != NULL;
}

static void show_progress(wpi_sim_executor *x) {
    wpi_gpu_progress oldest;
    wpi_progress_state state = {0};
    char line[200];
    if (!x->progress.is_on) return;
    bool is_running = false;
    for (wpi_sim_executor *m = x; m != NULL && !is_running; m = m->next)
        is_running = wpi_gpu_get_progress(m->gpu, &oldest);
    if (is_running) {
        const wpi_job *j = oldest.object;
        state = (wpi_progress_state){.kernel = j->command->u.launch.kernel->display_name,
                                     .launch = j->number,
                                     .ctas_ended = oldest.ctas_ended,
                                     .ctas = oldest.ctas,
                                     .thread_instructions =
                                         wpi_gpu_thread_instructions(j->executor->gpu)};
    }
    wpi_progress_update(&x->progress, is_running ? &state : NULL, wpi_clock_ns(), line,
                        sizeof line);
    if (line[0] != '\0') (void)fputs(line, stderr);
}

static uint64_t instructions_of_all(const wpi_sim_executor *lead) {
    uint64_t sum = 0;
    for (const wpi_sim_executor *m = lead; m != NULL; m = m->next)
        sum += wpi_observer_instructions(m->observer);
    return sum;
}

/* The requested number of instructions is simulated: the process ends, and its report covers that.
 */
static void end_early(wpi_sim_executor *x) {
    for (wpi_sim_executor *m = x; m != NULL; m = m->next)
        wpi_gpu_cut(m->gpu);
    show_progress(x);
    (void)fflush(NULL);
    (void)fprintf(stderr,
                  "warpage: %" PRIu64 " thread instructions were simulated; the program is stopped "
                  "(--max-instructions)\n",
                  instructions_of_all(x));
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
    const wpi_time_ps until = x->lead->pace.until;
    if (until == WP_TIME_NEVER || until - x->lead->base_ps > end) return end;
    return until - x->lead->base_ps;
}

/* Whether commands were queued in this round, which may be able to start, or host work has ended.
 */
static bool has_news(const wpi_sim_executor *x) {
    return x->lead->actors.has_queued || x->lead->actors.has_ended || x->lead->has_nested;
}

/* Runs the engine until a command ends, or for a slice of time, after which the queues are checked
 * for new commands; for a shorter one if no host thread waits. Called with the lock held, which is
 * released meanwhile. */
static void run_model(wpi_sim_executor *x) {
    const bool is_awaited = wpi_device_is_awaited(x->device);
    const wpi_time_ps length_ps = is_awaited ? SLICE_PS : WPI_POLL_PS;
    x->lead->is_working = true;
    pthread_mutex_unlock(x->device->lock);
    if (x->lead->ended == NULL && !has_news(x))
        wpi_engine_run_until(x->engine, end_of_slice(x, length_ps));
    show_progress(x);
    condense_memory(x);
    if (x->instructions_max != 0 && instructions_of_all(x) >= x->instructions_max) end_early(x);
    const bool has_failed = spread_failure(x);
    const bool is_idle =
        x->lead->ended == NULL && !has_news(x) && !has_failed && wpi_engine_pending(x->engine) == 0;
    if (!is_idle)
        x->lead->idle_ns = 0;
    else if (x->lead->actors.live != 0)
        wpi_executor_wait_for_host(x, is_awaited);
    else if (x->lead->running != NULL)
        wpi_executor_fail_deadlocked(x, "the kernel on the simulated GPU is deadlocked");
    if (x->lead->ended == NULL && !has_failed && wpi_executor_waits_in_vain(x, is_awaited))
        wpi_executor_fail_deadlocked(
            x, "kernels on the simulated GPU wait for each other without progress");
    const bool is_at_rest =
        x->lead->running == NULL && x->lead->actors.live == 0 && wpi_engine_pending(x->engine) == 0;
    if (!is_at_rest && spread_failure(x)) give_up(x);
    wpi_executor_publish_time(x);
    pthread_mutex_lock(x->device->lock);
    x->lead->is_working = false;
    pthread_cond_broadcast(&x->lead->pace.polled);
}

/* Host work is in progress, or a host thread waits for actors that wait. */
static bool hosts_work(const wpi_sim_executor *x) {
    return x->lead->actors.under_way != 0 ||
           (x->lead->actors.live != 0 && wpi_device_is_awaited(x->device));
}

static void go_on(void *object, bool calls_host) {
    wpi_sim_executor *x = object;
    if (x->lead->host_threads == 0) x->is_blurred = true;
    wpi_executor_ask_what_host_did(x);
    wpi_actors_look(&x->lead->actors);
    x->lead->actors.has_queued = false;
    x->lead->has_nested = false;
    x->lead->pace.has_called_host = false;
    wpi_executor_start_all(x, calls_host);
    /* A host function may have woken a host thread, which runs before time passes. */
    const bool is_due = !x->lead->pace.has_called_host || !x->lead->pace.turns.is_on;
    if (is_due && (x->lead->running != NULL || x->lead->ended != NULL || hosts_work(x) ||
                   x->lead->pace.until != WP_TIME_NEVER))
        run_model(x);
    if (x->lead->actors.live != 0) wpi_turns_unsettle(&x->lead->pace.turns);
    wpi_executor_finish_ended(x);
    wpi_executor_watch_stores(x);
    x->lead->actors.has_ended = false;
    wpi_device_announce(x->device);
    /* A host thread may store the word that a queue waits for. */
    if (x->lead->running == NULL && wpi_queue_any_polls(x->device)) wpi_queue_poll_pause(x->device);
}

static bool has_work(const void *object) {
    const wpi_sim_executor *x = object;
    return x->lead->running != NULL || x->lead->actors.under_way != 0 ||
           wpi_queue_find_startable(x->device, NULL) != NULL || wpi_queue_any_polls(x->device);
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
    if (wpi_turns_is_alone(&x->lead->pace.turns)) return;
    pthread_mutex_lock(x->device->lock);
    wpi_pace_arrive(&x->lead->pace);
    pthread_mutex_unlock(x->device->lock);
}

static void queued(wpi_executor *base) {
    wpi_actors_note_queued(&((wpi_sim_executor *)(void *)base)->actors);
    wpi_pace_queued(pace_of(base));
}

/* The lock is held, and this thread does a round, in the engine. */
static void nested(wpi_executor *base) {
    wpi_sim_executor *x = (wpi_sim_executor *)(void *)base;
    x->lead->has_nested = true;
    wpi_engine_stop(x->lead->engine);
}

static void nested_done(wpi_executor *base, wpi_block *block) {
    const wpi_job *j = ((wpi_sim_executor *)(void *)base)->lead->running;
    while (j != NULL && &j->command->u.launch != block->launch)
        j = j->next;
    if (j != NULL) wpi_gpu_grids_done(j->executor->gpu, j->source, block->slot);
}

static void wait_until(wpi_executor *base, bool (*is_done)(const void *), const void *arg) {
    wpi_sim_executor *x = (wpi_sim_executor *)(void *)base;
    x->lead->host_threads++;
    wpi_pace_wait(&x->lead->pace, is_done, arg, wpi_queue_may_execute());
}

static void waited(wpi_executor *base) {
    wpi_sim_executor *x = (wpi_sim_executor *)(void *)base;
    x->lead->host_threads--;
    wpi_executor_let_host_in(x);
}

static void poll(wpi_executor *base) {
    wpi_sim_executor *x = (wpi_sim_executor *)(void *)base;
    x->lead->host_threads++;
    wpi_pace_poll(&x->lead->pace, wpi_queue_may_execute());
    x->lead->host_threads--;
    wpi_executor_let_host_in(x);
}

static wp_status know_variables(wpi_sim_executor *x, wp_error *err) {
    wpi_managed_range run;
    for (size_t i = 0; wpi_variables_at(i, &run); i++)
        WP_TRY(wpi_addresses_set(x->addresses, run.host, run.bytes, run.address, err));
    return WP_STATUS_OK;
}

/* ---- the report ------------------------------------------------------------------------------ */

static void collect_all(wpi_sim_executor *lead) {
    wpi_observer *observers[WP_DEVICES_MAX];
    size_t count = 0;
    for (wpi_sim_executor *m = lead; m != NULL; m = m->next)
        observers[count++] = m->observer;
    wpi_observer_collect(observers, count);
}

/* The process exits. A model that another thread runs has COLLECT_WAIT_S to stop. Also called in a
 * host function, and at the end of a run that reached its number of instructions. */
static void collect(void *object) {
    wpi_sim_executor *x = object;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += COLLECT_WAIT_S;
    pthread_mutex_lock(x->device->lock);
    const bool is_mine = wpi_pace_is_mine(&x->lead->pace);
    x->lead->pace.is_stopping = x->lead->pace.is_stopping || x->lead->is_working;
    while (x->lead->is_working && !is_mine &&
           pthread_cond_timedwait(&x->lead->pace.polled, x->device->lock, &until) == 0)
        ;
    wpi_executor_ask_at_rest(x);
    if (!x->lead->is_working || is_mine)
        collect_all(x);
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

/* The lead's list is for rounds, which are prevented meanwhile. */
static void join_lead(wpi_sim_executor *x, wpi_sim_executor *lead) {
    pthread_mutex_lock(x->device->lock);
    wpi_pace_settle(&lead->pace);
    wpi_sim_executor **link = &lead->next;
    while (*link != NULL)
        link = &(*link)->next;
    *link = x;
    pthread_mutex_unlock(x->device->lock);
}

static void leave_lead(wpi_sim_executor *x) {
    pthread_mutex_lock(x->device->lock);
    wpi_pace_settle(&x->lead->pace);
    wpi_sim_executor **link = &x->lead->next;
    while (*link != NULL && *link != x)
        link = &(*link)->next;
    if (*link == x) *link = x->next;
    pthread_mutex_unlock(x->device->lock);
}

wp_status wpi_sim_executor_create(wpi_cpu_device *device, const wpi_profile *profile,
                                  wpi_sim_executor *lead, wpi_sim_executor **out, wp_error *err) {
    *out = NULL;
    wpi_sim_executor *x = wpi_calloc(1, sizeof *x);
    if (x == NULL) return WP_FAIL(err, NOMEM, "simulator");
    x->base = (wpi_executor){queued, nested, nested_done, wait_until, waited, poll, now_ns};
    x->lead = lead != NULL ? lead : x;
    x->device = device;
    x->profile = profile;
    x->ended_last = &x->ended;
    if (lead == NULL) wpi_pace_init(&x->pace, device->lock, &paced, x);
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
    if (lead != NULL)
        join_lead(x, lead);
    else if (!wpi_pace_start(&x->pace))
        WP_TRY_GOTO(WP_FAIL(err, NOMEM, "the simulator's thread: %s", strerror(errno)), failed);
    if (x->observer != NULL && lead == NULL) wpi_report_set_collector(collect, x);
    *out = x;
    return WP_STATUS_OK;

failed:
    wpi_sim_executor_destroy(x);
    return status;
}

void wpi_sim_executor_destroy(wpi_sim_executor *x) {
    if (x == NULL) return;
    const bool is_lead = x == x->lead;
    if (is_lead)
        wpi_pace_stop(&x->pace);
    else
        leave_lead(x);
    destroy_model(x);
    if (x->observer != NULL && is_lead) {
        wpi_report_set_collector(NULL, NULL);
        wpi_observer_collect(&x->observer, 1);
    }
    wpi_observer_destroy(x->observer);
    wpi_managed_deinit(&x->managed);
    wpi_addresses_destroy(x->addresses);
    if (x->worker != NULL) wpi_pool_return(x->device->pool, x->worker);
    if (is_lead) wpi_pace_deinit(&x->pace);
    wpi_free(x);
}

wpi_executor *wpi_sim_executor_base(wpi_sim_executor *x) {
    return &x->lead->base;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Declared host work (warpage/host.h), in an actor's step, a host function or a host thread;
 * creation and end of actors. */
#include "base/alloc.h"
#include "device/host_copies.h"
#include "device/memory_map.h"
#include "device/sim/executor_parts.h"
#include "report/recorder.h"

void wpi_job_host_work_ended(void *object, uint64_t token, wpi_time_ps now) {
    (void)token;
    (void)now;
    wpi_job_end(object);
}

/* Simulates the next piece of work that a host function declared. */
void wpi_job_continue_host_call(void *object, uint64_t token, wpi_time_ps now) {
    wpi_job *j = object;
    (void)token;
    (void)now;
    if (j->works_done == j->work_count)
        wpi_job_end(j);
    else
        wpi_actors_work(&j->executor->lead->actors, &j->works[j->works_done++],
                        wpi_job_continue_host_call, j);
}

static wp_status add_host_work(wpi_job *j, const wp_host_work *work, wp_error *err) {
    wp_host_work *works = wpi_realloc(j->works, (j->work_count + 1) * sizeof *works);
    if (works == NULL) return WP_FAIL(err, NOMEM, "host work");
    works[j->work_count++] = *work;
    j->works = works;
    return WP_STATUS_OK;
}

/* Work of a host thread, on its stack. An error that replaces the model drops it. */
typedef struct threads_work {
    const wpi_sim_executor *executor;
    uint64_t models;
    bool is_done;
} threads_work;

static void note_done(void *object, uint64_t token, wpi_time_ps now) {
    (void)token;
    (void)now;
    ((threads_work *)object)->is_done = true;
}

static bool is_over(const void *object) {
    const threads_work *w = object;
    return w->is_done || w->models != w->executor->lead->models;
}

/* Declares work in a step, in a host function, or in a host thread, which waits for it. */
wp_status wpi_sim_executor_host_work(wpi_sim_executor *x, const wp_host_work *work, wp_error *err) {
    if (wpi_actors_declare(&x->lead->actors, work)) return WP_STATUS_OK;
    wp_status status = WP_STATUS_OK;
    pthread_mutex_lock(x->device->lock);
    if (wpi_pace_is_mine(&x->lead->pace)) {
        if (x->lead->calling != NULL) status = add_host_work(x->lead->calling, work, err);
    } else {
        wpi_pace_settle(&x->lead->pace);
        threads_work own = {.executor = x, .models = x->lead->models};
        wpi_actors_work(&x->lead->actors, work, note_done, &own);
        wpi_device_wait_until(x->device, is_over, &own, NULL);
    }
    pthread_mutex_unlock(x->device->lock);
    return status;
}

/* ---- copies ---------------------------------------------------------------------------------- */

void wpi_job_add_copies(wpi_job *j) {
    wp_host_work copied;
    if (!wpi_host_copies_take(false, &copied)) return;
    (void)add_host_work(j, &copied, NULL);
    wpi_report_host_copied(copied.written_bytes);
}

void wpi_executor_note_copy_begin(const wpi_sim_executor *x, const wpi_command *c,
                                  wp_copy_kind kind) {
    uint64_t bytes = 0;
    if (!x->profile->host.is_on || c->is_replayed || kind != WP_COPY_H2D) return;
    for (size_t row = 0; row < c->u.copy.height; row++)
        bytes += wpi_host_memory_undeclared(
            (const char *)c->u.copy.src + row * c->u.copy.src_pitch_bytes, c->u.copy.width_bytes);
    wpi_report_host_undeclared(bytes);
}

void wpi_executor_note_copy_end(const wpi_sim_executor *x, const wpi_command *c,
                                wp_copy_kind kind) {
    wpi_memory_entry entry;
    if (!x->profile->host.is_on || c->is_replayed) return;
    if (kind == WP_COPY_D2H || kind == WP_COPY_H2H) {
        for (size_t row = 0; row < c->u.copy.height; row++)
            wpi_host_memory_fill((const char *)c->u.copy.dst + row * c->u.copy.dst_pitch_bytes,
                                 c->u.copy.width_bytes);
    } else if (kind == WP_COPY_FILL &&
               wpi_memory_map_find(wpi_memory_map_global(), c->u.fill.dst, &entry) &&
               (entry.allocation.kind == WP_MEMORY_PINNED ||
                entry.allocation.kind == WP_MEMORY_REGISTERED)) {
        wpi_host_memory_fill(c->u.fill.dst, c->u.fill.count * c->u.fill.value_bytes);
    }
}

/* ---- actors ---------------------------------------------------------------------------------- */

bool wpi_sim_executor_calls_host(wpi_sim_executor *x) {
    if (wpi_actors_is_stepping(&x->lead->actors)) return true;
    pthread_mutex_lock(x->device->lock);
    const bool is_mine = wpi_pace_is_mine(&x->lead->pace);
    pthread_mutex_unlock(x->device->lock);
    return is_mine;
}

wpi_time_ps wpi_sim_executor_step_time(wpi_sim_executor *x) {
    return wpi_engine_now(x->lead->actors.engine);
}

static void memory_stored(void *object) {
    wpi_actors_look(&((wpi_sim_executor *)object)->actors);
}

/* Stores to host memory are reported only while actors are alive. */
void wpi_executor_watch_stores(wpi_sim_executor *x) {
    x->lead->activity.stored = x->lead->actors.live != 0 ? memory_stored : NULL;
    x->lead->activity.object = x->lead;
}

wp_status wpi_sim_executor_start_actor(wpi_sim_executor *x, const wp_actor *actor, wp_actor **out,
                                       wp_error *err) {
    pthread_mutex_lock(x->device->lock);
    wpi_pace_settle(&x->lead->pace);
    const wp_status status = wpi_actors_start(&x->lead->actors, actor, out, err);
    wpi_executor_watch_stores(x);
    wpi_pace_queued(&x->lead->pace);
    pthread_mutex_unlock(x->device->lock);
    return status;
}

void wpi_sim_executor_await_actor(wpi_sim_executor *x, const wp_actor *actor) {
    pthread_mutex_lock(x->device->lock);
    wpi_device_wait_until(x->device, wpi_actor_has_ended, actor, NULL);
    pthread_mutex_unlock(x->device->lock);
}

void wpi_sim_executor_free_actor(wpi_sim_executor *x, wp_actor *actor) {
    pthread_mutex_lock(x->device->lock);
    wpi_pace_settle(&x->lead->pace);
    wpi_actors_free(&x->lead->actors, actor);
    wpi_executor_watch_stores(x);
    pthread_mutex_unlock(x->device->lock);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Declared host work (warpage/host.h): in a step, in a host function, in a host thread; and the
 * life of actors. */
#include "base/alloc.h"
#include "device/sim/executor_parts.h"

void wpi_job_host_work_ended(void *object, uint64_t token, wp_time_ps now) {
    (void)token;
    (void)now;
    wpi_job_end(object);
}

/* What a host function declared, piece by piece. */
void wpi_job_continue_host_call(void *object, uint64_t token, wp_time_ps now) {
    wpi_job *j = object;
    (void)token;
    (void)now;
    if (j->works_done == j->work_count)
        wpi_job_end(j);
    else
        wpi_actors_work(&j->executor->actors, &j->works[j->works_done++],
                        wpi_job_continue_host_call, j);
}

static wp_status add_host_work(wpi_job *j, const wp_host_work *work, wp_error *err) {
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

wp_time_ps wpi_sim_executor_step_time(wpi_sim_executor *x) {
    return wpi_engine_now(x->actors.engine);
}

static void memory_stored(void *object) {
    wpi_actors_look(&((wpi_sim_executor *)object)->actors);
}

/* Stores to host memory are reported only while actors are alive. */
void wpi_executor_watch_stores(wpi_sim_executor *x) {
    x->activity.stored = x->actors.live != 0 ? memory_stored : NULL;
    x->activity.object = x;
}

wp_status wpi_sim_executor_start_actor(wpi_sim_executor *x, const wp_actor *actor, wp_actor **out,
                                       wp_error *err) {
    pthread_mutex_lock(&x->device->lock);
    wpi_pace_settle(&x->pace);
    const wp_status status = wpi_actors_start(&x->actors, actor, out, err);
    wpi_executor_watch_stores(x);
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
    wpi_executor_watch_stores(x);
    pthread_mutex_unlock(&x->device->lock);
}

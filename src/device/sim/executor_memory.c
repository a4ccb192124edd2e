/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory: its ranges, and the pages that the host touches. */
#include "base/alloc.h"
#include "device/sim/executor_parts.h"
#include "device/sim/trace_recorder.h"
#include "device/sim/variables.h"

/* ---- what the host touches ------------------------------------------------------------------- */

static bool watches_host(const wpi_sim_executor *x) {
    const wpi_sim_device *device = wpi_executor_device((wpi_sim_executor *)x);
    if (device->trace != NULL || x->managed.count == 0) return false;
    return x->profile->paging.is_on || device->recorder != NULL;
}

/* Kernels or the host have touched these pages. Pages that no simulated kernel has used were
 * touched by the host. */
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

/* Host code continues: pages touched from now on are touched by the host. */
void wpi_executor_let_host_in(wpi_sim_executor *x) {
    if (!watches_host(x)) return;
    if (x->host_was_here && x->is_blurred) wpi_managed_visit_touched(&x->managed, note_unclear, x);
    wpi_managed_forget_touched(&x->managed);
    x->host_was_here = true;
    x->is_blurred = false;
}

/* Advances simulated time to `time`, without starting commands. Called with the lock held, which is
 * released meanwhile.
 */
static void pass_until(wpi_sim_executor *x, wpi_time_ps time) {
    x->lead->is_working = true;
    pthread_mutex_unlock(x->device->lock);
    while (wpi_engine_now(x->engine) < time && !atomic_load(&x->device->has_failed))
        wpi_engine_run_until(x->engine, time);
    wpi_executor_publish_time(x);
    pthread_mutex_lock(x->device->lock);
    x->lead->is_working = false;
    pthread_cond_broadcast(&x->lead->pace.polled);
}

static void bring_back(wpi_sim_executor *x, uint64_t chunk, const wpi_pages *pages) {
    wpi_pages touched = *pages;
    wpi_time_ps done = 0;
    while (x->profile->paging.is_on &&
           wpi_paging_host_fault(wpi_memory_paging(x->memory), chunk, &touched,
                                 wpi_engine_now(x->engine), &done))
        pass_until(x, done);
}

static void note_touched(void *object, uint64_t chunk, const wpi_pages *touched) {
    wpi_sim_executor *x = object;
    wpi_recorder_host_touched(wpi_executor_device(x)->recorder, chunk, touched);
    bring_back(x, chunk, touched);
}

void wpi_sim_executor_host_touched(wpi_sim_executor *x, uint64_t chunk, const wpi_pages *pages) {
    pthread_mutex_lock(x->device->lock);
    wpi_pace_take(&x->lead->pace);
    bring_back(x, chunk, pages);
    wpi_pace_give(&x->lead->pace);
    pthread_mutex_unlock(x->device->lock);
}

/* Called before time passes. */
void wpi_executor_ask_what_host_did(wpi_sim_executor *x) {
    if (!x->host_was_here || !watches_host(x)) return;
    if (x->is_blurred && x->lead->host_threads == 0) return; /* the host is still running */
    x->host_was_here = false;
    wpi_managed_visit_touched(&x->managed, x->is_blurred ? note_unclear : note_touched, x);
}

static bool returns_pages(const wpi_sim_executor *x) {
    return x->profile->paging.is_on && x->profile->paging.synchronize != WPI_SYNCHRONIZE_KEEP;
}

/* Migrates what the host touched before it waited, and then synchronises, in the same order as in a
 * trace. */
void wpi_sim_executor_waited(wpi_sim_executor *x) {
    if (x->managed.count == 0 || !(returns_pages(x) || wpi_executor_device(x)->recorder != NULL))
        return;
    pthread_mutex_lock(x->device->lock);
    if (!wpi_pace_is_mine(&x->lead->pace)) { /* not in a host function */
        wpi_pace_take(&x->lead->pace);
        wpi_executor_ask_what_host_did(x);
        if (returns_pages(x))
            pass_until(
                x, wpi_paging_synchronize(wpi_memory_paging(x->memory), wpi_engine_now(x->engine)));
        wpi_executor_let_host_in(x);
        wpi_pace_give(&x->lead->pace);
    }
    pthread_mutex_unlock(x->device->lock);
}

void wpi_executor_ask_at_rest(wpi_sim_executor *x) {
    if (x->lead->is_working || x->lead->pace.is_driven) return;
    wpi_pace_take(&x->lead->pace);
    wpi_executor_ask_what_host_did(x);
    wpi_pace_give(&x->lead->pace);
}

void wpi_sim_executor_ask_host(wpi_sim_executor *x) {
    pthread_mutex_lock(x->device->lock);
    wpi_executor_ask_at_rest(x);
    pthread_mutex_unlock(x->device->lock);
}

/* ---- managed memory ---- */

wp_status wpi_sim_executor_manage(wpi_sim_executor *x, wpi_managed_range range, wp_error *err) {
    const wpi_sim_device *device = wpi_executor_device(x);
    if (!x->profile->paging.is_on && device->recorder == NULL) return WP_STATUS_OK;
    if (!wpi_managed_has_place(range)) return WP_STATUS_OK;
    pthread_mutex_lock(x->device->lock);
    wpi_pace_settle(&x->lead->pace);
    const wp_status status = wpi_managed_add(&x->managed, x->memory, range, err);
    if (status == WP_STATUS_OK && !x->host_was_here) { /* the host may touch it at once */
        wpi_executor_let_host_in(x);
        x->is_blurred = x->lead->host_threads != 0;
    }
    pthread_mutex_unlock(x->device->lock);
    return status;
}

/* Manages the program's variables, which the host may have used before. */
wp_status wpi_executor_manage_variables(wpi_sim_executor *x, wp_error *err) {
    wpi_managed_range run;
    for (size_t i = 0; wpi_variables_at(i, &run); i++) {
        WP_TRY(wpi_managed_add(&x->managed, x->memory, run, err));
        x->host_was_here = true;
    }
    return WP_STATUS_OK;
}

bool wpi_sim_executor_has_managed(wpi_sim_executor *x, uint64_t address) {
    pthread_mutex_lock(x->device->lock);
    const bool has = wpi_managed_has(&x->managed, address);
    pthread_mutex_unlock(x->device->lock);
    return has;
}

bool wpi_sim_executor_sees_host(const wpi_sim_executor *x) {
    return wpi_touch_is_seen(&x->managed.touch);
}

void wpi_sim_executor_use_on_host(wpi_sim_executor *x, wpi_managed_range range) {
    pthread_mutex_lock(x->device->lock);
    wpi_pace_settle(&x->lead->pace);
    wpi_managed_use_on_host(x->memory, range);
    pthread_mutex_unlock(x->device->lock);
}

void wpi_sim_executor_advise(wpi_sim_executor *x, wpi_managed_range range,
                             const wpi_advice *advice) {
    const wpi_paging_range pages = {wpi_variables_find(range.address), range.bytes};
    const bool is_mapped = advice->is_accessed_by_device && !advice->prefers_device;
    const wpi_paging_advice said = {.is_read_mostly = advice->is_read_mostly,
                                    .stays_on_host = advice->prefers_host || is_mapped,
                                    .prefers_device = advice->prefers_device};
    if (!x->profile->paging.is_on) return;
    pthread_mutex_lock(x->device->lock);
    wpi_pace_settle(&x->lead->pace);
    wpi_paging_advise(wpi_memory_paging(x->memory), pages, said);
    pthread_mutex_unlock(x->device->lock);
}

/* Removes a range, after its migrations have ended. */
void wpi_sim_executor_unmanage(wpi_sim_executor *x, uint64_t address) {
    if (x->managed.count == 0) return;
    pthread_mutex_lock(x->device->lock);
    const bool is_mine = wpi_pace_is_mine(&x->lead->pace); /* freed by a host function */
    if (!is_mine) {
        wpi_pace_take(&x->lead->pace);
        wpi_executor_ask_what_host_did(x);
        wpi_executor_let_host_in(x); /* the host continues */
    }
    if (x->lead->running == NULL) wpi_engine_run(x->engine);
    if (address == 0) {
        wpi_managed_remove_all(&x->managed, x->memory);
        WP_CHECK(wpi_executor_manage_variables(x, NULL) ==
                 WP_STATUS_OK); /* cannot fail: there was room before */
        for (size_t i = 0; i < x->managed.count; i++)
            wpi_managed_use_on_host(x->memory, x->managed.ranges[i]);
    } else {
        wpi_managed_remove(&x->managed, x->memory, address);
    }
    if (!is_mine) wpi_pace_give(&x->lead->pace);
    pthread_mutex_unlock(x->device->lock);
}

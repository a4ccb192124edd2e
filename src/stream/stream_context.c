/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/stream_context.h"

#include <pthread.h>
#include <sched.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fail.h"
#include "report/recorder.h"
#include "stream/stream_timeline.h"

enum { IN_FLIGHT_MAX = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static wpi_stream_context *contexts;
static streamingReport last_report;
static bool has_report;
static uint64_t launches;

/* ---- the end of a launch ---- */

static void add_counts(streamingReport *r, const wpi_stream_counts *c, bool is_write) {
    r->accesses += c->accesses;
    r->address_bytes += c->fetched_bytes != 0 ? c->fetched_bytes : c->words * sizeof(uint64_t);
    if (is_write) {
        r->written_bytes += c->useful_bytes;
    } else {
        r->chunks += c->chunks;
        r->read_bytes += c->useful_bytes;
        r->sent_bytes += c->copied_bytes;
    }
}

static void add_file(streamingReport *r, const wpi_reservation_cursor *cursor) {
    r->file_read_bytes += cursor->counts.read_bytes;
    r->file_written_bytes += cursor->counts.written_bytes;
    r->file_wait_ns += cursor->counts.waited_ns;
}

static void tell_recorder(wpi_stream_context *x, const streamingReport *r) {
    uint64_t repeated_bytes = 0;
    for (uint32_t i = 0; i < x->set_count; i++)
        repeated_bytes += x->gather[i].counts.repeated_bytes;
    for (uint32_t i = 0; i < x->service_count; i++)
        repeated_bytes += x->services[i].counts.repeated_bytes;
    const wp_run_streamed launch = {.name = x->name,
                                    .windows = x->windows[0] != '\0' ? x->windows : NULL,
                                    .launches = 1,
                                    .blocks = r->blocks,
                                    .chunks = r->chunks,
                                    .mapped_bytes = r->mapped_bytes,
                                    .read_bytes = r->read_bytes,
                                    .written_bytes = r->written_bytes,
                                    .sent_bytes = r->sent_bytes,
                                    .address_bytes = r->address_bytes,
                                    .repeated_bytes = repeated_bytes,
                                    .device_bytes = r->device_bytes,
                                    .pinned_bytes = r->pinned_bytes,
                                    .host_bytes = r->host_bytes,
                                    .kept_bytes = r->kept_bytes,
                                    .kept_sent_bytes = r->kept_sent_bytes,
                                    .file_read_bytes = r->file_read_bytes,
                                    .file_written_bytes = r->file_written_bytes,
                                    .sets = r->sets,
                                    .slots = r->slots,
                                    .time_ns = r->total_ns,
                                    .stage_ns = r->total_ns * r->sets,
                                    .address_ns = r->address_ns,
                                    .address_wait_ns = r->address_wait_ns,
                                    .gather_ns = r->gather_ns,
                                    .compute_ns = r->compute_ns,
                                    .compute_wait_ns = r->compute_wait_ns,
                                    .store_ns = r->store_ns};
    wpi_report_streamed(&launch);
}

static void add_windows(const wpi_stream_context *x, streamingReport *r) {
    const uint64_t *times = x->window_buffers.times;
    for (uint32_t i = 0; i < x->service_count; i++) {
        add_counts(r, &x->services[i].counts, false);
        add_counts(r, &x->services[i].write_counts, true);
        r->gather_ns += x->services[i].counts.worked_ns;
        add_file(r, &x->services[i].write_cursor);
        for (uint32_t w = 0; w < WPI_STREAM_WINDOWS; w++)
            add_file(r, &x->services[i].cursors[w]);
    }
    for (uint32_t i = 0; x->service_count != 0 && i < r->sets; i++) {
        r->compute_ns += times[i * WPI_STREAM_TIMES] - times[i * WPI_STREAM_TIMES + 1];
        r->compute_wait_ns += times[i * WPI_STREAM_TIMES + 1];
    }
}

static void add_to_timeline(const wpi_stream_context *x) {
    const wpi_stream_moments moments = {wp_event_time_ns(x->began), wp_event_time_ns(x->ended),
                                        x->actors_ended_ns};
    if (x->set_count != 0) wpi_stream_timeline_add_log(&x->buffers, &moments);
    for (uint32_t i = 0; i < x->set_count; i++) {
        wpi_stream_timeline_add_spans("gather", i, &x->gather[i].spans, &moments);
        wpi_stream_timeline_add_spans("store", i, &x->store[i].spans, &moments);
    }
    for (uint32_t i = 0; i < x->service_count; i++)
        wpi_stream_timeline_add_spans("windows", i, &x->services[i].spans, &moments);
}

static void make_report(wpi_stream_context *x) {
    streamingReport r = x->report;
    const uint64_t *times = x->buffers.times;
    add_windows(x, &r);
    for (uint32_t i = 0; i < x->set_count; i++) {
        add_counts(&r, &x->gather[i].counts, false);
        add_counts(&r, &x->store[i].counts, true);
        add_file(&r, &x->gather[i].cursor);
        add_file(&r, &x->gather[i].index_cursor);
        add_file(&r, &x->store[i].cursor);
        r.gather_ns += x->gather[i].counts.worked_ns;
        r.store_ns += x->store[i].counts.worked_ns;
        const uint64_t *ahead = &times[2 * i * WPI_STREAM_TIMES];
        const uint64_t *compute = ahead + WPI_STREAM_TIMES;
        r.address_ns += ahead[0];
        r.address_wait_ns += ahead[1];
        r.compute_ns += compute[0];
        r.compute_wait_ns += compute[1];
    }
    r.total_ns = wp_event_time_ns(x->ended) - wp_event_time_ns(x->began);
    add_to_timeline(x);
    last_report = r;
    has_report = true;
    tell_recorder(x, &r);
}

/* The actors have ended, or end at once, as their device has failed. */
static void retire_locked(wpi_stream_context *x) {
    for (uint32_t i = 0; i < x->actor_count; i++)
        wp_actor_destroy(x->actors[i]);
    if (atomic_load(&x->has_ended) && wp_event_is_complete(x->ended)) make_report(x);
    for (uint32_t i = 0; i < x->service_count; i++)
        wpi_window_service_free(&x->services[i]);
    for (uint32_t i = 0; i < x->set_count; i++) {
        wpi_reservation_leave(&x->gather[i].cursor);
        wpi_reservation_leave(&x->gather[i].index_cursor);
        wpi_reservation_leave(&x->store[i].cursor);
        wpi_stream_spans_deinit(&x->gather[i].spans);
        wpi_stream_spans_deinit(&x->store[i].spans);
    }
    wpi_sent_bytes_deinit(&x->sent);
    wpi_free(x->actors);
    wpi_free(x->gather);
    wpi_free(x->store);
    wpi_free(x->served);
    wpi_free(x->servers);
    wpi_free(x->services);
    x->actors = NULL;
    x->gather = x->store = NULL;
    x->served = NULL;
    x->servers = NULL;
    x->services = NULL;
    x->set_count = x->service_count = x->actor_count = 0;
    x->is_used = false;
}

static void retire_ended_locked(void) {
    for (wpi_stream_context *x = contexts; x != NULL; x = x->next)
        if (x->is_used && x->is_queued &&
            (atomic_load(&x->has_ended) || wp_device_sticky_error(x->device, NULL) != WP_STATUS_OK))
            retire_locked(x);
}

void wpi_stream_context_on_end(void *object) {
    wpi_stream_context *x = object;
    x->actors_ended_ns = wpi_clock_ns();
    atomic_store(&x->has_ended, true);
}

void wpi_stream_contexts_retire(void) {
    pthread_mutex_lock(&lock);
    retire_ended_locked();
    pthread_mutex_unlock(&lock);
}

bool wpi_stream_last_report(streamingReport *out) {
    pthread_mutex_lock(&lock);
    retire_ended_locked();
    if (has_report) *out = last_report;
    pthread_mutex_unlock(&lock);
    return has_report;
}

void wpi_stream_put_report(const streamingReport *report) {
    pthread_mutex_lock(&lock);
    retire_ended_locked();
    last_report = *report;
    has_report = true;
    pthread_mutex_unlock(&lock);
}

static void free_context(wpi_stream_context *x) {
    if (x == NULL) return;
    if (x->is_used) retire_locked(x);
    wpi_stream_memory_free(&x->memory);
    wp_event_destroy(x->began);
    wp_event_destroy(x->ended);
    wp_event_destroy(x->over);
    wp_queue_destroy(x->down);
    wp_queue_destroy(x->up);
    wpi_free(x->name);
    wpi_free(x);
}

void wpi_stream_contexts_free(void) {
    pthread_mutex_lock(&lock);
    while (contexts != NULL) {
        wpi_stream_context *x = contexts;
        contexts = x->next;
        free_context(x);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- the beginning of a launch ---- */

static wp_status create_context(wp_device *device, wpi_stream_context **out, wp_error *err) {
    wpi_stream_context *x = wpi_calloc(1, sizeof *x);
    wp_status status;
    if (x == NULL) return WP_FAIL(err, NOMEM, "a streamed launch");
    x->device = device;
    WP_TRY_GOTO(wp_queue_create(device, false, &x->down, err), failed);
    WP_TRY_GOTO(wp_queue_create(device, false, &x->up, err), failed);
    WP_TRY_GOTO(wp_event_create(device, &x->began, err), failed);
    WP_TRY_GOTO(wp_event_create(device, &x->ended, err), failed);
    WP_TRY_GOTO(wp_event_create(device, &x->over, err), failed);
    *out = x;
    return WP_STATUS_OK;
failed:
    free_context(x);
    return status;
}

/* The one of the launches under way that was queued first; NULL: fewer than so many are under way.
 */
static wpi_stream_context *oldest_of_many_locked(const wp_device *device) {
    uint32_t count = 0;
    wpi_stream_context *oldest = NULL;
    for (wpi_stream_context *x = contexts; x != NULL; x = x->next) {
        if (!x->is_used || x->device != device) continue;
        count++;
        if (oldest == NULL || x->number < oldest->number) oldest = x;
    }
    return count >= IN_FLIGHT_MAX ? oldest : NULL;
}

/* Each launch has buffers and threads of its own: many at once wait for the first. */
static wp_status wait_for_room(wp_device *device, wp_error *err) {
    for (;;) {
        pthread_mutex_lock(&lock);
        retire_ended_locked();
        wpi_stream_context *x = oldest_of_many_locked(device);
        pthread_mutex_unlock(&lock);
        if (x == NULL) return WP_STATUS_OK;
        WP_TRY(wp_event_wait(x->over, err));
        if (!atomic_load(&x->has_ended)) sched_yield(); /* it is only being queued */
    }
}

/* One that is not in use; taken by the caller. */
wp_status wpi_stream_context_take(wp_device *device, wpi_stream_context **out, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    WP_TRY(wait_for_room(device, err));
    pthread_mutex_lock(&lock);
    retire_ended_locked();
    wpi_stream_context *x = contexts;
    while (x != NULL && (x->is_used || x->device != device))
        x = x->next;
    if (x == NULL) {
        status = create_context(device, &x, err);
        if (status == WP_STATUS_OK) {
            x->next = contexts;
            contexts = x;
        }
    }
    if (status == WP_STATUS_OK) {
        x->is_used = true;
        x->is_queued = false;
        x->number = ++launches;
        atomic_store(&x->has_ended, false);
        atomic_store(&x->is_reported, false);
        *out = x;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

void wpi_stream_context_queued(wpi_stream_context *x) {
    pthread_mutex_lock(&lock);
    x->is_queued = true;
    pthread_mutex_unlock(&lock);
}

void wpi_stream_context_drop(wpi_stream_context *x) {
    pthread_mutex_lock(&lock);
    retire_locked(x);
    pthread_mutex_unlock(&lock);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A share that ends a slice while others wait for a core goes to the end of the queue, as threads
 * do under a fair scheduler. The bus is reserved by a timestamp: overlapping slices queue for it,
 * so its bandwidth is not exceeded. */
#include "sim/host/host_model.h"

#include "base/alloc.h"
#include "sim/engine/reserve.h"

#define LINE_BYTES 64u
#define PIECE_BYTES_DEFAULT 8u
#define SLICE_BYTES_MIN ((uint64_t)256 << 10)
#define SLICES_MAX 4096u /* of a share */

typedef struct host_job host_job;

/* The remaining work of one thread. */
typedef struct share {
    struct share *next; /* in the queue for a core */
    host_job *job;
    uint64_t read_bytes, written_bytes;
    uint64_t slice_bytes;
} share;

struct host_job {
    host_job *previous, *following; /* in the list of jobs in progress */
    wpi_host_model *model;
    uint64_t piece_bytes; /* of random reads; 0: sequential */
    uint32_t shares_left;
    wpi_event_fn done;
    void *object;
    uint64_t token;
    share shares[];
};

struct wpi_host_model {
    wpi_engine *engine;
    const wpi_host_profile *profile;
    wpi_bus memory;
    uint32_t cores_free;
    share *line, **line_last;
    host_job *jobs;
    wpi_host_numbers numbers;
};

static uint64_t part_of(uint64_t all, uint32_t threads, uint32_t number) {
    return all / threads + (number < all % threads ? 1 : 0);
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* ---- a slice --------------------------------------------------------------------------------- */

typedef struct slice {
    uint64_t read_bytes, written_bytes;
    wpi_time_ps core_ps, bus_ps;
} slice;

/* The bytes that a slice reads: whole pieces, at least one. */
static uint64_t read_of_slice(const share *s) {
    const uint64_t piece = s->job->piece_bytes;
    if (piece == 0) return least(s->read_bytes, s->slice_bytes);
    const uint64_t lines_bytes = (piece + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    const uint64_t pieces = lines_bytes >= s->slice_bytes ? 1 : s->slice_bytes / lines_bytes;
    return least(s->read_bytes, pieces * piece);
}

/* Writes in proportion to reads, so that a copy's slices are alike. */
static slice next_slice(const share *s) {
    const wpi_host_profile *p = s->job->model->profile;
    const uint64_t piece = s->job->piece_bytes;
    slice out = {.read_bytes = read_of_slice(s)};
    out.written_bytes =
        s->read_bytes == 0
            ? least(s->written_bytes, s->slice_bytes)
            : (uint64_t)((long double)s->written_bytes * out.read_bytes / s->read_bytes);
    uint64_t bus_bytes = out.read_bytes + 2 * out.written_bytes;
    uint64_t in_order_bytes = bus_bytes;
    if (piece != 0 && out.read_bytes != 0) {
        const uint64_t pieces = (out.read_bytes + piece - 1) / piece;
        const uint64_t lines = (piece + LINE_BYTES - 1) / LINE_BYTES;
        out.core_ps = pieces * p->random_latency_ps / p->random_in_flight;
        bus_bytes = pieces * lines * LINE_BYTES + 2 * out.written_bytes;
        in_order_bytes = pieces * (lines - 1) * LINE_BYTES + 2 * out.written_bytes;
    }
    out.core_ps += wpi_bytes_ps(in_order_bytes, p->core_bytes_per_s);
    out.bus_ps = wpi_bytes_ps(bus_bytes, p->bytes_per_s);
    return out;
}

/* ---- cores ----------------------------------------------------------------------------------- */

static void slice_ended(void *object, uint64_t token, wpi_time_ps now);

static void run_slice(share *s) {
    wpi_host_model *model = s->job->model;
    const wpi_time_ps now = wpi_engine_now(model->engine);
    const slice next = next_slice(s);
    const wpi_time_ps carried = wpi_bus_take(&model->memory, now, next.bus_ps) + next.bus_ps;
    const wpi_time_ps done = now + next.core_ps > carried ? now + next.core_ps : carried;
    s->read_bytes -= next.read_bytes;
    s->written_bytes -= next.written_bytes;
    model->numbers.core_ps += done - now;
    model->numbers.bus_ps += next.bus_ps;
    wpi_engine_at(model->engine, done, slice_ended, s, 0);
}

static void stand_in_line(wpi_host_model *model, share *s) {
    s->next = NULL;
    *model->line_last = s;
    model->line_last = &s->next;
}

static void give_core(wpi_host_model *model) {
    share *s = model->line;
    if (s == NULL) {
        model->cores_free++;
        return;
    }
    model->line = s->next;
    if (model->line == NULL) model->line_last = &model->line;
    run_slice(s);
}

static void share_ended(host_job *job, wpi_time_ps now) {
    if (--job->shares_left != 0) return;
    if (job->following != NULL) job->following->previous = job->previous;
    if (job->previous != NULL)
        job->previous->following = job->following;
    else
        job->model->jobs = job->following;
    job->done(job->object, job->token, now);
    wpi_free(job);
}

static void slice_ended(void *object, uint64_t token, wpi_time_ps now) {
    share *s = object;
    wpi_host_model *model = s->job->model;
    (void)token;
    if (s->read_bytes == 0 && s->written_bytes == 0) {
        give_core(model);
        share_ended(s->job, now);
    } else if (model->line == NULL) {
        run_slice(s);
    } else {
        stand_in_line(model, s);
        give_core(model);
    }
}

/* ---- work ------------------------------------------------------------------------------------ */

void wpi_host_model_work(wpi_host_model *model, const wp_host_work *work, wpi_event_fn done,
                         void *object, uint64_t token) {
    const uint32_t threads = work->threads != 0 ? work->threads : 1;
    const uint64_t piece = work->access_bytes != 0 ? work->access_bytes : PIECE_BYTES_DEFAULT;
    if (work->read_bytes == 0 && work->written_bytes == 0) {
        wpi_engine_at(model->engine, wpi_engine_now(model->engine), done, object, token);
        return;
    }
    host_job *job = wpi_malloc(sizeof *job + threads * sizeof job->shares[0]);
    WP_CHECK(job != NULL);
    *job = (host_job){.following = model->jobs,
                      .model = model,
                      .piece_bytes = work->pattern == WP_HOST_RANDOM ? piece : 0,
                      .shares_left = threads,
                      .done = done,
                      .object = object,
                      .token = token};
    if (model->jobs != NULL) model->jobs->previous = job;
    model->jobs = job;
    model->numbers.works++;
    model->numbers.read_bytes += work->read_bytes;
    model->numbers.written_bytes += work->written_bytes;
    for (uint32_t i = 0; i < threads; i++) {
        share *s = &job->shares[i];
        *s = (share){.job = job,
                     .read_bytes = part_of(work->read_bytes, threads, i),
                     .written_bytes = part_of(work->written_bytes, threads, i)};
        s->slice_bytes = (s->read_bytes + s->written_bytes) / SLICES_MAX;
        if (s->slice_bytes < SLICE_BYTES_MIN) s->slice_bytes = SLICE_BYTES_MIN;
        if (model->cores_free == 0) {
            stand_in_line(model, s);
        } else {
            model->cores_free--;
            run_slice(s);
        }
    }
}

const wpi_host_numbers *wpi_host_model_numbers(const wpi_host_model *model) {
    return &model->numbers;
}

/* ---- life ------------------------------------------------------------------------------------ */

wp_status wpi_host_model_create(wpi_engine *engine, const wpi_host_profile *profile,
                                wpi_host_model **out, wp_error *err) {
    *out = wpi_calloc(1, sizeof **out);
    if (*out == NULL) return WP_FAIL(err, NOMEM, "host model");
    (*out)->engine = engine;
    (*out)->profile = profile;
    (*out)->cores_free = profile->cores;
    (*out)->line_last = &(*out)->line;
    return WP_STATUS_OK;
}

void wpi_host_model_destroy(wpi_host_model *model) {
    if (model == NULL) return;
    for (host_job *job = model->jobs; job != NULL;) {
        host_job *following = job->following;
        wpi_free(job);
        job = following;
    }
    wpi_free(model);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/stream_launch.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "device/device.h"
#include "report/recorder.h"
#include "stream/stream_actor.h"

enum { SLOTS_DEFAULT = 64, ARGUMENTS_MAX = 512, IN_FLIGHT_MAX = 8 };
#define DEVICE_BYTES_DEFAULT (UINT64_C(64) << 20)

typedef struct context {
    wp_device *device;
    wpi_stream_buffers buffers;
    wp_queue *down, *up;
    wp_event *began, *ended;         /* of the kernel */
    wp_event *over;                  /* of all that belongs to the launch */
    wpi_stream_side *gather, *store; /* [set_count] */
    wp_actor **actors;               /* [2 * set_count]; NULL where there is none */
    uint32_t set_count;
    bool is_used;
    uint64_t number; /* of the launch */
    atomic_bool has_ended;
    char *name;             /* of the kernel, mangled */
    streamingReport report; /* what is known at the launch */
    struct context *next;
} context;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static context *contexts;
static streamingOptions options;
static streamingReport last_report;
static bool has_report;
static uint64_t launches;

void wpi_stream_set_options(const streamingOptions *given) {
    pthread_mutex_lock(&lock);
    options = *given;
    pthread_mutex_unlock(&lock);
}

uint64_t wpi_stream_mask(const wp_kernel_info *kernel, void *const *args) {
    uint64_t mask = 0;
    if (!wpi_reservation_any()) return 0;
    for (uint32_t i = 0; i < kernel->param_count && i < WPI_STREAM_PARAMETERS; i++) {
        const void *value;
        if ((kernel->address_params >> i & 1) == 0) continue;
        memcpy(&value, args[i], sizeof value);
        if (wpi_reservation_find(value, NULL, NULL, NULL)) mask |= UINT64_C(1) << i;
    }
    return mask;
}

/* ---- the end of a launch ---- */

static void add_counts(streamingReport *r, const wpi_stream_counts *c, bool is_write) {
    r->accesses += c->accesses;
    r->address_bytes += c->words * sizeof(uint64_t);
    if (is_write) {
        r->written_bytes += c->useful_bytes;
    } else {
        r->chunks += c->chunks;
        r->read_bytes += c->useful_bytes;
        r->sent_bytes += c->copied_bytes;
    }
}

static void tell_recorder(const context *x, const streamingReport *r) {
    const wp_run_streamed launch = {.name = x->name,
                                    .launches = 1,
                                    .blocks = r->blocks,
                                    .chunks = r->chunks,
                                    .mapped_bytes = r->mapped_bytes,
                                    .read_bytes = r->read_bytes,
                                    .written_bytes = r->written_bytes,
                                    .sent_bytes = r->sent_bytes,
                                    .address_bytes = r->address_bytes,
                                    .device_bytes = r->device_bytes,
                                    .pinned_bytes = r->pinned_bytes,
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

static void make_report(context *x) {
    streamingReport r = x->report;
    const uint64_t *times = x->buffers.times;
    for (uint32_t i = 0; i < x->set_count; i++) {
        add_counts(&r, &x->gather[i].counts, false);
        add_counts(&r, &x->store[i].counts, true);
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
    last_report = r;
    has_report = true;
    tell_recorder(x, &r);
}

/* The actors have ended, or end at once, as their device has failed. */
static void retire_locked(context *x) {
    for (uint32_t i = 0; i < 2 * x->set_count; i++)
        wp_actor_destroy(x->actors[i]);
    if (atomic_load(&x->has_ended) && wp_event_is_complete(x->ended)) make_report(x);
    wp_free(x->actors);
    wp_free(x->gather);
    wp_free(x->store);
    x->actors = NULL;
    x->gather = x->store = NULL;
    x->set_count = 0;
    x->is_used = false;
}

static void retire_ended_locked(void) {
    for (context *x = contexts; x != NULL; x = x->next)
        if (x->is_used &&
            (atomic_load(&x->has_ended) || wp_device_sticky_error(x->device, NULL) != WP_STATUS_OK))
            retire_locked(x);
}

static void on_end(void *object) {
    context *x = object;
    atomic_store(&x->has_ended, true);
}

bool wpi_stream_last_report(streamingReport *out) {
    pthread_mutex_lock(&lock);
    retire_ended_locked();
    if (has_report) *out = last_report;
    pthread_mutex_unlock(&lock);
    return has_report;
}

static void free_context(context *x) {
    if (x == NULL) return;
    if (x->is_used) retire_locked(x);
    wpi_stream_buffers_free(&x->buffers);
    wp_event_destroy(x->began);
    wp_event_destroy(x->ended);
    wp_event_destroy(x->over);
    wp_queue_destroy(x->down);
    wp_queue_destroy(x->up);
    wp_free(x->name);
    wp_free(x);
}

void wpi_stream_contexts_free(void) {
    pthread_mutex_lock(&lock);
    while (contexts != NULL) {
        context *x = contexts;
        contexts = x->next;
        free_context(x);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- a context for a launch ---- */

static wp_status create_context(wp_device *device, context **out, wp_error *err) {
    context *x = wp_calloc(1, sizeof *x);
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
static context *oldest_of_many_locked(const wp_device *device) {
    uint32_t count = 0;
    context *oldest = NULL;
    for (context *x = contexts; x != NULL; x = x->next) {
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
        context *x = oldest_of_many_locked(device);
        pthread_mutex_unlock(&lock);
        if (x == NULL) return WP_STATUS_OK;
        WP_TRY(wp_event_wait(x->over, err));
        if (!atomic_load(&x->has_ended)) sched_yield(); /* it is only being queued */
    }
}

/* One that is not in use; taken by the caller. */
static wp_status take_context(wp_device *device, context **out, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    pthread_mutex_lock(&lock);
    retire_ended_locked();
    context *x = contexts;
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
        x->number = ++launches;
        atomic_store(&x->has_ended, false);
        *out = x;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- the launch ---- */

static wp_status check_threads(wp_device *device, const wp_launch *launch,
                               const wpi_stream_code *code, wp_error *err) {
    const uint64_t threads = (uint64_t)launch->block.x * launch->block.y * launch->block.z;
    const uint32_t most = wp_device_get_info(device)->threads_per_block_max;
    const uint64_t whole = (threads + 31) / 32 * 32;
    if (2 * whole <= most) return WP_STATUS_OK;
    return WP_FAIL(err, LAUNCH,
                   "kernel %s: a streamed launch has twice the threads; blocks of %llu threads "
                   "exceed the device's %u: launch blocks of at most %u",
                   code->display_name, (unsigned long long)threads, most, most / 2);
}

/* What steers the address slice is not what the kernel writes, under another name. */
static wp_status check_aliases(wp_device *device, const wpi_stream_code *code, void *const *args,
                               wp_error *err) {
    for (uint32_t r = 0; r < code->param_count && r < WPI_STREAM_PARAMETERS; r++) {
        for (uint32_t w = 0; w < code->param_count && w < WPI_STREAM_PARAMETERS; w++) {
            wp_allocation read, written;
            if (r == w || (code->facts.steering >> r & 1) == 0 ||
                (code->facts.written >> w & 1) == 0 ||
                !wp_memory_find(device, *(void *const *)args[r], &read) ||
                !wp_memory_find(device, *(void *const *)args[w], &written) ||
                read.base != written.base)
                continue;
            return WP_FAIL(err, UNSUPPORTED,
                           "kernel %s cannot be streamed: parameters %u and %u are in the same "
                           "allocation; it writes to one, and the other decides which mapped data "
                           "are read",
                           code->display_name, w, r);
        }
    }
    return WP_STATUS_OK;
}

static uint64_t default_bytes(wp_device *device) {
    uint64_t free_bytes, total_bytes;
    wp_memory_info(device, &free_bytes, &total_bytes);
    return free_bytes / 4 < DEVICE_BYTES_DEFAULT ? free_bytes / 4 : DEVICE_BYTES_DEFAULT;
}

static wp_status make_layout(wp_device *device, const wp_launch *launch,
                             const wpi_stream_code *code, wpi_stream_layout *layout,
                             wp_error *err) {
    pthread_mutex_lock(&lock);
    const streamingOptions o = options;
    pthread_mutex_unlock(&lock);
    const uint32_t threads = launch->block.x * launch->block.y * launch->block.z;
    const uint32_t half = (threads + 31) / 32 * 32;
    const uint64_t blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    uint64_t active =
        (uint64_t)wp_device_get_info(device)->sm_count *
        wp_kernel_occupancy_blocks(code->kernel, 2 * half, launch->shared_dynamic_bytes);
    if (o.blocks != 0 && o.blocks < active) active = o.blocks;
    if (blocks < active) active = blocks;
    const wpi_stream_shape shape = {.block = launch->block,
                                    .set_count_max = active != 0 ? (uint32_t)active : 1,
                                    .device_bytes_max = o.device_bytes != 0 ? o.device_bytes
                                                                            : default_bytes(device),
                                    .looks_for_patterns = o.without_patterns == 0,
                                    .slots_max = o.slots != 0 ? o.slots : SLOTS_DEFAULT};
    return wpi_stream_layout_make(&code->facts, &shape, layout, err);
}

static bool has_writes(const wpi_stream_facts *facts) {
    uint32_t any = 0;
    for (int k = 0; k < WPI_STREAM_CLASSES; k++)
        any |= facts->write_need[k];
    return any != 0;
}

static wp_status start_actors(context *x, const wpi_stream_code *code, wp_error *err) {
    const uint32_t count = x->buffers.launch_source->set_count;
    x->gather = wp_calloc(count, sizeof *x->gather);
    x->store = wp_calloc(count, sizeof *x->store);
    x->actors = wp_calloc(2 * (size_t)count, sizeof *x->actors);
    if (x->gather == NULL || x->store == NULL || x->actors == NULL)
        return WP_FAIL(err, NOMEM, "a streamed launch");
    x->set_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const wpi_stream_side side = {.buffers = &x->buffers,
                                      .kernel_name = code->display_name,
                                      .reads_own = code->facts.reads_own != 0,
                                      .down = x->down,
                                      .up = x->up,
                                      .set = i};
        x->gather[i] = x->store[i] = side;
        WP_TRY(wp_actor_start(x->device, "gathering for a streamed kernel", wpi_stream_gather_step,
                              &x->gather[i], &x->actors[2 * i], err));
        if (has_writes(&code->facts))
            WP_TRY(wp_actor_start(x->device, "storing for a streamed kernel", wpi_stream_store_step,
                                  &x->store[i], &x->actors[2 * i + 1], err));
    }
    return WP_STATUS_OK;
}

static wp_status queue_words(context *x, wp_queue *queue, wp_error *err) {
    char *words;
    uint64_t words_bytes;
    wpi_stream_buffers_words(&x->buffers, &words, &words_bytes);
    WP_TRY(wp_queue_fill(queue, words, 0, sizeof(uint32_t), words_bytes / sizeof(uint32_t), err));
    return wp_queue_copy(queue, x->buffers.launch, x->buffers.launch_source,
                         sizeof *x->buffers.launch, err);
}

static wp_status queue_end(context *x, wp_queue *queue, wp_error *err) {
    const wpi_stream_launch *l = x->buffers.launch_source;
    uint32_t *const words[] = {l->asked, l->wrote};
    const size_t count = (size_t)l->set_count * WPI_STREAM_WORD;
    for (int i = 0; i < 2; i++)
        WP_TRY(wp_queue_fill(queue, words[i], WPI_STREAM_END, sizeof(uint32_t), count, err));
    WP_TRY(wp_queue_copy(queue, x->buffers.times, l->times,
                         (size_t)l->set_count * 2 * WPI_STREAM_TIMES * sizeof *l->times, err));
    WP_TRY(wp_queue_host_call(queue, on_end, x, err));
    return wp_event_record(x->over, queue, err);
}

static wp_status queue_all(context *x, wp_queue *queue, const wp_launch *launch,
                           const wpi_stream_code *code, wp_error *err) {
    void *args[ARGUMENTS_MAX + 1];
    memcpy(args, launch->args, code->param_count * sizeof *args);
    args[code->param_count] = &x->buffers.launch;
    wp_launch streamed = *launch;
    streamed.kernel = code->kernel;
    streamed.block = (wp_dim3){2 * x->buffers.launch_source->half, 1, 1};
    streamed.args = args;
    WP_TRY(queue_words(x, queue, err));
    WP_TRY(wp_event_record(x->began, queue, err));
    WP_TRY(wp_queue_launch(queue, &streamed, err));
    WP_TRY(wp_event_record(x->ended, queue, err));
    return queue_end(x, queue, err);
}

static void describe(context *x, const wp_launch *launch, const wpi_stream_code *code,
                     const wpi_stream_layout *layout) {
    wp_free(x->name);
    x->name = wp_strdup(code->name);
    x->report = (streamingReport){.blocks = launch->grid.x * launch->grid.y * launch->grid.z,
                                  .sets = layout->launch.set_count,
                                  .slots = layout->slots,
                                  .device_bytes = layout->device_bytes,
                                  .pinned_bytes = layout->pinned_bytes};
    const uint64_t mask = code->mask;
    for (uint32_t i = 0; i < code->param_count && i < WPI_STREAM_PARAMETERS; i++) {
        uint64_t mapped_bytes = 0;
        if ((mask >> i & 1) != 0 &&
            wpi_reservation_find(*(void *const *)launch->args[i], NULL, NULL, &mapped_bytes))
            x->report.mapped_bytes += mapped_bytes;
    }
}

wp_status wpi_stream_launch_queue(wp_queue *queue, const wp_launch *launch,
                                  const wpi_stream_code *code, wp_error *err) {
    wp_device *device = code->kernel->device;
    wpi_stream_layout layout;
    context *x = NULL;
    wp_status status;
    if (code->param_count > ARGUMENTS_MAX)
        return WP_FAIL(err, UNSUPPORTED, "kernel %s has more than %d parameters",
                       code->display_name, ARGUMENTS_MAX);
    WP_TRY(check_threads(device, launch, code, err));
    WP_TRY(check_aliases(device, code, launch->args, err));
    WP_TRY(make_layout(device, launch, code, &layout, err));
    WP_TRY(wait_for_room(device, err));
    WP_TRY(take_context(device, &x, err));
    WP_TRY_GOTO(wpi_stream_buffers_alloc(&x->buffers, device, &layout, err), failed);
    wpi_stream_buffers_place(&x->buffers, &layout);
    describe(x, launch, code, &layout);
    if (x->name == NULL) {
        status = WP_FAIL(err, NOMEM, "a streamed launch");
        goto failed;
    }
    WP_TRY_GOTO(start_actors(x, code, err), failed);
    WP_TRY_GOTO(queue_all(x, queue, launch, code, err), failed);
    return WP_STATUS_OK;
failed:
    pthread_mutex_lock(&lock);
    retire_locked(x);
    pthread_mutex_unlock(&lock);
    return status;
}

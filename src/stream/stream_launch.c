/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/stream_launch.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "cache/cache_launch.h"
#include "device/device.h"
#include "report/recorder.h"
#include "stream/stream_context.h"

enum { SLOTS_DEFAULT = 64, ARGUMENTS_MAX = 512 };
#define DEVICE_BYTES_DEFAULT (UINT64_C(64) << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static streamingOptions options;

void wpi_stream_set_options(const streamingOptions *given) {
    pthread_mutex_lock(&lock);
    options = *given;
    pthread_mutex_unlock(&lock);
}

static streamingOptions options_now(void) {
    pthread_mutex_lock(&lock);
    const streamingOptions o = options;
    pthread_mutex_unlock(&lock);
    return o;
}

static bool wants_windows(void) {
    const streamingOptions o = options_now();
    return o.variant == streamingOverlap || o.with_windows != 0;
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
    return mask != 0 && wants_windows() ? mask | WPI_STREAM_ALL_DATA : mask;
}

/* ---- the launch ---- */

/* Address threads, except with windows, and compute threads. */
static uint64_t threads_of(const wp_launch *launch, const wpi_stream_code *code) {
    const uint64_t threads = (uint64_t)launch->block.x * launch->block.y * launch->block.z;
    return (threads + 31) / 32 * 32 * (code->facts.windows != 0 ? 1 : 2);
}

/* Of a block: registers may leave fewer than the device has. */
static uint32_t most_threads(wp_device *device, const wpi_stream_code *code) {
    const uint32_t most = wp_kernel_get_info(code->kernel)->threads_per_block_max;
    return most != 0 ? most : wp_device_get_info(device)->threads_per_block_max;
}

static bool has_room(wp_device *device, const wp_launch *launch, const wpi_stream_code *code) {
    return threads_of(launch, code) <= most_threads(device, code);
}

uint64_t wpi_stream_mask_ahead(const wpi_stream_code *code) {
    const bool is_asked = options_now().without_windows != 0 && !wants_windows();
    return is_asked && code->facts.prefers_windows != 0 ? code->mask | WPI_STREAM_AHEAD : 0;
}

uint64_t wpi_stream_mask_of_large_blocks(wp_device *device, const wp_launch *launch,
                                         const wpi_stream_code *code) {
    if (code->facts.windows != 0 || has_room(device, launch, code)) return 0;
    return code->mask | WPI_STREAM_ALL_DATA;
}

/* Parameters that share mapped data, and the kernel writes through the first. */
static bool find_aliases(const wpi_stream_code *code, void *const *args,
                         bool (*shares)(const void *, const void *), uint32_t *written,
                         uint32_t *other) {
    for (uint32_t w = 0; w < code->param_count && w < WPI_STREAM_PARAMETERS; w++) {
        if ((code->facts.mapped_written >> w & 1) == 0) continue;
        for (uint32_t o = 0; o < code->param_count && o < WPI_STREAM_PARAMETERS; o++) {
            if (w == o || (code->mask >> o & 1) == 0 ||
                !shares(*(void *const *)args[w], *(void *const *)args[o]))
                continue;
            *written = w;
            *other = o;
            return true;
        }
    }
    return false;
}

uint64_t wpi_stream_mask_of_aliases(const wp_launch *launch, const wpi_stream_code *code) {
    uint32_t w, o;
    if ((code->mask & WPI_STREAM_ALIASES) != 0 ||
        !find_aliases(code, launch->args, wpi_reservation_is_same, &w, &o))
        return 0;
    return code->mask | WPI_STREAM_ALIASES;
}

static wp_status check_threads(wp_device *device, const wp_launch *launch,
                               const wpi_stream_code *code, wp_error *err) {
    if (has_room(device, launch, code)) return WP_STATUS_OK;
    return WP_FAIL(err, LAUNCH, "kernel %s: blocks of %llu threads exceed the device's %u",
                   code->display_name, (unsigned long long)threads_of(launch, code),
                   most_threads(device, code));
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

/* Of two parameters of one mapping of host memory: reads through one do not look for writes through
 * another, at another address. */
static wp_status check_overlap(const wpi_stream_code *code, void *const *args, wp_error *err) {
    uint32_t w, o;
    if (!find_aliases(code, args, wpi_reservation_shares, &w, &o)) return WP_STATUS_OK;
    return WP_FAIL(err, UNSUPPORTED,
                   "kernel %s cannot be streamed: parameters %u and %u are mapped to the same "
                   "memory, and it writes to parameter %u: map it once",
                   code->display_name, w, o, w);
}

static uint64_t default_bytes(wp_device *device) {
    uint64_t free_bytes, total_bytes;
    wp_memory_info(device, &free_bytes, &total_bytes);
    return free_bytes / 4 < DEVICE_BYTES_DEFAULT ? free_bytes / 4 : DEVICE_BYTES_DEFAULT;
}

/* So many that each thread can have two blocks of a file in host memory: the one that it reads, and
 * the one where its neighbour's part begins. */
static uint64_t sets_with_files(const wp_launch *launch, const wpi_stream_code *code) {
    const uint64_t threads = (uint64_t)launch->block.x * launch->block.y * launch->block.z;
    bool has_files = false;
    for (uint32_t i = 0; i < code->param_count && i < WPI_STREAM_PARAMETERS; i++)
        has_files |=
            (code->mask >> i & 1) != 0 && wpi_reservation_has_file(*(void *const *)launch->args[i]);
    if (!has_files) return UINT64_MAX;
    const uint64_t sets = wpi_file_blocks_count() / (2 * threads);
    return sets != 0 ? sets : 1;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint32_t occupancy_blocks(const wpi_stream_code *code, uint32_t threads,
                                 uint32_t shared_bytes) {
    return code->cached != NULL ? wpi_cache_occupancy_blocks(code->cached, threads, shared_bytes)
                                : wp_kernel_occupancy_blocks(code->kernel, threads, shared_bytes);
}

static wpi_stream_shape shape_of(wp_device *device, const wp_launch *launch,
                                 const wpi_stream_code *code) {
    const streamingOptions o = options_now();
    const uint64_t blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    uint64_t active =
        (uint64_t)wp_device_get_info(device)->sm_count *
        occupancy_blocks(code, (uint32_t)threads_of(launch, code), launch->shared_dynamic_bytes);
    if (o.blocks != 0 && o.blocks < active) active = o.blocks;
    if (blocks < active) active = blocks;
    active = least(active, sets_with_files(launch, code));
    return (wpi_stream_shape){.block = launch->block,
                              .set_count_max = active != 0 ? (uint32_t)active : 1,
                              .device_bytes_max =
                                  o.device_bytes != 0 ? o.device_bytes : default_bytes(device),
                              .pinned_bytes_max = o.pinned_bytes,
                              .has_log = wpi_report_has_timeline(),
                              .has_fetched = o.fetches_addresses != 0,
                              .has_flags = o.with_flags != 0,
                              .host_threads = o.host_threads,
                              .looks_for_patterns = o.without_patterns == 0,
                              .is_original = o.variant != streamingFull,
                              .slots_max = o.slots};
}

/* What the two forms differ in when a launch is queued. */
typedef struct parts {
    char *words; /* of the device, that are 0 at the launch */
    uint64_t words_bytes;
    void *launch; /* of the device, the kernel's last argument */
    const void *launch_source;
    size_t launch_bytes;
    uint32_t *ends[2]; /* words that say that the launch is over */
    size_t end_counts[2];
    uint64_t *times, *device_times;
    size_t times_bytes;
} parts;

static bool has_writes(const wpi_stream_facts *facts) {
    uint32_t any = 0;
    for (int k = 0; k < WPI_STREAM_CLASSES; k++)
        any |= facts->write_need[k];
    return any != 0;
}

/* What the launch finds on the device; what it does not, is queued to be there. */
static wp_status find_kept(wpi_stream_context *x, wp_queue *queue, const wp_launch *launch,
                           const wpi_stream_code *code, wp_error *err) {
    x->kept = (wpi_kept_use){.pinned_bytes_max = options_now().pinned_bytes};
    for (uint32_t i = 0; i < code->param_count && i < WPI_STREAM_PARAMETERS; i++)
        if ((code->mask >> i & 1) != 0)
            WP_TRY(wpi_kept_data_use(queue, *(void *const *)launch->args[i],
                                     (code->facts.mapped_written >> i & 1) != 0, &x->kept, err));
    return WP_STATUS_OK;
}

static void note_kept(wpi_stream_context *x, uint32_t *count, wpi_stream_kept *ranges) {
    *count = x->kept.count;
    memcpy(ranges, x->kept.ranges, sizeof x->kept.ranges);
    x->report.kept_bytes = x->kept.bytes;
    x->report.kept_sent_bytes = x->kept.sent_bytes;
}

/* ---- a launch with address threads ---- */

/* Server i has the sides i, i + servers, … of all: of each set the one that gathers, and, if there
 * are twice as many, the one that stores. */
static wp_status start_servers(wpi_stream_context *x, uint32_t sides, wp_error *err) {
    const uint32_t sides_per_set = sides / x->set_count;
    wpi_stream_side **next = x->served;
    for (uint32_t i = 0; i < x->actor_count; i++) {
        wpi_stream_server *s = &x->servers[i];
        s->sides = next;
        for (uint32_t n = i; n < sides; n += x->actor_count)
            *next++ = (n % sides_per_set == 0 ? x->gather : x->store) + n / sides_per_set;
        s->count = (uint32_t)(next - s->sides);
        WP_TRY(wp_actor_start(x->device,
                              s->count != 1 ? "serving a streamed kernel"
                              : s->sides[0]->step == wpi_stream_gather_step
                                  ? "gathering for a streamed kernel"
                                  : "storing for a streamed kernel",
                              wpi_stream_server_step, s, &x->actors[i], err));
    }
    return WP_STATUS_OK;
}

static wp_status start_actors(wpi_stream_context *x, const wpi_stream_code *code,
                              const wpi_stream_shape *shape, wp_error *err) {
    const uint32_t sets = x->buffers.launch_source->set_count;
    const uint32_t sides = has_writes(&code->facts) ? 2 * sets : sets;
    const uint32_t servers =
        shape->host_threads != 0 && shape->host_threads < sides ? shape->host_threads : sides;
    x->gather = wpi_calloc(sets, sizeof *x->gather);
    x->store = wpi_calloc(sets, sizeof *x->store);
    x->served = wpi_calloc(sides, sizeof *x->served);
    x->servers = wpi_calloc(servers, sizeof *x->servers);
    x->actors = wpi_calloc(servers, sizeof *x->actors);
    if (x->gather == NULL || x->store == NULL || x->served == NULL || x->servers == NULL ||
        x->actors == NULL)
        return WP_FAIL(err, NOMEM, "a streamed launch");
    x->set_count = sets;
    x->actor_count = servers;
    for (uint32_t i = 0; i < sets; i++) {
        const wpi_stream_side side = {.buffers = &x->buffers,
                                      .kernel_name = code->display_name,
                                      .is_reported = &x->is_reported,
                                      .reads_own = code->facts.reads_own != 0,
                                      .down = x->down,
                                      .up = x->up,
                                      .sent = &x->sent,
                                      .set = i};
        x->gather[i] = x->store[i] = side;
        x->gather[i].step = wpi_stream_gather_step;
        x->store[i].step = wpi_stream_store_step;
        WP_TRY(wpi_stream_spans_init(&x->gather[i].spans, i, err));
        WP_TRY(wpi_stream_spans_init(&x->store[i].spans, i, err));
    }
    return start_servers(x, sides, err);
}

static wp_status plan_slices(const wpi_stream_code *code, const wpi_stream_shape *shape,
                             wpi_stream_layout *layout, streamingReport *report, wp_error *err) {
    wpi_stream_shape own = *shape;
    if (own.slots_max == 0) own.slots_max = SLOTS_DEFAULT;
    WP_TRY(wpi_stream_layout_make(&code->facts, &own, layout, err));
    *report = (streamingReport){.sets = layout->launch.set_count,
                                .slots = layout->slots,
                                .device_bytes = layout->device_bytes,
                                .pinned_bytes = layout->pinned_bytes};
    return WP_STATUS_OK;
}

static wp_status prepare_slices(wpi_stream_context *x, const wpi_stream_code *code,
                                const wpi_stream_shape *shape, parts *p, wp_error *err) {
    wpi_stream_layout layout;
    WP_TRY(plan_slices(code, shape, &layout, &x->report, err));
    WP_TRY(wpi_stream_memory_alloc(&x->memory, x->device, layout.pinned_bytes, layout.device_bytes,
                                   err));
    wpi_stream_buffers_place(&x->buffers, &x->memory, &layout);
    wpi_stream_buffers_words(&x->buffers, &x->memory, &p->words, &p->words_bytes);
    note_kept(x, &x->buffers.launch_source->kept_count, x->buffers.launch_source->kept);
    const wpi_stream_launch *l = x->buffers.launch_source;
    const size_t words = (size_t)l->set_count * WPI_STREAM_WORD;
    p->launch = x->buffers.launch;
    p->launch_source = l;
    p->launch_bytes = sizeof *l;
    p->ends[0] = l->asked;
    p->ends[1] = l->wrote;
    p->end_counts[0] = p->end_counts[1] = words;
    p->times = x->buffers.times;
    p->device_times = l->times;
    p->times_bytes = x->buffers.times_bytes;
    return start_actors(x, code, shape, err);
}

/* ---- a launch with windows ---- */

static wp_status start_services(wpi_stream_context *x, const wpi_stream_code *code, wp_error *err) {
    const uint32_t count = x->window_buffers.launch_source->group_count;
    x->services = wpi_calloc(count, sizeof *x->services);
    x->actors = wpi_calloc(count, sizeof *x->actors);
    if (x->services == NULL || x->actors == NULL) return WP_FAIL(err, NOMEM, "a streamed launch");
    x->service_count = x->actor_count = count;
    for (uint32_t i = 0; i < count; i++) {
        wpi_window_service *s = &x->services[i];
        s->kernel_name = code->display_name;
        s->is_reported = &x->is_reported;
        s->down = x->down;
        s->up = x->up;
        s->sent = &x->sent;
        WP_TRY(wpi_window_service_init(s, &x->window_buffers, i, err));
        WP_TRY(wp_actor_start(x->device, "filling windows of a streamed kernel",
                              wpi_window_service_step, s, &x->actors[i], err));
    }
    return WP_STATUS_OK;
}

static wp_status plan_windows(const wpi_stream_code *code, const wpi_stream_shape *shape,
                              wpi_window_layout *layout, streamingReport *report, wp_error *err) {
    WP_TRY(wpi_window_layout_make(&code->facts, shape, layout, err));
    *report = (streamingReport){.sets = layout->launch.set_count,
                                .slots = layout->launch.granules,
                                .device_bytes = layout->device_bytes,
                                .pinned_bytes = layout->pinned_bytes};
    return WP_STATUS_OK;
}

static wp_status prepare_windows(wpi_stream_context *x, const wpi_stream_code *code,
                                 const wpi_stream_shape *shape, parts *p, wp_error *err) {
    wpi_window_layout layout;
    WP_TRY(plan_windows(code, shape, &layout, &x->report, err));
    WP_TRY(wpi_stream_memory_alloc(&x->memory, x->device, layout.pinned_bytes, layout.device_bytes,
                                   err));
    wpi_window_buffers_place(&x->window_buffers, &x->memory, &layout);
    wpi_window_buffers_words(&x->window_buffers, &x->memory, &p->words, &p->words_bytes);
    wpi_window_buffers_rings(&x->window_buffers, &p->ends[0], &p->end_counts[0]);
    note_kept(x, &x->window_buffers.launch_source->kept_count,
              x->window_buffers.launch_source->kept);
    const wpi_window_launch *l = x->window_buffers.launch_source;
    p->launch = x->window_buffers.launch;
    p->launch_source = l;
    p->launch_bytes = sizeof *l;
    p->times = x->window_buffers.times;
    p->device_times = l->times;
    p->times_bytes = (size_t)l->set_count * WPI_STREAM_TIMES * sizeof *l->times;
    return start_services(x, code, err);
}

/* ---- both ---- */

static wp_status queue_begin(const parts *p, wp_queue *queue, wp_error *err) {
    WP_TRY(wp_queue_fill(queue, p->words, 0, sizeof(uint32_t), p->words_bytes / sizeof(uint32_t),
                         err));
    return wp_queue_copy(queue, p->launch, p->launch_source, p->launch_bytes, err);
}

static wp_status queue_end(wpi_stream_context *x, const parts *p, wp_queue *queue, wp_error *err) {
    for (int i = 0; i < 2; i++)
        if (p->ends[i] != NULL)
            WP_TRY(wp_queue_fill(queue, p->ends[i], WPI_STREAM_END, sizeof(uint32_t),
                                 p->end_counts[i], err));
    WP_TRY(wp_queue_copy(queue, p->times, p->device_times, p->times_bytes, err));
    WP_TRY(wp_queue_host_call(queue, wpi_stream_context_on_end, x, err));
    return wp_event_record(x->over, queue, err);
}

static wp_status queue_all(wpi_stream_context *x, wp_queue *queue, const wp_launch *launch,
                           const wpi_stream_code *code, parts *p, wp_error *err) {
    void *args[ARGUMENTS_MAX + 1];
    memcpy(args, launch->args, code->param_count * sizeof *args);
    args[code->param_count] = &p->launch;
    wp_launch streamed = *launch;
    streamed.kernel = code->kernel;
    if (code->facts.windows == 0)
        streamed.block = (wp_dim3){(uint32_t)threads_of(launch, code), 1, 1};
    streamed.args = args;
    WP_TRY(queue_begin(p, queue, err));
    WP_TRY(wp_event_record(x->began, queue, err));
    if (code->cached != NULL)
        WP_TRY(wpi_cache_launch_queue(code->cached, queue, &streamed, err));
    else
        WP_TRY(wp_queue_launch(queue, &streamed, err));
    WP_TRY(wp_event_record(x->ended, queue, err));
    return queue_end(x, p, queue, err);
}

/* What the launch is to note while it is under way, for its report. */
static void note_mapped(wpi_stream_context *x, const wp_launch *launch,
                        const wpi_stream_code *code) {
    for (uint32_t i = 0; i < code->param_count && i < WPI_STREAM_PARAMETERS; i++) {
        void *base;
        size_t size_bytes;
        if ((code->mask >> i & 1) != 0 && wpi_report_is_on() &&
            wpi_reservation_find(*(void *const *)launch->args[i], &base, &size_bytes, NULL))
            wpi_sent_bytes_add(&x->sent, base, size_bytes);
    }
}

static void describe_data(streamingReport *report, const wp_launch *launch,
                          const wpi_stream_code *code) {
    report->has_windows = code->facts.windows != 0;
    report->blocks = launch->grid.x * launch->grid.y * launch->grid.z;
    for (uint32_t i = 0; i < code->param_count && i < WPI_STREAM_PARAMETERS; i++) {
        uint64_t mapped_bytes = 0;
        if ((code->mask >> i & 1) != 0 &&
            wpi_reservation_find(*(void *const *)launch->args[i], NULL, NULL, &mapped_bytes)) {
            report->mapped_bytes += mapped_bytes;
            if (wpi_reservation_has_file(*(void *const *)launch->args[i]))
                report->host_bytes = wpi_file_blocks_bytes();
        }
    }
}

static void describe(wpi_stream_context *x, const wp_launch *launch, const wpi_stream_code *code) {
    wpi_free(x->name);
    x->name = wpi_strdup(code->name);
    const bool is_large = (code->mask & WPI_STREAM_ALL_DATA) != 0 && !wants_windows();
    (void)snprintf(x->windows, sizeof x->windows, "%s",
                   code->facts.windows == 0 ? ""
                   : is_large               ? "a block has no room for as many address threads"
                                            : code->facts.reason);
    describe_data(&x->report, launch, code);
}

/* The report of a launch that does nothing. */
static wp_status plan_launch(wp_device *device, const wp_launch *launch,
                             const wpi_stream_code *code, wp_error *err) {
    const wpi_stream_shape shape = shape_of(device, launch, code);
    streamingReport report;
    if (code->facts.windows != 0) {
        wpi_window_layout layout;
        WP_TRY(plan_windows(code, &shape, &layout, &report, err));
    } else {
        wpi_stream_layout layout;
        WP_TRY(plan_slices(code, &shape, &layout, &report, err));
    }
    describe_data(&report, launch, code);
    wpi_stream_put_report(&report);
    return WP_STATUS_OK;
}

wp_status wpi_stream_launch_queue(wp_queue *queue, const wp_launch *launch,
                                  const wpi_stream_code *code, wp_error *err) {
    wp_device *device = code->kernel->device;
    wpi_stream_context *x = NULL;
    parts p = {0};
    wp_status status;
    if (code->param_count > ARGUMENTS_MAX)
        return WP_FAIL(err, UNSUPPORTED, "kernel %s has more than %d parameters",
                       code->display_name, ARGUMENTS_MAX);
    WP_TRY(check_threads(device, launch, code, err));
    WP_TRY(check_aliases(device, code, launch->args, err));
    WP_TRY(check_overlap(code, launch->args, err));
    if (options_now().plan_only != 0) return plan_launch(device, launch, code, err);
    WP_TRY(wpi_stream_context_take(device, &x, err));
    wpi_stream_shape shape = shape_of(device, launch, code);
    note_mapped(x, launch, code);
    WP_TRY_GOTO(find_kept(x, queue, launch, code, err), failed);
    /* Address threads that fill slots need the computation to be done with them. */
    if (x->kept.count != 0) shape.has_flags = false;
    WP_TRY_GOTO(
        (code->facts.windows != 0 ? prepare_windows : prepare_slices)(x, code, &shape, &p, err),
        failed);
    describe(x, launch, code);
    if (x->name == NULL) {
        status = WP_FAIL(err, NOMEM, "a streamed launch");
        goto failed;
    }
    WP_TRY_GOTO(queue_all(x, queue, launch, code, &p, err), failed);
    wpi_stream_context_queued(x);
    return WP_STATUS_OK;
failed:
    wpi_stream_context_drop(x);
    return status;
}

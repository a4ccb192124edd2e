/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/stream_launch.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "device/device.h"
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

/* ---- the launch ---- */

/* Address threads, except with windows, and compute threads. */
static uint64_t threads_of(const wp_launch *launch, const wpi_stream_code *code) {
    const uint64_t threads = (uint64_t)launch->block.x * launch->block.y * launch->block.z;
    return (threads + 31) / 32 * 32 * (code->facts.windows != 0 ? 1 : 2);
}

static wp_status check_threads(wp_device *device, const wp_launch *launch,
                               const wpi_stream_code *code, wp_error *err) {
    const uint32_t most = wp_device_get_info(device)->threads_per_block_max;
    const uint64_t threads = threads_of(launch, code);
    if (threads <= most) return WP_STATUS_OK;
    if (code->facts.windows != 0)
        return WP_FAIL(err, LAUNCH, "kernel %s: blocks of %llu threads exceed the device's %u",
                       code->display_name, (unsigned long long)threads, most);
    return WP_FAIL(err, LAUNCH,
                   "kernel %s: a streamed launch has twice the threads; blocks of %llu threads "
                   "exceed the device's %u: launch blocks of at most %u",
                   code->display_name, (unsigned long long)(threads / 2), most, most / 2);
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
    const uint64_t blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    uint64_t active = (uint64_t)wp_device_get_info(device)->sm_count *
                      wp_kernel_occupancy_blocks(code->kernel, (uint32_t)threads_of(launch, code),
                                                 launch->shared_dynamic_bytes);
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

static wp_status start_actors(wpi_stream_context *x, const wpi_stream_code *code, wp_error *err) {
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
                                      .windows = code->facts.windows,
                                      .granule = code->facts.granule,
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

static wp_status queue_words(wpi_stream_context *x, wp_queue *queue, wp_error *err) {
    char *words;
    uint64_t words_bytes;
    wpi_stream_buffers_words(&x->buffers, &words, &words_bytes);
    WP_TRY(wp_queue_fill(queue, words, 0, sizeof(uint32_t), words_bytes / sizeof(uint32_t), err));
    return wp_queue_copy(queue, x->buffers.launch, x->buffers.launch_source,
                         sizeof *x->buffers.launch, err);
}

static wp_status queue_end(wpi_stream_context *x, wp_queue *queue, wp_error *err) {
    const wpi_stream_launch *l = x->buffers.launch_source;
    uint32_t *const words[] = {l->asked, l->wrote};
    const size_t count = (size_t)l->set_count * WPI_STREAM_WORD;
    for (int i = 0; i < 2; i++)
        WP_TRY(wp_queue_fill(queue, words[i], WPI_STREAM_END, sizeof(uint32_t), count, err));
    WP_TRY(wp_queue_copy(queue, x->buffers.times, l->times,
                         (size_t)l->set_count * 2 * WPI_STREAM_TIMES * sizeof *l->times, err));
    WP_TRY(wp_queue_host_call(queue, wpi_stream_context_on_end, x, err));
    return wp_event_record(x->over, queue, err);
}

static wp_status queue_all(wpi_stream_context *x, wp_queue *queue, const wp_launch *launch,
                           const wpi_stream_code *code, wp_error *err) {
    void *args[ARGUMENTS_MAX + 1];
    memcpy(args, launch->args, code->param_count * sizeof *args);
    args[code->param_count] = &x->buffers.launch;
    wp_launch streamed = *launch;
    streamed.kernel = code->kernel;
    streamed.block = (wp_dim3){(uint32_t)threads_of(launch, code), 1, 1};
    streamed.args = args;
    WP_TRY(queue_words(x, queue, err));
    WP_TRY(wp_event_record(x->began, queue, err));
    WP_TRY(wp_queue_launch(queue, &streamed, err));
    WP_TRY(wp_event_record(x->ended, queue, err));
    return queue_end(x, queue, err);
}

static void describe(wpi_stream_context *x, const wp_launch *launch, const wpi_stream_code *code,
                     const wpi_stream_layout *layout) {
    wp_free(x->name);
    x->name = wp_strdup(code->name);
    (void)snprintf(x->windows, sizeof x->windows, "%s",
                   code->facts.windows != 0 ? code->facts.reason : "");
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
    wpi_stream_context *x = NULL;
    wp_status status;
    if (code->param_count > ARGUMENTS_MAX)
        return WP_FAIL(err, UNSUPPORTED, "kernel %s has more than %d parameters",
                       code->display_name, ARGUMENTS_MAX);
    WP_TRY(check_threads(device, launch, code, err));
    WP_TRY(check_aliases(device, code, launch->args, err));
    WP_TRY(make_layout(device, launch, code, &layout, err));
    WP_TRY(wpi_stream_context_take(device, &x, err));
    WP_TRY_GOTO(wpi_stream_buffers_alloc(&x->buffers, device, &layout, err), failed);
    wpi_stream_buffers_place(&x->buffers, &layout);
    describe(x, launch, code, &layout);
    if (x->name == NULL) {
        status = WP_FAIL(err, NOMEM, "a streamed launch");
        goto failed;
    }
    WP_TRY_GOTO(start_actors(x, code, err), failed);
    WP_TRY_GOTO(queue_all(x, queue, launch, code, err), failed);
    wpi_stream_context_queued(x);
    return WP_STATUS_OK;
failed:
    wpi_stream_context_drop(x);
    return status;
}

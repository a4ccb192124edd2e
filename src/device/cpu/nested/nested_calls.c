/* SPDX-License-Identifier: Apache-2.0 */
/* What the threads of kernels call (base/abi.h): launches and other calls of the CUDA runtime. */
#include <string.h>

#include "base/alloc.h"
#include "device/cpu/nested/nest.h"

/* cudaError_t */
enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_CONFIGURATION = 9,
    DEPTH_EXCEEDED = 65,
    SYNC_DEPTH_EXCEEDED = 68,
    PENDING_COUNT_EXCEEDED = 69,
    INVALID_DEVICE_FUNCTION = 98,
    INVALID_HANDLE = 400,
    LAUNCH_OUT_OF_RESOURCES = 701,
    NOT_SUPPORTED = 801
};

/* cudaStream_t */
enum { STREAM_NULL = 0, STREAM_LEGACY, STREAM_PER_THREAD, STREAM_TAIL, STREAM_FIRE_AND_FORGET };

/* What identifies a stream in its nest: the kind in the high bits, then a number. */
#define KEY(kind) ((uint64_t)(kind) << 60)
enum { KEY_BLOCK = 1, KEY_THREAD, KEY_ALONE, KEY_NAMED, KEY_TAIL };
#define KEY_KIND(key) ((key) >> 60)

#define THREADS_MAX 1024u

static wpi_block *block_here(void) {
    return (wpi_block *)(void *)wp_rt_block;
}

void wpi_device_errors_clear(wpi_block *block) {
    memset(block->device_errors, 0, THREADS_MAX * sizeof *block->device_errors);
    block->has_device_errors = false;
}

/* The thread's last error becomes `error`. */
static int32_t fail(wpi_block *block, uint32_t thread, int32_t error) {
    if (block->device_errors == NULL)
        block->device_errors = wpi_calloc(THREADS_MAX, sizeof *block->device_errors);
    if (block->device_errors != NULL && thread < THREADS_MAX) {
        block->device_errors[thread] = (uint16_t)error;
        block->has_device_errors = true;
    }
    return error;
}

static int64_t get_error(wpi_block *block, uint32_t thread, bool forgets) {
    if (!block->has_device_errors || thread >= THREADS_MAX) return SUCCESS;
    const int64_t error = block->device_errors[thread];
    if (forgets) block->device_errors[thread] = SUCCESS;
    return error;
}

/* 0: there is no such stream. */
static uint64_t key_of(const wpi_block *block, uint64_t stream, uint32_t thread, uint64_t number) {
    switch (stream) {
    case STREAM_NULL:
    case STREAM_LEGACY: return KEY(KEY_BLOCK) | wpi_block_grid_number(block);
    case STREAM_PER_THREAD:
        return KEY(KEY_THREAD) | wpi_block_grid_number(block) * THREADS_MAX | thread;
    case STREAM_TAIL: return KEY(KEY_TAIL);
    case STREAM_FIRE_AND_FORGET: return KEY(KEY_ALONE) | number;
    default: return KEY_KIND(stream) == KEY_NAMED ? stream : 0;
    }
}

/* Adds the command, or frees it. */
static int32_t add(wpi_block *block, wpi_command *command, uint64_t stream, uint32_t thread) {
    wpi_launch *launch = block->launch;
    wpi_cpu_device *device = launch->device;
    int32_t error = SUCCESS;
    pthread_mutex_lock(device->lock);
    wpi_nest *nest = wpi_nest_of(block);
    const uint64_t number = nest != NULL ? nest->queued + 1 : 0;
    const uint64_t key = key_of(block, stream, thread, number);
    if (nest == NULL) {
        error = OUT_OF_MEMORY;
    } else if (key == 0) {
        error = INVALID_HANDLE;
    } else if (atomic_load(&launch->nest_waiting) >= atomic_load(&device->nest_waiting_max)) {
        error = PENDING_COUNT_EXCEEDED;
    } else {
        command->number = nest->queued = number;
        command->stream = key;
        command->block = wpi_block_grid_number(block);
        if (!wpi_nest_add(nest, command, KEY_KIND(key) == KEY_TAIL))
            error = OUT_OF_MEMORY;
        else if (device->executor != NULL)
            device->executor->nested(device->executor);
    }
    pthread_mutex_unlock(device->lock);
    if (error == SUCCESS) return SUCCESS;
    wpi_command_free(command);
    return fail(block, thread, error);
}

/* ---- launches ---- */

static int32_t check_shape(const wpi_cpu_kernel *kernel, const uint32_t shape[6]) {
    const uint32_t *g = shape, *b = shape + 3;
    const uint64_t threads = (uint64_t)b[0] * b[1] * (b[2] <= 64 ? b[2] : 0);
    const bool is_grid = g[0] != 0 && g[1] != 0 && g[2] != 0 && g[0] <= INT32_MAX &&
                         g[1] <= UINT16_MAX && g[2] <= UINT16_MAX;
    if (!is_grid || threads == 0 || b[0] > THREADS_MAX || b[1] > THREADS_MAX ||
        threads > THREADS_MAX)
        return INVALID_CONFIGURATION;
    const uint32_t threads_max = kernel->base.info.threads_per_block_max;
    return threads_max != 0 && threads > threads_max ? LAUNCH_OUT_OF_RESOURCES : SUCCESS;
}

int32_t wp_rt_launch(const void *id, const uint32_t shape[6], uint64_t shared_bytes,
                     uint64_t stream, void *const *args, uint32_t thread) {
    wpi_block *block = block_here();
    wpi_launch *launch = block->launch;
    const wpi_cpu_kernel *kernel = wpi_cpu_kernel_beside(launch->kernel, (uintptr_t)id);
    if (kernel == NULL) return fail(block, thread, INVALID_DEVICE_FUNCTION);
    const int32_t error = check_shape(kernel, shape);
    if (error != SUCCESS) return fail(block, thread, error);
    if (launch->depth >= WPI_NEST_DEPTH_MAX) return fail(block, thread, DEPTH_EXCEEDED);
    if (shared_bytes > UINT32_MAX) return fail(block, thread, INVALID_VALUE);
    wpi_cpu_kernel *found = (wpi_cpu_kernel *)(uintptr_t)kernel;
    const wp_launch from = {.kernel = &found->base,
                            .grid = {shape[0], shape[1], shape[2]},
                            .block = {shape[3], shape[4], shape[5]},
                            .shared_dynamic_bytes = (uint32_t)shared_bytes,
                            .args = (void **)(uintptr_t)args};
    wpi_command *command;
    const wp_status status = wpi_launch_command(&from, &command, NULL);
    if (status != WP_STATUS_OK)
        return fail(block, thread, status == WP_STATUS_NOMEM ? OUT_OF_MEMORY : INVALID_VALUE);
    command->u.launch.depth = launch->depth + 1;
    command->u.launch.queue = launch->queue;
    return add(block, command, stream, thread);
}

/* ---- copies and fills ---- */

static int32_t copy(wpi_block *block, uint64_t to, uint64_t from, uint64_t bytes, uint64_t stream,
                    uint32_t thread) {
    if (bytes == 0) return SUCCESS;
    if (to == 0 || from == 0) return fail(block, thread, INVALID_VALUE);
    wpi_command *command = wpi_command_create(WPI_COMMAND_COPY, 0);
    if (command == NULL) return fail(block, thread, OUT_OF_MEMORY);
    command->u.copy.dst = (void *)(uintptr_t)to;
    command->u.copy.src = (const void *)(uintptr_t)from;
    command->u.copy.width_bytes = command->u.copy.dst_pitch_bytes =
        command->u.copy.src_pitch_bytes = bytes;
    command->u.copy.height = 1;
    return add(block, command, stream, thread);
}

static int32_t fill(wpi_block *block, uint64_t to, uint64_t value, uint64_t bytes, uint64_t stream,
                    uint32_t thread) {
    if (bytes == 0) return SUCCESS;
    if (to == 0) return fail(block, thread, INVALID_VALUE);
    wpi_command *command = wpi_command_create(WPI_COMMAND_FILL, 0);
    if (command == NULL) return fail(block, thread, OUT_OF_MEMORY);
    command->u.fill.dst = (void *)(uintptr_t)to;
    command->u.fill.value = (uint8_t)value;
    command->u.fill.value_bytes = 1;
    command->u.fill.count = bytes;
    return add(block, command, stream, thread);
}

/* ---- waiting, streams, events ---- */

static int64_t begin_sync(wpi_block *block, uint32_t thread) {
    wpi_launch *launch = block->launch;
    wpi_cpu_device *device = launch->device;
    if (launch->depth >= atomic_load(&device->nest_sync_depth))
        return -fail(block, thread, SYNC_DEPTH_EXCEEDED);
    pthread_mutex_lock(device->lock);
    const bool has_work = launch->nest != NULL;
    const int64_t number = has_work ? (int64_t)launch->nest->queued : 0;
    const bool is_good = !has_work || wpi_nest_start_thread(launch->nest);
    pthread_mutex_unlock(device->lock);
    return is_good ? number : -fail(block, thread, OUT_OF_MEMORY);
}

/* Notes that the thread waits, and for what, so that its block need not look again and again. */
static void note_waiting(wpi_block *block, uint64_t number, uint32_t thread) {
    if (number < block->awaited_least) block->awaited_least = number;
    block->awaiting_count++;
    if (block->is_mixed)
        block->warps[thread / WP_WARP_LANES].awaits_nested |= 1u << thread % WP_WARP_LANES;
}

/* Under an executor the thread is held meanwhile: others of its block go on. */
static bool wait_held(wpi_block *block, uint64_t number) {
    wpi_cpu_device *device = block->launch->device;
    for (;;) {
        pthread_mutex_lock(device->lock);
        const bool waits = wpi_nest_await(block, number);
        pthread_mutex_unlock(device->lock);
        if (!waits) return true;
        (void)wpi_fiber_hold(WPI_HELD_FOR_NESTED, number);
    }
}

static bool has_synced(wpi_block *block, uint64_t number, uint32_t thread) {
    const wpi_launch *launch = block->launch;
    if (launch->device->executor != NULL) return wait_held(block, number);
    pthread_mutex_lock(launch->device->lock);
    const bool is_done = launch->nest == NULL ||
                         wpi_nest_has_done(launch->nest, wpi_block_grid_number(block), number);
    pthread_mutex_unlock(launch->device->lock);
    if (!is_done) note_waiting(block, number, thread);
    return is_done;
}

static int64_t make_name(wpi_block *block) {
    wpi_cpu_device *device = block->launch->device;
    pthread_mutex_lock(device->lock);
    const uint64_t number = ++device->nested_names;
    pthread_mutex_unlock(device->lock);
    return (int64_t)(KEY(KEY_NAMED) | number);
}

static bool grow(void **items, uint32_t count, size_t item_bytes) {
    if ((count & (count - 1)) != 0) return true; /* the capacity is a power of two */
    void *grown = wpi_realloc(*items, (count == 0 ? 1 : 2 * (size_t)count) * item_bytes);
    if (grown != NULL) *items = grown;
    return grown != NULL;
}

static int32_t record(wpi_nest *nest, uint64_t event, uint64_t stream) {
    const wpi_nest_event made = {event, stream, nest->queued};
    for (uint32_t i = 0; i < nest->event_count; i++) {
        if (nest->events[i].event != event) continue;
        nest->events[i] = made;
        return SUCCESS;
    }
    if (!grow((void **)&nest->events, nest->event_count, sizeof made)) return OUT_OF_MEMORY;
    nest->events[nest->event_count++] = made;
    return SUCCESS;
}

static int32_t wait_event(wpi_nest *nest, uint64_t event, uint64_t stream) {
    for (uint32_t i = 0; i < nest->event_count; i++) {
        const wpi_nest_event *e = &nest->events[i];
        if (e->event != event) continue;
        if (!grow((void **)&nest->waits, nest->wait_count, sizeof *nest->waits))
            return OUT_OF_MEMORY;
        nest->waits[nest->wait_count++] =
            (wpi_nest_wait){stream, nest->queued + 1, e->stream, e->number};
        return SUCCESS;
    }
    return SUCCESS; /* not recorded: there is nothing to wait for */
}

static int32_t use_event(wpi_block *block, uint32_t call, uint64_t event, uint64_t stream,
                         uint32_t thread) {
    wpi_cpu_device *device = block->launch->device;
    int32_t error;
    pthread_mutex_lock(device->lock);
    wpi_nest *nest = wpi_nest_of(block);
    const uint64_t key = key_of(block, stream, thread, 0);
    if (nest == NULL)
        error = OUT_OF_MEMORY;
    else if (KEY_KIND(event) != KEY_NAMED || key == 0 || KEY_KIND(key) > KEY_NAMED)
        error = INVALID_HANDLE;
    else
        error = call == WP_DEVICE_RECORD ? record(nest, event, key) : wait_event(nest, event, key);
    pthread_mutex_unlock(device->lock);
    return error == SUCCESS ? SUCCESS : fail(block, thread, error);
}

/* ---- attributes ---- */

/* cudaDeviceAttr */
enum {
    MAX_THREADS_PER_BLOCK = 1,
    MAX_BLOCK_X,
    MAX_BLOCK_Y,
    MAX_BLOCK_Z,
    MAX_GRID_X,
    MAX_GRID_Y,
    MAX_GRID_Z,
    MAX_SHARED_PER_BLOCK,
    TOTAL_CONSTANT,
    WARP_SIZE,
    SM_COUNT = 16,
    CAPABILITY_MAJOR = 75,
    CAPABILITY_MINOR = 76
};

static int64_t attribute(wpi_block *block, uint64_t which, uint32_t thread) {
    wpi_cpu_device *device = block->launch->device;
    const wp_device_info *info = &device->base.info;
    int value;
    switch (which) {
    case MAX_THREADS_PER_BLOCK:
    case MAX_BLOCK_X:
    case MAX_BLOCK_Y: return THREADS_MAX;
    case MAX_BLOCK_Z: return 64;
    case MAX_GRID_X: return INT32_MAX;
    case MAX_GRID_Y:
    case MAX_GRID_Z: return UINT16_MAX;
    case MAX_SHARED_PER_BLOCK: return WPI_SHARED_BYTES_DEFAULT;
    case TOTAL_CONSTANT: return 65536;
    case WARP_SIZE: return WP_WARP_LANES;
    case SM_COUNT: return info->sm_count;
    case CAPABILITY_MAJOR: return info->compute_major;
    case CAPABILITY_MINOR: return info->compute_minor;
    default: break;
    }
    if (device->base.ops->attribute != NULL &&
        device->base.ops->attribute(&device->base, (int)which, &value, NULL) == WP_STATUS_OK)
        return value;
    return -fail(block, thread, NOT_SUPPORTED);
}

int64_t wp_rt_device_call(uint32_t call, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                          uint32_t thread) {
    wpi_block *block = block_here();
    switch (call) {
    case WP_DEVICE_ERROR_GET: return get_error(block, thread, a != 0);
    case WP_DEVICE_ERROR_SET: return fail(block, thread, (int32_t)a);
    case WP_DEVICE_COPY: return copy(block, a, b, c, d, thread);
    case WP_DEVICE_FILL: return fill(block, a, b, c, d, thread);
    case WP_DEVICE_NAME: return make_name(block);
    case WP_DEVICE_SYNC_BEGIN: return begin_sync(block, thread);
    case WP_DEVICE_SYNC_IS_DONE: return has_synced(block, a, thread);
    case WP_DEVICE_RECORD:
    case WP_DEVICE_WAIT_EVENT: return use_event(block, call, a, d, thread);
    case WP_DEVICE_ATTRIBUTE: return attribute(block, a, thread);
    case WP_DEVICE_NUMBER: return block->launch->device->base.number;
    default: return fail(block, thread, INVALID_VALUE);
    }
}

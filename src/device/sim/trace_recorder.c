/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim/trace_recorder.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/param.h"
#include "device/sim/in_step.h"
#include "device/sim/symbol.h"
#include "device/sim/variables.h"
#include "report/recorder.h"
#include "warpage/version.h"

const wpi_param wpi_trace_params[] = {
    {"trace", WP_UNIT_TEXT, "", 0, 0,
     "write a trace of the kernels on a simulated GPU to this file"},
    {"trace-functional", WP_UNIT_FLAG, "0", 0, 1, "do not simulate time while a trace is recorded"},
    {0}};

#define HANDLES_FIRST 16u

/* Numbers of queues and events. A program has few at a time, so they are found by walking a
 * list. */
typedef struct handle {
    const void *pointer;
    uint64_t number;
} handle;

typedef struct handles {
    handle *items;
    size_t count, capacity;
    uint64_t next; /* number */
} handles;

struct wpi_recorder {
    wpi_sim_device *device;
    wpi_trace_writer *writer;
    char *path;
    bool is_functional;
    pid_t owner;
    pthread_mutex_t lock;        /* protects the members below */
    pthread_mutex_t launch_lock; /* keeps launch numbers in the order of their commands */
    handles queues, events;
    bool is_host_seen; /* … and the trace says so */
    uint32_t asked;    /* device properties already written */
    uint64_t launched;
    _Atomic uint64_t recorded;
    const wpi_device_ops *inner; /* the device's own table: calls are passed on to it */
    wpi_device_ops ops;          /* the one that wraps it */
    wpi_event_ops event_ops;
    wpi_host_ops host_ops;
    uint64_t *named; /* [named_count]: tables << 32 | kernel whose name is written */
    size_t named_count;
};

static wpi_recorder *active;

static void write_op(wpi_op_kind kind, uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t fields[] = {a, b, c};
    wpi_trace_writer_op(active->writer, kind, fields, NULL);
}

/* ---- numbers of queues and events ----------------------------------------------------------- */

static uint64_t add_handle(handles *list, const void *pointer) {
    pthread_mutex_lock(&active->lock);
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity != 0 ? 2 * list->capacity : HANDLES_FIRST;
        handle *items = wpi_realloc(list->items, capacity * sizeof *items);
        WP_CHECK(items != NULL);
        list->items = items;
        list->capacity = capacity;
    }
    const uint64_t number = list->next++;
    list->items[list->count++] = (handle){pointer, number};
    pthread_mutex_unlock(&active->lock);
    return number;
}

/* Searches the last one first, which is used most often. */
static uint64_t find_handle(handles *list, const void *pointer, bool is_gone) {
    uint64_t number = 0;
    pthread_mutex_lock(&active->lock);
    for (size_t i = list->count; i-- != 0;) {
        if (list->items[i].pointer != pointer) continue;
        number = list->items[i].number;
        if (is_gone) list->items[i] = list->items[--list->count];
        break;
    }
    pthread_mutex_unlock(&active->lock);
    return number;
}

static uint64_t queue_number(const wp_queue *queue) {
    return find_handle(&active->queues, queue, false);
}

static uint64_t event_number(const wp_event *event) {
    return find_handle(&active->events, event, false);
}

/* ---- queues --------------------------------------------------------------------------------- */

static wp_status queue_create(wp_device *device, bool is_blocking, int priority, wp_queue **out,
                              wp_error *err) {
    WP_TRY(active->inner->queue->create(device, is_blocking, priority, out, err));
    write_op(WPI_OP_QUEUE_CREATE, add_handle(&active->queues, *out), is_blocking, 0);
    return WP_STATUS_OK;
}

static void queue_destroy(wp_queue *queue) {
    write_op(WPI_OP_QUEUE_DESTROY, find_handle(&active->queues, queue, true), 0, 0);
    active->inner->queue->destroy(queue);
}

/* Written when the wait is over, after commands that other host threads queued meanwhile. */
static wp_status queue_wait(wp_queue *queue, wp_error *err) {
    WP_TRY(active->inner->queue->wait(queue, err));
    write_op(WPI_OP_QUEUE_WAIT, queue_number(queue), 0, 0);
    return WP_STATUS_OK;
}

static bool queue_is_idle(wp_queue *queue) {
    const bool is_idle = active->inner->queue->is_idle(queue);
    write_op(WPI_OP_QUEUE_POLL, queue_number(queue), is_idle, 0);
    return is_idle;
}

static wp_status queue_copy(wp_queue *queue, void *dst, size_t dst_pitch_bytes, const void *src,
                            size_t src_pitch_bytes, size_t width_bytes, size_t height,
                            wp_error *err) {
    const wp_copy_kind kind = wpi_copy_kind(dst, src);
    WP_TRY(active->inner->queue->copy(queue, dst, dst_pitch_bytes, src, src_pitch_bytes,
                                      width_bytes, height, err));
    const uint64_t fields[] = {queue_number(queue), kind, (uint64_t)width_bytes * height,
                               wpi_variables_find((uintptr_t)dst),
                               wpi_variables_find((uintptr_t)src)};
    wpi_trace_writer_op(active->writer, WPI_OP_COPY, fields, NULL);
    return WP_STATUS_OK;
}

static wp_status queue_fill(wp_queue *queue, void *dst, uint32_t value, uint32_t value_bytes,
                            size_t count, wp_error *err) {
    WP_TRY(active->inner->queue->fill(queue, dst, value, value_bytes, count, err));
    write_op(WPI_OP_FILL, queue_number(queue), (uint64_t)value_bytes * count,
             wpi_variables_find((uintptr_t)dst));
    return WP_STATUS_OK;
}

/* The device numbers launches as they are queued, from 1. */
static wp_status queue_launch(wp_queue *queue, const wp_launch *launch, wp_error *err) {
    pthread_mutex_lock(&active->launch_lock);
    const wp_status status = active->inner->queue->launch(queue, launch, err);
    if (status == WP_STATUS_OK) write_op(WPI_OP_LAUNCH, queue_number(queue), active->launched++, 0);
    pthread_mutex_unlock(&active->launch_lock);
    return status;
}

static wp_status queue_host_call(wp_queue *queue, void (*call)(void *), void *arg, wp_error *err) {
    WP_TRY(active->inner->queue->host_call(queue, call, arg, err));
    write_op(WPI_OP_HOST_CALL, queue_number(queue), 0, 0);
    return WP_STATUS_OK;
}

static wp_status queue_wait_event(wp_queue *queue, wp_event *event, wp_error *err) {
    WP_TRY(active->inner->queue->wait_event(queue, event, err));
    write_op(WPI_OP_QUEUE_AFTER, queue_number(queue), event_number(event), 0);
    return WP_STATUS_OK;
}

static wp_status queue_prefetch(wp_queue *queue, const void *address, size_t size_bytes,
                                bool to_device, wp_error *err) {
    WP_TRY(active->inner->queue->prefetch(queue, address, size_bytes, to_device, err));
    const uint64_t fields[] = {queue_number(queue), wpi_variables_find((uintptr_t)address),
                               size_bytes, to_device};
    wpi_trace_writer_op(active->writer, WPI_OP_PREFETCH, fields, NULL);
    return WP_STATUS_OK;
}

/* ---- host work ------------------------------------------------------------------------------- */

static void write_host_work(uint64_t target, const wp_host_work *work) {
    const uint64_t fields[] = {target, work->read_bytes, work->written_bytes,
                               (uint64_t)work->pattern + UINT64_C(2) * work->access_bytes,
                               work->threads};
    wpi_trace_writer_op(active->writer, WPI_OP_HOST_WORK, fields, NULL);
}

/* A replay calls no host functions and no actors, so their work has no place in a trace. */
static wp_status host_work(wp_device *device, const wp_host_work *work, wp_error *err) {
    const bool is_thread = !wpi_sim_executor_calls_host(active->device->executor);
    WP_TRY(active->inner->host->work(device, work, err));
    if (is_thread)
        write_host_work(0, work);
    else
        wpi_log(WP_LOG_WARN, "device.sim",
                "host work of host functions and actors is not recorded: a replay takes less time");
    return WP_STATUS_OK;
}

static wp_status queue_host_work(wp_queue *queue, const wp_host_work *work, wp_error *err) {
    WP_TRY(active->inner->host->queue_work(queue, work, err));
    write_host_work(queue_number(queue) + 1, work);
    return WP_STATUS_OK;
}

static const wpi_queue_ops recording_queue_ops = {
    .create = queue_create,
    .destroy = queue_destroy,
    .wait = queue_wait,
    .is_idle = queue_is_idle,
    .copy = queue_copy,
    .fill = queue_fill,
    .launch = queue_launch,
    .host_call = queue_host_call,
    .wait_event = queue_wait_event,
    .prefetch = queue_prefetch,
};

/* ---- events --------------------------------------------------------------------------------- */

static wp_status event_create(wp_device *device, uint32_t flags, wp_event **out, wp_error *err) {
    WP_TRY(active->inner->event->create(device, flags, out, err));
    write_op(WPI_OP_EVENT_CREATE, add_handle(&active->events, *out), 0, 0);
    return WP_STATUS_OK;
}

static void event_destroy(wp_event *event) {
    write_op(WPI_OP_EVENT_DESTROY, find_handle(&active->events, event, true), 0, 0);
    active->inner->event->destroy(event);
}

static wp_status event_record(wp_event *event, wp_queue *queue, wp_error *err) {
    WP_TRY(active->inner->event->record(event, queue, err));
    write_op(WPI_OP_EVENT_RECORD, event_number(event), queue_number(queue), 0);
    return WP_STATUS_OK;
}

static wp_status event_wait(wp_event *event, wp_error *err) {
    WP_TRY(active->inner->event->wait(event, err));
    write_op(WPI_OP_EVENT_WAIT, event_number(event), 0, 0);
    return WP_STATUS_OK;
}

static bool event_is_complete(const wp_event *event) {
    const bool is_complete = active->inner->event->is_complete(event);
    write_op(WPI_OP_EVENT_POLL, event_number(event), is_complete, 0);
    return is_complete;
}

/* ---- the device ----------------------------------------------------------------------------- */

static wp_status device_wait(wp_device *device, wp_error *err) {
    WP_TRY(active->inner->wait(device, err));
    write_op(WPI_OP_DEVICE_WAIT, 0, 0, 0);
    return WP_STATUS_OK;
}

/* Writes an allocation with its site, as in reports. */
static void note_allocation(wp_memory_kind kind, uint64_t bytes, const void *base) {
    wpi_memory_entry entry = {0};
    const uint64_t fields[] = {kind, bytes, (uintptr_t)base};
    const bool is_known = wpi_memory_map_find(wpi_memory_map_global(), base, &entry);
    char *site = is_known && entry.caller != NULL ? wpi_symbol_describe(entry.caller) : NULL;
    wpi_trace_writer_op(active->writer, WPI_OP_ALLOC, fields, site);
    wpi_free(site);
}

/* Writes, once, before the first memory that the host may touch, that the trace has the host's
 * touches. Traces lack it if the system does not report touches, and so do older traces. */
static void note_host_seen(void) {
    pthread_mutex_lock(&active->lock);
    const bool is_new =
        !active->is_host_seen && wpi_sim_executor_sees_host(active->device->executor);
    active->is_host_seen = active->is_host_seen || is_new;
    pthread_mutex_unlock(&active->lock);
    if (is_new) wpi_trace_writer_op(active->writer, WPI_OP_HOST_SEEN, NULL, NULL);
}

/* Writes the pages of managed variables, by their places. */
static void note_variables(void) {
    wpi_managed_range run;
    for (size_t i = 0; wpi_variables_at(i, &run); i++) {
        note_host_seen();
        write_op(WPI_OP_VARIABLE, run.address, run.bytes, 0);
    }
}

static wp_status device_reset(wp_device *device, wp_error *err) {
    WP_TRY(active->inner->reset(device, err));
    write_op(WPI_OP_RESET, 0, 0, 0);
    note_variables();
    return WP_STATUS_OK;
}

static wp_status memory_alloc(wp_device *device, wp_memory_kind kind, size_t size_bytes,
                              uint32_t flags, void **out, wp_error *err) {
    WP_TRY(active->inner->memory_alloc(device, kind, size_bytes, flags, out, err));
    if (kind == WP_MEMORY_MANAGED) note_host_seen();
    note_allocation(kind, size_bytes, *out);
    return WP_STATUS_OK;
}

/* As device.c does for devices without this operation. */
static wp_status memory_register(wp_device *device, const wp_allocation *allocation,
                                 wp_error *err) {
    const wpi_memory_entry entry = {.allocation = *allocation, .device = device};
    WP_TRY(wpi_memory_map_add(wpi_memory_map_global(), &entry, err));
    note_allocation(allocation->kind, allocation->size_bytes, allocation->base);
    return WP_STATUS_OK;
}

static wp_status memory_unregister(wp_device *device, const wp_allocation *allocation,
                                   wp_error *err) {
    (void)device;
    (void)err;
    write_op(WPI_OP_FREE, allocation->kind, allocation->size_bytes, (uintptr_t)allocation->base);
    (void)wpi_memory_map_remove(wpi_memory_map_global(), allocation->base, NULL);
    return WP_STATUS_OK;
}

static void memory_advise(wp_device *device, const void *address, size_t size_bytes,
                          const wpi_advice *advice) {
    active->inner->memory_advise(device, address, size_bytes, advice);
    const uint64_t said = (advice->is_read_mostly ? WPI_ADVICE_READ_MOSTLY : 0) |
                          (advice->prefers_host ? WPI_ADVICE_PREFERS_HOST : 0) |
                          (advice->is_accessed_by_device ? WPI_ADVICE_ACCESSED_BY : 0) |
                          (advice->prefers_device ? WPI_ADVICE_PREFERS_DEVICE : 0);
    write_op(WPI_OP_ADVICE, wpi_variables_find((uintptr_t)address), size_bytes, said);
}

static wp_status memory_free(wp_device *device, const wp_allocation *allocation, wp_error *err) {
    const wp_allocation freed = *allocation;
    WP_TRY(active->inner->memory_free(device, allocation, err));
    write_op(WPI_OP_FREE, freed.kind, freed.size_bytes, (uintptr_t)freed.base);
    return WP_STATUS_OK;
}

/* Writes each queried property once: its value does not change. */
static void note_query(wp_device *device, const char *call, uint32_t fields) {
    (void)device;
    pthread_mutex_lock(&active->lock);
    const uint64_t news = fields & ~active->asked;
    active->asked |= fields;
    pthread_mutex_unlock(&active->lock);
    if (news != 0) wpi_trace_writer_op(active->writer, WPI_OP_QUERY, &news, call);
}

static void note_occupancy(wp_device *device, const wp_kernel *kernel, uint32_t block_threads,
                           uint32_t shared_dynamic_bytes, uint32_t blocks) {
    const uint64_t fields[] = {block_threads, shared_dynamic_bytes,
                               kernel->info.shared_static_bytes, kernel->info.register_count,
                               blocks};
    (void)device;
    wpi_trace_writer_op(active->writer, WPI_OP_OCCUPANCY, fields, kernel->info.name);
}

/* Installs the recorder's own tables in this device only. */
static void replace_ops(wpi_recorder *r) {
    r->inner = r->device->cpu.base.ops;
    r->event_ops = *r->inner->event;
    r->event_ops.create = event_create;
    r->event_ops.destroy = event_destroy;
    r->event_ops.record = event_record;
    r->event_ops.wait = event_wait;
    r->event_ops.is_complete = event_is_complete;
    r->ops = *r->inner;
    r->ops.queue = &recording_queue_ops;
    r->host_ops = *r->inner->host;
    r->host_ops.work = host_work;
    r->host_ops.queue_work = queue_host_work;
    r->ops.host = &r->host_ops;
    r->ops.event = &r->event_ops;
    r->ops.wait = device_wait;
    r->ops.reset = device_reset;
    r->ops.memory_alloc = memory_alloc;
    r->ops.memory_free = memory_free;
    r->ops.memory_advise = memory_advise;
    r->ops.memory_register = memory_register;
    r->ops.memory_unregister = memory_unregister;
    r->ops.note_query = note_query;
    r->ops.note_occupancy = note_occupancy;
    r->device->cpu.base.ops = &r->ops;
}

void wpi_recorder_host_touched(wpi_recorder *r, uint64_t chunk, const wpi_pages *pages) {
    if (r == NULL) return;
    for (uint32_t first = wpi_pages_next(pages, 0); first < WPI_CHUNK_PAGES;) {
        const uint32_t outer = wpi_pages_run_end(pages, first);
        const uint64_t fields[] = {chunk + (uint64_t)first * WPI_PAGE_BYTES,
                                   (uint64_t)(outer - first) * WPI_PAGE_BYTES};
        wpi_trace_writer_op(r->writer, WPI_OP_HOST_TOUCH, fields, NULL);
        first = wpi_pages_next(pages, outer);
    }
}

/* ---- launches ------------------------------------------------------------------------------- */

static uint32_t find_kernel(const wp_trace_tables *tables, const char *name) {
    uint32_t k = 0;
    while (k < tables->kernel_count && strcmp(tables->kernels[k].name, name) != 0)
        k++;
    WP_CHECK(k < tables->kernel_count);
    return k;
}

/* Writes a kernel's demangled name, which needs the program's C++ runtime. */
static void note_name(wpi_recorder *r, uint32_t tables, uint32_t kernel, const char *name) {
    const uint64_t key = (uint64_t)tables << 32 | kernel;
    for (size_t i = 0; i < r->named_count; i++) {
        if (r->named[i] == key) return;
    }
    uint64_t *named = wpi_realloc(r->named, (r->named_count + 1) * sizeof *named);
    if (named == NULL) return;
    r->named = named;
    named[r->named_count++] = key;
    char *display = wpi_report_display_name(name);
    const uint64_t fields[] = {tables, kernel};
    if (display != NULL) wpi_trace_writer_op(r->writer, WPI_OP_KERNEL_NAME, fields, display);
    wpi_free(display);
}

wp_status wpi_recorder_launch(wpi_recorder *r, const wpi_launch *launch, wpi_warp_source *source,
                              wpi_tee **out, wp_error *err) {
    const uint32_t tables = wpi_trace_writer_tables(r->writer, source->tables);
    const uint32_t kernel = find_kernel(source->tables, launch->kernel->code->name);
    const bool is_in_step =
        source->is_in_step || wpi_in_step_is_needed(&source->tables->kernels[kernel]);
    const wpi_trace_launch written = {
        .tables = tables,
        .kernel = kernel,
        .flags = (launch->is_cooperative ? WPI_LAUNCH_COOPERATIVE : 0) |
                 (is_in_step ? WPI_LAUNCH_IN_STEP : 0) |
                 (launch->prefers_l1 ? WPI_LAUNCH_PREFERS_L1 : 0) |
                 (uint32_t)launch->shared_carveout << WPI_LAUNCH_CARVEOUT_SHIFT,
        .grid = {launch->grid.x, launch->grid.y, launch->grid.z},
        .block = {launch->block.x, launch->block.y, launch->block.z},
        .shared_static_bytes = launch->kernel->code->shared_static_bytes,
        .shared_dynamic_bytes = launch->shared_dynamic_bytes,
        .registers = source->registers_per_thread,
    };
    *out = NULL;
    if (launch->is_explicit_cluster)
        return WP_FAIL(err, UNSUPPORTED, "kernel %s: traces have no thread-block clusters",
                       launch->kernel->display_name);
    note_name(r, tables, kernel, launch->kernel->code->name);
    if (!is_in_step) return wpi_tee_create(r->writer, launch->id - 1, &written, source, out, err);
    wpi_trace_writer_launch(r->writer, launch->id - 1, &written);
    atomic_fetch_add(&r->recorded, 1);
    return WP_STATUS_OK;
}

void wpi_recorder_launch_ended(wpi_recorder *r, wpi_tee *tee) {
    if (tee == NULL) return;
    wpi_tee_finish(tee);
    atomic_fetch_add(&r->recorded, 1);
}

bool wpi_recorder_is_functional(const wpi_recorder *r) {
    return r != NULL && r->is_functional;
}

/* ---- beginning and end ---------------------------------------------------------------------- */

/* Reads the command line from the system, as a library does not get argv. */
static void read_program(wpi_strings *program) {
    char *data = NULL;
    size_t bytes = 0;
    if (wpi_file_read("/proc/self/cmdline", &data, &bytes, NULL) != WP_STATUS_OK) return;
    for (size_t at = 0; at < bytes; at += strlen(data + at) + 1)
        wpi_strings_add(program, data + at);
    wpi_free(data);
}

static wp_status write_trace(wpi_recorder *r, wp_error *err) {
    wp_error failure = {0};
    wpi_sim_executor_ask_host(r->device->executor);
    if (wp_device_sticky_error(&r->device->cpu.base, &failure) != WP_STATUS_OK) {
        wpi_trace_writer_abandon(r->writer);
        return WP_FAIL(err, DEVICE, "the device failed: %.400s", failure.message);
    }
    if (atomic_load(&r->recorded) != r->launched) {
        wpi_trace_writer_abandon(r->writer);
        return WP_FAIL(err, NOT_READY,
                       "the program exited while kernels were running; call "
                       "cudaDeviceSynchronize() before exiting");
    }
    const wp_device_info *info = &r->device->cpu.base.info;
    wpi_origin origin = {.version = wpi_strdup(WP_VERSION_STRING),
                         .device = wpi_strdup(info->spec)};
    read_program(&origin.program);
    for (uint32_t i = 0; i < WPI_INFO_COUNT; i++)
        origin.info[i] = wpi_info_value(info, (wpi_info_field)i);
    const wp_status status = wpi_trace_writer_finish(r->writer, &origin, err);
    wpi_origin_deinit(&origin);
    return status;
}

static void destroy(wpi_recorder *r) {
    pthread_mutex_destroy(&r->lock);
    pthread_mutex_destroy(&r->launch_lock);
    wpi_trace_writer_destroy(r->writer);
    wpi_free(r->queues.items);
    wpi_free(r->events.items);
    wpi_free(r->named);
    wpi_free(r->path);
    wpi_free(r);
}

void wpi_recorder_finish(wpi_recorder *r) {
    if (r == NULL) return;
    wp_error error = {0};
    active = NULL;
    if (r->launched == 0) { /* the device was opened for queries only */
        wpi_trace_writer_abandon(r->writer);
    } else if (write_trace(r, &error) != WP_STATUS_OK) {
        wpi_log(WP_LOG_ERROR, "trace", "%s was not written: %s", r->path, error.message);
    }
    r->device->cpu.base.ops = r->inner;
    destroy(r);
}

/* Finishes at exit, as programs do not close their devices. Keeps the recorder, which threads may
 * still use. */
static void finish_at_exit(void) {
    wpi_recorder *r = active;
    wp_error error = {0};
    if (r == NULL || getpid() != r->owner) return;
    if (write_trace(r, &error) != WP_STATUS_OK)
        wpi_log(WP_LOG_ERROR, "trace", "%s was not written: %s", r->path, error.message);
}

/* Does everything that can fail, before the device or the process is changed. */
static wp_status prepare(wpi_recorder *r, const char *path, wp_error *err) {
    r->path = wpi_strdup(path);
    r->queues.items = wpi_malloc(HANDLES_FIRST * sizeof *r->queues.items);
    if (r->path == NULL || r->queues.items == NULL) return WP_FAIL(err, NOMEM, "recorder");
    r->queues.capacity = HANDLES_FIRST;
    WP_TRY(wpi_trace_writer_create(path, &r->writer, err));
    static bool is_registered; /* no effect without a recorder */
    is_registered = is_registered || atexit(finish_at_exit) == 0;
    if (is_registered) return WP_STATUS_OK;
    wpi_trace_writer_abandon(r->writer);
    return WP_FAIL(err, NOMEM, "trace %s: the list of exit functions is full", path);
}

wp_status wpi_recorder_create(wpi_sim_device *device, wpi_recorder **out, wp_error *err) {
    wpi_param_value path, functional;
    *out = NULL;
    WP_TRY(wpi_param_load(&wpi_trace_params[0], &path, err));
    WP_TRY(wpi_param_load(&wpi_trace_params[1], &functional, err));
    if (path.text[0] != '\0' && device->cpu.base.is_one_of_several)
        return WP_FAIL(err, UNSUPPORTED,
                       "trace %s: a trace holds the work of one device; the program has several",
                       path.text);
    if (path.text[0] == '\0' || active != NULL) return WP_STATUS_OK;
    wpi_recorder *r = wpi_calloc(1, sizeof *r);
    if (r == NULL) return WP_FAIL(err, NOMEM, "recorder");
    r->device = device;
    r->is_functional = functional.number != 0;
    r->owner = getpid();
    pthread_mutex_init(&r->lock, NULL);
    pthread_mutex_init(&r->launch_lock, NULL);
    const wp_status status = prepare(r, path.text, err);
    if (status != WP_STATUS_OK) {
        destroy(r);
        return status;
    }
    active = r;
    (void)add_handle(&r->queues, device->cpu.default_queue);
    replace_ops(r);
    note_variables();
    (void)unsetenv("WARPAGE_TRACE"); /* child processes must not write to this trace */
    *out = r;
    return WP_STATUS_OK;
}

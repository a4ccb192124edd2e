/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays a trace like a program: performs its operations on queues and events of an ordinary
 * simulated device. Copies move no data, and launches take their warps from the trace; everything
 * else, including the report, is as when the program runs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "device/sim/sim_device.h"
#include "device/sim/symbol.h"
#include "trace/hints.h"
#include "trace/names.h"
#include "warpage/trace.h"

#define ALLOC_UNIT_BYTES 512u /* granularity of device memory */

#define COPY_BYTES_MAX ((uint64_t)1 << 48) /* no process has more */

/* A kernel of the trace, in the form that queues take. */
typedef struct replayed_kernel {
    wpi_cpu_kernel kernel;
    wp_cpu_kernel code;
} replayed_kernel;

typedef struct replay {
    wpi_trace *trace;
    const char *hints; /* NULL: none */
    wpi_sim_device *device;
    replayed_kernel **kernels; /* [tables][kernel] */
    wpi_names names;
    wp_queue **queues;
    wp_event **events;
    uint64_t queue_count, event_count;
    uint64_t used_bytes; /* of device and managed memory */
    bool was_reset;
    bool is_host_seen; /* the trace has the pages that the host touched */
    uint64_t allocation_count, live_count;
    wpi_strings sites; /* code that allocated memory */
} replay;

static replay *active; /* used for names of kernels */

/* ---- checks before a replay ---- */

/* Compares the recorded device's answers with those of this device. */
typedef struct check {
    wpi_trace *trace;
    const wp_device *device;
} check;

static wp_status check_query(const check *c, const wpi_op *op, wp_error *err) {
    const uint64_t *recorded = wpi_trace_root_of(c->trace)->origin.info;
    for (uint32_t i = 0; i < WPI_INFO_COUNT; i++) {
        const uint64_t now = wpi_info_value(&c->device->info, (wpi_info_field)i);
        if ((op->fields[0] >> i & 1u) == 0 || recorded[i] == now) continue;
        return WP_FAIL(err, UNSUPPORTED,
                       "%s: the program queried %s for %s: %" PRIu64
                       " when it was recorded, but %s reports %" PRIu64
                       "; record it there, or run the program itself",
                       wpi_trace_path(c->trace), op->text, wpi_info_words((wpi_info_field)i),
                       recorded[i], c->device->info.spec, now);
    }
    return WP_STATUS_OK;
}

static wp_status check_occupancy(const check *c, const wpi_op *op, wp_error *err) {
    const wp_kernel_info kernel = {.shared_static_bytes = (uint32_t)op->fields[2],
                                   .register_count = (uint32_t)op->fields[3]};
    const uint32_t blocks = wpi_occupancy_blocks(&c->device->info, &kernel, (uint32_t)op->fields[0],
                                                 (uint32_t)op->fields[1]);
    if (blocks == op->fields[4]) return WP_STATUS_OK;
    return WP_FAIL(err, UNSUPPORTED,
                   "%s: the program queried how many blocks of %s fit: %" PRIu64
                   " when it was recorded, but %s reports %u; record it there, or run the program "
                   "itself",
                   wpi_trace_path(c->trace), op->text, op->fields[4], c->device->info.spec, blocks);
}

static wp_status check_cooperative(const check *c, const wpi_trace_launch *launch, wp_error *err) {
    const wp_kernel_info kernel = {.shared_static_bytes = launch->shared_static_bytes,
                                   .register_count = launch->registers};
    const uint64_t room =
        (uint64_t)c->device->info.sm_count * wpi_occupancy_blocks(&c->device->info, &kernel,
                                                                  wpi_trace_launch_threads(launch),
                                                                  launch->shared_dynamic_bytes);
    if (wpi_trace_launch_cta_count(launch) <= room) return WP_STATUS_OK;
    return WP_FAIL(err, UNSUPPORTED,
                   "%s: kernel %s is a cooperative launch of %" PRIu64 " blocks; only %" PRIu64
                   " fit %s at once",
                   wpi_trace_path(c->trace), wpi_trace_kernel_of(c->trace, launch)->name,
                   wpi_trace_launch_cta_count(launch), room, c->device->info.spec);
}

static wp_status check_launch(const check *c, uint64_t number, wp_error *err) {
    wpi_trace_launch launch;
    WP_TRY(wpi_trace_launch_at(c->trace, number, &launch, err));
    if ((launch.flags & WPI_LAUNCH_IN_STEP) != 0) {
        return WP_FAIL(
            err, UNSUPPORTED,
            "%s: kernel %s reads the clock or waits for stores of other threads, so its "
            "behaviour depends on time and it cannot be replayed; run the program itself",
            wpi_trace_path(c->trace), wpi_trace_kernel_of(c->trace, &launch)->name);
    }
    if ((launch.flags & WPI_LAUNCH_COOPERATIVE) == 0) return WP_STATUS_OK;
    return check_cooperative(c, &launch, err);
}

/* Managed memory can migrate only if it is in its address area. */
static wp_status check_managed(const check *c, const wpi_op *op, wp_error *err) {
    const wpi_sim_device *device = (const wpi_sim_device *)(const void *)c->device;
    const wpi_managed_range range = {.address = op->fields[2], .bytes = op->fields[1]};
    if (!device->profile->paging.is_on || wpi_managed_has_place(range)) return WP_STATUS_OK;
    return WP_FAIL(
        err, UNSUPPORTED,
        "%s: its managed memory is at addresses where pages cannot migrate; record it again",
        wpi_trace_path(c->trace));
}

static wp_status check_memory(const check *c, const wpi_op *op, wp_error *err) {
    if (op->fields[0] == WP_MEMORY_MANAGED) return check_managed(c, op, err);
    if (op->fields[0] != WP_MEMORY_DEVICE || op->fields[1] <= c->device->info.memory_bytes)
        return WP_STATUS_OK;
    return WP_FAIL(err, UNSUPPORTED,
                   "%s: the program allocated %" PRIu64 " bytes of device memory; %s has %" PRIu64,
                   wpi_trace_path(c->trace), op->fields[1], c->device->info.spec,
                   c->device->info.memory_bytes);
}

static wp_status check_op(void *object, const wpi_op *op, wp_error *err) {
    const check *c = object;
    switch (op->kind) {
    case WPI_OP_QUERY: return check_query(c, op, err);
    case WPI_OP_OCCUPANCY: return check_occupancy(c, op, err);
    case WPI_OP_LAUNCH: return check_launch(c, op->fields[1], err);
    case WPI_OP_ALLOC: return check_memory(c, op, err);
    default: return WP_STATUS_OK;
    }
}

/* ---- kernels -------------------------------------------------------------------------------- */

static char *name_of(const char *name) {
    const char *known = wpi_names_find_code(&active->names, active->trace, name);
    return known != NULL ? wpi_strdup(known) : NULL;
}

static wp_status make_kernels(replay *r, wp_error *err) {
    const uint32_t tables_count = wpi_trace_root_of(r->trace)->tables_count;
    r->kernels = wpi_calloc(tables_count + (size_t)1, sizeof *r->kernels);
    if (r->kernels == NULL) return WP_FAIL(err, NOMEM, "kernels of a trace");
    for (uint32_t t = 0; t < tables_count; t++) {
        const wp_trace_tables *tables = wpi_trace_tables_of(r->trace, t);
        replayed_kernel *kernels = wpi_calloc(tables->kernel_count + (size_t)1, sizeof *kernels);
        if (kernels == NULL) return WP_FAIL(err, NOMEM, "kernels of a trace");
        r->kernels[t] = kernels;
        for (uint32_t k = 0; k < tables->kernel_count; k++) {
            kernels[k].code = (wp_cpu_kernel){.name = tables->kernels[k].name};
            kernels[k].kernel = (wpi_cpu_kernel){.code = &kernels[k].code,
                                                 .display_name = wpi_strdup(kernels[k].code.name),
                                                 .tables = tables};
        }
    }
    return WP_STATUS_OK;
}

static void free_kernels(replay *r) {
    const uint32_t tables_count = wpi_trace_root_of(r->trace)->tables_count;
    for (uint32_t t = 0; r->kernels != NULL && t < tables_count; t++) {
        const uint32_t count = wpi_trace_tables_of(r->trace, t)->kernel_count;
        for (uint32_t k = 0; r->kernels[t] != NULL && k < count; k++)
            wpi_free(r->kernels[t][k].kernel.display_name);
        wpi_free(r->kernels[t]);
    }
    wpi_free(r->kernels);
}

/* ---- queues and events ---------------------------------------------------------------------- */

static wp_status fail_number(const replay *r, const char *what, uint64_t number, wp_error *err) {
    return WP_FAIL(err, PARSE, "%s: the host uses a %s %" PRIu64 " that does not exist",
                   wpi_trace_path(r->trace), what, number);
}

static wp_status find_queue(const replay *r, uint64_t number, wp_queue **out, wp_error *err) {
    *out = number < r->queue_count ? r->queues[number] : NULL;
    return *out != NULL ? WP_STATUS_OK : fail_number(r, "queue", number, err);
}

static wp_status find_event(const replay *r, uint64_t number, wp_event **out, wp_error *err) {
    *out = number < r->event_count ? r->events[number] : NULL;
    return *out != NULL ? WP_STATUS_OK : fail_number(r, "event", number, err);
}

static wp_status add_queue(replay *r, wp_queue *queue, wp_error *err) {
    wp_queue **queues = wpi_realloc(r->queues, ((size_t)r->queue_count + 1) * sizeof(wp_queue *));
    if (queues == NULL) return WP_FAIL(err, NOMEM, "queues of a trace");
    r->queues = queues;
    queues[r->queue_count++] = queue;
    return WP_STATUS_OK;
}

static wp_status create_queue(replay *r, const wpi_op *op, wp_error *err) {
    wp_queue *queue;
    if (op->fields[0] != r->queue_count) return fail_number(r, "queue", op->fields[0], err);
    WP_TRY(wp_queue_create(&r->device->cpu.base, op->fields[1] != 0, &queue, err));
    return add_queue(r, queue, err);
}

static wp_status create_event(replay *r, const wpi_op *op, wp_error *err) {
    if (op->fields[0] != r->event_count) return fail_number(r, "event", op->fields[0], err);
    wp_event **events = wpi_realloc(r->events, ((size_t)r->event_count + 1) * sizeof(wp_event *));
    if (events == NULL) return WP_FAIL(err, NOMEM, "events of a trace");
    r->events = events;
    WP_TRY(wp_event_create(&r->device->cpu.base, &events[r->event_count], err));
    r->event_count++;
    return WP_STATUS_OK;
}

/* ---- commands ------------------------------------------------------------------------------- */

static wp_status submit(replay *r, uint64_t queue_number, wpi_command *command, wp_error *err) {
    wp_queue *queue;
    wp_status status = find_queue(r, queue_number, &queue, err);
    if (status != WP_STATUS_OK) {
        wpi_free(command);
        return status;
    }
    if (command != NULL) command->is_replayed = true;
    return wpi_queue_submit((wpi_cpu_queue *)queue, command, err);
}

static wp_status check_bytes(const replay *r, uint64_t bytes, wp_error *err) {
    if (bytes <= COPY_BYTES_MAX) return WP_STATUS_OK;
    return WP_FAIL(err, PARSE, "%s: a copy of %" PRIu64 " bytes: the trace is damaged",
                   wpi_trace_path(r->trace), bytes);
}

static wp_status copy(replay *r, const wpi_op *op, wp_error *err) {
    if (op->fields[1] >= WP_COPY_FILL) return fail_number(r, "kind of copy", op->fields[1], err);
    WP_TRY(check_bytes(r, op->fields[2], err));
    wpi_command *command = wpi_command_create(WPI_COMMAND_COPY, 0);
    if (command != NULL) {
        command->u.copy.kind = (wp_copy_kind)op->fields[1];
        command->u.copy.dst = (void *)(uintptr_t)op->fields[3];
        command->u.copy.width_bytes = (size_t)op->fields[2];
        command->u.copy.height = 1;
    }
    return submit(r, op->fields[0], command, err);
}

static wp_status fill(replay *r, const wpi_op *op, wp_error *err) {
    WP_TRY(check_bytes(r, op->fields[1], err));
    wpi_command *command = wpi_command_create(WPI_COMMAND_FILL, 0);
    if (command != NULL) {
        command->u.fill.dst = (void *)(uintptr_t)op->fields[2];
        command->u.fill.value_bytes = 1;
        command->u.fill.count = (size_t)op->fields[1];
    }
    return submit(r, op->fields[0], command, err);
}

static wp_status host_work(replay *r, const wpi_op *op, wp_error *err) {
    const wp_host_work work = {.read_bytes = op->fields[1],
                               .written_bytes = op->fields[2],
                               .pattern = (wp_host_pattern)(op->fields[3] % 2),
                               .access_bytes = (uint32_t)(op->fields[3] / 2),
                               .threads = (uint32_t)op->fields[4]};
    if (op->fields[0] == 0) return wp_device_host_work(&r->device->cpu.base, &work, err);
    wp_queue *queue;
    WP_TRY(find_queue(r, op->fields[0] - 1, &queue, err));
    return wp_queue_host_work(queue, &work, err);
}

static void do_nothing(void *arg) {
    (void)arg;
}

static wp_status prefetch(replay *r, const wpi_op *op, wp_error *err) {
    wpi_command *command = wpi_command_create(WPI_COMMAND_PREFETCH, 0);
    if (command != NULL) {
        command->u.prefetch.address = op->fields[1];
        command->u.prefetch.size_bytes = op->fields[2];
        command->u.prefetch.to_device = op->fields[3] != 0;
    }
    return submit(r, op->fields[0], command, err);
}

static wp_status host_call(replay *r, const wpi_op *op, wp_error *err) {
    wpi_command *command = wpi_command_create(WPI_COMMAND_HOST_CALL, 0);
    if (command != NULL) command->u.host_call.call = do_nothing;
    return submit(r, op->fields[0], command, err);
}

static wp_dim3 dim3_of(const uint32_t from[3]) {
    return (wp_dim3){from[0], from[1], from[2]};
}

static wp_status launch(replay *r, const wpi_op *op, wp_error *err) {
    wpi_trace_launch from;
    WP_TRY(wpi_trace_launch_at(r->trace, op->fields[1], &from, err));
    wpi_command *command = wpi_command_create(WPI_COMMAND_LAUNCH, 0);
    if (command != NULL) {
        command->u.launch.device = &r->device->cpu;
        command->u.launch.kernel = &r->kernels[from.tables][from.kernel].kernel;
        command->u.launch.grid = dim3_of(from.grid);
        command->u.launch.block = dim3_of(from.block);
        command->u.launch.thread_count = wpi_trace_launch_threads(&from);
        command->u.launch.shared_dynamic_bytes = from.shared_dynamic_bytes;
        command->u.launch.is_cooperative = (from.flags & WPI_LAUNCH_COOPERATIVE) != 0;
        command->u.launch.prefers_l1 = (from.flags & WPI_LAUNCH_PREFERS_L1) != 0;
        command->u.launch.shared_carveout = (uint8_t)(from.flags >> WPI_LAUNCH_CARVEOUT_SHIFT);
        command->u.launch.block_count = wpi_trace_launch_cta_count(&from);
        command->u.launch.cluster = (wp_dim3){1, 1, 1};
        command->u.launch.cluster_size = 1;
        command->u.launch.id = op->fields[1];
    }
    return submit(r, op->fields[0], command, err);
}

/* ---- operations ----------------------------------------------------------------------------- */

/* Polls a queue once, or, if the recorded answer was "done", until it is idle. So a polling loop
 * runs as many times as needed here. */
static wp_status poll_queue(const replay *r, const wpi_op *op, wp_error *err) {
    wp_queue *queue;
    WP_TRY(find_queue(r, op->fields[0], &queue, err));
    while (!wp_queue_is_idle(queue) && op->fields[1] != 0)
        WP_TRY(wp_device_sticky_error(&r->device->cpu.base, err));
    return WP_STATUS_OK;
}

static wp_status poll_event(const replay *r, const wpi_op *op, wp_error *err) {
    wp_event *event;
    WP_TRY(find_event(r, op->fields[0], &event, err));
    while (!wp_event_is_complete(event) && op->fields[1] != 0)
        WP_TRY(wp_device_sticky_error(&r->device->cpu.base, err));
    return WP_STATUS_OK;
}

/* Keeps the text of an allocation site once, identified by the kept text's address. */
static const char *keep_site(replay *r, const char *text) {
    for (size_t i = 0; i < r->sites.count; i++) {
        if (strcmp(r->sites.items[i], text) == 0) return r->sites.items[i];
    }
    wpi_strings_add(&r->sites, text);
    return r->sites.items[r->sites.count - 1];
}

static char *describe_site(const void *address) {
    for (size_t i = 0; active != NULL && i < active->sites.count; i++) {
        if (active->sites.items[i] == address) return wpi_strdup(active->sites.items[i]);
    }
    return NULL;
}

static void count_memory(replay *r, const wpi_op *op) {
    const uint64_t bytes =
        (op->fields[1] + ALLOC_UNIT_BYTES - 1) & ~(uint64_t)(ALLOC_UNIT_BYTES - 1);
    if (op->fields[0] != WP_MEMORY_DEVICE && op->fields[0] != WP_MEMORY_MANAGED) return;
    r->used_bytes += op->kind == WPI_OP_ALLOC ? bytes : 0 - bytes;
    wpi_report_memory(r->used_bytes);
}

/* Enters an allocation into the process's memory map, where the report finds it. Its memory does
 * not exist, and is not accessed. */
static wp_status enter_memory(replay *r, const wpi_op *op, wp_error *err) {
    const wpi_memory_entry entry = {
        .allocation = {.base = (void *)(uintptr_t)op->fields[2],
                       .size_bytes = (size_t)op->fields[1],
                       .kind = (wp_memory_kind)op->fields[0]},
        .device = &r->device->cpu.base,
        .number = ++r->allocation_count,
        .caller = op->text[0] != '\0' ? keep_site(r, op->text) : NULL,
    };
    if (op->fields[0] >= WP_MEMORY_COUNT || op->fields[1] == 0 || op->fields[2] == 0 ||
        op->fields[1] > UINT64_MAX - op->fields[2])
        return fail_number(r, "memory at", op->fields[2], err);
    count_memory(r, op);
    WP_TRY(wpi_memory_map_add(wpi_memory_map_global(), &entry, err));
    r->live_count++;
    if (op->fields[0] != WP_MEMORY_MANAGED) return WP_STATUS_OK;
    const wpi_managed_range range = {.address = op->fields[2], .bytes = op->fields[1]};
    WP_TRY(wpi_sim_executor_manage(r->device->executor, range, err));
    if (!r->is_host_seen) wpi_sim_executor_use_on_host(r->device->executor, range);
    return WP_STATUS_OK;
}

/* Enters a variable as managed memory only: reports have no place for variables. */
static wp_status enter_variable(replay *r, const wpi_op *op, wp_error *err) {
    const wpi_managed_range range = {.address = op->fields[0], .bytes = op->fields[1]};
    if (!wpi_managed_has_place(range) || range.bytes == 0)
        return fail_number(r, "variable at", range.address, err);
    WP_TRY(wpi_sim_executor_manage(r->device->executor, range, err));
    if (r->was_reset) wpi_sim_executor_use_on_host(r->device->executor, range);
    return WP_STATUS_OK;
}

static wp_status advise(replay *r, const wpi_op *op) {
    const wpi_advice advice = {.is_read_mostly = (op->fields[2] & WPI_ADVICE_READ_MOSTLY) != 0,
                               .prefers_host = (op->fields[2] & WPI_ADVICE_PREFERS_HOST) != 0,
                               .prefers_device = (op->fields[2] & WPI_ADVICE_PREFERS_DEVICE) != 0,
                               .is_accessed_by_device =
                                   (op->fields[2] & WPI_ADVICE_ACCESSED_BY) != 0};
    wpi_memory_advise(&r->device->cpu.base, (const void *)(uintptr_t)op->fields[0],
                      (size_t)op->fields[1], &advice);
    return WP_STATUS_OK;
}

static wp_status touch_memory(replay *r, const wpi_op *op, wp_error *err) {
    const uint64_t address = op->fields[0], bytes = op->fields[1];
    const uint64_t chunk = address / WPI_CHUNK_BYTES * WPI_CHUNK_BYTES;
    wpi_pages pages = {{0}};
    const bool is_known = !r->device->profile->paging.is_on ||
                          wpi_sim_executor_has_managed(r->device->executor, address);
    if (!is_known || bytes == 0 || bytes > WPI_CHUNK_BYTES - (address - chunk))
        return fail_number(r, "memory at", address, err);
    const uint32_t first = (uint32_t)((address - chunk) / WPI_PAGE_BYTES);
    wpi_pages_add_range(&pages, first, first + (uint32_t)(bytes / WPI_PAGE_BYTES));
    wpi_sim_executor_host_touched(r->device->executor, chunk, &pages);
    return WP_STATUS_OK;
}

static wp_status leave_memory(replay *r, const wpi_op *op, wp_error *err) {
    wpi_memory_entry entry;
    if (!wpi_memory_map_remove(wpi_memory_map_global(), (const void *)(uintptr_t)op->fields[2],
                               &entry))
        return fail_number(r, "memory at", op->fields[2], err);
    if (entry.allocation.kind == WP_MEMORY_MANAGED)
        wpi_sim_executor_unmanage(r->device->executor, op->fields[2]);
    r->live_count--;
    count_memory(r, op);
    return WP_STATUS_OK;
}

/* Removes the allocations from the map, before the device would free them. */
static void forget_memory(replay *r) {
    wpi_memory_map *map = wpi_memory_map_global();
    const char *from = NULL;
    wpi_memory_entry entry;
    while (r->live_count != 0 && wpi_memory_map_next(map, from, &entry)) {
        from = (const char *)entry.allocation.base + 1;
        if (entry.device != &r->device->cpu.base || entry.mapped_bytes != 0) continue;
        if (wpi_memory_map_remove(map, entry.allocation.base, NULL)) r->live_count--;
    }
}

static wp_status reset(replay *r, wp_error *err) {
    WP_TRY(wp_device_wait(&r->device->cpu.base, err));
    forget_memory(r);
    r->used_bytes = 0;
    r->was_reset = true;
    return wp_device_reset(&r->device->cpu.base, err);
}

static wp_status queue_op(replay *r, const wpi_op *op, wp_error *err) {
    wp_queue *queue;
    wp_event *event;
    WP_TRY(find_queue(r, op->fields[0], &queue, err));
    switch (op->kind) {
    case WPI_OP_QUEUE_DESTROY:
        wp_queue_destroy(queue);
        r->queues[op->fields[0]] = NULL;
        return WP_STATUS_OK;
    case WPI_OP_QUEUE_WAIT: return wp_queue_wait(queue, err);
    default:
        WP_TRY(find_event(r, op->fields[1], &event, err));
        return wp_queue_wait_event(queue, event, err);
    }
}

static wp_status event_op(replay *r, const wpi_op *op, wp_error *err) {
    wp_queue *queue;
    wp_event *event;
    WP_TRY(find_event(r, op->fields[0], &event, err));
    switch (op->kind) {
    case WPI_OP_EVENT_DESTROY:
        wp_event_destroy(event);
        r->events[op->fields[0]] = NULL;
        return WP_STATUS_OK;
    case WPI_OP_EVENT_WAIT: return wp_event_wait(event, err);
    default:
        WP_TRY(find_queue(r, op->fields[1], &queue, err));
        return wp_event_record(event, queue, err);
    }
}

static wp_status do_op(void *object, const wpi_op *op, wp_error *err) {
    replay *r = object;
    switch (op->kind) {
    case WPI_OP_QUEUE_CREATE: return create_queue(r, op, err);
    case WPI_OP_QUEUE_DESTROY:
    case WPI_OP_QUEUE_WAIT:
    case WPI_OP_QUEUE_AFTER: return queue_op(r, op, err);
    case WPI_OP_QUEUE_POLL: return poll_queue(r, op, err);
    case WPI_OP_COPY: return copy(r, op, err);
    case WPI_OP_FILL: return fill(r, op, err);
    case WPI_OP_LAUNCH: return launch(r, op, err);
    case WPI_OP_HOST_CALL: return host_call(r, op, err);
    case WPI_OP_HOST_WORK: return host_work(r, op, err);
    case WPI_OP_EVENT_CREATE: return create_event(r, op, err);
    case WPI_OP_EVENT_DESTROY:
    case WPI_OP_EVENT_WAIT:
    case WPI_OP_EVENT_RECORD: return event_op(r, op, err);
    case WPI_OP_EVENT_POLL: return poll_event(r, op, err);
    case WPI_OP_DEVICE_WAIT: return wp_device_wait(&r->device->cpu.base, err);
    case WPI_OP_RESET: return reset(r, err);
    case WPI_OP_ALLOC: return enter_memory(r, op, err);
    case WPI_OP_FREE: return leave_memory(r, op, err);
    case WPI_OP_HOST_TOUCH: return touch_memory(r, op, err);
    case WPI_OP_PREFETCH: return prefetch(r, op, err);
    case WPI_OP_ADVICE: return advise(r, op);
    case WPI_OP_VARIABLE: return enter_variable(r, op, err);
    case WPI_OP_HOST_SEEN: r->is_host_seen = true; return WP_STATUS_OK;
    default: return WP_STATUS_OK;
    }
}

/* ---- replaying ------------------------------------------------------------------------------ */

static wp_status open_device(const char *spec, wp_device **out, wp_error *err) {
    *out = NULL;
    if (strncmp(spec, "sim:", 4) != 0) {
        return WP_FAIL(
            err, INVALID,
            "traces can be replayed only on simulated GPUs such as sim:p100, not on '%s'; "
            "`warpage devices` lists them",
            spec);
    }
    return wp_device_open(spec, out, err);
}

/* Replays all operations. The executor reads warps meanwhile, so it has opened the trace itself. */
static wp_status run(replay *r, wp_error *err) {
    const wpi_origin *origin = &wpi_trace_root_of(r->trace)->origin;
    WP_TRY(make_kernels(r, err));
    WP_TRY(wpi_names_read(&r->names, r->trace, err));
    wpi_report_program(origin->program.items, origin->program.count);
    wpi_report_set_namer(name_of);
    wpi_symbol_set_namer(describe_site);
    WP_TRY(add_queue(r, wp_device_default_queue(&r->device->cpu.base), err));
    WP_TRY(wpi_hints_visit_ops(r->trace, r->hints, do_op, r, err));
    return wp_device_wait(&r->device->cpu.base, err);
}

static wp_status run_on(wpi_trace *trace, wpi_trace *warps, const char *hints, wp_device *device,
                        wp_error *err) {
    replay r = {.trace = trace, .hints = hints, .device = (wpi_sim_device *)(void *)device};
    r.device->trace = warps;
    active = &r;
    wp_status status = run(&r, err);
    /* Waits for all commands, as they use the replay's kernels. Reports the first error.
     */
    if (wp_device_wait(device, status == WP_STATUS_OK ? err : NULL) != WP_STATUS_OK &&
        status == WP_STATUS_OK)
        status = wp_device_sticky_error(device, err);
    if (status != WP_STATUS_OK) (void)wp_device_sticky_error(device, err);
    if (status == WP_STATUS_OK) wpi_report_write_at_exit();
    wpi_report_set_namer(NULL);
    wpi_symbol_set_namer(NULL);
    forget_memory(&r);
    for (uint64_t i = 0; i < r.event_count; i++)
        wp_event_destroy(r.events[i]);
    free_kernels(&r);
    wpi_names_deinit(&r.names);
    wpi_free(r.queues);
    wpi_free(r.events);
    wpi_strings_deinit(&r.sites);
    active = NULL;
    return status;
}

static wp_status check_all(wpi_trace *trace, const char *hints, const wp_device *device,
                           wp_error *err) {
    check c = {.trace = trace, .device = device};
    return wpi_hints_visit_ops(trace, hints, check_op, &c, err);
}

wp_status wp_trace_check(const char *path, const char *device_spec, wp_error *err) {
    wpi_trace *trace;
    wp_device *device = NULL;
    WP_TRY(wpi_trace_open(path, &trace, err));
    wp_status status = open_device(device_spec, &device, err);
    if (status == WP_STATUS_OK) status = check_all(trace, NULL, device, err);
    wp_device_close(device);
    wpi_trace_close(trace);
    return status;
}

wp_status wp_trace_replay(const char *path, const char *device_spec, const char *hints,
                          const char *record_path, wp_error *err) {
    wpi_trace *trace = NULL, *warps = NULL;
    wp_device *device = NULL;
    wp_status status;
    WP_TRY_GOTO(wpi_trace_open(path, &trace, err), done);
    WP_TRY_GOTO(wpi_trace_open(path, &warps, err), done);
    wpi_report_restart(record_path);
    WP_TRY_GOTO(open_device(device_spec, &device, err), done);
    WP_TRY_GOTO(check_all(trace, hints, device, err), done);
    status = run_on(trace, warps, hints, device, err);
done:
    wp_device_close(device);
    wpi_report_restart(NULL);
    wpi_trace_close(trace);
    wpi_trace_close(warps);
    return status;
}

wp_status wp_trace_set_exit_status(const char *path, int status, wp_error *err) {
    return wpi_trace_set_exit_status(path, status, err);
}

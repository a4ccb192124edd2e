/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Queues: see queue.h. CUDA's legacy ordering of the default queue is implemented by dependencies
 * that a command gets when it is queued: a command of the default queue waits for the commands that
 * blocking queues hold then, one of a blocking queue for those of the default queue.
 */
#include "device/cpu/queue.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "device/cpu/arena.h"
#include "device/cpu/nested/nest.h"
#include "report/recorder.h"

#define PENDING_MAX 1024u /* commands; queueing more waits */
#define PENDING_LOW 512u  /* … until this many are left */
#define HELPER_STACK_BYTES_MIN ((size_t)1 << 20)
#define LOOK_NS 50000 /* between two looks at a word that a queue waits for */

struct wpi_cpu_queue {
    wp_queue base;
    wpi_cpu_queue *next; /* in device->queues or ->zombies */
    uint32_t refs;       /* the user's, and one for each dependency and event that refers to it */
    bool is_blocking, is_default, is_destroyed;
    bool is_running; /* the first command is being executed */
    bool has_thread;
    pthread_t thread;
    pthread_cond_t work; /* for the queue's thread */
    wpi_command *first, **last;
    uint64_t submitted, completed;
};

/* A thread that waits for a condition under device->lock. Lives on that thread's stack. */
struct wpi_waiter {
    wpi_waiter *next;
    pthread_cond_t changed;
    bool (*is_done)(const void *);
    const void *arg;
};

static wpi_cpu_device *device_of(const wpi_cpu_queue *queue) {
    return (wpi_cpu_device *)queue->base.device;
}

/* The queue whose command this OS thread executes. */
static _Thread_local wpi_cpu_queue *executing;

/* ---- references ---- */

void wpi_queue_ref(wpi_cpu_queue *queue) {
    queue->refs++;
}

void wpi_queue_unref(wpi_cpu_queue *queue) {
    if (queue == NULL || --queue->refs != 0) return;
    pthread_cond_destroy(&queue->work);
    wpi_free(queue);
}

static void drop_snapshot(wpi_dependency *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        wpi_queue_unref(list[i].queue);
    wpi_free(list);
}

void wpi_command_free(wpi_command *command) {
    drop_snapshot(command->dependencies, command->dependency_count);
    if (command->kind == WPI_COMMAND_RECORD) wpi_event_unref(command->u.record);
    if (command->kind == WPI_COMMAND_WAIT_EVENT) wpi_queue_unref(command->u.wait.queue);
    wpi_free(command);
}

/* ---- execution ---- */

bool wpi_queue_has_come_to(const void *dependency) {
    const wpi_dependency *d = dependency;
    return d->queue == NULL || d->queue->completed >= d->number;
}

static bool passes(const wpi_word *word) {
    const bool is_long = word->bytes == 8;
    const uint64_t mask = is_long ? UINT64_MAX : UINT32_MAX;
    const uint64_t now = is_long
                             ? __atomic_load_n((const uint64_t *)word->address, __ATOMIC_ACQUIRE)
                             : __atomic_load_n((const uint32_t *)word->address, __ATOMIC_ACQUIRE);
    switch (word->test) {
    case WPI_WORD_REACHES: return ((now - word->value) & (mask ^ mask >> 1)) == 0;
    case WPI_WORD_EQUALS: return now == (word->value & mask);
    case WPI_WORD_HAS_BITS: return (now & word->value & mask) != 0;
    default: return (~(now | word->value) & mask) != 0;
    }
}

static bool has_come_to_all(const wpi_command *command) {
    for (size_t i = 0; i < command->dependency_count; i++) {
        if (!wpi_queue_has_come_to(&command->dependencies[i])) return false;
    }
    return command->kind != WPI_COMMAND_WAIT_EVENT || wpi_queue_has_come_to(&command->u.wait);
}

/* The first command is one that only looking at memory can start. */
static bool polls(const wpi_cpu_queue *queue) {
    return queue->first != NULL && queue->first->kind == WPI_COMMAND_WAIT_WORD &&
           !queue->is_running && has_come_to_all(queue->first);
}

static bool can_run(const wpi_cpu_queue *queue) {
    if (queue->first == NULL || queue->is_running || !has_come_to_all(queue->first)) return false;
    return queue->first->kind != WPI_COMMAND_WAIT_WORD || passes(&queue->first->u.word) ||
           atomic_load(&device_of(queue)->has_failed);
}

/* The queue's thread has something to do. */
static bool needs_thread(const wpi_cpu_queue *queue) {
    return polls(queue) || can_run(queue);
}

bool wpi_queue_any_polls(const wpi_cpu_device *device) {
    for (const wpi_cpu_device *d = device->group->devices; d != NULL; d = d->next)
        for (const wpi_cpu_queue *q = d->queues; q != NULL; q = q->next)
            if (polls(q)) return true;
    return false;
}

void wpi_queue_poll_pause(wpi_cpu_device *device) {
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    pthread_mutex_unlock(device->lock);
    (void)nanosleep(&pause, NULL);
    pthread_mutex_lock(device->lock);
}

static void fail_memory(wpi_cpu_device *device, const char *what, const void *fault) {
    char where[256];
    wp_error error = {0};
    wpi_fault_describe(&device->base, fault, where, sizeof where);
    (void)WP_FAIL(&error, KERNEL_ADDRESS, "a %s reached address %p, %s", what, fault, where);
    wpi_cpu_device_fail(device, &error);
}

wp_copy_kind wpi_copy_kind(const void *dst, const void *src) {
    wpi_memory_map *map = wpi_memory_map_global();
    wpi_memory_entry entry;
    const bool to_device = wpi_memory_map_find(map, dst, &entry) &&
                           entry.allocation.kind != WP_MEMORY_PINNED &&
                           entry.allocation.kind != WP_MEMORY_REGISTERED;
    const bool from_device = wpi_memory_map_find(map, src, &entry) &&
                             entry.allocation.kind != WP_MEMORY_PINNED &&
                             entry.allocation.kind != WP_MEMORY_REGISTERED;
    if (to_device) return from_device ? WP_COPY_D2D : WP_COPY_H2D;
    return from_device ? WP_COPY_D2H : WP_COPY_H2H;
}

/* Whether commands are reported here: an executor reports its own commands, with its times. */
static bool is_reported(const wpi_cpu_device *device) {
    return wpi_report_is_on() && device->executor == NULL;
}

static void execute_copy(wpi_cpu_device *device, const wpi_command *command) {
    const void *fault;
    const uint64_t start_ns = is_reported(device) ? wpi_clock_ns() : 0;
    if (command->u.copy.height == 1)
        wpi_arena_expect_whole(command->u.copy.dst, command->u.copy.width_bytes);
    if (!wpi_fault_copy(command->u.copy.dst, command->u.copy.dst_pitch_bytes, command->u.copy.src,
                        command->u.copy.src_pitch_bytes, command->u.copy.width_bytes,
                        command->u.copy.height, &fault)) {
        fail_memory(device, "copy", fault);
        return;
    }
    if (!is_reported(device)) return;
    wpi_report_copy(executing, wpi_copy_kind(command->u.copy.dst, command->u.copy.src),
                    command->u.copy.width_bytes * command->u.copy.height, start_ns, wpi_clock_ns());
}

/* Fills memory. Zeroing a large range of simulated memory uncommits it instead, so that a table of
 * many GiB is committed as it fills.
 */
static bool fill_memory(wpi_cpu_device *device, const wpi_command *command, const void **fault) {
    const size_t bytes = command->u.fill.count * command->u.fill.value_bytes;
    char *dst = command->u.fill.dst;
    wp_allocation allocation;
    if (command->u.fill.value == 0 && wp_memory_find(&device->base, dst, &allocation) &&
        (size_t)(dst - (char *)allocation.base) + bytes <= allocation.size_bytes &&
        wpi_arena_zero(dst, bytes))
        return true;
    wpi_arena_expect_whole(dst, bytes);
    return wpi_fault_fill(command->u.fill.dst, command->u.fill.value, command->u.fill.value_bytes,
                          command->u.fill.count, fault);
}

static void execute_fill(wpi_cpu_device *device, const wpi_command *command) {
    const void *fault;
    const uint64_t start_ns = is_reported(device) ? wpi_clock_ns() : 0;
    if (!fill_memory(device, command, &fault)) {
        fail_memory(device, "fill", fault);
        return;
    }
    if (!is_reported(device)) return;
    wpi_report_copy(executing, WP_COPY_FILL, command->u.fill.count * command->u.fill.value_bytes,
                    start_ns, wpi_clock_ns());
}

static void execute_launch(wpi_cpu_device *device, wpi_command *command) {
    wpi_launch *launch = &command->u.launch;
    const uint64_t start_ns = wpi_report_is_on() ? wpi_clock_ns() : 0;
    wpi_pool_run(device->pool, launch);
    const uint64_t end_ns = wpi_report_is_on() ? wpi_clock_ns() : 0;
    if (launch->nest != NULL) wpi_nest_run(launch);
    if (!wpi_report_is_on()) return;
    const uint32_t grid[3] = {launch->grid.x, launch->grid.y, launch->grid.z};
    const uint32_t block[3] = {launch->block.x, launch->block.y, launch->block.z};
    const char *name = launch->kernel->code->name;
    wpi_text own = {0};
    if (!wpi_report_selects(name)) return;
    if (device->base.is_one_of_several) name = wpi_report_name_on(name, device->base.number, &own);
    wpi_report_kernel(executing, name, grid, block, start_ns, end_ns);
    if (command->nest != NULL)
        wpi_report_launched_by(name, command->nest->launch->kernel->code->name);
    wpi_text_deinit(&own);
}

/* Called without the lock. After the device's first error no command that accesses memory runs. */
static void execute(wpi_cpu_device *device, wpi_command *command) {
    const bool has_failed = atomic_load(&device->has_failed);
    wpi_fault_install();
    switch (command->kind) {
    case WPI_COMMAND_COPY:
        if (!has_failed) execute_copy(device, command);
        break;
    case WPI_COMMAND_FILL:
        if (!has_failed) execute_fill(device, command);
        break;
    case WPI_COMMAND_LAUNCH:
        if (!has_failed) execute_launch(device, command);
        break;
    case WPI_COMMAND_HOST_CALL: command->u.host_call.call(command->u.host_call.arg); break;
    default: break;
    }
}

void wpi_device_announce(wpi_cpu_device *device) {
    for (wpi_waiter *w = device->group->waiters; w != NULL; w = w->next) {
        if (w->is_done(w->arg)) pthread_cond_signal(&w->changed);
    }
    for (const wpi_cpu_device *d = device->group->devices; d != NULL; d = d->next) {
        for (wpi_cpu_queue *q = d->queues; q != NULL; q = q->next) {
            if (needs_thread(q)) pthread_cond_signal(&q->work);
        }
    }
}

/* The event's last record is command `number` of `queue`. */
static void set_last_record(wpi_cpu_event *event, wpi_cpu_queue *queue, uint64_t number) {
    wpi_queue_ref(queue);
    wpi_queue_unref(event->last.queue);
    event->last = (wpi_dependency){.queue = queue, .number = number};
}

static void note_record_time(wpi_cpu_event *event, const wpi_cpu_queue *queue, uint64_t number) {
    const wpi_executor *executor = device_of(queue)->executor;
    if (event->last.queue != queue || event->last.number != number) return;
    event->time_ns = executor != NULL ? executor->now_ns(executor) : wpi_clock_ns();
}

const wpi_command *wpi_queue_first(const wpi_cpu_queue *queue) {
    return queue->first;
}

wpi_command *wpi_queue_start(wpi_cpu_queue *queue) {
    queue->is_running = true;
    return queue->first;
}

void wpi_queue_finish(wpi_cpu_queue *queue) {
    wpi_command *command = queue->first;
    queue->is_running = false;
    queue->first = command->next;
    if (queue->first == NULL) queue->last = &queue->first;
    queue->completed++;
    if (command->kind == WPI_COMMAND_RECORD)
        note_record_time(command->u.record, queue, queue->completed);
    wpi_command_free(command);
    wpi_device_announce(device_of(queue));
}

/* Executes the queue's first command; can_run holds. The lock is released meanwhile. */
static void run_first(wpi_cpu_device *device, wpi_cpu_queue *queue) {
    wpi_command *command = wpi_queue_start(queue);
    pthread_mutex_unlock(device->lock);
    wpi_cpu_queue *outer = executing;
    executing = queue;
    execute(device, command);
    executing = outer;
    pthread_mutex_lock(device->lock);
    wpi_queue_finish(queue);
}

wpi_cpu_queue *wpi_queue_find_startable(wpi_cpu_device *device, wpi_cpu_queue *after) {
    const wpi_cpu_device *in = after != NULL ? device_of(after) : device->group->devices;
    wpi_cpu_queue *queue = after != NULL ? after->next : in->queues;
    for (;;) {
        while (queue != NULL && !can_run(queue))
            queue = queue->next;
        if (queue != NULL || in->next == NULL) return queue;
        in = in->next;
        queue = in->queues;
    }
}

bool wpi_queue_forbid_waiting(bool forbids) {
    static wpi_cpu_queue nobody;
    const bool did = executing != NULL;
    executing = forbids ? &nobody : NULL;
    return did;
}

void wpi_command_execute(wpi_cpu_device *device, wpi_command *command) {
    (void)wpi_queue_forbid_waiting(true); /* host functions must not wait */
    execute(device, command);
    (void)wpi_queue_forbid_waiting(false);
}

void wpi_command_execute_nested(wpi_cpu_device *device, wpi_command *command) {
    wpi_cpu_queue *outer = executing;
    executing = command->nest->launch->queue;
    execute(device, command);
    executing = outer;
}

bool wpi_device_is_awaited(const wpi_cpu_device *device) {
    for (const wpi_waiter *w = device->group->waiters; w != NULL; w = w->next) {
        if (!w->is_done(w->arg)) return true;
    }
    return false;
}

static void *run_executor(void *arg) {
    wpi_cpu_queue *queue = arg;
    wpi_cpu_device *device = device_of(queue);
    wpi_fault_prepare_thread();
    pthread_mutex_lock(device->lock);
    for (;;) {
        if (can_run(queue)) {
            run_first(device, queue);
        } else if (queue->is_destroyed && queue->first == NULL) {
            break;
        } else if (polls(queue)) {
            wpi_queue_poll_pause(device);
        } else {
            pthread_cond_wait(&queue->work, device->lock);
        }
    }
    pthread_mutex_unlock(device->lock);
    return NULL;
}

/* Whether the host thread's stack is large enough to execute kernels. */
static bool has_stack_to_help(void) {
    static _Thread_local int answer; /* 0: not known yet */
    if (answer == 0) answer = wpi_thread_stack_bytes() >= HELPER_STACK_BYTES_MIN ? 1 : -1;
    return answer == 1;
}

bool wpi_queue_may_execute(void) {
    return executing == NULL && has_stack_to_help();
}

bool wpi_queue_may_wait(void) {
    return executing == NULL;
}

void wpi_device_wait_until(wpi_cpu_device *device, bool (*is_done)(const void *), const void *arg,
                           wpi_cpu_queue *helps) {
    const bool can_help = helps != NULL && device->executor == NULL && wpi_queue_may_execute();
    while (!is_done(arg) && can_help && can_run(helps))
        run_first(device, helps);
    if (can_help && needs_thread(helps))
        pthread_cond_signal(&helps->work); /* the queue's thread continues */
    if (is_done(arg)) return;
    wpi_waiter **waiters = &device->group->waiters;
    wpi_waiter waiter = {.next = *waiters, .is_done = is_done, .arg = arg};
    pthread_cond_init(&waiter.changed, NULL);
    *waiters = &waiter;
    if (device->executor != NULL) device->executor->wait_until(device->executor, is_done, arg);
    while (!is_done(arg))
        pthread_cond_wait(&waiter.changed, device->lock);
    if (device->executor != NULL) device->executor->waited(device->executor);
    wpi_waiter **slot = waiters;
    while (*slot != &waiter)
        slot = &(*slot)->next;
    *slot = waiter.next;
    pthread_cond_destroy(&waiter.changed);
}

/* ---- submission ---- */

wpi_command *wpi_command_create(wpi_command_kind kind, size_t extra_bytes) {
    wpi_command *command = wpi_malloc(sizeof *command + extra_bytes);
    if (command == NULL) return NULL;
    memset(command, 0, sizeof *command);
    command->kind = kind;
    return command;
}

/* Selects the queues of a snapshot. */
typedef bool (*queue_filter)(const wpi_cpu_queue *other, const wpi_cpu_queue *queue);

static bool comes_before(const wpi_cpu_queue *other, const wpi_cpu_queue *queue) {
    if (other == queue) return false;
    return queue->is_default ? other->is_blocking : queue->is_blocking && other->is_default;
}

static bool is_ordered_with(const wpi_cpu_queue *other, const wpi_cpu_queue *queue) {
    return other == queue || comes_before(other, queue);
}

static bool is_same(const wpi_cpu_queue *other, const wpi_cpu_queue *queue) {
    return other == queue;
}

static bool is_any(const wpi_cpu_queue *other, const wpi_cpu_queue *queue) {
    (void)other;
    (void)queue;
    return true;
}

/* Takes a snapshot of the last commands in the queues that pass the filter. */
static wp_status take_snapshot(wpi_cpu_device *device, const wpi_cpu_queue *queue,
                               queue_filter filter, wpi_dependency **out, size_t *out_count,
                               wp_error *err) {
    *out = NULL;
    *out_count = 0;
    size_t count = 0;
    for (const wpi_cpu_queue *q = device->queues; q != NULL; q = q->next) {
        count += q->completed != q->submitted && filter(q, queue);
    }
    if (count == 0) return WP_STATUS_OK;
    wpi_dependency *list = wpi_calloc(count, sizeof *list);
    if (list == NULL) return WP_FAIL(err, NOMEM, "list of %zu queues", count);
    count = 0;
    for (wpi_cpu_queue *q = device->queues; q != NULL; q = q->next) {
        if (q->completed == q->submitted || !filter(q, queue)) continue;
        wpi_queue_ref(q);
        list[count++] = (wpi_dependency){.queue = q, .number = q->submitted};
    }
    *out = list;
    *out_count = count;
    return WP_STATUS_OK;
}

static wp_status start_thread(wpi_cpu_queue *queue, wp_error *err) {
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, WPI_WORKER_STACK_BYTES);
    const int failure = pthread_create(&queue->thread, &attr, run_executor, queue);
    pthread_attr_destroy(&attr);
    if (failure != 0) {
        return WP_FAIL(err, NOMEM, "the thread of a queue could not be started: %s",
                       strerror(failure));
    }
    queue->has_thread = true;
    return WP_STATUS_OK;
}

static bool has_room(const void *arg) {
    const wpi_cpu_queue *queue = arg;
    return queue->submitted - queue->completed <= PENDING_LOW;
}

wp_status wpi_queue_submit(wpi_cpu_queue *queue, wpi_command *command, wp_error *err) {
    wpi_cpu_device *device = device_of(queue);
    if (command == NULL) return WP_FAIL(err, NOMEM, "command of a queue");
    pthread_mutex_lock(device->lock);
    if (queue->submitted - queue->completed >= PENDING_MAX && executing == NULL) {
        wpi_device_wait_until(device, has_room, queue, queue);
    }
    wp_status status = WP_STATUS_OK;
    if (!queue->has_thread && device->executor == NULL) status = start_thread(queue, err);
    if (status == WP_STATUS_OK) {
        status = take_snapshot(device, queue, comes_before, &command->dependencies,
                               &command->dependency_count, err);
    }
    if (status == WP_STATUS_OK) {
        *queue->last = command;
        queue->last = &command->next;
        queue->submitted++;
        if (command->kind == WPI_COMMAND_RECORD)
            set_last_record(command->u.record, queue, queue->submitted);
        if (device->executor != NULL)
            device->executor->queued(device->executor);
        else if (needs_thread(queue))
            pthread_cond_signal(&queue->work);
    } else {
        wpi_command_free(command);
    }
    pthread_mutex_unlock(device->lock);
    return status;
}

static wp_status copy(wp_queue *queue, void *dst, size_t dst_pitch_bytes, const void *src,
                      size_t src_pitch_bytes, size_t width_bytes, size_t height, wp_error *err) {
    WP_TRY(wp_device_sticky_error(queue->device, err));
    wpi_command *command = wpi_command_create(WPI_COMMAND_COPY, 0);
    if (command != NULL) {
        command->u.copy.dst = dst;
        command->u.copy.src = src;
        command->u.copy.dst_pitch_bytes = dst_pitch_bytes;
        command->u.copy.src_pitch_bytes = src_pitch_bytes;
        command->u.copy.width_bytes = width_bytes;
        command->u.copy.height = height;
    }
    return wpi_queue_submit((wpi_cpu_queue *)queue, command, err);
}

static wp_status fill(wp_queue *queue, void *dst, uint32_t value, uint32_t value_bytes,
                      size_t count, wp_error *err) {
    WP_TRY(wp_device_sticky_error(queue->device, err));
    wpi_command *command = wpi_command_create(WPI_COMMAND_FILL, 0);
    if (command != NULL) {
        command->u.fill.dst = dst;
        command->u.fill.value = value;
        command->u.fill.value_bytes = value_bytes;
        command->u.fill.count = count;
    }
    return wpi_queue_submit((wpi_cpu_queue *)queue, command, err);
}

static wp_status host_call(wp_queue *queue, void (*call)(void *), void *arg, wp_error *err) {
    wpi_command *command = wpi_command_create(WPI_COMMAND_HOST_CALL, 0);
    if (command != NULL) {
        command->u.host_call.call = call;
        command->u.host_call.arg = arg;
    }
    return wpi_queue_submit((wpi_cpu_queue *)queue, command, err);
}

static wp_status prefetch(wp_queue *queue, const void *address, size_t size_bytes, bool to_device,
                          wp_error *err) {
    wpi_command *command = wpi_command_create(WPI_COMMAND_PREFETCH, 0);
    if (command != NULL) {
        command->u.prefetch.address = (uintptr_t)address;
        command->u.prefetch.size_bytes = size_bytes;
        command->u.prefetch.to_device = to_device;
    }
    return wpi_queue_submit((wpi_cpu_queue *)queue, command, err);
}

static size_t align_up(size_t value, size_t align) {
    return (value + align - 1) / align * align;
}

/* Space for the arguments: the pointers to them, then the values, each aligned. */
static size_t args_bytes(const wp_cpu_kernel *code, size_t *align_max) {
    size_t bytes = code->param_count * sizeof(void *);
    *align_max = 16;
    for (uint32_t i = 0; i < code->param_count; i++) {
        const size_t align = code->params[i].align_bytes;
        if (align > *align_max) *align_max = align;
        bytes = align_up(bytes, align) + code->params[i].size_bytes;
    }
    return bytes;
}

static void copy_args(const wp_cpu_kernel *code, void *const *args, char *to) {
    void **pointers = (void **)(void *)to;
    size_t offset = code->param_count * sizeof(void *);
    for (uint32_t i = 0; i < code->param_count; i++) {
        offset = align_up(offset, code->params[i].align_bytes);
        pointers[i] = to + offset;
        memcpy(pointers[i], args[i], code->params[i].size_bytes);
        offset += code->params[i].size_bytes;
    }
}

wp_status wpi_launch_command(const wp_launch *from, wpi_command **out, wp_error *err) {
    const wpi_cpu_kernel *kernel = (const wpi_cpu_kernel *)from->kernel;
    const uint32_t dynamic_max = atomic_load(&kernel->shared_dynamic_max);
    *out = NULL;
    if (from->shared_dynamic_bytes > dynamic_max) {
        return WP_FAIL(
            err, LAUNCH,
            "kernel %s: %u bytes of dynamic shared memory beside %u static ones; at most "
            "%u are allowed, more (up to %u in all) after cudaFuncSetAttribute("
            "cudaFuncAttributeMaxDynamicSharedMemorySize)",
            kernel->display_name, from->shared_dynamic_bytes, kernel->code->shared_static_bytes,
            dynamic_max, WPI_SHARED_BYTES_OPTIN);
    }
    if (kernel->code->shared_static_bytes > WPI_SHARED_BYTES_OPTIN) {
        return WP_FAIL(err, LAUNCH, "kernel %s: %u bytes of static shared memory; at most %u",
                       kernel->display_name, kernel->code->shared_static_bytes,
                       WPI_SHARED_BYTES_OPTIN);
    }
    wp_dim3 cluster;
    WP_TRY(wpi_launch_cluster(from, &cluster, err));
    size_t align;
    const size_t bytes = args_bytes(kernel->code, &align);
    wpi_command *command = wpi_command_create(WPI_COMMAND_LAUNCH, bytes + align);
    if (command == NULL) return WP_FAIL(err, NOMEM, "command of a queue");
    wpi_cpu_device *device = (wpi_cpu_device *)kernel->base.device;
    char *args = (char *)align_up((uintptr_t)(command + 1), align);
    copy_args(kernel->code, from->args, args);
    wpi_launch *l = &command->u.launch;
    l->device = device;
    l->kernel = kernel;
    l->grid = from->grid;
    l->block = from->block;
    l->thread_count = from->block.x * from->block.y * from->block.z;
    l->shared_dynamic_bytes = from->shared_dynamic_bytes;
    l->args = (void *const *)(void *)args;
    l->is_cooperative = from->is_cooperative;
    l->prefers_l1 = from->prefers_l1;
    l->shared_carveout = from->kernel->shared_carveout;
    l->cluster = cluster;
    l->cluster_size = cluster.x * cluster.y * cluster.z;
    l->is_explicit_cluster = from->cluster.x != 0 || kernel->code->cluster_dim[0] != 0;
    l->block_count = (uint64_t)from->grid.x * from->grid.y * from->grid.z;
    l->id = atomic_fetch_add(&device->launch_count, 1) + 1;
    *out = command;
    return WP_STATUS_OK;
}

static wp_status launch(wp_queue *queue, const wp_launch *from, wp_error *err) {
    WP_TRY(wp_device_sticky_error(queue->device, err));
    wpi_command *command;
    WP_TRY(wpi_launch_command(from, &command, err));
    command->u.launch.queue = (wpi_cpu_queue *)queue;
    return wpi_queue_submit((wpi_cpu_queue *)queue, command, err);
}

static wp_status wait_event(wp_queue *base, wp_event *base_event, wp_error *err) {
    wpi_cpu_queue *queue = (wpi_cpu_queue *)base;
    wpi_cpu_event *event = (wpi_cpu_event *)base_event;
    wpi_cpu_device *device = device_of(queue);
    wpi_command *command = wpi_command_create(WPI_COMMAND_WAIT_EVENT, 0);
    if (command == NULL) return WP_FAIL(err, NOMEM, "command of a queue");
    pthread_mutex_lock(device->lock);
    const bool is_needed = event->last.queue != queue && !wpi_queue_has_come_to(&event->last);
    if (is_needed) {
        command->u.wait = event->last;
        wpi_queue_ref(event->last.queue);
    }
    pthread_mutex_unlock(device->lock);
    if (is_needed) return wpi_queue_submit(queue, command, err);
    wpi_free(command);
    return WP_STATUS_OK;
}

static wp_status wait_word(wp_queue *queue, const wpi_word *word, wp_error *err) {
    wpi_command *command = wpi_command_create(WPI_COMMAND_WAIT_WORD, 0);
    if (command != NULL) command->u.word = *word;
    return wpi_queue_submit((wpi_cpu_queue *)queue, command, err);
}

/* A copy from the command itself. */
static wp_status write_word(wp_queue *queue, const wpi_word *word, wp_error *err) {
    WP_TRY(wp_device_sticky_error(queue->device, err));
    wpi_command *command = wpi_command_create(WPI_COMMAND_COPY, sizeof word->value);
    if (command != NULL) {
        memcpy(command + 1, &word->value, sizeof word->value);
        command->u.copy.dst = word->address;
        command->u.copy.src = command + 1;
        command->u.copy.dst_pitch_bytes = command->u.copy.src_pitch_bytes = word->bytes;
        command->u.copy.width_bytes = word->bytes;
        command->u.copy.height = 1;
    }
    return wpi_queue_submit((wpi_cpu_queue *)queue, command, err);
}

/* ---- waiting ---- */

/* Waits until all commands that are now in the queues that pass the filter are done, and helps to
 *  execute them. Prints kernels' output. Returns the device's first error. */
static wp_status wait_for(wpi_cpu_device *device, wpi_cpu_queue *queue, queue_filter filter,
                          wp_error *err) {
    wpi_dependency *list;
    size_t count;
    pthread_mutex_lock(device->lock);
    const wp_status status = take_snapshot(device, queue, filter, &list, &count, err);
    for (size_t i = 0; i < count; i++) {
        wpi_device_wait_until(device, wpi_queue_has_come_to, &list[i], list[i].queue);
    }
    drop_snapshot(list, count);
    pthread_mutex_unlock(device->lock);
    wpi_output_flush(device->output);
    return status != WP_STATUS_OK ? status : wp_device_sticky_error(&device->base, err);
}

static wp_status wait(wp_queue *base, wp_error *err) {
    wpi_cpu_queue *queue = (wpi_cpu_queue *)base;
    /* The default queue comes after everything in the blocking queues, even when it is empty. */
    return wait_for(device_of(queue), queue, queue->is_default ? is_ordered_with : is_same, err);
}

wp_status wpi_cpu_device_wait(wp_device *base, wp_error *err) {
    return wait_for((wpi_cpu_device *)base, NULL, is_any, err);
}

static bool is_idle(wp_queue *base) {
    const wpi_cpu_queue *queue = (const wpi_cpu_queue *)base;
    wpi_cpu_device *device = device_of(queue);
    pthread_mutex_lock(device->lock);
    if (device->executor != NULL && queue->completed != queue->submitted)
        device->executor->poll(device->executor);
    const bool answer = queue->completed == queue->submitted;
    pthread_mutex_unlock(device->lock);
    return answer;
}

bool wpi_cpu_device_is_idle(wp_device *base) {
    wpi_cpu_device *device = (wpi_cpu_device *)base;
    bool answer = true;
    pthread_mutex_lock(device->lock);
    for (const wpi_cpu_queue *q = device->queues; q != NULL && answer; q = q->next)
        answer = q->completed == q->submitted;
    pthread_mutex_unlock(device->lock);
    return answer;
}

/* ---- life and death ---- */

static wp_status create(wp_device *base, bool is_blocking, int priority, wp_queue **out,
                        wp_error *err) {
    (void)priority;
    wpi_cpu_device *device = (wpi_cpu_device *)base;
    wpi_cpu_queue *queue = wpi_calloc(1, sizeof *queue);
    if (queue == NULL) return WP_FAIL(err, NOMEM, "queue");
    queue->base.device = base;
    queue->refs = 1;
    queue->is_blocking = is_blocking;
    queue->last = &queue->first;
    pthread_cond_init(&queue->work, NULL);
    pthread_mutex_lock(device->lock);
    queue->is_default = device->queues == NULL; /* the first one; it lives as long as the device */
    queue->next = device->queues;
    device->queues = queue;
    pthread_mutex_unlock(device->lock);
    *out = &queue->base;
    return WP_STATUS_OK;
}

/* Frees destroyed queues whose work is done. Called with the lock held, which is released
 * meanwhile. */
static void bury(wpi_cpu_device *device) {
    for (wpi_cpu_queue **slot = &device->queues; *slot != NULL;) {
        wpi_cpu_queue *queue = *slot;
        if (!queue->is_destroyed || queue->first != NULL || executing == queue) {
            slot = &queue->next;
            continue;
        }
        *slot = queue->next;
        if (queue->has_thread) {
            pthread_cond_signal(&queue->work);
            pthread_mutex_unlock(device->lock);
            pthread_join(queue->thread, NULL);
            pthread_mutex_lock(device->lock);
        }
        wpi_queue_unref(queue);
        slot = &device->queues; /* the list may have changed meanwhile */
    }
}

static void destroy(wp_queue *base) {
    wpi_cpu_queue *queue = (wpi_cpu_queue *)base;
    wpi_cpu_device *device = device_of(queue);
    if (queue->is_default) return; /* the device's own */
    pthread_mutex_lock(device->lock);
    queue->is_destroyed = true;
    bury(device);
    pthread_mutex_unlock(device->lock);
}

void wpi_cpu_queues_close(wpi_cpu_device *device) {
    pthread_mutex_lock(device->lock);
    for (wpi_cpu_queue *q = device->queues; q != NULL; q = q->next)
        q->is_destroyed = true;
    bury(device);
    pthread_mutex_unlock(device->lock);
}

const wpi_queue_ops wpi_cpu_queue_ops = {
    .create = create,
    .destroy = destroy,
    .wait = wait,
    .is_idle = is_idle,
    .copy = copy,
    .fill = fill,
    .launch = launch,
    .host_call = host_call,
    .wait_event = wait_event,
    .wait_word = wait_word,
    .write_word = write_word,
    .prefetch = prefetch,
};

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The CPU device: its properties, parameters and errors.
 *
 * It reports compute capability 8.0, or more if the program was compiled for more, and as many SMs
 * as workers, so that programs that size their grids by device properties work well.
 */
#define _GNU_SOURCE /* sched_getaffinity, pthread_getattr_np */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/param.h"
#include "base/units.h"
#include "device/cpu/check/access_check.h"
#include "device/cpu/queue.h"
#include "device/image.h"
#include "report/recorder.h"

const wpi_param wpi_cpu_params[] = {
    {"workers", WP_UNIT_NUMBER, "0", 0, 1024,
     "number of threads of the CPU device; 0: one for each processor of this process"},
    {"cpu-isa", WP_UNIT_TEXT, "best", 0, 0,
     "instruction set of kernels: best (of this processor), or baseline for any x86-64"},
    {"lockstep", WP_UNIT_NUMBER, "0", 0, 1,
     "1: the lanes of a warp stay in step in kernels of cpu and simulated GPUs, as with wpcc "
     "--lockstep"},
    {0}};

bool wpi_thread_stack(uintptr_t *low, size_t *bytes) {
    pthread_attr_t attr;
    void *first = NULL;
    *low = 0;
    *bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attr) != 0) return false;
    const bool is_known = pthread_attr_getstack(&attr, &first, bytes) == 0;
    pthread_attr_destroy(&attr);
    *low = (uintptr_t)first;
    return is_known;
}

size_t wpi_thread_stack_bytes(void) {
    uintptr_t low;
    size_t bytes;
    return wpi_thread_stack(&low, &bytes) ? bytes : 0;
}

/* ---- errors ---- */

void wpi_cpu_device_fail(wpi_cpu_device *device, const wp_error *error) {
    pthread_mutex_lock(device->lock);
    const bool is_first = !atomic_load(&device->has_failed);
    if (is_first) {
        device->sticky = *error;
        atomic_store(&device->has_failed, true);
    }
    pthread_mutex_unlock(device->lock);
    if (is_first) wpi_log(WP_LOG_ERROR, "device", "%s", error->message);
    if (is_first && wpi_check_is_on()) wpi_check_device_error(error);
}

void wpi_cpu_device_fail_with(wpi_cpu_device *device, wpi_cpu_device *other) {
    if (device == other || atomic_load(&device->has_failed)) return;
    pthread_mutex_lock(device->lock);
    device->sticky = other->sticky;
    atomic_store(&device->has_failed, true);
    pthread_mutex_unlock(device->lock);
}

wp_status wpi_cpu_device_sticky_error(wp_device *base, wp_error *err) {
    wpi_cpu_device *device = (wpi_cpu_device *)base;
    if (!atomic_load(&device->has_failed)) return WP_STATUS_OK;
    pthread_mutex_lock(device->lock);
    const wp_error sticky = device->sticky;
    pthread_mutex_unlock(device->lock);
    if (err != NULL) *err = sticky;
    return sticky.status;
}

/* ---- what it is ---- */

static uint32_t processor_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return (uint32_t)CPU_COUNT(&set);
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint32_t)count : 1;
}

/* The processor's brand string, without the padding blanks it may start with. */
static void processor_name(char *out, size_t out_bytes) {
    unsigned words[13] = {0};
#if defined(__x86_64__)
    if (__get_cpuid_max(0x80000000u, NULL) >= 0x80000004u) {
        for (unsigned i = 0; i < 3; i++) {
            unsigned *w = &words[4 * i];
            __get_cpuid(0x80000002u + i, &w[0], &w[1], &w[2], &w[3]);
        }
    }
#endif
    const char *name = (const char *)words;
    while (*name == ' ')
        name++;
    snprintf(out, out_bytes, "%s", *name != '\0' ? name : "CPU");
}

static uint64_t cycle_count(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return wpi_clock_ns();
#endif
}

/* The rate of clock64() in Hz: as the processor reports it, or else measured briefly. */
static uint64_t clock_rate_hz(void) {
#if defined(__x86_64__)
    unsigned denominator, numerator, crystal_hz, rest;
    if (__get_cpuid(0x15, &denominator, &numerator, &crystal_hz, &rest) && denominator != 0 &&
        numerator != 0 && crystal_hz != 0) {
        return (uint64_t)crystal_hz * numerator / denominator;
    }
#endif
    const uint64_t start_ns = wpi_clock_ns(), start = cycle_count();
    uint64_t end_ns = start_ns;
    while (end_ns - start_ns < 200000)
        end_ns = wpi_clock_ns();
    const uint64_t hz = (cycle_count() - start) * 1000000000u / (end_ns - start_ns);
    return (hz + 500000) / 1000000 * 1000000;
}

static uint64_t physical_bytes(void) {
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : WP_GIB;
}

enum { CAPABILITY = 80 };

static uint32_t capability(void) {
    const uint32_t highest = wpi_image_arch_highest();
    return highest > CAPABILITY ? highest : CAPABILITY;
}

static void fill_info(wp_device_info *info, uint32_t worker_count, uint64_t memory_bytes) {
    *info = (wp_device_info){
        .spec = "cpu",
        .sm_count = worker_count,
        .compute_major = capability() / 10,
        .compute_minor = capability() % 10,
        .threads_per_block_max = 1024,
        .threads_per_sm_max = 2048,
        .blocks_per_sm_max = 32,
        .registers_per_sm = 65536,
        .registers_per_block = 65536,
        .shared_bytes_per_block = WPI_SHARED_BYTES_DEFAULT,
        .shared_bytes_per_block_optin = WPI_SHARED_BYTES_OPTIN,
        .shared_bytes_per_sm = WPI_SHARED_BYTES_SM,
        .memory_bytes = memory_bytes,
        .constant_bytes = 64 * WP_KIB,
        .clock_hz = clock_rate_hz(),
        /* Checked kernels may use only memory that every GPU can access. */
        .host_pointers_are_device_pointers = !wpi_check_is_on(),
        .has_page_faults = true,
        .cluster_blocks_max = WP_CLUSTER_BLOCKS_MAX,
    };
    const long l2_bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    info->l2_bytes = l2_bytes > 0 ? (uint64_t)l2_bytes : 0;
    processor_name(info->name, sizeof info->name);
}

/* ---- limits ---- */

static wp_status set_heap_bytes(wpi_cpu_device *device, uint64_t bytes, wp_error *err) {
    pthread_mutex_lock(device->lock);
    wpi_heap *heap = atomic_load(&device->heap);
    const bool is_in_use = heap != NULL && !wpi_heap_is_empty(heap);
    if (!is_in_use) {
        atomic_store(&device->heap, NULL);
        atomic_store(&device->heap_bytes, bytes);
    }
    pthread_mutex_unlock(device->lock);
    if (is_in_use) {
        return WP_FAIL(
            err, INVALID,
            "the device heap contains allocations: set its size before kernels allocate");
    }
    wpi_heap_destroy(heap);
    return WP_STATUS_OK;
}

wp_status wpi_cpu_device_set_limit(wp_device *base, wpi_limit limit, uint64_t value,
                                   wp_error *err) {
    wpi_cpu_device *device = (wpi_cpu_device *)base;
    WP_TRY(wpi_cpu_device_wait(base, err));
    switch (limit) {
    case WPI_LIMIT_STACK:
        if (value > WP_GIB) return WP_FAIL(err, INVALID, "a stack of more than 1 GiB per thread");
        /* CPU code needs more stack than a GPU's: the default is also the minimum. */
        atomic_store(&device->stack_bytes,
                     value > WPI_STACK_BYTES_DEFAULT ? value : WPI_STACK_BYTES_DEFAULT);
        return WP_STATUS_OK;
    case WPI_LIMIT_HEAP: return set_heap_bytes(device, value, err);
    case WPI_LIMIT_PRINTF_FIFO: wpi_output_set_capacity(device->output, value); return WP_STATUS_OK;
    case WPI_LIMIT_SYNC_DEPTH:
        if (value > WPI_NEST_DEPTH_MAX)
            return WP_FAIL(err, INVALID, "grids nest at most %u levels deep", WPI_NEST_DEPTH_MAX);
        atomic_store(&device->nest_sync_depth, (uint32_t)value);
        return WP_STATUS_OK;
    case WPI_LIMIT_PENDING_LAUNCHES:
        atomic_store(&device->nest_waiting_max, value < UINT32_MAX ? (uint32_t)value : UINT32_MAX);
        return WP_STATUS_OK;
    default: return WP_FAIL(err, INVALID, "there is no limit %d", (int)limit);
    }
}

wp_status wpi_cpu_device_get_limit(wp_device *base, wpi_limit limit, uint64_t *value,
                                   wp_error *err) {
    wpi_cpu_device *device = (wpi_cpu_device *)base;
    switch (limit) {
    case WPI_LIMIT_STACK: *value = atomic_load(&device->stack_bytes); return WP_STATUS_OK;
    case WPI_LIMIT_HEAP: *value = atomic_load(&device->heap_bytes); return WP_STATUS_OK;
    case WPI_LIMIT_PRINTF_FIFO: *value = wpi_output_capacity(device->output); return WP_STATUS_OK;
    case WPI_LIMIT_SYNC_DEPTH: *value = atomic_load(&device->nest_sync_depth); return WP_STATUS_OK;
    case WPI_LIMIT_PENDING_LAUNCHES:
        *value = atomic_load(&device->nest_waiting_max);
        return WP_STATUS_OK;
    default: return WP_FAIL(err, INVALID, "there is no limit %d", (int)limit);
    }
}

void wpi_cpu_device_flush_output(wp_device *base) {
    wpi_output_flush(((wpi_cpu_device *)base)->output);
}

/* ---- life ---- */

wp_queue *wpi_cpu_device_default_queue(wp_device *base) {
    return (wp_queue *)((wpi_cpu_device *)base)->default_queue;
}

/* Frees everything that the program created, and restores the variables' initial values. */
static wp_status reset(wp_device *base, wp_error *err) {
    wpi_cpu_device *device = (wpi_cpu_device *)base;
    (void)err;
    (void)wpi_cpu_device_wait(base, NULL); /* its error is cleared below */
    wpi_cpu_modules_reset(device);
    wpi_cpu_memory_free_all(device, false);
    wpi_heap_destroy(atomic_exchange(&device->heap, NULL));
    atomic_store(&device->heap_bytes, WPI_HEAP_BYTES_DEFAULT);
    atomic_store(&device->stack_bytes, WPI_STACK_BYTES_DEFAULT);
    wpi_output_set_capacity(device->output, WPI_PRINTF_BYTES_DEFAULT);
    pthread_mutex_lock(device->lock);
    device->sticky = (wp_error){0};
    atomic_store(&device->has_failed, false);
    pthread_mutex_unlock(device->lock);
    return WP_STATUS_OK;
}

static wp_status join_group(wpi_cpu_device *device, wpi_cpu_device *beside, wp_error *err) {
    device->group = beside != NULL ? beside->group : wpi_calloc(1, sizeof *device->group);
    if (device->group == NULL) return WP_FAIL(err, NOMEM, "cpu device");
    if (beside == NULL) pthread_mutex_init(&device->group->lock, NULL);
    device->lock = &device->group->lock;
    device->base.group = device->group;
    pthread_mutex_lock(device->lock);
    wpi_cpu_device **link = &device->group->devices;
    for (; *link != NULL; link = &(*link)->next)
        device->base.number++;
    *link = device;
    pthread_mutex_unlock(device->lock);
    return WP_STATUS_OK;
}

static void leave_group(wpi_cpu_device *device) {
    wpi_cpu_group *group = device->group;
    if (group == NULL) return;
    pthread_mutex_lock(&group->lock);
    wpi_cpu_device **link = &group->devices;
    while (*link != device)
        link = &(*link)->next;
    *link = device->next;
    const bool is_last = group->devices == NULL;
    pthread_mutex_unlock(&group->lock);
    if (!is_last) return;
    pthread_mutex_destroy(&group->lock);
    wpi_free(group);
}

static void close_device(wp_device *base) {
    wpi_cpu_device *device = (wpi_cpu_device *)base;
    if (device->default_queue != NULL) (void)wpi_cpu_device_wait(base, NULL);
    if (device->group != NULL) wpi_cpu_queues_close(device);
    wpi_pool_destroy(device->pool);
    wpi_cpu_memory_free_all(device, true);
    wpi_heap_destroy(atomic_load(&device->heap));
    if (device->output != NULL) wpi_output_flush(device->output);
    wpi_output_destroy(device->output);
    pthread_mutex_destroy(&device->memory.lock);
    leave_group(device);
    wpi_variant_deinit(&device->lockstep);
    wpi_free(device);
}

/* Kernels can always use all memory of the process; checks tell. */
static wp_status set_peer_access(wp_device *base, wp_device *peer, bool is_on, wp_error *err) {
    wpi_cpu_device *device = (wpi_cpu_device *)base;
    const uint32_t bit = 1u << peer->number;
    (void)err;
    if (is_on)
        (void)atomic_fetch_or(&device->peers, bit);
    else
        (void)atomic_fetch_and(&device->peers, ~bit);
    return WP_STATUS_OK;
}

const wpi_device_ops wpi_cpu_device_ops = {
    WPI_CPU_DEVICE_SHARED_OPS,
    .kind = "cpu",
    .close = close_device,
    .wait = wpi_cpu_device_wait,
    .reset = reset,
    .memory_alloc = wpi_cpu_memory_alloc,
    .memory_free = wpi_cpu_memory_free,
    .set_peer_access = set_peer_access,
};

static wp_status open_beside(const char *rest, wp_device *beside, wp_device **out, wp_error *err) {
    if (rest[0] != '\0') {
        return WP_FAIL(err, NOT_FOUND, "the device is named 'cpu', without ':%s'", rest);
    }
    wpi_param_value workers, isa;
    uint64_t limit_bytes;
    WP_TRY(wpi_param_load(&wpi_cpu_params[0], &workers, err));
    WP_TRY(wpi_param_load(&wpi_cpu_params[1], &isa, err));
    WP_TRY(wpi_device_memory_limit(&limit_bytes, err));
    if (strcmp(isa.text, "best") != 0 && strcmp(isa.text, "baseline") != 0) {
        return WP_FAIL(err, INVALID, "WARPAGE_CPU_ISA is '%s'; it must be best or baseline",
                       isa.text);
    }
    WP_TRY(wpi_check_start(err));
    const uint32_t worker_count =
        workers.number != 0 ? (uint32_t)workers.number : processor_count();
    wpi_cpu_device *device = wpi_calloc(1, sizeof *device);
    if (device == NULL) return WP_FAIL(err, NOMEM, "cpu device");
    device->base.ops = &wpi_cpu_device_ops;
    WP_TRY(wpi_cpu_device_init(device, (wpi_cpu_device *)beside, worker_count, limit_bytes, err));
    wpi_report_device(device->base.info.spec, device->base.info.name);
    *out = &device->base;
    return WP_STATUS_OK;
}

static wp_status open_device(const char *rest, wp_device **out, wp_error *err) {
    return open_beside(rest, NULL, out, err);
}

/* With the parameter lockstep, kernels are a variant. */
static wp_status choose_lockstep(wpi_cpu_device *device, wp_error *err) {
    wpi_param_value value;
    WP_TRY(wpi_param_load(&wpi_cpu_params[2], &value, err));
    device->is_in_lockstep = value.number != 0;
    device->lockstep = (wpi_variant){.kind = WP_VARIANT_COPY};
    if (device->is_in_lockstep) wpi_strings_add(&device->lockstep.rewrites, "lockstep");
    return WP_STATUS_OK;
}

wp_status wpi_cpu_device_init(wpi_cpu_device *device, wpi_cpu_device *beside, uint32_t worker_count,
                              uint64_t limit_bytes, wp_error *err) {
    wpi_fault_install();
    pthread_mutex_init(&device->memory.lock, NULL);
    device->memory.limit_bytes = limit_bytes != 0 ? limit_bytes : physical_bytes();
    device->heap_bytes = WPI_HEAP_BYTES_DEFAULT;
    device->stack_bytes = WPI_STACK_BYTES_DEFAULT;
    device->nest_waiting_max = WPI_NEST_WAITING_DEFAULT;
    device->nest_sync_depth = WPI_NEST_SYNC_DEPTH_DEFAULT;
    fill_info(&device->base.info, worker_count, device->memory.limit_bytes);

    wp_status status;
    wp_queue *queue;
    WP_TRY_GOTO(choose_lockstep(device, err), failed);
    WP_TRY_GOTO(join_group(device, beside, err), failed);
    WP_TRY_GOTO(wpi_output_create(&device->output, err), failed);
    WP_TRY_GOTO(wpi_pool_create(device, worker_count, &device->pool, err), failed);
    WP_TRY_GOTO(wpi_cpu_queue_ops.create(&device->base, true, 0, &queue, err), failed);
    device->default_queue = (wpi_cpu_queue *)queue;
    return WP_STATUS_OK;

failed:
    close_device(&device->base);
    return status;
}

const wpi_device_kind wpi_device_kind_cpu = {
    .name = "cpu",
    .summary = "this machine's processors",
    .example = "",
    .open = open_device,
    .open_beside = open_beside,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices of the process, named by WARPAGE_DEVICE ("cpu" without it; "cpu,cpu": two): opened
 * by the first call that needs one, open until the process ends. Each thread has a current one,
 * number 0 at first.
 *
 * At exit, work that was queued and never waited for gets a short while to finish, so that its
 * output appears; a kernel that does not end is dropped, as a GPU driver would. Devices are never
 * closed: static destructors and detached threads may still call the runtime.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/log.h"
#include "cudart/cudart.h"
#include "cudart/graph/graph.h"
#include "cudart/process/process.h"
#include "device/device.h"

/* How long exit() waits for work under way. */
#define EXIT_GRACE_NS 2000000000u
#define EXIT_POLL_NS 1000000u

static struct {
    pthread_mutex_t lock;
    wp_device *devices[WP_DEVICES_MAX]; /* written before `count` */
    _Atomic uint32_t count;
    cudaError_t open_error; /* a failed opening is not tried again */
    atomic_uint flags;
    _Atomic uint64_t epochs[WP_DEVICES_MAX];
    atomic_bool is_work_dropped;
} context = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local uint32_t current;

static void finish_at_exit(void) {
    const struct timespec poll = {.tv_sec = 0, .tv_nsec = EXIT_POLL_NS};
    for (uint64_t waited_ns = 0; !wpi_streams_are_idle(); waited_ns += EXIT_POLL_NS) {
        if (waited_ns >= EXIT_GRACE_NS) {
            atomic_store(&context.is_work_dropped, true);
            wpi_log(WP_LOG_WARN, "cuda",
                    "the program exited while kernels or copies were running; "
                    "call cudaDeviceSynchronize() before exiting");
            return;
        }
        nanosleep(&poll, NULL);
    }
    wpi_streaming_end();
    wpi_cache_collect();
    for (uint32_t d = 0; d < wpi_device_count(); d++)
        wpi_device_flush_output(wpi_device_at(d));
}

const char *wpi_device_spec(void) {
    const char *spec = getenv("WARPAGE_DEVICE");
    return spec == NULL || *spec == '\0' ? "cpu" : spec;
}

static cudaError_t open_locked(void) {
    const char *spec = wpi_device_spec();
    uint32_t count = 0;
    wp_error err = {0};
    const wp_status status = wp_devices_open(spec, context.devices, &count, &err);
    if (status != WP_STATUS_OK) {
        context.open_error = status == WP_STATUS_NOMEM || status == WP_STATUS_DEVICE_NOMEM
                                 ? cudaErrorMemoryAllocation
                                 : cudaErrorNoDevice;
        wpi_log(WP_LOG_ERROR, "cuda", "no device: %s",
                err.message[0] != '\0' ? err.message : wp_status_string(status));
        return context.open_error;
    }
    atomic_store_explicit(&context.count, count, memory_order_release);
    if (atexit(finish_at_exit) != 0)
        wpi_log(WP_LOG_WARN, "cuda",
                "work that is running at exit will be dropped: atexit is full");
    return cudaSuccess;
}

static cudaError_t open_devices(void) {
    if (wpi_device_count() != 0) return cudaSuccess;
    pthread_mutex_lock(&context.lock);
    cudaError_t error = context.open_error;
    if (error == cudaSuccess && wpi_device_count() == 0) error = open_locked();
    pthread_mutex_unlock(&context.lock);
    return wpi_note(error);
}

static _Thread_local bool is_driver_call, uses_runtime;

bool wpi_thread_uses_runtime(void) {
    return uses_runtime;
}

void wpi_set_driver_call(bool is_call) {
    is_driver_call = is_call;
}

cudaError_t wpi_enter_any(wp_device **device) {
    if (!is_driver_call) uses_runtime = true;
    *device = NULL;
    WPI_TRY(open_devices());
    *device = context.devices[current];
    return cudaSuccess;
}

cudaError_t wpi_enter_device(int number, wp_device **device) {
    WPI_TRY(wpi_enter_any(device));
    if (number < 0 || (uint32_t)number >= wpi_device_count())
        return wpi_note(cudaErrorInvalidDevice);
    *device = context.devices[number];
    return cudaSuccess;
}

cudaError_t wpi_enter(wp_device **device) {
    if (wpi_in_callback()) return wpi_note(cudaErrorNotPermitted);
    WPI_TRY(wpi_enter_any(device));
    return wpi_note(wpi_error_sticky(*device));
}

wp_device *wpi_device_if_open(void) {
    return wpi_device_count() != 0 ? context.devices[current] : NULL;
}

uint32_t wpi_device_count(void) {
    return atomic_load_explicit(&context.count, memory_order_acquire);
}

wp_device *wpi_device_at(uint32_t number) {
    return context.devices[number];
}

uint32_t wpi_device_current(void) {
    return current;
}

void wpi_device_set_current(uint32_t number) {
    current = number;
}

bool wpi_allocation_find(const void *address, wp_allocation *out, wp_device **device) {
    for (uint32_t d = 0; d < wpi_device_count(); d++) {
        if (!wp_memory_find(context.devices[d], address, out)) continue;
        if (device != NULL) *device = context.devices[d];
        return true;
    }
    return false;
}

cudaError_t wpi_wait_all(void) {
    for (uint32_t d = 0; d < wpi_device_count(); d++) {
        wp_error err = {0};
        WPI_TRY(wpi_result(wp_device_wait(context.devices[d], &err), &err));
    }
    return cudaSuccess;
}

bool wpi_context_work_was_dropped(void) {
    return atomic_load(&context.is_work_dropped);
}

unsigned wpi_context_flags(void) {
    return atomic_load(&context.flags);
}

void wpi_context_set_flags(unsigned flags) {
    atomic_store(&context.flags, flags);
}

uint64_t wpi_context_epoch(const wp_device *device) {
    return atomic_load_explicit(&context.epochs[device->number], memory_order_acquire);
}

void wpi_context_forget(wp_device *device) {
    atomic_fetch_add(&context.epochs[device->number], 1);
    wpi_streams_forget(device);
    wpi_events_forget(device);
    wpi_textures_forget(device);
    wpi_arrays_forget(device);
    wpi_advice_forget_all(device);
    wpi_pool_forget_all(device);
    wpi_shared_memory_forget_all(device);
    wpi_graph_memory_forget_all(device->number);
    wpi_functions_forget(device);
    wpi_variables_reset(device);
    wpi_error_reset();
}

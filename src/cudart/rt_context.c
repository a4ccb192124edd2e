/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one device of the process, named by WARPAGE_DEVICE ("cpu" without it): opened by the first
 * call that needs it, open until the process ends.
 *
 * At exit, work that was queued and never waited for gets a short while to finish, so that its
 * output appears; a kernel that does not end is dropped, as a GPU driver would. The device is never
 * closed: static destructors and detached threads may still call the runtime.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/log.h"
#include "cudart/cudart.h"
#include "device/device.h"

/* How long exit() waits for work under way. */
#define EXIT_GRACE_NS 2000000000u
#define EXIT_POLL_NS 1000000u

static struct {
    pthread_mutex_t lock;
    _Atomic(wp_device *) device;
    cudaError_t open_error; /* a failed opening is not tried again */
    atomic_uint flags;
    _Atomic uint64_t epoch;
    atomic_bool is_work_dropped;
} context = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void finish_at_exit(void) {
    wp_device *device = atomic_load(&context.device);
    const struct timespec poll = {.tv_sec = 0, .tv_nsec = EXIT_POLL_NS};
    for (uint64_t waited_ns = 0; !wpi_streams_are_idle(device); waited_ns += EXIT_POLL_NS) {
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
    wpi_device_flush_output(device);
}

const char *wpi_device_spec(void) {
    const char *spec = getenv("WARPAGE_DEVICE");
    return spec == NULL || *spec == '\0' ? "cpu" : spec;
}

static cudaError_t open_locked(void) {
    const char *spec = wpi_device_spec();
    wp_device *device = NULL;
    wp_error err = {0};
    const wp_status status = wp_device_open(spec, &device, &err);
    if (status != WP_STATUS_OK) {
        context.open_error = status == WP_STATUS_NOMEM || status == WP_STATUS_DEVICE_NOMEM
                                 ? cudaErrorMemoryAllocation
                                 : cudaErrorNoDevice;
        wpi_log(WP_LOG_ERROR, "cuda", "no device: %s",
                err.message[0] != '\0' ? err.message : wp_status_string(status));
        return context.open_error;
    }
    atomic_store(&context.device, device);
    if (atexit(finish_at_exit) != 0)
        wpi_log(WP_LOG_WARN, "cuda",
                "work that is running at exit will be dropped: atexit is full");
    return cudaSuccess;
}

static cudaError_t open_device(wp_device **out) {
    wp_device *device = atomic_load_explicit(&context.device, memory_order_acquire);
    if (device == NULL) {
        pthread_mutex_lock(&context.lock);
        cudaError_t error = context.open_error;
        if (error == cudaSuccess && atomic_load(&context.device) == NULL) error = open_locked();
        pthread_mutex_unlock(&context.lock);
        if (error != cudaSuccess) return wpi_note(error);
        device = atomic_load(&context.device);
    }
    *out = device;
    return cudaSuccess;
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
    return open_device(device);
}

cudaError_t wpi_enter(wp_device **device) {
    if (wpi_in_callback()) return wpi_note(cudaErrorNotPermitted);
    WPI_TRY(wpi_enter_any(device));
    return wpi_note(wpi_error_sticky(*device));
}

wp_device *wpi_device_if_open(void) {
    return atomic_load_explicit(&context.device, memory_order_acquire);
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

uint64_t wpi_context_epoch(void) {
    return atomic_load_explicit(&context.epoch, memory_order_acquire);
}

void wpi_context_forget(void) {
    atomic_fetch_add(&context.epoch, 1);
    wpi_streams_forget();
    wpi_events_forget();
    wpi_textures_forget();
    wpi_arrays_forget();
    wpi_advice_forget_all();
    wpi_pool_forget_all();
    wpi_functions_forget();
    wpi_variables_reset();
    wpi_error_reset();
}

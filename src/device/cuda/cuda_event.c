/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Events. The driver returns only the time between two events, as a float of milliseconds with
 * steps of half a microsecond. So times are relative to an event recorded when the device was
 * opened, and lose digits as the process runs longer; `elapsed_ns` does not.
 */
#include "base/alloc.h"
#include "device/cuda/cuda.h"

static wpi_cuda_device *device_of(const wpi_cuda_event *event) {
    return wpi_cuda_of(event->base.device);
}

wp_status wpi_cuda_event_restore(wpi_cuda_event *event, wp_error *err) {
    wpi_cuda_device *device = device_of(event);
    event->event = NULL;
    atomic_store(&event->is_recorded, false);
    return wpi_cuda_check(device, device->cu->event_create(&event->event, event->flags),
                          "making an event", err);
}

/* The flags are the driver's own. */
_Static_assert((int)WPI_EVENT_BLOCKING_SYNC == (int)WPI_CU_EVENT_BLOCKING_SYNC &&
                   (int)WPI_EVENT_NO_TIMING == (int)WPI_CU_EVENT_NO_TIMING,
               "flags of events");

static wp_status create(wp_device *base, uint32_t flags, wp_event **out, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(base);
    WP_TRY(wpi_cuda_enter(device, err));
    wpi_cuda_event *event = wpi_calloc(1, sizeof *event);
    if (event == NULL) return WP_FAIL(err, NOMEM, "event");
    event->base.device = base;
    event->flags = flags;
    const wp_status status = wpi_cuda_event_restore(event, err);
    if (status != WP_STATUS_OK) {
        wpi_free(event);
        return status;
    }
    wpi_link_add(device, &device->events, &event->link);
    *out = &event->base;
    return WP_STATUS_OK;
}

static void destroy(wp_event *base) {
    wpi_cuda_event *event = (wpi_cuda_event *)base;
    wpi_cuda_device *device = device_of(event);
    wpi_link_remove(device, &event->link);
    if (wpi_cuda_enter(device, NULL) == WP_STATUS_OK && event->event != NULL) {
        const wp_status ignored = wpi_cuda_check_end(
            device, device->cu->event_destroy(event->event), "destroying an event", NULL);
        (void)ignored;
    }
    wpi_free(event);
}

static wp_status record(wp_event *base, wp_queue *queue, wp_error *err) {
    wpi_cuda_event *event = (wpi_cuda_event *)base;
    wpi_cuda_device *device = device_of(event);
    WP_TRY(wpi_cuda_enter(device, err));
    WP_TRY(wpi_cuda_check(device,
                          device->cu->event_record(event->event, ((wpi_cuda_queue *)queue)->stream),
                          "recording an event", err));
    atomic_store(&event->is_recorded, true);
    return WP_STATUS_OK;
}

static wp_status wait(wp_event *base, wp_error *err) {
    wpi_cuda_event *event = (wpi_cuda_event *)base;
    wpi_cuda_device *device = device_of(event);
    WP_TRY(wpi_cuda_enter(device, err));
    return wpi_cuda_check(device, device->cu->event_wait(event->event), "waiting for an event",
                          err);
}

static bool is_complete(const wp_event *base) {
    const wpi_cuda_event *event = (const wpi_cuda_event *)base;
    wpi_cuda_device *device = device_of(event);
    if (wpi_cuda_enter(device, NULL) != WP_STATUS_OK) return true;
    const wpi_cu_result result = device->cu->event_query(event->event);
    if (result == WPI_CU_NOT_READY) return false;
    const wp_status ignored = wpi_cuda_check(device, result, "asking an event", NULL);
    (void)ignored; /* kept if it is sticky */
    return true;
}

static int64_t between_ns(wpi_cuda_device *device, wpi_cu_event first, wpi_cu_event second) {
    float ms = 0;
    if (wpi_cuda_enter(device, NULL) != WP_STATUS_OK ||
        wpi_cuda_check(device, device->cu->event_elapsed(&ms, first, second), "timing an event",
                       NULL) != WP_STATUS_OK) {
        return 0;
    }
    return (int64_t)((double)ms * 1e6);
}

static int64_t elapsed_ns(const wp_event *first, const wp_event *second) {
    const wpi_cuda_event *a = (const wpi_cuda_event *)first, *b = (const wpi_cuda_event *)second;
    return between_ns(device_of(a), a->event, b->event);
}

static uint64_t time_ns(const wp_event *base) {
    const wpi_cuda_event *event = (const wpi_cuda_event *)base;
    wpi_cuda_device *device = device_of(event);
    if ((event->flags & WPI_CU_EVENT_NO_TIMING) != 0 || !atomic_load(&event->is_recorded) ||
        !is_complete(base))
        return 0;
    const int64_t since_start_ns = between_ns(device, device->start, event->event);
    return since_start_ns > 0 ? (uint64_t)since_start_ns : 1;
}

const wpi_event_ops wpi_cuda_event_ops = {
    .create = create,
    .destroy = destroy,
    .record = record,
    .wait = wait,
    .is_complete = is_complete,
    .time_ns = time_ns,
    .elapsed_ns = elapsed_ns,
};

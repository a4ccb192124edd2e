/* SPDX-License-Identifier: Apache-2.0 */
/* Events: marks in a stream, for waits, queries and times. */
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "cudart/cudart.h"
#include "cudart/graph/graph.h"
#include "cudart/process/process.h"
#include "device/device.h"

#define EVENT_FLAGS                                                                                \
    ((unsigned)(cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess))

struct CUevent_st {
    wp_event *event;
    wpi_shared_event *shared; /* of an event for other processes, which is its state */
    unsigned flags;
    atomic_bool is_recorded;
    wpi_event_capture captured; /* of its last record, if that was captured */
};

static void destroy(struct CUevent_st *event) {
    wp_event_destroy(event->event);
    wpi_free(event->captured.nodes);
    wpi_shared_event_release(event->shared);
    wpi_free(event);
}

static bool is_on(void *event, const void *device) {
    return ((struct CUevent_st *)event)->event->device == device;
}

void wpi_events_forget(const wp_device *device) {
    struct CUevent_st *event;
    while ((event = wpi_handle_take(WPI_HANDLE_EVENT, is_on, device)) != NULL)
        destroy(event);
}

/* Every call on an event begins so. */
static cudaError_t enter(wp_device **device, cudaEvent_t event) {
    WPI_TRY(wpi_enter(device));
    if (event == NULL || !wpi_handle_is_live(WPI_HANDLE_EVENT, event))
        return wpi_note(cudaErrorInvalidResourceHandle);
    return cudaSuccess;
}

/* Takes `shared`. */
static cudaError_t create(wp_device *device, unsigned flags, wpi_shared_event *shared,
                          cudaEvent_t *event) {
    struct CUevent_st *made = wpi_calloc(1, sizeof *made);
    if (made == NULL) {
        wpi_shared_event_release(shared);
        return wpi_note(cudaErrorMemoryAllocation);
    }
    made->flags = flags;
    made->shared = shared;
    wp_error err = {0};
    cudaError_t error = wpi_result(wpi_event_create(device, flags, &made->event, &err), &err);
    if (error == cudaSuccess && !wpi_handle_add(WPI_HANDLE_EVENT, made))
        error = wpi_note(cudaErrorMemoryAllocation);
    if (error != cudaSuccess) {
        destroy(made);
        return error;
    }
    *event = made;
    return cudaSuccess;
}

WP_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    const bool is_interprocess = (flags & cudaEventInterprocess) != 0;
    if (event == NULL || (flags & ~EVENT_FLAGS) != 0 ||
        (is_interprocess && (flags & cudaEventDisableTiming) == 0))
        return wpi_note(cudaErrorInvalidValue);
    wpi_shared_event *shared = NULL;
    if (is_interprocess) {
        if (device->ops->range_reserve == NULL) return wpi_note(cudaErrorNotSupported);
        shared = wpi_shared_event_create();
        if (shared == NULL) return wpi_note(cudaErrorMemoryAllocation);
    }
    return create(device, flags, shared, event);
}

WP_API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event) {
    wp_device *device;
    wpi_shared_handle described;
    WPI_TRY(enter(&device, event));
    if (handle == NULL) return wpi_note(cudaErrorInvalidValue);
    if (event->shared == NULL || !wpi_shared_event_describe(event->shared, &described))
        return wpi_note(cudaErrorInvalidResourceHandle);
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &described, sizeof described);
    return cudaSuccess;
}

WP_API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle) {
    wp_device *device;
    wpi_shared_handle described;
    WPI_TRY(wpi_enter(&device));
    if (event == NULL) return wpi_note(cudaErrorInvalidValue);
    if (device->ops->range_reserve == NULL) return wpi_note(cudaErrorNotSupported);
    memcpy(&described, &handle, sizeof described);
    wpi_shared_event *shared = wpi_shared_event_open(&described);
    if (shared == NULL) return wpi_note(cudaErrorInvalidResourceHandle);
    return create(device, cudaEventInterprocess | cudaEventDisableTiming, shared, event);
}

WP_API cudaError_t cudaEventCreate(cudaEvent_t *event) {
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

WP_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
    wp_device *device;
    WPI_TRY(enter(&device, event));
    if (!wpi_handle_remove(WPI_HANDLE_EVENT, event))
        return wpi_note(cudaErrorInvalidResourceHandle); /* another thread destroyed it first */
    destroy(event);
    return cudaSuccess;
}

WP_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    wp_device *device;
    wp_queue *queue;
    WPI_TRY(enter(&device, event));
    WPI_TRY(wpi_stream_queue(device, stream, &queue));
    if (queue->device != event->event->device) return wpi_note(cudaErrorInvalidResourceHandle);
    cudaError_t captured;
    if (wpi_capture_is_on(stream, &captured))
        return captured != cudaSuccess ? captured : wpi_capture_record(stream, &event->captured);
    WPI_TRY(captured);
    event->captured.id = 0;
    wp_error err = {0};
    /* First, so that a wait for the event of this process includes it. */
    if (event->shared != NULL) WPI_TRY(wpi_shared_event_record(event->shared, queue));
    WPI_TRY(wpi_result(wp_event_record(event->event, queue, &err), &err));
    atomic_store(&event->is_recorded, true);
    return cudaSuccess;
}

/* The flag for events outside of a graph capture has no effect: there are no captures. */
WP_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                            unsigned int flags) {
    if (flags == cudaEventRecordExternal) return wpi_note(cudaErrorNotSupported);
    if (flags != cudaEventRecordDefault) return wpi_note(cudaErrorInvalidValue);
    return cudaEventRecord(event, stream);
}

WP_API cudaError_t cudaEventQuery(cudaEvent_t event) {
    wp_device *device;
    WPI_TRY(enter(&device, event));
    if (event->captured.id != 0) return wpi_note(cudaErrorCapturedEvent);
    if (!wp_event_is_complete(event->event) ||
        (event->shared != NULL && !wpi_shared_event_is_done(event->shared)))
        return wpi_note(cudaErrorNotReady);
    return wpi_note(wpi_error_sticky(event->event->device));
}

WP_API cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    wp_device *device;
    WPI_TRY(enter(&device, event));
    if (event->captured.id != 0) return wpi_note(cudaErrorCapturedEvent);
    wp_error err = {0};
    WPI_TRY(wpi_result(wp_event_wait(event->event, &err), &err));
    if (event->shared != NULL) wpi_shared_event_wait(event->shared);
    return wpi_note(wpi_error_sticky(event->event->device));
}

WP_API cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end) {
    wp_device *device;
    WPI_TRY(enter(&device, start));
    WPI_TRY(enter(&device, end));
    if (ms == NULL) return wpi_note(cudaErrorInvalidValue);
    if (((start->flags | end->flags) & cudaEventDisableTiming) != 0 ||
        !atomic_load(&start->is_recorded) || !atomic_load(&end->is_recorded) ||
        start->event->device != end->event->device)
        return wpi_note(cudaErrorInvalidResourceHandle);
    if (!wp_event_is_complete(start->event) || !wp_event_is_complete(end->event))
        return wpi_note(cudaErrorNotReady);
    const int64_t elapsed_ns = wpi_event_elapsed_ns(start->event, end->event);
    *ms = (float)((double)elapsed_ns * 1e-6);
    return cudaSuccess;
}

WP_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
    wp_device *device;
    wp_queue *queue;
    WPI_TRY(enter(&device, event));
    WPI_TRY(wpi_stream_queue(device, stream, &queue));
    if (flags == cudaEventWaitExternal) return wpi_note(cudaErrorNotSupported);
    if (flags != cudaEventWaitDefault) return wpi_note(cudaErrorInvalidValue);
    cudaError_t captured;
    if (wpi_capture_is_on(stream, &captured) || event->captured.id != 0) {
        WPI_TRY(captured);
        if (queue->device != event->event->device) return wpi_capture_refuse(stream);
        return wpi_capture_wait(stream, &event->captured);
    }
    WPI_TRY(captured);
    if (event->shared != NULL) return wpi_shared_event_queue_wait(event->shared, queue);
    wp_error err = {0};
    return wpi_result(wp_queue_wait_event(queue, event->event, &err), &err);
}

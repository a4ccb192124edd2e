/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams are queues with a handle. Stream 0 and cudaStreamLegacy are the device's default queue;
 * cudaStreamPerThread is a queue of the calling thread, made at its first use.
 *
 * Host functions run on a thread of the device, in order with the stream's other work. They must
 * not call the runtime: wpi_enter checks `in_callback`.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "cudart/cudart.h"
#include "cudart/graph/graph.h"
#include "device/device.h"

#define PRIORITY_GREATEST (-5)
#define PRIORITY_LEAST 0

static atomic_uint_fast64_t next_id = 2; /* 1: the legacy default stream */

static _Thread_local bool in_callback;
static _Thread_local bool is_default_per_thread;

bool wpi_in_callback(void) {
    return in_callback;
}

void wpi_default_stream_set_per_thread(bool is_per_thread) {
    is_default_per_thread = is_per_thread;
}

/* ---- handles ---- */

static cudaError_t create(wp_device *device, unsigned flags, int priority,
                          struct CUstream_st **out) {
    *out = NULL;
    struct CUstream_st *stream = wpi_calloc(1, sizeof *stream);
    if (stream == NULL) return wpi_note(cudaErrorMemoryAllocation);
    wp_error err = {0};
    const bool is_blocking = (flags & cudaStreamNonBlocking) == 0;
    const cudaError_t error =
        wpi_result(wpi_queue_create(device, is_blocking, priority, &stream->queue, &err), &err);
    if (error != cudaSuccess) {
        wpi_free(stream);
        return error;
    }
    stream->flags = flags;
    stream->priority = priority;
    stream->sync_policy = cudaSyncPolicyAuto;
    stream->id = atomic_fetch_add(&next_id, 1);
    if (!wpi_handle_add(WPI_HANDLE_STREAM, stream)) {
        wp_queue_destroy(stream->queue);
        wpi_free(stream);
        return wpi_note(cudaErrorMemoryAllocation);
    }
    *out = stream;
    return cudaSuccess;
}

static void destroy(struct CUstream_st *stream) {
    wpi_capture_forget(stream);
    wp_queue_destroy(stream->queue);
    wpi_free(stream);
}

static bool is_on(void *stream, const void *device) {
    return ((struct CUstream_st *)stream)->queue->device == device;
}

void wpi_streams_forget(const wp_device *device) {
    struct CUstream_st *stream;
    while ((stream = wpi_handle_take(WPI_HANDLE_STREAM, is_on, device)) != NULL)
        destroy(stream);
}

static bool is_stream_idle(void *handle, void *arg) {
    (void)arg;
    return wp_queue_is_idle(((struct CUstream_st *)handle)->queue);
}

static bool is_all_idle(bool (*is_idle)(wp_device *device)) {
    bool is_so = true;
    for (uint32_t d = 0; d < wpi_device_count() && is_so; d++)
        is_so = is_idle(wpi_device_at(d));
    return is_so;
}

static bool is_default_idle(wp_device *device) {
    return wp_queue_is_idle(wp_device_default_queue(device));
}

bool wpi_streams_are_idle(void) {
    return is_all_idle(is_default_idle) &&
           wpi_handle_all(WPI_HANDLE_STREAM, is_stream_idle, NULL) &&
           is_all_idle(wpi_device_is_idle);
}

/* ---- the default stream of each thread ---- */

typedef struct own_stream {
    struct CUstream_st *stream;
    uint64_t epoch; /* a device reset destroyed streams of earlier epochs */
} own_stream;

typedef struct own_streams {
    own_stream on[WP_DEVICES_MAX];
} own_streams;

static pthread_once_t own_once = PTHREAD_ONCE_INIT;
static pthread_key_t own_key;
static bool has_own_key;

/* The thread ends; work in its queue still runs. */
static void forget_own(void *memory) {
    own_streams *all = memory;
    for (uint32_t d = 0; d < wpi_device_count(); d++) {
        own_stream *own = &all->on[d];
        if (own->stream != NULL && own->epoch == wpi_context_epoch(wpi_device_at(d)) &&
            wpi_handle_remove(WPI_HANDLE_STREAM, own->stream))
            destroy(own->stream);
    }
    wpi_free(all);
}

static void make_own_key(void) {
    has_own_key = pthread_key_create(&own_key, forget_own) == 0;
}

static cudaError_t find_own(wp_device *device, struct CUstream_st **out) {
    pthread_once(&own_once, make_own_key);
    if (!has_own_key) return wpi_note(cudaErrorMemoryAllocation);
    own_streams *all = pthread_getspecific(own_key);
    if (all == NULL) {
        all = wpi_calloc(1, sizeof *all);
        if (all == NULL || pthread_setspecific(own_key, all) != 0) {
            wpi_free(all);
            return wpi_note(cudaErrorMemoryAllocation);
        }
    }
    own_stream *own = &all->on[device->number];
    if (own->stream == NULL || own->epoch != wpi_context_epoch(device)) {
        own->epoch = wpi_context_epoch(device);
        WPI_TRY(create(device, cudaStreamDefault, PRIORITY_LEAST, &own->stream));
    }
    *out = own->stream;
    return cudaSuccess;
}

/* ---- look-up ---- */

static bool is_legacy(cudaStream_t stream) {
    return stream == NULL || stream == cudaStreamLegacy;
}

/* The structure behind a handle; NULL for the legacy default stream. */
static cudaError_t find(wp_device *device, cudaStream_t stream, struct CUstream_st **out) {
    *out = NULL;
    if (stream == NULL && is_default_per_thread) stream = cudaStreamPerThread;
    if (is_legacy(stream)) return cudaSuccess;
    if (stream == cudaStreamPerThread) return find_own(device, out);
    if (!wpi_handle_is_live(WPI_HANDLE_STREAM, stream))
        return wpi_note(cudaErrorInvalidResourceHandle);
    *out = stream;
    return cudaSuccess;
}

cudaError_t wpi_stream_queue(wp_device *device, cudaStream_t stream, wp_queue **out) {
    struct CUstream_st *found;
    WPI_TRY(find(device, stream, &found));
    *out = found != NULL ? found->queue : wp_device_default_queue(device);
    return cudaSuccess;
}

cudaStream_t wpi_stream_key(cudaStream_t stream) {
    wp_device *device = wpi_device_if_open();
    struct CUstream_st *own = NULL;
    if (stream == NULL && is_default_per_thread) stream = cudaStreamPerThread;
    if (is_legacy(stream)) return NULL;
    if (stream != cudaStreamPerThread) return stream;
    return device != NULL && find_own(device, &own) == cudaSuccess ? own : NULL;
}

cudaError_t wpi_queue_sync(wp_queue *queue) {
    wp_error err = {0};
    return wpi_result(wp_queue_wait(queue, &err), &err);
}

/* ---- creation and destruction ---- */

WP_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags,
                                                int priority) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (pStream == NULL || (flags & ~(unsigned)cudaStreamNonBlocking) != 0)
        return wpi_note(cudaErrorInvalidValue);
    if (priority < PRIORITY_GREATEST) priority = PRIORITY_GREATEST;
    if (priority > PRIORITY_LEAST) priority = PRIORITY_LEAST;
    return create(device, flags, priority, pStream);
}

WP_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags) {
    return cudaStreamCreateWithPriority(pStream, flags, PRIORITY_LEAST);
}

WP_API cudaError_t cudaStreamCreate(cudaStream_t *pStream) {
    return cudaStreamCreateWithFlags(pStream, cudaStreamDefault);
}

/* Returns at once; queued work still runs. */
WP_API cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (is_legacy(stream) || stream == cudaStreamPerThread)
        return wpi_note(cudaErrorInvalidResourceHandle);
    if (!wpi_handle_remove(WPI_HANDLE_STREAM, stream))
        return wpi_note(cudaErrorInvalidResourceHandle);
    destroy(stream);
    return cudaSuccess;
}

WP_API cudaError_t cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority) {
    if (leastPriority != NULL) *leastPriority = PRIORITY_LEAST;
    if (greatestPriority != NULL) *greatestPriority = PRIORITY_GREATEST;
    return cudaSuccess;
}

/* ---- waiting ---- */

WP_API cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    wp_device *device;
    wp_queue *queue;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(wpi_stream_queue(device, stream, &queue));
    cudaError_t captured;
    if (wpi_capture_is_on(stream, &captured)) return wpi_capture_refuse(stream);
    WPI_TRY(captured);
    return wpi_queue_sync(queue);
}

WP_API cudaError_t cudaStreamQuery(cudaStream_t stream) {
    wp_device *device;
    wp_queue *queue;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(wpi_stream_queue(device, stream, &queue));
    cudaError_t captured;
    if (wpi_capture_is_on(stream, &captured)) return wpi_capture_refuse(stream);
    WPI_TRY(captured);
    if (!wp_queue_is_idle(queue)) return wpi_note(cudaErrorNotReady);
    return wpi_note(wpi_error_sticky(queue->device));
}

/* ---- host functions ---- */

typedef struct host_call {
    cudaHostFn_t function;
    cudaStreamCallback_t callback; /* the older form, instead of `function` */
    cudaStream_t stream;
    wp_device *device;
    void *user;
} host_call;

static void run_host_call(void *arg) {
    const host_call call = *(host_call *)arg;
    wpi_free(arg);
    in_callback = true;
    if (call.function != NULL)
        call.function(call.user);
    else
        call.callback(call.stream, wpi_error_sticky(call.device), call.user);
    in_callback = false;
}

static cudaError_t queue_host_call(const host_call *call) {
    wp_device *device;
    wp_queue *queue;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(wpi_stream_queue(device, call->stream, &queue));
    if (call->function == NULL && call->callback == NULL) return wpi_note(cudaErrorInvalidValue);
    cudaError_t captured;
    if (wpi_capture_is_on(call->stream, &captured) || captured != cudaSuccess) {
        WPI_TRY(captured);
        return call->function != NULL ? wpi_capture_host(call->stream, call->function, call->user)
                                      : wpi_capture_refuse(call->stream);
    }
    host_call *queued = wpi_malloc(sizeof *queued);
    if (queued == NULL) return wpi_note(cudaErrorMemoryAllocation);
    *queued = *call;
    queued->device = queue->device;
    wp_error err = {0};
    const wp_status status = wp_queue_host_call(queue, run_host_call, queued, &err);
    if (status != WP_STATUS_OK) wpi_free(queued);
    return wpi_result(status, &err);
}

WP_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData) {
    const host_call call = {.function = fn, .stream = stream, .user = userData};
    return queue_host_call(&call);
}

WP_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                         void *userData, unsigned int flags) {
    if (flags != 0) return wpi_note(cudaErrorInvalidValue);
    const host_call call = {.callback = callback, .stream = stream, .user = userData};
    return queue_host_call(&call);
}

/* ---- queries ---- */

WP_API cudaError_t cudaStreamGetFlags(cudaStream_t hStream, unsigned int *flags) {
    wp_device *device;
    struct CUstream_st *stream;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(find(device, hStream, &stream));
    if (flags == NULL) return wpi_note(cudaErrorInvalidValue);
    *flags = stream != NULL ? stream->flags : cudaStreamDefault;
    return cudaSuccess;
}

WP_API cudaError_t cudaStreamGetPriority(cudaStream_t hStream, int *priority) {
    wp_device *device;
    struct CUstream_st *stream;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(find(device, hStream, &stream));
    if (priority == NULL) return wpi_note(cudaErrorInvalidValue);
    *priority = stream != NULL ? stream->priority : PRIORITY_LEAST;
    return cudaSuccess;
}

/* ---- attributes: hints, but for the priority, which is chosen when the stream is created ---- */

/* A stream; stream 0 keeps no attributes: `*out` is NULL then. */
static cudaError_t find_with_value(cudaStream_t stream, const void *value,
                                   struct CUstream_st **out) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(find(device, stream, out));
    return value != NULL ? cudaSuccess : wpi_note(cudaErrorInvalidValue);
}

WP_API cudaError_t cudaStreamSetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr,
                                          const cudaLaunchAttributeValue *value) {
    struct CUstream_st *stream;
    WPI_TRY(find_with_value(hStream, value, &stream));
    switch (attr) {
    case cudaLaunchAttributeAccessPolicyWindow:
        if (stream != NULL) stream->window = value->accessPolicyWindow;
        return cudaSuccess;
    case cudaLaunchAttributeSynchronizationPolicy:
        if (stream != NULL) stream->sync_policy = value->syncPolicy;
        return cudaSuccess;
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain: return cudaSuccess;
    default: return wpi_note(cudaErrorInvalidValue);
    }
}

WP_API cudaError_t cudaStreamGetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr,
                                          cudaLaunchAttributeValue *value_out) {
    struct CUstream_st *stream;
    WPI_TRY(find_with_value(hStream, value_out, &stream));
    *value_out = (cudaLaunchAttributeValue){0};
    switch (attr) {
    case cudaLaunchAttributeAccessPolicyWindow:
        if (stream != NULL) value_out->accessPolicyWindow = stream->window;
        return cudaSuccess;
    case cudaLaunchAttributeSynchronizationPolicy:
        value_out->syncPolicy = stream != NULL ? stream->sync_policy : cudaSyncPolicyAuto;
        return cudaSuccess;
    case cudaLaunchAttributePriority:
        value_out->priority = stream != NULL ? stream->priority : PRIORITY_LEAST;
        return cudaSuccess;
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain: return cudaSuccess;
    default: return wpi_note(cudaErrorInvalidValue);
    }
}

WP_API cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src) {
    struct CUstream_st *to, *from;
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(find(device, dst, &to));
    WPI_TRY(find(device, src, &from));
    if (to == NULL || from == NULL) return cudaSuccess;
    to->window = from->window;
    to->sync_policy = from->sync_policy;
    return cudaSuccess;
}

WP_API cudaError_t cudaStreamGetId(cudaStream_t hStream, unsigned long long *streamId) {
    wp_device *device;
    struct CUstream_st *stream;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(find(device, hStream, &stream));
    if (streamId == NULL) return wpi_note(cudaErrorInvalidValue);
    *streamId = stream != NULL ? stream->id : 1;
    return cudaSuccess;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies between pointers. Every form of copy comes down to a box of bytes: `wpi_copy`.
 *
 * Calls return by CUDA's rules:
 *
 *     between device memory               once queued, also without Async
 *     others, without Async               once done
 *     Async, pageable source              once the source may change: small ones are staged, for
 *                                         others we wait; a GPU's driver does it for device memory
 *     Async, pageable destination         once done
 *     Async, page-locked or managed       once queued
 */
#include <string.h>

#include "base/alloc.h"
#include "cudart/cudart.h"
#include "cudart/graph/graph.h"
#include "device/device.h"

#define STAGED_BYTES_MAX (64u * 1024u)

/* ---- classes of memory ---- */

static wpi_memory_class class_of(wp_memory_kind kind) {
    switch (kind) {
    case WP_MEMORY_PINNED:
    case WP_MEMORY_REGISTERED: return WPI_MEMORY_HOST;
    case WP_MEMORY_MANAGED: return WPI_MEMORY_MANAGED;
    default: return WPI_MEMORY_DEVICE;
    }
}

bool wpi_memory_classify(const void *pointer, size_t size_bytes, wpi_memory_class *out) {
    wp_allocation allocation;
    size_t left_bytes;
    const bool is_known = wpi_allocation_find(pointer, &allocation, NULL);
    if ((!is_known || allocation.kind == WP_MEMORY_VARIABLE) &&
        wpi_variable_managed_at(pointer, &left_bytes)) {
        *out = WPI_MEMORY_MANAGED;
    } else if (is_known) {
        *out = class_of(allocation.kind);
        left_bytes =
            allocation.size_bytes - (size_t)((const char *)pointer - (const char *)allocation.base);
    } else {
        *out = WPI_MEMORY_PAGEABLE;
        left_bytes = SIZE_MAX;
    }
    return size_bytes <= left_bytes;
}

bool wpi_is_device_range(const void *pointer, size_t size_bytes) {
    wpi_memory_class class;
    return pointer != NULL && wpi_memory_classify(pointer, size_bytes, &class) &&
           class != WPI_MEMORY_PAGEABLE;
}

wp_device *wpi_memory_owner(const void *pointer) {
    wp_allocation allocation;
    wp_device *device;
    const bool is_device = wpi_allocation_find(pointer, &allocation, &device) &&
                           class_of(allocation.kind) == WPI_MEMORY_DEVICE;
    return is_device ? device : NULL;
}

/* The side that `kind` calls "device" must not be pageable memory of the host's. The side that it
 * calls "host" may be any memory: with unified addressing a pointer to device memory works there.
 */
static bool can_be_device(wpi_memory_class class) {
    return class != WPI_MEMORY_PAGEABLE;
}

static bool is_kind_right(enum cudaMemcpyKind kind, wpi_memory_class dst, wpi_memory_class src) {
    switch (kind) {
    case cudaMemcpyHostToDevice: return can_be_device(dst);
    case cudaMemcpyDeviceToHost: return can_be_device(src);
    case cudaMemcpyDeviceToDevice: return can_be_device(dst) && can_be_device(src);
    default: return true; /* also cudaMemcpyHostToHost, which calls both sides "host" */
    }
}

bool wpi_box_span(const wpi_box *box, const wpi_extent *e, size_t *out) {
    size_t rows_bytes, slices_bytes;
    if (!wpi_mul_size(e->height - 1, box->pitch_bytes, &rows_bytes) ||
        !wpi_mul_size(e->depth - 1, box->slice_bytes, &slices_bytes))
        return false;
    const size_t sum = rows_bytes + slices_bytes;
    *out = sum + e->width_bytes;
    return sum >= rows_bytes && *out >= sum;
}

/* ---- copies ---- */

static wp_status queue_box(wp_queue *queue, wpi_box dst, wpi_box src, wpi_extent e, wp_error *err) {
    for (size_t z = 0; z < e.depth; z++) {
        char *to = dst.first + z * dst.slice_bytes;
        const char *from = src.first + z * src.slice_bytes;
        if (e.height == 1)
            WP_TRY(wp_queue_copy(queue, to, from, e.width_bytes, err));
        else
            WP_TRY(wp_queue_copy_2d(queue, to, dst.pitch_bytes, from, src.pitch_bytes,
                                    e.width_bytes, e.height, err));
    }
    return WP_STATUS_OK;
}

/* Copies the source to a buffer first, so that the program may change it while the copy is under
 * way. */
static cudaError_t copy_staged(wp_queue *queue, wpi_box dst, wpi_box src, wpi_extent e,
                               size_t size_bytes) {
    wp_error err = {0};
    char *stage = wpi_malloc(size_bytes);
    if (stage == NULL) return wpi_note(cudaErrorMemoryAllocation);
    const wpi_box staged = {stage, e.width_bytes, e.width_bytes * e.height};
    for (size_t z = 0; z < e.depth; z++)
        for (size_t y = 0; y < e.height; y++)
            memcpy(stage + z * staged.slice_bytes + y * staged.pitch_bytes,
                   src.first + z * src.slice_bytes + y * src.pitch_bytes, e.width_bytes);
    wp_status status = queue_box(queue, dst, staged, e, &err);
    if (status == WP_STATUS_OK && wp_queue_host_call(queue, wpi_free, stage, NULL) == WP_STATUS_OK)
        return cudaSuccess;
    const cudaError_t error = wpi_queue_sync(queue); /* part of it may be under way */
    wpi_free(stage);
    return status != WP_STATUS_OK ? wpi_result(status, &err) : error;
}

/* What is queued in `later` comes after what is queued in `earlier` now. */
static wp_status follow(wp_queue *later, wp_queue *earlier, wp_error *err) {
    wp_event *event;
    WP_TRY(wp_event_create(earlier->device, &event, err));
    wp_status status = wp_event_record(event, earlier, err);
    if (status == WP_STATUS_OK) status = wp_queue_wait_event(later, event, err);
    wp_event_destroy(event); /* pending records and waits keep what they need */
    return status;
}

/* A copy in stream 0 between two devices comes after the work of both default streams, and before
 * their later work. */
static wp_status queue_between(wp_queue *queue, wp_device *other, wpi_box dst, wpi_box src,
                               wpi_extent e, wp_error *err) {
    wp_queue *others = wp_device_default_queue(other);
    WP_TRY(follow(queue, others, err));
    WP_TRY(queue_box(queue, dst, src, e, err));
    return follow(others, queue, err);
}

/* Where a copy in stream 0 of the current device is queued: in stream 0 of the device whose memory
 * it uses. `*other` is a second such device, or NULL. */
static wp_queue *choose_queue(wp_queue *queue, const void *dst, const void *src,
                              wp_device **other) {
    wp_device *to = wpi_memory_owner(dst), *from = wpi_memory_owner(src), *chosen = queue->device;
    if (to == NULL) to = from;
    if (from == NULL) from = to;
    if (to == NULL) return queue;
    if (chosen != to && chosen != from) chosen = from;
    if (to != from) *other = chosen == to ? from : to;
    return chosen == queue->device ? queue : wp_device_default_queue(chosen);
}

cudaError_t wpi_copy(cudaStream_t stream, wpi_box dst, wpi_box src, wpi_extent e,
                     enum cudaMemcpyKind kind, bool is_async) {
    wp_device *device;
    wp_queue *queue;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(wpi_stream_queue(device, stream, &queue));
    if ((int)kind < cudaMemcpyHostToHost || (int)kind > cudaMemcpyDefault)
        return wpi_note(cudaErrorInvalidMemcpyDirection);
    if (e.width_bytes == 0 || e.height == 0 || e.depth == 0) return cudaSuccess;
    if (dst.first == NULL || src.first == NULL) return wpi_note(cudaErrorInvalidValue);
    if (e.height > 1 && (e.width_bytes > dst.pitch_bytes || e.width_bytes > src.pitch_bytes))
        return wpi_note(cudaErrorInvalidPitchValue);
    WPI_TRY(wpi_refuse_reserved(dst.first));
    WPI_TRY(wpi_refuse_reserved(src.first));

    size_t dst_bytes, src_bytes;
    wpi_memory_class dst_class, src_class;
    if (!wpi_box_span(&dst, &e, &dst_bytes) || !wpi_box_span(&src, &e, &src_bytes) ||
        !wpi_memory_classify(dst.first, dst_bytes, &dst_class) ||
        !wpi_memory_classify(src.first, src_bytes, &src_class) ||
        !is_kind_right(kind, dst_class, src_class))
        return wpi_note(cudaErrorInvalidValue);

    cudaError_t captured;
    if (wpi_capture_is_on(stream, &captured) || captured != cudaSuccess) {
        WPI_TRY(captured);
        const wpi_copy_node node = {.dst = dst, .src = src, .extent = e, .kind = kind};
        return is_async ? wpi_capture_copy(stream, &node) : wpi_capture_refuse(stream);
    }
    wp_device *other = NULL;
    if (wpi_device_count() > 1 && queue == wp_device_default_queue(device))
        queue = choose_queue(queue, dst.first, src.first, &other);
    device = queue->device;
    const bool is_pageable = dst_class == WPI_MEMORY_PAGEABLE || src_class == WPI_MEMORY_PAGEABLE;
    const size_t size_bytes = e.width_bytes * e.height * e.depth; /* at most a span */
    const bool is_devices_task = src_class == WPI_MEMORY_PAGEABLE &&
                                 dst_class == WPI_MEMORY_DEVICE &&
                                 wpi_device_stages_pageable(device);
    if (is_async && dst_class != WPI_MEMORY_PAGEABLE && src_class == WPI_MEMORY_PAGEABLE &&
        size_bytes <= STAGED_BYTES_MAX && !is_devices_task)
        return copy_staged(queue, dst, src, e, size_bytes);

    wp_error err = {0};
    const wp_status status = other != NULL ? queue_between(queue, other, dst, src, e, &err)
                                           : queue_box(queue, dst, src, e, &err);
    WPI_TRY(wpi_result(status, &err));
    const bool is_hidden = dst_class == WPI_MEMORY_DEVICE && src_class == WPI_MEMORY_DEVICE;
    if (is_async ? !is_pageable || is_devices_task : is_hidden) return cudaSuccess;
    return wpi_queue_sync(queue);
}

WP_API cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind) {
    return wpi_copy(NULL, wpi_row_at(dst), wpi_row_at(src), wpi_row_of(count), kind, false);
}

WP_API cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count,
                                   enum cudaMemcpyKind kind, cudaStream_t stream) {
    return wpi_copy(stream, wpi_row_at(dst), wpi_row_at(src), wpi_row_of(count), kind, true);
}

static cudaError_t check_pitches(size_t dpitch, size_t spitch, size_t width) {
    return wpi_note(width > dpitch || width > spitch ? cudaErrorInvalidPitchValue : cudaSuccess);
}

WP_API cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind) {
    WPI_TRY(check_pitches(dpitch, spitch, width));
    return wpi_copy(NULL, wpi_rows_at(dst, dpitch), wpi_rows_at(src, spitch),
                    wpi_rows_of(width, height), kind, false);
}

WP_API cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
                                     size_t width, size_t height, enum cudaMemcpyKind kind,
                                     cudaStream_t stream) {
    WPI_TRY(check_pitches(dpitch, spitch, width));
    return wpi_copy(stream, wpi_rows_at(dst, dpitch), wpi_rows_at(src, spitch),
                    wpi_rows_of(width, height), kind, true);
}

cudaError_t wpi_check_peers(int dst_device, int src_device) {
    wp_device *device;
    WPI_TRY(wpi_enter_device(dst_device, &device));
    return wpi_enter_device(src_device, &device);
}

WP_API cudaError_t cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice,
                                  size_t count) {
    WPI_TRY(wpi_check_peers(dstDevice, srcDevice));
    return cudaMemcpy(dst, src, count, cudaMemcpyDeviceToDevice);
}

WP_API cudaError_t cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice,
                                       size_t count, cudaStream_t stream) {
    WPI_TRY(wpi_check_peers(dstDevice, srcDevice));
    return cudaMemcpyAsync(dst, src, count, cudaMemcpyDeviceToDevice, stream);
}

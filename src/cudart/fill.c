/* SPDX-License-Identifier: Apache-2.0 */
/* Fills: cudaMemset and related calls. As in CUDA they return once queued, but wait for managed and
 * page-locked memory, which the host may read at once. */
#include "base/alloc.h"
#include "cudart/cudart.h"
#include "cudart/graph/graph.h"

cudaError_t wpi_fill(cudaStream_t stream, wpi_box box, uint32_t value, uint32_t value_bytes,
                     wpi_extent e, bool is_async) {
    wp_device *device;
    wp_queue *queue;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(wpi_stream_queue(device, stream, &queue));
    if (e.width_bytes == 0 || e.height == 0 || e.depth == 0) return cudaSuccess;
    size_t size_bytes;
    wpi_memory_class class;
    if (e.height > 1 && e.width_bytes > box.pitch_bytes)
        return wpi_note(cudaErrorInvalidPitchValue);
    WPI_TRY(wpi_refuse_reserved(box.first));
    if (box.first == NULL || !wpi_box_span(&box, &e, &size_bytes) ||
        !wpi_memory_classify(box.first, size_bytes, &class) || class == WPI_MEMORY_PAGEABLE)
        return wpi_note(cudaErrorInvalidValue);
    if (value_bytes > 1 && ((uintptr_t)box.first | box.pitch_bytes | e.width_bytes) % value_bytes)
        return wpi_note(cudaErrorInvalidValue);
    cudaError_t captured;
    if (wpi_capture_is_on(stream, &captured) || captured != cudaSuccess) {
        WPI_TRY(captured);
        const wpi_fill_node node = {box, value, value_bytes, e};
        return is_async ? wpi_capture_fill(stream, &node) : wpi_capture_refuse(stream);
    }
    wp_device *owner = wpi_memory_owner(box.first);
    if (owner != NULL && owner != device && queue == wp_device_default_queue(device))
        queue = wp_device_default_queue(owner);
    wp_error err = {0};
    for (size_t z = 0; z < e.depth; z++)
        for (size_t y = 0; y < e.height; y++) {
            char *row = box.first + z * box.slice_bytes + y * box.pitch_bytes;
            WPI_TRY(wpi_result(
                wp_queue_fill(queue, row, value, value_bytes, e.width_bytes / value_bytes, &err),
                &err));
        }
    if (is_async || class == WPI_MEMORY_DEVICE) return cudaSuccess;
    return wpi_queue_sync(queue);
}

static cudaError_t fill(cudaStream_t stream, wpi_box box, int value, wpi_extent e, bool is_async) {
    return wpi_fill(stream, box, (uint32_t)value & 0xffu, 1, e, is_async);
}

static cudaError_t fill_2d(void *first, size_t pitch, int value, size_t width, size_t height,
                           cudaStream_t stream, bool is_async) {
    if (pitch == width && height > 1) { /* no gaps: one long row, unless that overflows */
        size_t size_bytes;
        if (!wpi_mul_size(width, height, &size_bytes)) return wpi_note(cudaErrorInvalidValue);
        return fill(stream, wpi_row_at(first), value, wpi_row_of(size_bytes), is_async);
    }
    return fill(stream, wpi_rows_at(first, pitch), value, wpi_rows_of(width, height), is_async);
}

static cudaError_t fill_3d(struct cudaPitchedPtr p, int value, struct cudaExtent extent,
                           cudaStream_t stream, bool is_async) {
    const wpi_box box = {p.ptr, p.pitch, p.pitch * (p.ysize != 0 ? p.ysize : extent.height)};
    const wpi_extent e = {extent.width, extent.height, extent.depth};
    return fill(stream, box, value, e, is_async);
}

WP_API cudaError_t cudaMemset(void *devPtr, int value, size_t count) {
    return fill(NULL, wpi_row_at(devPtr), value, wpi_row_of(count), false);
}

WP_API cudaError_t cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream) {
    return fill(stream, wpi_row_at(devPtr), value, wpi_row_of(count), true);
}

WP_API cudaError_t cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width,
                                size_t height) {
    return fill_2d(devPtr, pitch, value, width, height, NULL, false);
}

WP_API cudaError_t cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width,
                                     size_t height, cudaStream_t stream) {
    return fill_2d(devPtr, pitch, value, width, height, stream, true);
}

WP_API cudaError_t cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value,
                                struct cudaExtent extent) {
    return fill_3d(pitchedDevPtr, value, extent, NULL, false);
}

WP_API cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value,
                                     struct cudaExtent extent, cudaStream_t stream) {
    return fill_3d(pitchedDevPtr, value, extent, stream, true);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* warpage/stream.h, and launches that pass mapped data. */
#include "warpage/stream.h"

#include "cudart/cudart.h"
#include "device/device.h"
#include "stream/kept_data.h"
#include "stream/reservation.h"
#include "stream/stream_context.h"
#include "stream/stream_launch.h"

cudaError_t streamingMalloc(void **out, size_t size_bytes) {
    wp_device *device;
    wp_error err = {0};
    WPI_TRY(wpi_enter(&device));
    if (out == NULL || size_bytes == 0) return wpi_note(cudaErrorInvalidValue);
    return wpi_result(wpi_reservation_create(size_bytes, out, &err), &err);
}

cudaError_t streamingMap(void *mapped, void *host, size_t size_bytes) {
    wp_device *device;
    wp_error err = {0};
    WPI_TRY(wpi_enter(&device));
    const wp_status status = wpi_reservation_map(mapped, host, size_bytes, &err);
    if (status == WP_STATUS_OK) wpi_kept_data_forget(mapped, size_bytes);
    return status == WP_STATUS_INVALID ? wpi_explain(cudaErrorInvalidValue, &err)
                                       : wpi_result(status, &err);
}

cudaError_t streamingMapFile(void *mapped, const char *source, const char *target, uint64_t offset,
                             size_t size_bytes) {
    wp_device *device;
    wp_error err = {0};
    WPI_TRY(wpi_enter(&device));
    const wp_status status =
        wpi_kept_data_has(mapped)
            ? WP_FAIL(&err, INVALID,
                      "streamingMapFile: data of the reservation that %p is in are kept on the "
                      "device, which those of files are not: call streamingKeep with 0 bytes first",
                      mapped)
            : wpi_reservation_map_file(mapped, source, target, offset, size_bytes, &err);
    return status == WP_STATUS_OK || status == WP_STATUS_NOMEM
               ? wpi_result(status, &err)
               : wpi_explain(cudaErrorInvalidValue, &err);
}

cudaError_t streamingFree(void *mapped) {
    wp_device *device;
    wp_error err = {0};
    WPI_TRY(wpi_enter_any(&device));
    if (mapped == NULL) return cudaSuccess;
    WPI_TRY(wpi_result(wp_device_wait(device, &err), &err));
    wpi_stream_contexts_retire();
    wpi_kept_data_free(mapped);
    const wp_status status = wpi_reservation_free(mapped, true, &err);
    return status == WP_STATUS_INVALID || status == WP_STATUS_IO
               ? wpi_explain(cudaErrorInvalidValue, &err)
               : wpi_result(status, &err);
}

cudaError_t streamingKeep(void *mapped, size_t size_bytes) {
    wp_device *device;
    wp_error err = {0};
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(wpi_result(wp_device_wait(device, &err), &err));
    const wp_status status = wpi_kept_data_set(device, mapped, size_bytes, &err);
    return status == WP_STATUS_INVALID ? wpi_explain(cudaErrorInvalidValue, &err)
                                       : wpi_result(status, &err);
}

cudaError_t streamingForget(void *mapped, size_t size_bytes) {
    wp_device *device;
    wp_error err = {0};
    void *base;
    size_t all_bytes;
    WPI_TRY(wpi_enter(&device));
    if (wpi_reservation_find(mapped, &base, &all_bytes, NULL) &&
        size_bytes <= all_bytes - (size_t)((char *)mapped - (char *)base)) {
        wpi_kept_data_forget(mapped, size_bytes);
        return cudaSuccess;
    }
    const wp_status ignored =
        WP_FAIL(&err, INVALID,
                "streamingForget: %zu bytes from %p on are not within one reservation of "
                "streamingMalloc's",
                size_bytes, mapped);
    (void)ignored;
    return wpi_explain(cudaErrorInvalidValue, &err);
}

cudaError_t streamingSetOptions(const streamingOptions *options) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (options == NULL || (unsigned)options->variant > streamingOverlap)
        return wpi_note(cudaErrorInvalidValue);
    wpi_stream_set_options(options);
    wpi_file_blocks_set_budget(options->host_bytes);
    return cudaSuccess;
}

cudaError_t streamingGetReport(streamingReport *out) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (out == NULL) return wpi_note(cudaErrorInvalidValue);
    return wpi_stream_last_report(out) ? cudaSuccess : wpi_note(cudaErrorNotReady);
}

cudaError_t wpi_refuse_reserved(const void *address) {
    wp_error err = {0};
    if (!wpi_reservation_any() || !wpi_reservation_find(address, NULL, NULL, NULL))
        return cudaSuccess;
    const wp_status ignored =
        WP_FAIL(&err, INVALID,
                "%p was reserved by streamingMalloc: only kernels can use it, streamingFree "
                "frees it; copy from or to the host memory that streamingMap tied to it",
                address);
    (void)ignored;
    return wpi_explain(cudaErrorInvalidValue, &err);
}

void wpi_streaming_forget(void) {
    wpi_stream_contexts_free();
    wpi_kept_data_free_all();
    wpi_reservations_spoil();
}

void wpi_streaming_end(void) {
    wpi_stream_contexts_free();
    wpi_kept_data_free_all();
    wpi_reservations_free();
}

cudaError_t wpi_launch_streamed(wp_device *device, const wpi_function *f, wp_queue *queue,
                                const wp_launch *launch, uint64_t mask) {
    const wpi_stream_code *code;
    wp_error err = {0};
    if (f->cached != NULL) mask |= WPI_STREAM_LINES;
    wp_status status =
        wpi_stream_code_find(device, f->module, f->image, f->name, mask, &code, &err);
    if (status == WP_STATUS_OK && (mask = wpi_stream_mask_ahead(code)) != 0)
        status = wpi_stream_code_find(device, f->module, f->image, f->name, mask, &code, &err);
    if (status == WP_STATUS_OK && (mask = wpi_stream_mask_of_aliases(launch, code)) != 0)
        status = wpi_stream_code_find(device, f->module, f->image, f->name, mask, &code, &err);
    if (status == WP_STATUS_OK) {
        mask = wpi_stream_mask_of_large_blocks(device, launch, code);
        if (mask != 0)
            status = wpi_stream_code_find(device, f->module, f->image, f->name, mask, &code, &err);
    }
    if (status == WP_STATUS_OK) status = wpi_stream_launch_queue(queue, launch, code, &err);
    return status == WP_STATUS_INVALID ? wpi_explain(cudaErrorInvalidValue, &err)
                                       : wpi_result(status, &err);
}

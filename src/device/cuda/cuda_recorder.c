/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels and copies for the run record. Each gets an event before and after it; whenever the host
 * waits, complete ones are passed to the recorder in the order in which they were queued. Without a
 * run record none of this exists, and no event is created.
 *
 * A failure here only loses a line of the report.
 */
#include <string.h>

#include "base/alloc.h"
#include "device/cuda/cuda.h"
#include "report/recorder.h"

struct wpi_cuda_span {
    wpi_cuda_span *next;
    wpi_cu_event first, last;
    char *kernel; /* NULL: a copy */
    uint32_t grid[3], block[3];
    const void *queue;
    int copy_kind;
    uint64_t bytes;
};

struct wpi_cuda_recorder {
    pthread_mutex_t lock;
    wpi_cuda_span *first, **end; /* queued, in order */
};

wp_status wpi_cuda_recorder_create(wpi_cuda_device *device, wp_error *err) {
    if (!wpi_report_is_on() || device->recorder != NULL) return WP_STATUS_OK;
    device->recorder = wpi_calloc(1, sizeof *device->recorder);
    if (device->recorder == NULL) return WP_FAIL(err, NOMEM, "recorder");
    pthread_mutex_init(&device->recorder->lock, NULL);
    device->recorder->end = &device->recorder->first;
    return WP_STATUS_OK;
}

static void free_span(wpi_cuda_device *device, wpi_cuda_span *span) {
    if (span->first != NULL) (void)device->cu->event_destroy(span->first);
    if (span->last != NULL) (void)device->cu->event_destroy(span->last);
    wpi_free(span->kernel);
    wpi_free(span);
}

static void report_kernel(const wp_device *device, const wpi_cuda_span *span, uint64_t first_ns,
                          uint64_t last_ns) {
    const char *name = span->kernel;
    wpi_text own = {0};
    if (device->is_one_of_several) name = wpi_report_name_on(name, device->number, &own);
    wpi_report_kernel(span->queue, name, span->grid, span->block, first_ns, last_ns);
    wpi_text_deinit(&own);
}

static bool time_between(wpi_cuda_device *device, wpi_cu_event first, wpi_cu_event second,
                         uint64_t *out_ns) {
    float ms = 0;
    if (device->cu->event_elapsed(&ms, first, second) != WPI_CU_SUCCESS) return false;
    *out_ns = ms > 0 ? (uint64_t)((double)ms * 1e6) : 0;
    return true;
}

static void hand_over(wpi_cuda_device *device, const wpi_cuda_span *span) {
    uint64_t first_ns, time_ns;
    if (!time_between(device, device->start, span->first, &first_ns) ||
        !time_between(device, span->first, span->last, &time_ns))
        return;
    const uint64_t last_ns = first_ns + time_ns;
    if (span->kernel == NULL)
        wpi_report_copy(span->queue, (wp_copy_kind)span->copy_kind, span->bytes, first_ns, last_ns);
    else if (wpi_report_selects(span->kernel))
        report_kernel(&device->base, span, first_ns, last_ns);
}

/* After a fault it is unknown which queued commands ran, so they are left out. */
void wpi_cuda_recorder_collect(wpi_cuda_device *device) {
    wpi_cuda_recorder *r = device->recorder;
    if (r == NULL) return;
    pthread_mutex_lock(&r->lock);
    while (r->first != NULL) {
        wpi_cuda_span *span = r->first;
        const wpi_cu_result result = device->cu->event_query(span->last);
        if (result == WPI_CU_NOT_READY) break;
        r->first = span->next;
        if (r->first == NULL) r->end = &r->first;
        if (result == WPI_CU_SUCCESS) hand_over(device, span);
        free_span(device, span);
    }
    pthread_mutex_unlock(&r->lock);
}

void wpi_cuda_recorder_destroy(wpi_cuda_device *device) {
    wpi_cuda_recorder *r = device->recorder;
    if (r == NULL) return;
    wpi_cuda_recorder_collect(device);
    for (wpi_cuda_span *span = r->first, *next; span != NULL; span = next) {
        next = span->next;
        free_span(device, span);
    }
    pthread_mutex_destroy(&r->lock);
    wpi_free(r);
    device->recorder = NULL;
}

wpi_cuda_span *wpi_cuda_span_begin(wpi_cuda_queue *queue) {
    wpi_cuda_device *device = wpi_cuda_of(queue->base.device);
    if (device->recorder == NULL) return NULL;
    wpi_cuda_span *span = wpi_calloc(1, sizeof *span);
    if (span == NULL) return NULL;
    if (device->cu->event_create(&span->first, 0) == WPI_CU_SUCCESS &&
        device->cu->event_create(&span->last, 0) == WPI_CU_SUCCESS &&
        device->cu->event_record(span->first, queue->stream) == WPI_CU_SUCCESS)
        return span;
    free_span(device, span);
    return NULL;
}

static void end_span(wpi_cuda_queue *queue, wpi_cuda_span *span) {
    span->queue = queue;
    wpi_cuda_device *device = wpi_cuda_of(queue->base.device);
    wpi_cuda_recorder *r = device->recorder;
    if (device->cu->event_record(span->last, queue->stream) != WPI_CU_SUCCESS) {
        free_span(device, span);
        return;
    }
    pthread_mutex_lock(&r->lock);
    *r->end = span;
    r->end = &span->next;
    pthread_mutex_unlock(&r->lock);
}

void wpi_cuda_span_end_kernel(wpi_cuda_queue *queue, wpi_cuda_span *span, const wp_launch *launch) {
    if (span == NULL) return;
    span->kernel = wpi_strdup(launch->kernel->info.name);
    memcpy(span->grid, &launch->grid, sizeof span->grid);
    memcpy(span->block, &launch->block, sizeof span->block);
    if (span->kernel == NULL)
        free_span(wpi_cuda_of(queue->base.device), span);
    else
        end_span(queue, span);
}

void wpi_cuda_span_end_copy(wpi_cuda_queue *queue, wpi_cuda_span *span, int kind, uint64_t bytes) {
    if (span == NULL) return;
    span->copy_kind = kind;
    span->bytes = bytes;
    end_span(queue, span);
}

void wpi_cuda_span_drop(wpi_cuda_queue *queue, wpi_cuda_span *span) {
    if (span != NULL) free_span(wpi_cuda_of(queue->base.device), span);
}

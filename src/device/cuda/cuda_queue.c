/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Queues are streams. The default queue is the driver's default stream, and a blocking queue is a
 * stream that the driver orders with it, so the order needs no code here.
 */
#include <stdio.h>

#include "base/alloc.h"
#include "device/cuda/cuda.h"
#include "device/cuda/cuda_managed_table.h"
#include "warpage/report.h"

static wpi_cuda_device *device_of(const wpi_cuda_queue *queue) {
    return wpi_cuda_of(queue->base.device);
}

static wpi_cu_ptr address_of(const void *pointer) {
    return (wpi_cu_ptr)(uintptr_t)pointer;
}

/* ---- life ---- */

wp_status wpi_cuda_queue_restore(wpi_cuda_queue *queue, wp_error *err) {
    wpi_cuda_device *device = device_of(queue);
    queue->stream = NULL;
    return wpi_cuda_check(device,
                          device->cu->stream_create(&queue->stream, queue->flags, queue->priority),
                          "making a stream", err);
}

static wp_status create(wp_device *base, bool is_blocking, int priority, wp_queue **out,
                        wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(base);
    WP_TRY(wpi_cuda_enter(device, err));
    (void)wpi_cuda_queues_have_left(device);
    wpi_cuda_queue *queue = wpi_calloc(1, sizeof *queue);
    if (queue == NULL) return WP_FAIL(err, NOMEM, "queue");
    queue->base.device = base;
    queue->flags = is_blocking ? 0 : WPI_CU_STREAM_NON_BLOCKING;
    queue->priority = priority; /* the driver uses the nearest supported value */
    const wp_status status = wpi_cuda_queue_restore(queue, err);
    if (status != WP_STATUS_OK) {
        wpi_free(queue);
        return status;
    }
    wpi_link_add(device, &device->queues, &queue->link);
    *out = &queue->base;
    return WP_STATUS_OK;
}

/* The driver, too, completes the work of a destroyed stream, but then its completion cannot be
 * queried. So a queue with work in progress keeps its stream until it is idle. */
static void destroy(wp_queue *base) {
    wpi_cuda_queue *queue = (wpi_cuda_queue *)base;
    wpi_cuda_device *device = device_of(queue);
    wpi_link_remove(device, &queue->link);
    if (wpi_cuda_enter(device, NULL) == WP_STATUS_OK && queue->stream != NULL) {
        wpi_cuda_recorder_collect(device);
        if (device->cu->stream_query(queue->stream) == WPI_CU_NOT_READY) {
            wpi_link_add(device, &device->leaving, &queue->link);
            return;
        }
        const wp_status ignored = wpi_cuda_check_end(
            device, device->cu->stream_destroy(queue->stream), "destroying a stream", NULL);
        (void)ignored; /* kept if it is sticky */
    }
    wpi_free(queue);
}

bool wpi_cuda_queues_have_left(wpi_cuda_device *device) {
    pthread_mutex_lock(&device->lock);
    const bool is_empty = device->leaving.next == &device->leaving;
    pthread_mutex_unlock(&device->lock);
    if (is_empty || wpi_cuda_enter(device, NULL) != WP_STATUS_OK) return true;
    pthread_mutex_lock(&device->lock);
    for (wpi_link *l = device->leaving.next, *next; l != &device->leaving; l = next) {
        next = l->next;
        wpi_cuda_queue *queue = WPI_MEMBER(l, wpi_cuda_queue);
        if (device->cu->stream_query(queue->stream) == WPI_CU_NOT_READY) continue;
        l->before->next = next;
        next->before = l->before;
        (void)device->cu->stream_destroy(queue->stream);
        wpi_free(queue);
    }
    const bool have_left = device->leaving.next == &device->leaving;
    pthread_mutex_unlock(&device->lock);
    return have_left;
}

/* ---- waiting ---- */

static wp_status wait(wp_queue *base, wp_error *err) {
    wpi_cuda_queue *queue = (wpi_cuda_queue *)base;
    wpi_cuda_device *device = device_of(queue);
    WP_TRY(wpi_cuda_enter(device, err));
    WP_TRY(wpi_cuda_check_end(device, device->cu->stream_wait(queue->stream),
                              "waiting for a stream", err));
    wpi_cuda_recorder_collect(device);
    return WP_STATUS_OK;
}

static bool is_idle(wp_queue *base) {
    wpi_cuda_queue *queue = (wpi_cuda_queue *)base;
    wpi_cuda_device *device = device_of(queue);
    if (wpi_cuda_enter(device, NULL) != WP_STATUS_OK) return true;
    const wpi_cu_result result = device->cu->stream_query(queue->stream);
    if (result == WPI_CU_NOT_READY) return false;
    const wp_status ignored = wpi_cuda_check_end(device, result, "asking a stream", NULL);
    (void)ignored; /* kept if it is sticky */
    return true;
}

static wp_status wait_event(wp_queue *base, wp_event *event, wp_error *err) {
    wpi_cuda_queue *queue = (wpi_cuda_queue *)base;
    wpi_cuda_device *device = device_of(queue);
    WP_TRY(wpi_cuda_enter(device, err));
    return wpi_cuda_check(
        device, device->cu->stream_wait_event(queue->stream, ((wpi_cuda_event *)event)->event, 0),
        "making a stream wait for an event", err);
}

/* ---- copies ---- */

/* Memory that only kernels can access is device memory; all other is copied as host memory,
 * page-locked or not. */
int wpi_cuda_memory_type(const void *address) {
    wpi_memory_entry entry;
    if (!wpi_memory_map_find(wpi_memory_map_global(), address, &entry)) return WPI_CU_MEMORY_HOST;
    switch (entry.allocation.kind) {
    case WP_MEMORY_DEVICE:
    case WP_MEMORY_MANAGED:
    case WP_MEMORY_VARIABLE: return WPI_CU_MEMORY_DEVICE;
    default: return WPI_CU_MEMORY_HOST;
    }
}

static int copy_kind(wpi_cuda_device *device, const void *dst, const void *src) {
    const bool to_device = wpi_cuda_memory_type(dst) == WPI_CU_MEMORY_DEVICE ||
                           wpi_cuda_array_find(device, dst) != NULL;
    const bool from_device = wpi_cuda_memory_type(src) == WPI_CU_MEMORY_DEVICE ||
                             wpi_cuda_array_find(device, src) != NULL;
    if (to_device) return from_device ? WP_COPY_D2D : WP_COPY_H2D;
    return from_device ? WP_COPY_D2H : WP_COPY_H2H;
}

static wpi_cu_result copy_rows(wpi_cuda_queue *queue, void *dst, size_t dst_pitch_bytes,
                               const void *src, size_t src_pitch_bytes, size_t width_bytes,
                               size_t height) {
    wpi_cu_copy_2d c = {.src_type = wpi_cuda_memory_type(src),
                        .src_pitch_bytes = src_pitch_bytes,
                        .dst_type = wpi_cuda_memory_type(dst),
                        .dst_pitch_bytes = dst_pitch_bytes,
                        .width_bytes = width_bytes,
                        .height = height};
    if (c.src_type == WPI_CU_MEMORY_HOST)
        c.src_host = src;
    else
        c.src_device = address_of(src);
    if (c.dst_type == WPI_CU_MEMORY_HOST)
        c.dst_host = dst;
    else
        c.dst_device = address_of(dst);
    return device_of(queue)->cu->copy_2d(&c, queue->stream);
}

static wp_status copy(wp_queue *base, void *dst, size_t dst_pitch_bytes, const void *src,
                      size_t src_pitch_bytes, size_t width_bytes, size_t height, wp_error *err) {
    wpi_cuda_queue *queue = (wpi_cuda_queue *)base;
    wpi_cuda_device *device = device_of(queue);
    WP_TRY(wpi_cuda_enter(device, err));
    wpi_cuda_span *span = wpi_cuda_span_begin(queue);
    wp_status status;
    if (wpi_cuda_array_find(device, dst) != NULL || wpi_cuda_array_find(device, src) != NULL) {
        status = wpi_cuda_array_copy(queue, dst, dst_pitch_bytes, src, src_pitch_bytes, width_bytes,
                                     height, err);
    } else {
        const wpi_cu_result result =
            height == 1
                ? device->cu->copy(address_of(dst), address_of(src), width_bytes, queue->stream)
                : copy_rows(queue, dst, dst_pitch_bytes, src, src_pitch_bytes, width_bytes, height);
        status = wpi_cuda_check(device, result, "copying", err);
    }
    if (status != WP_STATUS_OK)
        wpi_cuda_span_drop(queue, span);
    else if (span != NULL)
        wpi_cuda_span_end_copy(queue, span, copy_kind(device, dst, src),
                               (uint64_t)width_bytes * height);
    return status;
}

static wp_status fill(wp_queue *base, void *dst, uint32_t value, uint32_t value_bytes, size_t count,
                      wp_error *err) {
    wpi_cuda_queue *queue = (wpi_cuda_queue *)base;
    wpi_cuda_device *device = device_of(queue);
    const wpi_driver *cu = device->cu;
    WP_TRY(wpi_cuda_enter(device, err));
    wpi_cuda_span *span = wpi_cuda_span_begin(queue);
    wpi_cu_result result;
    switch (value_bytes) {
    case 1: result = cu->fill_1(address_of(dst), (unsigned char)value, count, queue->stream); break;
    case 2:
        result = cu->fill_2(address_of(dst), (unsigned short)value, count, queue->stream);
        break;
    default: result = cu->fill_4(address_of(dst), value, count, queue->stream); break;
    }
    if (result == WPI_CU_SUCCESS)
        wpi_cuda_span_end_copy(queue, span, WP_COPY_FILL, (uint64_t)count * value_bytes);
    else
        wpi_cuda_span_drop(queue, span);
    return wpi_cuda_check(device, result, "filling memory", err);
}

static wp_status host_call(wp_queue *base, void (*call)(void *), void *arg, wp_error *err) {
    wpi_cuda_queue *queue = (wpi_cuda_queue *)base;
    wpi_cuda_device *device = device_of(queue);
    WP_TRY(wpi_cuda_enter(device, err));
    return wpi_cuda_check(device, device->cu->host_call(queue->stream, call, arg),
                          "queuing a host function", err);
}

/* ---- words ---- */

static wp_status no_words(wp_error *err) {
    return WP_FAIL(err, UNSUPPORTED,
                   "the CUDA driver does not support streams that wait for memory, which were "
                   "added in this form in CUDA 11.7");
}

static wp_status wait_word(wp_queue *base, const wpi_word *w, wp_error *err) {
    wpi_cuda_queue *queue = (wpi_cuda_queue *)base;
    wpi_cuda_device *device = device_of(queue);
    const wpi_driver *cu = device->cu;
    if (cu->wait_word_4 == NULL || cu->wait_word_8 == NULL) return no_words(err);
    WP_TRY(wpi_cuda_enter(device, err));
    const wpi_cu_ptr at = address_of(w->address);
    const unsigned flags = (unsigned)w->test;
    return wpi_cuda_check(device,
                          w->bytes == 8
                              ? cu->wait_word_8(queue->stream, at, w->value, flags)
                              : cu->wait_word_4(queue->stream, at, (uint32_t)w->value, flags),
                          "queuing a wait for a word", err);
}

static wp_status write_word(wp_queue *base, const wpi_word *w, wp_error *err) {
    wpi_cuda_queue *queue = (wpi_cuda_queue *)base;
    wpi_cuda_device *device = device_of(queue);
    const wpi_driver *cu = device->cu;
    if (cu->write_word_4 == NULL || cu->write_word_8 == NULL) return no_words(err);
    WP_TRY(wpi_cuda_enter(device, err));
    const wpi_cu_ptr at = address_of(w->address);
    return wpi_cuda_check(device,
                          w->bytes == 8
                              ? cu->write_word_8(queue->stream, at, w->value, 0)
                              : cu->write_word_4(queue->stream, at, (uint32_t)w->value, 0),
                          "queuing the store of a word", err);
}

/* ---- launches ---- */

/* With clusters of the launch's own size. The runtime has checked more than 8 blocks against the
 * program's permission. */
static wpi_cu_result launch_clusters(const wpi_driver *cu, wpi_cu_function function,
                                     const wp_launch *l, wpi_cu_stream stream) {
    const uint64_t size = (uint64_t)l->cluster.x * l->cluster.y * l->cluster.z;
    wpi_cu_launch_attribute attributes[2] = {
        {.id = WPI_CU_LAUNCH_CLUSTER, .value = {l->cluster.x, l->cluster.y, l->cluster.z}},
        {.id = WPI_CU_LAUNCH_COOPERATIVE, .value = {1}}};
    const wpi_cu_launch_config config = {.grid_x = l->grid.x,
                                         .grid_y = l->grid.y,
                                         .grid_z = l->grid.z,
                                         .block_x = l->block.x,
                                         .block_y = l->block.y,
                                         .block_z = l->block.z,
                                         .shared_bytes = l->shared_dynamic_bytes,
                                         .stream = stream,
                                         .attributes = attributes,
                                         .attribute_count = 1u + l->is_cooperative};
    if (size > 8) {
        const wpi_cu_result result =
            cu->function_set_attribute(function, WPI_CU_FUNCTION_LARGE_CLUSTERS, 1);
        if (result != WPI_CU_SUCCESS) return result;
    }
    return cu->launch_ex(&config, function, l->args, NULL);
}

static wp_status launch(wp_queue *base, const wp_launch *l, wp_error *err) {
    wpi_cuda_queue *queue = (wpi_cuda_queue *)base;
    wpi_cuda_device *device = device_of(queue);
    const wpi_driver *cu = device->cu;
    WP_TRY(wpi_cuda_enter(device, err));
    wpi_cu_function function;
    WP_TRY(wpi_cuda_kernel_function(l->kernel, &function, err));
    if (l->is_cooperative && cu->launch_cooperative == NULL) {
        return WP_FAIL(
            err, UNSUPPORTED,
            "kernel %s: the CUDA driver does not support cooperative launches, which were added in "
            "CUDA 9.0",
            l->kernel->info.name);
    }
    wpi_cuda_span *span = wpi_cuda_span_begin(queue);
    const wpi_cu_result result =
        l->cluster.x != 0 ? launch_clusters(cu, function, l, queue->stream)
        : l->is_cooperative
            ? cu->launch_cooperative(function, l->grid.x, l->grid.y, l->grid.z, l->block.x,
                                     l->block.y, l->block.z, l->shared_dynamic_bytes, queue->stream,
                                     l->args)
            : cu->launch(function, l->grid.x, l->grid.y, l->grid.z, l->block.x, l->block.y,
                         l->block.z, l->shared_dynamic_bytes, queue->stream, l->args, NULL);
    if (result == WPI_CU_SUCCESS) {
        wpi_cuda_span_end_kernel(queue, span, l);
        return WP_STATUS_OK;
    }
    wpi_cuda_span_drop(queue, span);
    char what[256];
    (void)snprintf(what, sizeof what, "launching %.200s", l->kernel->info.name);
    return wpi_cuda_check(device, result, what, err);
}

const wpi_queue_ops wpi_cuda_queue_ops = {
    .create = create,
    .destroy = destroy,
    .wait = wait,
    .is_idle = is_idle,
    .copy = copy,
    .fill = fill,
    .launch = launch,
    .host_call = host_call,
    .wait_event = wait_event,
    .wait_word = wait_word,
    .write_word = write_word,
    .prefetch = wpi_cuda_prefetch,
    .attach = wpi_cuda_attach,
};

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Internals of the CUDA device: its objects and their owners.
 *
 *     device ── primary context of one GPU
 *       ├── queues   a stream each; the default queue is the driver's default stream
 *       ├── events
 *       ├── modules ── kernels, variables, registered pages of managed variables
 *       └── arrays ── a range of addresses each, which nothing is behind
 *
 * A reset (wp_device_reset) destroys the context's streams, events and modules, whose handles
 * callers still hold; so the device keeps lists of them, and creates them again.
 *
 * Locking: `lock` guards the lists and the sticky error. Host functions of streams never hold it
 * for long, and never call the driver. Results of the driver go through wpi_cuda_check, which
 * records sticky errors.
 */
#ifndef WP_DEVICE_CUDA_CUDA_H
#define WP_DEVICE_CUDA_CUDA_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/fail.h"
#include "device/cuda/libcuda.h"
#include "device/device.h"

/** A link in one of the device's lists; also the list's head. */
typedef struct wpi_link {
    struct wpi_link *next, *before;
} wpi_link;

typedef struct wpi_cuda_queue {
    wp_queue base;
    wpi_link link; /* of the device; the default queue is in no list */
    wpi_cu_stream stream;
    unsigned flags;
    int priority;
} wpi_cuda_queue;

typedef struct wpi_cuda_event {
    wp_event base;
    wpi_link link;
    wpi_cu_event event;
    unsigned flags;
    atomic_bool is_recorded;
} wpi_cuda_event;

typedef struct wpi_cuda_array {
    wpi_link link;
    char *base; /* reserved addresses that stand for the elements, rows without gaps */
    size_t row_bytes, rows, slices;
    wpi_cu_array array;
} wpi_cuda_array;

typedef struct wpi_cuda_recorder wpi_cuda_recorder;

typedef struct wpi_cuda_device {
    wp_device base;
    const wpi_driver *cu;
    wpi_cu_device number;
    wpi_cu_context context;
    pthread_mutex_t lock;
    wpi_link queues, events, modules, arrays;
    wpi_link leaving; /* queues that were destroyed with work in progress */
    wpi_cuda_queue default_queue;
    bool reaches_pageable; /* kernels can use the program's own memory */
    wpi_cu_event start;    /* recorded when the device was opened: start of its clock */
    uint64_t limit_bytes;  /* what cudaMalloc can allocate */
    uint64_t used_bytes;   /* … and has; under `lock` */
    uint64_t managed_bytes;
    wpi_cuda_recorder *recorder; /* NULL: no run record */
    atomic_bool has_failed;
    wp_error sticky; /* under `lock` */
} wpi_cuda_device;

static inline wpi_cuda_device *wpi_cuda_of(wp_device *device) {
    return (wpi_cuda_device *)device;
}

/* ---- cuda_device.c ---- */

/** The device of that number in the group; NULL: there is none. A device that is alone has number
 * 0. */
wpi_cuda_device *wpi_cuda_member(wpi_cuda_device *device, int number);
/** Makes the device's context the calling thread's. */
WP_NODISCARD wp_status wpi_cuda_enter(wpi_cuda_device *device, wp_error *err);
/** Converts a result of the driver to a status, with a message that begins with `what`. Records the
 *  first sticky error and prints it. */
wp_status wpi_cuda_check(wpi_cuda_device *device, wpi_cu_result result, const char *what,
                         wp_error *err);
/** The same for calls that destroy objects: succeeds if the driver is shutting down. */
wp_status wpi_cuda_check_end(wpi_cuda_device *device, wpi_cu_result result, const char *what,
                             wp_error *err);
wp_status wpi_cuda_device_wait(wp_device *base, wp_error *err);
void wpi_link_add(wpi_cuda_device *device, wpi_link *head, wpi_link *link);
void wpi_link_remove(wpi_cuda_device *device, wpi_link *link);

#define WPI_MEMBER(link_pointer, type)                                                             \
    ((type *)(void *)((char *)(link_pointer) - offsetof(type, link)))

/* ---- cuda_memory.c ---- */

wp_status wpi_cuda_memory_alloc(wp_device *base, wp_memory_kind kind, size_t size_bytes,
                                uint32_t flags, void **out, wp_error *err);
wp_status wpi_cuda_memory_free(wp_device *base, const wp_allocation *allocation, wp_error *err);
wp_status wpi_cuda_memory_register(wp_device *base, const wp_allocation *allocation, wp_error *err);
wp_status wpi_cuda_memory_unregister(wp_device *base, const wp_allocation *allocation,
                                     wp_error *err);
void wpi_cuda_memory_info(wp_device *base, uint64_t *free_bytes, uint64_t *total_bytes);
/** Frees everything; ignores errors. */
void wpi_cuda_memory_free_all(wpi_cuda_device *device);

/* ---- cuda_array.c ---- */

wp_status wpi_cuda_array_create(wp_device *base, const wpi_array *description, void **out,
                                wp_error *err);
wp_status wpi_cuda_array_free(wpi_cuda_device *device, const void *base, wp_error *err);
/** The array with the element byte `address`; NULL: none. */
wpi_cuda_array *wpi_cuda_array_find(wpi_cuda_device *device, const void *address);
wp_status wpi_cuda_array_copy(wpi_cuda_queue *queue, void *dst, size_t dst_pitch_bytes,
                              const void *src, size_t src_pitch_bytes, size_t width_bytes,
                              size_t height, wp_error *err);
wp_status wpi_cuda_texture_create(wp_device *base, const wpi_texture *description, bool is_surface,
                                  uint64_t *handle, wp_error *err);
void wpi_cuda_texture_destroy(wp_device *base, uint64_t handle, bool is_surface);
wp_status wpi_cuda_texture_bind(wp_device *base, void *variable, uint64_t handle, wp_error *err);

/* ---- cuda_queue.c, cuda_event.c, cuda_module.c ---- */

extern const wpi_queue_ops wpi_cuda_queue_ops;
extern const wpi_event_ops wpi_cuda_event_ops;
extern const wpi_module_ops wpi_cuda_module_ops;

/** WPI_CU_MEMORY_HOST or _DEVICE, by the memory map. */
int wpi_cuda_memory_type(const void *address);
/** The driver's handle of a kernel. */
wp_status wpi_cuda_kernel_function(wp_kernel *kernel, wpi_cu_function *out, wp_error *err);
wp_status wpi_cuda_queue_restore(wpi_cuda_queue *queue, wp_error *err);
/** Frees destroyed queues whose work has ended; true when none is left. */
bool wpi_cuda_queues_have_left(wpi_cuda_device *device);
wp_status wpi_cuda_event_restore(wpi_cuda_event *event, wp_error *err);
/** Before a reset: gives the pages of managed variables back. */
void wpi_cuda_modules_unregister(wpi_cuda_device *device);
/** After a reset: loads every module again, with its variables' initial values. */
wp_status wpi_cuda_modules_restore(wpi_cuda_device *device, wp_error *err);

/* ---- cuda_recorder.c: kernels and copies for the run record, timed by events ---- */

typedef struct wpi_cuda_span wpi_cuda_span;

wp_status wpi_cuda_recorder_create(wpi_cuda_device *device, wp_error *err);
void wpi_cuda_recorder_destroy(wpi_cuda_device *device);
/** Marks the start of the next command; NULL: not recorded. One of the functions below ends it; all
 *  accept NULL. */
wpi_cuda_span *wpi_cuda_span_begin(wpi_cuda_queue *queue);
void wpi_cuda_span_end_kernel(wpi_cuda_queue *queue, wpi_cuda_span *span, const wp_launch *launch);
void wpi_cuda_span_end_copy(wpi_cuda_queue *queue, wpi_cuda_span *span, int kind, uint64_t bytes);
/** No command was queued. */
void wpi_cuda_span_drop(wpi_cuda_queue *queue, wpi_cuda_span *span);
/** Passes complete spans to the recorder. */
void wpi_cuda_recorder_collect(wpi_cuda_device *device);

#endif

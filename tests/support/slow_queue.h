/* SPDX-License-Identifier: Apache-2.0 */
/** Queues of a device that are slow at random, and of whose calls one fails. */
#ifndef WP_TESTS_SLOW_QUEUE_H
#define WP_TESTS_SLOW_QUEUE_H

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "base/stream_abi.h"
#include "device/device.h"

static wpi_queue_ops slow_queue_ops;
static wpi_device_ops slow_device_ops;
static const wpi_queue_ops *slow_queue_inner;
static atomic_int slow_calls_left; /* before one fails; negative: none does */
static atomic_uint slow_delays;

static void slow_delay(uint32_t seed) {
    const struct timespec moment = {.tv_nsec = (long)(seed % 40) * 1000};
    if (seed % 3 == 0) nanosleep(&moment, NULL);
    if (seed % 3 == 1) sched_yield();
}

static bool slow_is_failing(void) {
    slow_delay(atomic_fetch_add(&slow_delays, 2654435761u) >> 7);
    return atomic_load(&slow_calls_left) >= 0 && atomic_fetch_sub(&slow_calls_left, 1) == 0;
}

static wp_status slow_queue_copy(wp_queue *queue, void *dst, size_t dst_pitch, const void *src,
                                 size_t src_pitch, size_t width, size_t height, wp_error *err) {
    if (slow_is_failing()) {
        if (err != NULL) snprintf(err->message, sizeof err->message, "the copy failed");
        return WP_STATUS_DEVICE;
    }
    return slow_queue_inner->copy(queue, dst, dst_pitch, src, src_pitch, width, height, err);
}

/* Fills that tell the end never fail. */
static wp_status slow_queue_fill(wp_queue *queue, void *dst, uint32_t value, uint32_t value_bytes,
                                 size_t count, wp_error *err) {
    if (value != WPI_STREAM_END && slow_is_failing()) {
        if (err != NULL) snprintf(err->message, sizeof err->message, "the fill failed");
        return WP_STATUS_DEVICE;
    }
    return slow_queue_inner->fill(queue, dst, value, value_bytes, count, err);
}

/** `failing_call`: of copies and fills from now on, counted from 0; negative: none fails. */
static void slow_queues_of(wp_device *device, int failing_call) {
    slow_queue_inner = device->ops->queue;
    slow_queue_ops = *slow_queue_inner;
    slow_queue_ops.copy = slow_queue_copy;
    slow_queue_ops.fill = slow_queue_fill;
    slow_device_ops = *device->ops;
    slow_device_ops.queue = &slow_queue_ops;
    device->ops = &slow_device_ops;
    atomic_store(&slow_calls_left, failing_call);
}

#endif

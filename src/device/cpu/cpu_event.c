/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Events: a record is a command that stores the time at which it is executed. An event refers to
 * the place of its last record in a queue, so records in several queues may complete in any order.
 */
#include "base/alloc.h"
#include "device/cpu/queue.h"

static wpi_cpu_device *device_of(const wpi_cpu_event *event) {
    return (wpi_cpu_device *)event->base.device;
}

void wpi_event_unref(wpi_cpu_event *event) {
    if (--event->refs != 0) return;
    wpi_queue_unref(event->last.queue);
    wpi_free(event);
}

static wp_status create(wp_device *device, uint32_t flags, wp_event **out, wp_error *err) {
    (void)flags;
    wpi_cpu_event *event = wpi_calloc(1, sizeof *event);
    if (event == NULL) return WP_FAIL(err, NOMEM, "event");
    event->base.device = device;
    event->refs = 1;
    *out = &event->base;
    return WP_STATUS_OK;
}

static void destroy(wp_event *base) {
    wpi_cpu_event *event = (wpi_cpu_event *)base;
    wpi_cpu_device *device = device_of(event);
    pthread_mutex_lock(device->lock);
    wpi_event_unref(event);
    pthread_mutex_unlock(device->lock);
}

static wp_status record(wp_event *base, wp_queue *queue, wp_error *err) {
    wpi_cpu_event *event = (wpi_cpu_event *)base;
    wpi_cpu_device *device = device_of(event);
    wpi_command *command = wpi_command_create(WPI_COMMAND_RECORD, 0);
    if (command == NULL) return WP_FAIL(err, NOMEM, "command of a queue");
    command->u.record = event;
    pthread_mutex_lock(device->lock);
    event->refs++;
    pthread_mutex_unlock(device->lock);
    return wpi_queue_submit((wpi_cpu_queue *)queue, command, err);
}

static wp_status wait(wp_event *base, wp_error *err) {
    wpi_cpu_event *event = (wpi_cpu_event *)base;
    wpi_cpu_device *device = device_of(event);
    pthread_mutex_lock(device->lock);
    const wpi_dependency last = event->last; /* another thread may record it meanwhile */
    if (last.queue != NULL) wpi_queue_ref(last.queue);
    wpi_device_wait_until(device, wpi_queue_has_come_to, &last, last.queue);
    wpi_queue_unref(last.queue);
    pthread_mutex_unlock(device->lock);
    wpi_output_flush(device->output);
    return wp_device_sticky_error(&device->base, err);
}

static bool is_complete(const wp_event *base) {
    const wpi_cpu_event *event = (const wpi_cpu_event *)base;
    wpi_cpu_device *device = device_of(event);
    pthread_mutex_lock(device->lock);
    if (device->executor != NULL && !wpi_queue_has_come_to(&event->last))
        device->executor->poll(device->executor);
    const bool answer = wpi_queue_has_come_to(&event->last);
    pthread_mutex_unlock(device->lock);
    return answer;
}

static uint64_t time_ns(const wp_event *base) {
    const wpi_cpu_event *event = (const wpi_cpu_event *)base;
    wpi_cpu_device *device = device_of(event);
    pthread_mutex_lock(device->lock);
    const uint64_t answer = event->time_ns;
    pthread_mutex_unlock(device->lock);
    return answer;
}

const wpi_event_ops wpi_cpu_event_ops = {
    .create = create,
    .destroy = destroy,
    .record = record,
    .wait = wait,
    .is_complete = is_complete,
    .time_ns = time_ns,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* include/warpage/host.h over the table of device.h. */
#include "device/device.h"

#include "base/fail.h"
#include "device/host_copies.h"

#define THREADS_MAX 4096u
#define BYTES_MAX (UINT64_C(1) << 50)

static const wpi_host_ops *host_of(const wp_device *device) {
    return device->ops->host != NULL ? device->ops->host : &wpi_host_threads;
}

static wp_status check_work(const wp_host_work *work, wp_error *err) {
    if ((unsigned)work->pattern >= WP_HOST_PATTERN_COUNT)
        return WP_FAIL(err, INVALID, "host work: there is no pattern %d", (int)work->pattern);
    if (work->threads > THREADS_MAX)
        return WP_FAIL(err, INVALID, "host work: %u threads; at most %u are allowed", work->threads,
                       THREADS_MAX);
    if (work->read_bytes > BYTES_MAX || work->written_bytes > BYTES_MAX)
        return WP_FAIL(err, INVALID, "host work: more than 1 PiB");
    return WP_STATUS_OK;
}

wp_status wp_device_host_work(wp_device *device, const wp_host_work *work, wp_error *err) {
    WP_TRY(check_work(work, err));
    if (device->ops->host != NULL) wpi_host_copies_declare(work);
    return host_of(device)->work(device, work, err);
}

wp_status wp_queue_host_work(wp_queue *queue, const wp_host_work *work, wp_error *err) {
    WP_TRY(check_work(work, err));
    if (queue->device->ops->host != NULL) wpi_host_copies_declare(work);
    return host_of(queue->device)->queue_work(queue, work, err);
}

wp_status wp_actor_start(wp_device *device, const char *name, wp_actor_step step, void *object,
                         wp_actor **out, wp_error *err) {
    const wp_actor actor = {.device = device, .name = name, .step = step, .object = object};
    *out = NULL;
    WP_TRY(wp_device_sticky_error(device, err));
    return host_of(device)->start(&actor, out, err);
}

void wp_actor_watch(wp_actor *actor, const volatile uint32_t *word, uint32_t value) {
    host_of(actor->device)->watch(actor, word, value);
}

uint64_t wpi_actor_now_ns(const wp_actor *actor) {
    return host_of(actor->device)->now_ns(actor->device);
}

wp_status wp_actor_wait(wp_actor *actor, wp_error *err) {
    return host_of(actor->device)->wait(actor, err);
}

void wp_actor_destroy(wp_actor *actor) {
    if (actor != NULL) host_of(actor->device)->destroy(actor);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/stream_memory.h"

#include "base/fail.h"

#define ALIGNMENT 256u

wp_status wpi_stream_memory_alloc(wpi_stream_memory *m, wp_device *device, uint64_t pinned_bytes,
                                  uint64_t device_bytes, wp_error *err) {
    if (m->device == device && m->pinned_bytes >= pinned_bytes && m->device_bytes >= device_bytes)
        return WP_STATUS_OK;
    wpi_stream_memory_free(m);
    m->device = device;
    WP_TRY(wp_memory_alloc(device, WP_MEMORY_DEVICE, device_bytes, 0, &m->memory, err));
    m->device_bytes = device_bytes;
    WP_TRY(wp_memory_alloc(device, WP_MEMORY_PINNED, pinned_bytes, 0, &m->pinned, err));
    m->pinned_bytes = pinned_bytes;
    return WP_STATUS_OK;
}

void wpi_stream_memory_free(wpi_stream_memory *m) {
    for (int i = 0; i < 2; i++) {
        void *memory = i == 0 ? m->pinned : m->memory;
        if (memory == NULL) continue;
        const wp_status ignored = wp_memory_free(m->device, memory, NULL);
        (void)ignored;
    }
    *m = (wpi_stream_memory){0};
}

uint64_t wpi_stream_round_up(uint64_t bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void *wpi_stream_take(char **at, uint64_t bytes) {
    void *taken = *at;
    *at += wpi_stream_round_up(bytes);
    return taken;
}

static bool fits(wpi_stream_needs needs, const wpi_stream_shape *shape) {
    return needs.device_bytes <= shape->device_bytes_max &&
           (shape->pinned_bytes_max == 0 || needs.pinned_bytes <= shape->pinned_bytes_max);
}

wp_status wpi_stream_no_room(wpi_stream_needs needs, const wpi_stream_shape *shape, wp_error *err) {
    if (needs.device_bytes > shape->device_bytes_max)
        return WP_FAIL(
            err, DEVICE_NOMEM,
            "the smallest buffers of a streamed launch take %llu bytes of device memory, "
            "but %llu may be used",
            (unsigned long long)needs.device_bytes, (unsigned long long)shape->device_bytes_max);
    return WP_FAIL(
        err, INVALID,
        "the smallest buffers of a streamed launch take %llu bytes of page-locked memory, "
        "but %llu may be used (streamingOptions.pinned_bytes)",
        (unsigned long long)needs.pinned_bytes, (unsigned long long)shape->pinned_bytes_max);
}

/* The largest number of turns, up to `most`, that fits; 0: not even one. */
static uint32_t turns_that_fit(const wpi_stream_shape *shape, uint32_t sets, uint32_t most,
                               wpi_stream_needs (*fill)(void *, uint32_t, uint32_t), void *layout) {
    for (uint32_t turns = most; turns > 0; turns--)
        if (fits(fill(layout, sets, turns), shape)) return turns;
    return 0;
}

uint32_t wpi_stream_fit(const wpi_stream_shape *shape, uint32_t most, uint32_t enough,
                        wpi_stream_needs (*fill)(void *, uint32_t, uint32_t), void *layout) {
    uint32_t sets = shape->set_count_max;
    if (most == 0) most = 1;
    if (enough > most) enough = most;
    uint32_t turns = turns_that_fit(shape, sets, most, fill, layout);
    while (sets > 1 && (turns == 0 || (turns < enough && sets > shape->set_count_max / 4))) {
        sets = (sets + 1) / 2;
        turns = turns_that_fit(shape, sets, most, fill, layout);
    }
    return turns;
}

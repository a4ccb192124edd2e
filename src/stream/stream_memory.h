/* SPDX-License-Identifier: Apache-2.0 */
/** Memory that a streamed launch allocates, and what decides how much. */
#ifndef WP_STREAM_STREAM_MEMORY_H
#define WP_STREAM_STREAM_MEMORY_H

#include "warpage/device.h"

/** What a launch needs, and what it may use. */
typedef struct wpi_stream_shape {
    wp_dim3 block;
    uint32_t set_count_max;
    uint64_t device_bytes_max;
    uint64_t pinned_bytes_max; /* 0: no limit */
    bool looks_for_patterns;
    bool is_original; /* the layout of data */
    bool has_log;     /* of stages, for the timeline */
    bool has_fetched; /* what address threads send is in device memory, and fetched by copies */
    bool has_flags;   /* in place of a barrier for each chunk */
    uint32_t host_threads; /* that serve the launch, at most; 0: as many as there is to do */
    uint32_t slots_max;    /* of a thread, of the class with the largest need */
} wpi_stream_shape;

/** Both allocations. The host's copies of what crosses the link in bulk, and its words, are
 * pinned, too. */
typedef struct wpi_stream_memory {
    wp_device *device;
    void *pinned, *memory; /* memory: of the device */
    uint64_t pinned_bytes, device_bytes;
} wpi_stream_memory;

/** Allocates, at least so much, unless `m` has as much already. */
WP_NODISCARD wp_status wpi_stream_memory_alloc(wpi_stream_memory *m, wp_device *device,
                                               uint64_t pinned_bytes, uint64_t device_bytes,
                                               wp_error *err);
void wpi_stream_memory_free(wpi_stream_memory *m); /* `{0}` is fine */

/** Everything in the two begins at a multiple of 256 bytes. */
uint64_t wpi_stream_round_up(uint64_t bytes);
/** `*at`, which moves on. */
void *wpi_stream_take(char **at, uint64_t bytes);

/** What buffers take. */
typedef struct wpi_stream_needs {
    uint64_t device_bytes, pinned_bytes;
} wpi_stream_needs;

/** DEVICE_NOMEM, INVALID: the smallest buffers, `needs`, are more than `shape` allows; the message
 * has the bytes. */
WP_NODISCARD wp_status wpi_stream_no_room(wpi_stream_needs needs, const wpi_stream_shape *shape,
                                          wp_error *err);

/** Chooses sets and multiples of the need: the most that fit. Each exchange with the host takes
 * some microseconds: where memory is short, fewer blocks run at a time, down to a quarter, so that
 * exchanges do not get too small. `fill` makes the layout for so many sets and turns and gives its
 * bytes. The chosen turns; 0: not even one set and turn fit. */
uint32_t wpi_stream_fit(const wpi_stream_shape *shape, uint32_t most, uint32_t enough,
                        wpi_stream_needs (*fill)(void *layout, uint32_t sets, uint32_t turns),
                        void *layout);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Memory of a launch with windows: how large they are, and where everything lies. */
#ifndef WP_STREAM_WINDOW_BUFFERS_H
#define WP_STREAM_WINDOW_BUFFERS_H

#include "base/stream_window_abi.h"
#include "stream/stream_memory.h"

/** The kernel's view in `launch`, without pointers; sizes of the two allocations. */
typedef struct wpi_window_layout {
    wpi_window_launch launch;
    bool is_original; /* a thread's data lie together */
    uint32_t groups_max;
    uint64_t pinned_bytes, device_bytes;
} wpi_window_layout;

/** `shape->slots_max` is in granules of a window. DEVICE_NOMEM as wpi_stream_layout_make. */
WP_NODISCARD wp_status wpi_window_layout_make(const wpi_stream_facts *facts,
                                              const wpi_stream_shape *shape, wpi_window_layout *out,
                                              wp_error *err);

typedef struct wpi_window_buffers {
    wpi_window_launch *launch;        /* in device memory */
    wpi_window_launch *launch_source; /* pinned: what is copied there */
    char *value_copy;                 /* pinned, as values */
    uint32_t *answers;         /* pinned, [2][set][thread]: sources of copies to the device's */
    uint32_t *sent, *returned; /* pinned, a word a group: batches that went, and came back */
    uint64_t *times;           /* pinned: the launch's times, at its end */
} wpi_window_buffers;

/** Places everything, and sets the host's words to 0. Fills launch_source. */
void wpi_window_buffers_place(wpi_window_buffers *buffers, const wpi_stream_memory *memory,
                              const wpi_window_layout *layout);
/** The device's words and times, which have to be 0 at the launch. */
void wpi_window_buffers_words(const wpi_window_buffers *buffers, const wpi_stream_memory *memory,
                              char **first, uint64_t *bytes);
/** The words that are set at the end of a launch. */
void wpi_window_buffers_rings(const wpi_window_buffers *buffers, uint32_t **first, size_t *count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Buffers of a streamed launch: how many slots fit, and where everything lies. */
#ifndef WP_STREAM_STREAM_BUFFERS_H
#define WP_STREAM_STREAM_BUFFERS_H

#include "base/stream_abi.h"
#include "stream/stream_memory.h"

/** The layout: kernel's view in `launch`, without pointers; sizes of the two allocations. */
typedef struct wpi_stream_layout {
    wpi_stream_launch launch;
    bool has_log;
    bool has_fetched;
    uint32_t slots; /* of the class with the largest need */
    uint64_t pinned_bytes, device_bytes;
} wpi_stream_layout;

/** DEVICE_NOMEM: not even one set with the smallest buffers fits; the message says how many bytes
 * are needed. */
WP_NODISCARD wp_status wpi_stream_layout_make(const wpi_stream_facts *facts,
                                              const wpi_stream_shape *shape, wpi_stream_layout *out,
                                              wp_error *err);

/** What address threads send, as the launch's fields of these names, in pinned memory: where they
 * put it, or what was fetched. */
typedef struct wpi_stream_requests {
    char *addresses;
    uint32_t *read_counts, *pattern_reads, *pattern_sites;
    wpi_stream_stride *patterns;
} wpi_stream_requests;

typedef struct wpi_stream_buffers {
    wpi_stream_requests requests;
    bool has_fetched;                 /* they are fetched */
    wpi_stream_launch *launch;        /* in device memory */
    wpi_stream_launch *launch_source; /* pinned: what is copied there */
    char *data_copy, *value_copy;     /* pinned, [set][buffer] as data and values */
    uint32_t *answer_flags;           /* pinned, [set][buffer]: sources of copied flags */
    uint32_t *store_flags;
    uint32_t *taken_flags; /* with flags */
    uint64_t *times;       /* pinned: the launch's times and log, at its end */
    uint64_t times_bytes;
    uint32_t *returned; /* pinned, a word a set: chunks whose values came back */
    uint32_t *placed;   /* … whose values are in place: only the host looks at it */
    uint32_t *fetched;  /* with requests that are fetched, a word a set: copies that have ended */
} wpi_stream_buffers;

/** Places everything, and sets the host's words to 0. Fills launch_source. */
void wpi_stream_buffers_place(wpi_stream_buffers *buffers, const wpi_stream_memory *memory,
                              const wpi_stream_layout *layout);
/** The device's words and times, which have to be 0 at the launch. */
void wpi_stream_buffers_words(const wpi_stream_buffers *buffers, const wpi_stream_memory *memory,
                              char **first, uint64_t *bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The stages of streamed launches on the timeline: a track for each stage of the first sets. What
 * actors do is noted while the launch is under way, and goes to the timeline at its end, as their
 * clock may be another one than the device's.
 */
#ifndef WP_STREAM_STREAM_TIMELINE_H
#define WP_STREAM_STREAM_TIMELINE_H

#include "stream/stream_buffers.h"

enum { WPI_STREAM_SPANS = 512 }; /* of an actor: its first ones */

/** What one actor did for chunk after chunk. `{0}` notes nothing. */
typedef struct wpi_stream_spans {
    uint64_t (*times)[2]; /* [count]: from, until */
    uint32_t count;
} wpi_stream_spans;

/** Has room, if the launch of a set with this number goes to the timeline. NOMEM. */
WP_NODISCARD wp_status wpi_stream_spans_init(wpi_stream_spans *spans, uint32_t set, wp_error *err);
void wpi_stream_spans_deinit(wpi_stream_spans *spans);
void wpi_stream_spans_add(wpi_stream_spans *spans, uint64_t since_ns, uint64_t now_ns);

/** The kernel's time on the device's clock, and a moment at its end on the actors'. */
typedef struct wpi_stream_moments {
    uint64_t began_ns, ended_ns, actors_ended_ns;
} wpi_stream_moments;
void wpi_stream_timeline_add_spans(const char *stage, uint32_t set, const wpi_stream_spans *spans,
                                   const wpi_stream_moments *moments);
/** What address threads and compute threads did, from the launch's log. */
void wpi_stream_timeline_add_log(const wpi_stream_buffers *buffers,
                                 const wpi_stream_moments *moments);

#endif

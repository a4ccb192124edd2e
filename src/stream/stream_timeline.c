/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/stream_timeline.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "report/recorder.h"

wp_status wpi_stream_spans_init(wpi_stream_spans *s, uint32_t set, wp_error *err) {
    if (set >= WPI_STREAM_LOG_SETS || !wpi_report_has_timeline()) return WP_STATUS_OK;
    s->times = wpi_calloc(WPI_STREAM_SPANS, sizeof *s->times);
    return s->times != NULL ? WP_STATUS_OK : WP_FAIL(err, NOMEM, "a streamed launch");
}

void wpi_stream_spans_deinit(wpi_stream_spans *s) {
    wpi_free(s->times);
    *s = (wpi_stream_spans){0};
}

void wpi_stream_spans_add(wpi_stream_spans *s, uint64_t since_ns, uint64_t now_ns) {
    if (s->times == NULL || s->count == WPI_STREAM_SPANS) return;
    s->times[s->count][0] = since_ns;
    s->times[s->count++][1] = now_ns;
}

static bool is_within(const wpi_stream_moments *m, uint64_t ns) {
    return ns >= m->began_ns && ns <= m->ended_ns;
}

void wpi_stream_timeline_add_spans(const char *stage, uint32_t set, const wpi_stream_spans *s,
                                   const wpi_stream_moments *m) {
    char track[64], name[32];
    if (s->count == 0) return;
    const uint64_t offset = is_within(m, s->times[0][0]) ? 0 : m->ended_ns - m->actors_ended_ns;
    (void)snprintf(track, sizeof track, "set %" PRIu32 ": %s", set, stage);
    for (uint32_t i = 0; i < s->count; i++) {
        (void)snprintf(name, sizeof name, "chunk %" PRIu32, i);
        wp_timeline_phase(track, name, s->times[i][0] + offset, s->times[i][1] + offset);
    }
}

typedef struct log {
    const uint64_t *events; /* [count] */
    uint64_t count;
} log;

static log log_of(const wpi_stream_buffers *b, uint32_t set, uint32_t half) {
    const uint64_t *logs = b->times + (uint64_t)b->launch_source->set_count * 2 * WPI_STREAM_TIMES;
    const uint64_t *own = logs + ((uint64_t)set * 2 + half) * (WPI_STREAM_LOG_EVENTS + 1);
    return (log){own + 1, own[0]};
}

static uint32_t logged_sets(const wpi_stream_buffers *b) {
    const uint32_t count = b->launch_source->set_count;
    return count < WPI_STREAM_LOG_SETS ? count : WPI_STREAM_LOG_SETS;
}

/* What is to be added to the threads' times: 0 if their clock is the device's. */
static uint64_t clock_offset(const wpi_stream_buffers *b, const wpi_stream_moments *m) {
    uint64_t first_ns = UINT64_MAX;
    for (uint32_t i = 0; i < 2 * logged_sets(b); i++) {
        const log l = log_of(b, i / 2, i % 2);
        if (l.count != 0 && l.events[0] >> 2 < first_ns) first_ns = l.events[0] >> 2;
    }
    return is_within(m, first_ns) ? 0 : m->began_ns - first_ns;
}

static void add_half(const wpi_stream_buffers *b, uint32_t set, uint32_t half, uint64_t offset) {
    static const char *const stages[] = {"addresses", "compute"};
    const log l = log_of(b, set, half);
    char track[64], name[32];
    uint64_t since_ns = 0;
    uint32_t chunk = 0;
    (void)snprintf(track, sizeof track, "set %" PRIu32 ": %s", set, stages[half]);
    for (uint64_t i = 0; i < l.count; i++) {
        const uint64_t now_ns = (l.events[i] >> 2) + offset;
        const uint32_t what = l.events[i] & 3;
        (void)snprintf(name, sizeof name, "chunk %" PRIu32, chunk);
        if (what == WPI_STREAM_WORKED) {
            wp_timeline_phase(track, name, since_ns, now_ns);
            chunk++;
        } else if (what == WPI_STREAM_WAITED && now_ns != since_ns) {
            wp_timeline_phase(track, "waits", since_ns, now_ns);
        }
        since_ns = now_ns;
    }
}

void wpi_stream_timeline_add_log(const wpi_stream_buffers *b, const wpi_stream_moments *m) {
    if (b->launch_source->log == NULL) return;
    const uint64_t offset = clock_offset(b, m);
    for (uint32_t i = 0; i < 2 * logged_sets(b); i++)
        add_half(b, i / 2, i % 2, offset);
}

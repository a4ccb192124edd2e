/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "base/file.h"
#include "base/text.h"
#include "report/json/json_parts.h"
#include "report/metrics.h"

#define NAME_WIDTH 40u
#define SPANS_MAX 65536u
#define STREAMS_MAX 256u /* further ones share the last track */

typedef struct span {
    char *name; /* name of a kernel or a phase; NULL: a copy */
    bool is_phase;
    wp_copy_kind copy;
    uint32_t stream;
    uint64_t bytes, start_ns, end_ns;
} span;

static struct {
    char *path;
    span *spans;
    size_t count, capacity;
    uint64_t left_out;
    const void *streams[STREAMS_MAX];
    char *names[STREAMS_MAX]; /* of tracks with phases; NULL: a stream's */
    uint32_t stream_count;
} timeline;

void wpi_timeline_start(const char *path) {
    for (size_t i = 0; i < timeline.count; i++)
        wpi_free(timeline.spans[i].name);
    for (uint32_t i = 0; i < timeline.stream_count; i++)
        wpi_free(timeline.names[i]);
    wpi_free(timeline.spans);
    wpi_free(timeline.path);
    memset(&timeline, 0, sizeof timeline);
    if (path != NULL) timeline.path = wpi_strdup(path);
}

bool wpi_timeline_is_on(void) {
    return timeline.path != NULL;
}

static uint32_t stream_of(const void *queue) {
    for (uint32_t i = 0; i < timeline.stream_count; i++)
        if (timeline.names[i] == NULL && timeline.streams[i] == queue) return i;
    if (timeline.stream_count == STREAMS_MAX) return STREAMS_MAX - 1;
    timeline.streams[timeline.stream_count] = queue;
    return timeline.stream_count++;
}

static uint32_t track_of(const char *name) {
    for (uint32_t i = 0; i < timeline.stream_count; i++)
        if (timeline.names[i] != NULL && strcmp(timeline.names[i], name) == 0) return i;
    char *copied = timeline.stream_count == STREAMS_MAX ? NULL : wpi_strdup(name);
    if (copied == NULL) return STREAMS_MAX - 1;
    timeline.names[timeline.stream_count] = copied;
    return timeline.stream_count++;
}

static bool make_room(void) {
    if (timeline.count < timeline.capacity) return true;
    if (timeline.count == SPANS_MAX) return false;
    const size_t capacity = timeline.capacity == 0 ? 256 : 2 * timeline.capacity;
    span *larger = wpi_realloc(timeline.spans, capacity * sizeof *larger);
    if (larger == NULL) return false;
    timeline.spans = larger;
    timeline.capacity = capacity;
    return true;
}

static void add(const span *s, const char *name) {
    char *copied = name != NULL ? wpi_strdup(name) : NULL;
    if ((name != NULL && copied == NULL) || !make_room()) {
        wpi_free(copied);
        timeline.left_out++;
        return;
    }
    span *kept = &timeline.spans[timeline.count++];
    *kept = *s;
    kept->name = copied;
    if (kept->end_ns < kept->start_ns) kept->end_ns = kept->start_ns;
}

void wpi_timeline_add(const void *queue, const char *name, wp_copy_kind copy, uint64_t bytes,
                      uint64_t start_ns, uint64_t end_ns) {
    if (timeline.path == NULL) return;
    add(&(span){.copy = copy,
                .stream = stream_of(queue),
                .bytes = bytes,
                .start_ns = start_ns,
                .end_ns = end_ns},
        name);
}

void wpi_timeline_add_phase(const char *track, const char *name, uint64_t start_ns,
                            uint64_t end_ns) {
    if (timeline.path == NULL) return;
    add(&(span){.is_phase = true,
                .copy = WP_COPY_KIND_COUNT,
                .stream = track_of(track),
                .start_ns = start_ns,
                .end_ns = end_ns},
        name);
}

/* ---- writing ---- */

/* Appends a quoted string; names of kernels need no further escapes. */
static void append_string(wpi_text *out, const char *text) {
    json_t *value = wpi_json_string(text);
    char *quoted = json_dumps(value, JSON_ENCODE_ANY);
    WP_CHECK(quoted != NULL);
    wpi_text_append(out, quoted);
    free(quoted);
    json_decref(value);
}

static void append_name(wpi_text *out, const char *what, uint32_t track, const char *name) {
    wpi_text_appendf(
        out,
        ",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":1,\"tid\":%" PRIu32 ",\"args\":{\"name\":", what,
        track);
    append_string(out, name);
    wpi_text_append(out, "}}");
}

static void append_tracks(const wp_run_record *record, wpi_text *out) {
    append_name(out, "process_name", 0, record->device_spec != NULL ? record->device_spec : "");
    for (uint32_t i = 0; i < timeline.stream_count; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "stream %" PRIu32, i);
        append_name(out, "thread_name", i, timeline.names[i] != NULL ? timeline.names[i] : name);
    }
    if (timeline.left_out == 0) return;
    char note[64];
    (void)snprintf(note, sizeof note, "%" PRIu64 " later ones are left out", timeline.left_out);
    append_name(out, "process_labels", 0, note);
}

/* Times are in µs, with three decimals. */
static void append_time(wpi_text *out, const char *key, uint64_t ns) {
    wpi_text_appendf(out, "\"%s\":%" PRIu64 ".%03" PRIu64, key, ns / 1000, ns % 1000);
}

static const char *display_name(const wp_run_record *record, const char *name) {
    for (size_t i = 0; i < record->kernel_count; i++)
        if (strcmp(record->kernels[i].name, name) == 0) return record->kernels[i].display_name;
    return name;
}

/* The timeline's origin: 0 of simulated time, or the first event, as the processor's clock started
 * earlier. */
static uint64_t origin_ns(const wp_run_record *record) {
    if (record->simulation != NULL || timeline.count == 0) return 0;
    uint64_t first_ns = UINT64_MAX;
    for (size_t i = 0; i < timeline.count; i++)
        if (timeline.spans[i].start_ns < first_ns) first_ns = timeline.spans[i].start_ns;
    return first_ns;
}

static void append_span(const wp_run_record *record, const span *s, uint64_t zero_ns,
                        wpi_text *out) {
    const char *full = s->name != NULL && !s->is_phase ? display_name(record, s->name) : NULL;
    char *name = s->is_phase    ? wpi_strdup(s->name)
                 : full != NULL ? wpi_cxx_name_short(full, NAME_WIDTH)
                                : NULL;
    wpi_text_append(out, ",\n{\"ph\":\"X\",\"name\":");
    append_string(out, name != NULL ? name : wp_copy_kind_name(s->copy));
    wpi_free(name);
    wpi_text_appendf(out, ",\"cat\":\"%s\",\"pid\":1,\"tid\":%" PRIu32 ",",
                     s->is_phase       ? "phase"
                     : s->name != NULL ? "kernel"
                                       : "copy",
                     s->stream);
    append_time(out, "ts", s->start_ns - zero_ns);
    wpi_text_append(out, ",");
    append_time(out, "dur", s->end_ns - s->start_ns);
    if (s->is_phase) {
        wpi_text_append(out, ",\"args\":{}");
    } else if (full == NULL) {
        wpi_text_appendf(out, ",\"args\":{\"bytes\":%" PRIu64 "}", s->bytes);
    } else {
        wpi_text_append(out, ",\"args\":{\"kernel\":");
        append_string(out, full);
        wpi_text_append(out, "}");
    }
    wpi_text_append(out, "}");
}

/* Percent of the units that are busy; of an unlimited number, how many are. A counter keeps its
 * value until the next event, so equal consecutive values are written once. */
static void append_series(const wp_run_series *series, wpi_text *out) {
    double last = -1;
    const double full_ps =
        (double)series->slice_ps * (series->units != 0 ? (double)series->units / 100 : 1);
    for (size_t i = 0; i <= series->slice_count; i++) {
        const double value = i < series->slice_count ? (double)series->busy_ps[i] / full_ps : 0;
        if (value == last) continue;
        last = value;
        wpi_text_append(out, ",\n{\"ph\":\"C\",\"pid\":1,\"name\":");
        append_string(out, wpi_series_label(series->name));
        wpi_text_append(out, ",");
        append_time(out, "ts", i * series->slice_ps / 1000);
        wpi_text_appendf(out, ",\"args\":{\"%s\":%.3f}}", series->units != 0 ? "%" : "in use",
                         value);
    }
}

char *wpi_timeline_to_json(const wp_run_record *record) {
    wpi_text out = {0};
    wpi_text_append(&out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
                          "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":1,\"tid\":0,"
                          "\"args\":{\"sort_index\":0}}");
    append_tracks(record, &out);
    const uint64_t zero_ns = origin_ns(record);
    for (size_t i = 0; i < timeline.count; i++)
        append_span(record, &timeline.spans[i], zero_ns, &out);
    for (size_t i = 0; record->simulation != NULL && i < record->simulation->series_count; i++)
        append_series(&record->simulation->series[i], &out);
    wpi_text_append(&out, "\n]}\n");
    return wpi_text_take(&out);
}

wp_status wpi_timeline_write(const wp_run_record *record, wp_error *err) {
    char *json = wpi_timeline_to_json(record);
    const wp_status status = wpi_file_write(timeline.path, json, strlen(json), err);
    wpi_free(json);
    return status;
}

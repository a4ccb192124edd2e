/* SPDX-License-Identifier: Apache-2.0 */
/* The record as text, in the manner of `perf stat`. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "base/time.h"
#include "base/units.h"
#include "report/cached.h"
#include "report/host_facts.h"
#include "report/rules/verdict.h"
#include "report/run_record.h"
#include "report/streamed.h"

#define NAME_WIDTH 34

static void append_rate(wpi_text *out, uint64_t bytes, uint64_t time_ns) {
    if (time_ns == 0) return;
    const double gigabytes_per_s = (double)bytes / (double)time_ns;
    wpi_text_appendf(out, "%10.2f GB/s", gigabytes_per_s);
}

static void append_nested(const wp_run_kernel *k, wpi_text *out) {
    char *parent = k->launched_by != NULL ? wpi_cxx_name_short(k->launched_by, NAME_WIDTH) : NULL;
    if (parent != NULL) wpi_text_appendf(out, "    launched by %s\n", parent);
    wpi_free(parent);
    if (k->swapped_blocks != 0)
        wpi_text_appendf(out,
                         "    %" PRIu64 " times a block left its SM while it waited for kernels\n",
                         k->swapped_blocks);
}

static void append_kernels(const wp_run_record *record, wpi_text *out) {
    char total[32], mean[32], longest[32];
    if (record->kernel_count == 0) {
        wpi_text_append(out, "\n  no kernel was launched\n");
        return;
    }
    wpi_text_appendf(out, "\n  %-*s %10s %14s %12s %12s %12s\n", NAME_WIDTH, "kernel", "launches",
                     "threads", "time", "mean", "longest");
    for (size_t i = 0; i < record->kernel_count; i++) {
        const wp_run_kernel *k = &record->kernels[i];
        char *name = wpi_cxx_name_short(k->display_name, NAME_WIDTH);
        wpi_text_append(out, "  ");
        wpi_text_append_padded(out, name, -NAME_WIDTH);
        wpi_free(name);
        wpi_text_appendf(out, " %10" PRIu64 " %14" PRIu64 " %12s %12s %12s\n", k->launches,
                         k->threads, wpi_format_duration(k->time_ns, total),
                         wpi_format_duration(k->launches != 0 ? k->time_ns / k->launches : 0, mean),
                         wpi_format_duration(k->time_max_ns, longest));
        append_nested(k, out);
    }
}

static void append_copies(const wp_run_record *record, wpi_text *out) {
    static const char *const labels[WP_COPY_KIND_COUNT] = {
        "host to device", "device to host", "device to device", "host to host", "fill"};
    char bytes[32], time[32];
    bool has_header = false;
    for (int kind = 0; kind < WP_COPY_KIND_COUNT; kind++) {
        const wp_run_copies *c = &record->copies[kind];
        if (c->count == 0) continue;
        if (!has_header)
            wpi_text_appendf(out, "\n  %-*s %10s %14s %12s\n", NAME_WIDTH, "copy", "count", "bytes",
                             "time");
        has_header = true;
        wpi_text_appendf(out, "  %-*s %10" PRIu64 " %14s %12s", NAME_WIDTH, labels[kind], c->count,
                         wpi_format_bytes(c->bytes, bytes), wpi_format_duration(c->time_ns, time));
        append_rate(out, c->bytes, c->time_ns);
        wpi_text_append(out, "\n");
    }
}

/* The simulator's speed, if the wall time is known. */
static void append_speed(const wp_run_record *record, wpi_text *out) {
    if (record->simulation == NULL || record->wall_time_ns == 0) return;
    const double instructions =
        (double)wp_run_count(record, record->simulation->values, "kernel_thread_instructions");
    wpi_text_appendf(out, "  %-*s %.2f M thread instructions a second\n", NAME_WIDTH,
                     "simulator's speed", instructions / (double)record->wall_time_ns * 1e3);
}

void wpi_run_record_text(const wp_run_record *record, wpi_text *out) {
    char text[32];
    wpi_text_append(out, "\n  run of");
    for (size_t i = 0; i < record->program_count; i++)
        wpi_text_appendf(out, " %s", record->program[i]);
    if (record->device_spec[0] != '\0')
        wpi_text_appendf(out, " on %s (%s)", record->device_spec, record->device_name);
    wpi_text_append(out, "\n");
    for (size_t i = 0; i < record->policy_file_count; i++)
        wpi_text_appendf(out, "  with policy file %s (hash %016" PRIx64 ")\n",
                         record->policy_files[i].path, record->policy_files[i].hash);
    wpi_verdict_text(record, out);
    append_kernels(record, out);
    append_copies(record, out);
    wpi_streamed_text(record, out);
    wpi_host_facts_text(record, out);
    wpi_cached_text(record, out);
    if (record->simulation != NULL) wpi_run_record_text_simulation(record, out);
    wpi_text_appendf(out, "\n  %-*s %s\n", NAME_WIDTH, "device memory, peak",
                     wpi_format_bytes(record->memory_peak_bytes, text));
    if (record->simulation != NULL)
        wpi_text_appendf(out, "  %-*s %s\n", NAME_WIDTH, "simulated time",
                         wpi_format_duration(record->simulation->time_ps / WP_PS_PER_NS, text));
    if (record->wall_time_ns != 0)
        wpi_text_appendf(out, "  %-*s %s\n", NAME_WIDTH, "wall time",
                         wpi_format_duration(record->wall_time_ns, text));
    append_speed(record, out);
    if (record->has_exit_status && record->exit_status != 0)
        wpi_text_appendf(out, "  %-*s %d\n", NAME_WIDTH, "exit status", record->exit_status);
    wpi_text_append(out, "\n");
}

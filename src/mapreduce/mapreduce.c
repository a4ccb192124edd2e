/* SPDX-License-Identifier: Apache-2.0 */
/* A job: input, chunks, table, passes, result. Memory of the table is taken last, so that its heap
 * can be what is left. */
#include "warpage/mapreduce.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/units.h"
#include "mapreduce/mapreduce_job.h"
#include "warpage/report.h"

#define PAGES_OF_MEMORY ((uint64_t)1 << 20)
#define PAGE_BYTES_MIN ((uint64_t)16 << 10)
#define PAGE_BYTES_MAX ((uint64_t)256 << 10)

wp_status wp_map_launch_failed(const char *program, const char *reason, wp_error *err) {
    return WP_FAIL(err, LAUNCH, "mapreduce: the kernel of %s could not be launched: %s", program,
                   reason);
}

static wp_status check_spec(const wp_mapreduce_spec *spec, wp_error *err) {
    if (spec->program == NULL || spec->program->launch == NULL)
        return WP_FAIL(err, INVALID, "mapreduce: no program; set it to what WP_MAPREDUCE made");
    if (spec->partitioner.cut == NULL)
        return WP_FAIL(err, INVALID,
                       "mapreduce: no partitioner; set one, wp_partition_lines() for example");
    if (spec->path_count == 0 && spec->memory == NULL)
        return WP_FAIL(err, INVALID, "mapreduce: no input; set paths, or memory");
    if ((unsigned)spec->mode >= WP_MAPREDUCE_MODE_COUNT)
        return WP_FAIL(err, INVALID, "mapreduce: there is no mode %d", (int)spec->mode);
    if (spec->mode == WP_MAP_GROUP && spec->program->has_combine)
        return WP_FAIL(err, INVALID,
                       "mapreduce: %s combines values, which WP_MAP_GROUP does not; use "
                       "WP_MAP_REDUCE",
                       spec->program->name);
    const bool has_kernel = spec->program->reduce != NULL;
    if (spec->mode == WP_MAP_REDUCE && (spec->reduce != NULL || has_kernel))
        return WP_FAIL(err, INVALID,
                       "mapreduce: a reduce function gets groups, which are made in WP_MAP_GROUP");
    if (spec->reduce != NULL && has_kernel)
        return WP_FAIL(err, INVALID,
                       "mapreduce: %s reduces groups by a kernel; leave the reduce function out",
                       spec->program->name);
    if (spec->mode == WP_MAP_REDUCE && spec->table.combiner == WP_TABLE_CALLBACK &&
        !spec->program->has_combine)
        return WP_FAIL(err, INVALID,
                       "mapreduce: %s has no combine function; make it by WP_MAPREDUCE_WITH",
                       spec->program->name);
    if (spec->threads > 1024)
        return WP_FAIL(err, INVALID, "mapreduce: blocks of %u threads; at most 1024 are possible",
                       spec->threads);
    if (spec->chunk_memory > WP_MEMORY_PINNED)
        return WP_FAIL(
            err, INVALID,
            "mapreduce: chunks are in device, managed or page-locked memory, not in memory "
            "of kind %d",
            (int)spec->chunk_memory);
    return WP_STATUS_OK;
}

/* ---- passes ---------------------------------------------------------------------------------- */

static wp_status note_pass(wp_mapreduce *job, const wp_postpone_facts *facts, wp_error *err) {
    wp_table_report table;
    uint64_t now_ns;
    wp_table_get_report(job->table, &table);
    WP_TRY(wpi_clock_read(job, &now_ns, err));
    wp_mapreduce_pass *pass = &job->pass;
    WP_TRY(wpi_grow(&job->passes, job->pass_count, &job->pass_capacity, sizeof *job->passes, err));
    pass->records_postponed = facts->postponed_units;
    pass->pass_ns = facts->pass_ns;
    pass->heap_ns = now_ns - job->mapped_ns;
    pass->heap_bytes = table.table_bytes - job->table_before.table_bytes;
    pass->unused_bytes = table.unused_bytes - job->table_before.unused_bytes;
    wp_timeline_phase("passes", "heap to host", job->mapped_ns, now_ns);
    wp_mapreduce_report *report = &job->report;
    report->sent_bytes += pass->sent_bytes;
    if (job->pass_count != 0) report->sent_again_bytes += pass->sent_bytes;
    report->pairs += pass->pairs_done;
    report->map_ns += pass->map_ns;
    report->copy_ns += pass->copy_ns;
    report->host_ns += pass->host_ns;
    report->passes_ns += pass->pass_ns;
    report->heap_ns += pass->heap_ns;
    job->records_done += pass->records_done;
    job->table_before = table;
    job->passes[job->pass_count++] = *pass;
    report->passes = job->pass_count;
    *pass = (wp_mapreduce_pass){0};
    return WP_STATUS_OK;
}

typedef struct runner {
    wp_mapreduce *job;
    wp_status status;
    wp_error *err;
} runner;

static bool retries(void *object, const wp_postpone_facts *facts) {
    runner *r = object;
    r->status = note_pass(r->job, facts, r->err);
    return r->status == WP_STATUS_OK;
}

static wp_status map_some(void *object, const wp_units *units, uint64_t first, uint64_t outer,
                          wp_error *err) {
    wp_mapreduce *job = ((runner *)object)->job;
    WP_TRY(wpi_map_records(job, units, first, outer, err));
    return wpi_clock_read(job, &job->mapped_ns, err);
}

/* A failure of the table, with the record at which it occurred. */
static wp_status name_record(const wp_mapreduce *job, wp_status status, wp_error *err) {
    if (job->refused_record == UINT64_MAX || err == NULL) return status;
    char name[320];
    char *message = wpi_format("%s", err->message);
    wpi_record_name(job, job->refused_record, name, sizeof name);
    (void)snprintf(err->message, sizeof err->message, "mapreduce: %s: %s", name, message);
    wpi_free(message);
    return status;
}

static wp_status run_passes(wp_mapreduce *job, wp_error *err) {
    runner r = {job, WP_STATUS_OK, err};
    wp_postpone_facts facts;
    const wp_requester requester = {.object = &r, .process = map_some, .retries = retries};
    job->refused_record = UINT64_MAX;
    const wp_status status = wp_table_run(job->table, job->postpone, &requester, &facts, err);
    if (status != WP_STATUS_OK) return name_record(job, status, err);
    WP_TRY(r.status);
    return note_pass(job, &facts, err);
}

/* Each group of buckets takes a page at a time, and what it leaves of it is copied to the host with
 * the rest. The table's own default, 1/4096 of the heap, suits a heap that is about to be full; one
 * that is all of the device's free memory is mostly empty, so its pages are smaller. */
static uint64_t choose_page_bytes(const wp_mapreduce *job) {
    uint64_t free_bytes, total_bytes;
    if (job->spec.table.page_bytes != 0 || job->spec.table.heap_bytes != 0)
        return job->spec.table.page_bytes;
    wp_memory_info(job->device, &free_bytes, &total_bytes);
    const uint64_t bytes = free_bytes / PAGES_OF_MEMORY;
    return bytes < PAGE_BYTES_MIN   ? PAGE_BYTES_MIN
           : bytes > PAGE_BYTES_MAX ? PAGE_BYTES_MAX
                                    : bytes;
}

static wp_status run(wp_mapreduce *job, wp_error *err) {
    WP_TRY(wpi_sources_open(job, err));
    WP_TRY(wpi_buffers_create(job, err));
    const wp_postpone_spec units = {.unit_count = job->record_count};
    WP_TRY(wp_postpone_create(job->device, &units, &job->postpone, err));
    wp_table_spec table = job->spec.table;
    table.organisation = job->spec.mode == WP_MAP_GROUP ? WP_TABLE_MULTIVALUED : WP_TABLE_COMBINING;
    table.page_bytes = choose_page_bytes(job);
    if (job->spec.program->has_combine) table.combiner = WP_TABLE_CALLBACK;
    WP_TRY(wp_table_create(job->device, &table, &job->table, err));
    WP_TRY(run_passes(job, err));
    wp_table_get_report(job->table, &job->report.table);
    job->report.host_bytes =
        job->record_capacity * sizeof *job->records + job->bits_capacity * sizeof *job->bits;
    return wpi_results_make(job, err);
}

/* What is needed only until the result is there. */
static void free_input(wp_mapreduce *job) {
    wpi_buffers_destroy(job);
    wp_postpone_destroy(job->postpone);
    wpi_sources_close(job);
    job->postpone = NULL;
}

wp_status wp_mapreduce_run(wp_device *device, const wp_mapreduce_spec *spec, wp_mapreduce **out,
                           wp_error *err) {
    *out = NULL;
    if (device == NULL) return WP_FAIL(err, INVALID, "mapreduce: there is no device");
    WP_TRY(check_spec(spec, err));
    wp_mapreduce *job = wpi_calloc(1, sizeof *job);
    if (job == NULL) return WP_FAIL(err, NOMEM, "mapreduce: no host memory");
    job->device = device;
    job->spec = *spec;
    wp_error own = WP_ERROR_INIT;
    const wp_status status = run(job, err == NULL ? &own : err);
    if (status != WP_STATUS_OK) { /* chunks may be under way */
        const wp_status ignored = wp_device_wait(device, NULL);
        (void)ignored;
    }
    free_input(job);
    if (status != WP_STATUS_OK)
        wp_mapreduce_close(job);
    else
        *out = job;
    return status;
}

void wp_mapreduce_close(wp_mapreduce *job) {
    if (job == NULL) return;
    wpi_results_free(job);
    wp_table_close(job->table);
    wpi_free(job->passes);
    wpi_free(job);
}

/* ---- reports --------------------------------------------------------------------------------- */

void wp_mapreduce_show_progress(void *unused, const wp_mapreduce_progress *p) {
    (void)unused;
    if (!isatty(STDERR_FILENO)) return;
    (void)fprintf(stderr,
                  "\rpass %" PRIu64 ": %" PRIu64 "%% of records done, %" PRIu64
                  " pairs postponed   %s",
                  p->pass, p->records == 0 ? 100 : p->records_done * 100 / p->records,
                  p->pairs_postponed, p->records_done == p->records ? "\n" : "");
}

void wp_mapreduce_get_report(const wp_mapreduce *job, wp_mapreduce_report *out) {
    *out = job->report;
}

bool wp_mapreduce_get_pass(const wp_mapreduce *job, uint64_t number, wp_mapreduce_pass *out) {
    if (number == 0 || number > job->pass_count) return false;
    *out = job->passes[number - 1];
    return true;
}

size_t wp_mapreduce_explain(const wp_mapreduce *job, char *text, size_t text_bytes) {
    const wp_mapreduce_report *r = &job->report;
    char a[32], b[32], c[32];
    wpi_text lines = {0};
    wpi_text_appendf(&lines, "%4s%14s%12s%14s%12s%13s%13s%13s%13s\n", "pass", "records done",
                     "postponed", "pairs done", "postponed", "sent", "heap copied", "unused",
                     "time");
    for (uint64_t i = 0; i < job->pass_count; i++) {
        const wp_mapreduce_pass *p = &job->passes[i];
        wpi_text_appendf(&lines, "%4" PRIu64 "%14" PRIu64 "%12" PRIu64 "%14" PRIu64 "%12" PRIu64,
                         i + 1, p->records_done, p->records_postponed, p->pairs_done,
                         p->pairs_postponed);
        wpi_text_appendf(&lines, "%13s%13s%13s", wpi_format_bytes(p->sent_bytes, a),
                         wpi_format_bytes(p->heap_bytes, b), wpi_format_bytes(p->unused_bytes, c));
        wpi_text_appendf(&lines, "%13s\n", wpi_format_duration(p->pass_ns, a));
    }
    wpi_text_appendf(&lines, "%" PRIu64 " records, %s; %" PRIu64 " pairs; %s sent", r->records,
                     wpi_format_bytes(r->input_bytes, a), r->pairs,
                     wpi_format_bytes(r->sent_bytes, b));
    wpi_text_appendf(&lines, ", of which %s again\n", wpi_format_bytes(r->sent_again_bytes, a));
    wpi_text_appendf(&lines, "map %s, copies of chunks %s", wpi_format_duration(r->map_ns, a),
                     wpi_format_duration(r->copy_ns, b));
    wpi_text_appendf(&lines, ", host %s, heap to host %s", wpi_format_duration(r->host_ns, a),
                     wpi_format_duration(r->heap_ns, b));
    if (r->reduce_ns != 0)
        wpi_text_appendf(&lines, ", reduce %s", wpi_format_duration(r->reduce_ns, a));
    wpi_text_appendf(&lines, "\n");
    wpi_text_appendf(&lines, "table of %s, heap of %s", wpi_format_bytes(r->table.table_bytes, a),
                     wpi_format_bytes(r->table.heap_bytes, b));
    if (r->table.file_bytes != 0)
        wpi_text_appendf(&lines, "; in a file %s", wpi_format_bytes(r->table.file_bytes, c));
    wpi_text_appendf(&lines, "; chunks take %s of the device\n",
                     wpi_format_bytes(r->device_bytes, a));
    const int length = snprintf(text, text_bytes, "%s", wpi_text_string(&lines));
    wpi_text_deinit(&lines);
    return length < 0 ? 0 : (size_t)length;
}

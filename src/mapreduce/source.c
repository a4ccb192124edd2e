/* SPDX-License-Identifier: Apache-2.0 */
/* The input: plain files are mapped into memory, so that they may be larger than it; packed ones
 * are unpacked. The partitioner sees the rest of a file at once, and an index of all records is
 * made before the first one is mapped. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "mapreduce/mapreduce_job.h"

wp_status wpi_grow(void *items, uint64_t count, uint64_t *capacity, size_t item_bytes,
                   wp_error *err) {
    if (count < *capacity) return WP_STATUS_OK;
    const uint64_t more = *capacity == 0 ? 64 : *capacity * 2;
    size_t bytes;
    void *old, *memory = NULL;
    memcpy(&old, items, sizeof old);
    if (wpi_mul_size(more, item_bytes, &bytes)) memory = wpi_realloc(old, bytes);
    if (memory == NULL)
        return WP_FAIL(err, NOMEM, "mapreduce: no host memory for a list of %" PRIu64 " items",
                       more);
    memcpy(items, &memory, sizeof memory);
    *capacity = more;
    return WP_STATUS_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

static wp_status unpack(wpi_source *source, wp_error *err) {
    uint64_t capacity = 0;
    size_t got = 0;
    do {
        if (capacity - source->bytes < (1u << 16)) {
            const uint64_t more = capacity == 0 ? 1u << 20 : capacity * 2;
            char *memory = wpi_realloc(source->unpacked, more);
            if (memory == NULL)
                return WP_FAIL(err, NOMEM,
                               "mapreduce: no host memory to unpack %s: it has more than %" PRIu64
                               " bytes",
                               source->name, source->bytes);
            source->unpacked = memory;
            capacity = more;
        }
        WP_TRY(wpi_bytes_read(source->file, source->unpacked + source->bytes,
                              capacity - source->bytes, &got, err));
        source->bytes += got;
    } while (got != 0);
    source->text = source->unpacked;
    return WP_STATUS_OK;
}

static wp_status open_file(wpi_source *source, wp_error *err) {
    const void *data;
    size_t bytes;
    WP_TRY(wpi_bytes_open(source->name, &source->file, err));
    if (wpi_bytes_map(source->file, false, &data, &bytes)) {
        source->text = data;
        source->bytes = bytes;
        return WP_STATUS_OK;
    }
    return unpack(source, err);
}

/* ---- records --------------------------------------------------------------------------------- */

static wp_status add_record(wp_mapreduce *job, const char *text, uint64_t bytes, wp_error *err) {
    if (bytes > UINT32_MAX / 2)
        return WP_FAIL(err, INVALID,
                       "mapreduce: record %" PRIu64 " has %" PRIu64
                       " bytes; a record has at most 2^31",
                       job->record_count + 1, bytes);
    WP_TRY(wpi_grow(&job->records, job->record_count, &job->record_capacity, sizeof *job->records,
                    err));
    job->records[job->record_count++] =
        (wpi_record){.text = text, .bits = WPI_RECORD_NEW, .bytes = (uint32_t)bytes};
    if (bytes > job->longest_bytes) job->longest_bytes = bytes;
    return WP_STATUS_OK;
}

static wp_status cut(wp_mapreduce *job, wpi_source *source, wp_error *err) {
    const wp_partitioner *p = &job->spec.partitioner;
    source->first_record = job->record_count;
    for (uint64_t at = 0; at < source->bytes;) {
        wp_cut cut = {0};
        const uint64_t left = source->bytes - at;
        const wp_cut_answer answer = p->cut(p, source->text + at, left, &cut);
        if (answer == WP_CUT_END) break;
        if (answer == WP_CUT_BAD)
            return WP_FAIL(err, PARSE,
                           "mapreduce: %s, record %" PRIu64 " (at byte %" PRIu64 "): %s",
                           source->name, job->record_count - source->first_record + 1, at,
                           cut.problem == NULL ? "malformed" : cut.problem);
        if (cut.used == 0 || cut.used > left || cut.first > left || cut.bytes > left - cut.first)
            return WP_FAIL(err, INVALID,
                           "mapreduce: %s, at byte %" PRIu64
                           ": the partitioner cut outside of the %" PRIu64
                           " bytes that it was given, or used none of them",
                           source->name, at, left);
        WP_TRY(add_record(job, source->text + at + cut.first, cut.bytes, err));
        at += cut.used;
    }
    return WP_STATUS_OK;
}

wp_status wpi_sources_open(wp_mapreduce *job, wp_error *err) {
    const wp_mapreduce_spec *spec = &job->spec;
    job->source_count = spec->path_count == 0 ? 1 : spec->path_count;
    job->sources = wpi_calloc(job->source_count, sizeof *job->sources);
    if (job->sources == NULL)
        return WP_FAIL(err, NOMEM, "mapreduce: no host memory for %" PRIu64 " files",
                       job->source_count);
    for (uint64_t i = 0; i < job->source_count; i++) {
        wpi_source *source = &job->sources[i];
        if (spec->path_count == 0) {
            *source = (wpi_source){
                .name = "the input", .text = spec->memory, .bytes = spec->memory_bytes};
        } else {
            source->name = spec->paths[i];
            WP_TRY(open_file(source, err));
        }
        if (source->bytes == 0)
            return WP_FAIL(err, INVALID, "mapreduce: %s is empty", source->name);
        WP_TRY(cut(job, source, err));
        job->report.input_bytes += source->bytes;
    }
    job->report.records = job->record_count;
    if (job->record_count == 0)
        return WP_FAIL(err, INVALID, "mapreduce: the partitioner found no record in %s",
                       job->source_count == 1 ? job->sources[0].name : "any of the files");
    return WP_STATUS_OK;
}

void wpi_sources_close(wp_mapreduce *job) {
    for (uint64_t i = 0; job->sources != NULL && i < job->source_count; i++) {
        wpi_bytes_close(job->sources[i].file);
        wpi_free(job->sources[i].unpacked);
    }
    wpi_free(job->sources);
    wpi_free(job->records);
    job->sources = NULL;
    job->records = NULL;
}

void wpi_record_name(const wp_mapreduce *job, uint64_t number, char *out, size_t out_bytes) {
    uint64_t first = 0, outer = job->source_count;
    while (outer - first > 1) {
        const uint64_t middle = first + (outer - first) / 2;
        if (job->sources[middle].first_record <= number)
            first = middle;
        else
            outer = middle;
    }
    const wpi_source *source = &job->sources[first];
    (void)snprintf(out, out_bytes, "%.200s, record %" PRIu64 " (at byte %" PRIu64 ")", source->name,
                   number - source->first_record + 1,
                   (uint64_t)(job->records[number].text - source->text));
}

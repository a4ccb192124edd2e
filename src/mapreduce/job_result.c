/* SPDX-License-Identifier: Apache-2.0 */
/* The result: pairs of the table as they are, or a list of them that is ordered or reduced; and the
 * file with them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "mapreduce/mapreduce_job.h"

/* ---- order ----------------------------------------------------------------------------------- */

static int compare(wp_span a, wp_span b) {
    const uint64_t shorter = a.bytes < b.bytes ? a.bytes : b.bytes;
    const int order = shorter == 0 ? 0 : memcmp(a.data, b.data, shorter);
    return order != 0 ? order : (a.bytes > b.bytes) - (a.bytes < b.bytes);
}

static int by_key_and_value(const void *a, const void *b) {
    const wpi_result *x = a, *y = b;
    const int order = compare(x->key, y->key);
    return order != 0 ? order : compare(x->value, y->value);
}

static wp_status list_pairs(wp_mapreduce *job, wp_error *err) {
    wp_table_cursor cursor = {0};
    wp_table_pair pair;
    while (wp_table_next(job->table, &cursor, &pair)) {
        WP_TRY(wpi_grow(&job->results, job->result_count, &job->result_capacity,
                        sizeof *job->results, err));
        job->results[job->result_count++] =
            (wpi_result){{pair.key, pair.key_bytes}, {pair.value, pair.value_bytes}};
    }
    job->has_results = true;
    if (job->spec.is_ordered && job->result_count != 0)
        qsort(job->results, job->result_count, sizeof *job->results, by_key_and_value);
    return WP_STATUS_OK;
}

/* ---- make --------------------------------------------------------------------------------------
 */

wp_status wpi_results_make(wp_mapreduce *job, wp_error *err) {
    if (!job->spec.is_ordered && !wpi_reduces(job)) return WP_STATUS_OK;
    WP_TRY(list_pairs(job, err));
    if (!wpi_reduces(job)) return WP_STATUS_OK;
    return job->spec.reduce == NULL ? wpi_reduce_on_device(job, err) : wpi_reduce_on_host(job, err);
}

void wpi_results_free(wp_mapreduce *job) {
    for (uint64_t i = 0; i < job->block_count; i++)
        wpi_free(job->blocks[i]);
    wpi_free(job->blocks);
    wpi_free(job->results);
}

/* ---- iterate --------------------------------------------------------------------------------- */

bool wp_mapreduce_next(const wp_mapreduce *job, wp_mapreduce_cursor *cursor, wp_table_pair *out) {
    if (!job->has_results) return wp_table_next(job->table, &cursor->table, out);
    if (cursor->index >= job->result_count) return false;
    const wpi_result *result = &job->results[cursor->index++];
    *out = (wp_table_pair){result->key.data, result->value.data, result->key.bytes,
                           result->value.bytes};
    return true;
}

uint64_t wp_mapreduce_pair_count(const wp_mapreduce *job) {
    return job->has_results ? job->result_count : wp_table_pair_count(job->table);
}

wp_table *wp_mapreduce_table(const wp_mapreduce *job) {
    return job->table;
}

/* ---- write ----------------------------------------------------------------------------------- */

static bool put_number(FILE *file, const wp_table_pair *pair) {
    uint32_t small = 0;
    uint64_t number = 0;
    if (pair->value_bytes == 4) {
        memcpy(&small, pair->value, 4);
        number = small;
    } else {
        memcpy(&number, pair->value, 8);
    }
    return fprintf(file, "%" PRIu64, number) > 0;
}

static bool put_bytes(FILE *file, const void *data, uint64_t bytes) {
    return bytes == 0 || fwrite(data, 1, bytes, file) == bytes;
}

static bool put_pairs(const wp_mapreduce *job, wp_output output, FILE *file) {
    wp_mapreduce_cursor cursor = {0};
    wp_table_pair pair;
    while (wp_mapreduce_next(job, &cursor, &pair))
        if (!put_bytes(file, pair.key, pair.key_bytes) || fputc('\t', file) == EOF ||
            !(output == WP_OUTPUT_NUMBERS ? put_number(file, &pair)
                                          : put_bytes(file, pair.value, pair.value_bytes)) ||
            fputc('\n', file) == EOF)
            return false;
    return true;
}

static wp_status check_output(const wp_mapreduce *job, wp_output output, wp_error *err) {
    wp_mapreduce_cursor cursor = {0};
    wp_table_pair pair;
    if ((unsigned)output >= WP_OUTPUT_COUNT)
        return WP_FAIL(err, INVALID, "mapreduce: there is no output %d", (int)output);
    if (output == WP_OUTPUT_TABLE && wpi_reduces(job))
        return WP_FAIL(err, INVALID,
                       "mapreduce: a table has the pairs as they were emitted; write what a reduce "
                       "function returned as text or numbers");
    while (output == WP_OUTPUT_NUMBERS && wp_mapreduce_next(job, &cursor, &pair))
        if (pair.value_bytes != 4 && pair.value_bytes != 8)
            return WP_FAIL(err, INVALID,
                           "mapreduce: a value has %" PRIu64
                           " bytes; numbers have 4 or 8; write it as text",
                           pair.value_bytes);
    return WP_STATUS_OK;
}

/* Beside `path`, then renamed. */
wp_status wp_mapreduce_write(const wp_mapreduce *job, const char *path, wp_output output,
                             wp_error *err) {
    WP_TRY(check_output(job, output, err));
    if (output == WP_OUTPUT_TABLE) return wp_table_save(job->table, path, err);
    char *temporary;
    const int descriptor = wpi_file_begin(path, &temporary);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    bool is_right = file != NULL && put_pairs(job, output, file);
    int reason = errno;
    if (file != NULL && fclose(file) != 0) {
        if (is_right) reason = errno;
        is_right = false;
    } else if (file == NULL && descriptor >= 0) {
        (void)close(descriptor);
    }
    errno = reason;
    is_right = wpi_file_end(path, temporary, is_right);
    reason = errno;
    return is_right ? WP_STATUS_OK
                    : WP_FAIL(err, IO, "mapreduce: cannot write the result to %s: %s", path,
                              strerror(reason));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page-view count with a table that may be larger than device memory (warpage/table.h): its entries
 * in device memory, in several passes or in one; in page-locked host memory; or in managed memory.
 *
 * A line is a record that inserts (URL, 1); equal URLs are added up. The log stays in host memory, and
 * its chunks take turns on the device (apps/sepo).
 */
#include <string.h>

#include "common/report.h"
#include "pvc/pvc.h"

typedef struct counter {
    unsigned long long *without_url;
    int is_table, is_query_cut;
} counter;

static wp_table *table;

__global__ void count_chunk(app_sepo_chunk chunk, counter c) {
    uint64_t line, bytes, start;
    const char *text = app_sepo_record(chunk, &line, &bytes);
    if (text == NULL) {
        return;
    }
    const uint32_t length = find_url(text, 0, bytes, c.is_table, c.is_query_cut, &start);
    wp_attempt attempt = wp_attempt_begin(&chunk.units, line);
    if (length != 0) {
        const uint64_t one = 1;
        wp_table_emit(&chunk.table, &attempt, text + start, length, &one, sizeof one);
    } else {
        atomicAdd(c.without_url, 1ull);
    }
    wp_attempt_end(&attempt);
}

static void launch(const app_sepo_chunk *chunk, void *object, cudaStream_t stream) {
    count_chunk<<<APP_SEPO_BLOCKS(chunk), APP_SEPO_THREADS, 0, stream>>>(*chunk,
                                                                         *(const counter *)object);
}

static pvc_view *read_views(uint64_t *view_count) {
    wp_table_cursor cursor = {0, 0, 0};
    wp_table_pair pair;
    uint64_t count = 0;
    pvc_view *views =
        (pvc_view *)app_allocate(wp_table_pair_count(table), sizeof *views, "the result");
    while (wp_table_next(table, &cursor, &pair)) {
        views[count].url = (const char *)pair.key;
        views[count].length = (uint32_t)pair.key_bytes;
        views[count++].count = *(const uint64_t *)pair.value;
    }
    *view_count = count;
    return views;
}

pvc_view *pvc_sepo_count(app_device *device, const app_weblog *log, bool is_query_cut,
                         const app_sepo_options *options, uint64_t *view_count,
                         uint64_t *without_url) {
    counter c = {NULL, log->form == APP_WEBLOG_TABLE, is_query_cut};
    app_sepo_records lines = {};
    app_cuda_check(cudaMalloc((void **)&c.without_url, sizeof *c.without_url), "cudaMalloc",
                   "counters", sizeof *c.without_url);
    app_cuda_check(cudaMemset(c.without_url, 0, sizeof *c.without_url), "cudaMemset", "counters",
                   sizeof *c.without_url);
    lines.records = log->text;
    lines.count = log->line_count;
    lines.starts = log->start;
    lines.name = "lines";
    lines.pairs = 1;
    lines.table = WP_TABLE_SPEC_INIT;
    lines.table.organisation = WP_TABLE_COMBINING;
    lines.table.combiner = WP_TABLE_ADD;
    lines.launch = launch;
    lines.object = &c;
    table = app_sepo_insert(device, options, &lines);
    app_cuda_check(cudaMemcpy(without_url, c.without_url, sizeof *without_url,
                              cudaMemcpyDeviceToHost),
                   "cudaMemcpy to the host", "counters", sizeof *without_url);
    app_cuda_check(cudaFree(c.without_url), "cudaFree", "counters", 0);
    return read_views(view_count);
}

void pvc_sepo_end(void) {
    wp_table_close(table);
    table = NULL;
}

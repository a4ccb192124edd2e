/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page-view count with a table that may be larger than device memory (warpage/table.h): a line
 * inserts the pair (URL, 1), and the ones of equal URLs are added up.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/report.h"
#include "pvc/pvc.h"

typedef struct form {
    int is_table, is_query_cut;
} form;

static __host__ __device__ __forceinline__ void count_line(const app_sepo_chunk *chunk,
                                                           const form *how, const char *line,
                                                           uint64_t bytes, wp_attempt *attempt) {
    uint64_t start;
    const uint32_t length = find_url(line, 0, bytes, how->is_table, how->is_query_cut, &start);
    if (length != 0) {
        const uint64_t one = 1;
        wp_table_emit(&chunk->table, attempt, line + start, length, &one, sizeof one);
    } else {
        (void)wp_word_add64(chunk->skipped, 1);
    }
}

APP_SEPO_KERNEL(count_lines, count_line, form)

static pvc_view *read_views(const wp_table *table, uint64_t *view_count) {
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

pvc_view *pvc_table_count(app_device *device, const app_weblog *log, bool is_query_cut,
                          const app_sepo_options *options, wp_table **table, uint64_t *view_count,
                          uint64_t *without_url) {
    const form how = {log->form == APP_WEBLOG_TABLE, is_query_cut};
    app_sepo_records input = {};
    input.records = log->text;
    input.count = log->line_count;
    input.starts = log->start;
    input.name = "lines";
    input.pairs = 1;
    input.table.organisation = WP_TABLE_COMBINING;
    input.table.combiner = WP_TABLE_ADD;
    input.kernel = count_lines;
    input.argument = &how;
    *table = app_sepo_insert(device, options, &input);
    *without_url = input.skipped;
    return read_views(*table, view_count);
}

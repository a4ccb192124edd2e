/* SPDX-License-Identifier: Apache-2.0 */
#include "sepo/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/report.h"
#include "common/room.h"

void app_lines_count(app_lines *lines) {
    lines->count = lines->bytes != 0 && lines->text[lines->bytes - 1] != '\n';
    for (uint64_t i = 0; i < lines->bytes; i++) {
        lines->count += lines->text[i] == '\n';
    }
}

void app_lines_read(app_lines *lines, const char *path) {
    size_t bytes;
    lines->text = app_room_read(path, &bytes);
    lines->bytes = bytes;
    if (bytes == 0) {
        app_fail("%s is empty", path);
    }
    const char *slash = strrchr(path, '/');
    snprintf(lines->title, sizeof lines->title, "%.150s", slash != NULL ? slash + 1 : path);
    app_lines_count(lines);
}

bool app_lines_cut(app_lines *lines, uint64_t bytes) {
    if (bytes > lines->bytes) {
        return false;
    }
    while (bytes < lines->bytes && bytes > 1 && lines->text[bytes - 1] != '\n') {
        bytes--;
    }
    lines->text[bytes] = '\0';
    lines->bytes = bytes;
    app_lines_count(lines);
    return true;
}

void app_lines_free(app_lines *lines) {
    app_room_free(lines->text);
    *lines = {};
}

bool app_lines_group(app_device *device, const app_common *common, const app_sepo_options *options,
                     const app_lines *lines, const app_grouping *grouping, uint64_t top) {
    wp_mapreduce_spec spec = WP_MAPREDUCE_SPEC_INIT;
    app_pairs pairs = {}, counts = {}, wanted = {};
    bool is_right = true;
    spec.program = grouping->map;
    spec.mode = WP_MAP_GROUP;
    spec.partitioner = wp_partition_lines();
    spec.pairs_max = 1;
    spec.argument = grouping->argument;
    wp_mapreduce *job = app_sepo_map(device, options, &spec, lines->text, lines->bytes);
    app_pairs_read(&pairs, wp_mapreduce_table(job));
    app_pairs_count(&pairs, &counts);
    printf("%-10s %s: %s lines, %s bytes\n", grouping->lines, lines->title,
           app_count(lines->count), app_count(lines->bytes));
    grouping->print(pairs.count, counts.count);
    app_pairs_print(&counts, top, grouping->number, grouping->key);
    app_device_report(device, (double)lines->bytes, "B");
    if (common->check) {
        grouping->list(lines, grouping->object, &wanted);
        is_right = app_pairs_check(&pairs, &wanted, grouping->lines);
    }
    app_pairs_free(&wanted);
    app_pairs_free(&pairs);
    app_pairs_free(&counts);
    wp_mapreduce_close(job);
    return is_right;
}

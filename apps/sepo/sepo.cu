/* SPDX-License-Identifier: Apache-2.0 */
#include "sepo/sepo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <warpage/cudart.h>

#include "common/report.h"
#include "common/room.h"

/* ---- options -------------------------------------------------------------------------------- */

static void check_bytes(const char *option, app_size size) {
    if (size.value != 0 && !size.is_bytes) {
        app_fail_usage("option %s needs bytes such as 64MiB", option);
    }
}

void app_sepo_check_options(const app_common *common, app_sepo_options *options) {
    check_bytes("--heap", options->heap);
    check_bytes("--page", options->page);
    check_bytes("--chunk", options->chunk);
    check_bytes("--host-memory", options->host);
    if (options->host.value != 0) {
        app_room_use_file();
    }
    options->memory = common->memory;
}

void app_sepo_check_unused(const app_sepo_options *options, bool has_buckets) {
    if ((options->heap.value | options->page.value | options->chunk.value | options->host.value |
         options->group | (has_buckets ? 0 : options->buckets)) != 0) {
        app_fail_usage("--heap, --page, --group, %s--chunk and --host-memory need --table sepo, memory, "
                       "pinned or managed",
                       has_buckets ? "" : "--buckets, ");
    }
}

/* ---- lists of pairs ------------------------------------------------------------------------- */

static app_pair *next_pair(app_pairs *pairs) {
    if (pairs->count == pairs->capacity) {
        pairs->capacity = pairs->capacity != 0 ? 2 * pairs->capacity : 4096;
        pairs->pair =
            (app_pair *)app_reallocate(pairs->pair, pairs->capacity, sizeof *pairs->pair, "pairs");
    }
    return &pairs->pair[pairs->count++];
}

void app_pairs_add(app_pairs *pairs, const char *key, uint64_t key_bytes, const void *value,
                   uint64_t value_bytes) {
    app_pair *pair = next_pair(pairs);
    *pair = {key, value, 0, (uint32_t)key_bytes, (uint32_t)value_bytes};
    if (value_bytes == sizeof pair->number) {
        memcpy(&pair->number, value, sizeof pair->number);
    }
}

void app_pairs_add_number(app_pairs *pairs, const char *key, uint64_t key_bytes, uint64_t number) {
    *next_pair(pairs) = {key, NULL, number, (uint32_t)key_bytes, sizeof number};
}

static int compare_bytes(const void *a, uint32_t a_bytes, const void *b, uint32_t b_bytes) {
    const uint32_t shorter = a_bytes < b_bytes ? a_bytes : b_bytes;
    const int order = shorter != 0 ? memcmp(a, b, shorter) : 0;
    return order != 0 ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

static int compare_keys(const app_pair *a, const app_pair *b) {
    return compare_bytes(a->key, a->key_bytes, b->key, b->key_bytes);
}

static const void *value_of(const app_pair *pair) {
    return pair->value != NULL ? pair->value : &pair->number;
}

static int by_key_and_value(const void *x, const void *y) {
    const app_pair *a = (const app_pair *)x, *b = (const app_pair *)y;
    const int order = compare_keys(a, b);
    return order != 0 ? order
                      : compare_bytes(value_of(a), a->value_bytes, value_of(b), b->value_bytes);
}

static int largest_first(const void *x, const void *y) {
    const app_pair *a = (const app_pair *)x, *b = (const app_pair *)y;
    return a->number != b->number ? (a->number < b->number ? 1 : -1) : compare_keys(a, b);
}

static void order(app_pairs *pairs) {
    if (pairs->count != 0) {
        qsort(pairs->pair, pairs->count, sizeof *pairs->pair, by_key_and_value);
    }
}

void app_pairs_sum(app_pairs *pairs) {
    uint64_t kept = 0;
    order(pairs);
    for (uint64_t i = 0; i < pairs->count; i++) {
        if (kept != 0 && compare_keys(&pairs->pair[kept - 1], &pairs->pair[i]) == 0) {
            pairs->pair[kept - 1].number += pairs->pair[i].number;
        } else {
            pairs->pair[kept++] = pairs->pair[i];
        }
    }
    pairs->count = kept;
}

void app_pairs_read(app_pairs *pairs, const wp_table *table) {
    wp_table_cursor cursor = {};
    wp_table_pair pair;
    while (wp_table_next(table, &cursor, &pair)) {
        app_pairs_add(pairs, (const char *)pair.key, pair.key_bytes, pair.value, pair.value_bytes);
    }
}

void app_pairs_free(app_pairs *pairs) {
    free(pairs->pair);
    *pairs = {};
}

bool app_pairs_check(app_pairs *got, app_pairs *wanted, const char *what) {
    uint64_t i = 0, j = 0, different = 0;
    order(got);
    order(wanted);
    while (i < got->count || j < wanted->count) {
        const int order = i == got->count      ? 1
                          : j == wanted->count ? -1
                                               : by_key_and_value(&got->pair[i], &wanted->pair[j]);
        different += order != 0;
        i += order <= 0;
        j += order >= 0;
    }
    printf("check      %s %s against a serial program: %s, %s in one of the two only\n",
           app_count(wanted->count), what, different == 0 ? "equal" : "DIFFERENT",
           app_count(different));
    return different == 0;
}

void app_pairs_count(const app_pairs *pairs, app_pairs *counts) {
    for (uint64_t i = 0; i < pairs->count; i++) {
        if (i == 0 || compare_keys(&pairs->pair[i - 1], &pairs->pair[i]) != 0) {
            app_pairs_add_number(counts, pairs->pair[i].key, pairs->pair[i].key_bytes, 0);
        }
        counts->pair[counts->count - 1].number++;
    }
}

void app_pairs_print(const app_pairs *pairs, uint64_t top, const char *number, const char *key) {
    app_pair *sorted = (app_pair *)app_allocate(pairs->count, sizeof *sorted, "the result");
    if (pairs->count != 0) {
        memcpy(sorted, pairs->pair, pairs->count * sizeof *sorted);
        qsort(sorted, pairs->count, sizeof *sorted, largest_first);
    }
    printf("\n%9s  %s\n", number, key);
    for (uint64_t i = 0; i < pairs->count && i < top; i++) {
        const int length = sorted[i].key_bytes < 60 ? (int)sorted[i].key_bytes : 60;
        printf("%9s  %-16.*s  ", app_count(sorted[i].number), length, sorted[i].key);
        app_bar(stdout, (double)sorted[i].number / (double)sorted[0].number, 24);
        putchar('\n');
    }
    putchar('\n');
    free(sorted);
}

/* ---- runs ----------------------------------------------------------------------------------- */

/* Without --heap: enough for all pairs, or what is left of device memory (0). A larger heap has larger
 * pages, most of which would stay nearly empty. */
static uint64_t heap_bytes(const app_sepo_options *options, uint64_t enough_bytes) {
    const bool is_on_device =
        options->table == WP_TABLE_HEAP_SEPO || options->table == WP_TABLE_HEAP_MEMORY;
    size_t free_bytes = 0, total_bytes = 0;
    if (options->heap.value != 0 || !is_on_device) {
        return options->heap.value != 0 ? options->heap.value : enough_bytes;
    }
    app_cuda_check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo", "the device", 0);
    return enough_bytes < free_bytes / 2 ? enough_bytes : 0;
}

void app_sepo_set_table(wp_table_spec *table, const app_sepo_options *options,
                        uint64_t enough_bytes) {
    table->heap_kind = options->table == APP_SEPO_THREADS ? WP_TABLE_HEAP_PINNED
                                                          : (wp_table_heap_kind)options->table;
    table->heap_bytes = heap_bytes(options, enough_bytes);
    table->page_bytes = options->page.value;
    table->buckets_per_group = options->group;
    table->bucket_count = options->buckets;
    table->host_bytes = options->host.value;
}

void app_sepo_fail(wp_status status, const wp_error *err) {
    const bool is_full = status == WP_STATUS_DEVICE_NOMEM || status == WP_STATUS_NOMEM;
    if (is_full && strstr(err->message, " is full,") != NULL) {
        app_fail("%.*s; use a larger --heap, or --table sepo", (int)strcspn(err->message, ";"),
                 err->message);
    }
    app_fail("%s", err->message);
}

void app_sepo_report(const app_device *device, const app_sepo_options *options, double bytes) {
    if (options->table != APP_SEPO_THREADS) {
        app_device_report(device, bytes, "B");
    }
}

void app_sepo_note_pass(uint64_t pass, double ns) {
    char name[32];
    snprintf(name, sizeof name, "pass_%" PRIu64 "_ns", pass);
    app_value(name, ns);
    app_value("passes", (double)pass);
}

void app_sepo_add_table(app_device *device, const app_sepo_options *options,
                        const wp_table_report *table) {
    device->to_device_bytes += table->to_device_bytes;
    device->to_host_bytes += table->to_host_bytes;
    device->peak_bytes += table->bucket_count * sizeof(uint64_t);
    if (options->table != WP_TABLE_HEAP_PINNED) {
        device->peak_bytes += table->heap_bytes;
    }
}

wp_mapreduce *app_sepo_map(app_device *device, const app_sepo_options *options,
                           wp_mapreduce_spec *spec, const char *text, uint64_t bytes) {
    static const wp_memory_kind kinds[] = {WP_MEMORY_DEVICE, WP_MEMORY_MANAGED, WP_MEMORY_PINNED};
    wp_error err = WP_ERROR_INIT;
    wp_mapreduce *job;
    wp_mapreduce_report report;
    spec->memory = text;
    spec->memory_bytes = bytes;
    spec->chunk_bytes = options->chunk.value;
    spec->chunk_memory = kinds[options->memory];
    spec->threads = (uint32_t)options->block;
    spec->progress = wp_mapreduce_show_progress;
    app_sepo_set_table(&spec->table, options, 4 * bytes + ((uint64_t)4 << 20));
    const wp_status status = wp_mapreduce_run(wp_cudart_device(), spec, &job, &err);
    if (status != WP_STATUS_OK) {
        app_sepo_fail(status, &err);
    }
    const size_t length = wp_mapreduce_explain(job, NULL, 0) + 1;
    char *lines = (char *)app_allocate(length, 1, "the report");
    wp_mapreduce_explain(job, lines, length);
    fputs(lines, stderr);
    free(lines);
    wp_mapreduce_get_report(job, &report);
    device->to_device_s += 1e-9 * (double)report.copy_ns;
    device->kernels_s += 1e-9 * (double)report.map_ns;
    device->to_host_s += 1e-9 * (double)report.heap_ns;
    device->to_device_bytes += report.sent_bytes;
    device->peak_bytes += report.device_bytes;
    app_sepo_add_table(device, options, &report.table);
    for (uint64_t i = 1; i <= report.passes; i++) {
        wp_mapreduce_pass pass;
        if (wp_mapreduce_get_pass(job, i, &pass)) {
            device->launches += pass.chunks;
            app_sepo_note_pass(i, (double)(pass.pass_ns + pass.heap_ns));
        }
    }
    return job;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling and grouping of the paper, by libwarpage_ops.
 *
 *     operators sample|group MILLION-ACCESSES EXPRESSION…
 *
 * An expression is a point, or NAME=POINT/POINT, their ratio; a point is
 * STRATEGY[-SCOPE][-tTHREADS]@SIZE, in MiB of data, or of the hash table: direct@64,
 * scoped-2048@11392, direct-t960@11392. Each is the throughput in million accesses or rows a
 * second. The data have their size; only the number of accesses is less than the paper's, so
 * launches and clearing the table, which would weigh more, are not counted: run with
 * gpu.launch_latency=0ns.
 *
 * Of sampled data nothing is ever written, so they take no memory of the host; a row of grouping
 * takes a page of 4 KiB at most.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "warpage/ops.h"

#define MIB ((uint64_t)1 << 20)
#define THREAD_READS 32u
#define POINTS_MAX 256

typedef struct point {
    wp_strategy strategy;
    double scope_mib, size_mib;
    uint64_t threads;
} point;

typedef struct measured {
    char text[64];
    double rate;
} measured;

static wp_device *device;
static wp_error err;
static double accesses;
static bool is_grouping;

static void need(wp_status status) {
    if (status == WP_STATUS_OK) return;
    (void)fprintf(stderr, "operators: %s\n", err.message);
    exit(1);
}

static void fail(const char *text) {
    (void)fprintf(stderr, "operators: '%s' is no point\n", text);
    exit(1);
}

static point parse(const char *text) {
    point p = {WP_STRATEGY_AUTO, 0, 0, 0};
    const size_t name = strcspn(text, "-@");
    for (int s = 1; s < WP_STRATEGY_COUNT; s++) {
        const char *const word = wp_strategy_name((wp_strategy)s);
        if (strlen(word) == name && strncmp(word, text, name) == 0) p.strategy = (wp_strategy)s;
    }
    if (p.strategy == WP_STRATEGY_AUTO) fail(text);
    char *at = (char *)text + name;
    while (*at == '-') {
        if (at[1] == 't')
            p.threads = strtoull(at + 2, &at, 10);
        else
            p.scope_mib = strtod(at + 1, &at);
    }
    if (*at != '@') fail(text);
    p.size_mib = strtod(at + 1, NULL);
    return p;
}

/* ---- sampling -----------------------------------------------------------------------------------
 */

static double sample(const point *p) {
    const uint64_t rows = (uint64_t)(p->size_mib * MIB) / sizeof(int32_t);
    void *data = NULL;
    need(wp_memory_alloc(device, WP_MEMORY_DEVICE, rows * sizeof(int32_t), 0, &data, &err));
    wp_column column = {};
    column.type = WP_TYPE_INT32;
    column.values = data;
    wp_sample_options options = {};
    options.strategy = p->strategy;
    options.scope_bytes = (uint64_t)(p->scope_mib * MIB);
    options.read_count = (uint64_t)accesses;
    options.reads_per_thread = THREAD_READS;
    options.thread_count = p->threads;
    options.seed = 1;
    options.is_sum_only = true;
    wp_sample_result result;
    need(wp_sample(device, &column, rows, &options, &result, &err));
    need(wp_memory_free(device, data, &err));
    return (double)result.read_count * 1e3 / (double)result.device_ns;
}

/* ---- grouping -----------------------------------------------------------------------------------
 */

static uint64_t now_ns(void) {
    wp_event *event = NULL;
    need(wp_device_wait(device, &err));
    need(wp_event_create(device, &event, &err));
    need(wp_event_record(event, wp_device_default_queue(device), &err));
    need(wp_event_wait(event, &err));
    const uint64_t ns = wp_event_time_ns(event);
    wp_event_destroy(event);
    return ns;
}

/* Half of the table's buckets of 8 bytes are used. */
static double group(const point *p) {
    const uint64_t groups = (uint64_t)(p->size_mib * MIB) / 16;
    const uint32_t rows = (uint32_t)accesses;
    uint32_t *values = (uint32_t *)malloc(rows * sizeof *values);
    if (values == NULL) exit(1);
    uint64_t state = 88172645463325252u;
    for (uint32_t i = 0; i < rows; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        values[i] = (uint32_t)(state % groups);
    }
    const wp_key key = {WP_TYPE_UINT32, false};
    const wp_aggregate count = {WP_AGGREGATE_COUNT, WP_ALL_ROWS};
    wp_groupby_spec spec = {};
    spec.key_count = spec.aggregate_count = 1;
    spec.keys = &key;
    spec.aggregates = &count;
    spec.options.strategy = p->strategy;
    spec.options.placement = WP_PLACEMENT_ZERO_COPY;
    spec.options.scope_bytes = (uint64_t)(p->scope_mib * MIB);
    spec.options.thread_count = p->threads;
    spec.options.group_count = groups;
    spec.options.row_count = rows;
    spec.options.chunk_bytes = rows * sizeof *values;
    wp_groupby *groupby = NULL;
    wp_column column = {};
    column.type = WP_TYPE_UINT32;
    column.values = values;
    need(wp_groupby_open(device, &spec, &groupby, &err));
    const uint64_t begin_ns = now_ns();
    need(wp_groupby_add(groupby, &column, NULL, rows, &err)); /* a whole chunk: it is worked on */
    const uint64_t took_ns = now_ns() - begin_ns;
    wp_groupby_close(groupby);
    free(values);
    return (double)rows * 1e3 / (double)took_ns;
}

/* ---- what is asked for --------------------------------------------------------------------------
 */

static double rate_of(const char *text) {
    static measured known[POINTS_MAX];
    static int count;
    for (int i = 0; i < count; i++)
        if (strcmp(known[i].text, text) == 0) return known[i].rate;
    const point p = parse(text);
    const double rate = is_grouping ? group(&p) : sample(&p);
    printf("%s %.6g\n", text, rate);
    (void)fflush(stdout);
    if (count < POINTS_MAX) {
        (void)snprintf(known[count].text, sizeof known[count].text, "%s", text);
        known[count++].rate = rate;
    }
    return rate;
}

int main(int argc, char **argv) {
    if (argc < 4) {
        (void)fputs("usage: operators sample|group MILLION-ACCESSES EXPRESSION...\n", stderr);
        return 2;
    }
    const char *spec = getenv("WARPAGE_DEVICE");
    is_grouping = strcmp(argv[1], "group") == 0;
    accesses = atof(argv[2]) * 1e6;
    need(wp_device_open(spec != NULL ? spec : "cpu", &device, &err));
    for (int i = 3; i < argc; i++) {
        char *name = argv[i], *first = strchr(name, '=');
        if (first == NULL) {
            (void)rate_of(name);
            continue;
        }
        char *second = strchr(first, '/');
        if (second == NULL) fail(name);
        *first++ = '\0';
        *second++ = '\0';
        const double above = rate_of(first);
        printf("%s %.6g\n", name, above / rate_of(second));
    }
    wp_device_close(device);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What a group-by does when its table is full: spills it, postpones rows, or what the planner chooses.
 *
 *     postponing
 *
 * Counts rows by keys of 32 bits on the device WARPAGE_DEVICE, with less memory than the groups
 * take, three times: as it chooses, spilling (direct) and postponing (sepo). Prints a row of a table
 * in Markdown for each size: times by the device's clock, from the first row added to the groups in host
 * memory, and the planner's estimates.
 *     wpcc -O2 bench/ops/postponing.cu -lwarpage_ops -o postponing && WARPAGE_DEVICE=sim:k80 ./postponing */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "warpage/ops.h"

typedef struct size {
    uint32_t rows, groups, memory_kib, chunk_kib;
    bool is_skewed; /* a few keys are frequent */
} size;

static const size sizes[] = {
    {200000, 12000, 256, 64, false},   {200000, 50000, 256, 64, false},
    {1000000, 12000, 256, 256, false}, {1000000, 50000, 256, 256, false},
    {1000000, 50000, 256, 256, true},  {2000000, 100000, 1024, 512, false},
};

static wp_device *device;
static wp_error err;

static void need(wp_status status) {
    if (status == WP_STATUS_OK) return;
    (void)fprintf(stderr, "postponing: %s\n", err.message);
    exit(1);
}

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

static uint32_t *make_rows(const size *s) {
    uint32_t *values = (uint32_t *)malloc(s->rows * sizeof *values);
    uint64_t state = 88172645463325252u;
    if (values == NULL) exit(1);
    for (uint32_t i = 0; i < s->rows; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        const double u = (double)(state >> 11) / 9007199254740992.0;
        values[i] = (uint32_t)(s->groups * (s->is_skewed ? u * u * u * u : u)) * 2654435761u;
    }
    return values;
}

/* Microseconds; the line of the explanation that compares both. */
static double run(const size *s, const uint32_t *rows, wp_strategy strategy, char *line,
                  size_t line_bytes, uint64_t *groups) {
    const wp_key key = {WP_TYPE_UINT32, false};
    const wp_aggregate count = {WP_AGGREGATE_COUNT, WP_ALL_ROWS};
    wp_groupby_spec spec = {};
    wp_groupby *groupby = NULL;
    wp_groups *result = NULL;
    wp_column column = {};
    spec.key_count = spec.aggregate_count = 1;
    spec.keys = &key;
    spec.aggregates = &count;
    spec.options.strategy = strategy;
    spec.options.memory_bytes = (uint64_t)s->memory_kib << 10;
    spec.options.chunk_bytes = (uint64_t)s->chunk_kib << 10;
    column.type = WP_TYPE_UINT32;
    column.values = rows;
    need(wp_groupby_open(device, &spec, &groupby, &err));
    const uint64_t begin_ns = now_ns();
    need(wp_groupby_add(groupby, &column, NULL, s->rows, &err));
    need(wp_groupby_finish(groupby, &result, &err));
    const double took_us = 1e-3 * (double)(now_ns() - begin_ns);
    const char *found = strstr(wp_groupby_explain(groupby), "the table is full");
    (void)snprintf(line, line_bytes, "%.*s", found == NULL ? 0 : (int)strcspn(found, "\n"),
                   found == NULL ? "" : found);
    *groups = wp_groups_count(result);
    wp_groups_close(result);
    wp_groupby_close(groupby);
    return took_us;
}

int main(void) {
    const char *spec = getenv("WARPAGE_DEVICE");
    need(wp_device_open(spec != NULL ? spec : "cpu", &device, &err));
    printf("| rows | groups | keys | memory, KiB | spilling, us | postponing, us | chosen | us | over the "
           "better one | estimates |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size *s = &sizes[i];
        uint32_t *rows = make_rows(s);
        char line[512], other[512];
        uint64_t groups, again;
        const double chosen = run(s, rows, WP_STRATEGY_AUTO, line, sizeof line, &groups);
        const double spilled = run(s, rows, WP_STRATEGY_DIRECT, other, sizeof other, &again);
        if (groups != again) return 1;
        const double postponed = run(s, rows, WP_STRATEGY_SEPO, other, sizeof other, &again);
        if (groups != again) return 1;
        const double best = spilled < postponed ? spilled : postponed;
        const char *choice = line[0] == '\0'             ? "not full"
                             : strstr(line, "─► sepo") != NULL ? "postponing"
                                                               : "spilling";
        printf("| %u | %llu | %s | %u | %.1f | %.1f | %s | %.1f | %.2f | %s |\n", s->rows,
               (unsigned long long)groups, s->is_skewed ? "skewed" : "uniform", s->memory_kib, spilled,
               postponed, choice, chosen, chosen / best, line);
        (void)fflush(stdout);
        free(rows);
    }
    wp_device_close(device);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The end of the processor's group-by: groups of threads are merged into the totals; groups are
 * counted, and returned by parts and partitions. */
#include <stdio.h>

#include "ops/groupby_cpu/cpu_grouper.h"

static void explain_groups(wpi_cpu_grouper *g, uint64_t count) {
    static const char *const modes[] = {
        "a hash table per thread", "a hash table of frequent groups per thread, then partitions",
        "partitions"};
    const wpi_cpu_near *near = &g->shared.near;
    const char *how = modes[wpi_cpu_worker_mode(g->workers[0])];
    const unsigned long long rows = g->row_count, groups = count;
    if (near->span.bits == 0)
        snprintf(g->explanation, sizeof g->explanation,
                 "%u threads: %s; %llu rows, %llu groups of %u bytes in %u partitions\n",
                 g->worker_count, how, rows, groups, 8 * g->shared.layout.stride,
                 UINT32_C(1) << g->shared.totals.bits);
    else
        snprintf(g->explanation, sizeof g->explanation,
                 "%u threads, keys in a span of %u: %s; other keys: %s; %llu rows, %llu groups of "
                 "%u bytes in %u parts\n",
                 g->worker_count, wpi_cpu_span_null(&near->span),
                 near->is_local ? "an array per thread" : "an array in parts", how, rows, groups,
                 8 * wpi_cpu_array_stride(near->layout), near->part_count - 1);
}

static void use_parts(void *object, uint32_t thread) {
    wpi_cpu_step *s = object;
    wpi_cpu_near *near = &s->g->shared.near;
    for (uint32_t part; wpi_cpu_step_next(s, thread, &part);)
        near->parts[part].used = wpi_cpu_array_used(&near->parts[part]);
}

/* Groups of parts come before those of totals. */
static uint64_t count_near(const wpi_cpu_near *near) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < near->part_count; i++)
        count += near->parts[i].used;
    return count;
}

wp_status wpi_cpu_count_groups(wpi_grouper *grouper, uint64_t *group_count, wp_error *err) {
    wpi_cpu_grouper *g = (wpi_cpu_grouper *)grouper;
    wpi_cpu_totals *totals = &g->shared.totals;
    wpi_cpu_near *near = &g->shared.near;
    uint64_t firsts[WPI_CPU_PARTITIONS_MAX + 1];
    if (g->is_broken)
        return WP_FAIL(err, INVALID, "the group-by has failed before and cannot be continued");
    wpi_cpu_exchange_deinit(&g->shared.exchange);
    wpi_cpu_exchange_deinit(&near->exchange);
    if (totals->tables == NULL) WP_TRY(wpi_cpu_worker_give(g->workers[0], err));
    for (uint32_t i = 0; i < g->worker_count; i++) {
        WP_TRY(wpi_cpu_worker_flush(g->workers[i], err));
        wpi_cpu_worker_flush_near(g->workers[i]);
    }
    wpi_cpu_step use = {.count = near->part_count};
    WP_TRY(wpi_cpu_step_run(g, &use, use.count, use_parts, err));
    *group_count = count_near(near) + wpi_cpu_totals_count(totals, firsts);
    explain_groups(g, *group_count);
    return WP_STATUS_OK;
}

static void emit_partitions(void *object, uint32_t thread) {
    wpi_cpu_step *s = object;
    for (uint32_t partition; wpi_cpu_step_next(s, thread, &partition);)
        s->g->statuses[thread] =
            wpi_cpu_totals_emit(&s->g->shared.totals, partition, s->before + s->firsts[partition],
                                s->sink, s->object, &s->g->errors[thread]);
}

static void emit_parts(void *object, uint32_t thread) {
    wpi_cpu_step *s = object;
    for (uint32_t part; wpi_cpu_step_next(s, thread, &part);)
        s->g->statuses[thread] = wpi_cpu_near_emit(&s->g->shared.near, part, s->firsts[part],
                                                   s->sink, s->object, &s->g->errors[thread]);
}

wp_status wpi_cpu_emit_groups(wpi_grouper *grouper, wpi_group_sink sink, void *object,
                              wp_error *err) {
    wpi_cpu_grouper *g = (wpi_cpu_grouper *)grouper;
    const wpi_cpu_near *near = &g->shared.near;
    uint64_t firsts[WPI_CPU_PARTITIONS_MAX + 1];
    uint64_t before = 0;
    for (uint32_t i = 0; i < near->part_count; i++) {
        firsts[i] = before;
        before += near->parts[i].used;
    }
    wpi_cpu_step parts = {
        .count = near->part_count, .firsts = firsts, .sink = sink, .object = object};
    WP_TRY(wpi_cpu_step_run(g, &parts, parts.count, emit_parts, err));
    (void)wpi_cpu_totals_count(&g->shared.totals, firsts);
    wpi_cpu_step s = {.count = UINT32_C(1) << g->shared.totals.bits,
                      .firsts = firsts,
                      .before = before,
                      .sink = sink,
                      .object = object};
    return wpi_cpu_step_run(g, &s, s.count, emit_partitions, err);
}

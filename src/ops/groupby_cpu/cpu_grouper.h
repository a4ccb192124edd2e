/* SPDX-License-Identifier: Apache-2.0 */
/** Internals of the processor's grouper: cpu_grouper.c takes rows, cpu_groups.c returns groups. */
#ifndef WP_OPS_CPU_GROUPER_H
#define WP_OPS_CPU_GROUPER_H

#include <stdatomic.h>

#include "ops/groupby_cpu/cpu_threads.h"
#include "ops/groupby_cpu/cpu_worker.h"

typedef struct wpi_cpu_grouper {
    wpi_grouper base;
    wpi_cpu_shared shared;
    wpi_cpu_worker **workers; /* [worker_count] */
    uint32_t worker_count;
    uint64_t row_count, expected_rows;
    bool is_broken;
    wp_status *statuses; /* [worker_count] */
    wp_error *errors;    /* [worker_count] */
    char explanation[512];
} wpi_cpu_grouper;

/* Shared by the threads of a parallel step. */
typedef struct wpi_cpu_step {
    wpi_cpu_grouper *g;
    const wp_column *keys, *values;
    uint64_t first;         /* row of the round */
    uint64_t count;         /* rows of the round; or partitions */
    atomic_uint next;       /* morsel or partition */
    atomic_bool is_stopped; /* a morsel was refused: its values are too wide for sums so far */
    uint32_t refused[WPI_CPU_THREADS_MAX]; /* 1 + that morsel; 0: none */
    const uint64_t *firsts;                /* [count]: first indices of groups */
    uint64_t before;                       /* groups before them */
    wpi_group_sink sink;
    void *object;
} wpi_cpu_step;

/** Workers take the step's parts, 0 to `parts` - 1, until all are done or one has failed. */
wp_status wpi_cpu_step_run(wpi_cpu_grouper *g, wpi_cpu_step *s, uint64_t parts, wpi_cpu_work work,
                           wp_error *err);

/** The next part for a thread; false: none is left, or the thread has failed. */
static inline bool wpi_cpu_step_next(wpi_cpu_step *s, uint32_t thread, uint32_t *part) {
    *part = atomic_fetch_add(&s->next, 1);
    return *part < s->count && s->g->statuses[thread] == WP_STATUS_OK;
}

/** Of wpi_grouper_ops. */
wp_status wpi_cpu_count_groups(wpi_grouper *grouper, uint64_t *group_count, wp_error *err);
wp_status wpi_cpu_emit_groups(wpi_grouper *grouper, wpi_group_sink sink, void *object,
                              wp_error *err);

#endif

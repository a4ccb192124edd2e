/* SPDX-License-Identifier: Apache-2.0 */
/** A batch of groups for a sink, filled group by group. */
#ifndef WP_OPS_CPU_BATCH_H
#define WP_OPS_CPU_BATCH_H

#include "ops/groupby_cpu/cpu_layout.h"
#include "ops/grouper.h"

typedef struct wpi_cpu_batch {
    const wpi_cpu_layout *layout;
    wpi_group_batch batch;
    uint64_t *keys, *rows;
    uint64_t **words;        /* [field_count]; a word for each group, or two */
    const uint64_t **groups; /* the table's */
    uint64_t *memory;
    wpi_group_sink sink;
    void *object;
} wpi_cpu_batch;

/** `first`: place of its first group among all. NOMEM: still to be ended. */
WP_NODISCARD wp_status wpi_cpu_batch_begin(wpi_cpu_batch *batch, const wpi_cpu_layout *layout,
                                           uint64_t first, wpi_group_sink sink, void *object,
                                           wp_error *err);
/** The group must stay where it is until the batch has ended. */
void wpi_cpu_batch_fill(wpi_cpu_batch *batch, uint64_t key, const uint64_t *group);
/** A table's slots: those that have rows. */
void wpi_cpu_batch_fill_slots(wpi_cpu_batch *batch, const uint64_t *slots, uint64_t count);
/** The group of NULL. */
void wpi_cpu_batch_fill_null(wpi_cpu_batch *batch, const uint64_t *group);
/** Passes the remaining groups to the sink. */
void wpi_cpu_batch_end(wpi_cpu_batch *batch);

#endif

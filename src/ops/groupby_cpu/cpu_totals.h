/* SPDX-License-Identifier: Apache-2.0 */
/**
 * All groups of a group-by, by partitions of their hashes' high bits: each a table of its own, so
 * that threads that work on different partitions need no lock. The group of NULL is partition 0's.
 */
#ifndef WP_OPS_CPU_TOTALS_H
#define WP_OPS_CPU_TOTALS_H

#include <pthread.h>

#include "ops/groupby_cpu/cpu_table.h"
#include "ops/grouper.h"

typedef struct wpi_cpu_totals {
    const wpi_cpu_layout *layout;
    uint32_t bits;           /* 2^bits partitions; no tables yet: 0 */
    uint32_t slots_expected; /* of a partition that gets rows */
    wpi_cpu_table *tables;   /* [2^bits] */
    pthread_mutex_t lock;    /* of all of it while threads absorb */
} wpi_cpu_totals;

static inline uint32_t wpi_cpu_partition(const wpi_cpu_totals *totals, uint64_t hash) {
    return totals->bits != 0 ? (uint32_t)(hash >> (totals->layout->hash_bits - totals->bits)) : 0;
}

#define WPI_CPU_PARTITION_SLOTS_MIN 64u

/** Makes tables of `slots` each, unless they exist. Locks. NOMEM. */
WP_NODISCARD wp_status wpi_cpu_totals_make(wpi_cpu_totals *totals, uint32_t bits, uint32_t slots,
                                           uint32_t slots_expected, wp_error *err);
void wpi_cpu_totals_deinit(wpi_cpu_totals *totals);

/** Adds groups with fewer rows than `rows_outer`, and that of NULL. Locks. NOMEM. */
WP_NODISCARD wp_status wpi_cpu_totals_absorb(wpi_cpu_totals *totals, const wpi_cpu_table *table,
                                             uint64_t rows_outer, wp_error *err);

/** The layout has changed and was `from`. NOMEM. */
WP_NODISCARD wp_status wpi_cpu_totals_convert(wpi_cpu_totals *totals, const wpi_cpu_layout *from,
                                              wp_error *err);

uint64_t wpi_cpu_totals_bytes(const wpi_cpu_totals *totals);
/** The number of groups; `firsts` [2^bits + 1] receives each partition's first index. */
uint64_t wpi_cpu_totals_count(const wpi_cpu_totals *totals, uint64_t *firsts);
/** Passes a partition's groups to the sink, from index `first` on. NOMEM. */
WP_NODISCARD wp_status wpi_cpu_totals_emit(const wpi_cpu_totals *totals, uint32_t partition,
                                           uint64_t first, wpi_group_sink sink, void *object,
                                           wp_error *err);

#endif

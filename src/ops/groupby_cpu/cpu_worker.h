/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A thread of a group-by.
 *
 *     LOCAL    a table of its own takes all rows, as long as it stays in the cache
 *     FRONT    … takes rows of the groups that had the most, the others are partitioned
 *     THROUGH  all rows are partitioned
 *
 * Rows of dense keys need none of these (cpu_near_rows.h). Others begin as LOCAL. When the table is
 * full, frequent groups stay if they had enough of the rows, so that skew costs nothing; all others
 * go to the totals.
 */
#ifndef WP_OPS_CPU_WORKER_H
#define WP_OPS_CPU_WORKER_H

#include "ops/groupby_cpu/cpu_near_rows.h"
#include "ops/groupby_cpu/cpu_partition.h"
#include "ops/groupby_cpu/cpu_table.h"
#include "ops/groupby_cpu/cpu_totals.h"

typedef enum wpi_cpu_mode { WPI_CPU_LOCAL, WPI_CPU_FRONT, WPI_CPU_THROUGH } wpi_cpu_mode;

/** Shared by all workers of a group-by. */
typedef struct wpi_cpu_shared {
    const wpi_shape *shape;
    wpi_keys *keys;
    wpi_cpu_layout layout;
    wpi_cpu_traits traits;
    bool has_null_keys;
    uint32_t local_slots;    /* of a worker's table, at most */
    uint32_t front_slots;    /* of one in front, at most */
    uint32_t partition_bits; /* of totals, when they are made */
    uint32_t partition_slots;
    uint64_t expected_rows;
    uint64_t morsel_bytes;  /* in transit to partitions */
    uint32_t used_morsels;  /* of this round */
    uint32_t round_morsels; /* of the exchange, at most */
    wpi_cpu_near near;
    wpi_cpu_totals totals;
    wpi_cpu_exchange exchange; /* made when the first row needs it, under totals.lock */
} wpi_cpu_shared;

typedef struct wpi_cpu_worker wpi_cpu_worker;

WP_NODISCARD wp_status wpi_cpu_worker_create(wpi_cpu_shared *shared, wpi_cpu_worker **out,
                                             wp_error *err);
void wpi_cpu_worker_destroy(wpi_cpu_worker *worker); /* NULL allowed */

wpi_cpu_mode wpi_cpu_worker_mode(const wpi_cpu_worker *worker);

/** Whether sums are wide enough for these values; else the layout must be changed first. */
bool wpi_cpu_worker_can_take(const wpi_cpu_worker *worker, const wp_column *values, uint64_t first,
                             uint32_t count);
/** Rows [first, first + count) of the columns, at most a morsel; those that are partitioned go to
 * that of the exchange. NOMEM. */
WP_NODISCARD wp_status wpi_cpu_worker_take(wpi_cpu_worker *worker, const wp_column *keys,
                                           const wp_column *values, uint64_t first, uint32_t count,
                                           uint32_t morsel, wp_error *err);
/** Adds a partition's rows of the exchange to its totals. NOMEM. */
WP_NODISCARD wp_status wpi_cpu_worker_gather(wpi_cpu_worker *worker, uint32_t partition,
                                             wp_error *err);
/** The same for dense keys. */
void wpi_cpu_worker_gather_near(wpi_cpu_worker *worker, uint32_t part);
/** Prepares for dense keys, after a span was found. NOMEM. */
WP_NODISCARD wp_status wpi_cpu_worker_expect_near(wpi_cpu_worker *worker, wp_error *err);
/** The shared layout has changed and was `from`. NOMEM. */
WP_NODISCARD wp_status wpi_cpu_worker_convert(wpi_cpu_worker *worker, const wpi_cpu_layout *from,
                                              wp_error *err);
/** Merges its own table into the totals. NOMEM. */
WP_NODISCARD wp_status wpi_cpu_worker_flush(wpi_cpu_worker *worker, wp_error *err);
/** Without totals, and with few groups: its own table becomes the totals' only one. NOMEM. */
WP_NODISCARD wp_status wpi_cpu_worker_give(wpi_cpu_worker *worker, wp_error *err);
/** Merges its own array into the parts; one worker at a time. */
void wpi_cpu_worker_flush_near(wpi_cpu_worker *worker);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The exchange: rows in transit to partitions. A morsel of rows is sorted by partition within a
 * cache, then appended to other morsels: a partition's rows are a run in each morsel.
 *
 *     morsel 0: | p0 p0 p0 | p1 | p2 p2 … |   morsel 1: | p0 | p1 p1 p1 | …
 *
 * No partition can run out of room, however rows are distributed.
 */
#ifndef WP_OPS_CPU_PARTITION_H
#define WP_OPS_CPU_PARTITION_H

#include <stdatomic.h>

#include "ops/groupby_cpu/cpu_block.h"

#define WPI_CPU_MORSEL 32768u
#define WPI_CPU_PARTITIONS_MAX 4096u

typedef struct wpi_cpu_stream { /* one column of all morsels */
    wp_type type;
    uint32_t item_bytes, given_bytes; /* narrow items are given as words */
    uint8_t *items;
} wpi_cpu_stream;

typedef struct wpi_cpu_exchange {
    uint32_t partition_count;
    uint32_t morsel_count; /* of a round, at most */
    uint32_t used_count;   /* of this round */
    uint32_t value_count;
    wpi_cpu_stream keys;
    wpi_cpu_stream *values; /* [value_count] */
    wpi_cpu_stream *nulls;  /* [value_count]; bytes; no items where there are none */
    atomic_uint row_count;  /* of this round */
    uint32_t *starts;       /* [partition_count + 1][morsel_count] of runs */
} wpi_cpu_exchange;

/** The partitions of a morsel's rows. */
typedef struct wpi_cpu_routes {
    uint32_t count;
    bool is_all;                         /* all rows are routed, in order: `rows` is unused */
    uint16_t partitions[WPI_CPU_MORSEL]; /* of the i-th routed row */
    uint32_t rows[WPI_CPU_MORSEL];       /* its row in the morsel */
    uint32_t places[WPI_CPU_MORSEL];     /* its index in the sorted order; set by route */
    uint64_t ordered[WPI_CPU_MORSEL];    /* a column, sorted */
} wpi_cpu_routes;

/** NOMEM. */
WP_NODISCARD wp_status wpi_cpu_exchange_init(wpi_cpu_exchange *exchange, wp_type key_type,
                                             uint32_t partition_count, uint32_t morsel_count,
                                             uint32_t used_count, const wpi_shape *shape,
                                             const wpi_cpu_traits *traits, wp_error *err);
void wpi_cpu_exchange_deinit(wpi_cpu_exchange *exchange); /* `{0}` is fine */

/** Empties all morsels; the round has `used_count`. */
void wpi_cpu_exchange_clear(wpi_cpu_exchange *exchange, uint32_t used_count);

/** Copies a morsel's rows to their partitions' runs. `keys`, `values` [value_count]: from the
 * morsel's first row. */
void wpi_cpu_exchange_put(wpi_cpu_exchange *exchange, uint32_t morsel, wpi_cpu_routes *routes,
                          const void *keys, const wpi_cpu_values *values);

typedef struct wpi_cpu_run {
    uint32_t count;
    const void *keys;
    uint64_t first; /* row of all streams */
} wpi_cpu_run;

wpi_cpu_run wpi_cpu_exchange_run(const wpi_cpu_exchange *exchange, uint32_t morsel,
                                 uint32_t partition);
/** Prefetches the first rows of a run, which is too short for the hardware prefetcher. */
void wpi_cpu_exchange_prefetch(const wpi_cpu_exchange *exchange, uint32_t morsel,
                               uint32_t partition);
/** Copies items from `first` on to index `at` of `to`. */
void wpi_cpu_stream_copy(const wpi_cpu_stream *stream, uint64_t first, uint32_t count, void *to,
                         uint32_t at);
/** Values of a run's rows from `first` on. `values`: [value_count]. */
void wpi_cpu_exchange_values(const wpi_cpu_exchange *exchange, uint64_t first,
                             wpi_cpu_values *values);

#endif

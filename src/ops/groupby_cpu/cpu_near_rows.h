/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A thread's rows of dense keys: into its own array, or to the exchange and from there into parts.
 */
#ifndef WP_OPS_CPU_NEAR_ROWS_H
#define WP_OPS_CPU_NEAR_ROWS_H

#include "ops/groupby_cpu/cpu_near.h"

typedef struct wpi_cpu_near_rows {
    wpi_cpu_near *near;
    wpi_cpu_array own; /* local: `copies` consecutive arrays of the span and NULL */
    uint32_t copies;
    uint8_t *memory;        /* of them */
    wpi_cpu_routes *routes; /* else */
    uint16_t *offsets;      /* [MORSEL] of keys, within their parts */
    uint64_t scratch[WPI_CPU_BLOCK];
    uint32_t places[WPI_CPU_BLOCK];
} wpi_cpu_near_rows;

/** NOMEM. */
WP_NODISCARD wp_status wpi_cpu_near_rows_init(wpi_cpu_near_rows *rows, wpi_cpu_near *near,
                                              wp_error *err);
void wpi_cpu_near_rows_deinit(wpi_cpu_near_rows *rows); /* `{0}` is fine */

/** A morsel begins. */
void wpi_cpu_near_rows_begin(wpi_cpu_near_rows *rows);
/** Takes rows [first, outer) of the block that begins at `at` of the morsel; all are in the
 * span. */
void wpi_cpu_near_rows_take(wpi_cpu_near_rows *rows, const uint32_t *offsets, uint32_t first,
                            uint32_t outer, uint32_t at, const wpi_cpu_values *values);
/** The morsel ends. `values`: from its first row. */
void wpi_cpu_near_rows_put(wpi_cpu_near_rows *rows, uint32_t morsel, const wpi_cpu_values *values);

/** Adds a part's rows of the exchange to its array. `values`: [value_count], for its use. */
void wpi_cpu_near_rows_gather(wpi_cpu_near_rows *rows, uint32_t part, wpi_cpu_values *values);
/** The shared layout has changed and was `from`. NOMEM. */
WP_NODISCARD wp_status wpi_cpu_near_rows_convert(wpi_cpu_near_rows *rows,
                                                 const wpi_cpu_layout *from, wp_error *err);
/** Merges its own array into the parts. */
void wpi_cpu_near_rows_flush(wpi_cpu_near_rows *rows);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Adds rows of a chunk to a table, by one of the strategies (section 5.3), and retries those that
 * found no place.
 */
#ifndef WP_OPS_GPU_PASSES_H
#define WP_OPS_GPU_PASSES_H

#include "ops/groupby_gpu/gpu_groups.h"
#include "ops/groupby_gpu/gpu_postponed.h"

typedef struct wpi_gpu_passes {
    wpi_gpu *gpu;
    const wpi_gpu_format *format;
    wpi_gpu_groups *groups;
    wp_strategy strategy; /* set from outside; may change whenever a table is made */
    bool is_combining;    /* combine a warp's rows of one key; may change, too */
    uint32_t piece_rows;  /* of a launch: few until the table is known to be large enough */
    char *copy, *parted;  /* chunks in device memory, made at first use */
    uint32_t *counts;     /* of a partition */
    uint64_t counts_bytes;
    uint32_t *overflowed, *again; /* [format.capacity] rows, in pinned memory */
    uint64_t launches;
    /* Called when the table is full and cannot grow: whether rows that found no place are
     * postponed, or the table is spilled. */
    bool (*postpones)(void *object);
    void *object;
    bool is_postponing; /* since the table was empty */
    wpi_gpu_postponed postponed;
    uint64_t postponed_rows; /* total */
    uint32_t postponed_passes;
} wpi_gpu_passes;

WP_NODISCARD wp_status wpi_gpu_passes_init(wpi_gpu_passes *passes, wpi_gpu *gpu,
                                           const wpi_gpu_format *format, wpi_gpu_groups *groups,
                                           wp_error *err);
void wpi_gpu_passes_deinit(wpi_gpu_passes *passes); /* `{0}` is fine */

/** Processes rows [first, first + rows) of a chunk, in pinned or device memory; they are not needed
 * after it returns. */
WP_NODISCARD wp_status wpi_gpu_passes_run(wpi_gpu_passes *passes, const char *chunk, uint32_t first,
                                          uint32_t rows, bool is_on_device, wp_error *err);
/** After the last row: processes postponed rows, pass after pass, each with an empty table. */
WP_NODISCARD wp_status wpi_gpu_passes_finish(wpi_gpu_passes *passes, wp_error *err);

#endif

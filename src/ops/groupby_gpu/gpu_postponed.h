/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Rows that found no place in a table that cannot grow, postponed until it has been emptied
 * (selective postponement, SePo): chunks in pinned host memory, filled by a kernel, read through
 * the link.
 */
#ifndef WP_OPS_GPU_POSTPONED_H
#define WP_OPS_GPU_POSTPONED_H

#include "ops/groupby_gpu/gpu_chunk.h"

typedef struct wpi_gpu_postponed {
    char **chunks; /* all but the last are full */
    uint32_t chunk_count, chunk_capacity;
    uint32_t filled; /* rows of the last */
    uint64_t rows;
} wpi_gpu_postponed;

void wpi_gpu_postponed_deinit(wpi_gpu_postponed *postponed, wpi_gpu *gpu); /* `{0}` is fine */

/** Adds the rows of a chunk that are in `list`, in pinned memory. Waits. NOMEM: nothing was
 * added. */
WP_NODISCARD wp_status wpi_gpu_postponed_add(wpi_gpu_postponed *postponed, wpi_gpu *gpu,
                                             const wpi_gpu_format *format, const char *chunk,
                                             const uint32_t *list, uint32_t count, wp_error *err);
/** Rows of chunk `i`. */
uint32_t wpi_gpu_postponed_rows(const wpi_gpu_postponed *postponed, const wpi_gpu_format *format,
                                uint32_t i);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Chunks: rows in the kernels' format, consecutive columns in one piece of memory.
 *
 *     keys [capacity] | NULL keys [capacity] | values of a column [capacity] | which are valid | …
 *
 * Keys are words of 4 or 8 bytes (keys.h), values are unchanged. Unused columns are left out.
 */
#ifndef WP_OPS_GPU_CHUNK_H
#define WP_OPS_GPU_CHUNK_H

#include "gpu/kernel_set.h"
#include "ops/groupby_gpu/gpu_kernels.h"
#include "ops/keys.h"

#define WPI_GPU_PACK_ROWS 4096u /* packed at a time */

typedef struct wpi_gpu_format {
    const wpi_shape *shape;
    wpi_keys *keys;
    uint32_t key_bytes, row_bytes;
    uint32_t capacity;     /* rows of a chunk */
    uint64_t chunk_bytes;  /* of a full one */
    uint32_t bucket_words; /* 0: narrow buckets */
    uint32_t *values;      /* [shape.value_count]: the column of a value, or NONE */
    uint64_t *buffer;      /* [WPI_GPU_PACK_ROWS]: keys being packed */
    wpi_gpu_layout layout; /* in host memory … */
    wpi_gpu_layout device; /* … and as kernels get it */
    void *device_memory;
} wpi_gpu_format;

/** Chunks of about `chunk_bytes`, at least some rows, not many more than `rows` unless that is 0.
 * NOMEM, DEVICE_NOMEM. */
WP_NODISCARD wp_status wpi_gpu_format_init(wpi_gpu_format *format, wpi_gpu *gpu,
                                           const wpi_shape *shape, wpi_keys *keys,
                                           uint64_t chunk_bytes, uint64_t rows, wp_error *err);
void wpi_gpu_format_deinit(wpi_gpu_format *format, wpi_gpu *gpu);

/** Puts rows [first, first + count) of columns at row `at` of a chunk in host memory. NOMEM. */
WP_NODISCARD wp_status wpi_gpu_format_put(wpi_gpu_format *format, const wp_column *keys,
                                          const wp_column *values, uint64_t first, uint32_t count,
                                          char *chunk, uint32_t at, wp_error *err);
/** Queues copies of rows [first, first + rows) of a chunk. */
WP_NODISCARD wp_status wpi_gpu_format_copy(const wpi_gpu_format *format, wp_queue *queue, char *to,
                                           const char *from, uint32_t first, uint32_t rows,
                                           wp_error *err);

#endif

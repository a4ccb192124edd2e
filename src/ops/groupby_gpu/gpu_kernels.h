/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The interface of the kernels of group-by (gpu_kernels.cu, gpu_combined.cu) and the host.
 *
 * A table is scopes of as many buckets each, one behind the other. A key's hash says which scope,
 * and where in it probing begins; probing wraps at the end of the scope. Zeros are an empty bucket:
 * what a bucket accumulates begins with 0 (a minimum is kept as the maximum of complements), and
 * the key 0 has a bucket of its own elsewhere, as has NULL.
 *
 *     narrow bucket, 8 bytes: key, rows                      keys of 32 bits, only rows are counted
 *     wide bucket, words of 64 bits: key, rows, accumulators
 */
#ifndef WP_OPS_GPU_KERNELS_H
#define WP_OPS_GPU_KERNELS_H

#include <stdint.h>

#define WPI_GPU_NONE UINT32_MAX
#define WPI_GPU_SCOPES_MAX 4096u /* of a partition: counters in shared memory */
#define WPI_GPU_PREFIX_THREADS 256u

typedef struct wpi_gpu_narrow {
    uint32_t key, rows;
} wpi_gpu_narrow;

typedef struct wpi_gpu_table {
    void *buckets;
    uint64_t *special; /* wide: buckets of the key 0 and of NULL; narrow: rows of the key 0 */
    uint64_t scope_count, scope_buckets;
    uint32_t bucket_words; /* of a wide bucket; 0: narrow */
    uint32_t probe_max;
} wpi_gpu_table;

/** A column of a chunk: one value for each row. */
typedef struct wpi_gpu_column {
    uint64_t offset_bytes;
    uint32_t bytes; /* of a value: 1, 2, 4, 8 */
} wpi_gpu_column;

typedef struct wpi_gpu_accumulator {
    uint32_t how, type;     /* wpi_accumulate, wp_type */
    uint32_t column, valid; /* of the chunk; `valid` has a byte for each row, 0 for NULL */
    uint32_t word;          /* of the bucket: one, two of a sum of integers, four of moments */
    uint32_t weight, weight_type; /* of MOMENTS: the column of weights; NONE: each counts once */
} wpi_gpu_accumulator;

/** The words of moments: a value of the group, as the complement of its bits (0: there is none
 * yet), and sums over its values' differences from that one, of doubles. */
typedef enum wpi_gpu_moment {
    WPI_GPU_MOMENT_ORIGIN = 0,
    WPI_GPU_MOMENT_DIFFERENCES,
    WPI_GPU_MOMENT_SQUARES,
    WPI_GPU_MOMENT_WEIGHTS,
    WPI_GPU_MOMENT_WORDS /* must be last */
} wpi_gpu_moment;

/** The format of a chunk. Column 0 has the keys. */
typedef struct wpi_gpu_layout {
    const wpi_gpu_column *columns;
    const wpi_gpu_accumulator *accumulators;
    uint32_t column_count, accumulator_count;
    uint32_t nulls; /* the column that is 1 where the key is NULL; or NONE */
} wpi_gpu_layout;

/** Rows of a chunk. */
typedef struct wpi_gpu_rows {
    const char *chunk;
    char *copy;             /* a chunk that also receives the rows, at their places; or NULL */
    const uint32_t *list;   /* [count]: which rows; NULL: [first, first + count) */
    const uint32_t *bounds; /* not NULL: [bounds[0], bounds[bound_step]), of a partition */
    uint32_t bound_step;
    uint32_t first, count;
} wpi_gpu_rows;

/** Results of launches. */
typedef struct wpi_gpu_state {
    uint64_t created; /* groups */
    uint32_t overflowed, reserved;
} wpi_gpu_state;

/** A list of rows that found no place. */
typedef struct wpi_gpu_notes {
    wpi_gpu_state *state;
    uint32_t *overflowed;
} wpi_gpu_notes;

/** A partition in progress: counts[scope * block_count + block]. */
typedef struct wpi_gpu_partition {
    uint32_t *counts;
    uint32_t block_count;
    uint32_t tile_rows; /* of a block */
} wpi_gpu_partition;

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wpi_gpu_kernel {
    WPI_GPU_COUNT = 0,
    WPI_GPU_ACCUMULATE,
    WPI_GPU_REHASH,
    WPI_GPU_HISTOGRAM,
    WPI_GPU_PREFIX,
    WPI_GPU_SCATTER,
    WPI_GPU_COMPACT,
    WPI_GPU_GATHER,
    WPI_GPU_COUNT_COMBINED, /* gpu_combined.cu */
    WPI_GPU_ACCUMULATE_COMBINED,
    WPI_GPU_KERNEL_COUNT /* must be last */
} wpi_gpu_kernel;

/** The host's name of a kernel, for wp_image_find. */
const void *wpi_gpu_kernel_of(uint32_t kernel);
const void *wpi_gpu_combined_of(uint32_t kernel);

#ifdef __cplusplus
}
#endif
#endif

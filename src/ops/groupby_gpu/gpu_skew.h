/* SPDX-License-Identifier: Apache-2.0 */
/** The skew of a chunk's keys, from a sample: runs of rows, as warps read them. */
#ifndef WP_OPS_GPU_SKEW_H
#define WP_OPS_GPU_SKEW_H

#include <stdint.h>

#define WPI_GPU_SKEW_ROWS 4096u /* of the sample */

typedef struct wpi_gpu_skew {
    double hot_share;     /* of rows with hot keys, whose buckets stay in a cache */
    double hottest_share; /* of rows in flight at once, the most frequent key's */
    double warp_share;    /* of a warp's rows, its most frequent key's */
} wpi_gpu_skew;

/** Keys of 4 or 8 bytes; `at_once` rows are in flight together. `buffer` has room for
 * WPI_GPU_SKEW_ROWS words. Zeros where there are too few rows for a warp. */
wpi_gpu_skew wpi_gpu_skew_of(const void *keys, uint32_t key_bytes, uint32_t count, uint64_t at_once,
                             uint64_t *buffer);

#endif

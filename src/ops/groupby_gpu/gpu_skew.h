/* SPDX-License-Identifier: Apache-2.0 */
/** How often a chunk's keys come again, by a sample of it: runs of rows, as warps read them. */
#ifndef WP_OPS_GPU_SKEW_H
#define WP_OPS_GPU_SKEW_H

#include <stdint.h>

#define WPI_GPU_SKEW_ROWS 4096u /* that are looked at */

typedef struct wpi_gpu_skew {
    double hot_share;     /* of rows whose keys come again and again: they stay in a cache */
    double hottest_share; /* of rows that are under way at once, the most frequent key's */
    double warp_share;    /* of a warp's rows, its most frequent key's */
} wpi_gpu_skew;

/** Keys of 4 or 8 bytes; `at_once` rows are under way together. `buffer` has room for
 * WPI_GPU_SKEW_ROWS words. Zeros where there are too few rows for a warp. */
wpi_gpu_skew wpi_gpu_skew_of(const void *keys, uint32_t key_bytes, uint32_t count, uint64_t at_once,
                             uint64_t *buffer);

#endif

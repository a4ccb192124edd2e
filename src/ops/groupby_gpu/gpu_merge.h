/* SPDX-License-Identifier: Apache-2.0 */
/** Merges spilled groups in host memory. Buckets are wide ones (gpu_kernels.h); key 0 is not merged
 * here. One thread. */
#ifndef WP_OPS_GPU_MERGE_H
#define WP_OPS_GPU_MERGE_H

#include "ops/groupby_gpu/gpu_chunk.h"

typedef struct wpi_gpu_merge {
    const wpi_gpu_format *format;
    uint32_t words;    /* of a bucket */
    uint64_t *buckets; /* [mask + 1][words]; key 0: free */
    uint64_t mask, count;
} wpi_gpu_merge;

/** Adds a group, merged with an existing one of its key. NOMEM. `{.format, .words}` is empty. */
WP_NODISCARD wp_status wpi_gpu_merge_add(wpi_gpu_merge *merge, const uint64_t *bucket,
                                         wp_error *err);
void wpi_gpu_merge_deinit(wpi_gpu_merge *merge);

#endif

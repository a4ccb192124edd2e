/* SPDX-License-Identifier: Apache-2.0 */
/** The interface of the kernel of sampling (sample_kernels.cu) and the host. */
#ifndef WP_OPS_SAMPLE_KERNELS_H
#define WP_OPS_SAMPLE_KERNELS_H

#include <stdint.h>

/** The threads' results over all passes; [thread_count] each. For a sum alone the others are
 * absent. */
typedef struct wpi_sample_notes {
    double *sums, *squares;
    uint64_t *value_counts, *hit_counts;
    uint64_t *least, *most; /* complement of the least, and the most, in ordered form */
} wpi_sample_notes;

typedef struct wpi_sample_task {
    const void *values;
    const uint8_t *valid; /* a bit each, or NULL */
    uint64_t valid_offset, row_count;
    uint64_t first, outer; /* rows of this pass */
    uint64_t seed;
    uint64_t thread_count;
    double low, high;
    uint32_t type; /* wp_type */
    uint32_t reads_per_thread;
    uint32_t is_sum_only;
} wpi_sample_task;

#ifdef __cplusplus
extern "C" {
#endif
/** The host's name of the kernel, for wp_image_find. */
const void *wpi_sample_kernel_of(uint32_t kernel);
#ifdef __cplusplus
}
#endif
#endif

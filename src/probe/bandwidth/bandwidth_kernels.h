/* SPDX-License-Identifier: Apache-2.0 */
/** The interface of the bandwidth probe's kernels (bandwidth_kernels.cu) and the host. */
#ifndef WP_BANDWIDTH_KERNELS_H
#define WP_BANDWIDTH_KERNELS_H

#include <stdint.h>

#define WPI_BANDWIDTH_SHARED_WORDS 1024u
#define WPI_BANDWIDTH_LOADS 4u /* of a thread that are under way at a time */

/** What the warps of a launch read: warp w at w * access_bytes, then step_bytes further each turn,
 * from the beginning again behind span_bytes. Groups of `coalesced` lanes read neighbouring words;
 * groups are group_bytes apart. */
typedef struct wpi_reads {
    uint64_t access_bytes, step_bytes, span_bytes;
    uint32_t coalesced, group_bytes;
    uint32_t turns; /* rounded up to WPI_BANDWIDTH_LOADS */
} wpi_reads;

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wpi_bandwidth_kernel {
    WPI_BANDWIDTH_PAST_L1 = 0,
    WPI_BANDWIDTH_CACHED,
    WPI_BANDWIDTH_SHARED,
    WPI_BANDWIDTH_KERNEL_COUNT /* must be last */
} wpi_bandwidth_kernel;

/** The host's name of a kernel, for wp_image_find. */
const void *wpi_bandwidth_kernel_of(wpi_bandwidth_kernel kernel);

#ifdef __cplusplus
}
#endif
#endif

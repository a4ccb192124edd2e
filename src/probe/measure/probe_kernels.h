/* SPDX-License-Identifier: Apache-2.0 */
/** The interface of the probe's kernels (probe_kernels.cu) and the host (probe_gpu.c). */
#ifndef WP_PROBE_KERNELS_H
#define WP_PROBE_KERNELS_H

#include <stdint.h>

#define WPI_PROBE_ROUNDS_MAX 64u
#define WPI_PROBE_ROUNDS_STEADY 8u  /* this number of equal rounds means that there is no noise */
#define WPI_PROBE_ANY_SM UINT32_MAX /* as WPI_SM_ANY */

/** The result of the CTA that chased; one for each CTA of a launch. */
typedef struct wpi_probe_note {
    uint64_t launch; /* the number of the launch that wrote this */
    uint32_t sm;
    uint32_t rounds; /* timed: fewer than requested if there is no noise */
    int64_t cycles[WPI_PROBE_ROUNDS_MAX];
} wpi_probe_note;

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wpi_probe_kernel {
    WPI_PROBE_LINK = 0,
    WPI_PROBE_CHASE,
    WPI_PROBE_KERNEL_COUNT /* must be last */
} wpi_probe_kernel;

/** The host's name of a kernel, for wp_image_find. */
const void *wpi_probe_kernel_of(wpi_probe_kernel kernel);

#ifdef __cplusplus
}
#endif
#endif

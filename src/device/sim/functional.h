/* SPDX-License-Identifier: Apache-2.0 */
/** Runs a launch without a timing model: its warps execute in turns, in no time. Sufficient for
 *  recording. */
#ifndef WP_DEVICE_SIM_FUNCTIONAL_H
#define WP_DEVICE_SIM_FUNCTIONAL_H

#include "sim/sm/warp_source.h"

/** KERNEL_DEADLOCK: no warp can continue. DEVICE: the kernel failed, and its source has the
 * error. */
WP_NODISCARD wp_status wpi_functional_run(wpi_warp_source *source, wp_error *err);

#endif

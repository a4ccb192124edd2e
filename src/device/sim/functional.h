/* SPDX-License-Identifier: Apache-2.0 */
/** A launch without a model: its warps do what they do, one after the other, in no time. Recording
 *  needs nothing more. */
#ifndef WP_DEVICE_SIM_FUNCTIONAL_H
#define WP_DEVICE_SIM_FUNCTIONAL_H

#include "sim/sm/warp_source.h"

/** KERNEL_DEADLOCK: nobody can go on. DEVICE: the kernel failed, and its source has said why. */
WP_NODISCARD wp_status wpi_functional_run(wpi_warp_source *source, wp_error *err);

#endif

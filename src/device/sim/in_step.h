/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which kernels run in step with simulated time: those that see time or other blocks' progress,
 * which wpcc notes in their tables (base/trace_abi.h), unless the parameter `in-step` says
 * otherwise.
 */
#ifndef WP_DEVICE_SIM_IN_STEP_H
#define WP_DEVICE_SIM_IN_STEP_H

#include <stdbool.h>

#include "base/in_step_choice.h"
#include "base/trace_abi.h"
#include "warpage/error.h"

/** The parameter's value. INVALID. */
WP_NODISCARD wp_status wpi_in_step_load(wpi_in_step *out, wp_error *err);
/** `auto`: whether the kernel must run in step. */
bool wpi_in_step_is_needed(const wp_trace_kernel *kernel);
/** `auto`: whether all kernels of a module must run in step. A kernel may call function pointers
 * that another one stored in memory, so both must be of one variant. */
bool wpi_in_step_for_all(const wp_trace_tables *tables);

#endif

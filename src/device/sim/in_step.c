/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim/in_step.h"

#include <string.h>

#include "base/fail.h"
#include "base/param.h"

const wpi_param wpi_in_step_params[] = {
    {"in-step", WP_UNIT_TEXT, "auto", 0, 0,
     "execute threads in step with simulated time: auto (in kernels that read a clock or wait for "
     "other blocks), always, never"},
    {0}};

wp_status wpi_in_step_load(wpi_in_step *out, wp_error *err) {
    wpi_param_value value;
    *out = WP_IN_STEP_AUTO;
    WP_TRY(wpi_param_load(&wpi_in_step_params[0], &value, err));
    return wpi_in_step_parse(value.text, out, err);
}

bool wpi_in_step_is_needed(const wp_trace_kernel *kernel) {
    const uint32_t needs = WP_TRACE_KERNEL_CLOCK | WP_TRACE_KERNEL_SPINS | WP_TRACE_KERNEL_GRID |
                           WP_TRACE_KERNEL_LAUNCHES | WP_TRACE_KERNEL_CLOSE;
    return kernel != NULL && (kernel->flags & needs) != 0;
}

bool wpi_in_step_for_all(const wp_trace_tables *tables) {
    bool is_needed = false, has_pointers = false;
    for (uint32_t k = 0; k < tables->kernel_count; k++) {
        is_needed = is_needed || wpi_in_step_is_needed(&tables->kernels[k]);
        has_pointers = has_pointers || (tables->kernels[k].flags & WP_TRACE_KERNEL_POINTERS) != 0;
    }
    return is_needed && has_pointers;
}

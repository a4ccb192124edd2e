/* SPDX-License-Identifier: Apache-2.0 */
/** CPU code that objects compiled by wpcc have registered (base/abi.h), and the choice among its
 * copies. */
#ifndef WP_DEVICE_CPU_CODE_H
#define WP_DEVICE_CPU_CODE_H

#include <stdint.h>

#include "base/abi.h"
#include "warpage/error.h"

/** The code of an image to use on this processor. */
typedef struct wpi_cpu_code {
    const wp_cpu_code *best;     /* kernels are looked up here first … */
    const wp_cpu_code *baseline; /* … then here; it defines the variables. Equals `best` where the
                                  * program has but one copy. */
} wpi_cpu_code;

/** NOT_FOUND: no code is registered for the image. UNSUPPORTED: none of it can run here. */
WP_NODISCARD wp_status wpi_cpu_code_find(uint64_t image_id, wpi_cpu_code *out, wp_error *err);

#endif

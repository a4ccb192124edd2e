/* SPDX-License-Identifier: Apache-2.0 */
/** Reads the declarations of a PTX module from its text, as the driver does not list names or
 * parameters. */
#ifndef WP_DEVICE_CUDA_PTX_TEXT_H
#define WP_DEVICE_CUDA_PTX_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A name in the text; not terminated. */
typedef struct wpi_ptx_name {
    const char *first;
    size_t length;
} wpi_ptx_name;

/** The next kernel at or after *at, which advances past its parameters; false: no more. */
bool wpi_ptx_next_kernel(const char **at, wpi_ptx_name *name, uint32_t *param_count,
                         uint64_t *address_params);
/** The place of parameter `i` of the kernel whose name ends at `after_name`; all 0: there is none.
 */
void wpi_ptx_param(const char *after_name, uint32_t i, uint32_t *offset_bytes,
                   uint32_t *size_bytes);
/** The next module variable at or after *at whose name begins with `prefix`. */
bool wpi_ptx_next_variable(const char **at, const char *prefix, wpi_ptx_name *name);
/** ".version 6.3": 63; 0: the text has none. */
uint32_t wpi_ptx_version(const char *text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Images from what programs pass as a module: an image, or PTX text that carries one. */
#ifndef WP_DEVICE_PTX_MODULE_H
#define WP_DEVICE_PTX_MODULE_H

#include <stddef.h>

#include "base/abi.h"
#include "warpage/error.h"

/** Copies the image at `data`, or makes one of the PTX text there and the image that it carries;
 * the caller frees it by wpi_free. `size_bytes` 0: unknown, as in cuModuleLoadData: a text ends in
 * NUL. PARSE: damaged; UNSUPPORTED: another compiler's code, or another version's; NOMEM. */
WP_NODISCARD wp_status wpi_module_image_copy(const void *data, size_t size_bytes,
                                             wp_image_header **out, wp_error *err);

#endif

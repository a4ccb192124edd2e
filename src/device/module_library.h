/* SPDX-License-Identifier: Apache-2.0 */
/** CPU code for an image that does not come with any: one that a program loads at run time. */
#ifndef WP_DEVICE_MODULE_LIBRARY_H
#define WP_DEVICE_MODULE_LIBRARY_H

#include "base/abi.h"
#include "warpage/error.h"

/** Compiles the image's kernels for this processor by wpcc, or finds them in the user's cache, and
 * registers them; wp_module_load then accepts the image. TOOLCHAIN: there is no wpcc, or it failed.
 * Callable from any thread. */
WP_NODISCARD wp_status wpi_module_library_open(const wp_image_header *image, wp_error *err);

#endif

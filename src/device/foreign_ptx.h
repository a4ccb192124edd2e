/* SPDX-License-Identifier: Apache-2.0 */
/** PTX of other compilers, as images that wpcc makes when a program loads it. */
#ifndef WP_DEVICE_FOREIGN_PTX_H
#define WP_DEVICE_FOREIGN_PTX_H

#include <stddef.h>

#include "warpage/error.h"

/** Makes an image (base/abi.h) of the text by wpcc, or finds it in the user's cache. The caller
 * frees `*image` by wpi_free. UNSUPPORTED, with wpcc's sentence: the text is not understood.
 * TOOLCHAIN: there is no wpcc. Callable from any thread. */
WP_NODISCARD wp_status wpi_foreign_ptx_image(const char *text, size_t length, char **image,
                                             size_t *size_bytes, wp_error *err);

#endif

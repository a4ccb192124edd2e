/* SPDX-License-Identifier: Apache-2.0 */
/** The form of a kernel that streams its mapped parameters, when the program was not compiled with
 * it (wpcc --stream): wpcc makes an image of its own. Callable from any thread. */
#ifndef WP_DEVICE_STREAM_LIBRARY_H
#define WP_DEVICE_STREAM_LIBRARY_H

#include <stdint.h>

#include "warpage/error.h"

/** An image for wp_module_load, valid until the process ends; its one kernel is called
 * `<kernel>$stream<mask in hexadecimal>`. `kernel` is the mangled name of a kernel of `image`; bit
 * i of `mask` is set if parameter i is mapped. Each call goes to the cache: keep the answer.
 * UNSUPPORTED with the sentence of wpcc if the kernel cannot be streamed; TOOLCHAIN when there is
 * no wpcc, or when it failed. */
WP_NODISCARD wp_status wpi_stream_library_open(const void *image, const char *kernel, uint64_t mask,
                                               const void **new_image, wp_error *err);

#endif

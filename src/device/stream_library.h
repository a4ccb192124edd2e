/* SPDX-License-Identifier: Apache-2.0 */
/** The streamed form of a kernel of a program that was compiled without it (wpcc --stream): wpcc
 * compiles a separate image at run time. Callable from any thread. */
#ifndef WP_DEVICE_STREAM_LIBRARY_H
#define WP_DEVICE_STREAM_LIBRARY_H

#include <stdint.h>

#include "warpage/error.h"

/** Returns an image for wp_module_load, valid until the process ends, with one kernel:
 * `<kernel>$stream<mask in hexadecimal>`. `kernel` is the mangled name of a kernel of `image`; bit
 * i of `mask` is set if parameter i is mapped. Each call accesses the cache: keep the result.
 * UNSUPPORTED, with wpcc's message: the kernel cannot be streamed. TOOLCHAIN: there is no wpcc, or
 * it failed. */
WP_NODISCARD wp_status wpi_stream_library_open(const void *image, const char *kernel, uint64_t mask,
                                               const void **new_image, wp_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Streamed forms of kernels: in the program (wpcc --stream), or made at the first launch. */
#ifndef WP_STREAM_STREAM_CODE_H
#define WP_STREAM_STREAM_CODE_H

#include "base/stream_abi.h"
#include "cache/cache_code.h"
#include "warpage/device.h"

typedef struct wpi_stream_code {
    wp_kernel *kernel;
    wpi_cache_code *cached;   /* its form that caches; NULL: the mask is without WPI_STREAM_LINES */
    const char *name;         /* of the program's kernel, mangled */
    const char *display_name; /* … for messages */
    wpi_stream_facts facts;
    uint64_t mask;
    uint32_t param_count; /* of the program's kernel: the streamed form has one more */
} wpi_stream_code;

/** `module` is the program's, `name` the kernel's mangled name in `image`. Made once for each
 * kernel and mask; any thread. UNSUPPORTED: the kernel cannot be streamed, and why; TOOLCHAIN. */
WP_NODISCARD wp_status wpi_stream_code_find(wp_device *device, wp_module *module, const void *image,
                                            const char *name, uint64_t mask,
                                            const wpi_stream_code **out, wp_error *err);
/** Forgets all: the device is about to close. */
void wpi_stream_codes_free(void);

#endif
